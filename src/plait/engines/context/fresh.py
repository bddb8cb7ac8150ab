"""Variables that only ever hold numbers of threads that have begun, or no numbers of threads.

A new thread finds its own number in none of them. Invariants of single threads cannot say that: it
is about the order in which numbers are given. So it is found out here, by looking at what is
assigned: constants that are no numbers, the number of the thread itself, and other such variables.
Certificates say it as an inequality: such a variable is not more than the last number that was
given (signed: what stands for a destroyed mutex is negative).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from plait.engines.context.giving_up import GaveUp
from plait.engines.context.templates import Templates
from plait.engines.context.variables import Variables
from plait.logic.operators import EQ, ITE
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
        compared = self._compared(variables)
        numbers = {item for item in variables.numbers | compared if terms.width[item] == _BITS}
        self.shared = {
            item
            for item in numbers
            if variables.is_shared(item)
            and not variables.is_ghost(terms, item)
            and self._is_old(initial_value(item))
        }
        own = {
            variable
            for template in templates.all
            for item in template.one.transitions
            for variable in item.step.updates
            if terms.width[variable] == _BITS and not variables.is_shared(variable)
        }
        self.own: dict[_Place, set[int]] = {
            (number, place): set(own) if place else set()
            for number, template in enumerate(templates.all)
            for place in range(len(template.one.places))
        }
        while self._shrink():
            pass
        self._check(variables, compared)

    def _check(self, variables: Variables, compared: set[int]) -> None:
        """What is proved of the instances here holds of others under another numbering. It would
        not if a program could make up the number of a thread."""
        for item in self._holders(variables) | compared:
            if variables.is_shared(item) and not variables.is_ghost(self._terms, item):
                if item not in self.shared:
                    raise GaveUp("a lock may hold the number of a thread that has not taken it")

    def _holders(self, variables: Variables, *, with_own: bool = False) -> set[int]:
        """What a number is copied to; not what only depends on one. That of the initial thread is
        always the same."""
        terms = self._terms
        found: set[int] = set()
        changed = True
        while changed:
            changed = False
            for template in self._templates.all:
                for item in template.one.transitions:
                    for variable, term in item.step.updates.items():
                        if variable not in found and any(
                            part in found or terms.value(part) in variables.thread_numbers
                            for leaf in self._leaves(term)
                            for part in terms.parts((leaf,))
                        ):
                            found.add(variable)
                            changed = True
        return found if with_own else found & variables.numbers

    def _compared(self, variables: Variables) -> set[int]:
        """What threads share and compare with the number of a thread."""
        terms, copies = self._terms, self._holders(variables, with_own=True)
        roots = {
            term
            for template in self._templates.all
            for item in template.one.transitions
            for term in (*item.step.assumes, *item.step.updates.values())
        }
        found: set[int] = set()
        for part in terms.parts(roots):
            if terms.operator[part] == EQ and terms.width[terms.operands[part][0]] == _BITS:
                for one, other in (terms.operands[part], terms.operands[part][::-1]):
                    if any(
                        leaf in copies or terms.value(leaf) in variables.thread_numbers
                        for leaf in self._leaves(one)
                    ):
                        found |= {
                            item
                            for item in variables.vocabulary(other)
                            if variables.is_shared(item) and not variables.is_ghost(terms, item)
                        }
        return found

    def _leaves(self, term: int) -> list[int]:
        """What a choice is between."""
        pending, found = [term], []
        while pending:
            item = pending.pop()
            if self._terms.operator[item] == ITE:
                pending += self._terms.operands[item][1:]
            else:
                found.append(item)
        return found

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
        for item in self._leaves(term):
            value = terms.value(item)
            if value is not None:
                if value != myself and not self._is_old(value):
                    return False
            elif item not in known and item not in self.shared:
                return False
        return True
