import pytest
from tests.engines.orders.figures import Builder, butterfly, figure_2

from plait.engines.orders.baselines.kernel import kernel_reasons_of
from plait.engines.orders.events import CriticalSection, Event, EventStructure, Kind, Link
from plait.engines.orders.graph import EventOrderGraph


def reasons(built, *reads_from):
    return {frozenset(built.sel[pair] for pair in reason) for reason in reads_from}


@pytest.mark.parametrize(
    ("links", "expected"),
    [
        # pi_0 with C_1, C_2; pi_1, where one cycle has two reasons; pi_2. Section 3.2.
        (
            "x4:x2 x5:x1 y2:y1 y3:y1",
            [[("y3", "y1"), ("x5", "x1")], [("x5", "x1"), ("x4", "x2")]],
        ),
        (
            "x4:x3 x5:x1 y2:y4 y3:y4",
            [
                [("x4", "x3"), ("x5", "x1")],
                [("y2", "y4"), ("x4", "x3")],
                [("y3", "y4"), ("x4", "x3")],
            ],
        ),
        (
            "x4:x1 x5:x2 y2:y5 y3:y1",
            [[("y3", "y1"), ("y2", "y5")], [("x5", "x2"), ("y2", "y5")]],
        ),
    ],
)
def test_figure_2_rounds(links, expected):
    built = figure_2()
    graph = EventOrderGraph(built.structure())
    pairs = [tuple(link.split(":")) for link in f"{links} m3:m2 n3:n2".split()]
    assert not graph.validate(built.sel[pair] for pair in pairs)
    found = kernel_reasons_of(graph)
    assert set(found) == reasons(built, *expected)
    assert found == sorted(found, key=len)
    assert graph.conflict_reason() in found


def test_figure_2_first_derived_orders():
    built = figure_2()
    graph = EventOrderGraph(built.structure())
    assert graph.validate([built.sel["y3", "y1"], built.sel["y2", "y1"]])
    assert built.orders_of(graph, "y3", "y4")
    assert not built.orders_of(graph, "y4", "y3")
    assert graph.order_reason(built.number["y3"], built.number["y4"]) == {built.sel["y3", "y1"]}
    assert graph.validate([built.sel["x5", "x1"]])
    assert built.orders_of(graph, "x5", "x2")
    assert not built.orders_of(graph, "y3", "y4")


def test_figure_4_a_rule_2():
    built = Builder()
    built.thread("w x0", "r x1")
    built.thread("w x2")
    built.link("x2", "x1")
    graph = EventOrderGraph(built.structure())
    assert graph.validate(built.sel.values())
    assert graph.derived_orders() == [(built.number["x0"], built.number["x2"])]


def test_figure_4_b_rule_2_behind_another_link():
    built = Builder()
    built.thread("w x0", "w y0")
    built.thread("r y1", "r x1")
    built.thread("w x3")
    built.link("y0", "y1")
    built.link("x3", "x1")
    graph = EventOrderGraph(built.structure())
    assert graph.validate(built.sel.values())
    assert graph.derived_orders() == [(built.number["x0"], built.number["x3"])]
    assert graph.order_reason(built.number["x0"], built.number["x3"]) == set(built.sel.values())


def test_figure_4_c_rule_2_behind_a_derived_order():
    built = Builder()
    built.thread("w x0", "w y0", "r y1")
    built.thread("w y2", "r x1")
    built.thread("w x2")
    built.thread("w y3", "r y4")
    built.link("y0", "y1")
    built.link("x2", "x1")
    built.before("y0", "y2")
    graph = EventOrderGraph(built.structure())
    assert graph.validate(built.sel.values())
    named = {number: name for name, number in built.number.items()}
    derived = {(named[first], named[second]) for first, second in graph.derived_orders()}
    assert derived == {("y1", "y2"), ("x0", "x2")}


def test_rule_3():
    built = Builder()
    built.thread("w x0", "w x2")
    built.thread("r x1")
    built.link("x0", "x1")
    graph = EventOrderGraph(built.structure())
    assert graph.validate(built.sel.values())
    assert built.orders_of(graph, "x1", "x2")


def test_reasons_of_rules_2_and_3_say_that_the_third_write_occurs():
    built = Builder()
    built.thread("w x0", "r x1", guards={"x0": 7})
    built.thread("w x2", "w x3", guards={"x3": 8})
    built.link("x2", "x1")
    graph = EventOrderGraph(built.structure())
    assert graph.validate([7, 8, *built.sel.values()])
    for first, second, guard in (("x0", "x2", 7), ("x1", "x3", 8)):
        reason = graph.order_reason(built.number[first], built.number[second])
        assert reason == {guard, *built.sel.values()}


