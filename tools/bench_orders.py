"""How the ways to deal with orders compare: the engine's default and the baselines of its paper.

    python tools/bench_orders.py [--seconds S] [--stride N] [TASK or FOLDER ...]

A task is a BenchExec task definition (.yml), or a C file with assertions. Every configuration gets
every task, in a process of its own that is killed at the limits. Times are CPU seconds of the
engine, without the front end. They depend on the machine: what counts are the ratios of one run.

Claims of the paper that are checked (its section 7.4): most tasks need fewer than 80 refinements;
graph-based refinement is much faster than core-based; the abstraction is a small part of the
monolithic formula. The exit code is 1 only for wrong answers.
"""

from __future__ import annotations

import argparse
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from plait.c import FrontEndOptions, load
from plait.engines.interface import Answer, Counterexample
from plait.engines.orders.engine import verify
from plait.engines.orders.outcome import BoundOutcome
from plait.engines.orders.settings import OrderEncoding, Refinement, Settings
from plait.errors import PlaitError
from plait.evidence.replay import ReplayFailed, replay
from plait.model.properties import Specification, from_prp
from plait.model.types import DataModel
from plait.work.child import Message, Send
from plait.work.limits import Ending, Limits
from plait.work.supervise import supervise
from trust.concurrent import generate

ROOT = Path(__file__).resolve().parents[1]
CONFIGURATIONS = {
    "propagator": Settings(refinement=Refinement.PROPAGATOR),
    "graph": Settings(refinement=Refinement.GRAPH),
    "kernel": Settings(refinement=Refinement.KERNEL),
    "cores": Settings(refinement=Refinement.CORES),
    "monolithic": Settings(encoding=OrderEncoding.MONOLITHIC),
}
ANSWERS = {Answer.HOLDS: "true", Answer.VIOLATED: "false", Answer.UNKNOWN: "unknown"}
GENERATED = range(7000, 7040)
FEW_REFINEMENTS = 80


@dataclass(frozen=True, slots=True)
class Task:
    name: str
    source: Path
    specification: Specification = field(default_factory=Specification)
    data_model: DataModel = DataModel.LP64
    expected: str = ""


@dataclass(slots=True)
class Result:
    """`sizes` has the number of clauses for each loop bound that got as far as a formula."""

    answer: str = "unknown"
    cpu: float = 0.0
    refinements: int = 0
    reasons: int = 0
    literals: int = 0
    sizes: dict[int, int] = field(default_factory=dict)

    @property
    def is_solved(self) -> bool:
        return self.answer in ("true", "false")


def tasks_in(paths: Sequence[Path]) -> Iterator[Task]:
    for path in paths:
        if path.is_dir():
            definitions = sorted(path.rglob("*.yml"))
            yield from tasks_in(definitions or sorted(path.rglob("*.c")))
        elif path.suffix == ".yml":
            yield defined_task(path)
        else:
            yield Task(path.name, path)


def defined_task(path: Path) -> Task:
    """The few lines of a task definition that matter here."""
    text = path.read_text()

    def value(key: str) -> str:
        found = re.search(rf"{key}: *'?\"?([^'\"\n]*)", text)
        return found[1].strip() if found else ""

    prp = path.parent / value("property_file")
    specification, _ = from_prp(prp.read_text(), str(prp))
    data_model = DataModel[value("data_model") or "ILP32"]
    source = path.parent / value("input_files")
    return Task(path.stem, source, specification, data_model, value("expected_verdict"))


def generated_tasks(folder: Path) -> Iterator[Task]:
    for seed in GENERATED:
        source = folder / f"generated_{seed}.c"
        source.write_text(generate(seed))
        yield Task(source.name, source)


# In the child


def work(task: Task, settings: Settings, seconds: float, send: Send) -> None:
    deadline = time.monotonic() + seconds
    options = FrontEndOptions(data_model=task.data_model)
    program = load([str(task.source)], options, task.specification)

    def objection(found: Counterexample) -> str:
        try:
            replay(program, task.specification, found)
        except (ReplayFailed, PlaitError) as error:
            return f"does not replay: {error}"
        return ""

    def progress(outcome: BoundOutcome) -> None:
        send({"bound": outcome.statistics.bound, "clauses": outcome.statistics.clauses})

    started = time.process_time()
    outcome = verify(program, settings, deadline, progress, objection)
    cpu = time.process_time() - started
    progress(outcome)
    numbers = outcome.statistics
    is_late = outcome.is_out_of_time or (outcome.is_bounded and time.monotonic() > deadline)
    send(
        {
            "answer": ANSWERS[outcome.answer],
            "cpu": seconds if is_late else cpu,
            "refinements": numbers.refinements,
            "reasons": numbers.reasons,
            "literals": numbers.reason_literals,
        }
    )


# In the parent


def measure(task: Task, settings: Settings, limits: Limits) -> Result:
    assert limits.seconds is not None
    seconds = limits.seconds
    result = Result(cpu=seconds)

    def receive(message: Message) -> None:
        if "bound" in message:
            if message["clauses"]:
                result.sizes[message["bound"]] = message["clauses"]
            return
        for name, value in message.items():
            setattr(result, name, value)

    finish = supervise(lambda send: work(task, settings, seconds, send), limits, receive)
    if finish.ending is Ending.INTERRUPTED:
        raise KeyboardInterrupt
    if finish.ending is Ending.DIED:
        print(f"{task.name}: died {finish.how}: {finish.noise.strip()[-200:]}")
    return result


