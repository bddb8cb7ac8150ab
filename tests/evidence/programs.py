"""Small programs, and their evidence."""

from __future__ import annotations

from pathlib import Path

from plait.c import FrontEndOptions, load
from plait.evidence.counterexample import Evidence, Found, evidence_of
from plait.evidence.result import Result
from plait.evidence.trace_rows import TraceRows, trace_rows
from plait.model.program import Program
from plait.model.properties import Specification, from_names
from plait.semantics.explore import explore
from plait.semantics.machine import Machine
from plait.semantics.outcome import Ending, InputRequest
from plait.semantics.run import run
from plait.semantics.scalars import Number
from plait.semantics.schedule import ScheduledStep, merged

EXAMPLES = Path(__file__).parents[2] / "examples"
HEAD = "#include <assert.h>\n#include <pthread.h>\n#include <stdlib.h>\n"


def loaded(folder: Path, text: str, specification: Specification) -> Program:
    source = folder / "program.c"
    source.write_text(HEAD + text)
    return load([str(source)], FrontEndOptions(), specification)


def told(
    folder: Path, text: str, *turns: tuple[int, int], inputs: tuple[int, ...] = ()
) -> TraceRows:
    """What happens when threads take up to so many steps, one after the other."""
    specification = Specification()
    program = loaded(folder, text, specification)
    machine = Machine(program, specification)
    machine.start()
    steps = []
    values = list(inputs)
    for thread, count in turns:
        for _ in range(count):
            if thread not in machine.runnable():
                break
            machine.commit()
            given: list[Number] = []

            def supply(request: InputRequest, given: list[Number] = given) -> Number:
                given.append(values.pop(0))
                return given[-1]

            machine.supply = supply
            if machine.step(thread).ending is not Ending.MOVED:
                machine.take_back()
                break
            steps.append(ScheduledStep(thread, tuple(given)))
    execution = run(program, specification, schedule=merged(steps), trace=True)
    return trace_rows(program, execution.events)


def found_in(folder: Path, text: str, name: str = "assertions") -> Evidence:
    """The evidence of the violation that exploration finds."""
    specification = from_names([name])
    return evidence_for(loaded(folder, text, specification), specification)


def evidence_for(program: Program, specification: Specification) -> Evidence:
    exploration = explore(program, specification)
    violation, schedule = exploration.violation, exploration.schedule
    assert violation is not None and schedule is not None, exploration.reason
    found = Found(
        violation.kind, violation.message, violation.thread, violation.origin, violation.other
    )
    if violation.other_thread:
        found.threads = violation.thread, violation.other_thread
    return evidence_of(program, specification, schedule, found)


def result_of(evidence: Evidence) -> Result:
    violation = evidence.violation
    return Result(
        "0",
        ["program.c"],
        "main",
        "LP64",
        [violation.property],
        "explore",
        "false",
        violation.message,
        violated=violation.property,
        violation=violation,
        threads=evidence.threads,
        inputs=evidence.inputs,
        trace=evidence.trace,
    )
