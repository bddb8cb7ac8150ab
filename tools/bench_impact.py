"""The unbounded engine's four configurations, as in Table II of its paper.

    python tools/bench_impact.py [--seconds S] [TASK or FOLDER ...]

A task is a C file with assertions (the name says `unsafe` if one can fail), or a BenchExec task
definition (.yml); by default our versions of the paper's nine programs. Every configuration gets
every task, in a process of its own that is killed at the limit. |V| counts nodes, impl the
implication checks that needed a solver, C the share of nodes that are cover expansions; times are
CPU seconds of the engine, without the front end. `finding` and `checking` compare how long a proof
took with how long the independent checker took to accept it, for dPOR with force cover.

Claims of the paper that are checked: dPOR with force cover never has more nodes than any other
configuration. The exit code is 1 for wrong answers, rejected certificates and tasks that dPOR with
force cover does not solve.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from plait.c import FrontEndOptions, load
from plait.certificates.check import check
from plait.certificates.fingerprint import fingerprint
from plait.certificates.reading import read
from plait.engines.impact.engine import verify
from plait.engines.impact.settings import Reduction, Settings
from plait.engines.interface import Answer, Counterexample
from plait.evidence.replay import ReplayFailed, replay_blocks
from plait.model.properties import Specification, from_prp
from plait.model.types import DataModel
from plait.work.child import Message, Send
from plait.work.limits import Limits
from plait.work.supervise import supervise

ROOT = Path(__file__).resolve().parents[1]
CONFIGURATIONS = {
    "sPOR": Settings(Reduction.STATIC, force_cover=False),
    "sPOR+FC": Settings(Reduction.STATIC),
    "dPOR": Settings(Reduction.DYNAMIC, force_cover=False),
    "dPOR+FC": Settings(Reduction.DYNAMIC),
}
BEST = "dPOR+FC"
ANSWERS = {Answer.HOLDS: "true", Answer.VIOLATED: "false", Answer.UNKNOWN: "unknown"}


@dataclass(frozen=True, slots=True)
class Task:
    name: str
    source: Path
    expected: str
    specification: Specification = field(default_factory=Specification)
    data_model: DataModel = DataModel.LP64


@dataclass(slots=True)
class Result:
    answer: str = "unknown"
    cpu: float = 0.0
    nodes: int = 0
    implications: int = 0
    expansions: int = 0
    checked: str = ""
    checking: float = 0.0

    @property
    def is_solved(self) -> bool:
        return self.answer in ("true", "false")


def tasks_in(paths: Sequence[Path]) -> Iterator[Task]:
    for path in paths:
        if path.is_dir():
            definitions = sorted(path.glob("*.yml"))
            yield from tasks_in(definitions or sorted(path.glob("*.c")))
        elif path.suffix == ".yml":
            yield _defined(path)
        else:
            yield Task(path.stem, path, "false" if path.stem.endswith("unsafe") else "true")


def _defined(path: Path) -> Task:
    """A BenchExec task definition; of its fields only those that we need."""
    text = path.read_text()
    source = re.search(r"input_files:\s*['\"]?([^'\"\s]+)", text)
    verdict = re.search(r"expected_verdict:\s*(\w+)", text)
    properties = re.search(r"property_file:\s*['\"]?([^'\"\s]+)", text)
    model = re.search(r"data_model:\s*(\w+)", text)
    assert source is not None and properties is not None
    prp = (path.parent / properties[1]).resolve()
    specification, _ = from_prp(prp.read_text(), str(prp))
    return Task(
        path.stem,
        path.parent / source[1],
        "" if verdict is None else verdict[1].lower(),
        specification,
        DataModel[model[1]] if model is not None else DataModel.LP64,
    )


def measure(task: Task, settings: Settings, seconds: float, checks: bool) -> Result:
    result = Result()

    def work(send: Send) -> None:
        options = FrontEndOptions(data_model=task.data_model)
        program = load([str(task.source)], options, task.specification)

        def confirm(found: Counterexample) -> str:
            try:
                replay_blocks(program, task.specification, found)
            except ReplayFailed as error:
                return str(error)
            return ""

        began = time.process_time()
        deadline = time.monotonic() + seconds
        outcome = verify(program, task.specification, settings, deadline, confirm=confirm)
        numbers = outcome.statistics.numbers()
        message: Message = {
            "answer": ANSWERS[outcome.answer],
            "cpu": time.process_time() - began,
            "nodes": numbers["nodes"],
            "implications": numbers["solver_checks"],
            "expansions": numbers["cover_expansions"],
        }
        send(message)
        if checks and outcome.proof is not None:
            document = outcome.proof.certificate() or {}
            text = json.dumps(document | {"options": [], "fingerprint": fingerprint(program)})
            began = time.process_time()
            verdict = check(
                program, task.specification, read(text), time.monotonic() + 10 * seconds
            )
            checked = " ".join((verdict.answer.value, verdict.reason)).strip()
            send({"checked": checked, "checking": time.process_time() - began})

    def receive(message: Message) -> None:
        for name, value in message.items():
            setattr(result, name, value)

    supervise(work, Limits(seconds * (12 if checks else 1) + 10, None), receive, None)
    return result


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tasks", nargs="*", type=Path)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--only", choices=CONFIGURATIONS, action="append")
    options = parser.parse_args()
    names = options.only or list(CONFIGURATIONS)
    tasks = list(tasks_in(options.tasks or [ROOT / "benchmarks" / "impact"]))
    print(f"{'':22}" + "".join(f"{name:>26}" for name in names) + f"{'checking':>14}")
    print(f"{'':22}" + f"{'s':>7}{'|V|':>8}{'impl':>6}{'C':>5}" * len(names))
    problems: list[str] = []
    total = dict.fromkeys(names, 0.0)
    for task in tasks:
        results = {
            name: measure(task, CONFIGURATIONS[name], options.seconds, name == BEST)
            for name in names
        }
        print(_row(task, results), flush=True)
        problems += _problems(task, results)
        for name, result in results.items():
            total[name] += result.cpu if result.is_solved else options.seconds
    sums = "".join(f"{total[name]:>7.1f}{'':19}" for name in names)
    print(f"{'all (limit if unsolved)':22}{sums}")
    if BEST in total and "sPOR" in total:
        print(f"sPOR takes {total['sPOR'] / total[BEST]:.1f} times as long as {BEST}, or longer")
    for problem in problems:
        print(problem)
    return 1 if problems else 0


def _row(task: Task, results: dict[str, Result]) -> str:
    row = f"{task.name:22}"
    for result in results.values():
        seconds = f"{result.cpu:.2f}" if result.is_solved else "-"
        share = f"{100 * result.expansions / max(result.nodes, 1):.0f}%"
        row += f"{seconds:>7}{result.nodes:>8}{result.implications:>6}{share:>5}"
    best = results.get(BEST)
    if best is not None and best.checked:
        row += f"{best.checking:>9.2f} s {best.checked[:40]}"
    return row


def _problems(task: Task, results: dict[str, Result]) -> list[str]:
    found = [
        f"{task.name}: {name} says {result.answer}, expected is {task.expected}"
        for name, result in results.items()
        if result.is_solved and task.expected and result.answer != task.expected
    ]
    best = results.get(BEST)
    if best is None:
        return found
    if not best.is_solved:
        found.append(f"{task.name}: {BEST} does not solve it")
    if best.checked and best.checked != "accepted":
        found.append(f"{task.name}: the certificate is not accepted: {best.checked}")
    for name, result in results.items():
        if result.is_solved and best.is_solved and result.nodes < best.nodes:
            found.append(f"{task.name}: {name} has fewer nodes than {BEST}")
    return found


if __name__ == "__main__":
    sys.exit(main())
