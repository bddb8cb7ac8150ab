"""Ghost variables: what no program mentions and proofs need. Each step sets them from what it does,
so that they cannot change what a program does."""

from __future__ import annotations

from plait.data import replace
from plait.engines.context.templates import Instance, Templates
from plait.logic.interpolation.path import Step
from plait.logic.terms import Terms
from plait.symbolic.variables import cell_of

GHOST = "ghost"  # how names of ghost variables begin
PLACE = f"{GHOST} place of"
COUNTER = f"{GHOST} count of"
_PLACE_BITS = 16
_NOWHERE = 0xFFFF


def add_owners(templates: Templates, terms: Terms) -> None:
    """For each shared cell that is used like a lock: who has last made it something else than 0."""
    written = _written(templates, terms)
    cells = [item for item in written if _looks_like_lock(templates, terms, item)]
    for template in templates.all:
        for instance in (template.one, template.other):
            if instance is not None:
                for cell in cells:
                    _follow(instance, terms, cell)


def add_beginnings(templates: Templates, terms: Terms) -> None:
    """For each template of threads whether one of them has begun."""
    for template in templates.all:
        for instance in filter(None, (template.one, template.other)):
            for place, item in enumerate(instance.transitions):
                for begun in item.begins:
                    ghost = has_begun(terms, begun.template)
                    updates = {**item.step.updates, ghost: terms.true}
                    step = Step(item.step.assumes, updates, item.step.inputs)
                    instance.transitions[place] = replace(item, step=step)


def add_places(templates: Templates, terms: Terms) -> None:
    """For each template of which there is one thread: where that is, or that it has ended."""
    for number, template in enumerate(templates.all):
        if template.other is not None:
            continue
        ghost = place_of(terms, number)
        for position, item in enumerate(template.one.transitions):
            target = _NOWHERE if item.target is None else item.target
            updates = {**item.step.updates, ghost: terms.constant(target, _PLACE_BITS)}
            step = Step(item.step.assumes, updates, item.step.inputs)
            template.one.transitions[position] = replace(item, step=step)


def has_begun(terms: Terms, template: int) -> int:
    return terms.variable(f"{GHOST} {template} has begun", 1)


def last_number(terms: Terms) -> int:
    """The number of the thread that was started last; only certificates speak of it."""
    return terms.variable(f"{GHOST} last number", 32)


def place_of(terms: Terms, template: int) -> int:
    return terms.variable(f"{PLACE} {template}", _PLACE_BITS)


def _written(templates: Templates, terms: Terms) -> list[int]:
    found: dict[int, None] = {}
    for template in templates.all:
        for item in template.one.transitions:
            for variable in item.step.updates:
                cell = cell_of(terms.name[variable])
                if cell is not None and templates.is_static(cell[0]):
                    found[variable] = None
    return list(found)


def _looks_like_lock(templates: Templates, terms: Terms, variable: int) -> bool:
    """It is only ever set to constants, to 0 and to something else."""
    values = set()
    for template in templates.all:
        for item in template.one.transitions:
            new = item.step.updates.get(variable)
            if new is None:
                continue
            value = terms.value(new)
            if value is None:
                return False
            values.add(value)
    return 0 in values and len(values) > 1


def _follow(instance: Instance, terms: Terms, cell: int) -> None:
    width = terms.width[cell]
    ghost = terms.variable(f"{GHOST} owner of {terms.name[cell]}", 32)
    zero, nobody = terms.constant(0, width), terms.constant(0, 32)
    myself = terms.constant(instance.number, 32)
    for place, item in enumerate(instance.transitions):
        new = item.step.updates.get(cell)
        if new is None:
            continue
        taken = terms.ite(terms.eq(cell, zero), myself, ghost)
        owner = terms.ite(terms.eq(new, zero), nobody, taken)
        updates = {**item.step.updates, ghost: owner}
        step = Step(item.step.assumes, updates, item.step.inputs)
        instance.transitions[place] = replace(item, step=step)
