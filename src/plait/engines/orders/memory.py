"""Memory of the unrolled program: private cells in the symbolic state, shared ones as events.

A shared access is an event for each cell that it can hit, if these are few. If they are many, the
cells form a region and the access is one event with a symbolic address (see `events`). An access to
places that others access in smaller parts is an event for each part, all of them in one atomic
section, as it is one step. Which parts and regions there are is known from the unrolling before
(see `knowledge`). Private cells need no such foresight: they are cut when an access needs it.
"""

from __future__ import annotations

from plait.engines.interface import OutOfTime
from plait.engines.orders.bounds import Bounds
from plait.engines.orders.knowledge import Knowledge
from plait.engines.orders.objects import Instance
from plait.engines.orders.paths import Held, Path, Section
from plait.engines.orders.places import (
    decode,
    distinguishing_bits,
    is_one_of,
    progression,
    select,
)
from plait.engines.orders.private import read_cell, write_cell
from plait.engines.orders.unrolling import (
    Access,
    Claim,
    Occurrence,
    ThreadRun,
    Unrolling,
)
from plait.engines.orders.unrolling_facts import Cell, Surprise, UnrollingFacts
from plait.errors import UnsupportedCode
from plait.logic.operators import ADD, ITE, VARIABLE, compute
from plait.logic.terms import Terms
from plait.model.actions import Origin
from plait.model.expressions import Expr
from plait.model.program import Program
from plait.model.types import Scalar

MOST_CANDIDATES = 256  # different values of a pointer that are looked at one by one
MOST_PLACES = 4096  # places that an access by a symbolic address may have
FEW_PLACES = 4  # an access to more shared places is one event of a region
MOST_EVENTS = 200_000

Target = tuple[int, Instance]  # an address and the object there


