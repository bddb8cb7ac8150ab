"""Traces as text."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.evidence.programs import EXAMPLES, evidence_for, found_in, result_of

from plait.c import FrontEndOptions, load
from plait.evidence.result import Change, Place, Result, Row, Thread
from plait.model.properties import from_names
from plait.report.html.data import page_data
from plait.report.races import happened
from plait.report.text import explanation_lines, trace_lines


def example(name: str, property_name: str) -> Result:
    specification = from_names([property_name])
    program = load([str(EXAMPLES / name)], FrontEndOptions(), specification)
    return result_of(evidence_for(program, specification))


@pytest.mark.parametrize(
    ("name", "property_name"), [("counter_race.c", "no-data-race"), ("deadlock.c", "no-deadlock")]
)
def test_a_race_and_a_deadlock_fit_on_one_screen(name: str, property_name: str) -> None:
    result = example(name, property_name)
    lines = [*trace_lines(result, 100), *explanation_lines(result)]
    assert len(lines) <= 24
    assert max(len(line) for line in trace_lines(result, 100)) <= 100


def test_columns_switches_and_values() -> None:
    result = example("counter_race.c", "assertions")
    lines = trace_lines(result, 100)
    starts = [lines[0].index(f"thread {number} ") for number in (1, 2, 3)]
    assert starts == sorted(starts)
    switches = [line for line in lines if line[4:5] == ">"]
    assert len(switches) == result.switches
    for line in lines[2:-1]:
        cells = [line[start : start + 28].strip() for start in starts]
        assert sum(bool(cell) for cell in cells) == 1
    assert any("[counter is 0]" in line for line in lines)
    assert any("[counter = 1, was 0]" in line for line in lines)


def test_everything_is_shown_on_request() -> None:
    result = example("deadlock.c", "no-deadlock")
    short, long = trace_lines(result, 100), trace_lines(result, 100, verbose=True)
    assert not any("struct account *first" in line for line in short)
    assert any("struct account *first" in line for line in long)
    assert "left out (-v)" in short[-1] and "left out" not in long[-1]


def many_threads(count: int) -> Result:
    place = Place("a.c", 3, 1, "x = x + 1")
    rows = [
        Row(step, step % count + 1, place, [Change("x", str(step), shared=True)])
        for step in range(1, 40)
    ]
    threads = [Thread(number, "work") for number in range(1, count + 1)]
    return Result("", [], "", "", [], "", "false", "", threads=threads, trace=rows)


def test_many_threads_are_listed_below_each_other() -> None:
    result = many_threads(9)
    lines = trace_lines(result, 80)
    assert max(map(len, lines)) <= 80
    assert lines[1].split() == ["1", "2", "3:", "x", "=", "x", "+", "1"]
    assert "|" not in "".join(lines)


@pytest.mark.parametrize("width", [60, 80, 100, 200])
@pytest.mark.parametrize("threads", [1, 2, 3, 5, 12])
def test_lines_fit(width: int, threads: int) -> None:
    assert max(map(len, trace_lines(many_threads(threads), width))) <= width


def test_colour_only_on_request() -> None:
    result = example("counter_race.c", "assertions")
    assert "\x1b" not in "".join(trace_lines(result, 100))
    assert "\x1b[" in "".join(trace_lines(result, 100, colour=True))


def test_inputs_are_listed(tmp_path: Path) -> None:
    text = """
    _Bool __VERIFIER_nondet_bool(void);
    int main(void) { int v = __VERIFIER_nondet_bool(); assert(v == 0); return 0; }
    """
    lines = explanation_lines(result_of(found_in(tmp_path, text)))
    assert lines[-2] == "inputs:"
    assert "= 1 in thread 1 (main) at line 6, step " in lines[-1]


def test_identifiers_are_whole_where_there_is_room() -> None:
    """The column of a thread with long names takes from one that needs less."""
    long = "the_quick_brown_fox_jumps_over_the_lazy_dog->value"
    text = f"{long} = queue->next_element;"
    rows = [
        Row(1, 1, Place("a.c", 3, 1, "x = x + 1"), [Change("x", "1", shared=True)]),
        Row(2, 2, Place("a.c", 4, 1, text), [Change(long, "7", shared=True)]),
        Row(3, 3, Place("a.c", 3, 1, "x = x + 1"), [Change("x", "2", shared=True)]),
    ]
    threads = [Thread(number, "work") for number in (1, 2, 3)]
    result = Result(
        "1", ["a.c"], "main", "LP64", [], "orders", "false", "", threads=threads, trace=rows
    )
    lines = trace_lines(result, 120)
    assert max(map(len, lines)) <= 120
    assert sum(long in line for line in lines) == 2
    assert any("queue->next_element;" in line for line in lines)


def test_inputs_are_called_by_what_they_are_the_values_of(tmp_path: Path) -> None:
    evidence = found_in(
        tmp_path,
        """
        _Bool read_sensor(void); int x, y;
        int main(void) { x = read_sensor(); y = read_sensor(); assert(x >= y); return 0; }
        """,
    )
    text = "\n".join(trace_lines(result_of(evidence), 100))
    assert "[read_sensor() = " in text and "input " not in text


def test_the_accesses_of_a_race_are_about_to_happen() -> None:
    result = example("counter_race.c", "no-data-race")
    assert result.violation is not None
    lines = trace_lines(result, 100)
    following = [line for line in lines if line.startswith("next")]
    assert len(following) == 2
    notes = [line for line in lines if "[about to " in line]
    assert len(notes) == 2 and all("counter]" in line for line in notes)
    # Whoever replays the trace sees both accesses; none of the rows that are shown is one of them.
    rows = happened(result)
    assert rows == result.trace[: len(rows)] and len(rows) < len(result.trace)
    steps = {row.step for row in result.trace[len(rows) :]}
    assert len(steps) == 2 and not steps & {row.step for row in rows}
    assert len(page_data(result)["trace"]) == len(rows)


def test_only_races_end_before_they_happen() -> None:
    for name, property_name in (("counter_race.c", "assertions"), ("deadlock.c", "no-deadlock")):
        result = example(name, property_name)
        assert happened(result) == result.trace
        assert not any(line.startswith("next") for line in trace_lines(result, 100))
