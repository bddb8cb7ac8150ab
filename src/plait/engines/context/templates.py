"""Threads by the way they begin, not by their number: what one instance of each can do.

A *template* stands for all threads that begin alike: the initial thread, and for each way to spawn
one the threads that are made so. The blocks of one instance are executed in a location where nobody
else is (`plait.symbolic`), so they say what the instance does whatever the others have done before:
all that is shared is a variable there. What this needs, and why it is sound:

- Threads share static objects. Everything else that an instance uses is its own: locals, its copies
  of thread-local objects, what it has allocated. An access to an object of another thread finds no
  live object and is a trouble, which a proof has to exclude. So instances need not have addresses
  of their own, as long as the program cannot tell addresses (`address_as_number`).
- The values of shared static objects are never part of a location that others may disturb.
- The control block through which a thread gets its function and its argument belongs to the
  new thread as far as these two are concerned (nobody else touches them: `_check_blocks`). The rest
  of it is shared with whoever joins; its values are never known here.
- Two instances of a template differ by their numbers. A program that cannot tell numbers apart
  (`thread_number_as_number`) or calculate with them (`calculation_with_number`) does the same under
  another numbering, so that what holds of the instances `one` and `other` holds of any two. Their
  own objects have addresses that derive from their numbers: no other thread gets hold of one
  (`_check_escapes`).
"""

from __future__ import annotations

from collections.abc import Iterator

from plait.analysis.addresses import address_as_number
from plait.analysis.graph import cyclic_nodes
from plait.analysis.lifetimes import Lifetimes
from plait.analysis.objects import ObjectKind, members
from plait.analysis.sharing import Sharing
from plait.analysis.thread_numbers import calculation_with_number, thread_number_as_number
from plait.data import dataclass, field, replace
from plait.engines.interface import OutOfTime
from plait.logic.interpolation.path import Step
from plait.logic.terms import Terms
from plait.model.actions import Allocate, Origin, Spawn, expressions_of
from plait.model.expressions import Binary, BinaryOp, Const, Expr, children
from plait.model.program import Edge, Function, Program
from plait.symbolic.blocks import Kind, Way
from plait.symbolic.execute import Executor
from plait.symbolic.knowledge import Knowledge
from plait.symbolic.locations import (
    ENDED,
    Cell,
    Frame,
    HeapObject,
    Location,
    Status,
    Thread,
)
from plait.symbolic.variables import cell_of, cell_variable, register_of, register_variable

MOST_TEMPLATES = 8
_MOST_LOCATIONS = 600
_SOMEBODY = Thread(Status.RUNNING, 0, None, 0, 0, ())


class GaveUp(Exception):
    """The program is not one that this engine can say anything about."""


@dataclass(slots=True, eq=False)
class Beginning:
    """A thread that a transition starts: a place of a template, and the terms of the values that
    its variables have there. What is not among `values` is not known."""

    template: int
    place: int
    values: dict[int, int]


@dataclass(slots=True, eq=False)
class Transition:
    """What an instance can do in one step at a place. `target` is None where it does nothing
    afterwards: it has ended, is stuck behind a failed assumption, or has come to a violation."""

    source: int
    target: int | None
    kind: Kind
    step: Step
    origin: Origin
    begins: tuple[Beginning, ...] = ()
    message: str = ""


@dataclass(slots=True, eq=False)
class Instance:
    """The places of one instance and what it can do there. `is_open` tells places where others can
    take steps: all but those inside of atomic sections, and those before the first spawn."""

    number: int
    places: list[Location] = field(default_factory=list)
    index: dict[Location, int] = field(default_factory=dict)
    is_open: list[bool] = field(default_factory=list)
    transitions: list[Transition] = field(default_factory=list)


