"""`plait check`: whether a certificate proves what it claims about a program.

The program is read again with the options that the certificate names, and the checker
(`plait.certificates`) follows the certificate step by step. As in `plait verify`, a worker does
what takes time, and this process keeps the limits.
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
    from collections.abc import Mapping

    from plait.certificates.document import Certificate

_GIB = 1 << 30
_EXIT_CODES = {"accepted": exits.HOLDS, "rejected": exits.VIOLATED, "unknown": exits.UNKNOWN}
_LISTS = ("include_dirs", "defines", "undefines", "force_includes")


def front_end_of(options: argparse.Namespace, entry: str) -> dict[str, Any]:
    """What a certificate must say about how its program was read, for `plait check` to read it in
    the same way: every option of the front end that `load_program` uses, and the entry function
    that belongs to the properties. The sources themselves are given again; paths to headers are
    kept as they were written, relative ones to the working directory."""
    return {
        "entry": entry,
        "data_model": options.data_model,
        "std": options.std,
        "include_dirs": list(options.include_dirs),
        "defines": list(options.defines),
        "undefines": list(options.undefines),
        "force_includes": list(options.force_includes),
        "compile_commands": options.compile_commands,
        "spurious_wakeups": options.spurious_wakeups,
    }


def options_of(front_end: Mapping[str, Any], programs: list[str]) -> argparse.Namespace:
    """The options that `front_end_of` has written down."""
    from plait.certificates.json_values import CertificateError

    def refuse(name: str) -> InputError:
        return CertificateError(f"certificate.front_end.{name[:40]}: missing, or no such option")

    known = {"entry", "data_model", "std", "compile_commands", "spurious_wakeups", *_LISTS}
    for name in sorted(known ^ front_end.keys()):
        raise refuse(name)
    for name in _LISTS:
        value = front_end[name]
        if type(value) is not list or not all(type(item) is str for item in value):
            raise refuse(name)
    for name in ("entry", "std"):
        if type(front_end[name]) is not str:
            raise refuse(name)
    if front_end["data_model"] not in ("ILP32", "LP64"):
        raise refuse("data_model")
    if type(front_end["spurious_wakeups"]) is not bool:
        raise refuse("spurious_wakeups")
    if type(front_end["compile_commands"]) not in (str, type(None)):
        raise refuse("compile_commands")
    return argparse.Namespace(**front_end, programs=programs)


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
    console.lines(heard.about)
    console.block("assumptions", heard.assumptions)
    if heard.verdict is None:
        answer, reason = "unknown", _cause(options, finish)
    else:
        answer, reason = heard.verdict["answer"], heard.verdict["reason"]
        console.line(
            f"{heard.verdict['nodes']} nodes, {heard.verdict['steps']} steps,"
            f" {heard.verdict['queries']} questions to z3, {seconds:.2f} s"
        )
    detail = f" ({' '.join(reason.split())})" if reason else ""
    console.line(f"CERTIFICATE: {answer}{detail}")
    return _EXIT_CODES[answer]


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
    from plait.certificates.check import specification_of
    from plait.certificates.reading import read
    from plait.certificates.verdicts import Answer, Rejected
    from plait.cli.assumptions import assumptions_of
    from plait.cli.inputs import load_program, read_text

    certificate = read(read_text(options.certificate))
    front_end = options_of(certificate.front_end, options.programs)
    try:
        specification = specification_of(certificate)
    except Rejected as rejected:
        _send_verdict(send, "rejected", rejected.what)
        return
    program = load_program(front_end, specification, front_end.entry)
    assumptions = assumptions_of(
        program, specification, spurious_wakeups=front_end.spurious_wakeups
    )
    about = _about(certificate, front_end)
    send({"kind": "loaded", "about": about, "assumptions": assumptions})
    said = time.monotonic()

    def progress(done: int, nodes: int) -> None:
        nonlocal said
        if time.monotonic() - said >= 0.2:
            said = time.monotonic()
            send({"kind": "progress", "done": done, "nodes": nodes})

    verdict = check_certificate(program, certificate, deadline, progress)
    reason = verdict.reason
    if verdict.answer is Answer.UNKNOWN and deadline is not None and time.monotonic() >= deadline:
        reason = f"time limit of {options.timeout:g} s"
    counts = verdict.nodes, verdict.steps, verdict.queries
    _send_verdict(send, verdict.answer.value, reason, counts)


def _about(certificate: Certificate, front_end: argparse.Namespace) -> list[str]:
    """What the certificate is about; macros can change everything, so they are said."""
    flags = [f"-I{path}" for path in front_end.include_dirs]
    flags += [f"-D{macro}" for macro in front_end.defines]
    flags += [f"-U{macro}" for macro in front_end.undefines]
    flags += [f"-include {path}" for path in front_end.force_includes]
    if front_end.compile_commands is not None:
        flags.append(f"--compile-commands {front_end.compile_commands}")
    if not front_end.spurious_wakeups:
        flags.append("--no-spurious-wakeups")
    claim = ", ".join(certificate.properties)
    if certificate.error_functions:
        claim += f" (no call of {', '.join(certificate.error_functions)})"
    read_as = " ".join([front_end.data_model, front_end.std, *flags])
    return [
        f"claim: {claim}",
        f"program: {', '.join(front_end.programs)}, from {front_end.entry}, read as {read_as}",
        f"certificate: {len(certificate.nodes)} nodes, by the engine {certificate.engine}",
    ]
