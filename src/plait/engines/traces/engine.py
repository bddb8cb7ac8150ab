"""Algorithm 2 of the paper: as long as a word of the program is not accepted by the proof so far,
take one, prove it, and add its claims.

A word that can be taken is a counterexample, and is replayed. Undefined behaviour and what is not
supported end words like violations: a proof excludes them, too.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from plait.analysis.critical_sections import BrokenLock
from plait.data import replace
from plait.engines.blocks import certificate
from plait.engines.blocks.paths import Occurrence, own_step
from plait.engines.blocks.ranges import claims_of
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
from plait.logic.interpolation.interpolate import Feasible, Interpolants, Unknown
from plait.logic.interpolation.path import Step
from plait.logic.operators import OR
from plait.model.facts import Fact
from plait.model.program import Program
from plait.model.properties import Specification
from plait.symbolic.blocks import Kind, Way
from plait.symbolic.variables import cell_of, register_of

Known = Callable[[], tuple[Fact, ...]]
Progress = Callable[[Statistics, str], None]  # with how far the search has come, in words


def verify(
    program: Program,
    specification: Specification,
    settings: Settings,
    deadline: float | None = None,
    progress: Progress | None = None,
    confirm: Confirm | None = None,
    known: Known = tuple,
) -> Outcome:
    """`confirm` replays a counterexample; it answers with what is wrong with it. `known` has the
    facts that others have proved by now."""
    return answered(
        TRACES,
        program,
        specification,
        lambda broken: _Engine(
            program, specification, settings, deadline, progress, confirm, known, broken
        ).run(),
    )


_MOST_SUGGESTED = 32  # claims that others have proved


class _Engine:
    def __init__(
        self,
        program: Program,
        specification: Specification,
        settings: Settings,
        deadline: float | None,
        progress: Progress | None,
        confirm: Confirm | None,
        known: Known,
        broken_locks: frozenset[int],
    ) -> None:
        self._specification = specification
        self._settings = settings
        self._deadline = deadline
        self._known = known
        self._learned: dict[Fact, None] = {}
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
        self._assumptions: dict[tuple[int, ...], Step] = {}
        self._shell = Shell(tools, progress, confirm, lambda: self._statistics, self._size)
        self._proof = Proof(self._terms, self._statistics, deadline, weakening=settings.weakening)

    def run(self) -> Outcome:
        return self._shell.run(self._look)

    def _look(self) -> Outcome:
        if self._settings.persistent:
            self._persistent_sets.rehearse()
        self._learn()
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
        if self._learn() and search.excludes(way):
            search.read_again()
            return
        self._statistics.traces += 1
        began = time.perf_counter()
        path = [state.occurrence(self._terms) for state in search.word[1:]]
        where = search.word[-1].place.location
        path.append(Occurrence(where, thread, way, *own_step(self._terms, way)))
        facts = [self._proof.terms_of(state.claims) for state in search.word]
        if self._settings.claims is not Claims.INTERPOLANTS:
            facts = [[] for _ in facts]
        labels = self._labels(path, facts)
        if isinstance(labels, Unknown) and any(facts):
            labels = self._labels(path, [[] for _ in facts])
        self._statistics.interpolating += time.perf_counter() - began
        if isinstance(labels, Feasible):
            self._shell.report(path, way, labels.model)
            # What has no verdict has none on other words either, and one is enough for no proof.
            search.leave_out(way, for_good=way.kind is Kind.TROUBLE)
            return
        if isinstance(labels, Unknown):
            self._set_aside(labels.reason, search, way)
            return
        for label in labels[:-1]:
            for claim in label:
                self._proof.add(claim)
        letters = [state.way.step for state in search.word[1:]]
        for index, letter in enumerate((*letters, way.step)):
            self._proof.link([*labels[index], *facts[index]], letter, labels[index + 1])
        if not search.excludes(way):
            self._set_aside("the claims about a trace do not prove it again", search, way)
        search.read_again()

    def _learn(self) -> bool:
        """What other engines have proved of variables becomes claims, which are derived here, step
        by step, or not used. Whether there are new ones."""
        facts = [fact for fact in self._known() if fact not in self._learned]
        self._learned.update(dict.fromkeys(facts))
        new = 0
        for claim in claims_of(self._knowledge, self._terms, facts):
            if self._statistics.suggested + new < _MOST_SUGGESTED:
                new += self._proof.add(claim)
        self._statistics.suggested += new
        return new > 0

    def _labels(
        self, path: list[Occurrence], facts: Sequence[Sequence[int]]
    ) -> Sequence[Sequence[int]] | Feasible | Unknown:
        """Claims for each place of a word, where others hold already."""
        steps: list[Step] = []
        for known, item in zip(facts, path, strict=True):
            if known:
                steps.append(self._assumed(known))
            steps.append(item.step)
        steps = self._paths.from_start(steps)
        by_cores = None if self._settings.claims is Claims.INTERPOLANTS else ("weakest",)
        result = self._paths.interpolate(steps, by_cores)
        if not isinstance(result, Interpolants):
            return result
        sequence: Sequence[Sequence[int]] = result.sequence
        if self._settings.claims is Claims.PRECONDITIONS:
            sequence = preconditions(self._terms, steps)
        found = []
        place = 1  # behind the initial values
        for known in facts:
            found.append([self._beside(known, claim) for claim in sequence[place]])
            place += 2 if known else 1
        return [*found, sequence[place]]

    def _beside(self, facts: Sequence[int], claim: int) -> int:
        """What a claim says where facts hold: nothing of what they exclude."""
        terms = self._terms
        if terms.operator[claim] != OR:
            return claim
        known = set(facts)
        return terms.any_of(
            terms.true if part in known else part
            for part in terms.operands[claim]
            if terms.not_(part) not in known
        )

    def _assumed(self, claims: Sequence[int]) -> Step:
        found = self._assumptions.get(tuple(claims))
        if found is None:
            found = self._assumptions[tuple(claims)] = Step(tuple(claims), {})
        return found

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
