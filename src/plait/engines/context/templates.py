"""Threads by the way they begin, not by their number: what one instance of each can do.

A *template* stands for all threads that begin alike: the initial thread, and for each way to spawn
one the threads that are made so. The blocks of one instance are executed in a location where nobody
else is (`plait.symbolic`), so they say what the instance does whatever the others have done before:
all that is shared is a variable there. What this needs, and why it is sound:

- Threads share static objects, and the control blocks of threads that there is one of. Everything
  else that an instance uses is its own: locals, its copies of thread-local objects, what it has
  allocated. An access to an object of another thread finds no live object and is a trouble, which a
  proof has to exclude. So instances need not have addresses of their own, as long as the program
  cannot tell addresses (`address_as_number`).
- The values of what is shared are never part of a location that others may disturb.
- Two instances of a template differ by their numbers. A program that cannot tell numbers apart
  (`thread_number_as_number`) or calculate with them (`calculation_with_number`) does the same under
  another numbering, so that what holds of the instances `one` and `other` holds of any two. Their
  own objects have addresses that derive from their numbers: no other thread gets hold of one
  (`_check_escapes`).

Identities (`pthread_t`) are addresses of control blocks (`control_blocks`).

- A creation that happens at most once in any execution (its place is on no cycle of its creator, of
  whom there is one, and no other place is like it) makes a thread that there is one of. Its control
  block keeps the address that the creator has given it. The creator's allocations never come to one
  address twice on one path, and instances have arenas of their own. So two such identities are
  equal in the model only if they are those of one thread, or of threads of which an execution has
  one. The block lives in the locations of all others from the beginning: nobody knows its address
  before the creation, and a variable of a block that is not there yet counts as 0. Whatever is in
  it and not handed is a shared variable, so that joins are steps like any other: `done` of the
  block tells the joining thread what the ended one has left behind.
- Of all other threads there may be many. The control block of an instance is in its own arena, like
  all that is its own, so `one` and `other` have different identities, and what the analyses say of
  numbers is asked of these, too (`Variables.numbers`). Its creator forgets the identity
  (`_forget_identity`): it is any value, also one that is no identity at all. So a join of such a
  thread is an access to no object, or to a block of the kind above; a proof has to exclude the
  first.

Which creations happen once is not known before all is explored. So creations are taken to be unique
until they are seen not to be, and all begins anew (`_Repeated`); what holds in the last round was
true from its beginning.
"""

from __future__ import annotations

from collections.abc import Iterator

from plait.analysis.addresses import address_as_number
from plait.analysis.graph import cyclic_nodes
from plait.analysis.lifetimes import Lifetimes
from plait.analysis.objects import ObjectKind
from plait.analysis.sharing import Sharing
from plait.analysis.thread_numbers import calculation_with_number, thread_number_as_number
from plait.data import dataclass, field, replace
from plait.engines.context.control_blocks import ControlBlocks
from plait.engines.context.giving_up import GaveUp
from plait.engines.interface import OutOfTime
from plait.logic.interpolation.path import Step
from plait.logic.terms import Terms
from plait.model.actions import (
    AtomicBegin,
    Call,
    Load,
    Origin,
    ReadModifyWrite,
    Store,
    expressions_of,
)
from plait.model.expressions import Const, FunctionAddress, children
from plait.model.program import Edge, Program
from plait.symbolic.blocks import Block, Kind, Way
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
_MOST_ROUNDS = 12
_SOMEBODY = Thread(Status.RUNNING, 0, None, 0, 0, ())


# Where a thread was created: by which creation its creator was, and where that stands afterwards
# (calls, with the known values of registers that are no addresses), and what it is handed.
Creation = tuple[object, ...]


class _Repeated(Exception):
    """Creations that were taken to be unique are not, or there are more threads that are."""


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
    way: Way  # through a block; the step may do more than that of the way
    begins: tuple[Beginning, ...] = ()

    @property
    def origin(self) -> Origin:
        return self.way.origin

    @property
    def message(self) -> str:
        return self.way.message


