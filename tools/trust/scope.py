"""What a generated program has declared so far: types, variables, functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from trust.dice import Dice
from trust.types import CType, IntType, RecordType

FEATURES = frozenset(
    {
        "arrays",
        "bitfields",
        "builtins",
        "calls",
        "effects",
        "enums",
        "floats",
        "function-pointers",
        "generic",
        "goto",
        "heap",
        "int128",
        "pointers",
        "printf",
        "recursion",
        "statement-expressions",
        "strings",
        "structs",
        "switch",
        "unions",
    }
)


@dataclass(slots=True, eq=False)
class Variable:
    """`depth` orders life times: 0 is static, an inner block is deeper than the one around it.

    A stable variable is written by its declaration and its loop's head only, and its address is
    never taken, so that it may stand beside an expression with effects.
    """

    name: str
    type: CType
    depth: int
    writable: bool = True
    stable: bool = False
    addressable: bool = True


@dataclass(slots=True, eq=False)
class Signature:
    """A function that may be called. `cost` estimates how many statements a call runs."""

    name: str
    parameters: list[CType]
    returns: CType
    cost: int
    depth_first: bool = False  # the first argument bounds the depth of recursion


@dataclass(slots=True, eq=False)
class Place:
    """An lvalue. `width` is that of a bit-field, `wide` marks those that gcc and clang promote
    differently, `depth` is the life time of its object."""

    text: str
    type: CType
    depth: int
    width: int | None = None
    wide: bool = False
    pointer: str = ""  # the pointer that `text` just dereferences


@dataclass(slots=True, eq=False)
class Context:
    dice: Dice
    features: frozenset[str]
    ints: list[IntType]
    enumerators: list[str] = field(default_factory=list)
    structs: list[RecordType] = field(default_factory=list)
    unions: list[RecordType] = field(default_factory=list)
    variables: list[Variable] = field(default_factory=list)
    functions: list[Signature] = field(default_factory=list)
    operations: list[str] = field(default_factory=list)  # int (*)(int, long long) functions
    depth: int = 0
    repeat: int = 1  # how often the statement being generated runs, at most
    cost: int = 0
    budget: int = 4000
    names: int = 0

    def fresh(self, prefix: str) -> str:
        self.names += 1
        return f"{prefix}{self.names}"

    def has(self, feature: str) -> bool:
        return feature in self.features

    def affords(self, cost: int) -> bool:
        return self.cost + self.repeat * cost <= self.budget

    def spend(self, cost: int) -> None:
        self.cost += self.repeat * cost

    def candidates(self, accept: Callable[[Variable], bool]) -> list[Variable]:
        return [item for item in self.variables if accept(item)]

    @contextmanager
    def block(self, trips: int = 1) -> Iterator[None]:
        """Variables declared inside are forgotten at its end; its statements run `trips` times."""
        known = len(self.variables)
        outer = self.repeat
        self.depth += 1
        self.repeat *= trips
        try:
            yield
        finally:
            del self.variables[known:]
            self.depth -= 1
            self.repeat = outer
