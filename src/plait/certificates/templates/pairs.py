"""Two threads at the same time: each at a place of its template.

One of them takes a step, or is about to make an access; terms are in its words. The other one has a
number and addresses of its own, so all that is its own is renamed.
"""

from __future__ import annotations

import re

from plait.certificates.decide import Facts
from plait.certificates.document import Cell, RegisterName
from plait.certificates.outcomes import Step, StepOutcome
from plait.certificates.templates.addresses import Addresses
from plait.certificates.templates.counting import known_counts
from plait.certificates.templates.document import (
    AddressName,
    Ghost,
    GhostKind,
    Place,
    Template,
    TemplateCertificate,
)
from plait.certificates.templates.execute import PlaceSituation
from plait.certificates.templates.states import Behind
from plait.data import dataclass, field
from plait.logic.substitute import Substitution
from plait.logic.terms import Terms

_MEMORY = re.compile(r"(?:m([0-9]+)\.[0-9]+|byte ([0-9]+))", re.ASCII)
_SHARED_GHOSTS = tuple(f"{kind.value} " for kind in GhostKind if kind is not GhostKind.SELF)


@dataclass(slots=True, eq=False)
class Standing:
    """A thread at a place. `label` is in terms of its state, `facts` has that and what is true of
    its number and its addresses: None if nobody is ever there. `step` and `outcomes` are known when
    the place has been looked at."""

    number: int
    position: int
    template: Template
    place: Place
    situation: PlaceSituation
    label: tuple[int, ...]
    facts: Facts | None = None
    step: Step | None = None
    outcomes: list[tuple[StepOutcome, Behind]] = field(default_factory=list)

    @property
    def words(self) -> str:
        return f"place {self.position} of {self.template.name[:80]}"


class Pairs:
    def __init__(self, certificate: TemplateCertificate, addresses: Addresses) -> None:
        self.certificate = certificate
        self.addresses = addresses
        self._terms: Terms = certificate.terms
        self._others: dict[int, int] = {}
        self.renamed = Substitution(certificate.terms, self._other)
        self._links: dict[tuple[int, int, int, int], list[int]] = {}

    @staticmethod
    def may_exist(one: Standing, other: Standing) -> bool:
        """Whether two threads can be at these places at all, as far as templates say."""
        if one.place.is_alone or other.place.is_alone:
            return False
        return one.number != other.number or one.template.is_multiple

    def _other(self, variable: int) -> int | None:
        if self._is_shared(self._terms.name[variable]):
            return None
        found = self._others.get(variable)
        if found is None:
            found = self._terms.fresh("other", self._terms.width[variable])
            self._others[variable] = found
        return found

    def _is_shared(self, name: str) -> bool:
        if name.startswith(("block ", *_SHARED_GHOSTS)):
            return True
        match = _MEMORY.fullmatch(name)
        return match is not None and self.addresses.is_shared(int(match[1] or match[2]))

    def together(self, facts: Facts, one: Standing, other: Standing) -> Facts | None:
        """What holds when another thread stands at a place, beside some facts about a step of the
        first one; None if that cannot be."""
        if other.facts is None:
            return None
        return facts.with_all([*self.links(one, other), *map(self.renamed, other.facts.items)])

    def links(self, one: Standing, other: Standing) -> list[int]:
        """What two threads at two places have to do with each other: different numbers, objects of
        their own, and the same memory."""
        key = one.number, one.position, other.number, other.position
        found = self._links.get(key)
        if found is None:
            found = self._links[key] = self._linked(one, other)
        return found

    def _linked(self, one: Standing, other: Standing) -> list[int]:
        terms, renamed = self._terms, self.renamed
        places = (one.number, one.position), (other.number, other.position)
        found = known_counts(self.certificate, places)
        if 1 not in (one.template.number, other.template.number):
            myself = terms.variable("self", 32)
            found.append(terms.ne(myself, renamed(myself)))
        arena = self.addresses.arena
        found.append(terms.ne(arena, renamed(arena)))
        for page, mine in one.situation.bases.items():
            for there, theirs in other.situation.bases.items():
                if page not in self.addresses.blocks or there not in self.addresses.blocks:
                    found.append(terms.ne(mine, renamed(theirs)))
        cells = {*one.place.cells, *other.place.cells, *self.certificate.initial}
        for cell in sorted(cells):
            if self.addresses.is_shared(cell.address):
                mine = one.situation.bytes.cell(cell)
                theirs = renamed(other.situation.bytes.cell(cell))
                if mine != theirs:
                    found.append(terms.eq(mine, theirs))
        return found


class Observed:
    """The state behind a step, as another thread finds it that stands at a place meanwhile."""

    def __init__(self, pairs: Pairs, behind: Behind, other: Standing) -> None:
        self._pairs = pairs
        self._behind = behind
        self._situation = other.situation

    def meant(self, variable: int) -> int:
        meaning = self._pairs.certificate.meanings[variable]
        if isinstance(meaning, RegisterName):
            number = self._situation.number
            register = self._situation.register(number, meaning.frame, meaning.register)
            return self._pairs.renamed(register)
        if isinstance(meaning, AddressName):
            return self.known_value(meaning.value, self._pairs.certificate.terms.width[variable])
        return self.ghost(meaning) if isinstance(meaning, Ghost) else self.cell(meaning)

    def cell(self, cell: Cell) -> int:
        if self._pairs.addresses.is_shared(cell.address):
            return self._behind.cell(cell)
        return self._pairs.renamed(self._situation.bytes.cell(cell))

    def ghost(self, ghost: Ghost) -> int:
        if ghost.kind is not GhostKind.SELF:
            return self._behind.ghost(ghost)
        terms = self._behind.terms
        if self._situation.number == 1:
            return terms.constant(1, 32)
        return self._pairs.renamed(terms.variable("self", 32))

    def known_value(self, value: int, bits: int) -> int:
        return self._pairs.renamed(self._situation.known_value(value, bits))