def row(result: Result) -> str:
    clauses = max(result.sizes.items(), default=(0, 0))
    return (
        f"{result.answer:8}{result.cpu:7.2f} s {result.refinements:6} refinements"
        f" {clauses[1]:9} clauses at bound {clauses[0]}"
    )


class Report:
    def __init__(self, names: list[str], seconds: float) -> None:
        self._names = names
        self._seconds = seconds
        self._results: list[dict[str, Result]] = []
        self.wrong: list[str] = []

    def add(self, task: Task, results: dict[str, Result]) -> None:
        self._results.append(results)
        answers = {name: result.answer for name, result in results.items() if result.is_solved}
        if len(set(answers.values()) | ({task.expected} - {""})) > 1:
            self.wrong.append(f"{task.name}: {answers}, expected {task.expected or 'nothing'}")

    def show(self) -> None:
        count = len(self._results)
        print(f"\n{count} tasks; CPU seconds, {self._seconds:g} where the time was not enough")
        print(
            f"{'':12}{'solved':>7}{'median s':>10}{'total s':>10}{'refinements':>13}"
            f"{'< 80':>7}{'reasons/round':>15}{'literals/reason':>17}"
        )
        for name in self._names:
            self._show_configuration(name)
        self._show_sizes()
        self._show_ratio("cores", "graph", 10.0)
        self._show_ratio("kernel", "graph")
        self._show_ratio("graph", "propagator")
        self._show_ratio("monolithic", "graph")
        self._show_ratio("monolithic", "propagator")
        for line in self.wrong:
            print(f"WRONG {line}")

    def _show_configuration(self, name: str) -> None:
        all_results = [results[name] for results in self._results]
        solved = [result for result in all_results if result.is_solved]
        if not solved:
            print(f"{name:12}{0:7}")
            return
        times = [result.cpu for result in all_results]
        refinements = [result.refinements for result in solved]
        few = sum(number < FEW_REFINEMENTS for number in refinements) / len(solved)
        rounds = sum(refinements)
        reasons = sum(result.reasons for result in solved)
        literals = sum(result.literals for result in solved)
        print(
            f"{name:12}{len(solved):7}{statistics.median(times):10.2f}{sum(times):10.1f}"
            f"{statistics.median(refinements):13.0f}{few:7.0%}"
            f"{reasons / max(1, rounds):15.1f}{literals / max(1, reasons):17.1f}"
        )

    def _show_sizes(self) -> None:
        """Of the abstraction relative to the monolithic formula, at the largest bound that both
        have reached."""
        ratios = []
        for results in self._results:
            exact = results["monolithic"].sizes if "monolithic" in results else {}
            abstract: dict[int, int] = {}
            for name, result in results.items():
                if name != "monolithic":
                    abstract.update(result.sizes)
            common = exact.keys() & abstract.keys()
            if common:
                ratios.append(abstract[max(common)] / exact[max(common)])
        if ratios:
            median = statistics.median(ratios)
            print(
                f"clauses of the abstraction / of the monolithic formula: median {median:.3f}"
                f" (1/{1 / median:.1f}), from {min(ratios):.3f} to {max(ratios):.3f},"
                f" {len(ratios)} tasks{_verdict(median <= 0.2, 'at most 1/5')}"
            )

    def _show_ratio(self, slow: str, fast: str, claimed: float | None = None) -> None:
        if not {slow, fast} <= set(self._names):
            return
        solved = [results for results in self._results if results[fast].is_solved]
        both = [results for results in solved if results[slow].is_solved]
        if not both:
            print(f"time of {slow} / of {fast}: no task that both solve")
            return
        total = _ratio(both, slow, fast)
        median = statistics.median(_ratio([results], slow, fast) for results in both)
        claim = "" if claimed is None else _verdict(total >= claimed, f"at least {claimed:g}")
        print(
            f"time of {slow} / of {fast}: total {total:.2f}, median {median:.2f},"
            f" {len(both)} tasks that both solve{claim}"
        )
        if len(both) < len(solved):
            print(
                f"  at least {_ratio(solved, slow, fast):.2f} in total with the"
                f" {len(solved) - len(both)} tasks that only {fast} solves"
            )


def _ratio(tasks: list[dict[str, Result]], slow: str, fast: str) -> float:
    return sum(one[slow].cpu for one in tasks) / sum(one[fast].cpu for one in tasks)


def _verdict(holds: bool, claim: str) -> str:
    return f"; claim '{claim}' {'holds' if holds else 'does not hold'}"


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Compare the ways to deal with orders.")
    parser.add_argument("paths", nargs="*", type=Path, help="default: examples and generated ones")
    parser.add_argument("--seconds", type=float, default=20.0, help="for each task")
    parser.add_argument("--memory", type=float, default=2.0, help="GiB for each task")
    parser.add_argument("--stride", type=int, default=1, help="take every n-th task")
    parser.add_argument("--configurations", default=",".join(CONFIGURATIONS))
    options = parser.parse_args(arguments)
    names = options.configurations.split(",")
    limits = Limits(options.seconds, int(options.memory * 2**30))
    report = Report(names, options.seconds)
    with tempfile.TemporaryDirectory() as scratch:
        tasks = list(tasks_in(options.paths or [ROOT / "examples"]))
        if not options.paths:
            tasks += generated_tasks(Path(scratch))
        for task in tasks[:: options.stride]:
            results = {}
            for name in names:
                results[name] = measure(task, CONFIGURATIONS[name], limits)
                print(f"{task.name:32} {name:10} {row(results[name])}", flush=True)
            report.add(task, results)
    report.show()
    return 1 if report.wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
