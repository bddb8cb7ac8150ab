import pytest
from tests.engines.orders.brute_force import obeys
from tests.engines.orders.figures import Builder, butterfly, figure_2, swarm

from plait.engines.orders.exact import Feasible, Infeasible, decide
from plait.engines.orders.graph import EventOrderGraph


def test_butterfly_is_infeasible():
    built = butterfly()
    found = decide(built.structure(), built.sel.values())
    assert found == Infeasible(frozenset(built.sel.values()))


def test_butterfly_with_one_wing_is_feasible():
    built = butterfly()
    structure = built.structure()
    for left_out in built.sel.values():
        true = set(built.sel.values()) - {left_out}
        found = decide(structure, true)
        assert isinstance(found, Feasible)
        assert sorted(found.schedule) == list(range(len(structure.events)))
        assert obeys(structure, found.schedule, true)


@pytest.mark.parametrize("count", [2, 3])
def test_several_choices_at_once(count):
    built = swarm(count)
    structure = built.structure()
    graph = EventOrderGraph(structure)
    assert graph.validate(built.sel.values())
    assert graph.derived_orders() == []
    found = decide(structure, built.sel.values())
    assert found == Infeasible(frozenset(built.sel.values()))
    for left_out in built.sel.values():
        true = set(built.sel.values()) - {left_out}
        found = decide(structure, true)
        assert isinstance(found, Feasible)
        assert obeys(structure, found.schedule, true)


def test_why_a_choice_has_to_be_made_is_part_of_the_reason():
    """A butterfly whose body is a lock: without one of the blocks both wings can be had."""
    built = Builder()
    built.thread("- lock1", "r x4", "r y4", "w m1", "w n1", "- unlock1")
    built.thread("- lock2", "r m4", "r n4", "w x1", "w y1", "- unlock2")
    for one, two in ("mn", "nm", "xy", "yx"):
        built.thread(f"w {one}2", f"r {two}3")
    for cell in "mnxy":
        built.link(f"{cell}1", f"{cell}3")
        built.link(f"{cell}2", f"{cell}4")
    for number in (1, 2):
        built.section(f"lock{number}", f"unlock{number}", 1, literal=10 + number)
    structure = built.structure()
    everything = {*built.sel.values(), 11, 12}
    assert decide(structure, everything) == Infeasible(frozenset(everything))
    for left_out in (11, 12):
        found = decide(structure, everything - {left_out})
        assert isinstance(found, Feasible)
        assert obeys(structure, found.schedule, everything - {left_out})


def test_figure_2_infeasible_by_the_rules_alone():
    built = figure_2()
    true = [built.sel[pair] for pair in (("y3", "y1"), ("x5", "x1"), ("y2", "y1"))]
    found = decide(built.structure(), true)
    assert found == Infeasible(frozenset(true[:2]))


def test_figure_2_schedule():
    built = figure_2()
    structure = built.structure()
    pairs = "x4:x3 x5:x3 y2:y1 y3:y1 m3:m2 n3:n2".split()
    true = [built.sel[tuple(pair.split(":"))] for pair in pairs]
    found = decide(structure, true)
    assert isinstance(found, Feasible)
    assert obeys(structure, found.schedule, true)


def test_nobody_is_scheduled_into_an_atomic_section():
    """The write in the section would hide x0 from its reader, who must not be let in for that."""
    built = Builder()
    built.thread("w x0")
    built.thread("- begin", "w x1", "- end")
    built.thread("r x2")
    built.link("x0", "x2")
    built.section("begin", "end", None)
    structure = built.structure()
    found = decide(structure, built.sel.values())
    assert isinstance(found, Feasible)
    assert obeys(structure, found.schedule, set(built.sel.values()))


def test_many_sections_of_one_lock():
    built = Builder()
    built.thread("w x0")
    for thread in range(4):
        for turn in range(3):
            name = f"{thread}{turn}"
            built.thread(f"- a{name}", f"r x{name}", f"w x1{name}", f"- b{name}")
            built.before("x0", f"a{name}")
            built.section(f"a{name}", f"b{name}", 1)
            if turn:
                built.before(f"b{thread}{turn - 1}", f"a{name}")
    order = [f"{thread}{turn}" for turn in range(3) for thread in (2, 0, 3, 1)]
    previous = "x0"
    for name in order:
        built.link(previous, f"x{name}")
        previous = f"x1{name}"
    structure = built.structure()
    found = decide(structure, built.sel.values())
    assert isinstance(found, Feasible)
    assert obeys(structure, found.schedule, built.sel.values())


def test_two_sections_cannot_both_read_the_first_value():
    built = Builder()
    built.thread("w x0")
    for name in "pq":
        built.thread(
            f"- a{name}", f"r x{name}", f"w x1{name}", f"- b{name}", guards={f"a{name}": 0}
        )
        built.before("x0", f"a{name}")
        built.section(f"a{name}", f"b{name}", 1)
        built.link("x0", f"x{name}")
    found = decide(built.structure(), built.sel.values())
    assert found == Infeasible(frozenset(built.sel.values()))
