"""What the cells of a run hold, as terms: symbols where several threads meet, else what the one
thread that uses a cell has last written there."""

from __future__ import annotations

from plait.hunt.fusion.executed import Executed, NotFollowed, Touch
from plait.hunt.fusion.objects import RunObjects
from plait.hunt.fusion.paths import LIFE, Branch, Cell, CellRead, CellWrite, PathEvent, ThreadPath
from plait.logic.terms import Terms


class SharedCells:
    """What was found out about cells in one pass over a run."""

    def __init__(self) -> None:
        self.place = 0  # in the run, of what is executed now
        self.starts: dict[int, tuple[int, int]] = {}  # thread: who has started it, at which place
        self.ended: dict[int, set[int]] = {}  # page of an object whose life has ended: by whom
        self.by_step: dict[int, list[tuple[int, bool]]] = {}
        self._uses: dict[Cell, dict[tuple[int, bool], int]] = {}  # the last place

    def note(self, step: int, thread: int, cell: Cell, *, is_write: bool) -> None:
        self._uses.setdefault(cell, {})[thread, is_write] = self.place
        self.by_step.setdefault(step, []).append((cell.page, is_write))

    def shared(self, objects: RunObjects, threads: dict[int, ThreadPath]) -> frozenset[Cell]:
        """Cells with conflicting accesses in an order that is not that of the starts of threads, or
        that one thread uses and a branch that another one has not taken may write."""
        found = set()
        branches = [
            branch for path in threads.values() for branch in path.branches if branch.untaken.writes
        ]
        for cell, uses in self._uses.items():
            users = {thread for thread, _ in uses}
            if self._has_conflict(uses) or any(
                users - {branch.thread} and objects.may_write(branch, cell.page)
                for branch in branches
            ):
                found.add(cell)
        return frozenset(found)

    def _has_conflict(self, uses: dict[tuple[int, bool], int]) -> bool:
        return any(
            thread < other
            and (is_write or is_other_write)
            and not self._starts_behind(other, thread, last)
            and not self._starts_behind(thread, other, other_last)
            for (thread, is_write), last in uses.items()
            for (other, is_other_write), other_last in uses.items()
        )

    def _starts_behind(self, thread: int, other: int, place: int) -> bool:
        """Whether a thread is started, by way of others, by another one behind a place."""
        while thread in self.starts:
            thread, started = self.starts[thread]
            if thread == other:
                return place < started
        return False

    def mortal(self) -> frozenset[int]:
        """Pages of objects whose life ends, and that others than who ends it have used."""
        users = {page: set(threads) for page, threads in self.ended.items()}
        for cell, uses in self._uses.items():
            if cell.page in users:
                users[cell.page].update(thread for thread, _ in uses)
        return frozenset(page for page, threads in users.items() if len(threads) > 1)


