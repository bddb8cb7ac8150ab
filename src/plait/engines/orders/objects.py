"""Instances of objects in the unrolled program, and which of them several threads share."""

from __future__ import annotations

from collections.abc import Sequence

from plait.analysis.addresses import address_as_number
from plait.analysis.lifetimes import Lifetimes
from plait.analysis.points_to import PointsTo
from plait.analysis.sharing import sharing_of
from plait.analysis.thread_numbers import thread_number_as_number
from plait.data import dataclass
from plait.engines.orders.prune import Conjuncts
from plait.engines.orders.unrolling import ThreadRun
from plait.errors import UnsupportedCode
from plait.logic.terms import Terms
from plait.model.actions import Allocate
from plait.model.expressions import Expr, StaticAddress
from plait.model.layout import cells
from plait.model.program import Edge, FrameSlot, Function, Program, StaticObject
from plait.model.types import Kind

# A step of an unrolled thread: the calls that led there and its own edge, and for each frame the
# rounds of its loops.
Site = tuple[tuple[Edge, ...], tuple[tuple[int, ...], ...]]


@dataclass(slots=True, eq=False)
class Instance:
    """An object with its address. `contents` is None where they are indeterminate. `owner` is the
    only thread that may access it, 0 if there are others or the sharing analysis knows; nobody
    accesses an object of NOBODY by a pointer. `storage`: of
    an allocated one, which tells what may free it; else empty. `can_leak`: it must
    be, and is not alive before it is allocated. `is_open`: its size is a term, and at most `size`.
    `can_dangle`: a pointer to it may outlive it. `is_library`: it belongs to the library.
    `ends_early`: the program has more of it."""

    address: int
    size: int
    name: str
    is_shared: bool
    contents: bytes | None
    read_only: bool = False
    owner: int = 0
    storage: str = ""
    can_leak: bool = False
    is_open: bool = False
    can_dangle: bool = False
    is_library: bool = False
    ends_early: bool = False

    def size_term(self, terms: Terms, bits: int) -> int:
        """Of an open object it is a variable: accesses may be unrolled before the allocation."""
        if not self.is_open:
            return terms.constant(self.size, bits)
        return terms.variable(f"size of {self.address:#x}", bits)


NOBODY = -1
_MOST_STATIC_POINTERS = 32  # that are looked at when the process ends


def other_addresses(points_to: PointsTo) -> str:
    """Why the addresses of this engine may matter; empty if they do not. Here no two locals have
    the same one, and later objects have larger ones. Those of the reference interpreter differ: a
    program that looks at them may tell the difference."""
    seen = address_as_number(points_to)
    if seen is None:
        return ""
    place = points_to.program.user_place(seen.action.origin)
    return f"an address is used as a number, and others are possible ({place})"


def other_numbers(points_to: PointsTo, threads: Sequence[ThreadRun], terms: Terms) -> str:
    """Why the numbers that threads have in this engine may matter; empty if they do not. Here they
    are those of the unrolling. In an execution a thread has the next free one when it starts: the
    same if one thread starts all others, and none of them without those before it."""
    created = sorted((item for item in threads if item.parent > 0), key=lambda item: item.number)
    if _have_next_numbers(created, terms):
        return ""
    seen = thread_number_as_number(points_to)
    if seen is None:
        return ""
    place = points_to.program.user_place(seen.action.origin)
    return f"the number of a thread may be read, and others are possible ({place})"


def _have_next_numbers(created: Sequence[ThreadRun], terms: Terms) -> bool:
    conjuncts = Conjuncts(terms)
    return all(
        thread.parent == 1 and thread.number == number for number, thread in enumerate(created, 2)
    ) and all(
        earlier.spawned_by < later.spawned_by
        and not conjuncts.of(earlier.guard) & ~conjuncts.of(later.guard)
        for earlier, later in zip(created, created[1:])
    )