@dataclass(slots=True, frozen=True)
class Entry:
    """How a thread begins, whatever its number: its function, the known values of its registers
    and of cells (those of the thread's own by their distance from its arena), and the control
    block it gets."""

    function: str
    registers: tuple[tuple[int, int], ...]
    cells: tuple[tuple[Cell, int | None], ...]
    own_cells: tuple[tuple[Cell, int | None], ...]
    block: HeapObject


@dataclass(slots=True, eq=False)
class Template:
    """`one` is the instance that invariants are proved of; `other` stands for the rest of them,
    with the same places and transitions, and is None if there is only one instance."""

    name: str
    entry: Entry | None
    one: Instance
    other: Instance | None = None
    is_multiple: bool = False


class Templates:
    """All templates of a program. `threads` is the number of slots for instances."""

    def __init__(
        self,
        program: Program,
        sharing: Sharing,
        knowledge: Knowledge,
        executor: Executor,
        terms: Terms,
        deadline: float | None,
    ) -> None:
        self._program = program
        self._sharing = sharing
        self._knowledge = knowledge
        self._executor = executor
        self._terms = terms
        self._deadline = deadline
        self._numbers = _free_numbers(program, knowledge)
        self._slots = max(self._numbers) + 1
        self._block_edges = self._find_block_edges()
        self._has_other_allocations = any(
            isinstance(edge.action, Allocate) and edge not in self._block_edges
            for name in sharing.points_to.reachable_functions
            for edge in program.functions[name].all_edges()
        )
        self._check()
        self._handed = self._find_handed()
        self._shared_cells = self._find_shared_cells()
        self._block_cells: set[Cell] = set()  # of control blocks, which nobody has for himself
        self._entries: dict[Entry, int] = {}
        self._creations: list[list[tuple[int, int]]] = []  # templates and places of creators
        self.all: list[Template] = []
        self._explore_all()

    def is_static(self, address: int) -> bool:
        """Whether an address belongs to an object that lives as long as the program."""
        return self._knowledge.first_page(address >> self._knowledge.page_bits) is not None

    def is_own(self, variable: int, template: Template) -> bool:
        """Whether only the template's instance itself changes a variable: a register, a cell of an
        object of its own, or what it is handed in its control block."""
        number = template.one.number
        name = self._terms.name[variable]
        register = register_of(name)
        if register is not None:
            return register.thread == number
        cell = cell_of(name)
        if cell is None or self.is_static(cell[0]):
            return False
        first, last = self._bounds(number)
        if self.is_handed(variable, template):
            return True
        return first <= cell[0] < last and cell not in self._block_cells

    def is_handed(self, variable: int, template: Template) -> bool:
        """Whether it is a part of the control block that an instance reads when it begins."""
        cell = cell_of(self._terms.name[variable])
        if cell is None or template.entry is None:
            return False
        base = template.entry.block.page << self._knowledge.page_bits
        return (cell[0] - base, cell[1]) in self._handed

    def is_alone(self, instance: Instance, place: int) -> bool:
        """Whether no thread has been started yet."""
        somebody = instance.places[place].threads[self._slots - 1]
        return somebody.status is not Status.RUNNING

    def numbers(self) -> list[int]:
        """Of all instances but the initial thread."""
        found = [self._slots + 1]
        for template in self.all[1:]:
            found.append(template.one.number)
            if template.other is not None:
                found.append(template.other.number)
        return found

    # --- what must hold

    def _check(self) -> None:
        points_to = self._sharing.points_to
        for edge in (thread_number_as_number(points_to), address_as_number(points_to)):
            if edge is not None:
                place = self._program.place(edge.action.origin)
                raise GaveUp(f"the program tells numbers of threads or addresses apart ({place})")
        for name in points_to.reachable_functions:
            if calculation_with_number(self._program.functions[name]) is not None:
                raise GaveUp(f"{name} calculates with the number of a thread")
        for item in Lifetimes(self._sharing).reused():
            raise GaveUp(f"a pointer to {item!r} may outlive it, and its memory is used again here")
        self._check_escapes()
        self._check_identities()

    def _check_escapes(self) -> None:
        """Facts of other templates must not name addresses in the memory of an instance: those that
        they see here are of one instance, and there are others."""
        points_to = self._sharing.points_to
        created = {
            points_to.instances[number].function.name
            for thread in self._sharing.threads[1:]
            for number in thread.instances
        }
        for item in points_to.objects:
            if not item.is_per_instance or item.edge in self._block_edges:
                continue
            is_of_created = item.kind is ObjectKind.THREAD_LOCAL or item.function in created
            if is_of_created and self._sharing.has_escaped(item):
                raise GaveUp(f"threads have their own {item!r}, and other threads reach it")

    def _find_block_edges(self) -> frozenset[Edge]:
        """The allocations of control blocks: what a spawn passes on in the library."""
        points_to = self._sharing.points_to
        found: set[Edge] = set()
        for arc in points_to.arcs:
            action = arc.edge.action
            if not arc.is_spawn or not isinstance(action, Spawn):
                continue
            caller = points_to.instances[arc.caller]
            for number in members(points_to.object_mask(points_to.mask(caller, action.argument))):
                item = points_to.objects[number]
                if item.edge is not None and item.function == caller.function.name:
                    if caller.function.library:
                        found.add(item.edge)
        return frozenset(found)

    def _check_identities(self) -> None:
        """All blocks of a spawn have one address here, so nobody may ask whether two are the same
        one."""
        points_to = self._sharing.points_to
        blocks = sum(
            1 << item.index for item in points_to.objects if item.edge in self._block_edges
        )
        for name in points_to.reachable_functions:
            for instance in points_to.instances_of[name]:
                for edge in instance.template.edges:
                    for left, right in _comparisons(expressions_of(edge.action)):
                        mask = points_to.object_mask(points_to.mask(instance, left))
                        mask &= points_to.object_mask(points_to.mask(instance, right))
                        if mask & blocks:
                            place = self._program.place(edge.action.origin)
                            raise GaveUp(f"identities of threads are compared ({place})")

    def _find_handed(self) -> frozenset[tuple[int, int]]:
        """The parts of control blocks that the first function of a thread reads. Nobody else writes
        them but the function that creates the thread, before it does."""
        roots = {thread.function for thread in self._sharing.threads[1:]}
        handed = {
            (offset, size)
            for function, offset, size, _ in self._block_accesses()
            if function.name in roots
        }
        for function, offset, size, is_write in self._block_accesses():
            may_write = function.library and (
                function.name in roots
                or any(isinstance(edge.action, Spawn) for edge in function.all_edges())
            )
            if not is_write or may_write:
                continue
            for start, width in handed:
                if offset is None or start is None:
                    raise GaveUp("control blocks of threads are accessed at unknown places")
                if offset < start + width and start < offset + size:
                    raise GaveUp("what a thread is handed may change before it begins")
        return frozenset((offset, size) for offset, size in handed if offset is not None)

    def _block_accesses(self) -> Iterator[tuple[Function, int | None, int, bool]]:
        points_to = self._sharing.points_to
        memory = points_to.memory
        for instance, row in zip(points_to.instances, self._sharing.accesses, strict=True):
            for access in row:
                for place in members(access.locations):
                    item = memory.objects[memory.location_object[place]]
                    if item.edge in self._block_edges:
                        offset = memory.location_offset[place]
                        yield instance.function, offset, access.size, bool(access.writes)

    def _find_shared_cells(self) -> dict[Cell, None]:
        """Cells of static objects whose values may change behind a thread's back, and of which a
        location could say what they are."""
        found: dict[Cell, None] = {}
        for item in self._sharing.points_to.objects:
            static = item.static
            if item.kind is not ObjectKind.STATIC or static is None:
                continue
            if not self._sharing.is_shared(item):
                continue
            divided = self._knowledge.cells_of(static, static.size)
            if divided is None:
                raise GaveUp(f"{static.name} has too many parts")
            for offset, size in divided:
                if 8 * size == self._knowledge.pointer.bits:
                    found[(static.page << self._knowledge.page_bits) + offset, size] = None
        return found

    # --- exploration

    def _explore_all(self) -> None:
        start = self._executor.start()
        threads = [*start.threads, *([ENDED] * (self._slots - 1))]
        first = Location(tuple(threads), start.heap, start.cells)
        self._add(Template(self._program.entry, None, Instance(1)), first)
        done = 0
        while done < len(self.all):
            self._explore(done, self.all[done].one)
            done += 1
        self._count_instances()
        for template in self.all:
            if template.is_multiple:
                assert template.entry is not None
                other = template.other = Instance(self._numbers.pop())
                self._place(other, self._entry_location(template.entry, other.number))
                self._explore(None, other)
                if [(t.source, t.target, t.kind) for t in other.transitions] != [
                    (t.source, t.target, t.kind) for t in template.one.transitions
                ]:
                    raise GaveUp("two threads that begin alike do different things")

    def _add(self, template: Template, entry: Location) -> None:
        self.all.append(template)
        self._creations.append([])
        self._place(template.one, entry)

    def _count_instances(self) -> None:
        """A template has several instances if several places may start one, or one place may do
        so more than once, or a creator has several instances."""
        cyclic = [cyclic_nodes(_successors(item.one)) for item in self.all]
        has_changed = True
        while has_changed:
            has_changed = False
            for template, creations in zip(self.all, self._creations, strict=True):
                is_multiple = len(creations) > 1 or any(
                    place in cyclic[creator] or self.all[creator].is_multiple
                    for creator, place in creations
                )
                if is_multiple and not template.is_multiple:
                    template.is_multiple = has_changed = True

    def _place(self, instance: Instance, location: Location) -> int:
        found = instance.index.get(location)
        if found is None:
            found = instance.index[location] = len(instance.places)
            if found >= _MOST_LOCATIONS:
                raise GaveUp(f"a thread can be at more than {_MOST_LOCATIONS} places")
            instance.places.append(location)
            own = location.threads[instance.number - 1]
            is_alone = location.threads[self._slots - 1].status is not Status.RUNNING
            instance.is_open.append(own.depth == 0 and not is_alone)
        return found

    def _explore(self, template: int | None, instance: Instance) -> None:
        """`template` is None for an instance that only repeats what another one does."""
        done = 0
        while done < len(instance.places):
            OutOfTime.check(self._deadline)
            location = instance.places[done]
            if location.threads[instance.number - 1].status is Status.RUNNING:
                for way in self._executor.block(location, instance.number).ways:
                    instance.transitions.append(self._transition(template, instance, done, way))
            done += 1

    def _transition(
        self, template: int | None, instance: Instance, source: int, way: Way
    ) -> Transition:
        if way.target is None:
            return Transition(source, None, way.kind, way.step, way.origin, message=way.message)
        location = way.target
        spawned = location.threads[self._slots :]
        updates = dict(way.step.updates)
        begins = []
        if spawned:
            if len(spawned) > 1:
                raise GaveUp("a step starts several threads")
            if instance.number != 1:
                raise GaveUp("threads that start threads")
            begun = self._beginning(location, spawned[0], updates)
            if template is not None:
                self._creations[begun.template].append((template, source))
            begins.append(begun)
        settled = self._settled(instance, instance.places[source], location, updates)
        own = settled.threads[instance.number - 1]
        target = self._place(instance, settled) if own.status is Status.RUNNING else None
        step = Step(way.step.assumes, updates, way.step.inputs)
        return Transition(source, target, way.kind, step, way.origin, tuple(begins))

    def _settled(
        self, instance: Instance, before: Location, after: Location, updates: dict[int, int]
    ) -> Location:
        """The location as far as nobody else can change it."""
        number = instance.number
        own = after.threads[number - 1]
        has_spawned = len(after.threads) > self._slots
        is_alone = not has_spawned and after.threads[self._slots - 1].status is not Status.RUNNING
        if is_alone:
            return after
        cells = dict(after.cells)
        for cell in self._shared_cells:
            value = cells.get(cell)
            if value is not None:
                updates[cell_variable(self._terms, cell)] = self._terms.constant(value, 8 * cell[1])
            cells[cell] = None
        heap = after.heap
        if has_spawned:
            heap = tuple(item for item in heap if not self._is_new_block(before, item))
            if not self._has_other_allocations:
                own = replace(own, heap_page=before.threads[number - 1].heap_page)
        for item in after.heap:
            if item.edge in self._block_edges:
                self._forget(item, cells, updates, is_gone=item not in heap)
        threads = [ENDED] * self._slots
        threads[self._slots - 1] = _SOMEBODY
        threads[number - 1] = own
        known = ((cell, value) for cell, value in cells.items())
        return Location(tuple(threads), heap, tuple(sorted(known, key=lambda row: row[0])))

    def _is_new_block(self, before: Location, item: HeapObject) -> bool:
        return item.edge in self._block_edges and item not in before.heap

    def _forget(
        self,
        block: HeapObject,
        cells: dict[Cell, int | None],
        updates: dict[int, int],
        *,
        is_gone: bool,
    ) -> None:
        """The contents of a control block: others may have changed them, but not what a thread is
        handed in its own."""
        base = block.page << self._knowledge.page_bits
        for cell in self._cells_of(block):
            self._block_cells.add(cell)
            if not is_gone and (cell[0] - base, cell[1]) in self._handed:
                continue
            updates.pop(cell_variable(self._terms, cell), None)
            if is_gone:
                cells.pop(cell, None)
            else:
                cells[cell] = None

    def _cells_of(self, block: HeapObject) -> list[Cell]:
        divided = self._knowledge.cells_of(block.edge, block.size)
        if divided is None:
            raise GaveUp("a control block has too many parts")
        base = block.page << self._knowledge.page_bits
        return [(base + offset, size) for offset, size in divided]

    # --- threads that begin

    def _beginning(self, location: Location, thread: Thread, updates: dict[int, int]) -> Beginning:
        """The new thread, in a location of its own. What `updates` says of its variables is taken
        out of them."""
        terms, knowledge = self._terms, self._knowledge
        known = dict(location.cells)
        [frame] = thread.frames
        block = self._block_of(location, frame)
        cells: dict[Cell, int | None] = {}
        values: dict[int, int] = {}
        base = block.page << knowledge.page_bits
        for offset, size in self._handed:
            cell = base + offset, size
            variable = cell_variable(terms, cell)
            value = known.get(cell)
            if value is not None:
                cells[cell] = value
            elif variable in updates:
                values[variable] = updates[variable]
        for cell, value in location.cells:
            if knowledge.first_page(cell[0] >> knowledge.page_bits) is not None:
                cells[cell] = value
        for cell in self._shared_cells:
            value = known.get(cell)
            if value is not None:
                values[cell_variable(terms, cell)] = terms.constant(value, 8 * cell[1])
            cells[cell] = None
        first, last = self._bounds(self._slots + 1)
        own_cells = tuple(
            ((address - first, size), value)
            for (address, size), value in location.cells
            if first <= address < last
        )
        registers = frame.registers
        entry = Entry(frame.function, registers, tuple(sorted(cells.items())), own_cells, block)
        template = self._entries.get(entry)
        if template is None:
            if len(self.all) >= MOST_TEMPLATES:
                raise GaveUp("threads begin in too many ways")
            template = self._entries[entry] = len(self.all)
            instance = Instance(self._numbers.pop())
            name = self._name(frame.function, cells)
            self._add(Template(name, entry, instance), self._entry_location(entry, instance.number))
        number = self.all[template].one.number
        for variable in list(updates):
            here = self.of_other_thread(variable, self._slots + 1, number)
            if here is not None:
                values[here] = updates.pop(variable)
        return Beginning(template, 0, values)

    def _block_of(self, location: Location, frame: Frame) -> HeapObject:
        bits = self._knowledge.page_bits
        passed = {value for _, value in frame.registers}
        for item in location.heap:
            if item.edge in self._block_edges and item.page << bits in passed:
                return item
        raise GaveUp("a thread begins without a control block of its own")

    def _name(self, function: str, cells: dict[Cell, int | None]) -> str:
        """The user's function that the thread is for."""
        for value in cells.values():
            found = None if value is None else self._knowledge.functions.get(value)
            if found is not None:
                return found.name
        return function

    def _bounds(self, number: int) -> tuple[int, int]:
        """The addresses of a thread's arena."""
        first, last = self._knowledge.space.arena(number)
        return first << self._knowledge.page_bits, last << self._knowledge.page_bits

    def of_other_thread(self, variable: int, one: int, other: int) -> int | None:
        """The same variable of another thread; None if it is not the thread's own."""
        name = self._terms.name[variable]
        register = register_of(name)
        bits = self._terms.width[variable]
        if register is not None:
            if register.thread != one:
                return None
            return register_variable(self._terms, other, register.depth, register.register, bits)
        cell = cell_of(name)
        first, last = self._bounds(one)
        if cell is None or not first <= cell[0] < last:
            return None
        return cell_variable(self._terms, (cell[0] - first + self._bounds(other)[0], cell[1]))

    def _entry_location(self, entry: Entry, number: int) -> Location:
        knowledge = self._knowledge
        _, top = knowledge.space.arena(number)
        shape = knowledge.shape(entry.function)
        frame = Frame(entry.function, 0, top, (), entry.registers, ())
        own = Thread(
            Status.RUNNING,
            0,
            None,
            knowledge.space.heap_start(number),
            top - shape.frame_pages,
            (frame,),
        )
        threads = [ENDED] * self._slots
        threads[self._slots - 1] = _SOMEBODY
        threads[number - 1] = own
        first, _ = self._bounds(number)
        cells = dict(entry.cells)
        for (offset, size), value in entry.own_cells:
            cells[first + offset, size] = value
        return Location(tuple(threads), (entry.block,), tuple(sorted(cells.items())))


