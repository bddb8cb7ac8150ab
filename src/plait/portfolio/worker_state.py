"""What one worker has said so far, and what that means when it says no more."""

from __future__ import annotations

import time
from typing import Any

from plait.engines import registry
from plait.portfolio.messages import (
    Checking,
    Failed,
    Features,
    Holds,
    Loaded,
    Mistake,
    OutOfTime,
    Progress,
    Question,
    Result,
    decode,
)
from plait.portfolio.messages import Message as AnyMessage
from plait.portfolio.options import Options
from plait.work.limits import Ending, Finish

_LONGEST_HISTORY = 400
_CHECKS = "static checks"
_UNCHECKED = "the static checks were not finished"


class WorkerState:
    """`doing` is what the engine is at, in a few words; at its end: why it has no verdict."""

    def __init__(self, engine: str, started: float) -> None:
        self._engine = registry.engine(engine)
        self.started = started
        self._began = time.monotonic()
        self._ended: float | None = None
        self.doing = "reading the program"
        self.is_checking = False  # before the engine begins
        self.numbers: dict[str, Any] = {}
        self.history: list[dict[str, Any]] = []
        self.question: Question | None = None
        self.loaded: Loaded | None = None
        self.progress: Progress | None = None
        self._bounds: dict[str, int] = {}  # for each property the largest that was finished
        self._proved: set[str] = set()
        self._so_far = ""
        self.out_of_time: OutOfTime | None = None
        self.mistake: Mistake | None = None
        self.result: Result | None = None
        self.failed: Failed | None = None

    @property
    def is_decided(self) -> bool:
        if self.result is None:
            return self.mistake is not None
        return self.result.verdict != "unknown" or self.raises_doubt

    @property
    def raises_doubt(self) -> bool:
        """A counterexample does not replay: one of engine and interpreter is wrong, and until
        somebody knows which one, no other engine is believed."""
        return self.result is not None and self.result.raises_doubt

    @property
    def has_proved_part(self) -> bool:
        """Of what is asked; that it has no answer to the rest need not be its fault."""
        return bool(self._proved)

    @property
    def bound(self) -> int | None:
        """So many loop rounds were examined for each property that is not proved, if any."""
        asked = [] if self.question is None else self.question.properties
        left = [name for name in asked if name not in self._proved]
        if not left or any(name not in self._bounds for name in left):
            return None
        return min(self._bounds[name] for name in left)

    def receive(self, data: dict[str, Any]) -> AnyMessage:
        said = decode(data)
        self.is_checking = isinstance(said, Checking)
        match said:
            case Question() as message:
                self.question = message
            case Loaded() as message:
                self.loaded = message
                self.doing = self._engine.beginning
            case Checking():
                self.doing = _CHECKS
            case Failed() as message:
                self.failed = message
            case Features():
                self.doing = self._engine.beginning
            case Holds() as message:
                self._proved.update(message.properties)
            case Progress() as message:
                self._goes_on(message)
            case OutOfTime() as message:
                self.out_of_time = message
            case Mistake() as message:
                self.mistake = message
            case Result() as message:
                self.result = message
        return said

    def _goes_on(self, message: Progress) -> None:
        self.doing = message.doing
        self.numbers = message.statistics or self.numbers
        if message.bound is not None:
            for name in message.properties:  # in every turn it begins with the first bound
                self._bounds[name] = max(message.bound, self._bounds.get(name, 0))
        self._so_far = message.so_far or self._so_far
        if message.so_far or message.bound is not None:
            self.progress = message
            self._remember(message.statistics)

    def end(self, options: Options, finish: Finish) -> None:
        self._ended = time.monotonic()
        if self.result is None:
            why = self._cause(options, finish)
        elif self.result.verdict != "unknown":
            why = self.result.verdict
        elif self.has_proved_part:
            why = self.result.reason
        else:
            why = f"gave up: {self.result.reason}"
        self.doing = " ".join(why.split())

    def seconds(self, now: float) -> float:
        return (self._ended or now) - self._began

    def _remember(self, numbers: dict[str, Any]) -> None:
        """Every other one of what was remembered is forgotten when it becomes too much."""
        self.numbers = numbers
        if len(self.history) >= _LONGEST_HISTORY:
            del self.history[::2]
        seconds = round(time.monotonic() - self.started, 3)
        self.history.append({"seconds": seconds, **numbers})

    def so_far(self) -> str:
        if self.out_of_time is not None and self.out_of_time.so_far:
            return self.out_of_time.so_far
        if self._so_far:
            return self._so_far
        if self.bound is not None:
            return f"no violation with up to {self.bound} loop rounds"
        if self._bounds and not self.is_checking:
            asked = [] if self.question is None else self.question.properties
            left = [name for name in asked if name not in self._proved | self._bounds.keys()]
            return f"{self._engine.nothing_yet} for {', '.join(left)}"
        if self.loaded is not None:
            return _UNCHECKED if self.is_checking else self._engine.nothing_yet
        return "the program was not read yet"

    def unknown(self, options: Options, finish: Finish) -> tuple[str, Result]:
        """The cause, and the result, when the worker has none."""
        last = self.out_of_time or self.progress
        statistics = {} if last is None else last.statistics
        cause = self._cause(options, finish)
        reason = f"{cause}; {self.so_far()}"
        return cause, Result("unknown", reason, bound=self.bound, statistics=statistics)

    def _cause(self, options: Options, finish: Finish) -> str:
        if self.out_of_time is not None or finish.ending is Ending.TIME:
            return f"time limit of {options.timeout:g} s"
        if finish.ending is Ending.INTERRUPTED:
            return "interrupted"
        if finish.ending is Ending.MEMORY:
            if options.memory_limit is None:
                return "out of memory"
            return f"memory limit of {options.memory_limit:g} GiB"
        last_words = finish.noise.split("\n")[-2:]
        said = " ".join(" ".join(last_words).split())[:200]
        how = finish.how or "without an answer"
        return f"the worker ended {how}" + (f": {said}" if said else "")
