"""Reading a certificate: JSON to data, complaining about whatever is not as it should be.

Only what can be said without the program is checked here. Terms are made anew by the constructors
of `Terms`, so that nothing of how the writer has simplified them has to be believed.
"""

from __future__ import annotations

import re
from functools import reduce
from typing import Any

from plait.certificates.document import (
    FORMAT,
    VERSION,
    Cell,
    Certificate,
    Frame,
    Location,
    Node,
    RegisterName,
    Status,
    Thread,
)
from plait.certificates.json_values import CertificateError, Value, decimal, parse
from plait.logic.operators import (
    AND,
    CONCAT,
    CONSTANT,
    EQ,
    EXTRACT,
    ITE,
    NAMES,
    NEG,
    NOT,
    OR,
    SIGN_EXTEND,
    SLT,
    ULT,
    VARIABLE,
    ZERO_EXTEND,
)
from plait.logic.terms import Terms
from plait.model.machine import STORAGES

_WIDEST = 4096
_LARGEST_CELL = 64
_MOST_THREADS = 4096
_UNARY = frozenset({NOT, NEG, EXTRACT, ZERO_EXTEND, SIGN_EXTEND})
_COMPARISONS = frozenset({EQ, ULT, SLT})
_SHIFTS = frozenset({"shl", "lshr", "ashr"})
_OPERATORS = {name: number for number, name in enumerate(NAMES)}
_REGISTER = re.compile(r"t([0-9]{1,20})\.([0-9]{1,20})\.([0-9]{1,20})", re.ASCII)
_CELL = re.compile(r"m([0-9]{1,20})\.([0-9]{1,20})", re.ASCII)
_FINGERPRINT = re.compile(r"[0-9a-f]{64}", re.ASCII)


def read(text: str) -> Certificate:
    """The tree in a text; raises CertificateError for any other text."""
    return Reader(parse(text)).certificate()


