"""Rule D: what holds at a place is kept by the steps of all other threads."""

from __future__ import annotations

from plait.certificates.document import Cell
from plait.certificates.outcomes import StepOutcome
from plait.certificates.templates.document import Ghost
from plait.certificates.templates.pairs import Observed, Pairs, Standing
from plait.certificates.templates.states import Behind
from plait.certificates.verdicts import Rejected
from plait.logic.substitute import Substitution, Vocabulary


class Disturbances:
    def __init__(self, pairs: Pairs, standing: list[Standing]) -> None:
        self._pairs = pairs
        self._certificate = pairs.certificate
        self._standing = [item for item in standing if item.facts is not None]
        self._vocabulary = Vocabulary(self._certificate.terms)
        self._ghosts = [
            item for item in self._certificate.meanings.values() if isinstance(item, Ghost)
        ]

    def check(self, standing: Standing, outcome: StepOutcome, behind: Behind) -> None:
        """Of one outcome of a step that the thread takes which stands there."""
        cells = {cell for cell in behind.written if self._pairs.addresses.is_shared(cell.address)}
        changed: set[Cell | Ghost] = {*cells, *filter(behind.changes, self._ghosts)}
        if not changed:
            return
        for other in self._standing:
            # Nobody takes a step while a thread is inside an atomic section.
            if other.place.thread.depth or not self._pairs.may_exist(standing, other):
                continue
            goal = self._goal(behind, other, cells, changed)
            if goal == self._certificate.terms.true:
                continue
            facts = self._pairs.together(outcome.path.facts, standing, other)
            if facts is not None and not facts.imply(goal):
                what = f"{standing.words}: its step does not keep what holds at {other.words}"
                raise Rejected(what, origin=outcome.origin)

    def _goal(
        self, behind: Behind, other: Standing, cells: set[Cell], changed: set[Cell | Ghost]
    ) -> int:
        """What the other thread's place claims of what has changed."""
        terms, meanings = self._certificate.terms, self._certificate.meanings
        observed = Observed(self._pairs, behind, other)
        goals = []
        for cell in sorted(cells):
            expected = other.situation.bytes.known(cell)
            if expected is not None:
                known = observed.known_value(expected, 8 * cell.size)
                goals.append(terms.eq(observed.cell(cell), known))
        substitution = Substitution(terms, observed.meant)
        for item in other.place.label:
            if any(meanings[variable] in changed for variable in self._vocabulary(item)):
                goals.append(substitution(item))
        return terms.all_of(goals)
