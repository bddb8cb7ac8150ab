"""The result of a command as the object that all reports are made from (plait.evidence.result)."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

import plait
from plait.evidence.property_parts import property_with
from plait.evidence.result import PropertyAnswer, Result, Source
from plait.evidence.stored import from_plain
from plait.evidence.words import words_of
from plait.files import read_regular
from plait.portfolio.arguments import as_arguments
from plait.portfolio.messages import Loaded, Question
from plait.portfolio.messages import Result as Message
from plait.portfolio.subject import Subject

_LARGEST_SOURCE = 20_000_000


def composed(
    subject: Subject,
    engine: str,
    question: Question | None,
    loaded: Loaded | None,
    message: Message,
    usage: dict[str, Any],
    history: list[dict[str, Any]],
    proved: Collection[str] = (),
) -> Result:
    """`question` and `loaded` are missing if the worker did not come so far. `proved` are those of
    the properties that hold, whatever the verdict on all of them."""
    settings = {} if question is None else question.settings
    cached = message.cached
    if cached is not None:
        # Another engine than the one of the worker that has looked it up may have found it.
        engine, settings = cached.pop("engine"), cached.pop("settings")
    elif message.engine:
        settings = {}  # those in the question are of an engine that did not begin
    result = from_plain(
        {
            "version": plait.__version__,
            "files": list(subject.programs),
            "entry": (subject.entry or "main") if question is None else question.entry,
            "data_model": subject.data_model,
            "properties": [] if question is None else question.properties,
            "error_functions": [] if question is None else question.error_functions,
            "arguments": as_arguments(subject),
            "engine": engine,
            "settings": settings,
            "verdict": message.verdict,
            "violated": message.violated,
            "reason": " ".join(message.reason.split()),
            "bound": message.bound,
            "assumptions": [] if loaded is None else loaded.assumptions,
            "unsupported": [] if loaded is None else loaded.unsupported,
            "unchecked": [] if loaded is None else loaded.unchecked,
            "statistics": message.statistics | usage,
            "history": history,
            "cached": cached,
            **message.evidence,
        }
    )
    result.answers = _answers(result, proved)
    result.words = words_of(result)
    return result


def _answers(result: Result, proved: Collection[str]) -> list[PropertyAnswer]:
    violated = property_with(result.violated or "", result.properties)
    found = []
    for name in result.properties:
        if result.verdict == "false" and name == violated:
            answer = "violated"
        else:
            answer = "proved" if result.verdict == "true" or name in proved else "open"
        found.append(PropertyAnswer(name, answer))
    return found


def add_sources(result: Result) -> None:
    """The files that the program was given as, and those that the evidence names."""
    named = dict.fromkeys(result.files)
    named.update(dict.fromkeys(row.place.file for row in result.trace))
    named.update(dict.fromkeys(item.place.file for item in result.invariants))
    for finding in result.findings:
        named.update(dict.fromkeys(row.place.file for row in finding.trace))
    result.sources = list(_sources(named))


def _sources(paths: Iterable[str]) -> Iterable[Source]:
    from hashlib import sha256

    for path in paths:
        try:
            if Path(path).stat().st_size > _LARGEST_SOURCE:
                continue
            data = read_regular(path)
        except OSError:
            continue
        text = data.decode("utf-8", "surrogateescape")
        lines = text.replace("\r\n", "\n").split("\n")
        yield Source(path, sha256(data).hexdigest(), lines[:-1] if not lines[-1] else lines)
