"""A verification: the strategy starts engines in processes of their own, the first sound answer
counts.

Workers do all that takes time or may crash (`plait.portfolio.worker`). This process imports next to
nothing, waits, and can therefore always answer.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

from plait.data import dataclass, replace
from plait.engines import registry
from plait.engines.description import Start
from plait.engines.registry import AUTO
from plait.errors import Diagnostic, InputError, describe
from plait.model.main_arguments import ArgumentSizes, larger
from plait.portfolio.core_shares import CoreShares
from plait.portfolio.facts import tell
from plait.portfolio.job import Job, work_of
from plait.portfolio.messages import Features, Holds, Proved, decode
from plait.portfolio.messages import Result as Message
from plait.portfolio.options import Options
from plait.portfolio.partial_proofs import PartialProof, checked_by, names_of, together
from plait.portfolio.status import EngineStatus, Status, Watch
from plait.portfolio.strategy import Event, Machine, machine_for
from plait.portfolio.subject import parts, specification
from plait.portfolio.tasks import expand_task
from plait.portfolio.worker_state import WorkerState
from plait.work.limits import Ending, Finish, Limits
from plait.work.supervise import Conductor, Team, conduct

if TYPE_CHECKING:
    from plait.evidence.result import Result
    from plait.model.properties import Specification

_GIB = 1 << 30
_WATCH_PERIOD = 0.2
_LONG = 3600.0


def verify(options: Options, watch: Watch | None = None) -> Result:
    """The result; InputError if the input cannot be used."""
    options = expand_task(options)
    started, began = time.monotonic(), time.process_time()
    whole = specification(options)[0]
    machine = _machine(options, whole)
    memory = None if options.memory_limit is None else int(options.memory_limit * _GIB)
    earlier: list[Finish] = []
    beyond = ""
    while True:
        conductor = _Portfolio(options, machine, started, watch, names_of(whole))
        left = None if options.timeout is None else started + options.timeout - time.monotonic()
        finishes = conduct(conductor, Limits(None if left is None else max(left, 0.01), memory))
        if conductor.larger is None:
            break
        options = replace(
            options,
            argument_count=conductor.larger.count,
            argument_bytes=conductor.larger.bytes,
        )
        earlier += finishes.values()
        beyond = conductor.beyond
    all_finishes = [*earlier, *finishes.values()]
    for worker in conductor.workers.values():
        if worker.mistake is not None:
            raise InputError(*(Diagnostic(**row) for row in worker.mistake.diagnostics))
    _take_back(conductor.workers)
    from plait.evidence.words import words_of
    from plait.portfolio.compose import composed

    usage = {
        "cpu_seconds": round(
            time.process_time() - began + sum(item.cpu_seconds for item in all_finishes), 6
        ),
        "wall_seconds": round(time.monotonic() - started, 6),
        "peak_memory_bytes": sum(item.peak_memory for item in finishes.values()) or None,
    }
    engine, worker, message = _answer(options, conductor.workers, finishes, conductor.proof)
    message = _or_what_was_before(message, conductor.workers, beyond)
    message = _with_findings(message, conductor.workers)
    if conductor.proof is not None and message is conductor.proof.result and conductor.proof.key:
        from plait.portfolio.cache import keep_together

        keep_together(options, conductor.proof.key, message, started)
    failure = _failure(conductor.workers)
    about = (options, engine, worker.question, worker.loaded)
    try:
        result = composed(*about, message, usage, worker.history, conductor.proved)
    except Exception as error:
        # What was found counts, even if it cannot be shown.
        if message.verdict == "unknown":
            raise
        failure = {"reason": f"internal error: {describe(error)}"}
        bare = replace(message, evidence={}, statistics={}, bound=None, cached=None)
        result = composed(*about, bare, usage, [], conductor.proved)
    result.certificate = message.certificate
    if result.certificate is not None:
        result.words = words_of(result, is_saved=True)
    result.failure = failure
    result.is_interrupted = any(item.ending is Ending.INTERRUPTED for item in finishes.values())
    result.noise = {name: item.noise for name, item in finishes.items() if item.noise}
    return result


def _machine(options: Options, asked: Specification) -> Machine:
    return machine_for(
        options.engine,
        has_bound=options.unwind is not None,
        needs_certificate=options.certificate,
        memory_model=asked.memory_model.value,
        suits=lambda engine: any(checked_by(engine, part) for part in parts(asked)),
    )


@dataclass(frozen=True, slots=True)
class _Proof:
    """That several workers have found together; the state is that of the one that came last.
    `key`: that of the answer in the cache."""

    result: Message
    worker: WorkerState
    key: str


class _Portfolio(Conductor):
    """Follows a machine of the strategy."""

    def __init__(
        self,
        options: Options,
        machine: Machine,
        started: float,
        watch: Watch | None,
        asked: frozenset[str],
    ) -> None:
        self._options = options
        self._machine = machine
        self._started = started
        self._deadline = None if options.timeout is None else started + options.timeout
        self._watch = watch
        self._next_watch = 0.0
        self._stage = ""
        self._stage_end: float | None = None
        self._slices = CoreShares(options.jobs or cores())
        self._facts: list[dict[str, Any]] = []
        self._asked = asked
        self._proofs: dict[str, list[PartialProof]] = {}  # by what they are about
        self.proof: _Proof | None = None
        self.larger: ArgumentSizes | None = None  # an execution has longer arguments than examined
        self.beyond = ""  # which one
        self.workers: dict[str, WorkerState] = {}

    @property
    def proved(self) -> frozenset[str]:
        """The properties that hold, of a program that all workers have read alike."""
        if len(self._proofs) != 1:
            return frozenset()
        [proofs] = self._proofs.values()
        return frozenset[str]().union(*(part.properties for part in proofs))

    def begin(self, team: Team) -> None:
        self._enter(team, self._machine.start)

    def hear(self, team: Team, name: str, message: dict[str, Any]) -> bool:
        worker = self.workers[name]
        said = worker.receive(message)
        match said:
            case Features():
                self._happens(team, Event[said.event])
            case Proved():
                self._facts += said.facts
                for other in team.names:
                    if other != name:
                        tell(team, other, said.facts)
            case Holds():
                self._add_up(worker, said)
            case Message(verdict="unknown", beyond=short) if short:
                sizes = ArgumentSizes(self._options.argument_count, self._options.argument_bytes)
                self.larger = larger(sizes, short)
                self.beyond = worker.result.reason if worker.result is not None else ""
        return worker.is_decided or self.proof is not None or self.larger is not None

    def _add_up(self, worker: WorkerState, said: Holds) -> None:
        """Files may change while workers start: only what is about the same program adds up."""
        found = decode(said.result)
        assert isinstance(found, Message)
        proofs = self._proofs.setdefault(said.about, [])
        proofs.append(PartialProof(frozenset(said.properties), said.engine, found))
        proof = together(proofs, self._asked)
        is_asked = worker.question is not None and self._asked == {*worker.question.properties}
        if proof is not None and is_asked:
            self.proof = _Proof(proof, worker, said.key)

    def ended(self, team: Team, name: str, finish: Finish) -> None:
        self._slices.drop(name)
        self.workers[name].end(self._options, finish)
        if self.workers[name].is_checking and finish.ending in (Ending.DIED, Ending.MEMORY):
            # The engine did not begin: what ends static checks need not end it.
            self._start(team, Job(name, is_first=True, started=self._started))
        if name not in team.names and registry.engine(name).start is not Start.SOON:
            # One that joins soon gives up where it does not suit; that says nothing of the others.
            self._happens(team, Event.GAVE_UP)
        self._show(team)  # now: if it was the last one, nobody looks any more

    def look(self, team: Team) -> float:
        now = time.monotonic()
        if self._stage_end is not None and now >= self._stage_end:
            self._happens(team, Event.PATIENCE)
        periods = [_LONG, self._slices.share_out(team, now)]
        if self._stage_end is not None:
            periods.append(self._stage_end - now)
        if self._watch is not None:
            if now >= self._next_watch:
                self._show(team)
            periods.append(self._next_watch - now)
        return max(0.0, min(periods))

    def _show(self, team: Team) -> None:
        if self._watch is not None:
            now = time.monotonic()
            self._next_watch = now + _WATCH_PERIOD
            self._watch(self._status(team, now))

    def _happens(self, team: Team, event: Event) -> None:
        following = self._machine.states[self._stage].next.get(event)
        if following is not None:
            self._enter(team, following)

    def _enter(self, team: Team, stage: str) -> None:
        state = self._machine.states[stage]
        patience = state.patience(self._options.timeout)
        self._stage = stage
        self._next_watch = 0.0
        self._stage_end = None if patience is None else time.monotonic() + patience
        for engine in state.starts:
            if engine not in self.workers:
                is_first = not self.workers
                is_checked = is_first and self._machine.is_checked
                job = Job(engine, is_first, is_checked, tuple(self._facts), self._started)
                self._start(team, job)

    def _start(self, team: Team, job: Job) -> None:
        # If there is no process at all, this begins once more without one: remember nothing yet.
        team.start(job.engine, work_of(self._options, job, self._deadline))
        self.workers[job.engine] = WorkerState(job.engine, self._started)
        self._slices.add(job.engine)

    def _status(self, team: Team, now: float) -> Status:
        engines = []
        for name, worker in self.workers.items():
            state = "ended"
            if name in team.names:
                state = "waiting" if self._slices.is_waiting(name) else "running"
            seconds = round(worker.seconds(now), 3)
            memory = team.memory(name)
            engines.append(EngineStatus(name, state, worker.doing, seconds, memory, worker.numbers))
        used = sum(item.memory_bytes for item in engines)
        limit = self._options.memory_limit
        return Status(
            round(now - self._started, 3),
            None if self._deadline is None else max(0.0, round(self._deadline - now, 3)),
            used,
            None if limit is None else max(0, int(limit * _GIB) - used),
            self._stage,
            tuple(engines),
        )


def cores() -> int:
    """Those that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _answer(
    options: Options,
    workers: dict[str, WorkerState],
    finishes: dict[str, Finish],
    proof: _Proof | None = None,
) -> tuple[str, WorkerState, Message]:
    """The engine that has decided and what it says; or what all of them say together. `proof` is
    what they have proved together."""
    for engine, item in sorted(workers.items(), key=lambda row: not row[1].raises_doubt):
        if item.is_decided and item.result is not None:
            return item.result.engine or engine, item, item.result
    if proof is not None:
        return proof.result.engine, proof.worker, proof.result
    messages: dict[str, Message] = {}
    causes: dict[str, list[str]] = {}
    for engine, item in workers.items():
        if item.result is not None:
            messages[engine] = item.result
            causes.setdefault(f"{engine}: {item.result.reason}", [])
        else:
            cause, messages[engine] = item.unknown(options, finishes[engine])
            causes.setdefault(cause, []).append(f"{engine}: {item.so_far()}")
    first = next(iter(messages))
    if len(messages) == 1:
        return first, workers[first], messages[first]
    together = "; ".join("; ".join([cause, *rows]) for cause, rows in causes.items())
    return AUTO, workers[first], replace(messages[first], reason=together)