def test_no_order_is_its_own_reason():
    """x0 is before x1 through three links, hence before x2; through x2 the way is shorter."""
    built = Builder()
    built.thread("w x0", "w a0")
    built.thread("r a1", "w b0")
    built.thread("r b1", "w c0")
    built.thread("r c1", "r x1")
    built.thread("w x2")
    for write, read in (("a0", "a1"), ("b0", "b1"), ("c0", "c1"), ("x2", "x1")):
        built.link(write, read)
    graph = EventOrderGraph(built.structure())
    assert graph.validate(built.sel.values())
    assert graph.order_reason(built.number["x0"], built.number["x2"]) == {*built.sel.values()}


def test_butterfly_is_beyond_the_rules():
    built = butterfly()
    structure = built.structure()
    assert {event.thread for event in structure.events} == set(range(6))
    graph = EventOrderGraph(structure)
    assert graph.validate(built.sel.values())
    assert graph.derived_orders() == []
    assert kernel_reasons_of(graph) == []


def test_a_write_excludes_nothing_unless_it_occurs():
    built = Builder()
    built.thread("w x1", "w x2", "r x3", guards={"x2": 7})
    built.link("x1", "x3")
    graph = EventOrderGraph(built.structure())
    assert graph.validate([built.sel["x3", "x1"]])
    assert not graph.validate([built.sel["x3", "x1"], 7])
    assert graph.conflict_reason() == {7, built.sel["x3", "x1"]}
    assert kernel_reasons_of(graph) == [{7, built.sel["x3", "x1"]}]


def test_program_order_holds_across_events_that_do_not_occur():
    built = Builder()
    built.thread("w x1", "- gap", "r x3", guards={"gap": 7})
    built.thread("w x2")
    built.link("x2", "x3")
    graph = EventOrderGraph(built.structure())
    assert graph.validate([built.sel["x3", "x2"]])
    assert graph.order_reason(built.number["x1"], built.number["x2"]) == {built.sel["x3", "x2"]}


def test_reasons_leave_out_guards_that_a_link_implies():
    built = Builder()
    built.thread("w x1", "w x2", "r x3", "r x4", guards={"x2": 7, "x4": 8})
    built.link("x1", "x3")
    built.link("x2", "x4")
    graph = EventOrderGraph(built.structure())
    one, two = built.sel["x3", "x1"], built.sel["x4", "x2"]
    assert not graph.validate([one, two])
    assert kernel_reasons_of(graph) == [{7, one}]
    assert graph.conflict_reason() == {7, one}


def test_an_order_with_a_literal_holds_only_with_it():
    built = Builder()
    built.thread("- join", "r x3", guards={"join": 9})
    built.thread("w x1", "w x2")
    built.link("x1", "x3")
    built.order("x2", "join", 9)
    graph = EventOrderGraph(built.structure())
    assert graph.validate([built.sel["x3", "x1"]])
    assert not graph.validate([built.sel["x3", "x1"], 9])
    assert graph.conflict_reason() == {built.sel["x3", "x1"], 9}


def locked(lock):
    """Two sections; the first one's write is read in the second."""
    built = Builder()
    built.thread("- a", "w x1", "w y1", "- b", guards={"a": 1, "b": 1})
    built.thread("- c", "r x2", "r y2", "- d", guards={"c": 2, "d": 2})
    built.link("x1", "x2")
    built.section("a", "b", lock, 1)
    built.section("c", "d", lock, 2)
    return built


@pytest.mark.parametrize("lock", [5, None])
def test_block_order(lock):
    built = locked(lock)
    graph = EventOrderGraph(built.structure())
    sel = built.sel["x2", "x1"]
    assert graph.validate([sel])
    assert not built.orders_of(graph, "y1", "y2")
    assert graph.validate([sel, 1, 2])
    assert built.orders_of(graph, "y1", "y2")
    assert {1, sel} <= graph.order_reason(built.number["y1"], built.number["y2"])


@pytest.mark.parametrize("literal", [1, 2])
def test_a_block_that_does_not_occur_keeps_nobody_out(literal):
    built = locked(5)
    graph = EventOrderGraph(built.structure())
    assert graph.validate([built.sel["x2", "x1"], literal])
    assert not built.orders_of(graph, "y1", "y2")


def test_blocks_cannot_read_from_each_other():
    built = locked(5)
    built.thread("w z1", "r z2")
    built.number["y0"] = built.number["y1"]
    built.events[built.number["y2"]] = Event(Kind.WRITE, 1, 1)
    built.events[built.number["y1"]] = Event(Kind.READ, 0, 1)
    built.link("y2", "y1")
    graph = EventOrderGraph(built.structure())
    links = list(built.sel.values())
    # Without sections the two reads are also possible: y2 is after x2, y1 after x1.
    assert graph.validate(links)
    assert not graph.validate([*links, 1, 2])
    assert kernel_reasons_of(graph) == [{1, 2, *links}]
    assert graph.conflict_reason() == {1, 2, *links}


