"""Concurrent Impact: EXPAND, REFINE and CLOSE (Algorithms 1 and 2 of the paper).

The queue has the nodes with the fewest context switches first, where starting a thread in a loop
counts as one: errors that need few of them are found early, and a node can be covered by all nodes
that were made before it. Errors are refined as
soon as they appear, so the tree is always safe.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from plait.analysis.critical_sections import BrokenLock
from plait.data import replace
from plait.engines.blocks import certificate
from plait.engines.blocks import hints as hinting
from plait.engines.blocks.expansion import Expansion
from plait.engines.blocks.recursion import calls_again
from plait.engines.blocks.shell import Confirm, Found, Shell, Tools, answered
from plait.engines.impact.deadlocks import Deadlocks
from plait.engines.impact.description import IMPACT
from plait.engines.impact.implications import Implications
from plait.engines.impact.invariants import Candidates
from plait.engines.impact.races import PossibleRace, Races
from plait.engines.impact.samples import Samples
from plait.engines.impact.settings import Explicit, Reduction, Settings
from plait.engines.impact.statistics import Statistics
from plait.engines.impact.suggestions import Known, Suggestions
from plait.engines.impact.tree import Node, Tree, common_ancestor, labels, reachable, rows
from plait.engines.interface import (
    Answer,
    Outcome,
    OutOfTime,
    Proof,
)
from plait.logic.interpolation.interpolate import (
    Feasible,
    Interpolants,
    Unknown,
)
from plait.logic.interpolation.path import Step
from plait.model.program import Program
from plait.model.properties import Property, Specification
from plait.symbolic.blocks import Block, Kind, Way
from plait.symbolic.locations import Location, Status

# How many states are shown to the interpreter that may be deadlocks.
_MOST_DOUBTS = 4
# How many nodes of a place a node is tried to be covered by with force.
_FORCED_CANDIDATES = 16

Progress = Callable[[Statistics, str], None]  # with how far the search has come, in words


def verify(
    program: Program,
    specification: Specification,
    settings: Settings,
    deadline: float | None = None,
    progress: Progress | None = None,
    confirm: Confirm | None = None,
    hints: hinting.Data | None = None,
    known: Known | None = None,
) -> Outcome:
    """`confirm` replays a counterexample; it answers with what is wrong with it. `hints` are those
    of the proof of a similar program, if there is one; they may be anything. `known` has the facts
    that others have proved by now."""
    return answered(
        IMPACT,
        program,
        specification,
        lambda broken: _Search(
            program, specification, settings, deadline, progress, confirm, hints, known, broken
        ).run(),
    )


class _Search:
    def __init__(
        self,
        program: Program,
        specification: Specification,
        settings: Settings,
        deadline: float | None,
        progress: Progress | None,
        confirm: Confirm | None,
        hints: hinting.Data | None = None,
        known: Known | None = None,
        broken_locks: frozenset[int] = frozenset(),
    ) -> None:
        self.program = program
        self.specification = specification
        self.settings = settings
        self.deadline = deadline
        tools = Tools(
            program,
            specification,
            deadline,
            every_access=settings.reduction is Reduction.NONE,
            locks=settings.reduction is Reduction.MOVERS,
            few=settings.explicit is Explicit.FEW,
            broken_locks=broken_locks,
        )
        self.terms = tools.terms
        self.knowledge = tools.knowledge
        self.executor = tools.executor
        self.paths = tools.paths
        self.shell = Shell(tools, progress, confirm, self._counted, self._size)
        self.statistics = Statistics()
        self.implications = Implications(self.terms, self.statistics, deadline)
        self.tree = Tree(self.terms, self.implications, self.statistics)
        self.samples = Samples(self.terms, self.paths.initial_value)
        self.suggestions = Suggestions(
            hinting.Hints(self.knowledge, self.terms, hints),
            Candidates(self.knowledge, self.terms),
            known,
            self.paths,
            self.implications,
            self.terms,
            self.statistics,
        )
        self.expansion = Expansion(
            tools,
            self.statistics,
            self._whole_block,
            self._excluded,
            skips=settings.reduction.skips,
            one_may_do=settings.reduction is Reduction.MOVERS,
        )
        self.races = Races(self.terms)
        self._finds_races = Property.NO_DATA_RACE in specification
        self.deadlocks = Deadlocks(self.terms, self._whole_block, self.implications, self.paths)
        self._finds_deadlocks = Property.NO_DEADLOCK in specification
        self._doubts = 0  # states shown to the interpreter as if they were deadlocks

    # --- MAIN

    def run(self) -> Outcome:
        return self.shell.run(self._search)

    def _search(self) -> Outcome:
        self.suggestions.learn()
        self.root = self.tree.add(None, 0, None, self.executor.start())
        self.suggestions.begin(self.root)
        self.expansion.rehearse()
        while self.tree.queue:
            while self.tree.queue:
                self._look_at_limits()
                node = self.tree.next()
                if node is not None:
                    self._process(node)
            self._make_up_for_mistakes()
            if self._finds_deadlocks and not self.tree.queue:
                self._look_for_deadlocks()
        return self._conclusion()

    def _conclusion(self) -> Outcome:
        unknown = self.shell.what_is_open()
        if unknown is not None:
            return unknown
        problem = self._incompleteness()
        if problem:
            reason = f"internal error: the tree is not complete ({problem})"
            return Outcome(Answer.UNKNOWN, reason, self._counted())
        reason = "the abstract reachability tree is complete and safe"
        if self._finds_deadlocks:
            return Outcome(Answer.HOLDS, reason, self._counted())
        proof = Proof(
            lambda: certificate.write(
                IMPACT.name,
                self.knowledge,
                self.executor,
                self.terms,
                self.specification,
                rows(self.tree.nodes[0]),
            ),
            self.settings.reduction is not Reduction.NONE,
            lambda end: _unreduced(self.program, self.specification, self.settings, end),
            lambda: hinting.write(self.knowledge, self.terms, labels(self.root)),
        )
        return Outcome(Answer.HOLDS, reason, self._counted(), proof=proof)

    def _incompleteness(self) -> str:
        """What is wrong with the tree that is left when the queue is empty: nothing, unless there
        is a mistake in what moves nodes in and out of the queue. Nothing is asked anew here: the
        answers could change labels, and with them what covers what."""
        for node in self.tree.nodes:
            cover = node.cover
            is_below = node.parent is not None and not node.parent.is_live
            if is_below or node.is_false:
                continue
            if node.place is None:
                return f"node {node.number} is an error"
            if cover is None:
                due = [node.persistent] if node.persistent > 0 else node.wanted
                more = node.extra if node.persistent <= 0 else ()
                if node.is_open or due is None or not {*due, *more} <= set(node.expanded):
                    return f"node {node.number} is not expanded"
                if self._finds_races and not node.has_no_race:
                    return f"node {node.number} was not searched for races"
                if self._finds_deadlocks and not node.has_no_deadlock:
                    return f"node {node.number} was not searched for deadlocks"
            elif not cover.is_live or cover.place is not node.place:
                return f"node {node.number} is covered by one that does not count"
            elif not self.implications.holds(node.label, cover.label):
                return f"the label of node {node.number} does not imply that of its cover"
            elif (
                self.settings.cover_expansions
                and cover.persistent <= 0
                and (node.wanted is None or not set(node.wanted) <= set(cover.expanded))
            ):
                return f"node {node.number} is covered by one that skips a thread"
        return ""

    def _counted(self) -> Statistics:
        self.statistics.nodes = len(self.tree.nodes)
        self.statistics.locations = len(self.tree.places)
        self.statistics.open_nodes = len(self.tree.queue)
        return self.statistics

    def _size(self) -> str:
        return (
            f"{len(self.tree.nodes):,} nodes, {len(self.tree.queue):,} of them still open,"
            f" {self._what_grew()}"
        )

    def _look_at_limits(self) -> None:
        nodes, most = len(self.tree.nodes), self.settings.max_nodes
        what = "nodes" if nodes <= most else f"nodes: {self._what_grew()}"
        if self.shell.look_at_limits(nodes, most, what):
            self.suggestions.learn()

    def _what_grew(self) -> str:
        largest = max(self.tree.places.values(), key=lambda place: len(place.nodes))
        return f"{len(largest.nodes):,} of them with {self._where(largest.nodes[0])}"

    def _where(self, node: Node) -> str:
        """Where the threads are in the program's code."""
        assert node.place is not None
        stands = []
        for number, thread in enumerate(node.place.location.threads, 1):
            for frame in reversed(thread.frames):
                function = self.knowledge.shape(frame.function).function
                edges = function.edges[frame.location]
                if edges and not function.library:
                    stands.append(f"{number} at {self.program.place(edges[0].action.origin)}")
                    break
        return "threads " + ", ".join(stands) if stands else "no thread in the program's code"

    def _process(self, node: Node) -> None:
        began = time.perf_counter()
        self._close(node)
        if node.is_live and self.settings.force_cover:
            self._force_cover(node)
        self.statistics.covering += time.perf_counter() - began
        if node.is_live and self._finds_races:
            self._look_for_races(node)
        if node.is_live and self._finds_deadlocks:
            self._look_for_stuck_states(node)
        if node.is_live:
            self._expand(node)

    # --- EXPAND

    def _expand(self, node: Node) -> None:
        node.is_open = False
        for thread in self.expansion.threads(node):
            self._expand_thread(thread, node)
            if not node.is_live:
                # A refinement has covered it or a node above it; it goes on when it is live again.
                node.is_open = True
                return

    def _make_up_for_mistakes(self) -> None:
        """Expand all threads where it turns out that one is not enough."""
        nodes, places = reachable(self.root), self.tree.places
        for node in self.expansion.mistaken(nodes, rows(self.root), places):
            self.tree.reopen(node)

    def _expand_thread(self, thread: int, node: Node) -> None:
        if thread in node.expanded:
            return
        node.expanded[thread] = None
        assert node.place is not None
        for way in self.expansion.taken(node.place, thread).ways:
            if self.implications.excludes(node.label, way.step.assumes):
                continue
            is_growth = self.expansion.is_growth(node.place, thread, way)
            child = self.tree.add(node, thread, way, way.target, is_growth=is_growth)
            self.suggestions.begin(child)
            if way.kind is not Kind.MOVE:
                self._refine(child, way)
            elif way.target is not None and calls_again(node.place.location, way.target, thread):
                self._prune(child)

    # --- races

    def _look_for_races(self, node: Node) -> None:
        """Show that no two threads race in the states of a node, or report it."""
        place = node.place
        assert place is not None
        if node.has_no_race:
            return
        if any(thread.is_inside for thread in place.location.threads):
            problem = "an atomic section is no single step: whether it races is not known"
            self.shell.set_aside[f"{problem} ({self._where(node)})"] = None
        if place.races is None:
            place.races = self.races.at(
                place.can_step, lambda thread: self.expansion.block(place, thread)
            )
        for race in place.races:
            self._exclude_race(node, race)
            if not node.is_live:
                return
        node.has_no_race = True

    def _exclude_race(self, node: Node, race: PossibleRace) -> None:
        if self.implications.excludes(node.label, (race.condition,)):
            return
        last = Step((race.condition,), {}, race.inputs)
        self.statistics.refinements += 1
        result = self.paths.interpolate(self._steps_to(node, last))
        if isinstance(result, Interpolants):
            self._strengthen_path(node.path(), list(result.sequence[1:-1]))
        elif isinstance(result, Unknown):
            OutOfTime.check(self.deadline)
            self.shell.set_aside[f"{result.reason} ({self._where(node)})"] = None
        else:
            inputs = tuple(
                (thread, way.inputs) for thread, way in zip(race.threads, race.ways, strict=True)
            )
            assert node.place is not None
            path, location = node.occurrences(), node.place.location
            model = result.model
            found = self.paths.state_behind(path, location, model, "race", race.threads, inputs)
            self.shell.claim(found)

    # --- deadlocks

    def _whole_block(self, location: Location, thread: int) -> Block:
        """The next block of a thread. Where it matters that threads wait, nobody stops in the
        middle of a critical section that is one step."""
        block = self.executor.block(location, thread)
        if self._finds_deadlocks:
            for lock in block.stuck_with:
                raise BrokenLock(lock[0], "who has it may stop")
        return block

    def _look_for_stuck_states(self, node: Node) -> None:
        """Whether nobody moves in some states of a node, and somebody waits."""
        place = node.place
        assert place is not None
        conditions = []
        for thread in place.can_step:
            block = self.expansion.block(place, thread)
            if block.may_fail or block.ends:
                return
            conditions.append(self.terms.any_of(block.waits))
        stuck = self.terms.all_of(conditions)
        if conditions and stuck != self.terms.false:
            self._exclude_deadlock(node, place.can_step[0], stuck)

    def _look_for_deadlocks(self) -> None:
        """Show that every thread that waits at a node of the complete tree can go on."""
        for node in self.tree.nodes:
            place = node.place
            if place is None or not node.is_live or node.has_no_deadlock:
                continue
            OutOfTime.check(self.deadline)
            # In the middle of an atomic section nobody else waits, and no strategy helps.
            is_inside = any(thread.is_inside for thread in place.location.threads)
            for thread in place.can_step:
                waits = self.terms.any_of(self.expansion.block(place, thread).waits)
                if waits == self.terms.false:
                    continue
                facts = node.label | {waits} - {self.terms.true}
                if not is_inside and self.deadlocks.can_go_on(place.location, thread, facts):
                    continue
                self._exclude_deadlock(node, thread, waits)
                if self.tree.queue:
                    return
            node.has_no_deadlock = True

    def _exclude_deadlock(self, node: Node, thread: int, waits: int) -> None:
        """Show that a thread does not wait in the states of a node, or that it waits for ever."""
        if self.implications.excludes(node.label, (waits,)):
            return
        result = self.paths.interpolate(self._steps_to(node, Step((waits,), {})))
        if isinstance(result, Interpolants):
            self.statistics.refinements += 1
            self._strengthen_path(node.path(), list(result.sequence[1:-1]))
            return
        OutOfTime.check(self.deadline)
        problem = "it is not known whether a thread that waits can go on"
        assert node.place is not None
        path, location = node.occurrences(), node.place.location
        # Behind an assumption that fails there is no execution, so nothing to show.
        is_real = all(thread.status is not Status.HALTED for thread in location.threads)
        if isinstance(result, Feasible) and is_real and self._doubts < _MOST_DOUBTS:
            self._doubts += 1
            found = self.paths.state_behind(path, location, result.model, "deadlock", (thread,))
            if not self.shell.problem_of(found):
                raise Found(Outcome(Answer.VIOLATED, found.message, self._counted(), found))
        self.shell.set_aside[f"{problem} ({self._where(node)})"] = None

    # --- partial-order reduction (SKIP)

    def _excluded(self, node: Node, fact: int) -> bool:
        """Whether a fact cannot hold at a node; the label then says so (section IV-D)."""
        if fact in (self.terms.true, self.terms.false):
            return fact == self.terms.false
        is_excluded = self._is_excluded(node, fact)
        self.statistics.conditional += is_excluded
        return is_excluded

    def _is_excluded(self, node: Node, fact: int) -> bool:
        if self.implications.excludes(node.label, (fact,)):
            return True
        result = self.paths.interpolate(self._steps_to(node, Step((fact,), {})))
        if not isinstance(result, Interpolants):
            return False
        self._strengthen_path(node.path(), list(result.sequence[1:-1]))
        return self.implications.excludes(node.label, (fact,))

    # --- CLOSE

    def _close(self, node: Node) -> None:
        """Cover a node by an older one, if there is one."""
        place = node.place
        if place is None:
            return
        for other in place.nodes:
            if other.number >= node.number or not node.is_live:
                return
            if other.is_live and self._is_implied(node, other):
                self._cover(node, other)

    def _is_implied(self, node: Node, other: Node) -> bool:
        if other.label <= node.label:
            self.statistics.syntactic_checks += 1
            return True
        if self.samples.refutes(node, other.label - node.label):
            self.statistics.sample_checks += 1
            return False
        return self.implications.holds(node.label, other.label)

    def _cover(self, node: Node, other: Node) -> None:
        wanted = self.expansion.wanted(node)
        # Facts that the reduction needs may have changed labels: also that of the covering node.
        if not (node.is_live and other.is_live):
            return
        if not self.implications.holds(node.label, other.label):
            return
        self.tree.cover(node, other)
        if not self.settings.cover_expansions:
            return
        for thread in wanted:
            if thread in other.expanded or thread in other.extra:
                continue
            other.extra[thread] = None
            if other.is_open or other.persistent > 0:
                continue
            before = len(self.tree.nodes)
            self._expand_thread(thread, other)
            self.statistics.cover_expansions += len(self.tree.nodes) - before
            if node.cover is not other:
                return

    def _force_cover(self, node: Node) -> None:
        """Make the label of an older node hold here too, if that is possible (section III)."""
        place = node.place
        assert place is not None
        older = [other for other in place.nodes if other.number < node.number and other.is_live]
        for other in older[-_FORCED_CANDIDATES:]:
            if not node.is_live:
                return
            if not other.is_live:
                continue
            if self.samples.refutes(node, other.label):
                self.statistics.sample_checks += 1
            else:
                self._force(node, other)

    def _force(self, node: Node, other: Node) -> None:
        terms = self.terms
        ancestor = common_ancestor(node, other)
        path = node.path()[ancestor.depth :]
        claim = terms.all_of(other.label)
        if claim == terms.false:
            return
        steps = [
            Step(tuple(ancestor.label), {}),
            *(item.step for item in path[1:]),
            Step((terms.not_(claim),), {}),
        ]
        if ancestor.parent is None:
            steps.insert(0, self.paths.initial_step(steps))
        result = self.paths.interpolate(steps)
        if not isinstance(result, Interpolants):
            return
        # One for each place: before the first step, at each node, behind the claim.
        labels = list(result.sequence)[-len(path) - 1 : -1]
        self._strengthen_path(path, labels, closing=False)
        if not (node.is_live and other.is_live):
            return
        if not self.implications.holds(node.label, other.label):
            return
        self._cover(node, other)
        self.statistics.forced_covers += node.cover is other

    # --- REFINE

    def _refine(self, node: Node, way: Way) -> None:
        began = time.perf_counter()
        try:
            self._refine_error(node, way)
        finally:
            self.statistics.refining += time.perf_counter() - began

    def _refine_error(self, node: Node, way: Way) -> None:
        known = self.suggestions.why_impossible(node)
        if known:
            self._strengthen_path(node.path(), known)
            return
        self.statistics.refinements += 1
        result = self.paths.interpolate(self._steps_to(node))
        if isinstance(result, Feasible):
            self.shell.report(node.occurrences(), way, result.model)
            self.tree.make_false(node)
            return
        if isinstance(result, Unknown):
            self.shell.put_aside(result.reason, way.origin)
            self.tree.make_false(node)
            return
        self._strengthen_path(node.path(), list(result.sequence[1:]))

    def _prune(self, node: Node) -> None:
        """Find out at once whether a node can be reached: lazily, a recursion would be unrolled
        for ever below the case that ends it."""
        result = self.paths.interpolate(self._steps_to(node))
        if isinstance(result, Interpolants):
            self.statistics.refinements += 1
            self._strengthen_path(node.path(), list(result.sequence[1:]))

    def _steps_to(self, node: Node, *more: Step) -> list[Step]:
        """From before the initial state to a node, and more behind it."""
        return self.paths.from_start([*(item.step for item in node.path()[1:]), *more])

    # --- labels

    def _strengthen_path(
        self, path: list[Node], labels: list[tuple[int, ...]], *, closing: bool = True
    ) -> None:
        changed = [
            node
            for node, label in zip(path, labels, strict=True)
            if self.tree.strengthen(node, label)
        ]
        if closing:
            for node in changed:
                if node.is_live and node.parent is not None:
                    self._close(node)


def _unreduced(
    program: Program, specification: Specification, settings: Settings, deadline: float
) -> dict[str, Any] | None:
    """The certificate of a proof without partial-order reduction."""
    whole = replace(settings, reduction=Reduction.NONE)
    outcome = verify(program, specification, whole, deadline)
    return None if outcome.proof is None else outcome.proof.certificate()
