"""What is known of the lines of a program, and the executions that show it."""

from __future__ import annotations

from plait.data import dataclass, field

Line = tuple[str, int]


@dataclass(slots=True, frozen=True)
class Test:
    """An execution of the program: its schedule and inputs, as `plait run --schedule` reads it.
    `lines` are those that it is the first to reach, `reached` all that it reaches; `found_by` is
    what has found it."""

    number: int
    schedule: str
    lines: tuple[Line, ...]
    found_by: str
    reached: frozenset[Line] = frozenset()


@dataclass(slots=True)
class Table:
    """`live` has the number of a test for each line. `dead` says why a line cannot be reached,
    `unknown` why that is not known; every line is in one of the three."""

    lines: dict[str, list[int]]
    sources: dict[str, list[str]]
    live: dict[Line, int] = field(default_factory=dict)
    dead: dict[Line, str] = field(default_factory=dict)
    unknown: dict[Line, str] = field(default_factory=dict)
    tests: list[Test] = field(default_factory=list)
    assumptions: list[str] = field(default_factory=list)

    @property
    def all_lines(self) -> list[Line]:
        return [(path, number) for path, numbers in self.lines.items() for number in numbers]

    @property
    def open(self) -> list[Line]:
        return [line for line in self.all_lines if line not in self.live and line not in self.dead]

    def add_test(self, schedule: str, reached: set[Line], found_by: str) -> bool:
        """Whether it reaches a line that no earlier test has reached."""
        new = tuple(line for line in self.open if line in reached)
        if new:
            number = len(self.tests) + 1
            self.tests.append(Test(number, schedule, new, found_by, frozenset(reached)))
            self.live.update(dict.fromkeys(new, number))
        return bool(new)

    def counts(self, path: str | None = None) -> tuple[int, int, int, int]:
        """Of one file or all: lines, live, dead, unknown."""
        lines = [line for line in self.all_lines if path in (None, line[0])]
        live = sum(line in self.live for line in lines)
        dead = sum(line in self.dead for line in lines)
        return len(lines), live, dead, len(lines) - live - dead
