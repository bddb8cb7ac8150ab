"""The part of `plait verify` that takes time, in a process of its own: load, verify, replay."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from plait.data import dataclass, replace
from plait.engines import registry
from plait.engines.description import EngineDescription
from plait.errors import InputError, PlaitError, describe
from plait.portfolio.assumptions import assumptions_of
from plait.portfolio.cache import Cache
from plait.portfolio.engine_run import EngineRun
from plait.portfolio.facts import Known
from plait.portfolio.features import event_of
from plait.portfolio.identity import identity
from plait.portfolio.job import Job
from plait.portfolio.messages import (
    Checking,
    Failed,
    Features,
    Holds,
    Loaded,
    Mistake,
    OutOfTime,
    Question,
    Result,
    encode,
)
from plait.portfolio.options import Options
from plait.portfolio.partial_proofs import (
    PartialProof,
    checked_by,
    is_divisible,
    names_of,
    only,
    together,
)
from plait.portfolio.rows import Row, diagnostic_row
from plait.portfolio.static_checks import static_checks
from plait.portfolio.strategy import Event
from plait.portfolio.subject import load_program, parts, specification
from plait.portfolio.time_shares import ask_in_turns
from plait.portfolio.without_checks import properties_without_checks
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
    asked = names_of(whole)
    functions = sorted(whole.error_functions)
    engine = registry.engine(job.engine)
    settings = _shown_settings(options, engine)
    send(encode(Question(entry, sorted(asked), functions, settings)))
    # Deadlocks first: without spurious wake-ups fewer loops exceed every bound.
    questions = [(part, load_program(options, part, entry)) for part in reversed(parts(whole))]
    send(encode(_loaded(options, questions)))
    cache = Cache.of(options, questions, entry)
    known = [Known(job.facts, send) for _ in questions]
    tell = ProofSender(_about(options, questions, cache), cache.key, send)
    proofs: list[PartialProof] = []
    if job.is_first:
        easy = _without_engine(job, cache, questions, settings, deadline, known, proofs, tell)
        if easy is not None:
            send(encode(easy))
            return
    undecided: list[tuple[int, Result | OutOfTime]] = []

    def ask(item: tuple[int, Specification, Program], end: float | None) -> Result | OutOfTime:
        number, part, program = item
        try:
            run = EngineRun(
                engine,
                options,
                part,
                program,
                send,
                known[number],
                is_whole_question=len(questions) == 1,
            )
            return run.result(end, cache.previous.predicates)
        except (InputError, MemoryError):
            raise
        except PlaitError as error:
            return Result("unknown", str(error))
        except Exception as error:
            reason = f"internal error: {describe(error)}"
            return Result("unknown", reason, failure=_traceback())

    todo = list(_left(options, engine, questions, proofs))
    is_complete = False
    for (number, part, _), answer in ask_in_turns(todo, deadline, ask):
        if isinstance(answer, Result) and answer.verdict == "true":
            proofs.append(PartialProof(names_of(part), job.engine, answer))
            if together(proofs, asked) is None:
                cache.keep_predicates(answer, number)
                tell.proof(proofs[-1])
            continue
        undecided.append((number, answer))
        if _rank(answer) < 2:
            break
    else:
        is_complete = True
    number, answer = _conclusion(job.engine, undecided, proofs, asked)
    if isinstance(answer, Result) and answer.verdict == "unknown" and not is_complete:
        answer.bound = None  # of some properties nothing was examined
    if isinstance(answer, Result):
        cache.keep(answer, number, {} if answer.engine else settings, job)
        answer.predicates = None  # nobody else needs them
        if answer.raises_doubt or "findings" in answer.evidence:
            answer.doubted = cache.key
    send(encode(answer))


def _about(options: Options, questions: list[tuple[Specification, Program]], cache: Cache) -> str:
    """What proofs are about; those of other workers add up with these if it is the same. Of a
    single property there are no parts."""
    if sum(len(part.properties) for part, _ in questions) == 1:
        return ""
    if cache.key:
        return cache.key
    try:
        return identity(options, questions)
    except Exception:
        return f"worker {os.getpid()}"


def _left(
    options: Options,
    engine: EngineDescription,
    questions: list[tuple[Specification, Program]],
    proofs: list[PartialProof],
) -> Iterator[tuple[int, Specification, Program]]:
    """What the engine is asked: all that is not proved yet, or as much of it as the engine checks
    if others check the rest. The program of a question is one for any of its properties."""
    proved = frozenset[str]().union(*(part.properties for part in proofs))
    for number, (part, program) in enumerate(questions):
        wanted = set(part.properties)
        if is_divisible(part):
            wanted = {item for item in wanted if item.value not in proved}
        if options.engine != engine.name and not options.certificate:
            wanted &= checked_by(engine, part)
        left = only(part, wanted)
        if left is not None:
            yield number, left, program


@dataclass(frozen=True, slots=True)
class ProofSender:
    """Tells others what is proved; see `Holds`."""

    about: str
    key: str
    send: Channel

    def proof(self, part: PartialProof) -> None:
        """Of some properties, to which others may add the rest."""
        row = encode(replace(part.result, predicates=None))
        names = sorted(part.properties)
        self.send(encode(Holds(names, part.engine, row, self.about, self.key)))


def _conclusion(
    engine: str,
    undecided: list[tuple[int, Result | OutOfTime]],
    proofs: list[PartialProof],
    asked: frozenset[str],
) -> tuple[int, Result | OutOfTime]:
    """The answer to all questions, and the number of the one that a violation is about. The worst
    answer to one of them is the answer to all; its bound is one for all that are not proved."""
    if undecided:
        number, worst = min(undecided, key=lambda item: _rank(item[1]))
        if isinstance(worst, Result) and worst.verdict == "unknown":
            bounds = [item.bound if isinstance(item, Result) else None for _, item in undecided]
            known = [bound for bound in bounds if bound is not None]
            worst.bound = min(known) if len(known) == len(bounds) else None
        return number, worst
    proof = together(proofs, asked)
    if proof is not None:
        if proof.engine == engine:
            proof.engine = ""
        return 0, proof
    proved = sorted(frozenset[str]().union(*(part.properties for part in proofs)))
    rest = ", ".join(sorted(asked.difference(proved)))
    holds = f"proved {', '.join(proved)}, " if proved else ""
    return 0, Result("unknown", f"{holds}does not check {rest}")


def _without_engine(
    job: Job,
    cache: Cache,
    questions: list[tuple[Specification, Program]],
    settings: Row,
    deadline: float | None,
    known: list[Known],
    proofs: list[PartialProof],
    tell: ProofSender,
) -> Result | None:
    """The answer of an earlier run, or of the last counterexample, or of static checks; these may
    also prove some of the properties."""
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
        proofs += _checked(questions, features, deadline, known, tell.send)
        asked = frozenset[str]().union(*(names_of(part) for part, _ in questions))
        easy = together(proofs, asked)
        if easy is not None:
            cache.keep(easy, 0, {}, job)
            return easy
        for part in proofs:
            tell.proof(part)
    is_known = cache.previous.predicates is not None
    tell.send(encode(Features((Event.PROVED_BEFORE if is_known else features).name)))
    return None


def _checked(
    questions: list[tuple[Specification, Program]],
    features: Event,
    deadline: float | None,
    known: list[Known],
    send: Channel,
) -> list[PartialProof]:
    """What static checks prove. The engine does not need them, so whatever goes wrong here must
    not keep it from its work."""
    send(encode(Checking()))
    try:
        # Where loops have no bounds it takes longer anyway, and facts may help.
        needs_facts = features is Event.UNBOUNDED
        proofs, facts = static_checks(questions, deadline, send, needs_facts=needs_facts)
    except MemoryError:
        return []
    except Exception as error:
        reason = f"internal error in static checks: {describe(error)}"
        send(encode(Failed(reason, _traceback())))
        return []
    for item, found in zip(known, facts, strict=True):
        item.add(found)
    return proofs


def _rank(answer: Result | OutOfTime) -> int:
    if isinstance(answer, OutOfTime):
        return 2
    if answer.raises_doubt:
        return 1
    return 0 if answer.verdict == "false" else 2


def _loaded(options: Options, questions: list[tuple[Specification, Program]]) -> Loaded:
    assumptions: dict[str, None] = {}
    unsupported: list[Row] = []
    unchecked: list[str] = []
    for part, program in questions:
        unchecked += properties_without_checks(program, part)
        found = assumptions_of(
            program,
            part,
            spurious_wakeups=options.spurious_wakeups,
            failing_calls=options.failing_calls,
        )
        assumptions.update(dict.fromkeys(found))
        rows = [diagnostic_row(item) for item in program.unsupported]
        unsupported += [row for row in rows if row not in unsupported]
    return Loaded(list(assumptions), unsupported, sorted(unchecked))


def _shown_settings(options: Options, engine: EngineDescription) -> dict[str, Any]:
    bound = {"unwind": options.unwind} if engine.bounds_loops else {}
    return bound | engine.settings(options.engine_options)