def _successors(instance: Instance) -> list[list[int]]:
    rows: list[list[int]] = [[] for _ in instance.places]
    for item in instance.transitions:
        if item.target is not None:
            rows[item.source].append(item.target)
    return rows


def _free_numbers(program: Program, knowledge: Knowledge) -> list[int]:
    """Numbers for instances that the program does not mention, so that no formula can take one
    for something else."""
    mentioned: set[int] = set()
    for function in program.functions.values():
        for edge in function.all_edges():
            pending = list(expressions_of(edge.action))
            while pending:
                item = pending.pop()
                if isinstance(item, Const) and isinstance(item.value, int):
                    mentioned |= {item.value - 1, item.value, item.value + 1}
                pending.extend(children(item))
    last = min(knowledge.space.most_threads - 2, 1000)
    free = [number for number in range(2, last) if number not in mentioned]
    if len(free) < 2 * MOST_TEMPLATES:
        raise GaveUp("the program has too many small numbers")
    return free[: 2 * MOST_TEMPLATES]


def _comparisons(expressions: tuple[Expr, ...]) -> Iterator[tuple[Expr, Expr]]:
    pending = list(expressions)
    while pending:
        item = pending.pop()
        if isinstance(item, Binary) and item.op in (BinaryOp.EQ, BinaryOp.NE):
            if not isinstance(item.left, Const) and not isinstance(item.right, Const):
                yield item.left, item.right
        pending.extend(children(item))
