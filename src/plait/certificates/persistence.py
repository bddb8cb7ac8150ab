"""Rule IX: steps that are taken ahead of what the other threads do cannot be told from later ones.

At a persistent node only one thread T is expanded. `ahead` of a thread at a node is what it has
accessed in steps at persistent nodes, since it was last expanded together with others, and what the
last of its steps before that has accessed as local. An execution may have all that later than what
others do from the node on, so nothing of it may conflict with that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from plait.certificates.document import Node
from plait.certificates.outcomes import Step
from plait.certificates.state import Access
from plait.certificates.verdicts import Rejected

_GRANULE = 4  # bytes that are told apart


class _Accessed(NamedTuple):
    """Bit sets of granules of memory. `locks` are those of locks that the step has taken and
    released: steps that do not do so may notice that, although the locks are free as before."""

    reads: int
    writes: int
    locks: int

    def conflicts_with(self, other: _Accessed) -> bool:
        return bool(
            self.writes & (other.reads | other.writes | other.locks)
            or other.writes & (self.reads | self.locks)
            or self.locks & other.reads
            or other.locks & self.reads
        )

    def with_(self, other: _Accessed) -> _Accessed:
        return _Accessed(
            self.reads | other.reads, self.writes | other.writes, self.locks | other.locks
        )


_NOTHING = _Accessed(0, 0, 0)
_Ahead = dict[int, _Accessed]


class Persistence:
    def __init__(self, nodes: tuple[Node, ...]) -> None:
        self._nodes = nodes
        self._numbers: dict[int, int] = {}
        self._steps: dict[tuple[int, int], tuple[_Accessed, _Accessed]] = {}
        self._children: dict[int, list[Node]] = {}
        self._is_needed = any(node.persistent is not None for node in nodes)
        for node in nodes:
            if node.parent is not None:
                self._children.setdefault(node.parent, []).append(node)

    def note(self, node: int, step: Step) -> None:
        """A step that is expanded at a node: all that it accesses, and what of that is local."""
        if self._is_needed:
            every = [access for outcome in step.outcomes for access in outcome.path.accesses]
            local = [access for access in every if access.is_local]
            self._steps[node, step.thread] = self._accessed(every), self._accessed(local)

    def _accessed(self, accesses: Iterable[Access]) -> _Accessed:
        reads = writes = locks = 0
        for start, end, is_write, lock in {
            (item.start, item.end, item.is_write, item.lock) for item in accesses
        }:
            for granule in range(start // _GRANULE, (end - 1) // _GRANULE + 1):
                bit = 1 << self._numbers.setdefault(granule, len(self._numbers))
                if is_write:
                    writes |= bit
                elif lock is not None and (start, end) == (lock.address, sum(lock)):
                    locks |= bit
                else:
                    reads |= bit
        return _Accessed(reads, writes, locks)

    def check(self, is_possible: Callable[[Node], bool]) -> None:
        if self._is_needed:
            self._check_conflicts(is_possible)
            self._check_circles(is_possible)

    def _check_conflicts(self, is_possible: Callable[[Node], bool]) -> None:
        ahead: dict[int, _Ahead] = {0: {}}
        queue = [self._nodes[0]]
        while queue:
            node = queue.pop()
            if not is_possible(node):
                continue
            here = ahead[node.number]
            if node.cover is not None:
                self._flow(ahead, queue, self._nodes[node.cover], here)
                continue
            for thread in node.expanded:
                accessed, _ = self._steps.get((node.number, thread), (_NOTHING, _NOTHING))
                for other, done in here.items():
                    if other != thread and accessed.conflicts_with(done):
                        what = f"thread {other} was ahead of what thread {thread} does here"
                        raise Rejected(what, node.number)
            for child in self._children.get(node.number, ()):
                thread = child.thread or 0
                accessed, local = self._steps.get((node.number, thread), (_NOTHING, _NOTHING))
                behind = dict(here)
                behind[thread] = local
                if node.persistent == thread:
                    behind[thread] = accessed.with_(here.get(thread, _NOTHING))
                self._flow(ahead, queue, child, behind)

    @staticmethod
    def _flow(ahead: dict[int, _Ahead], queue: list[Node], node: Node, new: _Ahead) -> None:
        found = ahead.get(node.number)
        if found is None:
            ahead[node.number] = dict(new)
            queue.append(node)
            return
        grows = False
        for thread, done in new.items():
            before = found.get(thread, _NOTHING)
            after = before.with_(done)
            if after != before:
                found[thread] = after
                grows = True
        if grows:
            queue.append(node)

    def _check_circles(self, is_possible: Callable[[Node], bool]) -> None:
        """Nobody goes round in circles ahead of the others for ever."""
        done: set[int] = set()
        for root in self._nodes:
            open_: set[int] = set()
            stack: list[tuple[Node, bool]] = [(root, False)]
            while stack:
                node, is_left = stack.pop()
                if is_left:
                    open_.discard(node.number)
                    done.add(node.number)
                    continue
                if node.number in open_:
                    raise Rejected("one thread is ahead of the others for ever", node.number)
                if node.number in done or not is_possible(node):
                    continue
                following: list[Node] = []
                if node.cover is not None:
                    following = [self._nodes[node.cover]]
                elif node.persistent is not None:
                    following = self._children.get(node.number, [])
                open_.add(node.number)
                stack.append((node, True))
                stack += [(item, False) for item in following]
