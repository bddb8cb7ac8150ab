"""Labels that others suggest: an earlier proof of a similar program (hints), and what other engines
have proved of variables (facts). They are proved here, step by step, or not used.
"""

from __future__ import annotations

from collections.abc import Callable

from plait.engines.blocks.hints import Hints
from plait.engines.blocks.paths import Paths
from plait.engines.impact.implications import Implications, Label
from plait.engines.impact.invariants import Candidates
from plait.engines.impact.statistics import Statistics
from plait.engines.impact.tree import Node
from plait.logic.interpolation.path import Step
from plait.logic.substitute import substitute
from plait.logic.terms import Terms
from plait.model.facts import Fact

Known = Callable[[], tuple[Fact, ...]]  # what others have proved by now


class Suggestions:
    def __init__(
        self,
        hints: Hints,
        candidates: Candidates,
        known: Known | None,
        paths: Paths,
        implications: Implications,
        terms: Terms,
        statistics: Statistics,
    ) -> None:
        self._hints = hints
        self._candidates = candidates
        self._known = known
        self._paths = paths
        self._implications = implications
        self._terms = terms
        self._statistics = statistics

    def learn(self) -> None:
        if self._known is not None:
            self._candidates.learn(self._known())

    def begin(self, node: Node) -> None:
        """Begin with the first label that the hints have for the place and that the step to it
        proves. One is enough: more of them make labels that nothing is covered by."""
        place, parent = node.place, node.parent
        if place is None or not self._hints:
            return
        if place.hints is None:
            place.hints = self._hints.at(place.location)
        if not place.hints:
            return
        if parent is None:
            step = self._paths.initial_step([Step(label, {}) for label in place.hints])
            before: Label = frozenset()
        else:
            step = node.step
            before = parent.label | frozenset(step.assumes)
        for label in place.hints:
            if all(self._follows(before, step, claim) for claim in label):
                node.label = frozenset(label) - {self._terms.true}
                self._statistics.suggested += len(node.label)
                return

    def why_impossible(self, node: Node) -> list[tuple[int, ...]]:
        """Labels for the path to a node if what is known of variables, and what of it follows from
        step to step, excludes its last step."""
        if not self._candidates.are_worth_it:
            return []
        *path, last = node.path()
        labels: list[tuple[int, ...]] = []
        before: Label = frozenset()
        for item in path:
            assert item.place is not None
            claims = self._candidates.at(item.place.location)
            step = item.step if labels else self._paths.initial_step([Step(tuple(claims), {})])
            before |= frozenset(step.assumes)
            proved = tuple(claim for claim in claims if self._follows(before, step, claim))
            labels.append(proved)
            before = item.label | frozenset(proved)
        is_excluded = bool(before) and self._implications.excludes(before, tuple(last.step.assumes))
        self._candidates.were_tried(with_success=is_excluded)
        if not is_excluded:
            return []
        self._statistics.suggested += sum(map(len, labels))
        return [*labels, (self._terms.false,)]

    def _follows(self, before: Label, step: Step, claim: int) -> bool:
        weakest = substitute(self._terms, claim, step.updates)
        if weakest == self._terms.true:
            return True
        return bool(before) and self._implications.implies(before, weakest)
