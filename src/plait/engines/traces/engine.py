"""Algorithm 2 of the paper: as long as a word of the program is not accepted by the proof so far,
take one, prove it, and add its claims.

A word that can be taken is a counterexample, and is replayed. Undefined behaviour and what is not
supported end words like violations: a proof excludes them, too.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

from plait.analysis.critical_sections import BrokenLock
from plait.analysis.sharing import sharing_of
from plait.data import replace
from plait.engines.blocks import certificate
from plait.engines.blocks.limits import reused_local
from plait.engines.blocks.paths import Occurrence, Paths, own_step
from plait.engines.blocks.persistent import PersistentSets
from plait.engines.blocks.precision import BlockPrecision
from plait.engines.blocks.sections import Sections
from plait.engines.blocks.standings import Standings
from plait.engines.interface import Answer, Counterexample, Outcome, OutOfTime
from plait.engines.interface import Proof as Evidence
from plait.engines.traces.description import TRACES
from plait.engines.traces.preconditions import preconditions
from plait.engines.traces.proof import Proof
from plait.engines.traces.relevance import Relevance
from plait.engines.traces.search import Search
from plait.engines.traces.settings import Claims, Commutativity, Explicit, Settings
from plait.engines.traces.states import rows
from plait.engines.traces.statistics import Statistics
from plait.errors import UnsupportedCode
from plait.logic.interpolation.interpolate import Feasible, Unknown
from plait.logic.interpolation.model import Model
from plait.logic.terms import Terms
from plait.model.program import Program
from plait.model.properties import Specification
from plait.symbolic.blocks import Kind, Way
from plait.symbolic.execute import Executor
from plait.symbolic.knowledge import Knowledge
from plait.symbolic.variables import cell_of, register_of

_MOST_TROUBLES_CONFIRMED = 4

Progress = Callable[[Statistics, str], None]  # with how far the search has come, in words
Confirm = Callable[[Counterexample], str]


class _Found(Exception):
    """The search is over."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.reason)
        self.outcome = outcome


def verify(
    program: Program,
    specification: Specification,
    settings: Settings,
    deadline: float | None = None,
    progress: Progress | None = None,
    confirm: Confirm | None = None,
) -> Outcome:
    """`confirm` replays a counterexample; it answers with what is wrong with it."""
    beyond = sorted({item.value for item in specification.properties} - TRACES.checks)
    if beyond:
        reason = f"the engine {TRACES.name} does not check {', '.join(beyond)}"
        return Outcome(Answer.UNKNOWN, reason)
    broken: set[int] = set()
    while True:
        try:
            return _Engine(
                program, specification, settings, deadline, progress, confirm, frozenset(broken)
            ).run()
        except BrokenLock as lock:
            broken.add(lock.address)


