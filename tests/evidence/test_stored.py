"""Results as JSON: nothing is lost, and nothing else is taken for a result."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.evidence.programs import evidence_for, result_of

from plait.c import FrontEndOptions, load
from plait.errors import InputError
from plait.evidence.result import Result
from plait.evidence.stored import from_text, to_text
from plait.model.properties import from_names

EXAMPLES = Path(__file__).parents[2] / "examples"

_numbers = st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=5), max_size=3)
_any = st.builds(
    Result,
    verdict=st.sampled_from(["true", "false", "unknown"]),
    data_model=st.sampled_from(["LP64", "ILP32"]),
    bound=st.none() | st.integers(0, 2**62),
    statistics=_numbers,
    settings=_numbers,
    history=st.lists(_numbers, max_size=2),
    schedule=st.none() | _numbers,
)


@given(_any)
@settings(max_examples=60, deadline=None)
def test_what_is_written_is_read_again(result: Result) -> None:
    text = to_text(result)
    assert text.isascii()
    assert from_text(text, "x.json") == result


@pytest.mark.parametrize(
    ("name", "program"),
    [("assertions", "counter_race"), ("no-data-race", "counter_race"), ("no-deadlock", "deadlock")],
)
def test_evidence_is_read_again(name: str, program: str) -> None:
    specification = from_names([name])
    loaded = load([str(EXAMPLES / f"{program}.c")], FrontEndOptions(), specification)
    result = result_of(evidence_for(loaded, specification))
    assert result.trace and result.violation is not None
    assert from_text(to_text(result), "x.json") == result


def small() -> dict[str, object]:
    data: dict[str, object] = json.loads(
        to_text(Result("1", ["a.c"], "main", "LP64", ["assertions"], "orders", "true", ""))
    )
    return data


def test_newer_files_and_older_files() -> None:
    data = small() | {"something": {"new": 1}}
    del data["words"], data["tree"], data["sources"]
    assert from_text(json.dumps(data), "x.json").verdict == "true"


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"verdict": "maybe"}, "result.verdict"),
        ({"verdict": None}, "result.verdict"),
        ({"files": "a.c"}, "result.files: a list expected"),
        ({"files": [1]}, r"result.files\[0\]: a text expected"),
        ({"bound": True}, "result.bound: a whole number expected"),
        ({"trace": [{"step": 1}]}, r"result.trace\[0\]: no 'thread'"),
        ({"trace": [{"step": 1, "thread": 1}]}, r"result.trace\[0\].place: no 'file'"),
        ({"violation": {}}, "result.violation: no 'property'"),
        ({"statistics": []}, "result.statistics: an object expected"),
        ({"plait-result": 99}, "version 99"),
    ],
)
def test_mistakes(change: dict[str, object], what: str) -> None:
    with pytest.raises(InputError, match=what):
        from_text(json.dumps(small() | change), "x.json")


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", "1", '{"plait-result": 1}'])
def test_other_texts(text: str) -> None:
    with pytest.raises(InputError):
        from_text(text, "x.json")