@dataclass(slots=True, frozen=True)
class SharedAccess:
    """Bytes of what threads share that the next action at a place may access, `when` a symbolic
    address leads there."""

    address: int
    size: int
    is_write: bool
    is_atomic: bool
    when: int | None
    origin: Origin

    def races_with(self, other: SharedAccess) -> bool:
        """If both are possible next, and their addresses are the same."""
        return (
            (self.is_write or other.is_write)
            and not (self.is_atomic and other.is_atomic)
            and self.address < other.address + other.size
            and other.address < self.address + self.size
        )


@dataclass(slots=True, eq=False)
class Instance:
    """The places of one instance and what it can do there. `is_open` tells places where others can
    take steps: all but those inside of atomic sections, and those before the first spawn."""

    number: int
    places: list[Location] = field(default_factory=list)
    index: dict[Location, int] = field(default_factory=dict)
    is_open: list[bool] = field(default_factory=list)
    transitions: list[Transition] = field(default_factory=list)
    accesses: list[tuple[SharedAccess, ...]] = field(default_factory=list)  # at each place


@dataclass(slots=True, frozen=True)
class Entry:
    """How a thread begins, whatever its number: its function, the known values of cells (those of
    the thread's own by their distance from its arena, those of its control block by their offset in
    it), and the control block it gets. Its page is None if that is in the thread's arena."""

    function: str
    cells: tuple[tuple[Cell, int | None], ...]
    own_cells: tuple[tuple[Cell, int | None], ...]
    handed: tuple[tuple[Cell, int], ...]
    page: int | None
    size: int
    storage: str
    edge: Edge


