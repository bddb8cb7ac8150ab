"""Ghost counters: how many threads of a template have begun, and how many have left a place.

The counter abstraction of the thesis (5.3.3) counts instances in sets of locations; here a program
may have any number of instances everywhere, and what is counted are steps that an instance takes at
most once, because their place is on no cycle. Such counts are true of any execution, whatever
invariants say, if each step that leaves the place counts (`add`):

- nobody leaves a place who has not begun, nor one that can only be reached through another before
  leaving that one;
- the difference of two such counters is the number of instances in between, so it is at least the
  number of those that are known to be in between (`Counters.known`).

Invariants of single threads cannot say the second, so it is assumed in all conditions.

No counter overflows: each thread has a part of the address space of its own (2^33 bytes on LP64),
so that there are fewer than 2^31 - `_MARGIN` of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import permutations

from plait.analysis.graph import cyclic_nodes
from plait.data import dataclass, replace
from plait.engines.context.ghosts import COUNTER
from plait.engines.context.templates import Template, Templates
from plait.logic.interpolation.path import Step
from plait.logic.operators import ADD
from plait.logic.terms import Terms

_BITS = 32
_MARGIN = 16
_MOST_OF_TEMPLATE = 4


@dataclass(slots=True, eq=False)
class _Counted:
    """A place that is left at most once. An instance has not left it `before`, and has left it
    `behind` it; at other places nothing is known."""

    place: int
    variable: int
    before: frozenset[int]
    behind: frozenset[int]


class Counters:
    """Of all templates of which there may be several instances."""

    def __init__(self, templates: Templates, terms: Terms) -> None:
        self._terms = terms
        self._growing = _growing(templates, terms)
        self._begun: dict[int, int] = {}
        self._counted: dict[int, list[_Counted]] = {}
        for number, template in enumerate(templates.all):
            if template.other is not None:
                self._begun[number] = terms.variable(f"{COUNTER} {number}", _BITS)
                self._counted[number] = self._add(number, template)
        self._count_beginnings(templates)

    def rows(self) -> list[dict[str, object]]:
        """The counters as a certificate has them."""
        return [
            {
                "template": template,
                "place": item.place,
                "before": sorted(item.before),
                "behind": sorted(item.behind),
            }
            for template, items in self._counted.items()
            for item in items
        ]

    @property
    def is_useful(self) -> bool:
        return any(self._counted.values())

    def known(self, places: Iterable[tuple[int, int]]) -> list[int]:
        """What is known of the counters where different threads are at some places (templates and
        places)."""
        terms = self._terms
        standing: dict[int, list[int]] = {}
        for template, place in places:
            standing.setdefault(template, []).append(place)
        found = []
        zero = terms.constant(0, _BITS)
        for template, begun in self._begun.items():
            at = standing.get(template, [])
            found.append(terms.slt(begun, terms.constant((1 << 31) - _MARGIN, _BITS)))
            found.append(terms.sle(terms.constant(len(at), _BITS), begun))
            for item in self._counted[template]:
                left = sum(place in item.behind for place in at)
                found.append(terms.sle(terms.constant(left, _BITS), item.variable))
                found.append(terms.sle(zero, item.variable))
                found.append(
                    self._at_least(begun, item.variable, sum(place in item.before for place in at))
                )
            for first, second in permutations(self._counted[template], 2):
                if second.place in first.behind:
                    between = sum(place in first.behind & second.before for place in at)
                    found.append(self._at_least(first.variable, second.variable, between))
        return found

    def _at_least(self, more: int, less: int, difference: int) -> int:
        terms = self._terms
        return terms.sle(terms.add(less, terms.constant(difference, _BITS)), more)

    def _add(self, number: int, template: Template) -> list[_Counted]:
        found = []
        for place in _places_left_once(self._terms, template, self._growing)[:_MOST_OF_TEMPLATE]:
            variable = self._terms.variable(f"{COUNTER} {number} {place}", _BITS)
            count = len(template.one.places)
            reached = _reachable(template, [place])
            not_left = _reachable(template, [0], without=place)
            found.append(
                _Counted(
                    place,
                    variable,
                    frozenset(range(count)) - reached | {place},
                    frozenset(range(count)) - not_left,
                )
            )
            for instance in filter(None, (template.one, template.other)):
                for position, item in enumerate(instance.transitions):
                    if item.source == place:
                        step = self._counting(item.step, variable)
                        instance.transitions[position] = replace(item, step=step)
        return found

    def _count_beginnings(self, templates: Templates) -> None:
        for template in templates.all:
            for instance in filter(None, (template.one, template.other)):
                for position, item in enumerate(instance.transitions):
                    for begun in item.begins:
                        variable = self._begun.get(begun.template)
                        if variable is not None:
                            step = self._counting(instance.transitions[position].step, variable)
                            instance.transitions[position] = replace(item, step=step)

    def _counting(self, step: Step, variable: int) -> Step:
        more = self._terms.add(variable, self._terms.constant(1, _BITS))
        return Step(step.assumes, {**step.updates, variable: more}, step.inputs)


def _growing(templates: Templates, terms: Terms) -> set[int]:
    """Shared variables that something is added to, and nothing is subtracted from."""
    found: set[int] = set()
    shrinking: set[int] = set()
    for template in templates.all:
        for item in template.one.transitions:
            for variable, term in item.step.updates.items():
                if templates.is_shared(variable):
                    for value in _added(terms, term):
                        is_negative = value >> (terms.width[variable] - 1)
                        (shrinking if is_negative else found).add(variable)
    return found - shrinking


def _added(terms: Terms, term: int) -> list[int]:
    """Constants that are added to something in a term."""
    return [
        value
        for part in terms.parts((term,))
        if terms.operator[part] == ADD
        for operand in terms.operands[part]
        if (value := terms.value(operand)) is not None
    ]


def _places_left_once(terms: Terms, template: Template, growing: set[int]) -> list[int]:
    """On no cycle, and a variable grows there."""
    successors: list[list[int]] = [[] for _ in template.one.places]
    changing: dict[int, None] = {}
    for item in template.one.transitions:
        if item.target is not None:
            successors[item.source].append(item.target)
        for variable, term in item.step.updates.items():
            if variable in growing and _added(terms, term):
                changing[item.source] = None
    cyclic = cyclic_nodes(successors)
    return [place for place in sorted(changing) if place not in cyclic]


def _reachable(template: Template, start: list[int], without: int | None = None) -> frozenset[int]:
    """The places that an instance comes to from some places, these included; `without` leaving
    one."""
    found = set(start)
    pending = list(start)
    while pending:
        place = pending.pop()
        for item in template.one.transitions:
            if item.source == place != without and item.target is not None:
                if item.target not in found:
                    found.add(item.target)
                    pending.append(item.target)
    return frozenset(found)
