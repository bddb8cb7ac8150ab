"""Shared memory of the unrolled program: cells whose accesses are events.

A shared access is an event for each cell that it can hit, if these are few. If they are many, the
cells form a region and the access is one event with a symbolic address (see `events`). An access to
places that others access in smaller parts is an event for each part, all of them in one atomic
section, as it is one step. Which parts and regions there are is known from the unrolling before
(see `knowledge`).
"""

from __future__ import annotations

from plait.engines.orders.event_log import EventLog
from plait.engines.orders.objects import Instance
from plait.engines.orders.paths import Held, Path
from plait.engines.orders.places import is_one_of, select
from plait.engines.orders.possible_values import PossibleValues
from plait.engines.orders.unrolling import Access, Occurrence
from plait.engines.orders.unrolling_facts import Cell, Surprise, UnrollingFacts
from plait.errors import UnsupportedCode
from plait.logic.terms import Terms
from plait.model.actions import Origin

# The value of a semaphore from which neither to take nor to give is a matter of its own.
IN_BETWEEN = 3
FEW_PLACES = 4  # an access to more shared places is one event of a region

Target = tuple[int, Instance]  # an address and the object there


def is_at(terms: Terms, address: int, targets: list[Target]) -> int:
    """Whether the address is one of the targets."""
    places_of: dict[int, list[int]] = {}
    for place, instance in targets:
        places_of.setdefault(instance.address, []).append(place)
    if len(targets) <= FEW_PLACES:
        places_of = {0: [place for place, _ in targets]}
    return terms.any_of(is_one_of(terms, address, places) for places in places_of.values())


class Latecomers:
    """Who stops in front of a section, and looks at its memory when all others have ended. That
    matters where deadlocks are looked for (see `maximal`); otherwise there is nobody."""

    def write(self, event: Occurrence, here: int, path: Path) -> None:
        """An event writes, where `here` holds, what a path no longer remembers."""

    def read(self, event: Occurrence, here: int, value: int, path: Path) -> int:
        """What a thread sees where it reads a value by an event."""
        return value


