"""What makes a program right under a weak memory model: a smallest set of stronger memory orders
and fences.

A set that is not enough shows what is missing: the program still has a violation with it, and with
more of what could be strengthened, up to a set that cannot grow any further. So each solution has
something of the rest. A smallest set that has something of all such rests is tried next, until one
is enough: then none that is smaller can be (implicit hitting sets, as in Reiter, "A theory of
diagnosis from first principles", Artificial Intelligence 1987). What each of its members could be
weakened to is looked at last. All of this asks the engines, so the answer is as good as a verdict.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from itertools import combinations

from plait.data import replace
from plait.engines import registry
from plait.engines.description import Start
from plait.errors import InputError
from plait.evidence.result import Fences, FenceSuggestion, Reordered, Result
from plait.model.memory_model import MemoryModel
from plait.model.strengthening import Strengthening, candidates, weaker
from plait.portfolio.options import Options
from plait.portfolio.subject import load_program, specification

_SECONDS = 300.0  # where the time is not limited
_MOST = 60  # candidates

Verify = Callable[[Options], Result]


class _OutOfReach(Exception):
    """There is no answer, for this reason."""


def suggested(options: Options, violated: Result, verify: Verify) -> Fences:
    """For a program that is violated under the memory model of the options."""
    found = Fences(options.memory_model or "", _reordered(options, violated))
    spent = violated.statistics.get("wall_seconds", 0.0)
    search = _Search(options, verify, float(spent))
    try:
        search.run()
        found.suggestions = [search.shown(item) for item in search.found]
    except _OutOfReach as reason:
        found.reason = str(reason)
    return found


class _Search:
    def __init__(self, options: Options, verify: Verify, spent: float) -> None:
        """So many seconds of the time limit are gone."""
        self.found: list[Strengthening] = []
        self._verify = verify
        limit = options.timeout
        self._end = time.monotonic() + (_SECONDS if limit is None else limit - spent)
        self._known: dict[tuple[tuple[str, ...], str | None], str] = {}
        engine = options.engine
        if engine == registry.AUTO:
            [first, *_] = registry.starting(Start.FIRST)  # best at finding violations
            engine = first.name
        self._options = replace(
            options,
            engine=engine,
            cache=False,
            proof=False,
            invariants=False,
            suggest_fences=False,
        )
        self._model = MemoryModel(options.memory_model)
        chosen, entry = specification(options)
        self._program = load_program(options, chosen, entry)
        self._all = candidates(self._program, self._model)

    def run(self) -> None:
        if self._verdict((), "sc") == "false":
            raise _OutOfReach("the violation is there under sequential consistency, too")
        if len(self._all) > _MOST:
            raise _OutOfReach(f"more than {_MOST} places where an order could be stronger")
        if not self._is_enough(self._all):
            raise _OutOfReach("stronger orders and fences do not make it right")
        rests: list[frozenset[Strengthening]] = []
        while True:
            chosen = self._smallest_hitting(rests)
            if self._is_enough(chosen):
                break
            rests.append(frozenset(self._all).difference(self._grown(chosen)))
        self.found = list(chosen)
        for place, item in enumerate(chosen):
            for order in weaker(item, self._program, self._model):
                self.found[place] = replace(item, order=order)
                if self._is_enough(self.found):
                    break
                self.found[place] = item

    def shown(self, item: Strengthening) -> FenceSuggestion:
        file, line, column = item.place.rsplit(":", 2)
        lines = next((one.lines for one in self._program.sources if one.path == file), [])
        text = lines[int(line) - 1].strip() if int(line) <= len(lines) else ""
        return FenceSuggestion(file, int(line), int(column), text, item.is_fence, item.order.value)

    def _smallest_hitting(
        self, rests: Sequence[frozenset[Strengthening]]
    ) -> tuple[Strengthening, ...]:
        """Of the smallest ones that with the most orders and the least fences."""
        wanted = [item for item in self._all if any(item in rest for rest in rests)]
        for size in range(len(wanted) + 1):
            for chosen in combinations(wanted, size):
                self._time_left()  # there may be very many of them
                if all(not rest.isdisjoint(chosen) for rest in rests):
                    return chosen
        raise AssertionError("nothing hits an empty set")

    def _grown(self, chosen: Sequence[Strengthening]) -> set[Strengthening]:
        """A set with these that is not enough, and would be with any other one more. A set that
        could not be decided counts as if it were enough: then the rest is larger than it must be,
        and right."""
        grown = set(chosen)
        pending = [[item for item in self._all if item not in grown]]
        while pending:
            some = pending.pop()
            if not some:
                continue
            if self._verdict((*grown, *some)) == "false":
                grown.update(some)
            elif len(some) > 1:
                half = len(some) // 2
                pending += [some[:half], some[half:]]
        return grown

    def _is_enough(self, items: Sequence[Strengthening]) -> bool:
        verdict = self._verdict(tuple(items))
        if verdict == "unknown":
            raise _OutOfReach("no verdict with some of the stronger orders")
        return verdict == "true"

    def _verdict(self, items: tuple[Strengthening, ...], model: str | None = None) -> str:
        names = tuple(sorted(map(str, items)))
        known = self._known.get((names, model))
        if known is not None:
            return known
        asked = replace(
            self._options,
            strengthened=names,
            memory_model=model or self._options.memory_model,
            timeout=self._time_left(),
        )
        verdict = self._known[names, model] = self._verify(asked).verdict
        return verdict

    def _time_left(self) -> float:
        left = self._end - time.monotonic()
        if left <= 0:
            raise _OutOfReach("time is up")
        return left


def _reordered(options: Options, violated: Result) -> list[Reordered]:
    """The pairs of accesses that others see in another order, in the counterexample."""
    from plait.evidence.reordering import reordered_pairs
    from plait.semantics.schedule import from_data

    if violated.schedule is None:
        return []
    chosen, entry = specification(options)
    program = load_program(options, chosen, entry)
    try:
        pairs = reordered_pairs(program, chosen, from_data(violated.schedule, ""))
    except InputError:
        return []
    return [
        Reordered(
            thread,
            program.place(one),
            program.text(one),
            program.place(other),
            program.text(other),
        )
        for thread, one, other in pairs
    ]
