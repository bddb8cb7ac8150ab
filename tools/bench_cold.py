"""Where the CPU time of a cold `plait verify` goes, and how it compares with another checkout.

    python tools/bench_cold.py [--baseline PLAIT] [--rounds N] [TASK ...]

PLAIT is the `plait` or the `python` of another checkout's .venv. Both are run in turns on each task
(by default some of our litmus programs), so that a busy machine is the same for both; what counts
is their ratio. Times are user and system CPU of all processes of a run, without the cache. A run by
phases (`cold_phases.py`) costs a little more than one without. Exit code 1 if verdicts differ.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LITMUS = sorted(map(str, (ROOT / "tests" / "programs" / "litmus").glob("*.c")))[::12]
PHASES = ROOT / "tools" / "cold_phases.py"
COMMAND = "import sys; from plait.cli.main import main; sys.exit(main())"
ENDING = "start and end of processes"


@dataclass
class Checkout:
    """`seconds`: of whole runs, by task. `phases`: by phase and task."""

    python: str
    seconds: dict[str, list[float]] = field(default_factory=dict)
    verdicts: dict[str, str] = field(default_factory=dict)
    phases: dict[str, dict[str, list[float]]] = field(default_factory=dict)

    def run(self, task: str) -> None:
        seconds, output = run([self.python, "-c", COMMAND, "verify", "--no-cache", task])
        self.seconds.setdefault(task, []).append(seconds)
        last = output.strip().rsplit("\n", 1)[-1]
        self.verdicts[task] = last

    def run_by_phases(self, task: str) -> None:
        with tempfile.TemporaryDirectory() as scratch:
            total, _ = run([self.python, str(PHASES), scratch, "verify", "--no-cache", task])
            found: dict[str, float] = {}
            for file in Path(scratch).glob("*.json"):
                for phase, seconds in json.loads(file.read_text(encoding="utf-8")).items():
                    found[phase] = found.get(phase, 0.0) + seconds
        found[ENDING] = max(0.0, total - sum(found.values()))
        for phase, seconds in found.items():
            self.phases.setdefault(phase, {}).setdefault(task, []).append(seconds)

    def whole(self, task: str) -> float:
        return statistics.median(self.seconds[task])

    def median(self) -> float:
        return statistics.median(map(self.whole, self.seconds))

    def mean_of_phase(self, phase: str) -> float:
        """Over all tasks, of the median run of each."""
        tasks = self.phases.get(phase, {})
        return sum(map(statistics.median, tasks.values())) / len(self.seconds)


def run(command: list[str]) -> tuple[float, str]:
    """CPU seconds of all processes, and standard output."""
    reader, writer = os.pipe()
    environment = {key: value for key, value in os.environ.items() if key not in _SLOWER}
    child = os.posix_spawn(
        command[0],
        command,
        environment,
        file_actions=[
            (os.POSIX_SPAWN_DUP2, writer, 1),
            (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
        ],
    )
    os.close(writer)
    with open(reader, encoding="utf-8", errors="replace") as stream:
        output = stream.read()
    _, _, usage = os.wait4(child, 0)
    return usage.ru_utime + usage.ru_stime, output


_SLOWER = frozenset({"PYTHONDONTWRITEBYTECODE", "PYTHONPATH", "PYTHONUNBUFFERED"})


def python_of(path: str) -> str:
    """The interpreter that a checkout's command runs with."""
    found = Path(path)
    if found.is_dir():
        found = found / ".venv" / "bin" / "python"
    elif not found.name.startswith("python"):
        found = found.with_name("python")
    if not found.exists():
        raise SystemExit(f"{path}: no Python there; name the plait or python of a .venv")
    return str(found.absolute())


def shown_phases(checkouts: list[Checkout]) -> list[str]:
    names = dict.fromkeys(phase for item in checkouts for phase in item.phases)
    own = checkouts[-1]
    rows = [f"{'phase (mean)':28} " + "".join(f"{name:>12}" for name in _columns(checkouts))]
    for phase in sorted(names, key=own.mean_of_phase, reverse=True):
        rows.append(_row(phase, [item.mean_of_phase(phase) for item in checkouts]))
    return rows


def _columns(checkouts: list[Checkout]) -> list[str]:
    return ["here"] if len(checkouts) == 1 else ["baseline", "here", "ratio"]


def _row(name: str, values: list[float]) -> str:
    cells = "".join(f"{value * 1000:9.1f} ms" for value in values)
    if len(values) > 1:
        cells += f"{values[1] / values[0]:12.2f}" if values[0] else f"{'-':>12}"
    return f"{name:28} {cells}"


def known(verdict: str) -> str:
    """Without the reason of `unknown`, which names places in the checkout."""
    return verdict.split(" (")[0] if "unknown" in verdict else verdict


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("tasks", nargs="*", metavar="TASK")
    parser.add_argument("--baseline", metavar="PLAIT", help="of another checkout")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="for each task")
    options = parser.parse_args(arguments)
    tasks = options.tasks or LITMUS
    checkouts = [Checkout(sys.executable)]
    if options.baseline is not None:
        checkouts.insert(0, Checkout(python_of(options.baseline)))
    for item in checkouts:
        run([item.python, "-c", COMMAND, "verify", "--no-cache", tasks[0]])  # compiles the code
    for _ in range(options.rounds):
        for task in tasks:
            for item in checkouts:
                item.run(task)
    for task in tasks:
        for item in checkouts:
            item.run_by_phases(task)
    names = _columns(checkouts)
    print(f"{'task (CPU, median)':28} " + "".join(f"{name:>12}" for name in names))
    for task in tasks:
        print(_row(Path(task).name[:28], [item.whole(task) for item in checkouts]))
    print(_row(f"median of {len(tasks)} tasks", [item.median() for item in checkouts]))
    if len(checkouts) > 1:
        ratios = [checkouts[1].whole(task) / checkouts[0].whole(task) for task in tasks]
        print(f"{'median of ratios':28} {'':24}{statistics.median(ratios):12.2f}")
    print()
    print("\n".join(shown_phases(checkouts)))
    differing = [
        task for task in tasks if len({known(item.verdicts[task]) for item in checkouts}) > 1
    ]
    for task in differing:
        print(f"{task}: {' but '.join(item.verdicts[task] for item in checkouts)}")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
