"""Finding tests and dead lines (BLAST, section 4.3).

First some random executions: they are cheap and reach most of what can be reached. Then all lines
that are left are asked for at once: an answer is either an execution that reaches one of them, and
on its way perhaps others, or a proof that none can be reached. Where the engines have no answer,
the lines are asked for function by function, and then one by one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator

from plait.api import Options, verify_with
from plait.c import load
from plait.c.reached_lines import line_of, lines_of
from plait.coverage.table import Line, Table
from plait.data import replace
from plait.engines import registry
from plait.evidence.result import Result
from plait.model.program import Program
from plait.model.properties import Property, Specification
from plait.portfolio.subject import front_end_options
from plait.semantics.run import run
from plait.semantics.schedule import from_data, to_text
from plait.semantics.trace import Event

_RANDOM_RUNS = 24
_MOST_STEPS = 20_000
_SHARE_OF_RANDOM = 0.1  # of the time
_LEAST_SECONDS = 1.0  # for a question
NOTHING = Specification(frozenset({Property.UNREACH_CALL}))

Tell = Callable[[str], None]


def cover(options: Options, tell: Tell) -> Table:
    """`options` are those of `plait verify`; their timeout is for all questions together."""
    return _Search(options, tell).run()


class _Search:
    def __init__(self, options: Options, tell: Tell) -> None:
        self._options = options
        self._tell = tell
        self._began = time.monotonic()
        self._program = program_of(options)
        self._table, self._functions = _listing(self._program)

    def run(self) -> Table:
        table = self._table
        try:
            self._run_at_random()
            self._answer(self._groups())
        except KeyboardInterrupt:
            self._note_unknown(table.open, "interrupted")
        for line in table.open:
            table.unknown.setdefault(line, "time is up")
        for line in [line for line in table.unknown if line in table.live or line in table.dead]:
            del table.unknown[line]
        return table

    def _left(self) -> float | None:
        if self._options.timeout is None:
            return None
        return self._options.timeout - (time.monotonic() - self._began)

    def _run_at_random(self) -> None:
        left = self._left()
        deadline = None if left is None else time.monotonic() + _SHARE_OF_RANDOM * left
        for seed in range(_RANDOM_RUNS):
            if deadline is not None and time.monotonic() > deadline:
                return
            found = run(self._program, NOTHING, seed, max_steps=_MOST_STEPS, trace=True)
            reached = _reached(self._program, found.events)
            if self._table.add_test(to_text(found.schedule), reached, "a random run"):
                self._tell(self._progress())

    def _progress(self) -> str:
        lines, live, dead, _ = self._table.counts()
        return f"{live} live, {dead} dead of {lines} lines, {len(self._table.tests)} tests"

    # Questions

    def _groups(self) -> Iterator[list[Line]]:
        """All lines that are left, then those of each function, then each line."""
        yield self._table.open
        for lines in self._functions.values():
            yield [line for line in self._table.open if line in lines]
        for line in self._table.open:
            yield [line]

    def _answer(self, groups: Iterator[list[Line]]) -> None:
        for group in groups:
            while group:
                left = self._left()
                if left is not None and left < _LEAST_SECONDS:
                    self._note_unknown(group, "time is up")
                    return
                result = self._ask(group, left)
                if result.is_interrupted:
                    self._note_unknown(group, "interrupted")
                    return
                if result.verdict == "true":
                    self._note_dead(group, result)
                elif result.verdict != "false" or not self._note_live(result):
                    self._note_unknown(group, result.reason)
                    break
                self._tell(self._progress())
                group = [line for line in self._table.open if line in group]

    def _ask(self, group: list[Line], left: float | None) -> Result:
        """A group gets a share of the time that is left, so that others are asked for, too."""
        share = None if left is None else max(_LEAST_SECONDS, left / (2 if len(group) > 1 else 4))
        wanted = tuple(f"{path}:{number}" for path, number in group)
        return verify_with(replace(self._options, reach=wanted, timeout=share))

    def _note_dead(self, group: list[Line], result: Result) -> None:
        for item in result.assumptions:
            if item not in self._table.assumptions:
                self._table.assumptions.append(item)
        reason = f"no execution comes here ({result.engine})"
        self._table.dead.update(dict.fromkeys(group, reason))

    def _note_live(self, result: Result) -> bool:
        if result.schedule is None or result.violation is None or result.violation.place is None:
            return False
        # The test goes on to the end of the program: it may reach more.
        found = run(
            self._program,
            NOTHING,
            len(self._table.tests),
            from_data(result.schedule, "a counterexample"),
            _MOST_STEPS,
            trace=True,
            goes_on=True,
        )
        place = result.violation.place
        reached = _reached(self._program, found.events) | {(place.file, place.line)}
        by = registry.engine(result.engine).name if registry.is_engine(result.engine) else "plait"
        return self._table.add_test(to_text(found.schedule), reached, by)

    def _note_unknown(self, group: list[Line], reason: str) -> None:
        self._table.unknown.update(dict.fromkeys(group, reason))


def program_of(options: Options) -> Program:
    """With all that has a line."""
    front_end = replace(front_end_options(options, options.entry or "main"), every_line=True)
    return load(list(options.programs), front_end, NOTHING)


def _listing(program: Program) -> tuple[Table, dict[str, set[Line]]]:
    """All lines, those of functions that nobody refers to being dead; and the lines by function."""
    functions = {
        item.name: lines_of(item, program.sources)
        for item in program.functions.values()
        if not item.library
    }
    used: set[Line] = set().union(*functions.values())
    lines = set(used)
    dead: dict[Line, str] = {}
    for item in program.unused:
        own = lines_of(item, program.sources)
        lines |= own
        dead |= dict.fromkeys(own - used, f"nobody refers to {item.display}")
    paths = sorted({path for path, _ in lines})
    table = Table(
        {path: sorted(number for own, number in lines if own == path) for path in paths},
        {item.path: item.lines for item in program.sources if item.path in paths},
    )
    table.dead = {line: dead[line] for line in sorted(dead)}
    return table, functions


def _reached(program: Program, events: Iterable[Event]) -> set[Line]:
    found = (line_of(event.edge, program.sources) for event in events if not event.function.library)
    return {line for line in found if line is not None}