class _Engine:
    def __init__(
        self,
        program: Program,
        specification: Specification,
        settings: Settings,
        deadline: float | None,
        progress: Progress | None,
        confirm: Confirm | None,
        broken_locks: frozenset[int],
    ) -> None:
        self._program = program
        self._specification = specification
        self._settings = settings
        self._deadline = deadline
        self._progress = progress
        self._confirm = confirm
        self._terms = Terms()
        self._statistics = Statistics()
        self._sharing = sharing_of(program)
        precision = BlockPrecision(
            self._sharing.points_to,
            locks=settings.whole_sections,
            every_access=False,
            few=settings.explicit is Explicit.FEW,
            broken_locks=broken_locks,
        )
        self._knowledge = Knowledge(program, self._sharing, precision)
        self._executor = Executor(self._knowledge, self._terms, specification)
        self._paths = Paths(self._terms, self._executor, deadline)
        self._proof = Proof(self._terms, self._statistics, deadline, weakening=settings.weakening)
        standings = Standings()
        self._sections = Sections(self._executor, self._knowledge.page_bits, standings)
        self._persistent_sets = PersistentSets(self._knowledge, self._executor, standings)
        self._troubles: dict[str, None] = {}
        self._confirmed = 0
        self._last_report = 0.0

    def run(self) -> Outcome:
        reused = reused_local(self._sharing, self._specification)
        if reused:
            return Outcome(Answer.UNKNOWN, reused)
        try:
            if self._settings.persistent:
                self._persistent_sets.rehearse()
            search = self._search(self._settings)
            self._prove_all(search)
        except _Found as found:
            return found.outcome
        except OutOfTime:
            reason = f"time is up with {self._size()}"
            return Outcome(
                Answer.UNKNOWN, reason, self._statistics, is_out_of_time=True, so_far=reason
            )
        except UnsupportedCode as error:
            return Outcome(Answer.UNKNOWN, str(error), self._statistics)
        except RecursionError:
            return Outcome(Answer.UNKNOWN, "terms are nested too deeply", self._statistics)
        for trouble in self._troubles:
            return Outcome(Answer.UNKNOWN, trouble, self._statistics)
        reason = "all traces are accepted by what proves some of them"
        return Outcome(Answer.HOLDS, reason, self._statistics, proof=self._evidence(search))

    def _search(self, settings: Settings) -> Search:
        return Search(
            self._terms,
            self._executor,
            self._proof,
            self._sections,
            self._persistent_sets,
            Relevance(self._terms, self._knowledge, self._executor.memory),
            self._paths.initial_value,
            settings,
            self._statistics,
        )

    # --- Algorithm 2

    def _prove_all(self, search: Search) -> None:
        search.begin()
        while True:
            error = search.next_error(self._look_at_limits)
            if error is not None:
                self._prove(search, *error)
            elif search.mistaken():
                search.begin()
            else:
                return

    def _prove(self, search: Search, thread: int, way: Way) -> None:
        """Prove the word that the search has come to, with an error of a thread behind it."""
        self._statistics.traces += 1
        began = time.perf_counter()
        path = [state.occurrence(self._terms) for state in search.word[1:]]
        where = search.word[-1].place.location
        path.append(Occurrence(where, thread, way, *own_step(self._terms, way)))
        steps = self._paths.from_start([item.step for item in path])
        by_cores = None if self._settings.claims is Claims.INTERPOLANTS else ("weakest",)
        result = self._paths.interpolate(steps, by_cores)
        self._statistics.interpolating += time.perf_counter() - began
        if isinstance(result, Feasible):
            self._report(path, way, result.model)
            search.leave_out(way)
            return
        if isinstance(result, Unknown):
            OutOfTime.check(self._deadline)
            self._set_aside(result.reason, search, way)
            return
        sequence = list(result.sequence)
        if self._settings.claims is Claims.PRECONDITIONS:
            sequence = preconditions(self._terms, steps)
        for label in sequence[1:-1]:
            for claim in label:
                self._proof.add(claim)
        letters = [state.way.step for state in search.word[1:]]
        for index, letter in enumerate((*letters, way.step), 1):
            self._proof.link(sequence[index], letter, sequence[index + 1])
        if not search.excludes(way):
            self._set_aside("the claims about a trace do not prove it again", search, way)
        search.read_again()

    def _set_aside(self, reason: str, search: Search, way: Way) -> None:
        """There will be no proof, but perhaps a violation on another path."""
        self._troubles[f"{reason} ({self._program.user_place(way.origin)})"] = None
        search.leave_out(way)

    def _report(self, path: list[Occurrence], way: Way, model: Model) -> None:
        is_undefined = way.kind is Kind.TROUBLE
        if is_undefined:
            place = self._program.user_place(way.origin)
            self._troubles[f"{way.message} ({place})"] = None
            self._confirmed += 1
            if self._confirm is None or self._confirmed > _MOST_TROUBLES_CONFIRMED:
                return
        found = self._paths.counterexample(path, model, is_undefined=is_undefined)
        problem = "" if self._confirm is None else self._confirm(found)
        if problem:
            if not is_undefined:
                self._troubles[problem] = None
            return
        raise _Found(Outcome(Answer.VIOLATED, way.message, self._statistics, found))

    # --- evidence

    def _evidence(self, search: Search) -> Evidence:
        return Evidence(
            lambda: self._document(search),
            self._settings.commutativity is not Commutativity.NONE,
            self._unreduced,
            dict,
        )

    def _document(self, search: Search) -> dict[str, Any] | None:
        """Certificates know the monotonic reduction only (docs/certificates.md, rule V): after
        another one the search goes on for the words that it has left out."""
        if self._settings.commutativity is Commutativity.SLEEP:
            search = self._search(replace(self._settings, commutativity=Commutativity.MONOTONIC))
            try:
                self._prove_all(search)
            except (_Found, OutOfTime, UnsupportedCode, BrokenLock):
                return None
        if self._troubles:
            return None
        assert search.root is not None
        tree = rows(search.root, self._proof)
        if any(self._has_inputs(row.label) for row in tree):
            return None
        return certificate.write(
            TRACES.name,
            self._knowledge,
            self._executor,
            self._terms,
            self._specification,
            tree,
        )

    def _unreduced(self, deadline: float) -> dict[str, Any] | None:
        """The certificate of a proof of all interleavings."""
        whole = replace(
            self._settings,
            commutativity=Commutativity.NONE,
            whole_sections=False,
            persistent=False,
        )
        outcome = verify(self._program, self._specification, whole, deadline)
        return None if outcome.proof is None else outcome.proof.certificate()

    def _has_inputs(self, label: Iterable[int]) -> bool:
        """Whether a label is about all values of an input of some trace."""
        terms = self._terms
        return any(
            cell_of(terms.name[item]) is None and register_of(terms.name[item]) is None
            for item in self._proof.vocabulary.of(label)
        )

    # --- limits

    def _look_at_limits(self) -> None:
        OutOfTime.check(self._deadline)
        if self._statistics.states > self._settings.most_states:
            reason = f"more than {self._settings.most_states:,} states"
            raise _Found(Outcome(Answer.UNKNOWN, reason, self._statistics))
        if self._progress is not None:
            now = time.monotonic()
            if now - self._last_report > 0.5:
                self._last_report = now
                self._progress(self._statistics, self._size())

    def _size(self) -> str:
        found = self._statistics
        return f"{found.traces:,} traces proved, {found.claims:,} claims, {found.states:,} states"
