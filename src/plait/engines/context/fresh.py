"""Variables that only ever hold numbers of threads that have begun, or no numbers of threads.

A new thread finds its own number in none of them. Invariants of single threads cannot say that: it
is about the order in which numbers are given. So it is found out here, by looking at what is
assigned: constants that are no numbers, the number of the thread itself, and other such variables.
Certificates say it as an inequality: such a variable is not more than the last number that was
given (signed: what stands for a destroyed mutex is negative).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from plait.engines.context.templates import Templates
from plait.engines.context.variables import Variables
from plait.logic.operators import ITE
from plait.logic.terms import Terms

_BITS = 32
_Place = tuple[int, int]


class OldNumbers:
    """`shared` are such variables that threads share, `own` those of an instance at each place."""

    def __init__(
        self,
        templates: Templates,
        variables: Variables,
        terms: Terms,
        initial_value: Callable[[int], int | None],
    ) -> None:
        self._terms = terms
        self._templates = templates
        numbers = {item for item in variables.numbers if terms.width[item] == _BITS}
        self.shared = {
            item
            for item in numbers
            if variables.is_shared(item)
            and not variables.is_ghost(terms, item)
            and self._is_old(initial_value(item))
        }
        own = {item for item in numbers if not variables.is_shared(item)}
        self.own: dict[_Place, set[int]] = {
            (number, place): set(own) if place else set()
            for number, template in enumerate(templates.all)
            for place in range(len(template.one.places))
        }
        while self._shrink():
            pass

    @staticmethod
    def _is_old(value: int | None) -> bool:
        """Not more than the number of the initial thread."""
        return value is not None and (value <= 1 or bool(value >> (_BITS - 1)))

    def _shrink(self) -> bool:
        """Drop what is assigned something else; whether that was anything."""
        before = len(self.shared) + sum(map(len, self.own.values()))
        for number, template in enumerate(self._templates.all):
            myself = template.one.number
            for item in template.one.transitions:
                known = self.own[number, item.source]
                updates: Mapping[int, int] = item.step.updates
                for variable in self.shared & updates.keys():
                    if not self._holds(updates[variable], known, myself):
                        self.shared.discard(variable)
                if item.target is not None:
                    there = self.own[number, item.target]
                    for variable in list(there):
                        if not self._holds(updates.get(variable, variable), known, myself):
                            there.discard(variable)
        return before != len(self.shared) + sum(map(len, self.own.values()))

    def _holds(self, term: int, known: set[int], myself: int) -> bool:
        terms = self._terms
        pending = [term]
        while pending:
            item = pending.pop()
            value = terms.value(item)
            if value is not None:
                if value != myself and not self._is_old(value):
                    return False
            elif terms.operator[item] == ITE:
                pending += terms.operands[item][1:]
            elif item not in known and item not in self.shared:
                return False
        return True