class SharedMemory:
    def __init__(
        self,
        log: EventLog,
        known: UnrollingFacts,
        values: PossibleValues,
        latecomers: Latecomers,
    ) -> None:
        self._terms = log.terms
        self._knowledge = log.knowledge
        self._contents = log.contents
        self._log = log
        self._known = known
        self._values = values
        self._latecomers = latecomers
        self._arrival = -1

    def read(
        self, address: int, targets: list[Target], size: int, here: int, path: Path, origin: Origin
    ) -> int:
        result: int | None = None
        self._arrive(path, origin)
        parts = self._knowledge.layout.parts((place for place, _ in targets), size)
        is_alone = self._begin_parts(parts, path, origin)
        for offset, length in parts:
            value = self._read_part(address, targets, offset, length, here, path, origin)
            result = value if result is None else self._terms.concat(value, result)
        if is_alone:
            self.end_parts(path, origin)
        assert result is not None
        return result

    def write(
        self,
        address: int,
        targets: list[Target],
        size: int,
        value: int,
        here: int,
        path: Path,
        origin: Origin,
    ) -> None:
        self._arrive(path, origin)
        parts = self._knowledge.layout.parts((place for place, _ in targets), size)
        is_alone = self._begin_parts(parts, path, origin)
        for offset, length in parts:
            piece = self._terms.extract(value, 8 * offset, 8 * length)
            self._write_part(address, targets, offset, length, piece, here, path, origin)
        if is_alone:
            self.end_parts(path, origin)

    def _arrive(self, path: Path, origin: Origin) -> None:
        """Where races are looked for, plain accesses have a mark in front of them."""
        self._arrival = -1
        if self._knowledge.finds_races and not self._log.order.is_atomic and path.section is None:
            self._arrival = self._log.mark(path, origin)

    def _begin_parts(self, parts: list[tuple[int, int]], path: Path, origin: Origin) -> bool:
        """The parts of an access are one step."""
        if len(parts) == 1 or path.section is not None:
            return False
        if self._knowledge.is_weak:
            raise UnsupportedCode("accesses of different sizes to the same bytes, in weak memory")
        path.section = self._log.section_from(self._log.mark(path, origin))
        return True

    def end_parts(self, path: Path, origin: Origin) -> None:
        assert path.section is not None
        count = len(self._log.result.events)
        self.flush(path, origin)
        for event in self._log.result.events[count:]:
            event.arrival = self._arrival
        self._log.close_section(path.section[0], path, origin)
        path.section = None

    def _groups(
        self, address: int, targets: list[Target], offset: int, size: int, here: int
    ) -> list[tuple[Cell, int, list[Target]]]:
        """The cells or regions that a part of an access can hit, and when it hits which."""
        layout = self._knowledge.layout
        cells = [(place + offset, size) for place, _ in targets]
        layout.use(cells)
        if len(cells) > FEW_PLACES:
            layout.join(cells)
        groups: dict[Cell, list[Target]] = {}
        for cell, target in zip(cells, targets, strict=True):
            groups.setdefault(layout.root(cell) or cell, []).append(target)
        if len(groups) == 1:
            return [(cell, here, some) for cell, some in groups.items()]
        return [
            (cell, self._terms.and_(here, is_at(self._terms, address, some)), some)
            for cell, some in groups.items()
        ]

    def _is_region(self, cell: Cell) -> bool:
        return self._knowledge.layout.root(cell) is not None

    def _read_part(
        self,
        address: int,
        targets: list[Target],
        offset: int,
        size: int,
        here: int,
        path: Path,
        origin: Origin,
    ) -> int:
        result: int | None = None
        by_event: list[int] = []
        value = seen = self._terms.fresh("read", 8 * size)
        cells = self._values.cells_of[value] = []
        for cell, hit, some in self._groups(address, targets, offset, size, here):
            if self._is_region(cell) or self._needs_event(cell, path):
                self._give_up(cell, path, origin)
                event = self._log.event(Access.READ, cell, hit, value, path, origin)
                event.arrival = self._arrival
                self._place(event, address, some, offset, size)
                seen = self._latecomers.read(event, hit, seen, path)
                cells.append(cell)
                by_event.append(hit)
                continue
            known = self._known_value(cell, hit, path, origin)
            result = known if result is None else self._terms.ite(hit, known, result)
        if by_event:
            chosen = self._terms.any_of(by_event)
            result = seen if result is None else self._terms.ite(chosen, seen, result)
        assert result is not None
        return result

    def _write_part(
        self,
        address: int,
        targets: list[Target],
        offset: int,
        size: int,
        value: int,
        here: int,
        path: Path,
        origin: Origin,
    ) -> None:
        for cell, hit, some in self._groups(address, targets, offset, size, here):
            self._values.written.setdefault(cell, {})[value] = None
            if self._is_region(cell):
                if cell in self._known.constant:
                    raise Surprise
                event = self._log.event(Access.WRITE, cell, hit, value, path, origin)
                event.arrival = self._arrival
                self._place(event, address, some, offset, size)
                self._latecomers.write(event, hit, path)
            else:
                self._store(cell, hit, value, path, origin)

    def _place(
        self, event: Occurrence, address: int, targets: list[Target], offset: int, size: int
    ) -> None:
        """In a region an event has an address."""
        if event.cell is None or not self._is_region(event.cell):
            return
        terms = self._terms
        moved = terms.add(address, terms.constant(offset, terms.width[address]))
        event.address = moved
        event.places = frozenset(place + offset for place, _ in targets)
        if event.kind is Access.READ:
            places = sorted(event.places)
            contents = [(place, self._contents.of(place, size)) for place in places]
            event.initial = select(terms, moved, contents)

    def _needs_event(self, cell: Cell, path: Path) -> bool:
        known = self._known
        return not (
            cell in known.constant
            or cell in known.locks
            or cell in known.semaphores
            or self._is_held(cell, path)
        )

    def _known_value(self, cell: Cell, here: int, path: Path, origin: Origin) -> int:
        if cell in self._known.constant:
            self._log.silent(path, here, origin)
            return self._known.constant[cell]
        if cell in self._known.locks:
            return self._load_lock(cell, here, path, origin)
        if cell in self._known.semaphores:
            self._log.silent(path, here, origin)
            return self._terms.constant(IN_BETWEEN, 8 * cell[1])
        return self._load_held(cell, here, path, origin)

    # In an atomic section nobody sees what happens in between, so each cell is read at most once,
    # and written at most once, at the end. The same goes for cells that a lock protects, as long
    # as the thread holds it.

    def _is_held(self, cell: Cell, path: Path) -> bool:
        return path.section is not None or self._lock_of(cell, path)

    def _lock_of(self, cell: Cell, path: Path) -> bool:
        """Whether the thread surely holds the lock that protects the cell."""
        lock = self._known.protected.get(cell)
        return lock is not None and path.locks.get(lock) is not None

    def _load_lock(self, cell: Cell, here: int, path: Path, origin: Origin) -> int:
        """Who acquires a lock finds 0, who releases it finds the value that it has written: if it
        is not known which of the two this is, what the section requires decides."""
        self._log.silent(path, here, origin)
        value = path.locks.get(cell, 0)
        if value is None:
            unknown = self._terms.fresh("lock", 8 * cell[1])
            self._log.result.open_locks.append(unknown)
            return unknown
        return self._terms.constant(value, 8 * cell[1])

    def _load_held(self, cell: Cell, here: int, path: Path, origin: Origin) -> int:
        terms = self._terms
        held = path.held.get(cell)
        if held is not None and held.known == terms.true:
            self._log.silent(path, here, origin)
            return held.value
        value = terms.fresh("read", 8 * cell[1])
        self._values.cells_of[value] = [cell]
        if held is None:
            event = self._log.event(Access.READ, cell, here, value, path, origin)
            event.arrival = self._arrival
            value = self._latecomers.read(event, here, value, path)
            path.held[cell] = Held(value, here, terms.false)
            return value
        is_new = terms.and_(here, terms.not_(held.known))
        self._log.silent(path, here, origin)
        if is_new == terms.false:
            return held.value
        event = self._log.event(Access.READ, cell, is_new, value, path, origin, False)
        event.arrival = self._arrival
        value = self._latecomers.read(event, is_new, value, path)
        value = terms.ite(held.known, held.value, value)
        path.held[cell] = Held(value, terms.or_(held.known, here), held.written)
        return value

    def _store(self, cell: Cell, here: int, value: int, path: Path, origin: Origin) -> None:
        if cell in self._known.unread or (self._known.unseen and self._is_unseen(cell, path)):
            self._log.silent(path, here, origin)
            return
        if cell in self._known.constant:
            if value != self._known.constant[cell]:
                raise Surprise
            self._log.silent(path, here, origin)
            return
        if cell in self._known.semaphores:
            self._change_semaphore(cell, here, value, path, origin)
            return
        if cell in self._known.locks:
            self._note_lock(cell, here, value, path)
        elif cell in self._known.tracked and not self._is_by_owner(cell, here, value, path):
            if cell in self._known.owned:
                raise Surprise
            self._log.result.unowned.add(cell)
        if self._is_held(cell, path):
            self._log.silent(path, here, origin)
            self._store_held(cell, here, value, path)
        elif cell in self._known.locks:
            self._store_held(cell, here, value, path)
            self.flush(path, origin, is_access=True)
        else:
            self._give_up(cell, path, origin)
            event = self._log.event(Access.WRITE, cell, here, value, path, origin)
            event.arrival = self._arrival

    def _is_unseen(self, cell: Cell, path: Path) -> bool:
        """Whether nobody reads what is written to the cell here."""
        names = () if path.section is None else path.section[0]
        keys = self._log.result.section_keys
        return bool(names) and all(
            (cell, keys.get(name)) in self._known.unseen for name, _ in names
        )

    def _change_semaphore(
        self, cell: Cell, here: int, value: int, path: Path, origin: Origin
    ) -> None:
        """As far as a section sees it, a semaphore has been in between when it changes it."""
        kind = {IN_BETWEEN - 1: Access.TAKE, IN_BETWEEN + 1: Access.GIVE}.get(
            self._terms.value(value) or 0
        )
        names = () if path.section is None else path.section[0]
        keys = {self._log.result.section_keys.get(name) for name, _ in names}
        if kind is None or here != self._terms.true or not names or None in keys:
            raise Surprise
        if kind is Access.TAKE and keys & self._known.unblocked:
            raise Surprise  # the thread could not stop in front of it
        self._log.event(kind, cell, here, value, path, origin)

    def _note_lock(self, cell: Cell, here: int, value: int, path: Path) -> None:
        known = self._terms.value(value)
        if known is None or here != self._terms.true:
            raise Surprise
        if known:
            names = () if path.section is None else path.section[0]
            keys = {self._log.result.section_keys.get(name) for name, _ in names}
            if not names or None in keys or keys & self._known.unblocked:
                raise Surprise  # the thread could not stop in front of it
            path.locks[cell] = known
        else:
            path.locks.pop(cell, None)

    def _is_by_owner(self, cell: Cell, here: int, value: int, path: Path) -> bool:
        """Whether a thread resets an awaited cell that it has set, or sets one that it has found
        to be 0 in the same section."""
        known = self._terms.value(value)
        owned = path.locks.get(cell, 0)
        if known is None or here != self._terms.true:
            return False
        if not known:
            path.locks.pop(cell, None)
            return bool(owned) or self._log.is_alone
        held = path.held.get(cell)
        path.locks[cell] = known
        return (
            owned == 0
            and path.section is not None
            and held is not None
            and (held.known, held.written) == (self._terms.true, self._terms.false)
        )

    def _store_held(self, cell: Cell, here: int, value: int, path: Path) -> None:
        terms = self._terms
        held = path.held.get(cell)
        if held is None or here == terms.true:
            path.held[cell] = Held(value, here, here)
            return
        path.held[cell] = Held(
            terms.ite(here, value, held.value),
            terms.or_(held.known, here),
            terms.or_(held.written, here),
        )

    def _give_up(self, cell: Cell, path: Path, origin: Origin) -> None:
        """Forget what is known of a cell that is not held any more on all paths here."""
        if cell in path.held:
            self._write_held(cell, path, origin, is_access=False)
            del path.held[cell]

    def flush(self, path: Path, origin: Origin, is_access: bool = False) -> None:
        """Write what others may see from here on: first what was written to other cells, then
        what was done to locks."""
        seen = [cell for cell in path.held if not self._lock_of(cell, path)]
        for cell in seen:
            if cell not in self._known.locks:
                self._write_held(cell, path, origin, is_access=False)
        for cell in seen:
            if cell in self._known.locks:
                self._write_held(cell, path, origin, is_access)
            del path.held[cell]

    def _write_held(self, cell: Cell, path: Path, origin: Origin, is_access: bool) -> None:
        held = path.held[cell]
        if held.written == self._terms.false:
            return
        kind = Access.WRITE
        if cell in self._known.locks:
            value = self._terms.value(held.value)
            if value is None:
                raise Surprise
            kind = Access.ACQUIRE if value else Access.RELEASE
        event = self._log.event(kind, cell, held.written, held.value, path, origin, is_access)
        if kind is Access.ACQUIRE:
            # Earlier ones are over on this path, but this is not known without the solver.
            path.holds[cell] = (*path.holds.get(cell, ()), (event, event.guard))
        elif kind is Access.RELEASE:
            event.holds = path.holds.pop(cell, ())
        self._latecomers.write(event, held.written, path)
