"""Properties that not all engines check are asked about in groups, one after the other, so that
each gets all engines that fit."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from plait.portfolio.options import Options
from plait.portfolio.status import Status, Watch
from plait.portfolio.subject import specification

if TYPE_CHECKING:
    from plait.evidence.result import Result
    from plait.model.properties import Property

Verify = Callable[[Options, Watch | None], "Result"]
_INTERRUPTED = "interrupted"


def groups(options: Options) -> list[Options]:
    """What `auto` asks one after the other: first what only `orders` checks, then what `impact`
    checks, too. All at once where one engine has to answer everything anyway."""
    from plait.engines.impact.settings import SUPPORTED

    whole, entry = specification(options)
    properties = whole.properties - SUPPORTED, whole.properties & SUPPORTED
    is_free = options.engine == "auto" and options.unwind is None and not options.certificate
    if not is_free or not all(properties):
        return [options]
    return [
        replace(
            options,
            property=_names(group),
            error_function=tuple(sorted(whole.error_functions)) if group <= SUPPORTED else (),
            prp=None,
            entry=options.entry if entry == "main" else entry,
        )
        for group in properties
    ]


def _names(properties: frozenset[Property]) -> tuple[str, ...]:
    return tuple(sorted(item.value for item in properties))


def verify_groups(
    whole: Options, asked: Sequence[Options], watch: Watch | None, verify: Verify
) -> Result:
    """A violation of one group is the answer; all of them hold if each does. Each has its share of
    the time that is left."""
    started = time.monotonic()
    limit = whole.timeout
    results: list[Result] = []
    for number, options in enumerate(asked):
        spent = time.monotonic() - started
        share = None if limit is None else _share(limit - spent, len(asked) - number)
        own = None if watch is None else _since(watch, spent, limit)
        found = verify(replace(options, timeout=share), own)
        results.append(found)
        if found.verdict == "false":
            statistics = found.statistics | _usage(results)
            return replace(found, statistics=statistics, **_aside(results))
        if _is_interrupted(found):
            break
    return _together(whole, results, is_complete=len(results) == len(asked))


def _share(seconds: float, groups: int) -> float:
    """A number that looks well in a message, but never 0."""
    return max(math.floor(seconds / groups * 10) / 10, 0.01)


def _since(watch: Watch, spent: float, limit: float | None) -> Watch:
    """Whoever watches sees the time of all groups."""

    def shown(status: Status) -> None:
        seconds = round(spent + status.seconds, 3)
        left = None if limit is None else round(max(0.0, limit - seconds), 3)
        watch(replace(status, seconds=seconds, seconds_left=left))

    return shown


def _together(whole: Options, results: Sequence[Result], *, is_complete: bool) -> Result:
    """None of them is violated."""
    from plait.portfolio.arguments import as_arguments

    undecided = [item for item in results if item.verdict != "true"]
    is_true = is_complete and not undecided
    shown = results[-1] if is_true else undecided[0]
    names = {item.value for item in specification(whole)[0].properties}
    return replace(
        shown,
        verdict="true" if is_true else "unknown",
        reason=_reason(results if is_true else undecided),
        properties=sorted(names),
        error_functions=results[-1].error_functions,
        arguments=as_arguments(whole),
        engine=" and ".join(dict.fromkeys(item.engine for item in results)),
        words=[word for item in results for word in item.words],
        assumptions=list(dict.fromkeys(text for item in results for text in item.assumptions)),
        unsupported=_distinct([row for item in results for row in item.unsupported]),
        statistics=shown.statistics | _usage(results),
        cached=shown.cached if all(item.cached is not None for item in results) else None,
        **_aside(results),
    )


def _aside(results: Sequence[Result]) -> dict[str, Any]:
    """What is beside the verdicts of all groups."""
    return {
        "failure": next((item.failure for item in results if item.failure is not None), None),
        "noise": {name: text for item in results for name, text in item.noise.items()},
    }


def _reason(results: Sequence[Result]) -> str:
    reasons = [f"{', '.join(item.properties)}: {item.reason}" for item in results]
    return "; ".join([_INTERRUPTED] * any(map(_is_interrupted, results)) + reasons)


def _is_interrupted(result: Result) -> bool:
    return result.verdict == "unknown" and result.reason.startswith(_INTERRUPTED)


def _distinct(rows: list[Any]) -> list[Any]:
    return [row for index, row in enumerate(rows) if row not in rows[:index]]


def _usage(results: Sequence[Result]) -> dict[str, Any]:
    def of(name: str) -> list[Any]:
        return [item.statistics[name] for item in results if item.statistics.get(name)]

    return {
        "cpu_seconds": round(sum(of("cpu_seconds")), 6),
        "wall_seconds": round(sum(of("wall_seconds")), 6),
        "peak_memory_bytes": max(of("peak_memory_bytes"), default=None),
    }
