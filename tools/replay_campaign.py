"""Replay natively what plait refutes: for a folder of SV-COMP tasks, verify each `false` task, then
replay the counterexample, and list what came of it.

    tools/replay_campaign.py FOLDER [--every N] [--times N] [--timeout S] [--cc CC] [--keep DIR]
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Task:
    name: str
    sources: tuple[str, ...]
    property_file: str
    data_model: str


def tasks(folder: Path) -> list[Task]:
    """The tasks whose expected verdict is false, from the few lines of YAML that matter."""
    found: list[Task] = []
    for path in sorted(folder.rglob("*.yml")):
        text = path.read_text(encoding="utf-8", errors="replace")
        inputs = re.findall(r"^input_files:\s*(.*)$", text, re.MULTILINE)
        rows = re.findall(
            r"property_file:\s*(\S+)\s*\n\s*expected_verdict:\s*false", text, re.MULTILINE
        )
        if not inputs or not rows:
            continue
        files = re.findall(r"""['"]?([^\s'",\[\]]+\.[ci])['"]?""", inputs[0])
        if not files:
            files = re.findall(r"^\s*-\s*['\"]?(\S+?\.[ci])['\"]?\s*$", text, re.MULTILINE)
        model = "LP64" if re.search(r"data_model:\s*LP64", text) else "ILP32"
        sources = tuple(str(path.parent / name) for name in files)
        for row in rows:
            found.append(Task(str(path), sources, str(path.parent / row), model))
    return found


def plait(arguments: list[str], seconds: float) -> tuple[int, str]:
    command = [sys.executable, "-m", "plait", *arguments]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        return -1, "time limit"
    return done.returncode, done.stdout + done.stderr


def classify(text: str, code: int, times: int) -> tuple[str, str]:
    """Class and detail of one replay."""
    if "does not compile" in text:
        return "cannot compile", text.split("does not compile\n")[-1].strip().split("\n")[0]
    if "cannot be linked" in text:
        return "cannot link", text.split("cannot be linked\n")[-1].strip().split("\n")[0]
    count = re.search(r"REPLAY: (\d+) of (\d+)", text)
    if count is None:
        return "error", " ".join(text.split())[-200:]
    if code == 0:
        return "reproduced", f"{count[1]}/{count[2]}"
    lines = [line for line in text.splitlines() if re.match(r"(once|\d+ times): \(|  ", line)]
    return "not reproduced", f"{count[1]}/{times}: " + " | ".join(lines[:3])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--every", type=int, default=1, help="take only every Nth task")
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--timeout", type=float, default=60, help="seconds for each verification")
    parser.add_argument("--cc")
    parser.add_argument("--keep", type=Path, help="keep the results in this folder, and use them")
    options = parser.parse_args()
    totals: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="plait-campaign-") as temporary:
        results = options.keep or Path(temporary)
        results.mkdir(parents=True, exist_ok=True)
        for task in tasks(options.folder)[:: options.every]:
            kind, detail = run(task, options, results)
            totals[kind] += 1
            print(f"{kind:15} {os.path.relpath(task.name, options.folder)}: {detail}", flush=True)
    print("totals: " + ", ".join(f"{count} {kind}" for kind, count in totals.most_common()))
    return 0 if set(totals) <= {"reproduced", "cannot compile", "cannot link"} else 1


def run(task: Task, options: argparse.Namespace, results: Path) -> tuple[str, str]:
    result = results / (re.sub(r"\W", "_", task.name) + ".json")
    if not result.exists():
        arguments = ["verify", "--prp", task.property_file, "--data-model", task.data_model]
        arguments += ["--timeout", str(options.timeout), "--json", str(result), *task.sources]
        code, text = plait(arguments, options.timeout + 60)
        if code != 1:
            result.unlink(missing_ok=True)
            return "not refuted", (text.strip().split("\n") or [""])[-1]
    arguments = ["replay", str(result), "--times", str(options.times)]
    if options.cc:
        arguments += ["--cc", options.cc]
    code, text = plait(arguments, 60 + 25 * options.times)
    return classify(text, code, options.times)


if __name__ == "__main__":
    sys.exit(main())
