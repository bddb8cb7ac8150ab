"""The part of `plait verify` that takes time, in a process of its own: load, verify, replay."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

from plait.errors import InputError, PlaitError, describe
from plait.portfolio.asked import Answering
from plait.portfolio.assumptions import assumptions_of
from plait.portfolio.by_modular import ByModular, checked
from plait.portfolio.cache import Cache
from plait.portfolio.facts import Known
from plait.portfolio.features import event_of
from plait.portfolio.job import Job
from plait.portfolio.messages import (
    Checking,
    Failed,
    Features,
    Loaded,
    Mistake,
    OutOfTime,
    Question,
    Result,
    encode,
)
from plait.portfolio.options import Options
from plait.portfolio.rows import Row, diagnostic_row
from plait.portfolio.strategy import Event
from plait.portfolio.subject import load_program, parts, specification
from plait.work.child import Channel

if TYPE_CHECKING:
    from plait.model.program import Program
    from plait.model.properties import Specification


def work(options: Options, job: Job, deadline: float | None, send: Channel) -> None:
    """Send messages; the last one is a Result, OutOfTime or Mistake."""
    try:
        _run(options, job, deadline, send)
    except InputError as error:
        send(encode(Mistake([diagnostic_row(item) for item in error.diagnostics])))
    except PlaitError as error:
        send(encode(Result("unknown", str(error))))
    except MemoryError:
        raise
    except Exception as error:
        reason = f"internal error: {describe(error)}"
        send(encode(Result("unknown", reason, failure=_traceback())))


def _traceback() -> Row:
    """Of the exception that is being handled, for a report."""
    import traceback

    trace = traceback.format_exc()
    if os.environ.get("PLAIT_TRACEBACK"):
        os.write(2, trace.encode(errors="backslashreplace"))
    return {"traceback": trace.splitlines()}


def _run(options: Options, job: Job, deadline: float | None, send: Channel) -> None:
    whole, entry = specification(options)
    properties = sorted(item.value for item in whole.properties)
    functions = sorted(whole.error_functions)
    settings = _shown_settings(options, job.engine)
    send(encode(Question(entry, properties, functions, settings)))
    # Deadlocks first: without spurious wake-ups fewer loops exceed every bound.
    questions = [(part, load_program(options, part, entry)) for part in reversed(parts(whole))]
    send(encode(_loaded(options, questions)))
    cache = Cache.of(options, questions, entry)
    known = Known(job.facts, send)
    if job.is_first:
        easy = _without_engine(job, cache, questions, settings, deadline, known, send)
        if easy is not None:
            send(encode(easy))
            return
    answers: list[Result | OutOfTime] = []
    for number, (part, program) in enumerate(questions):
        # Each of several questions gets its share of the time that is left.
        end = deadline
        if deadline is not None:
            now = time.monotonic()
            end = now + (deadline - now) / (len(questions) - number)
        answering = _answering(options, job.engine, part, program, end, send, known)
        if cache.previous.predicates is not None:
            answering.use(cache.previous.predicates)
        answers.append(answering.answer())
        if _rank(answers[-1]) == 0:
            break
    answer = min(answers, key=_rank)
    if isinstance(answer, Result):
        cache.keep(answer, answers.index(answer), settings, job)
        answer.predicates = None  # nobody else needs them
        if answer.raises_doubt:
            answer.doubted = cache.key
    send(encode(answer))


def _without_engine(
    job: Job,
    cache: Cache,
    questions: list[tuple[Specification, Program]],
    settings: Row,
    deadline: float | None,
    known: Known,
    send: Channel,
) -> Result | None:
    """The answer of an earlier run, or of the last counterexample, or of static checks."""
    recalled = cache.recall()
    if recalled is not None:
        return recalled
    followed = cache.follow_previous(deadline)
    if followed is not None:
        number, result = followed
        cache.keep(result, number, settings, job)
        return result
    features = event_of(program for _, program in questions)
    if job.is_checked:
        easy = _checked(questions, features, deadline, known, send)
        if easy is not None:
            cache.keep(easy, 0, {}, job)
            return easy
    is_known = cache.previous.predicates is not None
    send(encode(Features((Event.PROVED_BEFORE if is_known else features).name)))
    return None


def _checked(
    questions: list[tuple[Specification, Program]],
    features: Event,
    deadline: float | None,
    known: Known,
    send: Channel,
) -> Result | None:
    """The answer of static checks. The engine does not need them, so whatever goes wrong here must
    not keep it from its work."""
    send(encode(Checking()))
    try:
        # Where loops have no bounds it takes longer anyway, and facts may help.
        needs_facts = features is Event.UNBOUNDED
        easy, facts = checked(questions, deadline, send, needs_facts=needs_facts)
    except MemoryError:
        return None
    except Exception as error:
        reason = f"internal error in static checks: {describe(error)}"
        send(encode(Failed(reason, _traceback())))
        return None
    known.add(facts)
    return easy


def _rank(answer: Result | OutOfTime) -> int:
    """The worst answer to one of several questions is the answer to all."""
    if isinstance(answer, OutOfTime):
        return 2
    if answer.raises_doubt:
        return 1
    return {"false": 0, "unknown": 2, "true": 3}[answer.verdict]


def _loaded(
    options: Options, questions: list[tuple[Specification, Program]]
) -> Loaded:
    assumptions: dict[str, None] = {}
    unsupported: list[Row] = []
    for part, program in questions:
        found = assumptions_of(program, part, spurious_wakeups=options.spurious_wakeups)
        assumptions.update(dict.fromkeys(found))
        rows = [diagnostic_row(item) for item in program.unsupported]
        unsupported += [row for row in rows if row not in unsupported]
    return Loaded(list(assumptions), unsupported)


def _shown_settings(options: Options, engine: str) -> dict[str, Any]:
    if engine == "modular":
        return {}
    if engine == "impact":
        from plait.portfolio import by_impact

        return by_impact.shown_settings(options)
    from plait.portfolio import by_orders

    return by_orders.shown_settings(options)


def _answering(
    options: Options,
    engine: str,
    specification: Specification,
    program: Program,
    deadline: float | None,
    send: Channel,
    known: Known,
) -> Answering:
    if engine == "modular":
        return ByModular(options, specification, program, deadline, send, known)
    if engine == "impact":
        from plait.portfolio.by_impact import ByImpact

        return ByImpact(options, specification, program, deadline, send, known)
    from plait.portfolio.by_orders import ByOrders

    return ByOrders(options, specification, program, deadline, send, known)
