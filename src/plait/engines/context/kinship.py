"""Which variables and constants have to do with each other.

Two of them are *alike* if the program copies one to the other, calculates one from the other, or
compares them, or both have to do with one large constant; and what is alike to the same is alike.
Only those are worth comparing at first; if that is not enough, `is_ignored` is set, and everything
is compared with everything.
"""

from __future__ import annotations

from collections.abc import Iterator

from plait.engines.context.ghosts import GHOST
from plait.engines.context.templates import Templates
from plait.logic.operators import ADD, EQ, ITE, SLT, ULT
from plait.logic.terms import Terms

_LARGE = 16


class Kinship:
    def __init__(self, templates: Templates, terms: Terms) -> None:
        self._terms = terms
        self._parent: dict[int, int] = {}
        self._constants: dict[int, set[int]] = {}
        self.is_ignored = False
        self._compared: dict[int, set[int]] = {}  # constants, by their widths
        self._counters: set[int] = set()
        self._added: set[int] = set()  # variables that something is added to
        self._first: dict[int, int] = {}  # variables that have to do with large constants
        seen: set[int] = set()
        for template in templates.all:
            for item in template.one.transitions:
                pairs = list(item.step.updates.items())
                for begun in item.begins:
                    pairs += begun.values.items()
                for variable, term in pairs:
                    self._join([variable, *self._leaves(term)])
                    if not terms.name[variable].startswith(GHOST):
                        if any(terms.operator[part] == ADD for part in terms.parts((term,))):
                            self._added.add(variable)
                roots = {*item.step.assumes, *(term for _, term in pairs)} - seen
                for part in terms.parts(roots):
                    if terms.operator[part] in (EQ, ULT, SLT) and part not in seen:
                        seen.add(part)
                        for side in terms.operands[part]:
                            value = terms.value(side)
                            if value is not None:
                                self._compared.setdefault(terms.width[side], set()).add(value)
                        self._join(
                            leaf for side in terms.operands[part] for leaf in self._leaves(side)
                        )

    def add_counter(self, variable: int) -> None:
        """What is counted may have to do with anything that is added to."""
        self._counters.add(variable)

    def are_alike(self, left: int, right: int) -> bool:
        if self.is_ignored or self._root(left) == self._root(right):
            return True
        pair = {left, right}
        return not pair.isdisjoint(self._counters) and all(
            item in self._counters or self._is_calculated(item) for item in pair
        )

    def _is_calculated(self, variable: int) -> bool:
        return self._root(variable) in {self._root(item) for item in self._added}

    def constants(self, variable: int) -> set[int]:
        """The values of constants that are alike to a variable."""
        if self.is_ignored:
            return self._compared.get(self._terms.width[variable], set())
        if variable in self._counters:
            return set().union(*(self.constants(item) for item in self._added))
        return self._constants.get(self._root(variable), set())

    def _leaves(self, term: int) -> Iterator[int]:
        """The variables and constants that a value is made of; not those it only depends on."""
        terms = self._terms
        pending, seen = [term], {term}
        while pending:
            item = pending.pop()
            operator, operands = terms.operator[item], terms.operands[item]
            if not operands:
                yield item
            elif operator in (EQ, ULT, SLT):
                continue
            for part in operands[1:] if operator == ITE else operands:
                if part not in seen:
                    seen.add(part)
                    pending.append(part)

    def _join(self, leaves: Iterator[int] | list[int]) -> None:
        variables: list[int] = []
        values: set[int] = set()
        for leaf in leaves:
            value = self._terms.value(leaf)
            if value is None:
                variables.append(leaf)
            else:
                values.add(value)
        if not variables:
            return
        root = self._root(variables[0])
        for variable in variables[1:]:
            other = self._root(variable)
            if other != root:
                self._parent[other] = root
                values |= self._constants.pop(other, set())
        self._constants.setdefault(root, set()).update(values)
        if self._terms.name[root].startswith(GHOST):
            return
        for value in values:
            if _LARGE <= value < 1 << 31:
                first = self._root(self._first.setdefault(value, root))
                if first != root:
                    self._parent[root] = first
                    self._constants[first] |= self._constants.pop(root)
                    root = first

    def _root(self, variable: int) -> int:
        parent = self._parent
        while variable in parent:
            above = parent[variable]
            if above in parent:
                parent[variable] = parent[above]
            variable = above
        return variable
