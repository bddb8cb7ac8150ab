"""Facts of other engines about variables, as terms over the cells of memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from plait.logic.terms import Terms
from plait.model.facts import Fact, Range
from plait.model.program import StaticObject
from plait.symbolic.knowledge import Knowledge
from plait.symbolic.variables import cell_variable


def variable_of_part(
    knowledge: Knowledge, terms: Terms, item: StaticObject, part: tuple[int, int]
) -> int | None:
    """The variable of a part (offset and size) of an object, if there may be one."""
    cells = knowledge.cells_of(item, item.size)
    if cells is None or part not in cells or knowledge.is_explicit_cell(item, *part):
        return None
    return cell_variable(terms, (knowledge.program.address_of(item) + part[0], part[1]))


def in_range(terms: Terms, fact: Range, variable: int) -> int:
    width = 8 * fact.size
    mask = (1 << width) - 1
    low, high = terms.constant(fact.low & mask, width), terms.constant(fact.high & mask, width)
    if fact.low == fact.high:
        return terms.eq(variable, low)
    compare = terms.sle if fact.signed else terms.ule
    return terms.and_(compare(low, variable), compare(variable, high))


def claims_of(knowledge: Knowledge, terms: Terms, facts: Iterable[Fact]) -> Iterator[int]:
    """What ranges say, wherever their cells have a variable."""
    objects = {item.name: item for item in knowledge.program.objects if not item.thread_local}
    for fact in facts:
        if isinstance(fact, Range) and fact.object in objects:
            part = fact.offset, fact.size
            variable = variable_of_part(knowledge, terms, objects[fact.object], part)
            if variable is not None:
                yield in_range(terms, fact, variable)
