"""`plait check`: is a certificate a proof for a program? A worker does what takes time."""

from __future__ import annotations

import argparse
import shlex
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plait.cli import exits
from plait.cli.inputs import load_program
from plait.cli.output import Console
from plait.cli.progress import ProgressLine
from plait.errors import Diagnostic, InputError, PlaitError
from plait.work.child import Send
from plait.work.limits import Ending, Finish, Limits
from plait.work.supervise import supervise

if TYPE_CHECKING:
    from plait.certificates.document import Certificate

_GIB = 1 << 30
_LISTS = ("include_dirs", "defines", "undefines", "force_includes")
_TEXTS = ("std", "data_model", "entry")
_FLAGS = {
    "include_dirs": "-I",
    "defines": "-D",
    "undefines": "-U",
    "force_includes": "-include",
    "std": "--std",
    "data_model": "--data-model",
    "entry": "--entry",
    "compile_commands": "--compile-commands",
}
_DEFAULTS = {"std": "gnu17", "data_model": "LP64", "entry": "main"}
_CODES = {
    "accepted": exits.HOLDS,
    "rejected": exits.VIOLATED,
    "unknown": exits.UNKNOWN,
}


def front_end_of(options: argparse.Namespace, entry: str) -> dict[str, Any]:
    """The options that decide how sources are read, for a certificate."""
    found: dict[str, Any] = {name: list(getattr(options, name)) for name in _LISTS}
    found |= {"std": options.std, "data_model": options.data_model, "entry": entry}
    found["compile_commands"] = options.compile_commands
    found["spurious_wakeups"] = options.spurious_wakeups
    return found


def check(options: argparse.Namespace, console: Console) -> int:
    started = time.monotonic()
    deadline = None if options.timeout is None else started + options.timeout
    heard: dict[str, Any] = {}
    line = ProgressLine()

    def work(send: Send) -> None:
        _work(options, deadline, send)

    def receive(message: dict[str, Any]) -> None:
        if "done" in message:
            line.say(f"{message['done']:,} of {message['nodes']:,} nodes checked")
        heard.update(message)

    memory = None if options.memory_limit is None else int(options.memory_limit * _GIB)
    tick = line.show if line.is_wanted() else None
    try:
        finish = supervise(work, Limits(options.timeout, memory), receive, tick)
    finally:
        line.clear()
    if "mistake" in heard:
        raise InputError(*(Diagnostic(**row) for row in heard["mistake"]))
    answer = heard.get("answer", "unknown")
    reason = heard["reason"] if "answer" in heard else _cause(options, finish)
    for text in heard.get("lines", ()):
        console.line(text)
    if "queries" in heard:
        console.line(
            f"{heard['checked']} nodes, {heard['steps']} steps, {heard['queries']} questions to z3,"
            f" {time.monotonic() - started:.2f} s"
        )
    detail = "" if answer == "accepted" else f" ({' '.join(reason.split())})"
    console.line(f"CERTIFICATE: {answer}{detail}")
    return _CODES[answer]


def _cause(options: argparse.Namespace, finish: Finish) -> str:
    if finish.ending is Ending.TIME:
        return f"time limit of {options.timeout:g} s"
    if finish.ending is Ending.INTERRUPTED:
        return "interrupted"
    if finish.ending is Ending.MEMORY:
        return "out of memory"
    return f"the worker ended {finish.how or 'without an answer'}"


def _work(options: argparse.Namespace, deadline: float | None, send: Send) -> None:
    try:
        send(_checked(options, deadline, send))
    except InputError as error:
        from plait.cli.rows import diagnostic_row

        send({"mistake": [diagnostic_row(item) for item in error.diagnostics]})
    except PlaitError as error:
        send({"answer": "unknown", "reason": str(error)})
    except RecursionError:
        send({"answer": "unknown", "reason": "formulas that are nested too deeply"})


def _checked(options: argparse.Namespace, deadline: float | None, send: Send) -> dict[str, Any]:
    from plait.certificates.check import check as check_certificate
    from plait.certificates.reading import read
    from plait.model.properties import from_names

    certificate = read(_text_of(options.certificate))
    recorded = _options_of(certificate, options)
    specification = from_names(
        list(certificate.properties), list(certificate.error_functions) or None
    )
    program = load_program(recorded, specification, recorded.entry)
    send({"lines": _described(certificate, recorded)})

    def progress(done: int, nodes: int) -> None:
        if done % 64 == 0:
            send({"done": done, "nodes": nodes})

    verdict = check_certificate(program, certificate, deadline, progress)
    return {
        "answer": verdict.answer.value,
        "reason": verdict.reason,
        "checked": verdict.nodes,
        "steps": verdict.steps,
        "queries": verdict.queries,
    }


def _text_of(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(Diagnostic(error.strerror or str(error), path)) from error
    except UnicodeDecodeError:
        raise InputError(Diagnostic("not a text file", path)) from None


def _options_of(certificate: Certificate, options: argparse.Namespace) -> argparse.Namespace:
    """The front end's options that the certificate was made with."""
    data = certificate.front_end
    found = argparse.Namespace(programs=options.programs)
    try:
        for name in _LISTS:
            value = data[name]
            if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
                raise TypeError(name)
            setattr(found, name, value)
        for name in _TEXTS:
            if not isinstance(data[name], str):
                raise TypeError(name)
            setattr(found, name, data[name])
        found.compile_commands = data["compile_commands"]
        found.spurious_wakeups = data["spurious_wakeups"]
        if not isinstance(found.spurious_wakeups, bool):
            raise TypeError("spurious_wakeups")
        if not isinstance(found.compile_commands, str | None):
            raise TypeError("compile_commands")
        if found.data_model not in ("ILP32", "LP64"):
            raise TypeError("data_model")
    except (KeyError, TypeError) as error:
        message = f"front_end: {error} is missing or of the wrong type"
        raise InputError(Diagnostic(message, options.certificate)) from None
    return found


def _described(certificate: Certificate, recorded: argparse.Namespace) -> list[str]:
    """What is claimed, and how the sources were read for it: the certificate says that itself."""
    claim = ", ".join(certificate.properties)
    if certificate.error_functions:
        claim += f" (of {', '.join(certificate.error_functions)})"
    lines = [f"claims: {claim}"]
    words: list[str] = []
    for name, flag in _FLAGS.items():
        value = getattr(recorded, name)
        if isinstance(value, list):
            words += [word for item in value for word in (flag, item)]
        elif value is not None and value != _DEFAULTS.get(name):
            words += [flag, value]
    if not recorded.spurious_wakeups:
        words.append("--no-spurious-wakeups")
    if words:
        lines.append(f"read with: {shlex.join(words)}")
    return lines
