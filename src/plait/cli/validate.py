"""`plait validate`: whether a violation witness describes an execution of a program.

What the witness is about is said by the witness; options that name properties only say which ones
count. As in `plait verify`, a worker does what takes time, and this process keeps the limits.
"""

from __future__ import annotations

import argparse
import os
import time
from typing import TYPE_CHECKING, Any

from plait.cli import exits
from plait.cli.output import Console
from plait.cli.progress import ProgressLine
from plait.errors import Diagnostic, InputError, PlaitError
from plait.work.child import Send
from plait.work.limits import Ending, Finish, Limits
from plait.work.supervise import supervise

if TYPE_CHECKING:
    from plait.evidence.validation.search import Found
    from plait.evidence.witness.content import ViolationWitness
    from plait.model.program import Program
    from plait.model.properties import Specification

_GIB = 1 << 30
_EXIT_CODES = {"confirmed": exits.HOLDS, "rejected": exits.VIOLATED, "unknown": exits.UNKNOWN}


def validate(options: argparse.Namespace, console: Console) -> int:
    started = time.monotonic()
    deadline = None if options.timeout is None else started + options.timeout
    memory = None if options.memory_limit is None else int(options.memory_limit * _GIB)
    heard = _Heard()
    tick = heard.line.show if heard.line.is_wanted() else None
    try:
        finish = supervise(
            lambda send: _work(options, deadline, send),
            Limits(options.timeout, memory),
            heard.receive,
            tick,
        )
    finally:
        heard.line.clear()
    if options.verbose or os.environ.get("PLAIT_TRACEBACK"):
        if finish.noise:
            console.error(f"the worker wrote:\n{finish.noise}")
    if heard.mistake is not None:
        raise InputError(*(Diagnostic(**row) for row in heard.mistake))
    return _report(options, console, heard, finish, time.monotonic() - started)


class _Heard:
    """What the worker has said so far."""

    def __init__(self) -> None:
        self.line = ProgressLine()
        self.about: list[str] = []
        self.assumptions: list[str] = []
        self.mistake: list[dict[str, Any]] | None = None
        self.verdict: dict[str, Any] | None = None

    def receive(self, data: dict[str, Any]) -> None:
        match data["kind"]:
            case "progress":
                self.line.say(
                    f"{data['states']:,} states, {data['passed']} of {data['segments']} segments"
                )
            case "loaded":
                self.about, self.assumptions = data["about"], data["assumptions"]
            case "mistake":
                self.mistake = data["diagnostics"]
            case "verdict":
                self.verdict = data


def _report(
    options: argparse.Namespace, console: Console, heard: _Heard, finish: Finish, seconds: float
) -> int:
    console.lines(_printable(line) for line in heard.about)
    console.block("assumptions", heard.assumptions)
    if heard.verdict is None:
        answer, reason = "unknown", _cause(options, finish)
    else:
        answer, reason = heard.verdict["answer"], heard.verdict["reason"]
        console.lines(heard.verdict["violation"])
        console.line(f"{heard.verdict['states']} states, {seconds:.2f} s")
    detail = f" ({_printable(' '.join(reason.split()))})" if reason else ""
    console.line(f"WITNESS: {answer}{detail}")
    return _EXIT_CODES[answer]


def _printable(text: str) -> str:
    """A witness comes from anybody; what it says must not move the cursor."""
    return "".join(item if item.isprintable() else "?" for item in text)


def _cause(options: argparse.Namespace, finish: Finish) -> str:
    """Why the worker has no answer."""
    if finish.ending is Ending.TIME:
        return f"time limit of {options.timeout:g} s"
    if finish.ending is Ending.INTERRUPTED:
        return "interrupted"
    if finish.ending is Ending.MEMORY:
        limit = options.memory_limit
        return "out of memory" if limit is None else f"memory limit of {limit:g} GiB"
    said = " ".join(" ".join(finish.noise.split("\n")[-2:]).split())[:200]
    how = finish.how or "without an answer"
    return f"the worker ended {how}" + (f": {said}" if said else "")


# --- in the worker


