"""Blocks that were executed before, found by what their execution has looked at.

Execution is deterministic: with the same thread and the same answers so far, it asks the same next
question. So the blocks of a thread are the leaves of a tree of questions, and at another location
its answers lead to the block that fits, or to a question that nobody has asked there yet.
"""

from __future__ import annotations

from plait.data import dataclass, field
from plait.symbolic.ends import Unplaced
from plait.symbolic.locations import Thread
from plait.symbolic.surroundings import Answer, Question, Surroundings, View


@dataclass(slots=True, eq=False)
class _Fork:
    question: Question
    behind: dict[Answer, _Fork | Unplaced] = field(default_factory=dict)


class KnownBlocks:
    def __init__(self) -> None:
        self._begin: dict[tuple[int, Thread], _Fork | Unplaced] = {}

    def find(self, view: View, number: int) -> Unplaced | None:
        found = self._begin.get((number, view.location.threads[number - 1]))
        while isinstance(found, _Fork):
            found = found.behind.get(view.answer(found.question))
        return found

    def add(self, surroundings: Surroundings, block: Unplaced) -> None:
        """The block that was executed in these surroundings, where `find` has found none."""
        key = surroundings.number, surroundings.thread
        asked = list(surroundings.asked.items())
        if not asked:
            self._begin[key] = block
            return
        fork = self._begin.setdefault(key, _Fork(asked[0][0]))
        for (question, answer), (following, _) in zip(asked, asked[1:], strict=False):
            assert isinstance(fork, _Fork) and fork.question == question
            fork = fork.behind.setdefault(answer, _Fork(following))
        question, answer = asked[-1]
        assert isinstance(fork, _Fork) and fork.question == question
        fork.behind[answer] = block
