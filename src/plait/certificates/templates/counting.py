"""Rule C: how many threads of a template have been started, and how many have left a place.

Each thread leaves a counted place at most once, since it is not at one of the places `before` it
any more when it has left it. So what the places of different threads say of counters is true,
whatever labels claim.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import permutations

from plait.certificates.templates.document import (
    NUMBER_BITS,
    Counter,
    Ghost,
    GhostKind,
    TemplateCertificate,
)
from plait.certificates.templates.states import ghost_variable
from plait.certificates.verdicts import Rejected

_MOST_THREADS = (1 << 31) - 16


def known_counts(certificate: TemplateCertificate, places: Iterable[tuple[int, int]]) -> list[int]:
    """What holds of counters where different threads stand at some places (of templates)."""
    terms = certificate.terms
    standing: dict[int, list[int]] = {}
    for template, place in places:
        standing.setdefault(template, []).append(place)

    def count(places: Iterable[int], template: int) -> int:
        wanted = set(places)
        found = sum(place in wanted for place in standing.get(template, ()))
        return terms.constant(found, NUMBER_BITS)

    found = []
    for template in sorted({item.template for item in certificate.counters}):
        started = ghost_variable(terms, Ghost(GhostKind.STARTED, template))
        everybody = terms.constant(len(standing.get(template, ())), NUMBER_BITS)
        found.append(terms.slt(started, terms.constant(_MOST_THREADS, NUMBER_BITS)))
        found.append(terms.sle(everybody, started))
        own = [item for item in certificate.counters if item.template == template]
        for item in own:
            left = ghost_variable(terms, item.ghost)
            found.append(terms.sle(count(item.behind, template), left))
            found.append(terms.sle(terms.add(left, count(item.before, template)), started))
        for first, second in permutations(own, 2):
            if second.place in first.behind:
                between = count(first.behind & second.before, template)
                less = ghost_variable(terms, second.ghost)
                more = ghost_variable(terms, first.ghost)
                found.append(terms.sle(terms.add(less, between), more))
    return found


def check_counters(
    certificate: TemplateCertificate, moves: list[tuple[int, int, int | None]]
) -> None:
    """Where threads have not left a counted place yet, and where they have. `moves` are the steps
    of all templates, from place to place."""
    for counter in certificate.counters:
        if counter.place not in counter.before or 0 in counter.behind:
            raise Rejected(f"{_words(counter)}: a thread has left it before it begins")
        if counter.before & counter.behind:
            raise Rejected(f"{_words(counter)}: a thread has both left it and not")
        for template, source, target in moves:
            if template == counter.template:
                _check_step(counter, source, target)


def _check_step(counter: Counter, source: int, target: int | None) -> None:
    if target in counter.before and (source == counter.place or source not in counter.before):
        raise Rejected(f"{_words(counter)}: a thread may leave it twice")
    if target in counter.behind and source != counter.place and source not in counter.behind:
        raise Rejected(f"{_words(counter)}: a thread may not have left it behind it")


def _words(counter: Counter) -> str:
    return f"the counter of place {counter.place} of template {counter.template}"