def test_blocks_of_one_thread_may_nest():
    built = Builder()
    built.thread("- a", "- b", "- c", "- d")
    built.section("a", "d", 5)
    built.section("b", "c", 5)
    assert EventOrderGraph(built.structure()).validate([])


def test_a_block_that_is_never_left_comes_last():
    built = Builder()
    built.thread("- a")
    built.thread("- c", "- d")
    built.thread("- end")
    built.before("a", "end")
    built.before("d", "end")
    built.section("a", "end", 5)
    built.section("c", "d", 5)
    graph = EventOrderGraph(built.structure())
    assert graph.validate([])
    assert built.orders_of(graph, "d", "a")


def test_events_of_other_threads_stay_out_of_atomic_sections():
    built = Builder()
    built.thread("w x1", "- a", "- b")
    built.thread("r x2", "w y1")
    built.thread("- c", "r y2", "r z0", "- d")
    built.link("y1", "y2")
    built.section("c", "d", None)
    graph = EventOrderGraph(built.structure())
    assert graph.validate(built.sel.values())
    assert built.orders_of(graph, "y1", "c")


def test_a_thread_made_inside_an_atomic_section_waits_for_its_end():
    built = Builder()
    built.thread("- a", "- create", "- join", "- b")
    built.thread("- c", guards={"c": 7})
    built.before("create", "c")
    built.before("c", "join")
    built.section("a", "b", None)
    graph = EventOrderGraph(built.structure())
    assert graph.validate([]), "c does not occur; its place is inside, and may be"
    assert not graph.validate([7])
    assert graph.conflict_reason() == {7}
    assert kernel_reasons_of(graph) == [{7}]


def test_push_and_backtrack():
    built = figure_2()
    graph = EventOrderGraph(built.structure())
    one, two, three = (built.sel[pair] for pair in (("y3", "y1"), ("x5", "x1"), ("x4", "x2")))
    before = list(graph.after)
    graph.new_level()
    assert graph.push(one)
    graph.new_level()
    assert graph.push(two) is False
    assert graph.conflict_reason() == {one, two}
    assert graph.push(three) is False
    graph.backtrack(1)
    assert graph.level == 1
    assert not graph.has_conflict
    assert graph.push(three)
    graph.backtrack(0)
    assert graph.after == before
    assert graph.push(123456), "unknown literals do not matter"


def test_refuted_links_can_be_explained_later():
    built = figure_2()
    graph = EventOrderGraph(built.structure())
    sel = built.sel
    excluded = {refuted.link.literal: refuted for refuted in graph.refuted_links()}
    assert excluded == {}
    graph.push(sel["x5", "x1"])
    found = {refuted.link.literal: refuted for refuted in graph.refuted_links()}
    # x5 is before x2 and x3; so y4, before x5, is no longer between y2 and anything, but y1 is
    # overwritten for y3 by y4: x2 is before y3.
    assert sel["x5", "x2"] in found
    assert sel["y3", "y1"] in found
    graph.new_level()
    graph.push(sel["y2", "y1"])
    for refuted in found.values():
        assert graph.refutation_reason(refuted) <= {sel["x5", "x1"]}
        assert not EventOrderGraph(graph.structure).validate(
            [*graph.refutation_reason(refuted), refuted.link.literal]
        )


def test_a_write_between_excludes_a_link_only_if_it_occurs():
    built = Builder()
    built.thread("w x1", "w x2", "w y1", guards={"x2": 7})
    built.thread("r y2", "r x3")
    built.link("x1", "x3")
    built.link("y1", "y2")
    graph = EventOrderGraph(built.structure())
    graph.push(built.sel["y2", "y1"])
    assert graph.refuted_links() == []
    graph.reset()
    graph.push(7)
    graph.push(built.sel["y2", "y1"])
    [refuted] = graph.refuted_links()
    assert graph.refutation_reason(refuted) == {7, built.sel["y2", "y1"]}


@pytest.mark.parametrize(
    "wrong",
    [
        {"program_order": [(0, 1), (1, 0)]},
        {"links": [Link(1, 0, 5)]},
        {"links": [Link(0, 1, 5), Link(0, 1, 6)]},
        {"links": [Link(0, 2, 5)]},
        {"sections": [CriticalSection(0, 1, None)]},
        {"links": [Link(0, 3, 0)]},
    ],
)
def test_what_makes_no_sense_is_refused(wrong):
    events = [
        Event(Kind.WRITE, 0, 0),
        Event(Kind.READ, 1, 0),
        Event(Kind.READ, 1, 1),
        Event(Kind.READ, 1, 0, guard=3),
    ]
    with pytest.raises(ValueError):
        EventStructure(**{"events": events, "program_order": [], **wrong})
