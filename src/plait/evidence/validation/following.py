"""How far an execution has followed a witness.

The interpreter runs a thread on, after its visible action, to just before the next one. What it
does on the way nobody else can see, so that it may as well happen later, in the same order, up to
the next visible action; and a thread that stands before a statement may be said to have come there
at any time since. Waypoints that are passed on the way are therefore kept, and count at whatever
time suits the witness.

A waypoint counts as passed at the first opportunity. That loses nothing, since what can follow it
then can follow it later too, with two exceptions, in which both ways are followed: waypoints that
are to be avoided, which do no harm as long as the segment before them is not over, and the creation
of a thread, which also decides whom the witness means by a name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from plait.data import dataclass
from plait.evidence.validation.expressions import Typed
from plait.evidence.witness.content import MAIN, Segment, Waypoint

Locals = tuple[tuple[str, Typed], ...]
Holds = Callable[[int, Locals], bool]  # whether the constraint of a waypoint holds


@dataclass(slots=True, eq=False)
class Guide:
    """A witness as it is followed: segments of waypoints by number."""

    waypoints: list[Waypoint]
    follow: list[tuple[int, ...]]
    avoid: list[tuple[int, ...]]

    @staticmethod
    def of(segments: Iterable[Segment]) -> Guide:
        guide = Guide([], [], [])
        for segment in segments:
            guide.avoid.append(guide._numbered(segment.avoid))
            guide.follow.append(guide._numbered(segment.follow))
        return guide

    def _numbered(self, waypoints: tuple[Waypoint, ...]) -> tuple[int, ...]:
        first = len(self.waypoints)
        self.waypoints += waypoints
        return tuple(range(first, len(self.waypoints)))

    @property
    def end(self) -> int:
        """The position at which only the target is left."""
        return len(self.follow) - 1


class Moment(NamedTuple):
    """Waypoints that a thread passes at one moment: `site` is their set, by a number. `locals`
    has the values of local variables that constraints read. `created` is the thread that is
    created, or 0. `is_harmless`: it may have happened when nothing of it was to be avoided."""

    site: int
    locals: Locals = ()
    created: int = 0
    is_harmless: bool = False


Pending = tuple[tuple[int, tuple[Moment, ...]], ...]


class Progress(NamedTuple):
    """How far a witness was followed, the threads that its names stand for, and the moments of
    each thread that can still be put into the order."""

    position: int = 0
    names: tuple[tuple[str, int], ...] = ((MAIN, 1),)
    pending: Pending = ()

    def thread(self, name: str) -> int:
        """-1 if nobody has that name yet."""
        return next((number for known, number in self.names if known == name), -1)

    def of(self, thread: int) -> tuple[Moment, ...]:
        return next((moments for number, moments in self.pending if number == thread), ())

    def keeping(self, thread: int, moments: tuple[Moment, ...]) -> Progress:
        others = [item for item in self.pending if item[0] != thread]
        if moments:
            others.append((thread, moments))
        return self._replace(pending=tuple(sorted(others, key=lambda item: item[0])))


class Follower:
    """Follows a guide; `sites` has the waypoints of each site."""

    def __init__(self, guide: Guide, sites: list[frozenset[int]]) -> None:
        self.guide = guide
        self._sites = sites
        self._lasts: list[int] = []
        self._has_avoids = any(guide.avoid)

    def flushed(self, progress: Progress, thread: int, holds: Holds) -> list[Progress]:
        """The thread acts: what it has passed before that has happened now at the latest."""
        moments = progress.of(thread)
        return self.after(progress.keeping(thread, ()), thread, moments, holds)

    def after(
        self, progress: Progress, thread: int, moments: Iterable[Moment], holds: Holds
    ) -> list[Progress]:
        """Moments that happen now."""
        current = [progress]
        for moment in moments:
            found = [new for one in current for new in self._after(one, thread, moment, holds)]
            current = list(dict.fromkeys(found))
        return current

    def kept(self, progress: Progress, thread: int, moments: Iterable[Moment]) -> Progress:
        """Moments that may happen from now on."""
        return progress.keeping(thread, (*progress.of(thread), *moments))

    def settled(self, progress: Progress, holds: Holds) -> list[Progress]:
        """All ways to go on by moments that may happen now, without what is of no use any more."""
        found: list[Progress] = []
        pending = [progress]
        while pending:
            current = pending.pop()
            onward = list(self._consumed(current, holds))
            pending += onward
            if not onward or self._has_avoids:
                found.append(self._tidied(current))
        return list(dict.fromkeys(found))

    def _consumed(self, progress: Progress, holds: Holds) -> Iterable[Progress]:
        guide = self.guide
        if progress.position == guide.end:
            return
        number = guide.follow[progress.position][0]
        for thread, moments in progress.pending:
            for index, moment in enumerate(moments):
                is_there = number in self._sites[moment.site]
                if not is_there or not self._is_by(number, progress, thread):
                    continue
                if not holds(number, moment.locals):
                    continue
                rest = tuple(item._replace(is_harmless=False) for item in moments[index + 1 :])
                without = progress.keeping(thread, rest)
                for now in self.after(without, thread, moments[:index], holds):
                    yield from self._after(now, thread, moment, holds)
                break

    def _after(
        self, progress: Progress, thread: int, moment: Moment, holds: Holds
    ) -> list[Progress]:
        guide, position = self.guide, progress.position
        site = self._sites[moment.site]
        if not moment.is_harmless and self._is_avoided(progress, thread, moment, holds):
            return []
        if position == guide.end:
            return [progress]
        number = guide.follow[position][0]
        if number not in site or not self._is_by(number, progress, thread):
            return [progress]
        if not holds(number, moment.locals):
            return [progress]
        names = progress.names
        creates = guide.waypoints[number].creates
        if creates and moment.created:
            names = (*names, (creates, moment.created))
        onward = progress._replace(position=position + 1, names=names)
        if creates or self._has_avoids:
            return [onward, progress]
        return [onward]

    def _is_avoided(self, progress: Progress, thread: int, moment: Moment, holds: Holds) -> bool:
        site = self._sites[moment.site]
        return any(
            number in site
            and self._is_by(number, progress, thread)
            and holds(number, moment.locals)
            for number in self.guide.avoid[progress.position]
        )

    def _is_by(self, number: int, progress: Progress, thread: int) -> bool:
        name = self.guide.waypoints[number].thread
        return not name or progress.thread(name) == thread

    def _tidied(self, progress: Progress) -> Progress:
        """Without moments that can pass nothing any more."""
        guide, position = self.guide, progress.position
        first = (*guide.avoid[position], *guide.follow[position])[0]
        rows: list[tuple[int, tuple[Moment, ...]]] = []
        for thread, moments in progress.pending:
            kept = tuple(
                item
                if item.is_harmless or not self._has_avoids
                else item._replace(is_harmless=not self._avoids_any(position, item))
                for item in moments
                if self._last(item.site) >= first
            )
            if kept:
                rows.append((thread, kept))
        return progress._replace(pending=tuple(rows))

    def _last(self, site: int) -> int:
        while len(self._lasts) <= site:
            self._lasts.append(max(self._sites[len(self._lasts)], default=-1))
        return self._lasts[site]

    def _avoids_any(self, position: int, moment: Moment) -> bool:
        return not self._sites[moment.site].isdisjoint(self.guide.avoid[position])


def always(number: int, values: Locals) -> bool:
    """Of waypoints whose constraints have been looked at."""
    return True
