"""Larger instances, some of them beyond the rules, against a memoised search."""

from dataclasses import replace
from random import Random

from tests.engines.orders.brute_force import implied, minimal_conflicts, obeys, occurring
from tests.engines.orders.figures import butterfly

from plait.engines.orders.baselines.kernel import KernelLimits, kernel_reasons_of
from plait.engines.orders.events import CriticalSection, Event, EventStructure, Kind, Link
from plait.engines.orders.exact import Feasible, decide
from plait.engines.orders.graph import EventOrderGraph

ALL = KernelLimits(reasons=10**6, beyond_shortest=10**6, facts=10**6)


def has_schedule(structure, literals):
    """Whether the events can be performed one by one; states are what was done, and the writes
    that reads still see."""
    true = implied(structure, literals)
    events = occurring(structure, literals)
    all_of_them = sum(1 << event for event in events)
    before = {event: structure.before0[event] & all_of_them for event in events}
    source = {}
    for link in structure.links:
        if link.literal in true:
            source.setdefault(link.read, set()).add(link.write)
    sections = [section for section in structure.sections if section.literal in true]
    seen = set()

    def may_be_next(event, done, last):
        if source.get(event, set()) - {last.get(structure.events[event].cell)}:
            return False
        for section in sections:
            if structure.events[event].thread == structure.events[section.first].thread:
                continue
            if done >> section.first & 1 and not done >> section.last & 1:
                if section.lock is None:
                    return False
                if any(other.first == event and other.lock == section.lock for other in sections):
                    return False
        return True

    def search(done, last):
        if done == all_of_them:
            return True
        key = done, frozenset(last.items())
        if key in seen:
            return False
        seen.add(key)
        for event in events:
            if done >> event & 1 or before[event] & ~done or not may_be_next(event, done, last):
                continue
            after = dict(last)
            if structure.events[event].kind is Kind.WRITE:
                after[structure.events[event].cell] = event
            if search(done | 1 << event, after):
                return True
        return False

    return search(0, {})


def random_instance(random):
    """Many short threads and few writes of a cell: the rules derive little."""
    cells = random.randint(2, 4)
    events, program_order, sections = [], [], []
    for thread in range(random.randint(3, 5)):
        first = len(events)
        for _ in range(random.randint(2, 4)):
            kind = random.choice([Kind.READ, Kind.WRITE])
            guard = random.choice([0, 0, 0, 1, 2])
            events.append(Event(kind, thread, random.randrange(cells), guard))
        program_order += [(event, event + 1) for event in range(first, len(events) - 1)]
        if random.random() < 0.3:
            lock = random.choice([None, 1])
            sections.append(CriticalSection(first, len(events) - 1, lock, 50 + len(sections)))
    links = []
    for read, event in enumerate(events):
        writes = [
            number
            for number, other in enumerate(events)
            if (other.kind, other.cell) == (Kind.WRITE, event.cell)
        ]
        if event.kind is Kind.READ and writes:
            links.append(Link(random.choice(writes), read, 100 + read))
    links = random.sample(links, min(len(links), random.randint(4, 9)))
    return EventStructure(events, program_order, links, sections=sections)


def random_butterfly(random):
    """The butterfly with threads in some other order, or its body locked instead of linked."""
    built = butterfly()
    threads = {}
    for number, event in enumerate(built.events):
        threads.setdefault(event.thread, []).append(number)
    program_order, sections = [], []
    locked = random.random() < 0.5
    for thread, numbers in sorted(threads.items()):
        if thread < 2:
            if random.random() < 0.5:
                inner = numbers[1:-1]
                random.shuffle(inner)
                numbers = [numbers[0], *inner, numbers[-1]]
            if locked:
                lock = random.choice([1, 1, 1, None])
                sections.append(CriticalSection(numbers[0], numbers[-1], lock, 50 + thread))
        program_order += zip(numbers, numbers[1:])
    guarded = [
        replace(event, guard=random.choice([0, 0, 1, 2])) if event.kind is Kind.WRITE else event
        for event in built.events
    ]
    links = [link for link in built.links if not (locked and link.literal < 103)]
    return EventStructure(guarded, program_order, links, sections=sections)


def check(structure):
    graph = EventOrderGraph(structure)
    consistent = graph.validate(structure.literals)
    if not consistent:
        assert not has_schedule(structure, structure.literals)
        assert not EventOrderGraph(structure).validate(graph.conflict_reason())
        reasons = kernel_reasons_of(graph)
        assert reasons
        for reason in reasons:
            assert not EventOrderGraph(structure).validate(reason)
            assert all(EventOrderGraph(structure).validate(reason - {one}) for one in reason)
    found = decide(structure, structure.literals)
    if isinstance(found, Feasible):
        assert consistent
        assert obeys(structure, found.schedule, structure.literals)
        return "feasible"
    assert not has_schedule(structure, found.reason)
    assert all(has_schedule(structure, found.reason - {one}) for one in found.reason)
    return "beyond the rules" if consistent else "refuted by the rules"


def test_larger_instances():
    kinds = {check(random_instance(Random(seed))) for seed in range(150)}
    assert {"feasible", "refuted by the rules"} <= kinds


def test_relatives_of_the_butterfly():
    kinds = [check(random_butterfly(Random(seed))) for seed in range(15)]
    assert kinds.count("beyond the rules") >= 5


def test_all_kernel_reasons_of_larger_instances():
    compared = 0
    for seed in range(120):
        structure = random_instance(Random(seed))
        graph = EventOrderGraph(structure)
        if len(structure.literals) > 11 or graph.validate(structure.literals):
            continue
        found = {frozenset(implied(structure, reason)) for reason in kernel_reasons_of(graph, ALL)}
        assert found == minimal_conflicts(structure, structure.literals)
        compared += 1
    assert compared > 20
