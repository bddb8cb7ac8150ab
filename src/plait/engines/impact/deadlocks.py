"""Deadlocks: in each state of a node in which a thread waits, the others can let it go on.

A state is a deadlock if a thread is blocked in it, and no continuation unblocks the thread or ends
the process (docs/properties.md). If there is one, there is one in the states of nodes: follow an
execution that leads to it through the tree (docs/certificates.md). What was done there in addition,
by threads that went ahead, are continuations of it, in which the thread still waits for ever.

That a thread T which waits can go on is shown by a strategy. It may choose who moves, and the
values of inputs; for all that the chosen thread's step may come to there must be a strategy again,
until T's next step cannot be in vain. Steps that may themselves be in vain, or fail an assumption,
are not chosen, since then there might be no such continuation. Steps are executed from locations,
at first without what is known of values: they are possible in all states of the node, and so are
real continuations; what they come to in none of them does no harm. Violations and trouble are no
outcomes: the tree shows that nobody comes to them. Only finite strategies count, so a thread in a
loop without a known bound is no help.

Where critical sections are single steps, no node has states in the middle of them. So a section may
only be a step if it cannot stop there for any reason (`Block.stuck_with`): then whoever is in the
middle of one can finish it, alone, and what is a deadlock before that is one behind it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from plait.data import dataclass, replace
from plait.engines.blocks.paths import Paths, own_step
from plait.engines.impact.implications import Implications, Label
from plait.logic.interpolation.interpolate import Feasible
from plait.logic.interpolation.path import Step
from plait.logic.substitute import Vocabulary, substitute
from plait.logic.terms import Terms
from plait.logic.translate import NAN_BITS
from plait.symbolic.blocks import Block, Kind, Way
from plait.symbolic.locations import Location, Status

_MOST_STEPS = 3_000  # of the search for one strategy
_MOST_LOCATIONS = 400
_MOST_CASES = 3

_NO_CHOICE = frozenset({"uninitialised", NAN_BITS})  # values that nobody gives

BlockOf = Callable[[Location, int], Block]


@dataclass(frozen=True, slots=True, eq=False)
class _States:
    """Those that a strategy has come to. `values` are those of variables that have changed, over
    the state at the node; None if nothing is known but the location. `cases`: how often it was
    asked whether somebody waits. `told`: the facts that tell them from others at the same location,
    which are those without inputs: new inputs are no progress."""

    location: Location
    facts: Label
    values: Mapping[int, int] | None
    cases: int = 0
    told: Label = frozenset()


class Deadlocks:
    def __init__(
        self, terms: Terms, block_of: BlockOf, implications: Implications, paths: Paths
    ) -> None:
        self._terms = terms
        self._block_of = block_of
        self._implications = implications
        self._paths = paths
        self._vocabulary = Vocabulary(terms)
        self._free: dict[int, bool] = {}
        self._hopeful: set[tuple[Location, int]] = set()
        self._steps = 0

    def can_go_on(self, location: Location, waiting: int, facts: Label) -> bool:
        """Whether there is a strategy, whatever the state, to let a thread go on. `facts` hold
        where it waits; most of the time they are not needed."""
        for start in (_States(location, facts, None), _States(location, facts, {})):
            self._steps = 0
            if self._has_strategy(start, waiting, 0, {}):
                return True
        return False

    def _has_strategy(
        self, states: _States, waiting: int, last: int, tried: dict[tuple[Location, Label], None]
    ) -> bool:
        """`last`: who has moved last, and goes on if possible. `tried`: in vain, or on the way to
        here, where it would be a circle."""
        location = states.location
        key = location, waiting
        if key in self._hopeful:
            return True
        thread = location.threads[waiting - 1]
        if any(item.status is Status.HALTED for item in location.threads):
            return False
        if thread.status is Status.ENDED or self._choices(states, waiting):
            return True
        here = location, states.told
        if here in tried or len(tried) > _MOST_LOCATIONS or self._steps > _MOST_STEPS:
            return False
        tried[here] = None
        for mover, behind in self._all_choices(states, waiting, last):
            self._steps += 1
            if all(self._has_strategy(item, waiting, mover, tried) for item in behind):
                del tried[here]
                if states.values is None:
                    self._hopeful.add(key)
                return True
        return False

    def _all_choices(
        self, states: _States, waiting: int, last: int
    ) -> Iterator[tuple[int, list[_States]]]:
        movers = [number for number in states.location.can_step() if number != waiting]
        movers.sort(key=lambda number: number != last)
        for mover in movers:
            for behind in self._choices(states, mover):
                yield mover, behind
        if states.values is not None and states.cases < _MOST_CASES:
            for mover in movers:
                for behind in self._cases(states, mover):
                    yield mover, behind

    def _cases(self, states: _States, number: int) -> list[list[_States]]:
        """Those in which a thread waits, and those that its step comes to if it does not. Inputs
        of this step are no facts: the thread's next step at the same location has others."""
        block = self._block_of(states.location, number)
        if block.may_fail or block.waits_by_inputs or not block.waits:
            return []
        terms, values = self._terms, states.values
        assert values is not None
        waits = substitute(terms, terms.any_of(block.waits), values)
        if waits == terms.true or waits in states.facts:
            return []
        it_waits, it_moves = (
            replace(
                states,
                facts=states.facts | {fact},
                cases=states.cases + 1,
                told=states.told | {fact},
            )
            for fact in (waits, terms.not_(waits))
        )
        moves = [way for way in block.ways if way.kind is Kind.MOVE]
        return [[it_waits, *(self._behind(it_moves, way) for way in moves)]]

    def _choices(self, states: _States, number: int) -> list[list[_States]]:
        """What can be chosen for the next step of a thread: for each choice all that it may come
        to, which is nothing if the process ends."""
        block = self._block_of(states.location, number)
        moves = [way for way in block.ways if way.kind is Kind.MOVE]
        moves = [way for way in moves if not self._excludes(states, way.step.assumes)]
        is_made = bool(moves or block.ends) and not block.may_fail
        found: list[list[_States]] = []
        if is_made and all(self._excludes(states, (item,)) for item in block.waits):
            found.append([self._behind(states, way) for way in moves])
        if len(moves) > 1 or not found:
            found += [[self._behind(states, way)] for way in moves if self._is_free(way)]
        return found

    def _excludes(self, states: _States, conditions: Sequence[int]) -> bool:
        terms = self._terms
        condition = terms.all_of(conditions)
        if condition == terms.false:
            return True
        if states.values is None:
            return False
        return self._implications.excludes(
            states.facts, (substitute(terms, condition, states.values),)
        )

    def _behind(self, states: _States, way: Way) -> _States:
        assert way.target is not None
        if states.values is None:
            return replace(states, location=way.target)
        step, _ = own_step(self._terms, way)
        terms, values = self._terms, states.values
        assumed = {substitute(terms, item, values) for item in step.assumes}
        facts = states.facts | (assumed - {terms.true})
        new = {name: substitute(terms, item, values) for name, item in step.updates.items()}
        told = {item for item in assumed if step.inputs.isdisjoint(self._vocabulary(item))}
        return replace(
            states,
            location=way.target,
            facts=facts,
            values={**values, **new},
            told=states.told | (told - {terms.true}),
        )

    def _is_free(self, way: Way) -> bool:
        """Whether inputs alone decide that it is taken, and some of them do."""
        condition = self._terms.all_of(way.step.assumes)
        chosen = [use for use in way.inputs if use.unset is None and use.name not in _NO_CHOICE]
        inputs = {use.variable for use in chosen}
        if not inputs >= set(self._vocabulary(condition)):
            return False
        found = self._free.get(condition)
        if found is None:
            result = self._paths.interpolate([Step((condition,), {}, frozenset(inputs))])
            found = self._free[condition] = isinstance(result, Feasible)
        return found
