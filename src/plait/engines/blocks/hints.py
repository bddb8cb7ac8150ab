"""The labels of a proof in terms that survive an edit of the program, as candidates for the next.

A label belongs to a place: where each thread stands, by functions and texts of the source, and the
explicit values there. Variables are called by their names in the source. What has no counterpart in
the edited program is left out, and nothing that is left in is believed: in `impact` a candidate
becomes part of a label only where it is proved, in `predicates` it is one more to track.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import sha256
from itertools import islice
from typing import Any

from plait.engines.blocks.ranges import variable_of_part
from plait.logic.operators import CONSTANT, EXTRACT, NAMES, VARIABLE
from plait.logic.substitute import make
from plait.logic.terms import Terms
from plait.model.program import Function, StaticObject
from plait.symbolic import variables
from plait.symbolic.knowledge import Knowledge
from plait.symbolic.locations import Cell, Frame, Location, Thread

Data = dict[str, Any]

_OPERATORS = {name: operator for operator, name in enumerate(NAMES)}
_MOST_TERMS = 20_000
_MOST_PLACES = 20_000
_MOST_FOR_A_PLACE = 40
_LARGEST_LABEL = 40
_LARGEST_TERM = 28
_WIDEST = 256


class Names:
    """What things are called in the source."""

    def __init__(self, knowledge: Knowledge) -> None:
        self.knowledge = knowledge
        self._program = knowledge.program
        self._texts: dict[str, list[str]] = {}
        self._registers: dict[str, list[str]] = {}
        self._threads: dict[Thread, tuple[str, str]] = {}
        self._cells: dict[Cell, tuple[str, int, int] | None] = {}
        counts: dict[str, int] = {}
        self.object_of: dict[str, StaticObject] = {}
        self._name_of: dict[int, str] = {}
        for item in self._program.objects:
            if not item.thread_local:
                name = _numbered(item.name, counts)
                self.object_of[name] = item
                self._name_of[item.page] = name

    def keys(self, location: Location) -> tuple[str, str]:
        """Of a place: with explicit values, and without."""
        rows = [self._thread(thread) for thread in location.threads]
        stands = [stand for stand, _ in rows]
        values = [value for _, value in rows]
        for cell, value in location.cells:
            name = self.cell(cell)
            if name is not None:
                values.append(f"{name}={self._small(value)}")
        return _digest([*stands, *values]), _digest(stands)

    def _thread(self, thread: Thread) -> tuple[str, str]:
        """Where it stands, and the explicit values of its frames."""
        found = self._threads.get(thread)
        if found is None:
            stands, values = [f"{thread.status.value} {thread.depth} {thread.lock is not None}"], []
            for frame in thread.frames:
                function = self._program.functions[frame.function]
                stands.append(f"{frame.function}@{self._text(function, frame.location)}")
                values += [
                    f"{self.registers(function)[index]}={self._small(value)}"
                    for index, value in frame.registers
                ]
            found = self._threads[thread] = "\n".join(stands), "\n".join(values)
        return found

    def _small(self, value: int | None) -> str:
        """Addresses change with every edit."""
        return "a" if value is None or value >> self.knowledge.page_bits else str(value)

    def _text(self, function: Function, location: int) -> str:
        found = self._texts.get(function.name)
        if found is None:
            counts: dict[str, int] = {}
            found = self._texts[function.name] = [
                _numbered(self._program.text(edges[0].action.origin) if edges else "", counts)
                for edges in function.edges
            ]
        return found[location]

    def registers(self, function: Function) -> list[str]:
        found = self._registers.get(function.name)
        if found is None:
            counts: dict[str, int] = {}
            found = self._registers[function.name] = [
                f"{_numbered(item.name, counts)}:{item.type.bits}" for item in function.registers
            ]
        return found

    def cell(self, cell: Cell) -> tuple[str, int, int] | None:
        """Object, offset and size, of static objects only."""
        if cell not in self._cells:
            bits = self.knowledge.page_bits
            page = self.knowledge.first_page(cell[0] >> bits)
            name = None if page is None else self._name_of.get(page)
            known = None
            if page is not None and name is not None:
                known = name, cell[0] - (page << bits), cell[1]
            self._cells[cell] = known
        return self._cells[cell]


def _numbered(text: str, counts: dict[str, int]) -> str:
    """Equal texts are told apart by their order."""
    counts[text] = counts.get(text, 0) + 1
    return f"{text}#{counts[text]}"


def _digest(parts: list[str]) -> str:
    return sha256("\n".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:20]


# --- from a proof


def write(
    knowledge: Knowledge, terms: Terms, labels: Iterable[tuple[Location, Iterable[int]]]
) -> Data:
    """The labels of the nodes of a proof, each with the node's location."""
    return _Writer(knowledge, terms).write(labels)


