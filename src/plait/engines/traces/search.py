"""Whether the proof accepts all words of the program (or of its reduction), on the fly.

Depth first, the thread that has just moved first: the next word to prove has few context switches.
Strongly connected components of states that cover each other are found as in Tarjan's algorithm.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from plait.engines.blocks.bitsets import as_set, numbers
from plait.engines.blocks.conflicts import dependence
from plait.engines.blocks.persistent import PersistentSets
from plait.engines.blocks.relevance import Relevance
from plait.engines.blocks.sections import Sections
from plait.engines.traces.proof import FALSE, Proof
from plait.engines.traces.settings import Commutativity, Settings
from plait.engines.traces.states import Edge, Place, State, close, rows
from plait.engines.traces.statistics import Statistics
from plait.logic.interpolation.path import Step
from plait.logic.terms import Terms
from plait.model.actions import Origin
from plait.symbolic.blocks import Block, Kind, Way
from plait.symbolic.execute import Executor
from plait.symbolic.locations import Location

_MOST_TRIALS = 3


def _error(way: Way) -> tuple[Kind, str, Origin]:
    return way.kind, way.message, way.origin


class Search:
    def __init__(
        self,
        terms: Terms,
        executor: Executor,
        proof: Proof,
        sections: Sections,
        persistent_sets: PersistentSets,
        relevance: Relevance,
        initial_value: Callable[[int], int | None],
        settings: Settings,
        statistics: Statistics,
    ) -> None:
        self._terms = terms
        self._executor = executor
        self._proof = proof
        self._sections = sections
        self._persistent_sets = persistent_sets
        self._relevance = relevance
        self._initial_value = initial_value
        self._settings = settings
        self._statistics = statistics
        self._places: dict[Location, Place] = {}
        # When ways and blocks, by parts that they have alone, depend on each other, outside of
        # sections or with a thread inside of one.
        self._dependences: dict[tuple[int, int, bool], int] = {}
        self._tests: dict[int, Step] = {}  # of the condition that two steps depend on each other
        self._mistaken: set[Location] = set()  # where one thread alone is not enough
        self._left_out: dict[tuple[Kind, str, Origin], int] = {}  # errors, and how often
        self._count = 0
        self.word: list[State] = []  # from the initial state to where the search is
        self._component: list[State] = []  # states that are not closed, in order of discovery
        self.root: State | None = None

    # --- MAIN

    def begin(self) -> None:
        for item in self._places.values():
            item.open.clear()
            item.closed.clear()
        self._component.clear()
        place = self._place(self._executor.start())
        self.root = self._discovered(State(0, place, self._initial_claims(place), 0))

    def next_error(self, look_at_limits: Callable[[], None]) -> tuple[int, Way] | None:
        """Go on to a violation, or to what has no verdict, that the proof does not exclude: a way
        that a thread can take behind `word`. None if there is none."""
        while self.word:
            look_at_limits()
            state = self.word[-1]
            found = self._next_way(state)
            if found is None:
                self._finish(state)
                continue
            thread, way = found
            premises = self._proof.reason(state.claims, way.step, FALSE)
            if premises is not None:
                state.edges.append(Edge(thread, way, None, premises))
            elif way.kind is Kind.MOVE:
                self._follow(state, thread, way)
            elif self._left_out.get(_error(way), 0) < _MOST_TRIALS:
                return found
        return None

    def leave_out(self, way: Way, *, for_good: bool = False) -> None:
        """Go on as if an error could not happen here, and after some more trials (`for_good`: none)
        nowhere. There will be no proof."""
        before = self._left_out.get(_error(way), 0)
        self._left_out[_error(way)] = _MOST_TRIALS if for_good else before + 1

    def _next_way(self, state: State) -> tuple[int, Way] | None:
        if state.left is None:
            state.persistent = self._persistent(state)
            state.left = [
                (thread, list(reversed(self.block(state.place, thread).ways)))
                for thread in reversed(self._to_explore(state))
            ]
            for thread, _ in state.left:
                block = self.block(state.place, thread)
                self._note(state.place, thread, block)
                if self._settings.persistent:
                    self._persistent_sets.note(state.place.location, thread, block)
        while state.left:
            thread, ways = state.left[-1]
            if ways:
                return thread, ways.pop()
            state.left.pop()
            state.explored |= 1 << thread
        return None

    def _note(self, place: Place, thread: int, block: Block) -> None:
        """A step that can be taken there, which may be in the middle of a critical section."""
        key = thread, id(block.accesses)
        if key not in place.noted:
            place.noted.add(key)
            self._sections.note(place.location, thread, block)

    def _to_explore(self, state: State) -> list[int]:
        if state.persistent:
            return [state.persistent]
        awake = [item for item in state.place.can_step if not state.asleep >> item & 1]
        if state.thread in awake:
            awake.remove(state.thread)
            awake.insert(0, state.thread)
        return awake

    def _persistent(self, state: State) -> int:
        """A thread whose next step comes before all that others may do; 0 if none seems to. One
        that is asleep cannot: what it does next was explored elsewhere, and so is not here."""
        place = state.place
        if not self._settings.persistent or place.location in self._mistaken:
            return 0
        if place.persistent is None:
            place.persistent = self._persistent_sets.choose(
                place.location, place.can_step, lambda thread: self.block(place, thread)
            )
        if state.asleep >> place.persistent & 1:
            return 0
        self._statistics.persistent += place.persistent > 0
        return place.persistent

    def block(self, place: Place, thread: int) -> Block:
        found = place.blocks.get(thread)
        if found is None:
            began = time.perf_counter()
            found = place.blocks[thread] = self._executor.block(place.location, thread)
            self._statistics.executing += time.perf_counter() - began
        return found

    def _follow(self, state: State, thread: int, way: Way) -> None:
        assert way.target is not None
        place = self._place(way.target)
        child = State(0, place, 0, 0, (state.place.location, thread, way))
        child.claims = self._after(state.claims, child)
        self._put_to_sleep(child, state, way)
        state.edges.append(Edge(thread, way, child))
        cover = self._cover_of(child)
        if cover is None:
            self._discovered(child)
            return
        child.cover = cover
        self._statistics.covers += 1
        self._statistics.closed_covers += cover.is_closed
        if not cover.is_closed:
            state.low = min(state.low, cover.number)

    def _discovered(self, state: State) -> State:
        state.number = state.low = self._count
        self._count += 1
        self._statistics.states += 1
        state.place.open.append(state)
        state.position = len(self._component)
        self._component.append(state)
        self.word.append(state)
        self._statistics.longest_word = max(self._statistics.longest_word, len(self.word) - 1)
        return state

    def _finish(self, state: State) -> None:
        self.word.pop()
        if state.low < state.number:
            before = self.word[-1]
            before.low = min(before.low, state.low)
            return
        component = self._component[state.position :]
        self._forget(state.position)
        close(component, self._proof)

    def _forget(self, first: int) -> None:
        """The states from some place of the component list on are not open any more."""
        for state in reversed(self._component[first:]):
            assert state.place.open[-1] is state
            state.place.open.pop()
        del self._component[first:]

    def _cover_of(self, state: State) -> State | None:
        for other in state.place.closed:
            if not other.needed & ~state.claims and not other.needed_asleep & ~state.asleep:
                return other
        for other in state.place.open:
            if not other.claims & ~state.claims and not other.asleep & ~state.asleep:
                return other
        return None

    # --- the reduction

    def _put_to_sleep(self, child: State, state: State, way: Way) -> None:
        """Threads whose next step is independent of the one to the child, and was or will be
        explored before it: the words in which they come next need not be looked at."""
        for thread in numbers(self._candidates(state, child.thread)):
            premises = self._independent(state, way, child.place, thread)
            if premises is None:
                continue
            child.asleep |= 1 << thread
            child.sleep_premises[thread] = premises
            if self._settings.commutativity is Commutativity.SLEEP:
                child.inherited |= state.asleep & 1 << thread
            self._statistics.asleep += 1
            # It is not taken from there, but it could be: nobody must be in the middle of a
            # critical section then.
            block = self.block(state.place, thread)
            self._note(child.place, thread, block)

    def _candidates(self, state: State, moving: int) -> int:
        match self._settings.commutativity:
            case Commutativity.NONE:
                return 0
            case Commutativity.MONOTONIC if state.persistent:
                return 0  # the other order is nowhere else
            case Commutativity.MONOTONIC:
                found = as_set(thread for thread in state.place.can_step if thread < moving)
            case Commutativity.SLEEP:
                found = state.asleep | state.explored
        return found & ~(1 << moving) & as_set(state.place.can_step)

    def _independent(self, state: State, way: Way, behind: Place, thread: int) -> int | None:
        """Claims because of which the next step of a thread is independent of a way that another
        one takes; None if it may not be."""
        assert way.target is not None
        block = self.block(state.place, thread)
        key = id(way.step), id(block.accesses), state.place.is_inside or behind.is_inside
        condition = self._dependences.get(key)
        if condition is None:
            before = state.place.location
            condition = dependence(self._terms, before, way.target, way, block)
            self._dependences[key] = condition
        if condition == self._terms.false:
            return 0
        if condition == self._terms.true:
            return None
        test = self._tests.get(condition)
        if test is None:
            test = self._tests[condition] = Step((condition,), {})
        premises = self._proof.reason(state.claims, test, FALSE)
        self._statistics.conditional += premises is not None
        return premises

    def mistaken(self) -> bool:
        """Whether the search, which is complete, was wrong about what others may do; it then has to
        begin again. What it takes for granted was a guess: `plait.analysis.futures`."""
        assert self.root is not None
        if not self._settings.persistent:
            return False
        tree = rows(self.root, self._proof)
        found = self._persistent_sets.mistaken(
            tree, lambda location, thread: self.block(self._places[location], thread)
        )
        self._mistaken.update(tree[place].location for place in found)
        self._statistics.mistaken += len(found)
        return bool(found)

    # --- places

    def _place(self, location: Location) -> Place:
        place = self._places.get(location)
        if place is None:
            is_inside = any(thread.is_inside for thread in location.threads)
            place = self._places[location] = Place(location, location.can_step(), is_inside)
            self._statistics.locations = len(self._places)
            threads = len(location.threads)
            self._statistics.threads = max(self._statistics.threads, threads)
        return place

    def _claims_at(self, place: Place, claims: int) -> int:
        """Those that are about variables that there are at a place."""
        known = self._proof.claims
        if place.seen < len(known):
            place.relevant = self._relevance.at(place.location, known)
            place.seen = len(known)
        return claims & place.relevant

    # --- refinement

    def read_again(self) -> None:
        """The proof excludes the word: explore again from the first state of it where a claim is
        new, or whose next step is excluded now. If none is, it is the last state, behind which the
        error is to be excluded by claims that are then known to be needed."""
        claims = 0
        for index, state in enumerate(self.word):
            if state.taken is None:
                claims = self._initial_claims(state.place)
            elif self._proof.reason(claims, state.way.step, FALSE) is not None:
                self._restart(index - 1, claims)
                return
            else:
                claims = self._after(claims, state)
            if claims != state.claims:
                self._restart(index, claims)
                return
        self._restart(len(self.word) - 1, claims)

    def excludes(self, way: Way) -> bool:
        """Whether the proof, as it is now, accepts the word with this way behind it."""
        claims = self._initial_claims(self.word[0].place)
        for state in self.word[1:]:
            if self._proof.reason(claims, state.way.step, FALSE) is not None:
                return True
            claims = self._after(claims, state)
        return self._proof.reason(claims, way.step, FALSE) is not None

    def _initial_claims(self, place: Place) -> int:
        return self._claims_at(place, self._proof.initially(self._initial_value))

    def _after(self, claims: int, state: State) -> int:
        return self._claims_at(state.place, self._proof.after(claims, state.way.step))

    def _restart(self, index: int, claims: int) -> None:
        state = self.word[index]
        self._forget(state.position + 1)
        del self.word[index + 1 :]
        state.claims = claims
        state.edges.clear()
        state.explored = 0
        state.left = None
        state.low = state.number
