"""What the cache saves: a first run, the same again, and runs after an edit, with and without it.

    python tools/bench_cache.py [--times N] [PROGRAM ...]

Every run is a process of its own that starts with nothing in memory. Times are wall seconds, each
the least of N; ratios are of times measured in the same minute. The edit adds a variable, a
function and a call of it to the program. The exit code is 1 if a verdict is not that of the first
run.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
IMPACT = ROOT / "tests" / "engines" / "impact" / "programs"
PROGRAMS: list[tuple[Path, list[str]]] = [
    (ROOT / "examples" / "counter_race.c", []),
    (ROOT / "examples" / "counter_race.c", ["--property", "no-data-race"]),
    (ROOT / "examples" / "deadlock.c", ["--property", "no-deadlock"]),
    (ROOT / "examples" / "locked_counter.c", []),
    (ROOT / "examples" / "peterson.c", ["--engine", "impact"]),
    (ROOT / "examples" / "bounded_queue.c", ["--engine", "impact"]),
    (IMPACT / "bounded_counter_safe.c", ["--engine", "impact"]),
    (IMPACT / "fig1_safe.c", ["--engine", "impact"]),
    (IMPACT / "rwlock_safe.c", ["--engine", "impact"]),
]
ADDED = "static int bench_unrelated;\nstatic void bench_more(void) { bench_unrelated++; }\n\n"


@dataclass(frozen=True, slots=True)
class Measured:
    seconds: float
    verdict: str
    refinements: int | None


def run(program: Path, options: list[str], cache: Path, *more: str) -> Measured:
    saved = cache.parent / "result.json"
    command = [sys.executable, "-m", "plait.cli.main", "verify", *options, *more]
    environment = {
        **os.environ,
        "PLAIT_CACHE_DIR": str(cache),
        "PYTHONPATH": str(ROOT / "src"),
    }
    began = time.perf_counter()
    subprocess.run(
        [*command, "--json", str(saved), str(program)],
        env=environment,
        stdout=subprocess.DEVNULL,
        check=False,
    )
    seconds = time.perf_counter() - began
    data = json.loads(saved.read_text())
    return Measured(seconds, data["verdict"], data["statistics"].get("refinements"))


def edited(text: str) -> str:
    return ADDED + text.replace("int main(void) {", "int main(void) {\n  bench_more();", 1)


def measure(source: Path, options: list[str], folder: Path) -> dict[str, Measured]:
    """One round: what is compared is measured back to back."""
    program, cache = folder / source.name, Path(tempfile.mkdtemp(dir=folder))
    text = source.read_text()
    program.write_text(text)
    found = {
        "first": run(program, options, cache),
        "again": run(program, options, cache),
    }
    program.write_text(edited(text))
    found["edited, no cache"] = run(program, options, cache, "--no-cache")
    found["edited"] = run(program, options, cache)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("programs", nargs="*", type=Path)
    chosen = parser.parse_args()
    own: list[tuple[Path, list[str]]] = [(path, []) for path in chosen.programs]
    tasks = own or PROGRAMS
    is_wrong = False
    heads = ("first", "again", "ratio", "edited", "helped", "ratio")
    print(" " * 44, *(f"{head:>{6 if head == 'ratio' else 7}}" for head in heads))
    with tempfile.TemporaryDirectory() as name:
        for source, options in tasks:
            rounds = [measure(source, options, Path(name)) for _ in range(chosen.times)]
            best = {
                key: min((item[key] for item in rounds), key=lambda row: row.seconds)
                for key in rounds[0]
            }
            is_wrong |= len({row.verdict for item in rounds for row in item.values()}) > 1
            first, again = best["first"].seconds, best["again"].seconds
            alone, helped = best["edited, no cache"], best["edited"]
            title = " ".join([source.stem, *options[-1:], best["first"].verdict])
            saved = f"  refinements {alone.refinements} -> {helped.refinements}"
            print(
                f"{title:44} {first:7.2f} {again:7.2f} {first / again:6.1f}"
                f" {alone.seconds:7.2f} {helped.seconds:7.2f}"
                f" {alone.seconds / helped.seconds:6.1f}" + (saved if "impact" in options else ""),
                flush=True,
            )
    return int(is_wrong)


if __name__ == "__main__":
    sys.exit(main())
