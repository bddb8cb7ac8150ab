"""A proof for any number of threads as a document (docs/certificates.md)."""

from __future__ import annotations

import re

from plait.engines.blocks.certificate import Document, header, memory_of, table_of, thread_of
from plait.engines.context.counters import Counters
from plait.engines.context.ghosts import COUNTER, GHOST
from plait.engines.context.invariants import Place
from plait.engines.context.templates import Template, Templates
from plait.logic.terms import Terms
from plait.model.properties import Specification
from plait.symbolic.execute import Executor
from plait.symbolic.knowledge import Knowledge

# What the variables of the engine are called in a certificate.
_NAMES = (
    (re.compile(rf"{GHOST} (\d+) has begun"), r"begun.\1"),
    (re.compile(rf"{GHOST} owner of m(\d+\.\d+)"), r"owner.\1"),
    (re.compile(rf"{GHOST} place of (\d+)"), r"place.\1"),
    (re.compile(rf"{COUNTER} (\d+)"), r"started.\1"),
    (re.compile(rf"{COUNTER} (\d+) (\d+)"), r"left.\1.\2"),
    (re.compile(rf"{GHOST} last number"), "last"),
    (re.compile("own number"), "self"),
    (re.compile(r"([tm][0-9.]+)(?::\d+)?"), r"\1"),
)


class _Unspeakable(Exception):
    """A fact mentions what no certificate can speak of."""


def write(
    engine: str,
    knowledge: Knowledge,
    executor: Executor,
    terms: Terms,
    specification: Specification,
    templates: Templates,
    facts: dict[Place, set[int]],
    counters: Counters | None,
) -> Document | None:
    space, pointer_bits = knowledge.space, knowledge.pointer.bits
    arenas = range(space.arena(1)[0], space.arena(space.most_threads)[1])

    def is_address(term: int) -> bool:
        """Of something that is not static."""
        value = terms.value(term)
        if value is None or terms.width[term] != pointer_bits:
            return False
        return value >> knowledge.page_bits in arenas

    try:
        table, index_of = table_of(terms, set().union(*facts.values()), _name, is_address)
    except _Unspeakable:
        return None
    return {
        **header(engine, knowledge, executor, specification),
        "kind": "templates",
        "terms": table,
        "blocks": {str(page): number for page, number in templates.shared_blocks().items()},
        "counters": [] if counters is None else counters.rows(),
        "threads": [],
        "templates": [
            {
                "name": template.name,
                "number": template.one.number,
                "multiple": template.other is not None,
                "places": _places(templates, number, template, facts, index_of),
            }
            for number, template in enumerate(templates.all)
        ],
    }


def _places(
    templates: Templates,
    number: int,
    template: Template,
    facts: dict[Place, set[int]],
    index_of: dict[int, int],
) -> list[Document]:
    instance = template.one
    return [
        {
            "thread": thread_of(location, instance.number),
            **memory_of(location),
            "label": sorted(index_of[item] for item in facts[number, position]),
            "alone": templates.is_alone(instance, position),
        }
        for position, location in enumerate(instance.places)
    ]


def _name(variable: str) -> str:
    for pattern, name in _NAMES:
        match = pattern.fullmatch(variable)
        if match is not None:
            return match.expand(name)
    raise _Unspeakable