class Reader:
    """Reads certificates that are trees; `templates.reading` those of the other kind."""

    def __init__(self, document: Value) -> None:
        self._document = document
        self._terms = Terms()
        self._meanings: dict[int, Any] = {}
        self._table: list[int] = []
        self._cells: set[Cell] = set()
        self._threads: list[Thread] = []
        self._locations: list[Location] = []

    def certificate(self) -> Certificate:
        document = self._document
        self._check_header(
            "switch_points", "locks", "terms", "initial", "threads", "locations", "nodes"
        )
        options = tuple(item.text() for item in document.field("options").items())
        properties = texts(document.field("properties"))
        functions = texts(document.field("error_functions"))
        self._read_terms(document.field("terms"))
        initial = self._initial()
        self._threads = [self._thread(item) for item in document.optional("threads")]
        self._locations = [self._location(item) for item in document.optional("locations")]
        nodes = self._nodes(document.field("nodes"))
        return Certificate(
            document.field("engine").text(),
            options,
            self._fingerprint(),
            properties,
            functions,
            self._switch_points(document.field("switch_points")),
            frozenset(self._lock(item) for item in document.optional("locks")),
            self._terms,
            self._meanings,
            initial,
            nodes,
            self._all_cells(),
        )

    def _fingerprint(self) -> str:
        fingerprint = self._document.field("fingerprint")
        if not _FINGERPRINT.fullmatch(fingerprint.text()):
            fingerprint.fail("64 hexadecimal digits expected")
        return fingerprint.text()

    def _check_header(self, *names: str) -> None:
        """`names` are the fields that this kind of certificate has beside those of all kinds."""
        document = self._document
        form = document.field("format")
        if form.text() != FORMAT:
            form.fail(f"'{FORMAT}' expected")
        version = document.field("version")
        if version.number() != VERSION:
            version.fail(f"version {VERSION} expected")
        document.only(
            "format",
            "version",
            "engine",
            "options",
            "fingerprint",
            "properties",
            "error_functions",
            *names,
        )

    def _initial(self) -> dict[Cell, int]:
        return {
            self._cell(name, item): self._value_of_cell(name, item)
            for name, item in self._document.field("initial").entries()
        }

    def _switch_points(self, value: Value) -> dict[str, frozenset[int]]:
        return {
            name: frozenset(item.number() for item in locations.items())
            for name, locations in value.entries()
        }

    # --- terms

    def _read_terms(self, value: Value) -> None:
        for item in value.items():
            try:
                self._table.append(self._term(item))
            except ValueError as error:
                item.fail(str(error))
            except RecursionError:
                item.fail("nested too deeply")

    def _term(self, item: Value) -> int:
        terms = self._terms
        operator_name, width_value, operand_values, parameter_value, name = item.exactly(5)
        operator = _OPERATORS.get(operator_name.text())
        if operator is None:
            operator_name.fail("no operator of terms")
        width = width_value.number(_WIDEST)
        if width == 0:
            width_value.fail("a term has at least one bit")
        operands = [self._term_at(operand) for operand in operand_values.items()]
        parameter = parameter_value.number((1 << _WIDEST) - 1)
        if operator == VARIABLE:
            made = self._variable(name, width)
        elif operator == CONSTANT:
            if parameter >> width:
                parameter_value.fail(f"does not fit into {width} bits")
            made = terms.constant(parameter, width)
        else:
            self._check_operands(item, operator, width, operands)
            made = self._operation(operator, width, operands, parameter)
        if terms.width[made] != width or (operator <= VARIABLE and operands):
            item.fail("width or operands do not fit the operator")
        if operator != VARIABLE and not (name.is_null or name.data == ""):
            name.fail("only variables have names")
        if operator not in (CONSTANT, EXTRACT) and parameter:
            parameter_value.fail("only constants and extracts have a parameter")
        return made

    def _term_at(self, value: Value) -> int:
        index = value.number()
        if index >= len(self._table):
            value.fail("operands come before the terms that use them")
        return self._table[index]

    def _check_operands(self, item: Value, operator: int, width: int, operands: list[int]) -> None:
        widths = [self._terms.width[operand] for operand in operands]
        if operator in _UNARY:
            fits = len(widths) == 1
        elif operator in (AND, OR):
            fits = len(widths) >= 1 and all(other == width for other in widths)
        elif operator == ITE:
            fits = widths == [1, width, width]
        elif operator == CONCAT or NAMES[operator] in _SHIFTS:
            fits = len(widths) == 2
        else:
            fits = len(widths) == 2 and widths[0] == widths[1]
        if not fits:
            item.fail(f"{NAMES[operator]} has other operands")
        if operator in (ZERO_EXTEND, SIGN_EXTEND) and widths[0] > width:
            item.fail("an extension is not narrower than its operand")
        if operator in _COMPARISONS and width != 1:
            item.fail("a comparison has one bit")

    def _operation(self, operator: int, width: int, operands: list[int], parameter: int) -> int:
        terms = self._terms
        if operator == EXTRACT:
            return terms.extract(operands[0], parameter, width)
        if operator == ZERO_EXTEND:
            return terms.zero_extend(operands[0], width)
        if operator == SIGN_EXTEND:
            return terms.sign_extend(operands[0], width)
        if operator in (AND, OR):
            if width == 1:
                return terms.all_of(operands) if operator == AND else terms.any_of(operands)
            return reduce(terms.and_ if operator == AND else terms.or_, operands)
        name = NAMES[operator]
        method = "not_" if operator == NOT else name
        made: int = getattr(terms, method)(*operands)
        return made

    def _variable(self, value: Value, width: int) -> int:
        """Functions whose frames take turns at one depth may give the registers of one number
        different widths, so the width is part of a variable's identity."""
        name = value.text()
        register = _REGISTER.fullmatch(name)
        if register is not None:
            thread, frame, number = (decimal(part, value) for part in register.groups())
            variable = self._terms.variable(f"{name}:{width}", width)
            self._meanings[variable] = RegisterName(thread, frame, number)
            return variable
        match = _CELL.fullmatch(name)
        if match is None:
            return self._other_variable(value, width)
        cell = self._cell(f"{match[1]}.{match[2]}", value)
        if width != 8 * cell.size:
            value.fail(f"a cell of {cell.size} bytes does not have {width} bits")
        variable = self._terms.variable(name, width)
        self._meanings[variable] = cell
        return variable

    def _other_variable(self, value: Value, width: int) -> int:
        value.fail("neither the name of a register nor of a cell")

    # --- cells

    def _cell(self, name: str, at: Value) -> Cell:
        address, dot, size = name.partition(".")
        cell = Cell(decimal(address, at), decimal(size, at) if dot else 0)
        if not 1 <= cell.size <= _LARGEST_CELL:
            at.fail(f"'{name[:40]}' is no cell ADDRESS.SIZE of at most {_LARGEST_CELL} bytes")
        self._cells.add(cell)
        return cell

    def _lock(self, value: Value) -> Cell:
        """A lock may consist of several cells, so it is none of those."""
        address, dot, size = value.text().partition(".")
        lock = Cell(decimal(address, value), decimal(size, value) if dot else 0)
        if not 1 <= lock.size <= _LARGEST_CELL:
            value.fail(f"no lock ADDRESS.SIZE of at most {_LARGEST_CELL} bytes")
        return lock

    def _value_of_cell(self, name: str, value: Value) -> int:
        cell = self._cell(name, value)
        return value.number((1 << 8 * cell.size) - 1)

    def _all_cells(self) -> tuple[Cell, ...]:
        cells = tuple(sorted(self._cells))
        for one, other in zip(cells, cells[1:]):
            if one.address + one.size > other.address:
                raise CertificateError(
                    f"certificate: the cells {one.address}.{one.size} and"
                    f" {other.address}.{other.size} overlap"
                )
        return cells

    # --- nodes

    def _nodes(self, value: Value) -> tuple[Node, ...]:
        items = value.items()
        if not items:
            value.fail("there is no node")
        nodes = tuple(self._node(number, item) for number, item in enumerate(items))
        self._check_tree(items, nodes)
        return nodes

    def _node(self, number: int, value: Value) -> Node:
        value.only("parent", "thread", "location", "label", "cover", "expanded", "persistent")
        parent, thread = value.field("parent"), value.field("thread")
        if (number == 0) != parent.is_null or parent.is_null != thread.is_null:
            value.fail("all nodes but the first have a parent and a thread")
        label = self._label(value)
        cover = value.field("cover")
        return Node(
            number,
            None if parent.is_null else parent.number(),
            None if thread.is_null else thread.number(_MOST_THREADS),
            self._location_at(value.field("location")),
            label,
            None if cover.is_null else cover.number(),
            tuple(item.number(_MOST_THREADS) for item in value.field("expanded").items()),
            value.field("persistent").number(_MOST_THREADS) if value.has("persistent") else None,
        )

    def _label(self, value: Value) -> tuple[int, ...]:
        label = tuple(self._term_at(item) for item in value.field("label").items())
        for term, item in zip(label, value.field("label").items()):
            if self._terms.width[term] != 1:
                item.fail("a label consists of truth values")
        return label

    def _check_tree(self, items: list[Value], nodes: tuple[Node, ...]) -> None:
        for value, node in zip(items, nodes):
            if node.parent is not None:
                if node.parent >= node.number:
                    value.field("parent").fail("a parent comes before its children")
                parent = nodes[node.parent]
                if parent.cover is not None:
                    value.field("parent").fail("a covered node has no children")
                if node.thread not in parent.expanded:
                    value.field("thread").fail("not expanded at the parent")
            if node.cover is not None:
                if node.cover >= len(nodes):
                    value.field("cover").fail("there is no such node")
                if nodes[node.cover].cover is not None:
                    value.field("cover").fail("a covering node is not covered itself")
                if node.expanded:
                    value.field("expanded").fail("nothing is expanded at a covered node")
            for thread in node.expanded:
                if not node.location.is_running(thread):
                    value.field("expanded").fail(f"thread {thread} is not running")
            if len(set(node.expanded)) != len(node.expanded):
                value.field("expanded").fail("a thread is expanded only once")
            if node.persistent is not None and node.expanded != (node.persistent,):
                value.field("persistent").fail("it is not the one thread that is expanded")

    def _location_at(self, value: Value) -> Location:
        """A location, or the number of one that was given before."""
        if not value.is_number:
            return self._location(value)
        if value.number() >= len(self._locations):
            value.fail("there is no such location")
        return self._locations[value.number()]

    def _thread_at(self, value: Value) -> Thread:
        if not value.is_number:
            return self._thread(value)
        if value.number() >= len(self._threads):
            value.fail("there is no such thread")
        return self._threads[value.number()]

    def _location(self, value: Value) -> Location:
        value.only("threads", "heap", "cells")
        threads = tuple(self._thread_at(item) for item in value.field("threads").items())
        if not 1 <= len(threads) <= _MOST_THREADS:
            value.field("threads").fail(f"between 1 and {_MOST_THREADS} threads expected")
        if sum(thread.is_inside for thread in threads) > 1:
            value.field("threads").fail("only one thread can be in an atomic section")
        return Location(threads, self._heap(value), self._known_cells(value))

    def _heap(self, value: Value) -> dict[int, tuple[int, str]]:
        heap: dict[int, tuple[int, str]] = {}
        for page, item in value.field("heap").numbered():
            size, storage = item.exactly(2)
            if storage.text() not in STORAGES or storage.text() == "stack":
                storage.fail("what objects are allocated as is expected")
            heap[page] = size.number(), storage.text()
        return heap

    def _known_cells(self, value: Value) -> dict[Cell, int | None]:
        cells: dict[Cell, int | None] = {}
        for name, item in value.field("cells").entries():
            cell = self._cell(name, item)
            cells[cell] = None if item.is_null else self._value_of_cell(name, item)
        return cells

    def _thread(self, value: Value) -> Thread:
        value.only("status", "depth", "lock", "heap_page", "stack_page", "frames")
        status = value.field("status")
        known = {item.value: item for item in Status}
        if status.text() not in known:
            status.fail(f"one of {', '.join(known)} expected")
        thread = Thread(
            known[status.text()],
            value.field("depth").number(),
            value.field("heap_page").number(),
            value.field("stack_page").number(),
            tuple(self._frame(item) for item in value.field("frames").items()),
            self._lock(value.field("lock")) if value.has("lock") else None,
        )
        if (thread.status is Status.RUNNING) != bool(thread.frames):
            value.fail("exactly the running threads have frames")
        if thread.status is not Status.RUNNING and any(
            (thread.is_inside, thread.heap_page, thread.stack_page)
        ):
            value.fail("the numbers of a thread that does not run are 0")
        return thread

    def _frame(self, value: Value) -> Frame:
        value.only("function", "location", "base", "allocated", "registers", "slots")
        allocated = []
        for item in value.field("allocated").items():
            page, size = item.exactly(2)
            allocated.append((page.number(), size.number()))
        return Frame(
            value.field("function").text(),
            value.field("location").number(),
            value.field("base").number(),
            tuple(allocated),
            {
                index: item.number((1 << _WIDEST) - 1)
                for index, item in value.field("registers").numbered()
            },
            {index: item.number() for index, item in value.field("slots").numbered()},
        )


def texts(value: Value) -> tuple[str, ...]:
    return tuple(sorted({item.text() for item in value.items()}))