@dataclass(slots=True, eq=False)
class Template:
    """`one` is the instance that invariants are proved of; `other` stands for the rest of them,
    with the same places and transitions, and is None if there is only one instance. `creation` is
    one that makes it."""

    name: str
    entry: Entry | None
    one: Instance
    creation: Creation = ()
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
        most_locations: int,
    ) -> None:
        self._most_locations = most_locations
        self._program = program
        self._sharing = sharing
        self._knowledge = knowledge
        self._executor = executor
        self._terms = terms
        self._deadline = deadline
        self._free_numbers = _free_numbers(program, knowledge)
        self._slots = max(self._free_numbers) + 1
        self._blocks = ControlBlocks(sharing)
        self._further: dict[int, int] = {}  # of instances by their numbers, to templates
        self._check()
        self._shared_cells = self._find_shared_cells()
        self._repeated: set[Creation] = set()
        # The control blocks of threads that there is one of, by their pages.
        self._unique: dict[int, HeapObject] = {}
        self._explore_all()
        # A value that the program comes to must not be taken for a number or an identity: with
        # other numbers it is seen to be none.
        seen, used = self._values(), {*self.numbers()}
        self._free_numbers = [item for item in self._free_numbers if item not in used]
        self._explore_all()
        if seen & {*self.numbers()[1:], *self._identities}:
            raise GaveUp("the program comes to values that look like numbers of threads")

    def is_static(self, address: int) -> bool:
        """Whether an address belongs to an object that lives as long as the program."""
        return self._knowledge.first_page(address >> self._knowledge.page_bits) is not None

    def is_address(self, value: int, width: int) -> bool:
        return self._knowledge.is_address(value, width)

    def is_of_everybody(self, address: int) -> bool:
        """Whether an address is of the same object for all threads."""
        return self.is_static(address) or self._unique_block((address, 1)) is not None

    def is_shared(self, variable: int) -> bool:
        """Whether several threads may access it."""
        cell = cell_of(self._terms.name[variable])
        return cell is not None and (self.is_static(cell[0]) or cell in self._shared_block_cells)

    def is_in_unique_block(self, variable: int) -> bool:
        """Whether it is a shared part of the control block of a thread that there is one of."""
        return cell_of(self._terms.name[variable]) in self._shared_block_cells

    def is_own(self, variable: int, template: Template) -> bool:
        """Whether only the template's instance itself changes a variable: a register, a cell of an
        object of its own, or what it is handed in its control block."""
        number = template.one.number
        name = self._terms.name[variable]
        register = register_of(name)
        if register is not None:
            return register.thread == number
        cell = cell_of(name)
        if cell is None or self.is_shared(variable):
            return False
        first, last = self._bounds(number)
        block = self._unique_block(cell)
        if block is not None:
            return template.entry is not None and template.entry.page == block.page
        return first <= cell[0] < last

    def _unique_block(self, cell: Cell) -> HeapObject | None:
        bits = self._knowledge.page_bits
        for page, item in self._unique.items():
            if page << bits <= cell[0] < (page << bits) + item.size:
                return item
        return None

    def shared_blocks(self) -> dict[int, int]:
        """The control blocks of threads that there is one of, by their pages the templates."""
        return {
            item.entry.page: number
            for number, item in enumerate(self.all)
            if item.entry is not None and item.entry.page is not None
        }

    def of_blocks(self, accesses: tuple[SharedAccess, ...]) -> set[int]:
        """The templates whose control blocks are accessed."""
        found = set()
        for item in accesses:
            block = self._unique_block((item.address, item.size))
            if block is not None:
                found.add(self.shared_blocks()[block.page])
        return found

    def is_alone(self, instance: Instance, place: int) -> bool:
        """Whether no thread has been started yet."""
        somebody = instance.places[place].threads[self._slots - 1]
        return somebody.status is not Status.RUNNING

    def _values(self) -> set[int | None]:
        terms = self._terms
        roots = {
            term
            for template in self.all
            for item in template.one.transitions
            for term in (
                *item.step.assumes,
                *item.step.updates.values(),
                *(term for begun in item.begins for term in begun.values.values()),
            )
        }
        return {terms.value(part) for part in terms.parts(roots)}

    def identities(self) -> set[int]:
        """Addresses of control blocks of threads that there may be many of."""
        return self._identities

    def numbers(self) -> list[int]:
        """Of all instances but the initial thread."""
        found = [self._slots + 1]
        for template in self.all[1:]:
            found.append(template.one.number)
            if template.other is not None:
                found.append(template.other.number)
        return found

    def further_instance(self, template: int) -> Instance:
        """One beside `one` and `other`, to look at more than two threads."""
        entry = self.all[template].entry
        assert entry is not None
        if not self._numbers:
            raise GaveUp("too many threads are looked at")
        found = Instance(self._numbers.pop())
        self._further[found.number] = template
        self._place(found, self._entry_location(entry, found.number))
        self._explore(None, found)
        return found

    # --- what must hold

    def _check(self) -> None:
        points_to = self._sharing.points_to
        for edge in (thread_number_as_number(points_to), address_as_number(points_to)):
            if edge is not None:
                place = self._program.user_place(edge.action.origin)
                raise GaveUp(f"the program tells numbers of threads or addresses apart ({place})")
        for name in points_to.reachable_functions:
            if calculation_with_number(self._program.functions[name]) is not None:
                raise GaveUp(f"{name} calculates with the number of a thread")
        for item in Lifetimes(self._sharing).reused():
            raise GaveUp(f"a pointer to {item!r} may outlive it, and its memory is used again here")
        self._check_escapes()

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
            if not item.is_per_instance or item.edge in self._blocks.edges:
                continue
            is_of_created = item.kind is ObjectKind.THREAD_LOCAL or item.function in created
            if is_of_created and self._sharing.has_escaped(item):
                raise GaveUp(f"threads have their own {item!r}, and other threads reach it")

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
        for _ in range(_MOST_ROUNDS):
            try:
                self._explore_once()
            except _Repeated:
                continue
            return
        raise GaveUp("threads begin in too many ways")

    def _explore_once(self) -> None:
        """Taking for granted which creations are repeated, and which threads are unique."""
        self._numbers = list(self._free_numbers)
        self._entries: dict[Entry, int] = {}
        # Templates and places of creators, with the creations.
        self._creations: list[set[tuple[int, int, Creation]]] = []
        self._sites: dict[Creation, tuple[int, int]] = {}
        self._found: dict[int, HeapObject] = {}  # what `_unique` should be
        self._identities: set[int] = set()
        self._shared_block_cells = {
            cell
            for item in self._unique.values()
            for cell in self._blocks.cells(item, self._knowledge)
            if not self._blocks.is_handed(cell, item)
        }
        self.all: list[Template] = []
        start = self._executor.start()
        threads = [*start.threads, *([ENDED] * (self._slots - 1))]
        arena = self._knowledge.space.arena(1)
        heap = (item for item in self._unique.values() if not arena[0] <= item.page < arena[1])
        blocks = tuple(sorted((*start.heap, *heap), key=lambda item: item.page))
        first = Location(tuple(threads), blocks, start.cells)
        self._add(Template(self._program.entry, None, Instance(1)), first)
        done = 0
        while done < len(self.all):
            self._explore(done, self.all[done].one)
            done += 1
        self._count_instances()
        self._merge_rounds()
        if self._found != self._unique:
            self._unique = self._found
            raise _Repeated
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
        self._creations.append(set())
        self._place(template.one, entry)

    def _count_instances(self) -> None:
        """A template has several instances if several places may start one, or one place may do
        so more than once, or a creator has several instances."""
        cyclic = [cyclic_nodes(_successors(item.one)) for item in self.all]
        has_changed = True
        while has_changed:
            has_changed = False
            for template, creations in zip(self.all, self._creations, strict=True):
                places = {(creator, place) for creator, place, _ in creations}
                is_multiple = len(places) > 1 or any(
                    place in cyclic[creator] or self.all[creator].is_multiple
                    for creator, place in places
                )
                if is_multiple and not template.is_multiple:
                    template.is_multiple = has_changed = True
        repeated = {
            creation
            for template, creations in zip(self.all, self._creations, strict=True)
            if template.is_multiple
            for _, _, creation in creations
        }
        if not repeated <= self._repeated:
            self._repeated |= repeated
            raise _Repeated

    def _merge_rounds(self) -> None:
        """The first round of a loop that starts threads may look like a creation of its own, where
        it differs by what was before. That would prove no more, and costs much."""
        for template in self.all:
            for other in self.all:
                if (
                    not template.is_multiple
                    and other.is_multiple
                    and self._are_alike(template, other)
                ):
                    number = self.all.index(template)
                    self._repeated |= {creation for _, _, creation in self._creations[number]}
                    raise _Repeated

    def _are_alike(self, one: Template, other: Template) -> bool:
        """Whether two templates have one creator, and are made by one call of the program."""
        if one.entry is None or other.entry is None or one.creation[0] != other.creation[0]:
            return False
        if replace(one.entry, page=None) != replace(other.entry, page=None):
            return False
        calls = [
            edge
            for function in self._program.functions.values()
            for edge in function.all_edges()
            if isinstance(edge.action, Call)
            and any(
                isinstance(item, FunctionAddress) and item.function == one.name
                for item in edge.action.arguments
            )
        ]
        return len(calls) == 1

    def _place(self, instance: Instance, location: Location) -> int:
        found = instance.index.get(location)
        if found is None:
            found = instance.index[location] = len(instance.places)
            if found >= self._most_locations:
                raise GaveUp(f"a thread can be at more than {self._most_locations} places")
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
            assert location.threads[instance.number - 1].status is Status.RUNNING
            block = self._executor.block(location, instance.number)
            instance.accesses.append(tuple(self._shared_accesses(instance, location, block)))
            for way in block.ways:
                instance.transitions.append(self._transition(template, instance, done, way))
            done += 1

    def _shared_accesses(
        self, instance: Instance, location: Location, block: Block
    ) -> Iterator[SharedAccess]:
        """What others can notice is the first action of a block, or an atomic section."""
        knowledge = self._knowledge
        frame = location.threads[instance.number - 1].frames[-1]
        action = self._program.functions[frame.function].edges[frame.location][0].action
        is_atomic = isinstance(action, AtomicBegin) or (
            isinstance(action, (Load, Store, ReadModifyWrite)) and action.order.is_atomic
        )
        for item in block.accesses:
            address, size = item.address, item.size
            page = knowledge.first_page(address >> knowledge.page_bits)
            if page is None:
                if self._unique_block((address, size)) is None:
                    continue
            elif page in knowledge.statics:
                static = knowledge.statics[page]
                if knowledge.is_untracked(static, static.size):
                    # Of such an object only the first byte is named.
                    address, size = page << knowledge.page_bits, static.size
            yield SharedAccess(address, size, item.is_write, is_atomic, item.when, action.origin)

    def _transition(
        self, template: int | None, instance: Instance, source: int, way: Way
    ) -> Transition:
        if way.target is None:
            return Transition(source, None, way.kind, way.step, way)
        before, location = instance.places[source], way.target
        spawned = location.threads[self._slots :]
        updates = dict(way.step.updates)
        inputs = set(way.step.inputs)
        begins = []
        if spawned:
            if len(spawned) > 1:
                raise GaveUp("a step starts several threads")
            [frame] = spawned[0].frames
            block = self._blocks.passed(location, frame)
            if any(item.page == block.page for item in before.heap):
                raise GaveUp("a thread gets a control block that was there before")
            creation = self._creation(instance, location, block, frame)
            if creation not in self._repeated and _is_nested(creation):
                self._repeated.add(creation)
                raise _Repeated
            begun = self._beginning(instance, location, block, creation, updates)
            if creation not in self._repeated:
                if self._found.setdefault(block.page, block) != block:
                    raise GaveUp("control blocks of different kinds")
                at = self._sites.setdefault(creation, (instance.number, source))
                if at != (instance.number, source):
                    self._repeated.add(creation)
                    raise _Repeated
            else:
                location = self._forget_identity(
                    instance, before, location, block, way.step.assumes, updates, inputs
                )
            if template is not None:
                self._creations[begun.template].add((template, source, creation))
            begins.append(begun)
        settled = self._settled(instance, location, updates, has_spawned=bool(spawned))
        own = settled.threads[instance.number - 1]
        target = self._place(instance, settled) if own.status is Status.RUNNING else None
        step = Step(way.step.assumes, updates, frozenset(inputs))
        return Transition(source, target, way.kind, step, way, tuple(begins))

    def _creation(
        self, instance: Instance, location: Location, block: HeapObject, child: Frame
    ) -> Creation:
        creator = self.all[self._template_of(instance)]
        known = dict(location.cells)
        handed = tuple(known.get(cell) for cell in self._blocks.cells(block, self._knowledge))
        functions = self._program.functions
        frames = tuple(
            (
                frame.function,
                frame.location,
                tuple(
                    (index, value)
                    for index, value in frame.registers
                    if not self._knowledge.is_address(
                        value, functions[frame.function].registers[index].type.bits
                    )
                ),
            )
            for frame in location.threads[instance.number - 1].frames
        )
        return creator.creation, frames, child.function, handed

    def _forget_identity(
        self,
        instance: Instance,
        before: Location,
        after: Location,
        block: HeapObject,
        assumes: tuple[int, ...],
        updates: dict[int, int],
        inputs: set[int],
    ) -> Location:
        """Behind the creation of a thread that there may be many of. The creator has no control
        block of it, and does not know where that is; so the next one can be at the same place."""
        terms, number = self._terms, instance.number
        base = self._blocks.base(block)
        last = (block.page + self._knowledge.pages_taken(block.size)) << self._knowledge.page_bits

        def is_inside(value: int | None) -> bool:
            return value is not None and base <= value < last

        def mentions(term: int) -> bool:
            return any(is_inside(terms.value(part)) for part in terms.parts((term,)))

        def anything(bits: int) -> int:
            found = terms.fresh("input", bits)
            inputs.add(found)
            return found

        if any(map(mentions, assumes)):
            raise GaveUp("a thread's identity matters in the step that creates it")
        own = after.threads[number - 1]
        frames = []
        for depth, frame in enumerate(own.frames):
            registers = self._program.functions[frame.function].registers
            for index, value in frame.registers:
                if is_inside(value):
                    bits = registers[index].type.bits
                    variable = register_variable(terms, number, depth, index, bits)
                    updates[variable] = anything(bits)
            kept = tuple(row for row in frame.registers if not is_inside(row[1]))
            frames.append(replace(frame, registers=kept))
        cells = dict(after.cells)
        for cell, known in after.cells:
            if is_inside(cell[0]):
                del cells[cell]
            elif is_inside(known):
                cells[cell] = None
                updates[cell_variable(terms, cell)] = anything(8 * cell[1])
        for variable, term in list(updates.items()):
            there = cell_of(terms.name[variable])
            if there is not None and is_inside(there[0]):
                del updates[variable]
            elif mentions(term):
                updates[variable] = anything(terms.width[variable])
        heap_page = own.heap_page
        if heap_page == before.threads[number - 1].heap_page + self._knowledge.pages_taken(
            block.size
        ):
            heap_page = block.page
        threads = list(after.threads)
        threads[number - 1] = replace(own, frames=tuple(frames), heap_page=heap_page)
        heap = tuple(item for item in after.heap if item.page != block.page)
        return Location(tuple(threads), heap, tuple(sorted(cells.items(), key=lambda row: row[0])))

    def _settled(
        self, instance: Instance, after: Location, updates: dict[int, int], *, has_spawned: bool
    ) -> Location:
        """The location as far as nobody else can change it."""
        number = instance.number
        own = after.threads[number - 1]
        if not has_spawned and after.threads[self._slots - 1].status is not Status.RUNNING:
            return after
        cells = dict(after.cells)
        for cell in self._shared_cells:
            value = cells.get(cell)
            if value is not None:
                updates[cell_variable(self._terms, cell)] = self._terms.constant(value, 8 * cell[1])
            cells[cell] = None
        for item in after.heap:
            if self._blocks.is_one(item) and item.page in (self._found | self._unique):
                self._settle_block(instance, item, cells, updates)
        threads = [ENDED] * self._slots
        threads[self._slots - 1] = _SOMEBODY
        threads[number - 1] = own
        known = ((cell, value) for cell, value in cells.items())
        return Location(tuple(threads), after.heap, tuple(sorted(known, key=lambda row: row[0])))

    def _settle_block(
        self,
        instance: Instance,
        block: HeapObject,
        cells: dict[Cell, int | None],
        updates: dict[int, int],
    ) -> None:
        """Of a thread that there is one of. What it is handed is known to that thread only."""
        template = self.all[self._template_of(instance)]
        is_its_own = template.entry is not None and template.entry.page == block.page
        for cell in self._blocks.cells(block, self._knowledge):
            is_handed = self._blocks.is_handed(cell, block)
            if is_its_own and is_handed:
                continue
            variable = cell_variable(self._terms, cell)
            value = cells.pop(cell, None)
            if is_handed:
                updates.pop(variable, None)
            elif value is not None:
                updates[variable] = self._terms.constant(value, 8 * cell[1])

    # --- threads that begin

    def _beginning(
        self,
        instance: Instance,
        location: Location,
        block: HeapObject,
        creation: Creation,
        updates: dict[int, int],
    ) -> Beginning:
        """The new thread, in a location of its own. What `updates` says of its variables is taken
        out of them."""
        terms, knowledge = self._terms, self._knowledge
        known = dict(location.cells)
        [frame] = location.threads[self._slots].frames
        base = self._blocks.base(block)
        if [value for _, value in frame.registers] != [base]:
            raise GaveUp("a thread begins with more than its control block")
        cells: dict[Cell, int | None] = {
            cell: value for cell, value in location.cells if self.is_static(cell[0])
        }
        values: dict[int, int] = {}
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
        handed = [
            (cell[0] - base, cell[1])
            for cell in self._blocks.cells(block, self._knowledge)
            if cell in known
        ]
        is_repeated = creation in self._repeated
        entry = Entry(
            frame.function,
            tuple(sorted(cells.items())),
            own_cells,
            tuple(
                (place, value)
                for place in handed
                if (value := known[base + place[0], place[1]]) is not None
                and (is_repeated or place in self._blocks.handed)
            ),
            None if is_repeated else block.page,
            block.size,
            block.storage,
            block.edge,
        )
        template = self._entries.get(entry)
        if template is None:
            if len(self.all) >= MOST_TEMPLATES:
                raise GaveUp("threads begin in too many ways")
            if instance is not self.all[self._template_of(instance)].one:
                raise GaveUp("two threads that begin alike start different ones")
            template = self._entries[entry] = len(self.all)
            one = Instance(self._numbers.pop())
            name = self._name(frame.function, dict(entry.handed))
            self._add(Template(name, entry, one, creation), self._entry_location(entry, one.number))
        number = self.all[template].one.number
        its_base = self._block_page(entry, number) << knowledge.page_bits
        if is_repeated:
            self._identities.add(its_base)
        for offset, size in (
            (cell[0] - base, cell[1])
            for cell in self._blocks.cells(block, self._knowledge)
            if is_repeated or self._blocks.is_handed(cell, block)
        ):
            variable = cell_variable(terms, (base + offset, size))
            if variable in updates:
                values[cell_variable(terms, (its_base + offset, size))] = updates[variable]
        for variable in list(updates):
            here = self.of_other_thread(variable, self._slots + 1, number)
            if here is not None:
                values[here] = updates.pop(variable)
        return Beginning(template, 0, values)

    def _template_of(self, instance: Instance) -> int:
        if instance.number in self._further:
            return self._further[instance.number]
        return next(
            number
            for number, item in enumerate(self.all)
            if instance is item.one or instance is item.other
        )

    def _block_page(self, entry: Entry, number: int) -> int:
        return self._knowledge.space.heap_start(number) if entry.page is None else entry.page

    def _name(self, function: str, cells: dict[Cell, int]) -> str:
        """The user's function that the thread is for."""
        for value in cells.values():
            found = self._knowledge.functions.get(value)
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
        block = HeapObject(self._block_page(entry, number), entry.size, entry.storage, entry.edge)
        base = self._blocks.base(block)
        frame = Frame(entry.function, 0, top, (), ((0, base),), ())
        heap_page = knowledge.space.heap_start(number)
        first, last = knowledge.space.arena(number)
        # Those of the threads that this one creates are not there yet.
        heap = [item for item in self._unique.values() if not first <= item.page < last]
        if entry.page is None:
            heap_page += knowledge.pages_taken(entry.size)
            heap.append(block)
        elif entry.page not in self._unique:
            heap.append(block)
        pages = heap_page, top - shape.frame_pages
        own = Thread(Status.RUNNING, 0, None, *pages, (frame,))
        threads = [ENDED] * self._slots
        threads[self._slots - 1] = _SOMEBODY
        threads[number - 1] = own
        start, _ = self._bounds(number)
        cells = dict(entry.cells)
        for (offset, size), value in entry.own_cells:
            cells[start + offset, size] = value
        for (offset, size), value in entry.handed:
            cells[base + offset, size] = value
        return Location(
            tuple(threads),
            tuple(sorted(heap, key=lambda item: item.page)),
            tuple(sorted(cells.items(), key=lambda row: row[0])),
        )


def _is_nested(creation: Creation) -> bool:
    """Whether a thread is created as its creator was, or whoever created that: there is no end of
    such threads."""
    creator = creation[0]
    while creator:
        assert isinstance(creator, tuple)
        if creator[1:] == creation[1:]:
            return True
        creator = creator[0]
    return False


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
    if len(free) < 4 * MOST_TEMPLATES:
        raise GaveUp("the program has too many small numbers")
    return free[: 4 * MOST_TEMPLATES]