def _work(options: argparse.Namespace, deadline: float | None, send: Send) -> None:
    from plait.cli.internal_error import describe
    from plait.cli.rows import diagnostic_row

    try:
        _validate_file(options, deadline, send)
    except InputError as error:
        rows = [diagnostic_row(item) for item in error.diagnostics]
        send({"kind": "mistake", "diagnostics": rows})
    except PlaitError as error:
        _send_verdict(send, "unknown", str(error))
    except MemoryError:
        raise
    except Exception as error:
        if os.environ.get("PLAIT_TRACEBACK"):
            import traceback

            os.write(2, traceback.format_exc().encode(errors="backslashreplace"))
        _send_verdict(send, "unknown", f"internal error: {describe(error)}")


def _send_verdict(
    send: Send, answer: str, reason: str, violation: list[str] | None = None, states: int = 0
) -> None:
    send(
        {
            "kind": "verdict",
            "answer": answer,
            "reason": reason,
            "violation": violation or [],
            "states": states,
        }
    )


def _validate_file(options: argparse.Namespace, deadline: float | None, send: Send) -> None:
    from plait.cli.inputs import read_text
    from plait.evidence.witness.content import CorrectnessWitness
    from plait.evidence.witness.read import from_text

    path = options.witness
    witness = from_text(read_text(path), path)
    if isinstance(witness, CorrectnessWitness):
        _send_verdict(send, "unknown", "correctness witnesses are not validated")
        return
    foreign = _not_this_program(options, witness)
    if foreign:
        _send_verdict(send, "rejected", foreign)
        return
    found: Found | None = None
    for part, entry in _parts(options, witness):
        found, program = _validate_part(options, witness, part, entry, deadline, send)
        if found.answer.value != "rejected":
            break
    if found is None:
        about = " ".join(witness.task.specification.split())[:200]
        _send_verdict(send, "rejected", f"the witness is about another property: {about}")
        return
    violation = []
    if found.origin is not None:
        what = f"{found.kind} violated in thread {found.thread}: {found.message}"
        violation = str(program.diagnostic(found.origin, what)).split("\n")
    reason = found.reason
    if found.answer.value == "unknown" and deadline is not None and time.monotonic() >= deadline:
        reason = reason.replace("time is up", f"time limit of {options.timeout:g} s", 1)
    _send_verdict(send, found.answer.value, reason, violation, found.states)


def _not_this_program(options: argparse.Namespace, witness: ViolationWitness) -> str:
    """Why a witness cannot be about the program that is given; empty if it can."""
    from hashlib import sha1, sha256
    from pathlib import Path, PurePath

    from plait.evidence.witness.content import Format

    task = witness.task
    if task.data_model != options.data_model:
        return f"the witness is for the data model {task.data_model}: see --data-model"
    claimed = {digest.lower() for digest in task.hashes}
    known: set[str] = set()
    for path in options.programs:
        try:
            data = Path(path).read_bytes()
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
    from plait.cli.inputs import parts, specification
    from plait.evidence.witness.specifications import parsed
    from plait.model.properties import Specification

    claimed, entry = parsed(witness.task.specification, options.witness)
    if options.property or options.prp is not None or options.error_function:
        asked, _ = specification(options)
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
    deadline: float | None,
    send: Send,
) -> tuple[Found, Program]:
    from plait.cli.assumptions import assumptions_of
    from plait.cli.inputs import load_program
    from plait.evidence.validation.validate import validate as validate_witness

    program = load_program(options, part, entry)
    assumptions = assumptions_of(program, part, spurious_wakeups=options.spurious_wakeups)
    producer = witness.producer
    about = [
        f"claim: a violation of {part}",
        f"witness: {len(witness.segments)} segments, format {witness.format.value},"
        f" by {producer.name} {producer.version}",
    ]
    send({"kind": "loaded", "about": about, "assumptions": assumptions})
    said = time.monotonic()

    def say(states: int, passed: int, segments: int) -> None:
        nonlocal said
        if time.monotonic() - said >= 0.2:
            said = time.monotonic()
            send({"kind": "progress", "states": states, "passed": passed, "segments": segments})

    found = validate_witness(program, part, witness, deadline=deadline, say=say)
    return found, program
