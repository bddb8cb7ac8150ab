"""The objects of a run in the model: where they are, what they are to the analyses, and the cells
that the run's accesses divide them into."""

from __future__ import annotations

from bisect import bisect_right

from plait.analysis.objects import AbstractObject
from plait.hunt.fusion.executed import Followed, NotFollowed
from plait.hunt.fusion.paths import Branch, Cell
from plait.hunt.fusion.source import Source
from plait.model.actions import Allocate, EnterScope
from plait.model.expressions import StaticAddress
from plait.model.machine import AddressSpace


class RunObjects:
    def __init__(self, source: Source, followed: Followed) -> None:
        self._program = source.program
        self._sharing = source.sharing
        self._followed = followed
        self._space = AddressSpace(source.program)
        self.page_bits = source.program.data_model.page_bits
        self.initial: dict[int, int] = {}  # bytes of objects that are there at the start
        self._abstract: dict[int, AbstractObject | None] = {}
        self._owner: dict[int, int] = {}  # of what a thread has made
        self._find_static()
        self._find_made()
        self._pages = sorted(self._abstract)
        self._edges: dict[int, list[int]] = {}  # of each object: where cells begin and end
        for _, row in followed.rows:
            for touch in row.touched:
                page, offset = self._place(touch.address)
                self._edges.setdefault(page, []).extend((offset, offset + touch.size))
        for page, edges in self._edges.items():
            self._edges[page] = sorted(set(edges))

    def _find_static(self) -> None:
        threads = 1 + sum(bool(row.spawned) for _, row in self._followed.rows)
        places = [(item, item.page, 0) for item in self._program.objects if not item.thread_local]
        for thread in range(1, threads + 1):
            copies = self._space.thread_local_copies(thread)
            places += [(item, page, thread) for item, page in copies]
        for item, page, owner in places:
            self._abstract[page] = self._sharing.points_to.object_of(item)
            if owner:
                self._owner[page] = owner
            if not item.indeterminate:
                first = page << self.page_bits
                self.initial.update(enumerate(item.contents, first))

    def _find_made(self) -> None:
        points_to = self._sharing.points_to
        for _, row in self._followed.rows:
            action = row.edge.action
            if isinstance(action, Allocate):
                page = int(row.after) >> self.page_bits
                self._abstract[page] = points_to.object_of(row.edge, row.context)
                self._owner[page] = row.thread
            elif isinstance(action, EnterScope):
                for index, address in zip(action.slots, row.slots, strict=True):
                    page = address >> self.page_bits
                    slot = row.function.slots[index]
                    self._abstract[page] = points_to.object_of(slot, row.context)
                    self._owner[page] = row.thread

    def _place(self, address: int) -> tuple[int, int]:
        at = bisect_right(self._pages, address >> self.page_bits) - 1
        if at < 0:
            raise NotFollowed("an access to no known object")
        page = self._pages[at]
        return page, address - (page << self.page_bits)

    def static_address(self, place: StaticAddress, thread: int) -> int:
        page = place.object.page
        if place.object.thread_local:
            copies = self._space.thread_local_copies(thread)
            page = next(start for item, start in copies if item is place.object)
        return page << self.page_bits

    # --- cells

    def cells_at(self, address: int, size: int) -> list[Cell]:
        page, offset = self._place(address)
        edges = [item for item in self._edges[page] if offset <= item <= offset + size]
        return [Cell(page, a, b - a) for a, b in zip(edges, edges[1:], strict=False)]

    def cells_of(self, page: int) -> list[Cell]:
        edges = self._edges.get(page, [])
        return [Cell(page, a, b - a) for a, b in zip(edges, edges[1:], strict=False)]

    def touched_pages(self) -> list[int]:
        return list(self._edges)

    def address(self, cell: Cell) -> int:
        return (cell.page << self.page_bits) + cell.offset

    # --- branches that were not taken

    def may_write(self, branch: Branch, page: int) -> bool:
        return self._is_in(branch, page, branch.untaken.writes)

    def may_access(self, branch: Branch, page: int) -> bool:
        return self._is_in(branch, page, branch.untaken.reads | branch.untaken.writes)

    def _is_in(self, branch: Branch, page: int, mask: int) -> bool:
        """Whether an object may be one of a set that a thread accesses. What a thread has made and
        nobody else can know is accessed by nobody else; what the analyses know nothing of may be
        accessed by anybody."""
        item = self._abstract.get(page)
        if item is None:
            return mask != 0
        if not mask >> item.index & 1:
            return False
        owner = self._owner.get(page)
        return owner in (None, branch.thread) or self._sharing.has_escaped(item)
