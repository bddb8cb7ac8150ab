"""The conditions that make a sequence of formulas interpolants of a path.

Callers rely on them for soundness, so no procedure is trusted: each step is proved again, with
all its assumptions. Most steps need no solver, because a procedure that works backwards makes
labels that follow from the next ones by a substitution.
"""

from __future__ import annotations

from collections.abc import Collection

from plait.logic.interpolation.path import Sequence
from plait.logic.interpolation.problem import Context, Path
from plait.logic.operators import AND, NOT, OR
from plait.logic.terms import Terms


def complaint(context: Context, path: Path, sequence: Sequence) -> str | None:
    """Which condition the sequence violates, or None."""
    terms = context.terms
    if len(sequence) != len(path) + 1:
        return f"{len(sequence)} labels for {len(path)} steps"
    if sequence[0]:
        return "the first label is not true"
    if terms.false not in sequence[-1]:
        return "the last label is not false"
    # There is nothing to prove before the first place that has a label.
    start = next(place for place, label in enumerate(sequence) if label) - 1
    return _strange_variable(context, path, sequence, start) or _failing_step(
        context, path, sequence, start
    )


def _strange_variable(context: Context, path: Path, sequence: Sequence, start: int) -> str | None:
    """A variable of a label that no later step reads before it is written, or an input."""
    vocabulary = context.vocabulary
    live: frozenset[int] = frozenset()
    for place in range(len(path), start, -1):
        strange = vocabulary.of(sequence[place]) - live
        if strange:
            name = context.terms.show(min(strange))
            return f"{name} in the label of place {place} is not read later"
        step = path.steps[place - 1]
        read = vocabulary.of(step.assumes)
        read |= vocabulary.of(term for name, term in step.updates.items() if name in live)
        live = (live.difference(step.updates) | read) - step.inputs
    return None


def _failing_step(context: Context, path: Path, sequence: Sequence, start: int) -> str | None:
    for place in range(start, len(path)):
        if not _is_inductive(context, path, place, sequence[place], sequence[place + 1]):
            return f"step {place} does not lead from its label to the next one"
    return None


def _is_inductive(
    context: Context, path: Path, place: int, label: tuple[int, ...], behind: tuple[int, ...]
) -> bool:
    terms = context.terms
    facts = dict.fromkeys((*label, *path.assumes[place]))
    if terms.false in facts:
        return True
    for term in behind:
        goal = path.transfers[place](term)
        if goal == terms.true or goal in facts or _weakened(context, goal, facts):
            continue
        if not context.queries.follows(goal, facts):
            return False
    return True


def _weakened(context: Context, goal: int, given: Collection[int]) -> bool:
    """Whether the goal is a disjunction that has all members of a given one, apart from members
    that are refuted by other given facts. `false` is the disjunction of nothing."""
    terms = context.terms
    members = () if goal == terms.false else _disjuncts(terms, goal) or (goal,)
    return any(
        all(
            member in members or context.conjuncts.normal(terms.not_(member)) in given
            for member in disjuncts
        )
        for fact in given
        if (disjuncts := _disjuncts(terms, fact))
    )


def _disjuncts(terms: Terms, term: int) -> tuple[int, ...]:
    """The members of a disjunction, also of one that is written as a negated conjunction; a
    negation may be its only member."""
    operator, operands = terms.operator[term], terms.operands[term]
    if operator == OR:
        return operands
    if operator == NOT:
        inner = operands[0]
        if terms.operator[inner] == AND:
            return tuple(terms.not_(part) for part in terms.operands[inner])
        return (term,)
    return ()
