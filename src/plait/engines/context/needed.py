"""The facts that a proof needs: much less than all that was found out.

From the end: what excludes the violations, then what keeps that, and so on. What is left is closed
under all that threads do, as the whole is.
"""

from __future__ import annotations

from plait.engines.context import ghosts, races
from plait.engines.context.invariants import Invariants, Place
from plait.engines.context.templates import Templates
from plait.engines.interface import OutOfTime
from plait.logic.terms import Terms
from plait.symbolic.blocks import Kind


def needed_facts(
    templates: Templates, invariants: Invariants, terms: Terms, *, races_matter: bool
) -> dict[Place, set[int]] | None:
    """By places, `false` where no thread comes to; None if the solver gives up."""
    found: dict[Place, set[int]] = {place: set() for place in invariants.facts}
    pending: list[tuple[Place, int]] = []

    def need(items: set[tuple[Place, int]]) -> None:
        for place, item in items:
            if item not in found[place]:
                found[place].add(item)
                pending.append((place, item))

    for place in found:
        if not invariants.is_reached(place):
            need({(place, terms.false)})
    for number, template in enumerate(templates.all):
        for move in template.one.transitions:
            place = number, move.source
            if not invariants.is_reached(place):
                continue
            if move.kind is not Kind.MOVE:
                core = invariants.core([(place, template.one)], move.step.assumes)
                if core is None:
                    return None
                need(core)
            for begun in move.begins:
                if templates.all[begun.template].other is None:
                    fact = terms.not_(ghosts.has_begun(terms, begun.template))
                    need({(place, fact)} if fact in invariants.facts[place] else set())
        for position, accesses in enumerate(template.one.accesses):
            for child in templates.of_blocks(accesses):
                fact = ghosts.has_begun(terms, child)
                if fact in invariants.facts[number, position]:
                    need({((number, position), fact)})
    if races_matter:
        for first, second, conditions in races.conflicts(templates, invariants):
            core = invariants.core((first, second), conditions)
            if core is None:
                return None
            need(core)
    into: dict[Place, list[int]] = {}
    for position, obligation in enumerate(invariants.obligations):
        if all(invariants.is_reached(place) for place, _ in obligation.sources):
            into.setdefault(obligation.target, []).append(position)
    while pending:
        OutOfTime.check(invariants.deadline)
        place, item = pending.pop()
        for position in into.get(place, ()):
            obligation = invariants.obligations[position]
            post = obligation.post(item)
            if post == terms.true:
                continue
            if post is None:
                return None
            core = invariants.core(obligation.sources, (*obligation.step.assumes, terms.not_(post)))
            if core is None:
                return None
            need(core)
    _add_old_numbers(invariants, terms, found)
    return found


def _add_old_numbers(invariants: Invariants, terms: Terms, found: dict[Place, set[int]]) -> None:
    """If a new thread relies on its number to be new: why that is so."""
    myself, last = invariants.myself, ghosts.last_number(terms)
    starts = (items for (_, place), items in found.items() if place == 0)
    if not any(myself in terms.parts(items) for items in starts):
        return
    old = invariants.old_numbers
    for place, items in found.items():
        if invariants.is_reached(place):
            for variable in old.shared | (old.own[place] & invariants.live(place)):
                items.add(terms.sle(variable, last))
