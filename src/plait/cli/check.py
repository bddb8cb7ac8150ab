"""`plait check`: whether a certificate proves what it claims about a program.

What is to be shown, and how the sources are read, is said by the options, as for `plait verify`;
the certificate is not believed in this either. The checker (`plait.certificates`) follows it step
by step. As in `plait verify`, a worker does what takes time, and this process keeps the limits.
"""

from __future__ import annotations

import argparse
import os
import shlex
import time
from typing import Any

from plait.cli import exits
from plait.cli.output import Console
from plait.cli.progress import ProgressLine
from plait.errors import Diagnostic, InputError, PlaitError
from plait.work.child import Send
from plait.work.limits import Ending, Finish, Limits
from plait.work.supervise import supervise

_GIB = 1 << 30
_EXIT_CODES = {"accepted": exits.HOLDS, "rejected": exits.VIOLATED, "unknown": exits.UNKNOWN}


def check(options: argparse.Namespace, console: Console) -> int:
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
                self.line.say(f"{data['done']:,} of {data['nodes']:,} nodes checked")
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
        console.line(
            f"{heard.verdict['nodes']} nodes, {heard.verdict['steps']} steps,"
            f" {heard.verdict['queries']} questions to z3, {seconds:.2f} s"
        )
    detail = f" ({_printable(' '.join(reason.split()))})" if reason else ""
    console.line(f"CERTIFICATE: {answer}{detail}")
    return _EXIT_CODES[answer]


def _printable(text: str) -> str:
    """A certificate comes from anybody; what it says must not move the cursor."""
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
        _check_file(options, deadline, send)
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
    send: Send, answer: str, reason: str, counts: tuple[int, int, int] = (0, 0, 0)
) -> None:
    nodes, steps, queries = counts
    send(
        {
            "kind": "verdict",
            "answer": answer,
            "reason": reason,
            "nodes": nodes,
            "steps": steps,
            "queries": queries,
        }
    )


def _check_file(options: argparse.Namespace, deadline: float | None, send: Send) -> None:
    from plait.certificates.check import check as check_certificate
    from plait.certificates.reading import read
    from plait.certificates.verdicts import Answer
    from plait.cli.arguments import as_arguments
    from plait.cli.assumptions import assumptions_of
    from plait.cli.inputs import load_program, read_text, specification

    certificate = read(read_text(options.certificate))
    chosen, entry = specification(options)
    program = load_program(options, chosen, entry)
    assumptions = assumptions_of(program, chosen, spurious_wakeups=options.spurious_wakeups)
    about = [
        f"claim: {chosen}",
        f"certificate: {len(certificate.nodes)} nodes, by the engine {certificate.engine}",
    ]
    send({"kind": "loaded", "about": about, "assumptions": assumptions})
    said = time.monotonic()

    def progress(done: int, nodes: int) -> None:
        nonlocal said
        if time.monotonic() - said >= 0.2:
            said = time.monotonic()
            send({"kind": "progress", "done": done, "nodes": nodes})

    verdict = check_certificate(program, chosen, certificate, deadline, progress)
    reason = verdict.reason
    made_with = list(certificate.options)
    if verdict.answer is Answer.REJECTED and made_with != as_arguments(options):
        reason += f"; it was made with {shlex.join(made_with) or 'no options'}"
    if verdict.answer is Answer.UNKNOWN and deadline is not None and time.monotonic() >= deadline:
        reason = f"time limit of {options.timeout:g} s"
    counts = verdict.nodes, verdict.steps, verdict.queries
    _send_verdict(send, verdict.answer.value, reason, counts)
