"""Figure 14 of the paper: the engine `traces` beside others.

    python tools/bench_traces.py [--seconds S] [--engine E ...] [--family F ...] [TASK ...]

A task is a C file with assertions (the name says `unsafe` if one can fail), a BenchExec task
definition (.yml), or a folder of these; by default our versions of the programs that there are.
Every engine gets every task, in a process of its own that is killed at the limit. Times are CPU
seconds of the engine, without the front end; `proved` counts the traces (impact: the refinements),
`states` those that the engine has met. Of a family (`bench_families.py`) programs get larger until
no engine has an answer.
The exit code is 1 for wrong answers.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from bench_families import FAMILIES
from bench_impact import ANSWERS, ROOT, Task, tasks_in
from plait.c import FrontEndOptions, load
from plait.engines import registry
from plait.engines.interface import Counterexample, Progress, Question
from plait.evidence.confirm import confirmed
from plait.evidence.counterexample import NotShown
from plait.evidence.replay import ReplayFailed
from plait.model.facts import Fact
from plait.model.program import Program
from plait.model.properties import Specification
from plait.work.child import Message, Send
from plait.work.limits import Limits
from plait.work.supervise import supervise


@dataclass(slots=True)
class Result:
    answer: str = "-"
    cpu: float = 0.0
    traces: int = 0
    states: int = 0


class Replaying:
    def __init__(self, program: Program, specification: Specification) -> None:
        self._program = program
        self._specification = specification

    def progress(self, progress: Progress) -> None:
        pass

    def facts(self, facts: tuple[Fact, ...]) -> None:
        pass

    def confirm(self, found: Counterexample) -> str:
        try:
            confirmed(self._program, self._specification, found)
        except (ReplayFailed, NotShown) as error:
            return f"not replayed: {error}"
        return ""


def measure(task: Task, name: str, seconds: float) -> Result:
    result = Result()
    engine = registry.engine(name)

    def work(send: Send) -> None:
        options = FrontEndOptions(data_model=task.data_model)
        program = load([str(task.source)], options, task.specification)
        answer = import_module(engine.module).answer
        began = time.process_time()
        question = Question(
            program,
            task.specification,
            time.monotonic() + 6 * seconds,
            settings=engine.settings({}),
        )
        outcome = answer(question, Replaying(program, task.specification))
        numbers: dict[str, Any] = outcome.statistics.numbers()
        message: Message = {
            "answer": ANSWERS[outcome.answer],
            "cpu": time.process_time() - began,
            "traces": numbers.get("traces", numbers.get("refinements", 0)),
            "states": numbers.get("states", numbers.get("nodes", 0)),
        }
        send(message)

    def receive(message: Message) -> None:
        for field, value in message.items():
            setattr(result, field, value)

    supervise(work, Limits(6 * seconds + 5, None), receive, None)
    return result


def names_of_engines() -> list[str]:
    return [item.name for item in registry.engines()]


def compare(task: Task, names: list[str], seconds: float) -> list[str]:
    """Print what each engine answers; whether it is right, wrong, or no answer."""
    row = f"{task.name:24}"
    found = []
    for name in names:
        result = measure(task, name, seconds)
        row += f"{result.answer:>8}{result.cpu:6.2f}{result.traces:8}{result.states:8}"
        if result.answer not in ("true", "false"):
            found.append("open")
        else:
            found.append("right" if task.expected in ("", result.answer) else "wrong")
    print(row, flush=True)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tasks", nargs="*", type=Path)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--engine", action="append", choices=names_of_engines())
    families = {item.name: item for item in FAMILIES}
    parser.add_argument("--family", action="append", choices=families, default=[])
    options = parser.parse_args()
    names = options.engine or ["traces", "impact"]
    print(f"{'':24}" + "".join(f"{name:>30}" for name in names))
    print(f"{'':24}" + f"{'s':>14}{'proved':>8}{'states':>8}" * len(names))
    wrong = 0
    if options.tasks or not options.family:
        for task in tasks_in(options.tasks or [ROOT / "benchmarks" / "impact"]):
            wrong += compare(task, names, options.seconds).count("wrong")
    with tempfile.TemporaryDirectory() as folder:
        for name in options.family:
            for run in families[name].runs:
                source = Path(folder) / f"{name}_{run.size}.c"
                source.write_text(run.source)
                task = Task(source.stem, source, "true")
                found = compare(task, names, options.seconds)
                wrong += found.count("wrong")
                if "right" not in found:
                    break
    print(f"{wrong} wrong answers")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
