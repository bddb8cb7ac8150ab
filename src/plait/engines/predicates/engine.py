"""Lazy abstraction (Algorithm 2): a tree of regions, refined where a counterexample is spurious."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from plait.data import replace
from plait.engines.blocks import certificate
from plait.engines.blocks import hints as hinting
from plait.engines.blocks.expansion import Expansion
from plait.engines.blocks.paths import Occurrence, own_step
from plait.engines.blocks.precision import FEW_PATHS
from plait.engines.blocks.recursion import calls_again
from plait.engines.blocks.relevance import Relevance
from plait.engines.blocks.shell import Confirm, Found, Shell, Tools, answered
from plait.engines.interface import Answer, Outcome, Proof
from plait.engines.predicates.cubes import EVERYTHING, NOTHING, Literals, Region
from plait.engines.predicates.description import PREDICATES
from plait.engines.predicates.posts import Posts
from plait.engines.predicates.precision import Precision
from plait.engines.predicates.refinement import Analysis, Spurious
from plait.engines.predicates.settings import Explicit, Settings
from plait.engines.predicates.statistics import Statistics
from plait.engines.predicates.tree import Node, Tree, rows
from plait.logic.interpolation.interpolate import Feasible, Unknown
from plait.logic.interpolation.path import Step
from plait.model.program import Program
from plait.model.properties import Specification
from plait.symbolic.blocks import Block, Kind, Way
from plait.symbolic.locations import Location

# Blocks with more than `FEW_PATHS` paths are one step at first, which makes trees small. If that is
# too coarse to be explained, the search begins again, and all of up to so many paths are steps.
_MANY_PATHS = 2000
# So many predicates of an earlier proof are tracked for a location.
_MOST_HINTS = 16

Progress = Callable[[Statistics, str], None]  # with how far the search has come, in words


def verify(
    program: Program,
    specification: Specification,
    settings: Settings,
    deadline: float | None = None,
    progress: Progress | None = None,
    confirm: Confirm | None = None,
    hints: hinting.Data | None = None,
) -> Outcome:
    """`confirm` replays a counterexample; it answers with what is wrong with it. `hints` are those
    of the proof of a similar program, if there is one; they may be anything."""

    def attempt(broken_locks: frozenset[int]) -> Outcome:
        for most_paths in (FEW_PATHS, _MANY_PATHS):
            search = Search(
                program,
                specification,
                settings,
                deadline,
                progress,
                confirm,
                hints,
                broken_locks,
                most_paths,
            )
            outcome = search.run()
            if not search.is_too_coarse:
                break
        return outcome

    return answered(PREDICATES, program, specification, attempt)


class Search:
    def __init__(
        self,
        program: Program,
        specification: Specification,
        settings: Settings,
        deadline: float | None,
        progress: Progress | None,
        confirm: Confirm | None,
        hints: hinting.Data | None = None,
        broken_locks: frozenset[int] = frozenset(),
        most_paths: int = FEW_PATHS,
    ) -> None:
        self._specification = specification
        self._settings = settings
        tools = Tools(
            program,
            specification,
            deadline,
            every_access=not settings.reduced,
            locks=settings.reduced,
            few=settings.explicit is Explicit.FEW,
            broken_locks=broken_locks,
            most_paths=most_paths,
        )
        # Whether the search has ended because paths that were merged are not explained.
        self.is_too_coarse = False
        self._may_be_too_coarse = most_paths < _MANY_PATHS
        self._program = program
        self._terms = tools.terms
        self._knowledge = tools.knowledge
        self._executor = tools.executor
        self._paths = tools.paths
        self._shell = Shell(tools, progress, confirm, self._counted, self._size)
        self.statistics = Statistics()
        self.literals = Literals(self._terms)
        self.precision = Precision(
            self._terms,
            self.literals,
            Relevance(self._terms, self._knowledge, self._executor.memory),
            settings.abstraction,
            monolithic=settings.monolithic,
        )
        self._hints = hinting.Hints(self._knowledge, self._terms, hints)
        self._posts = Posts(
            self._terms, self.literals, self.statistics, settings.abstraction, deadline
        )
        self._expansion = Expansion(
            tools,
            self.statistics,
            self._executor.block,
            lambda node, fact: self._posts.excludes(node.region, fact),
            skips=settings.reduced,
            one_may_do=settings.reduced,
        )
        self._analysis = Analysis(
            self._terms, self._paths, deadline, self._look_at_limits, settings.abstraction
        )
        self.tree = Tree(self.statistics)

    # --- MAIN

    def run(self) -> Outcome:
        return self._shell.run(self._search)

    def _search(self) -> Outcome:
        self._expansion.rehearse()
        self._plant()
        while self.tree.queue:
            while self.tree.queue:
                self._look_at_limits()
                node = self.tree.next()
                if node is not None:
                    self._process(node)
            self._make_up_for_mistakes()
        return self._conclusion()

    def _plant(self) -> None:
        """The root, with what its predicates are initially."""
        location = self._executor.start()
        tracked = self._tracked(location, 1)
        claims = Step(tuple(self.literals.of_cube(tracked)), {})
        initially = self._paths.initial_step([claims])
        region = self._posts.behind(EVERYTHING, initially, tracked)
        self._root = self.tree.root(location, region, tracked)

    def _process(self, node: Node) -> None:
        other = self.tree.weaker(node)
        if other is not None:
            self._cover(node, other)
        if node.is_open:
            self._expand(node)

    def _conclusion(self) -> Outcome:
        unknown = self._shell.what_is_open()
        if unknown is not None:
            return unknown
        problem = self._incompleteness()
        if problem:
            reason = f"internal error: the tree is not complete ({problem})"
            return Outcome(Answer.UNKNOWN, reason, self._counted())
        proof = Proof(
            lambda: certificate.write(
                PREDICATES.name,
                self._knowledge,
                self._executor,
                self._terms,
                self._specification,
                rows(list(self.tree.nodes), self.literals),
            ),
            self._settings.reduced,
            self._unreduced,
            lambda: hinting.write(self._knowledge, self._terms, self._labels()),
        )
        reason = "the reachability tree is complete and safe"
        return Outcome(Answer.HOLDS, reason, self._counted(), proof=proof)

    def _labels(self) -> list[tuple[Location, list[int]]]:
        return [
            (node.place.location, self.literals.conjuncts(node.region)) for node in self.tree.nodes
        ]

    def _incompleteness(self) -> str:
        """What is wrong with the tree that is left when the queue is empty: nothing, unless there
        is a mistake in what removes nodes and moves them in and out of the queue."""
        wanted = self._expansion.wanted
        for node in self.tree.nodes:
            if node.parent is not None and node.parent not in self.tree.nodes:
                return f"node {node.number} hangs in the air"
            if node.is_open:
                return f"node {node.number} is not expanded"
            cover = node.cover
            if cover is None:
                if not set(self._expansion.threads(node)) <= set(node.expanded):
                    return f"node {node.number} skips a thread"
            elif cover not in self.tree.nodes or cover.cover or cover.place is not node.place:
                return f"node {node.number} is covered by one that does not count"
            elif cover.persistent <= 0 and not set(wanted(node)) <= set(cover.expanded):
                return f"node {node.number} is covered by one that skips a thread"
        return ""

    def _unreduced(self, deadline: float) -> dict[str, Any] | None:
        """The certificate of a proof without partial-order reduction."""
        whole = replace(self._settings, reduced=False)
        outcome = verify(self._program, self._specification, whole, deadline)
        return None if outcome.proof is None else outcome.proof.certificate()

    # --- limits

    def _counted(self) -> Statistics:
        found = self.statistics
        found.kept = len(self.tree.nodes)
        found.locations = len(self.tree.places)
        found.open_nodes = len(self.tree.queue)
        threads = (thread for location in self.tree.places for thread in location.threads)
        counts = self.precision.counts(threads)
        found.predicates = self.precision.count()
        found.places = len(counts)
        found.most_at_a_place = max(counts, default=0)
        found.at_all_places = sum(counts)
        return found

    def _size(self) -> str:
        found = self._counted()
        return (
            f"{found.predicates:,} predicates, {found.kept:,} nodes, {found.open_nodes:,} of them"
            f" still open"
        )

    def _look_at_limits(self) -> None:
        self._shell.look_at_limits(self.statistics.nodes, self._settings.most_nodes, "nodes")

    # --- the tree grows

    def _expand(self, node: Node) -> None:
        node.is_open = False
        for thread in self._expansion.threads(node):
            self._expand_thread(thread, node)
            if node.is_open or node.is_removed:
                return  # it is the pivot of a refinement, or below one

    def _expand_thread(self, thread: int, node: Node) -> None:
        if thread in node.expanded:
            return
        node.expanded[thread] = None
        place = node.place
        ways = self._possible(node.region, self._expansion.taken(place, thread))
        # Errors first: what would be below the node is made only if there are none.
        for way in ways:
            if way.kind is not Kind.MOVE and not self._exclude(node, thread, way):
                return
        for way in ways:
            if way.target is None:
                continue
            is_again = calls_again(place.location, way.target, thread)
            if is_again and not self._prune(node, thread, way):
                return
            tracked = self._tracked(way.target, thread)
            region = self._behind(node.region, way.step, tracked)
            is_growth = self._expansion.is_growth(place, thread, way)
            self.tree.add(node, thread, way, region, tracked, is_growth=is_growth)

    def _tracked(self, location: Location, mover: int) -> int:
        """The literals that matter where a thread has come to. Where nobody has been, the
        predicates of an earlier proof may do."""
        if self._hints and location not in self.tree.places:
            known = (term for label in self._hints.at(location) for term in label)
            hinted = list(dict.fromkeys(known))[:_MOST_HINTS]
            self.precision.add(location, mover, hinted)
        return self.precision.tracked(location)

    def _possible(self, region: Region, block: Block) -> list[Way]:
        began = time.perf_counter()
        try:
            return self._posts.possible(region, block)
        finally:
            self.statistics.abstracting += time.perf_counter() - began

    def _behind(self, region: Region, step: Step, tracked: int) -> Region:
        began = time.perf_counter()
        try:
            return self._posts.behind(region, step, tracked)
        finally:
            self.statistics.abstracting += time.perf_counter() - began

    def _make_up_for_mistakes(self) -> None:
        """Expand all threads where it turns out that one is not enough."""
        nodes, places = list(self.tree.nodes), self.tree.places
        for node in self._expansion.mistaken(nodes, rows(nodes, self.literals), places):
            self.tree.reopen(node)

    # --- covers

    def _cover(self, node: Node, other: Node) -> None:
        self.tree.cover(node, other)
        for thread in self._expansion.wanted(node):
            if thread in other.expanded or thread in other.extra:
                continue
            other.extra[thread] = None
            if not other.is_open and other.persistent <= 0:
                self.tree.reopen(other)

    # --- refinement

    def _exclude(self, node: Node, thread: int, way: Way) -> bool:
        """Whether the regions exclude a way to an error. If not, it is reported, or the tree is
        refined."""
        if way in node.left_out:
            return True
        path = self._occurrences(node, thread, way)
        found = self._analysed(node, path)
        if isinstance(found, Spurious):
            if self._refine(node, found):
                return False
            self._put_aside("the predicates of a path do not exclude it", way)
        elif isinstance(found, Feasible):
            self._shell.report(path, way, found.model)
        else:
            self._put_aside(found.reason, way)
        node.left_out[way] = None
        return True

    def _put_aside(self, reason: str, way: Way) -> None:
        self._shell.put_aside(reason, way.origin)
        if self._may_be_too_coarse:
            self.is_too_coarse = True
            raise Found(Outcome(Answer.UNKNOWN, reason, self._counted()))

    def _prune(self, node: Node, thread: int, way: Way) -> bool:
        """Find out at once whether a function can be called that runs already: lazily, a recursion
        would be unrolled for ever below the case that ends it."""
        found = self._analysed(node, self._occurrences(node, thread, way))
        return not (isinstance(found, Spurious) and self._refine(node, found))

    def _analysed(self, node: Node, path: list[Occurrence]) -> Feasible | Spurious | Unknown:
        began = time.perf_counter()
        regions = [self.literals.conjuncts(item.region) for item in node.path()]
        try:
            return self._analysis(regions, [item.step for item in path])
        finally:
            self.statistics.refining += time.perf_counter() - began

    def _occurrences(self, node: Node, thread: int, way: Way) -> list[Occurrence]:
        before = [item.occurrence(self._terms) for item in node.path()[1:]]
        here = Occurrence(node.place.location, thread, way, *own_step(self._terms, way))
        return [*before, here]

    def _refine(self, node: Node, found: Spurious) -> bool:
        """Track what excludes a path, and make what is below the pivot anew. Whether anything will
        be different."""
        path = node.path()
        behind = path[found.pivot + 1 :]
        for item, label in zip(behind, found.labels, strict=True):
            self.precision.add(item.place.location, item.thread or 1, label)
        tracked = self.precision.tracked
        is_new = any(tracked(item.place.location) != item.tracked for item in behind)
        if not is_new and not self._settings.keep_subtree:
            return False
        self.statistics.refinements += 1
        if found.pivot < 0:
            self.tree.remove([self._root])
            self._plant()
        elif self._settings.keep_subtree:
            self._relabel(behind)
        else:
            self.tree.remove_below(path[found.pivot])
        return True

    def _relabel(self, nodes: list[Node]) -> None:
        """Refine the nodes of a path and nothing else, as if a subtree could be kept."""
        for node in nodes:
            assert node.parent is not None and node.way is not None
            tracked = self.precision.tracked(node.place.location)
            region = self._behind(node.parent.region, node.way.step, tracked)
            if region == NOTHING:
                self.tree.remove([node])
                node.parent.children.remove(node)
                return
            self.tree.relabel(node, region, tracked)
        nodes[-1].expanded.clear()
        self.tree.reopen(nodes[-1])
