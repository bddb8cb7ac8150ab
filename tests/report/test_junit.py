"""JUnit XML: well-formed whatever is in the result, with counts that are right."""

from __future__ import annotations

import dataclasses
import xml.etree.ElementTree as xml

import pytest
from hypothesis import given
from tests.report.exchange_samples import (
    RANDOM,
    all_samples,
    deadlock,
    lost_update,
    proved,
    question,
    race,
    results,
    undecided,
)

from plait.evidence.result import Place, Result, Row
from plait.report import junit
from plait.report.junit import to_junit


def suite_of(result: Result) -> xml.Element:
    root = xml.fromstring(to_junit(result).encode())
    assert root.tag == "testsuites"
    (suite,) = root
    assert suite.tag == "testsuite"
    check_counts(root, suite)
    return suite


def check_counts(root: xml.Element, suite: xml.Element) -> None:
    cases = suite.findall("testcase")
    for key, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        found = len(suite.findall(f"testcase/{tag}"))
        assert suite.get(key) == root.get(key) == str(found)
    assert suite.get("tests") == root.get("tests") == str(len(cases))
    assert len({case.get("name") for case in cases}) == len(cases)
    for case in cases:
        assert len(case) <= 1
        assert case.get("classname")
    total = sum(float(case.get("time", "")) for case in cases)
    assert abs(total - float(suite.get("time", ""))) <= 0.001 * len(cases)


def child(parent: xml.Element, path: str) -> xml.Element:
    found = parent.find(path)
    assert found is not None
    return found


@pytest.mark.parametrize(
    "result", all_samples(), ids=lambda item: f"{item.verdict} {item.violated}"
)
def test_samples(result: Result) -> None:
    suite_of(result)


@given(results())
@RANDOM
def test_any_result_is_well_formed(result: Result) -> None:
    text = to_junit(result)
    assert text == to_junit(result)
    suite_of(result)


def test_a_proof_passes() -> None:
    suite = suite_of(proved(properties=["assertions", "no-deadlock"]))
    assert [case.get("name") for case in suite.iter("testcase")] == ["assertions", "no-deadlock"]
    assert suite.get("failures") == suite.get("errors") == suite.get("skipped") == "0"
    words = child(suite, "system-out").text or ""
    assert words.splitlines() == [
        "No execution violates the properties.",
        "assumptions:",
        "  - malloc succeeds",
        "VERDICT: true",
    ]


def test_a_violation_fails_with_its_trace() -> None:
    suite = suite_of(lost_update())
    case = child(suite, "testcase")
    assert case.get("classname") == "plait.src.two words.counter"
    assert (case.get("file"), case.get("line")) == ("src/two words/counter.c", "14")
    assert case.get("time") == "0.250"
    failure = child(case, "failure")
    assert failure.get("message") == "assertion 'counter == 2' failed"
    assert failure.get("type") == "assertions"
    lines = (failure.text or "").splitlines()
    assert lines[0] == (
        "src/two words/counter.c:14:3: assertion 'counter == 2' failed in thread 1 (main)"
    )
    assert (
        "   5  thread 2 (add)   src/two words/counter.c:5   counter = counter + 1; [counter = 1]"
        in lines
    )


def test_other_properties_are_skipped_when_one_is_violated() -> None:
    suite = suite_of(race())
    outcomes = {case.get("name"): [item.tag for item in case] for case in suite.iter("testcase")}
    assert outcomes == {
        "assertions": ["skipped"],
        "no-data-race": ["failure"],
        "valid-memsafety": ["skipped"],
    }


def test_a_part_of_memory_safety_fails_the_whole() -> None:
    result = dataclasses.replace(deadlock(), violated="valid-free", properties=["valid-memsafety"])
    failure = child(suite_of(result), "testcase/failure")
    assert failure.get("type") == "valid-free"


def test_unknown_is_an_error() -> None:
    error = child(suite_of(undecided()), "testcase/error")
    assert error.get("message") == "time limit of 5 s"
    assert "counter.c:9: setjmp is not modelled" in (error.text or "")


def test_characters_that_xml_does_not_allow_are_shown_as_escapes() -> None:
    result = undecided(reason="a\0b\x1b\udc80\ufffe]]><&\"'")
    error = child(suite_of(result), "testcase/error")
    assert error.get("message") == "a\\x00b\\x1b\\x80\\ufffe]]><&\"'"


def test_long_traces_are_cut_at_their_beginning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(junit, "MAX_ROWS", 3)
    rows = [Row(step, 1, Place("a.c", step, 1, f"row {step}")) for step in range(1, 9)]
    failure = child(suite_of(dataclasses.replace(lost_update(), trace=rows)), "testcase/failure")
    lines = (failure.text or "").splitlines()
    start = lines.index("(5 earlier rows are left out)")
    assert [line.split()[-1] for line in lines[start + 1 : start + 4]] == ["6", "7", "8"]


def test_class_names_follow_the_path() -> None:
    for path, name in (("/a/b.c.i", "plait.a.b_c"), ("../x.c", "plait.x"), ("x", "plait.x")):
        assert child(suite_of(question("", path)), "testcase").get("classname") == name
