"""What a place of a template claims of a state: of that before the first step, behind a step of the
thread itself, behind a step that has started the thread, and behind a step of another one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

from plait.certificates.document import Cell, RegisterName
from plait.certificates.memory import Cells, Memory
from plait.certificates.state import ActiveFrame, Path
from plait.certificates.templates.addresses import Addresses
from plait.certificates.templates.document import (
    NOWHERE,
    NUMBER_BITS,
    PLACE_BITS,
    WIDTHS,
    AddressName,
    Ghost,
    GhostKind,
    TemplateCertificate,
)
from plait.certificates.templates.execute import PlaceSituation, TemplateExecutor
from plait.certificates.world import World
from plait.logic.substitute import Substitution
from plait.logic.terms import Terms


class State(Protocol):
    """A state as a thread sees it. `bases` are the first addresses of the objects that it has then,
    by the pages that they have at the place in question."""

    def register(self, frame: int, index: int) -> int: ...

    def cell(self, cell: Cell) -> int: ...

    def ghost(self, ghost: Ghost) -> int: ...

    def suspects(self) -> Iterable[Cell]: ...

    def known_value(self, value: int, bits: int) -> int: ...


def claims(
    certificate: TemplateCertificate, situation: PlaceSituation, state: State
) -> Iterator[tuple[int, str]]:
    """Truth values that must hold for the state to be one of a place, with words for each."""
    terms, place = certificate.terms, situation.place
    for depth, frame in enumerate(place.thread.frames):
        for index, value in frame.registers.items():
            term = state.register(depth, index)
            known = state.known_value(value, terms.width[term])
            if term != known:
                yield terms.eq(term, known), f"register {index} of frame {depth} is {value:#x}"
    for cell in sorted({*state.suspects(), *place.cells}):
        expected = situation.bytes.known(cell)
        if expected is not None:
            term = state.cell(cell)
            known = state.known_value(expected, terms.width[term])
            if term != known:
                what = f"the {cell.size} bytes at {cell.address:#x} have the value {expected:#x}"
                yield terms.eq(term, known), what
    substitution = Substitution(terms, meanings(certificate, state))
    for position, term in enumerate(place.label):
        yield substitution(term), f"conjunct {position} of the label holds"


def meanings(certificate: TemplateCertificate, state: State) -> Callable[[int], int | None]:
    """What variables of labels stand for in a state."""

    def meant(variable: int) -> int:
        meaning = certificate.meanings[variable]
        if isinstance(meaning, RegisterName):
            return state.register(meaning.frame, meaning.register)
        if isinstance(meaning, AddressName):
            return state.known_value(meaning.value, certificate.terms.width[variable])
        return state.ghost(meaning) if isinstance(meaning, Ghost) else state.cell(meaning)

    return meant


def ghost_variable(terms: Terms, ghost: Ghost) -> int:
    """As it is in the state before a step, for all but the number of the thread."""
    about = f" {ghost.place}"
    if ghost.cell is not None:
        about = f" {ghost.cell.address}.{ghost.cell.size}"
    return terms.variable(f"{ghost.kind.value} {ghost.template}{about}", WIDTHS[ghost.kind])


class Here:
    """A state of the place itself."""

    def __init__(self, terms: Terms, situation: PlaceSituation, myself: int) -> None:
        self._terms = terms
        self._situation = situation
        self._myself = myself

    def register(self, frame: int, index: int) -> int:
        return self._situation.register(self._situation.number, frame, index)

    def cell(self, cell: Cell) -> int:
        return self._situation.bytes.cell(cell)

    def ghost(self, ghost: Ghost) -> int:
        if ghost.kind is GhostKind.SELF:
            return self._myself
        return ghost_variable(self._terms, ghost)

    def suspects(self) -> Iterable[Cell]:
        return ()

    def known_value(self, value: int, bits: int) -> int:
        return self._situation.known_value(value, bits)


class Before:
    """The state in which the program starts, of its first thread."""

    def __init__(
        self, world: World, certificate: TemplateCertificate, addresses: Addresses
    ) -> None:
        self._world = world
        self._terms = certificate.terms
        self._certificate = certificate
        self._addresses = addresses
        self._contents = {item.page: item.contents for item in world.program.objects}
        self._arbitrary = {item.page for item in world.program.objects if item.indeterminate}
        self._memory = Memory(self._terms, self)

    def register(self, frame: int, index: int) -> int:
        entry = self._world.program.functions[self._world.program.entry]
        return self._terms.fresh("register at the start", entry.registers[index].type.bits)

    def byte(self, address: int) -> tuple[int, int]:
        """Of shared blocks, which do not exist yet, all variables count as 0."""
        world, terms = self._world, self._terms
        page = world.first_page(world.static_sizes, address >> world.page_bits)
        if page is not None and page not in self._arbitrary:
            offset = address - (page << world.page_bits)
            data = self._contents[page]
            if offset < len(data):
                return terms.constant(data[offset], 8), 0
        if page is None and self._addresses.is_in_block(address):
            return terms.constant(0, 8), 0
        return terms.variable(f"byte {address} at the start", 8), 0

    def cell(self, cell: Cell) -> int:
        return self._memory.read(cell.address, cell.size)

    def ghost(self, ghost: Ghost) -> int:
        number = 1 if ghost.kind in (GhostKind.SELF, GhostKind.LAST) else 0
        return self._terms.constant(number, WIDTHS[ghost.kind])

    def suspects(self) -> Iterable[Cell]:
        return self._certificate.initial

    def known_value(self, value: int, bits: int) -> int:
        """What is an address later is none of the numbers that memory begins with."""
        return self._addresses.meant(value, bits, 1, {}, {})


class Behind:
    """What a step leaves behind for all: memory and ghosts. `started` is the template of the thread
    that it has started, `target` the place of the one that has taken it, None if that is nowhere
    any more."""

    def __init__(
        self,
        certificate: TemplateCertificate,
        executor: TemplateExecutor,
        cells: Cells,
        path: Path,
        template: int,
        place: int,
        started: int | None,
    ) -> None:
        """`place` is where the thread was that has taken the step."""
        self.path = path
        self._place = place
        self.terms = certificate.terms
        self._executor = executor
        self._template = template
        self._started = started
        self.target: int | None = None
        self.written = frozenset(path.memory.changed(cells))

    def cell(self, cell: Cell) -> int:
        return self.path.memory.read(cell.address, cell.size)

    def ghost(self, ghost: Ghost) -> int:
        """Not for the number of a thread."""
        terms, before = self.terms, ghost_variable(self.terms, ghost)
        match ghost.kind:
            case GhostKind.LAST if self._started is not None:
                return self.new_number()
            case GhostKind.STARTED if ghost.template == self._started:
                return self._one_more(ghost)
            case GhostKind.LEFT if (ghost.template, ghost.place) == (self._template, self._place):
                return self._one_more(ghost)
            case GhostKind.BEGUN:
                return terms.true if ghost.template == self._started else before
            case GhostKind.PLACE if ghost.template == self._template:
                return terms.constant(NOWHERE if self.target is None else self.target, PLACE_BITS)
            case GhostKind.OWNER if ghost.cell in self.written:
                assert ghost.cell is not None
                return self._owner(ghost.cell, before)
        return before

    def changes(self, ghost: Ghost) -> bool:
        if ghost.kind is GhostKind.SELF:
            return False
        return self.ghost(ghost) != ghost_variable(self.terms, ghost)

    def _owner(self, cell: Cell, before: int) -> int:
        """Of a cell that the step has written: who makes it something else than 0."""
        terms, width = self.terms, 8 * cell.size
        zero, nobody = terms.constant(0, width), terms.constant(0, NUMBER_BITS)
        was, new = self.path.situation.bytes.cell(cell), self.cell(cell)
        taken = terms.ite(terms.eq(was, zero), self.number(), before)
        return terms.ite(terms.eq(new, zero), nobody, taken)

    def new_number(self) -> int:
        """Of a thread that the step starts."""
        return self._one_more(Ghost(GhostKind.LAST))

    def _one_more(self, ghost: Ghost) -> int:
        before = ghost_variable(self.terms, ghost)
        return self.terms.add(before, self.terms.constant(1, NUMBER_BITS))

    def number(self) -> int:
        if self.path.thread == 1:
            return self.terms.constant(1, NUMBER_BITS)
        return self._executor.myself


class BehindOwn:
    """The state behind a step of the thread itself, which comes to a place with some objects."""

    def __init__(
        self, behind: Behind, situation: PlaceSituation, addresses: Addresses, suspects: set[Cell]
    ) -> None:
        self._behind = behind
        self._path = behind.path
        self._situation = situation  # of the place that it comes to
        self._addresses = addresses
        self._suspects = suspects
        assert isinstance(self._path.situation, PlaceSituation)
        self._bases = self._path.bases or self._path.situation.bases

    def register(self, frame: int, index: int) -> int:
        return self._path.frames[frame].registers[index]

    def cell(self, cell: Cell) -> int:
        return self._behind.cell(cell)

    def ghost(self, ghost: Ghost) -> int:
        if ghost.kind is GhostKind.SELF:
            return self._behind.number()
        return self._behind.ghost(ghost)

    def suspects(self) -> Iterable[Cell]:
        return self._suspects

    def known_value(self, value: int, bits: int) -> int:
        heap = self._situation.place.heap
        return self._addresses.meant(value, bits, self._situation.number, heap, self._bases)


class BehindBeginning:
    """The state in which a new thread is at its first place. `pages` says which page the objects
    that it has there have had at the thread that has started it."""

    def __init__(
        self,
        behind: Behind,
        situation: PlaceSituation,
        addresses: Addresses,
        world: World,
        pages: dict[int, int],
    ) -> None:
        self._behind = behind
        self._page_bits = world.page_bits
        self._situation = situation
        self._addresses = addresses
        self._pages = pages
        path, terms = behind.path, behind.terms
        assert isinstance(path.situation, PlaceSituation)
        bases = path.bases or path.situation.bases
        self._bases = {page: bases[there] for page, there in pages.items()}
        self.arena = terms.fresh("arena of the new thread", addresses.pointer_bits)
        self._own = Memory(terms, self)
        for item, page in world.space.thread_local_copies(situation.number):
            self._own.create(page << world.page_bits, item.size, item.contents)

    def register(self, frame: int, index: int) -> int:
        started: ActiveFrame = self._behind.path.spawned[0]
        return started.registers[index]

    def byte(self, address: int) -> tuple[int, int]:
        """What was left behind in the thread's part of the address space."""
        return self._behind.terms.fresh(f"byte {address} of the new thread", 8), 0

    def cell(self, cell: Cell) -> int:
        if self._addresses.is_shared(cell.address):
            return self._behind.cell(cell)
        for page, there in self._pages.items():
            size = self._situation.place.heap[page][0]
            if self._addresses.is_inside(cell.address, page, size):
                offset = (there - page) << self._page_bits
                return self._behind.path.memory.read(cell.address + offset, cell.size)
        return self._own.read(cell.address, cell.size)

    def ghost(self, ghost: Ghost) -> int:
        if ghost.kind is GhostKind.SELF:
            return self._behind.new_number()
        return self._behind.ghost(ghost)

    def suspects(self) -> Iterable[Cell]:
        return self._situation.initial

    def known_value(self, value: int, bits: int) -> int:
        number, heap = self._situation.number, self._situation.place.heap
        return self._addresses.meant(value, bits, number, heap, self._bases, self.arena)