class PathMemory:
    """Reads and writes of a run; those of shared cells become parts of events."""

    def __init__(self, terms: Terms, objects: RunObjects, shared: frozenset[Cell]) -> None:
        self.seen = SharedCells()
        self.initial: dict[Cell, int] = {}
        self.is_parallel = False  # there are several threads
        self._terms = terms
        self._objects = objects
        self._shared = shared
        self._bytes: dict[int, int | None] = dict(objects.initial)
        self._own_writes: dict[int, list[Cell]] = {}  # of each thread, in their order
        self._known: dict[Cell, int] = {}  # symbolic contents of cells that one thread uses
        self._doubts: dict[Cell, int] = {}  # where this does not hold the contents are any

    def is_shared(self, cell: Cell) -> bool:
        return self.is_parallel and cell in self._shared

    def read(self, row: Executed, touch: Touch, path: ThreadPath, step: Step) -> int | None:
        """The value that is read; None if it is what it was in the run."""
        cells = self._objects.cells_at(touch.address, touch.size)
        parts: list[int | None] = []
        for cell in cells:
            if self.is_parallel:
                self.seen.note(step.number, row.thread, cell, is_write=False)
            if self.is_shared(cell):
                parts.append(self.shared_read(cell, path, step))
            else:
                parts.append(self._own(cell, touch))
        if all(part is None for part in parts):
            return None
        value: int | None = None
        for cell, part in zip(cells, parts, strict=True):
            piece = self._recorded(cell, touch) if part is None else part
            value = piece if value is None else self._terms.concat(piece, value)
        return value

    def _own(self, cell: Cell, touch: Touch) -> int | None:
        doubt = self._doubts.pop(cell, None)
        if doubt is not None:
            fresh = self._terms.fresh("phi", cell.width)
            self._known[cell] = self._terms.ite(doubt, self._recorded(cell, touch), fresh)
        return self._known.get(cell)

    def _recorded(self, cell: Cell, touch: Touch) -> int:
        if touch.value is None:
            return self._terms.fresh("unset", cell.width)
        shift = self._objects.address(cell) - touch.address
        return self._terms.constant(int(touch.value) >> 8 * shift, cell.width)

    def write(
        self, row: Executed, touch: Touch, term: int | None, path: ThreadPath, step: Step
    ) -> None:
        """`term` is None if what is written is what it was in the run."""
        if not self.is_parallel:
            for place in range(touch.size):
                byte = None if touch.value is None else int(touch.value) >> 8 * place & 255
                self._bytes[touch.address + place] = byte
        for cell in self._objects.cells_at(touch.address, touch.size):
            if term is None:
                part = self._recorded(cell, touch)
            else:
                shift = self._objects.address(cell) - touch.address
                part = self._terms.extract(term, 8 * shift, cell.width)
            if self.is_parallel:
                self.seen.note(step.number, row.thread, cell, is_write=True)
            if self.is_shared(cell):
                self.shared_write(cell, part, path, step)
                continue
            self._own_writes.setdefault(row.thread, []).append(cell)
            self._doubts.pop(cell, None)
            if self._terms.is_constant(part):
                self._known.pop(cell, None)
            else:
                self._known[cell] = part

    # --- parts of events

    def shared_read(self, cell: Cell, path: ThreadPath, step: Step) -> int:
        event = step.event(path)
        is_doubtful = self._may_be_written_inside(cell, path)
        for write in event.writes:
            if write.cell == cell:
                if write.guard == step.guard and not is_doubtful:
                    return write.value
                raise NotFollowed("a step reads what it may have written")
        for read in event.reads:
            if read.cell == cell and read.guard == step.guard and not is_doubtful:
                return read.symbol
        self._note_initial(cell)
        symbol = self._terms.fresh(f"read{event.step}", cell.width)
        event.reads.append(CellRead(cell, symbol, step.guard, len(path.branches)))
        return symbol

    def shared_write(self, cell: Cell, value: int, path: ThreadPath, step: Step) -> None:
        event = step.event(path)
        self._note_initial(cell)
        for write in event.writes:
            if write.cell == cell:
                if write.guard != step.guard:
                    raise NotFollowed("a step may write twice")
                write.value = value
                return
        event.writes.append(CellWrite(cell, value, step.guard))

    def _may_be_written_inside(self, cell: Cell, path: ThreadPath) -> bool:
        """Whether a branch that the present step has not taken may write a cell."""
        return any(
            branch.after == len(path.events) and self._objects.may_write(branch, cell.page)
            for branch in reversed(path.branches)
        )

    def _note_initial(self, cell: Cell) -> None:
        if cell in self.initial:
            return
        if cell.offset == LIFE:
            self.initial[cell] = self._terms.true
            return
        first = self._objects.address(cell)
        data = [self._bytes.get(first + place) for place in range(cell.size)]
        if any(byte is None for byte in data):
            self.initial[cell] = self._terms.fresh("unset", cell.width)
            return
        value = sum((byte or 0) << 8 * place for place, byte in enumerate(data))
        self.initial[cell] = self._terms.constant(value, cell.width)

    # --- lives, and branches that meet

    def create(self, page: int, *, is_zero: bool) -> None:
        for cell in self._objects.cells_of(page):
            self._known.pop(cell, None)
            self._doubts.pop(cell, None)
            first = self._objects.address(cell)
            for place in range(cell.size):
                self._bytes[first + place] = 0 if is_zero else None

    def own_writes(self, thread: int) -> int:
        """How often a thread has written cells of its own."""
        return len(self._own_writes.get(thread, ()))

    def doubt(self, branch: Branch, thread: int, since: int) -> None:
        """The ways of a branch have met: what the other one may have written is any value then, and
        so is what was written only along the one that was taken."""
        cells = dict.fromkeys(self._own_writes.get(thread, [])[since:])
        if branch.untaken.writes:
            for page in self._objects.touched_pages():
                if self._objects.may_write(branch, page):
                    cells.update(dict.fromkeys(self._objects.cells_of(page)))
        terms = self._terms
        for cell in cells:
            if self.is_shared(cell):
                continue
            known = self._known.get(cell)
            if known is not None:
                fresh = terms.fresh("phi", cell.width)
                self._known[cell] = terms.ite(branch.condition, known, fresh)
            else:
                before = self._doubts.get(cell, terms.true)
                self._doubts[cell] = terms.and_(before, branch.condition)


class Step:
    """The step of the run that is being walked through: its event is made when it is needed."""

    def __init__(self, number: int, thread: int, guard: int) -> None:
        self.number = number
        self.thread = thread
        self.guard = guard  # of what is executed now
        self._event: PathEvent | None = None

    def event(self, path: ThreadPath) -> PathEvent:
        if self._event is None:
            recent = path.events[-_RECENT:]
            self._event = next((item for item in recent if item.step == self.number), None)
        if self._event is None:
            self._event = PathEvent(self.thread, self.number, self.guard)
            path.events.append(self._event)
        for branch in reversed(path.branches):
            if branch.after < len(path.events):
                break
            branch.inside = True
        return self._event


_RECENT = 32  # events among which that of a step is looked for
