"""Random small instances against the definition, by brute force."""

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.engines.orders.brute_force import (
    implied,
    is_feasible,
    minimal_conflicts,
    obeys,
    occurring,
)

from plait.engines.orders.baselines.kernel import KernelLimits, kernel_reasons_of
from plait.engines.orders.events import (
    Alias,
    CriticalSection,
    Event,
    EventStructure,
    Kind,
    Link,
    Order,
)
from plait.engines.orders.exact import Feasible, Infeasible, decide
from plait.engines.orders.graph import EventOrderGraph

ALL = KernelLimits(reasons=10**6, beyond_shortest=10**6, facts=10**6)
NEARLY_NOTHING = KernelLimits(reasons=1, beyond_shortest=0, facts=2)
GUARDS = st.sampled_from([0, 0, 0, 1, 2, -3])


@st.composite
def structures(draw):
    threads = draw(st.integers(2, 4))
    cells = draw(st.integers(1, 2))
    events = draw(
        st.lists(
            st.builds(
                Event,
                st.sampled_from([Kind.READ, Kind.WRITE, Kind.WRITE, Kind.READ, Kind.OTHER]),
                st.integers(0, threads - 1),
                st.integers(0, cells - 1),
                GUARDS,
            ),
            min_size=4,
            max_size=8,
        )
    )
    count = len(events)
    pairs = [(a, b) for a in range(count) for b in range(a + 1, count)]
    same = [(a, b) for a, b in pairs if events[a].thread == events[b].thread]
    if same and draw(st.integers(0, 3)) == 0:  # branches: a thread's events need not be in a line
        same = draw(st.lists(st.sampled_from(same), unique=True))
    program_order = same + draw(st.lists(st.sampled_from(pairs), max_size=2))
    possible = [
        (write, read)
        for write in range(count)
        for read in range(count)
        if events[write].kind is Kind.WRITE
        and events[read].kind is Kind.READ
        and events[write].cell == events[read].cell
    ]
    some = st.lists(st.sampled_from(possible), unique=True, max_size=5) if possible else st.just([])
    links = [Link(write, read, 10 + n) for n, (write, read) in enumerate(draw(some))]
    all_pairs = [(a, b) for a in range(count) for b in range(count) if a != b]
    orders = [
        Order(a, b, 20 + n)
        for n, (a, b) in enumerate(draw(st.lists(st.sampled_from(all_pairs), max_size=1)))
    ]
    sections = []
    if same:
        for a, b in draw(st.lists(st.sampled_from(same), unique=True, max_size=3)):
            lock = draw(st.sampled_from([None, 1]))
            always = not events[a].guard and not events[b].guard and draw(st.booleans())
            sections.append(CriticalSection(a, b, lock, 0 if always else 30 + len(sections)))
    regions = draw(st.sets(st.integers(0, cells - 1)))
    aliases = []
    for write, read in possible:
        if events[read].cell in regions and draw(st.booleans()):
            always = not events[write].guard and draw(st.booleans())
            literal = (
                0 if always else draw(st.sampled_from([events[write].guard, 50 + len(aliases)]))
            )
            aliases.append(Alias(write, read, literal))
    return EventStructure(events, program_order, links, orders, sections, aliases, regions)


@st.composite
def instances(draw):
    structure = draw(structures())
    true = draw(st.sets(st.sampled_from(structure.literals))) if structure.literals else set()
    if draw(st.booleans()):
        true = set(structure.literals)
    return structure, implied(structure, true) - {0}


@settings(max_examples=200, deadline=None)
@given(instances())
def test_rules_are_sound_and_the_exact_check_is_exact(instance):
    structure, true = instance
    feasible = is_feasible(structure, true)
    graph = EventOrderGraph(structure)
    if not graph.validate(true):
        assert not feasible
        assert not is_feasible(structure, graph.conflict_reason())
    found = decide(structure, true)
    if isinstance(found, Infeasible):
        assert not feasible
        assert not is_feasible(structure, found.reason)
        assert all(is_feasible(structure, found.reason - {one}) for one in found.reason)
    else:
        assert feasible
        assert isinstance(found, Feasible)
        assert sorted(found.schedule) == occurring(structure, true)
        place = {event: n for n, event in enumerate(found.schedule)}
        assert all(
            place[a] < place[b] for a in place for b in place if structure.after0[a] >> b & 1
        )
        assert obeys(structure, found.schedule, true)


@settings(max_examples=200, deadline=None)
@given(instances())
def test_kernel_reasons_are_sufficient_minimal_and_all(instance):
    structure, true = instance
    graph = EventOrderGraph(structure)
    consistent = graph.validate(true)
    found = kernel_reasons_of(graph, ALL)
    assert bool(found) == (not consistent)
    assert set(kernel_reasons_of(graph)) <= set(found)
    if not consistent:
        (one,) = kernel_reasons_of(graph, NEARLY_NOTHING)
        assert not graph.structure.closed_mask(one) & ~graph.asserted
        assert not EventOrderGraph(structure).validate(one)
        assert all(EventOrderGraph(structure).validate(one - {literal}) for literal in one)
    for reason in found:
        assert reason <= true
        assert not is_feasible(structure, reason)
    closures = [implied(structure, reason) for reason in found]
    for reason in found:
        assert sum(reason <= closed for closed in closures) == 1
    if len(true) <= 9:
        assert set(map(frozenset, closures)) == minimal_conflicts(structure, true)


@settings(max_examples=200, deadline=None)
@given(instances())
def test_reasons_of_literals_that_cannot_join_others(instance):
    structure, true = instance
    graph, validated = EventOrderGraph(structure), EventOrderGraph(structure)
    consistent = validated.validate(true)
    found = graph.reasons(true)
    assert bool(found) == (not consistent)
    if consistent:
        assert (graph.after, graph.before) == (validated.after, validated.before)
        assert graph.asserted == validated.asserted
    for reason in found:
        assert reason <= true
        assert not EventOrderGraph(structure).validate(reason)
    assert len(set(found)) == len(found)


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_push_and_backtrack_agree_with_validation(data):
    structure = data.draw(structures())
    graph, fresh = EventOrderGraph(structure), EventOrderGraph(structure)
    levels = [set()]
    for _ in range(data.draw(st.integers(1, 12))):
        step = data.draw(st.sampled_from(["level", "push", "push", "back"]))
        if step == "level":
            graph.new_level()
            levels.append(set())
        elif step == "back":
            target = data.draw(st.integers(0, len(levels) - 1))
            graph.backtrack(target)
            del levels[target + 1 :]
        elif structure.literals:
            literal = data.draw(st.sampled_from(structure.literals))
            for one in sorted(implied(structure, [literal]) - {0}):
                graph.push(one)
                levels[-1].add(one)
        pushed = set().union(*levels)
        assert graph.level == len(levels) - 1
        assert graph.has_conflict == (not fresh.validate(pushed))
        if graph.has_conflict:
            reason = graph.conflict_reason()
            assert reason <= pushed
            assert not EventOrderGraph(structure).validate(reason)
        else:
            assert graph.after == fresh.after
            assert graph.before == fresh.before
            for refuted in graph.refuted_links():
                reason = graph.refutation_reason(refuted)
                assert reason <= pushed
                assert not EventOrderGraph(structure).validate({*reason, refuted.link.literal})
