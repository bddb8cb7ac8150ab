"""Critical sections as single steps: whether threads keep to the locks.

A *lock* is a cell that is 0 while nobody holds it. From the atomic section that finds it 0 and
leaves it otherwise to where its thread makes it 0 again is a critical section. It can be one step
of its thread, as if it were an atomic section, if nobody can tell the difference:

- Where another thread accesses the same as the critical section, and one of them writes, it does so
  in a critical section of the same lock as well. That holds for the lock itself, too.
- While the lock is held, others cannot take it: the section that takes it is blocked.

Then between the beginning of a critical section and its end others do nothing that conflicts with
it, so that they can do it before (Lipton's reduction: taking a lock commutes to the right, and all
else to the left as well). A critical section that never ends is moved behind all that the others
do, and what it does before it gets stuck, nobody sees: they would have to take the lock first.
Nothing in it may start a thread, which would have to be before and after it.

Which cells are locks is not decided by this analysis. Whoever explores states guesses that a cell
is one (an atomic section waits, finds it 0 and makes it another constant), takes critical sections
as steps, and notes in a `Discipline` what threads access. If that raises `BrokenLock`, the cell is
no lock, and what was explored so far is void. Why that is enough is said by rule VIII in
docs/certificates.md.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import NamedTuple


class BrokenLock(Exception):
    """What looked like a lock is none, or does not protect what is accessed when it is held."""

    def __init__(self, address: int, reason: str) -> None:
        super().__init__(reason)
        self.address = address
        self.reason = reason


class Touch(NamedTuple):
    """Bytes that a step accesses; `lock` is the address of the lock in whose critical section, as
    one step, it does so; 0 if in none."""

    address: int
    size: int
    is_write: bool
    lock: int


# Of bytes by their pages, so that only neighbours are compared.
_Touches = dict[int, set[Touch]]


class Discipline:
    """What threads access in critical sections, and what others access when they stand where these
    begin. A `standing` is where a thread stands, as exactly as one likes to know that: coarser is
    sound. `ANYWHERE` is the standing of a thread in the middle of a critical section."""

    ANYWHERE = None

    def __init__(self, page_bits: int) -> None:
        self._page_bits = page_bits
        self._inside: dict[tuple[int, Hashable], _Touches] = {}
        self._others: dict[tuple[int, Hashable], _Touches] = {}

    def note(
        self,
        thread: int,
        standing: Hashable,
        touches: Iterable[Touch],
        others: Iterable[tuple[int, Hashable]],
    ) -> None:
        """A step of a thread that stands somewhere, and the others that run with where they stand.
        Raises BrokenLock."""
        mine = thread, standing
        against = [
            other
            for number, stands in others
            for other in ((number, stands), (number, self.ANYWHERE))
        ]
        for touch in touches:
            if touch.lock:
                self._add(self._inside, self._others, mine, touch)
            for other in against:
                self._add(self._others, self._inside, other, touch)

    def _add(
        self,
        to: dict[tuple[int, Hashable], _Touches],
        against: dict[tuple[int, Hashable], _Touches],
        key: tuple[int, Hashable],
        touch: Touch,
    ) -> None:
        pages = to.setdefault(key, {})
        facing = against.get(key)
        last = touch.address + max(touch.size, 1) - 1
        for page in range(touch.address >> self._page_bits, (last >> self._page_bits) + 1):
            found = pages.setdefault(page, set())
            if touch in found:
                continue
            found.add(touch)
            for other in facing.get(page, ()) if facing else ():
                if _conflict(touch, other):
                    inside, outside = (touch, other) if to is self._inside else (other, touch)
                    raise BrokenLock(
                        inside.lock,
                        f"{inside.address:#x} is accessed in its critical section, and"
                        f" {outside.address:#x} elsewhere",
                    )


def _conflict(one: Touch, other: Touch) -> bool:
    return (
        (one.is_write or other.is_write)
        and one.address < other.address + other.size
        and other.address < one.address + one.size
        and one.lock != other.lock
    )