def _or_what_was_before(message: Message, workers: dict[str, WorkerState], beyond: str) -> Message:
    """Where the time was too short to begin again with larger arguments of main, `beyond` says why
    they are needed."""
    has_begun = any(item.loaded is not None for item in workers.values())
    if message.verdict != "unknown" or not beyond or has_begun:
        return message
    reason = f"{beyond}; with larger arguments of main: {message.reason}"
    return replace(message, reason=reason)


def _with_findings(message: Message, workers: dict[str, WorkerState]) -> Message:
    """What any engine has found beside what was asked for. An execution that does something
    undefined was replayed, so that a proof by another engine is none, whatever it has assumed."""
    findings: list[dict[str, Any]] = []
    for item in workers.values():
        rows = [] if item.result is None else item.result.evidence.get("findings", [])
        known = [row["violation"]["place"] for row in findings]
        findings += [row for row in rows if row["violation"]["place"] not in known]
    if not findings:
        return message
    if message.verdict == "true":
        what = findings[0]["violation"]["message"]
        message = Message("unknown", f"undefined behaviour: {what}", statistics=message.statistics)
    return replace(message, evidence=message.evidence | {"findings": findings})


def _take_back(workers: dict[str, WorkerState]) -> None:
    """Another engine may have kept its answer before a counterexample has raised doubt about it."""
    for item in workers.values():
        if item.result is not None and item.result.doubted:
            from plait.portfolio.cache import take_back

            take_back(item.result.doubted)


def _failure(workers: dict[str, WorkerState]) -> dict[str, Any] | None:
    """A mistake of plait itself is worth to be known even where another engine has the answer."""
    for item in workers.values():
        for said in (item.result, item.failed):
            if said is not None and said.failure is not None:
                return {"reason": " ".join(said.reason.split()), **said.failure}
    return None
