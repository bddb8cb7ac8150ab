"""What a node claims about a state that comes to it: known values, and its label."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

from plait.certificates.document import Cell, Certificate, Node, RegisterName
from plait.certificates.memory import Byte, Cells, Memory
from plait.certificates.state import Path, Situation
from plait.certificates.world import World
from plait.logic.substitute import Substitution
from plait.logic.terms import Terms
from plait.model.program import Function


class State(Protocol):
    """A state that a node has to represent. `suspects` are the cells that may differ there from
    what is known by default."""

    def register(self, thread: int, frame: int, index: int) -> int: ...

    def cell(self, cell: Cell) -> int: ...

    def suspects(self) -> Iterable[Cell]: ...


class AfterStep:
    """The state that one path of a step leads to."""

    def __init__(self, path: Path, cells: Cells) -> None:
        self._path = path
        self._cells = cells

    def register(self, thread: int, frame: int, index: int) -> int:
        return self._path.register(thread, frame, index)

    def cell(self, cell: Cell) -> int:
        return self._path.memory.read(cell.address, cell.size)

    def suspects(self) -> Iterable[Cell]:
        yield from self._path.situation.location.cells
        yield from self._path.memory.changed(self._cells)


class AtNode:
    """The states of a node themselves, for covering."""

    def __init__(self, situation: Situation) -> None:
        self._situation = situation

    def register(self, thread: int, frame: int, index: int) -> int:
        return self._situation.register(thread, frame, index)

    def cell(self, cell: Cell) -> int:
        return self._situation.bytes.cell(cell)

    def suspects(self) -> Iterable[Cell]:
        return self._situation.location.cells


class AtStart:
    """The initial states: static objects have their initial contents, all else is arbitrary."""

    def __init__(self, world: World, terms: Terms, certificate: Certificate) -> None:
        self._world = world
        self._terms = terms
        self._initial = certificate.initial
        self._contents = {item.page: item.contents for item in world.program.objects}
        self._arbitrary = {item.page for item in world.program.objects if item.indeterminate}
        self._memory = Memory(terms, self)

    def entry(self) -> Function:
        return self._world.program.functions[self._world.program.entry]

    def register(self, thread: int, frame: int, index: int) -> int:
        bits = self.entry().registers[index].type.bits
        return self._terms.variable(f"register {index} at the start", bits)

    def byte(self, address: int) -> Byte:
        world = self._world
        page = world.first_page(world.static_sizes, address >> world.page_bits)
        if page is not None and page not in self._arbitrary:
            offset = address - (page << world.page_bits)
            data = self._contents[page]
            if offset < len(data):
                return self._terms.constant(data[offset], 8), 0
        return self._terms.variable(f"byte {address} at the start", 8), 0

    def cell(self, cell: Cell) -> int:
        return self._memory.read(cell.address, cell.size)

    def suspects(self) -> Iterable[Cell]:
        return self._initial


def claims(
    certificate: Certificate, node: Node, situation: Situation, state: State
) -> Iterator[tuple[int, str]]:
    """Truth values that must hold for the node to represent the state, with words for each;
    `situation` is that of the node."""
    terms = certificate.terms
    for number in node.location.running:
        for depth, frame in enumerate(node.location.threads[number - 1].frames):
            for index, value in frame.registers.items():
                term = state.register(number, depth, index)
                known = terms.constant(value, terms.width[term])
                if term != known:
                    what = f"register {index} of frame {depth} of thread {number} is {value}"
                    yield terms.eq(term, known), what
    for cell in sorted({*state.suspects(), *node.location.cells}):
        expected = situation.bytes.known(cell)
        if expected is not None:
            term = state.cell(cell)
            known = terms.constant(expected, terms.width[term])
            if term != known:
                what = f"the {cell.size} bytes at {cell.address:#x} have the value {expected}"
                yield terms.eq(term, known), what
    substitution = Substitution(terms, lambda variable: _meant(certificate, state, variable))
    for place, term in enumerate(node.label):
        yield substitution(term), f"conjunct {place} of the label holds"


def _meant(certificate: Certificate, state: State, variable: int) -> int | None:
    meaning = certificate.meanings[variable]
    if isinstance(meaning, RegisterName):
        return state.register(*meaning)
    return state.cell(meaning)
