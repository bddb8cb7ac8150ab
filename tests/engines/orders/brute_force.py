"""Definition 4.5 word by word: is there a total order that obeys all order requirements?"""

from itertools import combinations

from plait.engines.orders.events import EventStructure, Kind, bits
from plait.engines.orders.graph import EventOrderGraph


def implied(structure: EventStructure, literals):
    mask = structure.closed_mask(literals)
    return {structure.literals[number] for number in bits(mask)} | {0}


def occurring(structure, literals):
    true = implied(structure, literals)
    return [n for n, event in enumerate(structure.events) if event.guard in true]


def linear_extensions(structure, events):
    def extend(prefix, left):
        if not left:
            yield list(prefix)
        for event in sorted(left):
            if not any(structure.after0[other] >> event & 1 for other in left):
                yield from extend([*prefix, event], left - {event})

    yield from extend([], frozenset(events))


def hits(structure, write, read, true):
    if structure.events[read].cell in structure.regions:
        return any(
            (alias.write, alias.read) == (write, read) and alias.literal in true
            for alias in structure.aliases
        )
    return structure.events[write].cell == structure.events[read].cell


def obeys(structure, order, literals):
    true = implied(structure, literals)
    clk = {event: place for place, event in enumerate(order)}
    for given in structure.orders:
        if given.literal in true and not clk[given.before] < clk[given.after]:
            return False
    for link in structure.links:
        if link.literal not in true:
            continue
        if not clk[link.write] < clk[link.read]:
            return False
        for other in order:
            event = structure.events[other]
            if event.kind is Kind.WRITE and hits(structure, other, link.read, true):
                if clk[link.write] < clk[other] < clk[link.read]:
                    return False
    sections = [section for section in structure.sections if section.literal in true]
    thread = {event: structure.events[event].thread for event in order}
    for one in sections:
        if one.lock is None:
            for event in order:
                if thread[event] != thread[one.first] and event != one.last:
                    if clk[one.first] < clk[event] < clk[one.last]:
                        return False
            continue
        for two in sections:
            if two.lock == one.lock and thread[two.first] != thread[one.first]:
                if not (clk[one.last] < clk[two.first] or clk[two.last] < clk[one.first]):
                    return False
    return True


def is_feasible(structure, literals):
    events = occurring(structure, literals)
    return any(obeys(structure, order, literals) for order in linear_extensions(structure, events))


def minimal_conflicts(structure, literals):
    """The smallest sets of literals, with what they imply, in which the rules find a conflict."""
    graph = EventOrderGraph(structure)
    found = []
    for size in range(len(literals) + 1):
        for subset in combinations(sorted(literals), size):
            closed = frozenset(implied(structure, subset))
            if not any(reason <= closed for reason in found) and not graph.validate(subset):
                found.append(closed)
    return {one for one in found if not any(other < one for other in found)}