class Objects:
    """Numbers pages for objects as they are made; no two objects share an address.

    An object is known by what makes it: a thread, a declaration or an allocating edge, and the step
    of the thread that does. Unrolling again gives the same objects the same addresses, also where
    others are not made any more, and objects that are yet to be made are known already. The same is
    true of threads and their numbers. With `sees_beginnings` it matters who makes an object, also
    if only one other thread accesses it.
    """

    def __init__(
        self,
        program: Program,
        *,
        checks_memory: bool = False,
        checks_lives: bool = False,
        sees_beginnings: bool = False,
    ) -> None:
        self._program = program
        self._bits = program.data_model.page_bits
        self._pages_of = program.data_model.pages_of
        self._pages_taken = program.data_model.pages_taken
        self._next = program.first_free_page
        self._last_page = program.data_model.last_page
        self._sharing = sharing_of(program)
        self.points_to = self._sharing.points_to
        # Memory safety relies on no analysis of pointers here.
        self._all_can_dangle = checks_memory
        self._sees_beginnings = sees_beginnings
        outliving = Lifetimes(self._sharing).outliving if checks_lives else []
        self._outliving = {item.slot or item.static or item.edge for item in outliving}
        self._by_page: dict[int, Instance] = {}
        self._made: dict[object, list[Instance]] = {}  # by declaration or allocating edge
        self._lives: dict[int, Instance] = {}
        self.large: list[tuple[int, int]] = []  # objects of several pages: the first, how many
        self._expected: dict[tuple[str, int, int], frozenset[int]] = {}
        self._by_maker: dict[tuple[int, object, int, bool, Site | None], Instance] = {}
        self._present: set[tuple[object, ...]] = set()  # what this unrolling has made
        self._threads: dict[tuple[int, Site], int] = {}
        # What pointers were looked up for in this unrolling, and whether more was made later.
        self._asked: set[object] = set()
        self.has_grown = False
        self._first_new = self._next
        self._end_of_known: int | None = None
        self._functions = program.functions_by_address()
        for item in program.objects:
            if not item.thread_local:
                made = self._add(
                    item.page, item.size, item.name, self.shares(item), _contents(item),
                    item.read_only,
                )  # fmt: skip
                made.ends_early = item.ends_early
                made.is_library = item.library
                self._made[item] = [made]

    def shares(self, item: StaticObject | FrameSlot | Edge) -> bool:
        """Whether accesses to an object are events."""
        found = self.points_to.object_of(item)
        if found is None:
            return False
        is_made = not isinstance(item, StaticObject) or item.thread_local
        if is_made and self._sees_beginnings and self._sharing.has_escaped(found):
            return True
        return self._sharing.is_shared(found)

    def can_dangle(self, item: StaticObject | FrameSlot | Edge) -> bool:
        return self._all_can_dangle or item in self._outliving

    def _has_escaped(self, item: StaticObject | FrameSlot | Edge) -> bool:
        """Whether other threads may get at an object; if it is not shared even so, they alone
        access it once they exist, or nobody writes it any more."""
        found = self.points_to.object_of(item)
        return found is not None and self._sharing.has_escaped(found)

    def _add(
        self,
        page: int,
        size: int,
        name: str,
        is_shared: bool,
        contents: bytes | None,
        read_only: bool = False,
    ) -> Instance:
        made = Instance(page << self._bits, size, name, is_shared, contents, read_only)
        pages = self._pages_of(size)
        for number in range(pages):
            self._by_page[page + number] = made
        if pages > 1:
            self.large.append((page, pages))
        return made

    def _free_page(self, size: int) -> int:
        page = self._next
        self._next += self._pages_taken(size)
        if self._next > self._last_page:
            raise UnsupportedCode("more objects than there are addresses")
        return page

    def begin(self) -> None:
        """A new unrolling makes the objects again."""
        self._present.clear()
        self._asked.clear()
        self.has_grown = False
        self._first_new = self._next

    def settle(self) -> None:
        """From here on pointers point to no more than in the last unrolling."""
        if self.has_grown:
            self._end_of_known = self._first_new

    def _make(
        self,
        thread: int,
        maker: StaticObject | FrameSlot | Edge,
        site: Site | None,
        size: int,
        name: str,
        is_shared: bool,
        contents: bytes | None,
        read_only: bool = False,
        *,
        is_open: bool = False,
    ) -> Instance:
        key = thread, maker, size, is_open, site
        self._make_once(*key)
        known = self._by_maker.get(key)
        if known is not None:
            return known
        self.has_grown |= maker in self._asked
        page = self._free_page(size)
        made = self._add(page, size, name, is_shared, contents, read_only)
        made.owner = 0 if is_shared or self._has_escaped(maker) else thread
        made.is_open = is_open
        made.can_dangle = self.can_dangle(maker)
        self._by_maker[key] = made
        self._made.setdefault(maker, []).append(made)
        return made

    def thread(self, parent: int, site: Site) -> int:
        """The number of the thread that a step of another one starts; the initial thread is 1."""
        self._make_once(parent, site)
        return self._threads.setdefault((parent, site), 2 + len(self._threads))

    @property
    def made(self) -> int:
        """How many objects and threads this unrolling has made."""
        return len(self._present)

    def _make_once(self, *key: object) -> None:
        """All ways to a step meet before it, so it is unrolled once."""
        if key in self._present:
            raise UnsupportedCode("a step that is unrolled twice")
        self._present.add(key)

    def allocated(
        self,
        thread: int,
        size: int,
        is_open: bool,
        action: Allocate,
        edge: Edge,
        site: Site,
        context: Edge | None,
    ) -> Instance:
        """`context`: the innermost call in the user's code that led into the library."""
        contents = bytes(size) if action.zeroed else None
        is_private = not self._all_can_dangle and self._stays_with_its_thread(edge, context)
        made = self._make(
            thread, edge, site, size, "heap", not is_private, contents, is_open=is_open
        )
        made.owner = thread if is_private else 0
        made.storage = action.storage
        made.is_library = action.storage == "library"
        return made

    def _stays_with_its_thread(self, edge: Edge, context: Edge | None) -> bool:
        """Whether nobody but the thread that allocates an object gets at it."""
        found = self.points_to.object_of(edge, context)
        return found is not None and not self._sharing.has_escaped(found)

    def local(self, thread: int, slot: FrameSlot, site: Site) -> Instance:
        return self._make(thread, slot, site, slot.size, slot.name, self.shares(slot), None)

    def from_alloca(
        self, thread: int, size: int, is_open: bool, edge: Edge, site: Site
    ) -> Instance:
        """An object of a frame: alloca."""
        is_shared = self.shares(edge)
        return self._make(thread, edge, site, size, "alloca", is_shared, None, is_open=is_open)

    def is_static(self, cell: tuple[int, int]) -> bool:
        """Whether a cell is there from the beginning to the end."""
        return cell[0] >> self._bits < self._program.first_free_page

    def leakable(self) -> list[Instance]:
        """The objects known so far that the program must free."""
        return [made for made in self._by_maker.values() if made.can_leak]

    def static_pointers(self, thread: int) -> list[tuple[int, Instance]]:
        """Pointers of static objects whose values a thread knows when it ends the process: those
        that are read by events, and for the initial thread those that no other thread writes."""
        found: list[tuple[int, Instance]] = []
        for item in self._program.objects:
            if item.thread_local or item.read_only or item.library:
                continue
            if not self.shares(item) and (thread > 1 or self._is_written_by_others(item)):
                continue
            [instance] = self._made[item]
            for cell in cells(item.layout):
                if cell.scalar.kind is Kind.POINTER:
                    found.append((instance.address + cell.offset, instance))
                if len(found) == _MOST_STATIC_POINTERS:
                    return found
        return found

    def _is_written_by_others(self, item: StaticObject) -> bool:
        found = self.points_to.object_of(item)
        return found is None or self._sharing.is_written_by_created_threads(found)

    def life_of(self, instance: Instance) -> Instance:
        """A byte beside an object: 1 while it is alive, then 0."""
        known = self._lives.get(instance.address)
        if known is None:
            page = self._free_page(1)
            contents = b"\0" if instance.can_leak else b"\1"
            known = self._add(page, 1, f"life of {instance.name}", instance.is_shared, contents)
            known.owner = NOBODY
            self._lives[instance.address] = known
        return known

    def thread_local(self, thread: int, item: StaticObject) -> Instance:
        contents = _contents(item)
        shared = self.shares(item)
        if shared and self._sees_beginnings and not item.library:
            what = "a thread-local object that other threads may access, under the memory model c11"
            raise UnsupportedCode(what)
        made = self._make(
            thread, item, None, item.size, item.name, shared, contents, item.read_only
        )
        made.is_library = item.library
        return made

    def addresses(
        self,
        function: str,
        expr: Expr,
        size: int,
        steps: tuple[int, int],
        most: int,
        of_each: int | None = None,
    ) -> list[int] | None:
        """Where a pointer may point by the points-to analysis, in the objects made so far; None if
        there are more places than `most`. Where the offset is not known: at addresses that have
        the remainder steps[0] modulo steps[1], or else at multiples of the size, and not more
        than the first ones `of_each` object."""
        found: dict[int, None] = {}
        for item, offset in self.points_to.locations(function, expr):
            maker = item.static or item.slot or item.edge
            self._asked.add(maker)
            for instance in self._made.get(maker, ()):
                if not self._is_known(instance):
                    continue
                if offset is not None:
                    places = range(instance.address + offset, instance.address + offset + 1)
                else:
                    places = _places_in(instance, size, steps)[:of_each]
                if len(found) + len(places) > most:
                    return None
                found.update(dict.fromkeys(places))
        return list(found)

    def places_from(
        self,
        pointers: list[tuple[int, tuple[int, int]]],
        size: int,
        most: int,
        of_each: int | None = None,
    ) -> list[int] | None:
        """Where pointers that are moved by steps may point, in the objects that they point to; None
        if there are more places than `most`, or it is not known what they point to; not more than
        the first ones `of_each` object. Numbers are smaller than addresses."""
        found: dict[int, None] = {}
        for address, (start, step) in pointers:
            instance = self.at(address, 0)
            if instance is None and 0 < address >> self._bits <= self._last_page >> 1:
                return None
            if instance is None:
                continue
            places = range(address + start, address + start + 1)
            if step:
                places = _places_in(instance, size, (address + start, step))[:of_each]
            if len(found) + len(places) > most:
                return None
            found.update(dict.fromkeys(places))
        return list(found) or None

    def _is_known(self, instance: Instance) -> bool:
        limit = self._end_of_known
        return limit is None or instance.address >> self._bits < limit

    def is_expected(self, function: str, expr: Expr, instance: Instance) -> bool:
        """Whether the analyses know that a pointer may point to an object. They classify a static
        object, or a local that has escaped, as private by the pointers to it: one that was made
        from a number escapes them."""
        if instance.is_shared or instance.owner or isinstance(expr, StaticAddress):
            return True
        key = function, id(expr), self._next  # what is made later counts as well
        known = self._expected.get(key)
        if known is None:
            known = self._expected[key] = frozenset(
                made.address
                for item in self.points_to.targets(function, expr)
                for made in self._made.get(item.static or item.slot or item.edge, ())
            )
        return instance.address in known

    def at(self, address: int, size: int) -> Instance | None:
        """The object that an access of `size` bytes at `address` lies in."""
        found = self._by_page.get(address >> self._bits)
        if found is None or not 0 <= address - found.address <= found.size - size:
            return None
        return found

    def pages(self) -> list[tuple[int, Instance]]:
        """All pages that have an object so far."""
        return list(self._by_page.items())

    def function_at(self, address: int) -> Function | None:
        return self._functions.get(address)

    def callees(self, function: str, edge: Edge) -> list[int]:
        """The addresses of the functions that an edge may call, by the points-to analysis."""
        names = self.points_to.callees(function, edge)
        return [address for address, item in self._functions.items() if item.name in names]


def _places_in(instance: Instance, size: int, steps: tuple[int, int]) -> range:
    """Of an access to an object: the addresses with a remainder modulo a step, or else at multiples
    of the size from its start."""
    remainder, step = steps
    end = instance.address + instance.size - size + 1
    if step >= size:
        return range(instance.address + (remainder - instance.address) % step, end, step)
    return range(instance.address, end, size)


def _contents(item: StaticObject) -> bytes | None:
    return None if item.indeterminate else item.contents
