"""Schedules of the compiled program: who makes how many steps, and what is chosen in between."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from plait.data import dataclass
from plait.errors import Diagnostic, InputError

_HEAD = "# a schedule of plait hunt"


@dataclass(slots=True, frozen=True)
class Step:
    """A thread makes its next step."""

    thread: int


@dataclass(slots=True, frozen=True)
class Pick:
    """A choice that is no thread: which waiting thread a signal wakes, say."""

    value: int


Decision = Step | Pick


@dataclass(slots=True, frozen=True)
class Schedule:
    """`asleep`: threads that need not go on where the decisions end. `racers`: the two threads that
    are to stand before accesses that race there."""

    decisions: tuple[Decision, ...] = ()
    asleep: tuple[int, ...] = ()
    racers: tuple[int, int] | None = None

    def text(self, comments: Sequence[str] = ()) -> str:
        lines = [_HEAD, *(f"# {line}" for line in comments), *_lines(self.decisions)]
        lines += [f"sleep {thread}" for thread in self.asleep]
        if self.racers is not None:
            lines.append(f"race {self.racers[0]} {self.racers[1]}")
        return "\n".join(lines) + "\n"

    @property
    def switches(self) -> int:
        threads = [item.thread for item in self.decisions if isinstance(item, Step)]
        return sum(one != other for one, other in zip(threads, threads[1:], strict=False))


def _lines(decisions: Iterable[Decision]) -> list[str]:
    lines: list[str] = []
    thread = count = 0
    for item in decisions:
        if isinstance(item, Step) and item.thread == thread:
            count += 1
            continue
        if count:
            lines.append(f"run {thread} {count}")
        count = 0
        if isinstance(item, Step):
            thread, count = item.thread, 1
        else:
            thread = 0
            lines.append(f"pick {item.value}")
    return [*lines, f"run {thread} {count}"] if count else lines


def parse(text: str, path: str) -> Schedule:
    decisions: list[Decision] = []
    racers: tuple[int, int] | None = None
    for number, line in enumerate(text.splitlines(), 1):
        match line.split():
            case [] | ["#", *_]:
                continue
            case ["run", thread, count] if thread.isdecimal() and count.isdecimal():
                decisions += [Step(int(thread))] * min(int(count), 1 << 24)
            case ["pick", value] if value.isdecimal():
                decisions.append(Pick(int(value)))
            case ["race", one, other] if one.isdecimal() and other.isdecimal():
                racers = int(one), int(other)
            case _:
                raise InputError(Diagnostic("not a schedule of plait hunt", path, number, 1, line))
    return Schedule(tuple(decisions), (), racers)
