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
from plait.data import replace
from plait.engines.blocks import certificate
from plait.engines.blocks.paths import Occurrence, own_step
from plait.engines.blocks.relevance import Relevance
from plait.engines.blocks.shell import Confirm, Found, Shell, Tools, answered
from plait.engines.interface import Answer, Outcome, OutOfTime
from plait.engines.interface import Proof as Evidence
from plait.engines.traces.description import TRACES
from plait.engines.traces.preconditions import preconditions
from plait.engines.traces.proof import Proof
from plait.engines.traces.search import Search
from plait.engines.traces.settings import Claims, Commutativity, Explicit, Settings
from plait.engines.traces.states import rows
from plait.engines.traces.statistics import Statistics
from plait.errors import UnsupportedCode
from plait.logic.interpolation.interpolate import Feasible, Unknown
from plait.model.program import Program
from plait.model.properties import Specification
from plait.symbolic.blocks import Way
from plait.symbolic.variables import cell_of, register_of

Progress = Callable[[Statistics, str], None]  # with how far the search has come, in words


def verify(
    program: Program,
    specification: Specification,
    settings: Settings,
    deadline: float | None = None,
    progress: Progress | None = None,
    confirm: Confirm | None = None,
) -> Outcome:
    """`confirm` replays a counterexample; it answers with what is wrong with it."""
    return answered(
        TRACES,
        program,
        specification,
        lambda broken: _Engine(
            program, specification, settings, deadline, progress, confirm, broken
        ).run(),
    )


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
        self._specification = specification
        self._settings = settings
        self._deadline = deadline
        tools = Tools(
            program,
            specification,
            deadline,
            every_access=False,
            locks=settings.whole_sections,
            few=settings.explicit is Explicit.FEW,
            broken_locks=broken_locks,
        )
        self._program = program
        self._terms = tools.terms
        self._knowledge = tools.knowledge
        self._executor = tools.executor
        self._paths = tools.paths
        self._sections = tools.sections
        self._persistent_sets = tools.persistent_sets
        self._statistics = Statistics()
        self._shell = Shell(tools, progress, confirm, lambda: self._statistics, self._size)
        self._proof = Proof(self._terms, self._statistics, deadline, weakening=settings.weakening)

    def run(self) -> Outcome:
        return self._shell.run(self._look)

    def _look(self) -> Outcome:
        if self._settings.persistent:
            self._persistent_sets.rehearse()
        search = self._search(self._settings)
        self._prove_all(search)
        unknown = self._shell.what_is_open()
        if unknown is not None:
            return unknown
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
            self._shell.report(path, way, result.model)
            search.leave_out(way)
            return
        if isinstance(result, Unknown):
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
        self._shell.put_aside(reason, way.origin)
        search.leave_out(way)

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
            except (Found, OutOfTime, UnsupportedCode, BrokenLock):
                return None
        if self._shell.what_is_open() is not None:
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
        states = self._statistics.states
        self._shell.look_at_limits(states, self._settings.most_states, "states")

    def _size(self) -> str:
        found = self._statistics
        return f"{found.traces:,} traces proved, {found.claims:,} claims, {found.states:,} states"
