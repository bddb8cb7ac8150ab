"""`plait validate`: whether a violation witness describes an execution of a program.

What the witness is about is said by the witness; options that name properties only say which ones
count.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from plait.cli.chosen import subject_of
from plait.cli.judge_file import Worker, judge_file
from plait.cli.output import Console
from plait.errors import Diagnostic, InputError
from plait.files import read_regular

if TYPE_CHECKING:
    from plait.evidence.validation.search import Found
    from plait.evidence.witness.content import ViolationWitness
    from plait.model.program import Program
    from plait.model.properties import Specification


def validate(options: argparse.Namespace, console: Console) -> int:
    return judge_file(options, console, "WITNESS", lambda worker: _validate_file(options, worker))


def _validate_file(options: argparse.Namespace, worker: Worker) -> None:
    from plait.evidence.witness.content import CorrectnessWitness
    from plait.evidence.witness.read import from_text
    from plait.portfolio.subject import read_text

    path = options.witness
    witness = from_text(read_text(path), path)
    if isinstance(witness, CorrectnessWitness):
        worker.answer("unknown", "correctness witnesses are not validated")
        return
    foreign = _not_this_program(options, witness)
    if foreign:
        worker.answer("rejected", foreign)
        return
    found: Found | None = None
    for part, entry in _parts(options, witness):
        found, program = _validate_part(options, witness, part, entry, worker)
        if found.answer.value != "rejected":
            break
    if found is None:
        about = " ".join(witness.task.specification.split())[:200]
        worker.answer("rejected", f"the witness is about another property: {about}")
        return
    violation = []
    if found.origin is not None:
        what = f"{found.kind} violated in thread {found.thread}: {found.message}"
        violation = str(program.diagnostic(found.origin, what)).split("\n")
    reason = found.reason
    if found.answer.value == "unknown" and worker.is_late:
        reason = reason.replace("time is up", f"time limit of {options.timeout:g} s", 1)
    worker.answer(found.answer.value, reason, [*violation, f"{found.states} states"])


def _not_this_program(options: argparse.Namespace, witness: ViolationWitness) -> str:
    """Why a witness cannot be about the program that is given; empty if it can."""
    from hashlib import sha1, sha256
    from pathlib import PurePath

    from plait.evidence.witness.content import Format

    task = witness.task
    if task.data_model != options.data_model:
        return f"the witness is for the data model {task.data_model}: see --data-model"
    claimed = {digest.lower() for digest in task.hashes}
    known: set[str] = set()
    for path in options.programs:
        try:
            data = read_regular(path)
        except OSError as error:
            raise InputError(Diagnostic(error.strerror or str(error), path)) from error
        # Old GraphML witnesses have SHA-1 hashes, and GraphML names only one file.
        mine = {sha256(data).hexdigest(), sha1(data).hexdigest()}
        known |= mine
        if claimed.isdisjoint(mine) and witness.format is not Format.GRAPHML:
            return f"the witness is about other files: none has the hash of {path}"
    for name, digest in zip(task.files, task.hashes, strict=True):
        if options.programs and digest.lower() not in known:
            return f"no file that was given has the hash of '{PurePath(name).name[:100]}'"
    return ""


def _parts(
    options: argparse.Namespace, witness: ViolationWitness
) -> list[tuple[Specification, str]]:
    """What the witness is about, as far as the options ask for it."""
    from plait.evidence.witness.specifications import parsed
    from plait.model.properties import Specification
    from plait.portfolio.subject import parts, specification

    claimed, entry = parsed(witness.task.specification, options.witness)
    if options.property or options.prp is not None or options.error_function:
        asked, _ = specification(subject_of(options))
        both = asked.properties & claimed.properties
        if not both:
            return []
        claimed = Specification(both, claimed.error_functions)
    return [(part, options.entry or entry) for part in parts(claimed)]


def _validate_part(
    options: argparse.Namespace,
    witness: ViolationWitness,
    part: Specification,
    entry: str,
    worker: Worker,
) -> tuple[Found, Program]:
    from plait.evidence.validation.validate import validate as validate_witness
    from plait.portfolio.assumptions import assumptions_of
    from plait.portfolio.subject import load_program

    program = load_program(subject_of(options), part, entry)
    assumptions = assumptions_of(
        program,
        part,
        spurious_wakeups=options.spurious_wakeups,
        failing_calls=options.failing_calls,
    )
    producer = witness.producer
    about = [
        f"claim: a violation of {part}",
        f"witness: {len(witness.segments)} segments, format {witness.format.value},"
        f" by {producer.name} {producer.version}",
    ]
    worker.loaded(about, assumptions)

    def say(states: int, passed: int, segments: int) -> None:
        worker.progress(f"{states:,} states, {passed} of {segments} segments")

    found = validate_witness(program, part, witness, deadline=worker.deadline, say=say)
    return found, program