class UnrolledMemory:
    """Loads and stores of the thread that is being unrolled, in the function `_current`."""

    def __init__(
        self,
        program: Program,
        terms: Terms,
        bounds: Bounds,
        knowledge: Knowledge,
        known: UnrollingFacts,
    ) -> None:
        self.known = known
        self.program = program
        self.terms = terms
        self.bounds = bounds
        self.knowledge = knowledge
        self.objects = knowledge.objects
        self.result = Unrolling()
        self._run = ThreadRun(0, -1, -1, terms.true)
        self._current = program.functions[program.entry]
        self._unknown: dict[int, tuple[int, int, int]] = {}
        # What a read can give, as far as it is known when a pointer is used: the cells of each
        # variable that stands for a read, and the values written to them. A value that is missing
        # here makes the access one to no known object, which leaves the verdict open.
        self._cells_of: dict[int, list[Cell]] = {}
        self._written: dict[Cell, dict[int, None]] = {}
        self._asked: dict[Cell, int] = {}
        self.is_plain = True  # the access that is being unrolled has no memory order
        self._arrival = -1

    def _under(self, path: Path, condition: int) -> Path | None:
        if condition == self.terms.false:
            return None
        path.condition = path.condition.with_part(self.terms, condition)
        return path

    def _claim(
        self, claims: list[Claim], path: Path, what: str, message: str, origin: Origin
    ) -> None:
        condition = path.condition.either_term(self.terms)
        if condition == self.terms.false:
            return
        if path.section is not None:  # nobody comes between its begin and this
            self._close_section(path.section[0], path, origin)
        claims.append(Claim(condition, self._run.number, what, message, origin))

    def _claim_invalid(self, path: Path, message: str, origin: Origin) -> None:
        """An invalid access or free: a violation if that is asked for, else undefined."""
        if self.knowledge.checks_memory:
            self._claim(self.result.violations, path, "valid-memsafety", message, origin)
        else:
            self._claim(self.result.troubles, path, "undefined behaviour", message, origin)

    def _section_from(self, begin: int) -> Section:
        return ((begin, self.result.events[begin].guard),), 1

    def _close_section(
        self, begins: tuple[tuple[int, int], ...], path: Path, origin: Origin
    ) -> None:
        last = self._mark(path, origin)
        self.result.sections += [
            (first, last, self.terms.and_(when, path.condition.term)) for first, when in begins
        ]

    def _initial(self, address: int, size: int) -> int:
        """The contents of a cell that nobody has written."""
        instance = self.objects.at(address, size)
        assert instance is not None
        if instance.contents is not None:
            offset = address - instance.address
            data = instance.contents[offset : offset + size]
            return self.terms.constant(int.from_bytes(data, "little"), 8 * size)
        return self._unknown_contents(address, size)

    def _unknown_contents(self, address: int, size: int) -> int:
        """Indeterminate bytes: one variable where they are first asked for, so that another
        access that overlaps gets the same bytes."""
        terms = self.terms
        owners = [self._unknown.get(place) for place in range(address, address + size)]
        if not any(owners):
            variable = terms.fresh("unknown", 8 * size)
            for place in range(address, address + size):
                self._unknown[place] = (address, size, variable)
            return variable
        if owners[0] is not None and owners[0][:2] == (address, size):
            return owners[0][2]
        result: int | None = None
        for place in range(address, address + size):
            start, _, variable = self._unknown.get(place) or (place, 1, 0)
            if not self._unknown.get(place):
                variable = terms.fresh("unknown", 8)
                self._unknown[place] = (place, 1, variable)
            byte = terms.extract(variable, 8 * (place - start), 8)
            result = byte if result is None else terms.concat(byte, result)
        assert result is not None
        return result

    # Where an access goes

    def _targets(
        self, address: int, expr: Expr, size: int, path: Path, origin: Origin
    ) -> list[Target]:
        """The places that a pointer can point to here; the path goes on only for these."""
        values = self._leaves(address)
        if values is None:
            steps = progression(self.terms, address)
            name = self._current.name
            values = self.objects.addresses(name, expr, size, steps, MOST_PLACES)
        if values is None:
            raise UnsupportedCode("an access through a pointer that may point to many places")
        found: list[Target] = []
        for value in values:
            instance = self.objects.at(value, size)
            if instance is not None and instance.owner in (0, self._run.number):
                if not self.objects.is_expected(self._current.name, expr, instance):
                    raise UnsupportedCode("an access through a pointer made from a number")
                found.append((value, instance))
        covered = self._is_at(address, found)
        outside = path.copy()
        if self._under(outside, self.terms.not_(covered)) is not None:
            self._claim_invalid(outside, "access to no live object", origin)
        path.condition = path.condition.with_part(self.terms, covered)
        self._require_alive(address, found, "access to no live object", path, origin)
        return found

    def _is_at(self, address: int, targets: list[Target]) -> int:
        """Whether the address is one of the targets."""
        places_of: dict[int, list[int]] = {}
        for place, instance in targets:
            places_of.setdefault(instance.address, []).append(place)
        if len(targets) <= FEW_PLACES:
            places_of = {0: [place for place, _ in targets]}
        return self.terms.any_of(
            is_one_of(self.terms, address, places) for places in places_of.values()
        )

    def _leaves(self, term: int) -> list[int] | None:
        """The values that a term of constants, choices and reads is known to take."""
        terms = self.terms
        found: dict[int, None] = {}
        seen: set[tuple[int, int]] = set()
        pending = [(term, 0)]
        mask = (1 << terms.width[term]) - 1
        while pending:
            item, added = pending.pop()
            if (item, added) in seen:
                continue
            seen.add((item, added))
            value = terms.value(item)
            operator = terms.operator[item]
            if value is not None:
                found[(value + added) & mask] = None
            elif operator == ITE:
                pending += [(choice, added) for choice in terms.operands[item][1:]]
            elif operator == ADD and terms.is_constant(terms.operands[item][1]):
                left, right = terms.operands[item]
                pending.append((left, added + (terms.value(right) or 0)))
            elif item in self._cells_of:
                for cell in self._cells_of[item]:
                    if self.knowledge.pointers.is_vague(cell):
                        return None
                    for constant in self.knowledge.pointers.values(cell):
                        found[(constant + added) & mask] = None
                    pending += [(written, added) for written in self._values_of(cell)]
            elif operator != VARIABLE:
                return None
            if len(found) + len(pending) > MOST_CANDIDATES:
                return None
        return list(found)

    def _numbers(self, term: int, most: int, known: dict[int, set[int] | None]) -> set[int] | None:
        """The values of any term whose variables stand for reads, as far as they are known; None
        if there are more than `most`, or nothing is known of a variable."""
        if term in known:
            return known[term]
        known[term] = set()  # of a value that depends on itself; completed below
        terms = self.terms
        found: set[int] | None = set()
        choices: list[int] = []
        if term in self._cells_of:
            choices = [item for cell in self._cells_of[term] for item in self._values_of(cell)]
        elif terms.operator[term] == ITE:
            choices = list(terms.operands[term][1:])
        elif terms.operator[term] == VARIABLE:
            found = None
        elif (value := terms.value(term)) is not None:
            found = {value}
        else:
            found = self._computed(term, most, known)
        for item in choices:
            more = self._numbers(item, most, known)
            found = None if found is None or more is None else found | more
        if found is not None and len(found) > most:
            found = None
        known[term] = found
        return found

    def _computed(self, term: int, most: int, known: dict[int, set[int] | None]) -> set[int] | None:
        terms = self.terms
        operands = terms.operands[term]
        sets = [self._numbers(item, most, known) for item in operands]
        combinations: list[tuple[int, ...]] = [()]
        for some in sets:
            if some is None or len(combinations) * len(some) > most * most:
                return None
            combinations = [(*start, value) for start in combinations for value in some]
        widths = [terms.width[item] for item in operands]
        return {
            compute(terms.operator[term], terms.width[term], values, widths, terms.parameter[term])
            for values in combinations
        }

    def _values_of(self, cell: Cell) -> list[int]:
        written = self._written.get(cell, {})
        self._asked.setdefault(cell, len(written))
        root = self.knowledge.layout.root(cell)
        places = [cell[0]] if root is None else self.knowledge.layout.members(root)
        initial = dict.fromkeys(self._initial(place, cell[1]) for place in places)
        return [*initial, *written]

    def learn_pointers(self) -> None:
        """Note pointers that were written to a cell only after a pointer was taken from there."""
        for cell, count in list(self._asked.items()):
            written = list(self._written.get(cell, {}))
            if len(written) == count:
                continue
            known = set(self.knowledge.pointers.values(cell))
            for term in [*self._values_of(cell)[: -len(written)], *written[:count]]:
                known.update(self._leaves(term) or ())
            for term in written[count:]:
                values = self._leaves(term)
                if values is not None:
                    values = [value for value in values if self._is_useful(value, known)]
                self.knowledge.pointers.learn(cell, values)

    def _is_useful(self, value: int, known: set[int]) -> bool:
        if value in known:
            return False
        return self.objects.at(value, 0) is not None or self.objects.function_at(value) is not None

    # Lives

    def _require_alive(
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
        watched = [item for item in targets if self.knowledge.lives.is_watched(item[1])]
        if not watched:
            return
        terms = self.terms
        if here is None:
            everywhere = len(watched) == len(targets)
            here = terms.true if everywhere else self._is_at(address, watched)
        is_alive = terms.eq(
            self._read_life(address, watched, here, path, origin), terms.constant(1, 8)
        )
        is_well = terms.or_(terms.not_(here), is_alive)
        dead = path.copy()
        if self._under(dead, terms.not_(is_well)) is not None:
            self._claim_invalid(dead, message, origin)
        path.condition = path.condition.with_part(terms, is_well)

    def _read_life(
        self, address: int, targets: list[Target], here: int, path: Path, origin: Origin
    ) -> int:
        """Whether the object at an address is alive; no access, as far as races and steps go."""
        life, lives = self._lives(address, targets)
        shared = [item for item in lives if item[1].is_shared]
        private = [item for item in lives if not item[1].is_shared]
        result: int | None = None
        if private:
            values = [(place, self._private(place, 1, path)) for place, _ in private]
            result = select(self.terms, life, values)
        if shared:
            is_shared = self._is_at(life, shared) if private else self.terms.true
            count = len(self.result.events)
            is_plain, self.is_plain = self.is_plain, False
            here = self.terms.and_(here, is_shared)
            value = self._read_shared(life, shared, 1, here, path, origin)
            self.is_plain = is_plain
            for event in self.result.events[count:]:
                event.is_access = False
            result = value if result is None else self.terms.ite(is_shared, value, result)
        assert result is not None
        return result

    def _set_life(self, instance: Instance, alive: bool, path: Path, origin: Origin) -> None:
        """Begin or end the life of an object."""
        self.knowledge.lives.watch(instance)
        life = self.objects.life_of(instance)
        value = self.terms.constant(int(alive), 8)
        if not life.is_shared:
            write_cell(self.terms, path.memory, life.address, 1, value)
            return
        address = self.terms.constant(life.address, self.program.data_model.pointer.bits)
        count = len(self.result.events)
        is_plain, self.is_plain = self.is_plain, False
        self._write_shared(address, [(life.address, life)], 1, value, self.terms.true, path, origin)
        self.is_plain = is_plain
        for event in self.result.events[count:]:
            event.is_access = False

    def _end_lives(self, address: int, path: Path, origin: Origin) -> None:
        """The object at an address, a local that leaves its scope, dies."""
        for value in self._leaves(address) or ():
            instance = self.objects.at(value, 0)
            if instance is None:
                continue
            here = self.terms.eq(address, self.terms.constant(value, self.terms.width[address]))
            if here != self.terms.true:
                raise UnsupportedCode("a local that is one of several when its scope ends")
            self._set_life(instance, False, path, origin)

    def _claim_leaks(self, path: Path, origin: Origin) -> None:
        """At the end of the process: what the program has allocated and not freed may be lost."""
        for instance in self.objects.leakable():
            life = self.objects.life_of(instance)
            address = self.terms.constant(instance.address, self.program.data_model.pointer.bits)
            targets = [(instance.address, instance)]
            value = self._read_life(address, targets, self.terms.true, path, origin)
            lost = path.copy()
            if self._under(lost, self.terms.eq(value, self.terms.constant(1, 8))) is not None:
                message = f"{life.name}: it is not freed"
                self._claim(self.result.leaks, lost, "valid-memtrack", message, origin)

    def _lives(self, address: int, targets: list[Target]) -> tuple[int, list[Target]]:
        """The address of the life of an object, and all that it can be."""
        lives = [(place, self.objects.life_of(instance)) for place, instance in targets]
        width = self.terms.width[address]
        choices = [(place, self.terms.constant(life.address, width)) for place, life in lives]
        distinct = {life.address: life for _, life in lives}
        return select(self.terms, address, choices), list(distinct.items())

    def _heap_targets(
        self, address: int, expr: Expr, allowed: int, path: Path, origin: Origin
    ) -> list[Target]:
        """The heap objects whose start a pointer may be; the path goes on only for these, or where
        `allowed` holds."""
        terms = self.terms
        values = self._leaves(address)
        if values is None:
            page = 1 << self.program.data_model.page_bits
            name = self._current.name
            values = self.objects.addresses(name, expr, 0, (0, page), MOST_PLACES)
        if values is None:
            raise UnsupportedCode("a pointer to many places that is freed")
        found = [
            (value, instance)
            for value in values
            if (instance := self.objects.at(value, 0)) is not None
            and instance.from_heap
            and instance.address == value
        ]
        covered = terms.or_(allowed, self._is_at(address, found))
        outside = path.copy()
        if self._under(outside, terms.not_(covered)) is not None:
            message = "free of a pointer that is not the start of a live heap object"
            self._claim_invalid(outside, message, origin)
        path.condition = path.condition.with_part(terms, covered)
        return found

    def _free(self, address: int, expr: Expr, path: Path, origin: Origin) -> None:
        """The end of a heap object's life, in one step that counts as an access."""
        terms = self.terms
        is_null = terms.eq(address, terms.constant(0, terms.width[address]))
        found = self._heap_targets(address, expr, is_null, path, origin)
        for _, instance in found:
            self.knowledge.lives.watch(instance)
        if not found or path.condition.either_term(terms) == terms.false:
            return
        here = terms.not_(is_null)
        is_alone = path.section is None
        if is_alone:
            path.section = self._section_from(self._mark(path, origin))
        self._require_alive(address, found, "free of a dead object", path, origin, here)
        life, lives = self._lives(address, found)
        self.is_plain = False
        self._write_shared(life, lives, 1, terms.constant(0, 8), here, path, origin)
        if is_alone:
            self._end_parts(path, origin)

    def _object_size(self, address: int, expr: Expr, bits: int, path: Path, origin: Origin) -> int:
        found = self._heap_targets(address, expr, self.terms.false, path, origin)
        self._require_alive(address, found, "the size of a dead object", path, origin)
        self._mark(path, origin, is_access=True)
        if not found:
            return self.terms.fresh("nowhere", bits)
        sizes = [(place, self.terms.constant(item.size, bits)) for place, item in found]
        return select(self.terms, address, sizes)

    # Loads and stores

    def _load(self, address: int, expr: Expr, type_: Scalar, path: Path, origin: Origin) -> int:
        size = type_.size
        targets = self._targets(address, expr, size, path, origin)
        shared = [target for target in targets if target[1].is_shared]
        private = [target for target in targets if not target[1].is_shared]
        result: int | None = None
        if private:
            values = [(place, self._private(place, size, path)) for place, _ in private]
            result = select(self.terms, address, values)
        if shared:
            here = self._is_at(address, shared) if private else self.terms.true
            value = self._read_shared(address, shared, size, here, path, origin)
            result = value if result is None else self.terms.ite(here, value, result)
        if result is None:
            return self.terms.fresh("nowhere", 8 * size)
        if type_.is_bool:  # whatever the byte is
            is_zero = self.terms.eq(result, self.terms.constant(0, 8 * size))
            result = self.terms.zero_extend(self.terms.not_(is_zero), 8 * size)
        return result

    def _store(
        self, address: int, expr: Expr, value: int, type_: Scalar, path: Path, origin: Origin
    ) -> None:
        size = type_.size
        targets = self._targets(address, expr, size, path, origin)
        forbidden = [target for target in targets if target[1].read_only]
        if forbidden:
            bad = path.copy()
            here = self._is_at(address, forbidden)
            if self._under(bad, here) is not None:
                self._claim_invalid(bad, f"write to read-only {forbidden[0][1].name}", origin)
            path.condition = path.condition.with_part(self.terms, self.terms.not_(here))
        targets = [target for target in targets if not target[1].read_only]
        shared = [target for target in targets if target[1].is_shared]
        private = [place for place, instance in targets if not instance.is_shared]
        if shared:
            here = self._is_at(address, shared) if private else self.terms.true
            self._write_shared(address, shared, size, value, here, path, origin)
        if private:
            here = self.terms.not_(self._is_at(address, shared))
            for place, chosen in decode(self.terms, address, private).items():
                old_or_new = value
                happens = self.terms.and_(here, chosen)
                if happens != self.terms.true:
                    old = self._private(place, size, path)
                    old_or_new = self.terms.ite(happens, value, old)
                write_cell(self.terms, path.memory, place, size, old_or_new)

    def _private(self, address: int, size: int, path: Path) -> int:
        return read_cell(self.terms, path.memory, address, size, self._initial)

    # Shared memory

    def _read_shared(
        self, address: int, targets: list[Target], size: int, here: int, path: Path, origin: Origin
    ) -> int:
        result: int | None = None
        self._arrive(path, origin)
        parts = self.knowledge.layout.parts((place for place, _ in targets), size)
        is_alone = self._begin_parts(parts, path, origin)
        for offset, length in parts:
            value = self._read_part(address, targets, offset, length, here, path, origin)
            result = value if result is None else self.terms.concat(value, result)
        if is_alone:
            self._end_parts(path, origin)
        assert result is not None
        return result

    def _write_shared(
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
        parts = self.knowledge.layout.parts((place for place, _ in targets), size)
        is_alone = self._begin_parts(parts, path, origin)
        for offset, length in parts:
            piece = self.terms.extract(value, 8 * offset, 8 * length)
            self._write_part(address, targets, offset, length, piece, here, path, origin)
        if is_alone:
            self._end_parts(path, origin)

    def _arrive(self, path: Path, origin: Origin) -> None:
        """Where races are looked for, plain accesses have a mark in front of them."""
        self._arrival = -1
        if self.knowledge.finds_races and self.is_plain and path.section is None:
            self._arrival = self._mark(path, origin)

    def _begin_parts(self, parts: list[tuple[int, int]], path: Path, origin: Origin) -> bool:
        """The parts of an access are one step."""
        if len(parts) == 1 or path.section is not None:
            return False
        path.section = self._section_from(self._mark(path, origin))
        return True

    def _end_parts(self, path: Path, origin: Origin) -> None:
        assert path.section is not None
        count = len(self.result.events)
        self._flush(path, origin)
        for event in self.result.events[count:]:
            event.arrival = self._arrival
        self._close_section(path.section[0], path, origin)
        path.section = None

    def _groups(
        self, address: int, targets: list[Target], offset: int, size: int, here: int
    ) -> list[tuple[Cell, int, list[Target]]]:
        """The cells or regions that a part of an access can hit, and when it hits which."""
        layout = self.knowledge.layout
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
            (cell, self.terms.and_(here, self._is_at(address, some)), some)
            for cell, some in groups.items()
        ]

    def _is_region(self, cell: Cell) -> bool:
        return self.knowledge.layout.root(cell) is not None

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
        value = seen = self.terms.fresh("read", 8 * size)
        cells = self._cells_of[value] = []
        for cell, hit, some in self._groups(address, targets, offset, size, here):
            if self._is_region(cell) or self._needs_event(cell, path):
                self._give_up(cell, path, origin)
                event = self._event(Access.READ, cell, hit, value, path, origin)
                event.arrival = self._arrival
                self._place(event, address, some, offset, size)
                seen = self._seen_by(event, hit, seen, path)
                cells.append(cell)
                by_event.append(hit)
                continue
            known = self._known_value(cell, hit, path, origin)
            result = known if result is None else self.terms.ite(hit, known, result)
        if by_event:
            chosen = self.terms.any_of(by_event)
            result = seen if result is None else self.terms.ite(chosen, seen, result)
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
            self._written.setdefault(cell, {})[value] = None
            if self._is_region(cell):
                if cell in self.known.constant:
                    raise Surprise
                event = self._event(Access.WRITE, cell, hit, value, path, origin)
                event.arrival = self._arrival
                self._place(event, address, some, offset, size)
                self._written_by(event, hit, path)
            else:
                self._store_shared(cell, hit, value, path, origin)

    def _place(
        self, event: Occurrence, address: int, targets: list[Target], offset: int, size: int
    ) -> None:
        """In a region an event has an address."""
        if event.cell is None or not self._is_region(event.cell):
            return
        terms = self.terms
        moved = terms.add(address, terms.constant(offset, terms.width[address]))
        event.address = moved
        event.places = frozenset(place + offset for place, _ in targets)
        if event.kind is Access.READ:
            places = sorted(event.places)
            contents = [(place, self._initial(place, size)) for place in places]
            event.initial = select(terms, moved, contents)

    def _written_by(self, event: Occurrence, here: int, path: Path) -> None:
        """An event writes, where `here` holds, what a path no longer remembers."""

    def _seen_by(self, event: Occurrence, here: int, value: int, path: Path) -> int:
        """What a thread sees where it reads a value by an event."""
        return value

    def _needs_event(self, cell: Cell, path: Path) -> bool:
        return not (
            cell in self.known.constant or cell in self.known.locks or self._is_held(cell, path)
        )

    def _known_value(self, cell: Cell, here: int, path: Path, origin: Origin) -> int:
        if cell in self.known.constant:
            self._silent(path, here, origin)
            return self.known.constant[cell]
        if cell in self.known.locks:
            return self._load_lock(cell, here, path, origin)
        return self._load_held(cell, here, path, origin)

    # In an atomic section nobody sees what happens in between, so each cell is read at most once,
    # and written at most once, at the end. The same goes for cells that a lock protects, as long
    # as the thread holds it.

    def _is_held(self, cell: Cell, path: Path) -> bool:
        return path.section is not None or self._lock_of(cell, path)

    def _lock_of(self, cell: Cell, path: Path) -> bool:
        """Whether the thread surely holds the lock that protects the cell."""
        lock = self.known.protected.get(cell)
        return lock is not None and path.locks.get(lock) is not None

    def _load_lock(self, cell: Cell, here: int, path: Path, origin: Origin) -> int:
        """Who acquires a lock finds 0, who releases it finds the value that it has written: if it
        is not known which of the two this is, what the section requires decides."""
        self._silent(path, here, origin)
        value = path.locks.get(cell, 0)
        if value is None:
            return self.terms.fresh("lock", 8 * cell[1])
        return self.terms.constant(value, 8 * cell[1])

    def _load_held(self, cell: Cell, here: int, path: Path, origin: Origin) -> int:
        terms = self.terms
        held = path.held.get(cell)
        if held is not None and held.known == terms.true:
            self._silent(path, here, origin)
            return held.value
        value = terms.fresh("read", 8 * cell[1])
        self._cells_of[value] = [cell]
        if held is None:
            event = self._event(Access.READ, cell, here, value, path, origin)
            event.arrival = self._arrival
            value = self._seen_by(event, here, value, path)
            path.held[cell] = Held(value, here, terms.false)
            return value
        is_new = terms.and_(here, terms.not_(held.known))
        self._silent(path, here, origin)
        if is_new == terms.false:
            return held.value
        event = self._event(Access.READ, cell, is_new, value, path, origin, False)
        event.arrival = self._arrival
        value = self._seen_by(event, is_new, value, path)
        value = terms.ite(held.known, held.value, value)
        path.held[cell] = Held(value, terms.or_(held.known, here), held.written)
        return value

    def _store_shared(self, cell: Cell, here: int, value: int, path: Path, origin: Origin) -> None:
        if cell in self.known.constant:
            if value != self.known.constant[cell]:
                raise Surprise
            self._silent(path, here, origin)
            return
        if cell in self.known.locks:
            self._note_lock(cell, here, value, path)
        elif cell in self.known.awaited and not self._is_by_owner(cell, here, value, path):
            if cell in self.known.owned:
                raise Surprise
            self.result.unowned.add(cell)
        if self._is_held(cell, path):
            self._silent(path, here, origin)
            self._store_held(cell, here, value, path)
        elif cell in self.known.locks:
            self._store_held(cell, here, value, path)
            self._flush(path, origin, is_access=True)
        else:
            self._give_up(cell, path, origin)
            event = self._event(Access.WRITE, cell, here, value, path, origin)
            event.arrival = self._arrival

    def _note_lock(self, cell: Cell, here: int, value: int, path: Path) -> None:
        known = self.terms.value(value)
        if known is None or here != self.terms.true:
            raise Surprise
        if known:
            names = () if path.section is None else path.section[0]
            keys = {self.result.section_keys.get(name) for name, _ in names}
            if not names or None in keys or keys & self.known.unblocked:
                raise Surprise  # the thread could not stop in front of it
            path.locks[cell] = known
        else:
            path.locks.pop(cell, None)

    def _is_by_owner(self, cell: Cell, here: int, value: int, path: Path) -> bool:
        """Whether a thread resets an awaited cell that it has set, or sets one that it has found
        to be 0 in the same section."""
        known = self.terms.value(value)
        owned = path.locks.get(cell, 0)
        if known is None or here != self.terms.true:
            return False
        if not known:
            path.locks.pop(cell, None)
            return bool(owned) or self._is_alone()
        held = path.held.get(cell)
        path.locks[cell] = known
        return (
            owned == 0
            and path.section is not None
            and held is not None
            and (held.known, held.written) == (self.terms.true, self.terms.false)
        )

    def _is_alone(self) -> bool:
        """Whether no other thread has been started."""
        return False

    def _store_held(self, cell: Cell, here: int, value: int, path: Path) -> None:
        terms = self.terms
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

    def _flush(self, path: Path, origin: Origin, is_access: bool = False) -> None:
        """Write what others may see from here on: first what was written to other cells, then
        what was done to locks."""
        seen = [cell for cell in path.held if not self._lock_of(cell, path)]
        for cell in seen:
            if cell not in self.known.locks:
                self._write_held(cell, path, origin, is_access=False)
        for cell in seen:
            if cell in self.known.locks:
                self._write_held(cell, path, origin, is_access)
            del path.held[cell]

    def _write_held(self, cell: Cell, path: Path, origin: Origin, is_access: bool) -> None:
        held = path.held[cell]
        if held.written == self.terms.false:
            return
        kind = Access.WRITE
        if cell in self.known.locks:
            value = self.terms.value(held.value)
            if value is None:
                raise Surprise
            kind = Access.ACQUIRE if value else Access.RELEASE
        event = self._event(kind, cell, held.written, held.value, path, origin, is_access)
        self._written_by(event, held.written, path)

    def _event(
        self,
        kind: Access,
        cell: Cell,
        here: int,
        value: int,
        path: Path,
        origin: Origin,
        is_access: bool = True,
    ) -> Occurrence:
        guard = self.terms.and_(path.condition.term, here)
        event = self._add_event(kind, cell, guard, value, path, origin)
        event.is_access = is_access
        return event

    def _silent(self, path: Path, here: int, origin: Origin) -> None:
        """An access that needs no event."""
        guard = self.terms.and_(path.condition.term, here)
        if guard != self.terms.false:
            event = self._add_event(Access.MARK, None, guard, 0, path, origin)
            event.is_access = event.is_silent = True

    def _add_event(
        self,
        kind: Access,
        cell: Cell | None,
        guard: int,
        value: int,
        path: Path,
        origin: Origin,
    ) -> Occurrence:
        number = len(self.result.events)
        if number >= MOST_EVENTS:
            raise UnsupportedCode(f"more than {MOST_EVENTS} events")
        if number % 256 == 0 and self.knowledge.is_out_of_time():
            raise OutOfTime
        section = () if path.section is None else path.section[0]
        event = Occurrence(
            number, self._run.number, kind, cell, guard, value, section, cell is not None, origin
        )
        self.result.events.append(event)
        self._run.events.append(number)
        is_access = kind in (Access.READ, Access.WRITE)
        if is_access and cell is not None and cell not in self.result.initial:
            self.result.initial[cell] = self._initial(*cell)
            root = self.knowledge.layout.root(cell)
            if root is not None:
                places = self.knowledge.layout.members(root)
                self.result.regions[cell] = distinguishing_bits(places)
        return event

    def _mark(self, path: Path, origin: Origin, is_access: bool = False) -> int:
        event = self._add_event(Access.MARK, None, path.condition.term, 0, path, origin)
        event.is_access = is_access
        return event.number