class _Writer:
    def __init__(self, knowledge: Knowledge, terms: Terms) -> None:
        self._names = Names(knowledge)
        self._program = knowledge.program
        self._terms = terms
        self._rows: dict[str, int] = {}
        self._table: list[list[Any]] = []

    def write(self, labels: Iterable[tuple[Location, Iterable[int]]]) -> Data:
        places: dict[str, dict[tuple[int, ...], None]] = {}
        for location, label in labels:
            if not label or self._terms.false in label:
                continue
            if len(self._table) > _MOST_TERMS or len(places) > _MOST_PLACES:
                break
            small = [term for term in sorted(label) if self._is_small(term)]
            found = [self._row(term, location) for term in small]
            rows = tuple(row for row in found if row is not None)
            for key in self._names.keys(location):
                places.setdefault(key, {})[rows] = None
        return {
            "terms": self._table,
            "places": {
                key: [[*rows] for rows in labels][:_MOST_FOR_A_PLACE]
                for key, labels in places.items()
            },
        }

    def _is_small(self, term: int) -> bool:
        """Large ones are hard to prove and say little beyond the path that they come from."""
        parts = islice(self._terms.parts({term}), _LARGEST_TERM + 1)
        return sum(1 for _ in parts) <= _LARGEST_TERM

    def _row(self, term: int, location: Location) -> int | None:
        """The number of a row for a term; None if it speaks of something without a name."""
        terms = self._terms
        operands = [self._row(part, location) for part in terms.operands[term]]
        if None in operands:
            return None
        variable = None
        if terms.operator[term] == VARIABLE:
            variable = self._variable(terms.name[term], location)
            if variable is None:
                return None
        row = [
            NAMES[terms.operator[term]],
            terms.width[term],
            operands,
            terms.parameter[term],
            variable,
        ]
        number = self._rows.setdefault(repr(row), len(self._table))
        if number == len(self._table):
            self._table.append(row)
        return number

    def _variable(self, name: str, location: Location) -> list[Any] | None:
        cell = variables.cell_of(name)
        if cell is not None:
            part = self._names.cell(cell)
            return None if part is None else ["cell", *part]
        register = variables.register_of(name)
        if register is None:
            return None
        thread, depth, index = register
        frame = _frame(location, thread, depth)
        if frame is None:
            return None
        registers = self._names.registers(self._program.functions[frame.function])
        return ["register", thread, depth, registers[index]]


def _frame(location: Location, thread: int, depth: int) -> Frame | None:
    if not 1 <= thread <= len(location.threads):
        return None
    frames = location.threads[thread - 1].frames
    return frames[depth] if 0 <= depth < len(frames) else None


def _behind_call(function: Function, frame: Frame) -> int:
    """Where a frame goes on when the call that it waits for has returned."""
    return function.edges[frame.location][0].target


# --- for the next one


def cell_variable(
    knowledge: Knowledge,
    terms: Terms,
    item: StaticObject,
    part: tuple[int, int],
    location: Location,
) -> int | None:
    """The variable of a part (offset and size) of an object, if it has one at this place."""
    cell = knowledge.program.address_of(item) + part[0], part[1]
    if any(known == cell and value is not None for known, value in location.cells):
        return None
    return variable_of_part(knowledge, terms, item, part)


class Hints:
    """Candidates for labels; data that is not as `write` makes it has none."""

    def __init__(self, knowledge: Knowledge, terms: Terms, data: Data | None) -> None:
        self._names = Names(knowledge)
        self._knowledge = knowledge
        self._terms = terms
        self._table: list[Any] = []
        self._places: dict[str, Any] = {}
        rows, places = (data or {}).get("terms"), (data or {}).get("places")
        if isinstance(rows, list) and isinstance(places, dict):
            self._table, self._places = rows[: 2 * _MOST_TERMS], places

    def __bool__(self) -> bool:
        return bool(self._places)

    def at(self, location: Location) -> tuple[tuple[int, ...], ...]:
        """Labels that nodes at this place have had, in the order of the nodes."""
        for key in self._names.keys(location):
            labels = self._places.get(key)
            if isinstance(labels, list):
                return tuple(
                    tuple(self._candidates(label[:_LARGEST_LABEL], location))
                    for label in labels[:_MOST_FOR_A_PLACE]
                    if isinstance(label, list)
                )
        return ()

    def _candidates(self, numbers: list[Any], location: Location) -> Iterator[int]:
        made: dict[int, int | None] = {}
        for number in numbers:
            try:
                term = self._made(number, location, made)
            except (ValueError, TypeError, KeyError, IndexError, RecursionError):
                continue  # nothing that `write` has written
            if term is not None and self._terms.width[term] == 1:
                yield term

    def _made(self, number: Any, location: Location, made: dict[int, int | None]) -> int | None:
        if type(number) is not int or not 0 <= number < len(self._table):
            raise ValueError
        if number in made:
            return made[number]
        name, width, numbers, parameter, variable = self._table[number]
        if not (type(width) is type(parameter) is int and 0 < width <= _WIDEST):
            raise ValueError
        if any(type(item) is not int or item >= number for item in numbers):
            raise ValueError  # operands come first
        operands: list[int] = []
        for item in numbers:
            operand = self._made(item, location, made)
            if operand is None:
                made[number] = None
                return None
            operands.append(operand)
        operator = _OPERATORS[name]
        term: int | None
        if operator == VARIABLE:
            term = self._variable(variable, location)
        elif operator == CONSTANT:
            term = self._terms.constant(parameter, width)
        else:
            if operator == EXTRACT and not 0 <= parameter <= _WIDEST:
                raise ValueError
            term = make(self._terms, operator, width, parameter, operands)
        if term is not None and self._terms.width[term] != width:
            term = None
        made[number] = term
        return term

    def _variable(self, row: Any, location: Location) -> int | None:
        """Only what has a variable at this place: whose value is not known there anyway."""
        kind, *rest = row
        if kind == "cell":
            name, offset, size = rest
            item = self._names.object_of.get(name)
            if item is None:
                return None
            return cell_variable(self._knowledge, self._terms, item, (offset, size), location)
        thread, depth, register = rest
        frame = _frame(location, thread, depth)
        if frame is None:
            return None
        shape = self._knowledge.shape(frame.function)
        registers = self._names.registers(shape.function)
        if register not in registers:
            return None
        index = registers.index(register)
        is_inner = depth == len(location.threads[thread - 1].frames) - 1
        live = shape.live[frame.location if is_inner else _behind_call(shape.function, frame)]
        if not live >> index & 1 or any(known == index for known, _ in frame.registers):
            return None
        bits = shape.function.registers[index].type.bits
        return variables.register_variable(self._terms, thread, depth, index, bits)
