"""Results of violated programs, as `plait explore` has them, and their witnesses."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from plait.c import FrontEndOptions, load
from plait.evidence.counterexample import Found, evidence_of
from plait.evidence.result import Result, Source
from plait.model.program import Program
from plait.model.properties import Specification, from_names
from plait.semantics.explore import ExploreOptions, explore

REPOSITORY = Path(__file__).parents[3]


@dataclass(slots=True)
class Violated:
    program: Program
    specification: Specification
    result: Result


def violated(path: Path, name: str, seconds: float = 10) -> Violated | None:
    """None if exploration does not find a violation in that time."""
    specification = from_names([name])
    program = load([str(path)], FrontEndOptions(), specification)
    found = explore(program, specification, ExploreOptions(max_seconds=seconds))
    violation, schedule = found.violation, found.schedule
    if violation is None or schedule is None:
        return None
    about = Found(
        violation.kind, violation.message, violation.thread, violation.origin, violation.other
    )
    if violation.other_thread:
        about.threads = violation.thread, violation.other_thread
    evidence = evidence_of(program, specification, schedule, about)
    data = path.read_bytes()
    result = Result(
        "0.1.0",
        [str(path)],
        "main",
        "LP64",
        [name],
        "explore",
        "false",
        evidence.violation.message,
        sorted(specification.error_functions),
        violation=evidence.violation,
        threads=evidence.threads,
        inputs=evidence.inputs,
        trace=evidence.trace,
        sources=[Source(str(path), sha256(data).hexdigest(), data.decode().split("\n"))],
    )
    return Violated(program, specification, result)


def violated_text(folder: Path, text: str, name: str = "assertions") -> Violated:
    path = folder / "program.c"
    path.write_text(text)
    found = violated(path, name)
    assert found is not None
    return found
