"""One hunt beside plain runs and runs under ThreadSanitizer, on programs that are broken.

    tools/hunt_beside_tsan.py [--runs N] [--time S] [PROGRAM.c ...]

For each program (default: those of benchmarks/everyday): in how many of N plain runs it fails
(status, signal, or no end within 5 s), in how many of N runs under gcc's ThreadSanitizer that fails
or reports something, and what one `plait hunt --time S` shows after how many runs.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

EVERYDAY = Path(__file__).parents[1] / "benchmarks" / "everyday"
_SECONDS = 5.0


def build(source: Path, target: Path, *flags: str) -> bool:
    command = ["gcc", "-O1", "-g", "-w", *flags, str(source), "-o", str(target), "-pthread"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def fails(executable: Path) -> bool:
    try:
        done = subprocess.run(
            ["setarch", "-R", str(executable)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return True
    return done.returncode != 0


def count(source: Path, runs: int, *flags: str) -> str:
    with tempfile.TemporaryDirectory(prefix="plait-tsan-") as name:
        executable = Path(name) / "program"
        if not build(source, executable, *flags):
            return "-"
        return str(sum(fails(executable) for _ in range(runs)))


def hunt(source: Path, seconds: float) -> tuple[str, str]:
    """What was shown, and after how many runs, those that showed it again included."""
    command = [sys.executable, "-m", "plait", "hunt", "--time", str(seconds), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    shown = sorted(set(re.findall(r"^failure: ([\w-]+)", done.stdout, re.MULTILINE)))
    runs = re.search(r"^(\d+) runs", done.stdout, re.MULTILINE)
    what = ", ".join(shown) if shown else f"nothing ({done.returncode})"
    return what, runs[1] if runs else "-"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("programs", nargs="*", type=Path)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--time", type=float, default=30.0)
    options = parser.parse_args()
    programs = options.programs or sorted(EVERYDAY.glob("*_broken.c"))
    print(f"{'program':<32} plain  TSan  hunt (runs)")
    for source in programs:
        plain = count(source, options.runs)
        tsan = count(source, options.runs, "-fsanitize=thread")
        shown, runs = hunt(source, options.time)
        print(f"{source.stem:<32} {plain:>5} {tsan:>5}  {shown} ({runs})", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
