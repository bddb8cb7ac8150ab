"""Where terms live: flat lists, one entry for each distinct term.

A term is an index into the lists of a `Table`. Equal terms get the same index, so comparing two
terms is comparing two integers, and the operands of a term always have smaller indices than the
term itself. Truth values are vectors of width 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from plait.logic.operators import CONSTANT, EXTRACT, NAMES, VARIABLE, compute


class Table:
    """Hash-consed terms. `parameter` is a constant's value, or an extract's lowest bit."""

    __slots__ = (
        "_constants",
        "_fresh",
        "_index",
        "_variables",
        "false",
        "name",
        "operands",
        "operator",
        "parameter",
        "true",
        "width",
    )

    def __init__(self) -> None:
        self.operator: list[int] = []
        self.operands: list[tuple[int, ...]] = []
        self.width: list[int] = []
        self.parameter: list[int] = []
        self.name: dict[int, str] = {}
        self._index: dict[tuple[int, ...], int] = {}
        self._constants: dict[tuple[int, int], int] = {}
        self._variables: dict[str, int] = {}
        self._fresh = 0
        self.false = self.constant(0, 1)
        self.true = self.constant(1, 1)

    def __len__(self) -> int:
        return len(self.operator)

    def constant(self, value: int, width: int) -> int:
        """The constant congruent to `value` modulo 2**width."""
        value &= (1 << width) - 1
        key = (value, width)
        found = self._constants.get(key)
        if found is None:
            if width < 1:
                raise ValueError(f"a term of width {width}")
            found = self._constants[key] = self._append(CONSTANT, width, (), value)
        return found

    def variable(self, name: str, width: int) -> int:
        """The variable of that name; asking again gives the same one."""
        found = self._variables.get(name)
        if found is None:
            if width < 1:
                raise ValueError(f"a term of width {width}")
            found = self._variables[name] = self._append(VARIABLE, width, (), 0)
            self.name[found] = name
        elif self.width[found] != width:
            raise ValueError(f"{name} has {self.width[found]} bits, not {width}")
        return found

    def fresh(self, prefix: str, width: int) -> int:
        """A variable that did not exist before."""
        while True:
            self._fresh += 1
            name = f"{prefix}!{self._fresh}"
            if name not in self._variables:
                return self.variable(name, width)

    def is_constant(self, term: int) -> bool:
        return self.operator[term] == CONSTANT

    def value(self, term: int) -> int | None:
        """The value of a constant; None for other terms."""
        return self.parameter[term] if self.operator[term] == CONSTANT else None

    def _term(self, key: tuple[int, ...], width: int, operands: tuple[int, ...]) -> int:
        """The term with this key: its operator, then whatever tells it from others."""
        found = self._index.get(key)
        if found is None:
            found = self._index[key] = len(self.operator)
            self.operator.append(key[0])
            self.width.append(width)
            self.operands.append(operands)
            self.parameter.append(key[2] if key[0] == EXTRACT else 0)
        return found

    def _append(self, operator: int, width: int, operands: tuple[int, ...], parameter: int) -> int:
        self.operator.append(operator)
        self.width.append(width)
        self.operands.append(operands)
        self.parameter.append(parameter)
        return len(self.operator) - 1

    def parts(self, roots: Iterable[int]) -> Iterator[int]:
        """The given terms and all they are made of, each once, operands before their users."""
        seen = set(roots)
        pending = list(seen)
        while pending:
            for operand in self.operands[pending.pop()]:
                if operand not in seen:
                    seen.add(operand)
                    pending.append(operand)
        yield from sorted(seen)

    def evaluate(
        self, term: int, value_of: Callable[[int], int], values: dict[int, int] | None = None
    ) -> int:
        """The value of a term; `value_of` gives the values of its variables. Values of terms that
        are already known, and those that get to be known, are in `values`."""
        if values is None:
            values = {}
        pending = [term]
        while pending:
            part = pending[-1]
            if part in values:
                pending.pop()
                continue
            operator, operands = self.operator[part], self.operands[part]
            unknown = [operand for operand in operands if operand not in values]
            if unknown:
                pending += unknown
                continue
            if operator == CONSTANT:
                values[part] = self.parameter[part]
            elif operator == VARIABLE:
                values[part] = value_of(part)
            else:
                values[part] = compute(
                    operator,
                    self.width[part],
                    [values[operand] for operand in operands],
                    [self.width[operand] for operand in operands],
                    self.parameter[part],
                )
        return values[term]

    def show(self, term: int) -> str:
        """The term as text, for messages and debugging; deep parts are elided."""
        return self._show(term, 6)

    def _show(self, term: int, depth: int) -> str:
        operator, width = self.operator[term], self.width[term]
        if operator == CONSTANT:
            return f"{self.parameter[term]}:{width}"
        if operator == VARIABLE:
            return self.name[term]
        if depth == 0:
            return "..."
        inner = " ".join(self._show(operand, depth - 1) for operand in self.operands[term])
        if operator == EXTRACT:
            low = self.parameter[term]
            return f"{inner}[{low + width - 1}:{low}]"
        shape = f":{width}" if NAMES[operator].endswith("extend") else ""
        return f"({NAMES[operator]}{shape} {inner})"
