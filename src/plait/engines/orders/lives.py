"""Lives of objects: a byte beside each one that may die, which every access looks at first.

In weak memory an access and a look at such a byte are not one step: a store becomes visible later,
and under C11 an access is not next to what it reads. There a shared object has no such byte; its
end is an event, and which accesses do not come before it is looked at with all orders (see
`weak.endings`).
"""

from __future__ import annotations

from plait.engines.orders.event_log import EventLog
from plait.engines.orders.objects import Instance
from plait.engines.orders.paths import Path
from plait.engines.orders.places import select
from plait.engines.orders.possible_values import PossibleValues
from plait.engines.orders.private import write_cell
from plait.engines.orders.shared import SharedMemory, Target, is_at
from plait.errors import UnsupportedCode
from plait.model.actions import Order, Origin

_MOST_LINKED = 6  # objects at the end of the process that are asked whether they lead to others
_LARGEST_LINKED = 64  # bytes of such an object


class ObjectLives:
    def __init__(self, log: EventLog, values: PossibleValues, shared: SharedMemory) -> None:
        self._terms = log.terms
        self._lives = log.knowledge.lives
        self._objects = log.knowledge.objects
        self._pointer_bits = log.program.data_model.pointer.bits
        self._log = log
        self._values = values
        self._shared = shared

    def require(
        self,
        address: int,
        targets: list[Target],
        message: str,
        path: Path,
        origin: Origin,
        here: int | None = None,
    ) -> None:
        """Look at the lives of objects before an access to one of them, or where `here` holds.

        This is a step of its own, before the access. If in some execution the object dies before
        the access, then another one, in which the look comes later, finds it dead: both questions,
        whether an access to a dead object exists and what happens without one, have the same
        answers as if look and access were one step. Executions in which the object dies between
        the two exist only where such an access does, and do not replay.
        """
        watched = [item for item in targets if self._lives.is_watched(item[1])]
        if not watched:
            return
        terms = self._terms
        if here is None:
            everywhere = len(watched) == len(targets)
            here = terms.true if everywhere else is_at(self._terms, address, watched)
        is_alive = terms.eq(self._read(address, watched, here, path, origin), terms.constant(1, 8))
        is_well = terms.or_(terms.not_(here), is_alive)
        dead = path.copy()
        if self._log.under(dead, terms.not_(is_well)) is not None:
            self._log.claim_invalid(dead, message, origin)
        path.condition = path.condition.with_part(terms, is_well)

    def _read(
        self, address: int, targets: list[Target], here: int, path: Path, origin: Origin
    ) -> int:
        """Whether the object at an address is alive; no access, as far as races and steps go."""
        life, lives = self.of(address, targets)
        return self._look(life, lives, 1, here, path, origin)

    def watch(self, instance: Instance) -> None:
        """Accesses to the object must look whether it is alive."""
        if not self._ends_by_event(instance):
            self._lives.watch(instance)

    def _ends_by_event(self, instance: Instance) -> bool:
        return self._log.knowledge.is_weak and instance.is_shared

    def _look(
        self, address: int, places: list[Target], size: int, here: int, path: Path, origin: Origin
    ) -> int:
        """What is in memory; no access, as far as races and steps go."""
        shared = [item for item in places if item[1].is_shared]
        private = [item for item in places if not item[1].is_shared]
        result: int | None = None
        if private:
            read = self._log.contents.private
            values = [(place, read(place, size, path)) for place, _ in private]
            result = select(self._terms, address, values)
        if shared:
            is_shared = is_at(self._terms, address, shared) if private else self._terms.true
            count = len(self._log.result.events)
            order, self._log.order = self._log.order, Order.RELAXED
            here = self._terms.and_(here, is_shared)
            value = self._shared.read(address, shared, size, here, path, origin)
            self._log.order = order
            for event in self._log.result.events[count:]:
                event.is_access = False
            result = value if result is None else self._terms.ite(is_shared, value, result)
        assert result is not None
        return result

    def set(self, instance: Instance, alive: bool, path: Path, origin: Origin) -> None:
        """Begin or end the life of an object."""
        self.watch(instance)
        life = self._objects.life_of(instance)
        value = self._terms.constant(int(alive), 8)
        if not life.is_shared:
            write_cell(self._terms, path.memory, life.address, 1, value)
            return
        address = self._terms.constant(life.address, self._pointer_bits)
        count = len(self._log.result.events)
        order, self._log.order = self._log.order, Order.RELAXED
        everywhere = self._terms.true
        self._shared.write(address, [(life.address, life)], 1, value, everywhere, path, origin)
        self._log.order = order
        for event in self._log.result.events[count:]:
            event.is_access = False

    def end(
        self, address: int, targets: list[Target], here: int, path: Path, origin: Origin
    ) -> None:
        """The life of the object at an address ends, where `here` holds."""
        terms = self._terms
        shared = [item for item in targets if item[1].is_shared]
        if shared and self._log.knowledge.is_weak:
            self._end_by_event(address, shared, here, path, origin)
            targets = [item for item in targets if not item[1].is_shared]
            if not targets:
                return
        life, lives = self.of(address, targets)
        shared = [item for item in lives if item[1].is_shared]
        for place, instance in lives:
            if not instance.is_shared:
                dies = terms.and_(here, is_at(terms, life, [(place, instance)]))
                before = self._log.contents.private(place, 1, path)
                value = terms.ite(dies, terms.constant(0, 8), before)
                write_cell(terms, path.memory, place, 1, value)
        if shared:
            if len(shared) < len(lives):
                here = terms.and_(here, is_at(terms, life, shared))
            self._log.order = Order.RELAXED
            self._shared.write(life, shared, 1, terms.constant(0, 8), here, path, origin)

    def _end_by_event(
        self, address: int, targets: list[Target], here: int, path: Path, origin: Origin
    ) -> None:
        """In weak memory, as an access that the replay counts."""
        freeing = self._log.under(path.copy(), here)
        if freeing is None:
            return
        event = self._log.mark(freeing, origin, is_access=True)
        self._log.result.endings[event] = tuple(
            (instance.address, is_at(self._terms, address, [(place, instance)]))
            for place, instance in targets
        )

    def end_together(
        self, locals_: list[int], thread_locals: list[Instance], path: Path, origin: Origin
    ) -> None:
        """Locals at these addresses leave their scope, and thread-local objects die with their
        thread, in one step."""
        dying = [item for item in thread_locals if item.can_dangle]
        for address in locals_:
            for value in self._values.leaves(address) or ():
                instance = self._objects.at(value, 0)
                if instance is None or not instance.can_dangle:
                    continue
                width = self._terms.width[address]
                here = self._terms.eq(address, self._terms.constant(value, width))
                if here != self._terms.true:
                    raise UnsupportedCode("a local that is one of several when its scope ends")
                dying.append(instance)
        for instance in dying:
            if not self._ends_by_event(instance):
                self.set(instance, False, path, origin)
        shared = [item.address for item in dying if self._ends_by_event(item)]
        if shared:
            ended = tuple((one, self._terms.true) for one in shared)
            self._log.result.endings[self._log.mark(path, origin)] = ended

    def claim_leaks(self, path: Path, origin: Origin) -> None:
        """At the end of the process: what the program has allocated and not freed may be lost.

        What a static object points to is not, nor what that points to. The looks at memory are
        steps of their own, and there are others that could be looked at: locals, say. So more is
        claimed than is lost, never less: where something is lost, all looks can come together.
        """
        terms = self._terms
        leakable = self._objects.leakable()
        alive = {
            item.address: terms.eq(self._life_of(item, path, origin), terms.constant(1, 8))
            for item in leakable
        }
        kept = self._kept_by_statics(leakable, alive, path, origin)
        for instance in leakable:
            life = self._objects.life_of(instance)
            lost = path.copy()
            address = instance.address
            if self._log.under(lost, terms.and_(alive[address], terms.not_(kept[address]))) is None:
                continue
            message = f"{life.name}: it is not freed"
            self._log.claim(self._log.result.leaks, lost, "valid-memtrack", message, origin)

    def _life_of(self, instance: Instance, path: Path, origin: Origin) -> int:
        address = self._terms.constant(instance.address, self._pointer_bits)
        targets = [(instance.address, instance)]
        return self._read(address, targets, self._terms.true, path, origin)

    def _kept_by_statics(
        self, leakable: list[Instance], alive: dict[int, int], path: Path, origin: Origin
    ) -> dict[int, int]:
        """Where each object is reached from static ones, as far as that is looked at."""
        terms = self._terms
        statics = self._objects.static_pointers(self._log.run.number)
        roots = self._pointers(statics, path, origin)
        kept = {item.address: self._is_one_of(roots, item) for item in leakable}
        if len(leakable) > _MOST_LINKED:
            return kept
        size = self._pointer_bits // 8
        inside = {
            item.address: self._pointers(
                [(item.address + offset, item) for offset in range(0, item.size - size + 1, size)],
                path,
                origin,
            )
            for item in leakable
            if item.size <= _LARGEST_LINKED
        }
        for _ in leakable[1:]:
            kept = {
                item.address: terms.any_of(
                    [kept[item.address]]
                    + [
                        terms.and_(
                            terms.and_(alive[other], kept[other]), self._is_one_of(pointers, item)
                        )
                        for other, pointers in inside.items()
                        if other != item.address
                    ]
                )
                for item in leakable
            }
        return kept

    def _pointers(self, places: list[Target], path: Path, origin: Origin) -> list[int]:
        return [
            self._look(
                self._terms.constant(place, self._pointer_bits),
                [(place, instance)],
                self._pointer_bits // 8,
                self._terms.true,
                path,
                origin,
            )
            for place, instance in places
        ]

    def _is_one_of(self, pointers: list[int], instance: Instance) -> int:
        terms = self._terms
        address = terms.constant(instance.address, self._pointer_bits)
        return terms.any_of([terms.eq(pointer, address) for pointer in pointers])

    def of(self, address: int, targets: list[Target]) -> tuple[int, list[Target]]:
        """The address of the life of an object, and all that it can be."""
        lives = [(place, self._objects.life_of(instance)) for place, instance in targets]
        width = self._terms.width[address]
        choices = [(place, self._terms.constant(life.address, width)) for place, life in lives]
        distinct = {life.address: life for _, life in lives}
        return select(self._terms, address, choices), list(distinct.items())
