"""The list of edits that tests have to notice is in order; `make mutation` runs the tests."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mutation.campaign import CANARIES, selected
from mutation.edits import Edit, all_edits, problems

EDIT = Edit(
    "one",
    "tools/mutation/edits.py",
    "def all_edits(",
    "def all_of_them(",
    "there would be no edits",
    ("tests/test_mutation.py::test_the_list",),
)


def test_the_list() -> None:
    edits = all_edits()
    assert problems([*edits, *CANARIES]) == []
    assert len(edits) > 150
    assert all(len(edit.why) > 10 for edit in edits)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (replace(EDIT, old="there is no such text", new=""), "0 times"),
        (replace(EDIT, old="return", new="yield"), "times"),
        (replace(EDIT, new="def ("), "invalid syntax"),
        (replace(EDIT, new=EDIT.old), "changes nothing"),
        (replace(EDIT, file="src/nowhere.py"), "nowhere.py"),
        (replace(EDIT, tests=()), "no test"),
        (replace(EDIT, tests=("tests/test_nothing.py",)), "no tests/test_nothing.py"),
        (replace(EDIT, tests=("tests/test_mutation.py::test_no",)), "has no test_no"),
    ],
)
def test_problems_are_found(wrong: Edit, words: str) -> None:
    assert problems([EDIT]) == []
    [problem] = problems([wrong])
    assert words in problem


def test_two_edits_of_one_name() -> None:
    assert problems([EDIT, EDIT]) == ["one: the name of two edits"]


def test_selection() -> None:
    edits = [replace(EDIT, name=name) for name in ("impact-one", "impact-two", "orders-one")]
    assert selected(edits, []) == edits
    assert selected(edits, ["impact-*"]) == edits[:2]
    assert selected(edits, ["one"]) == [edits[0], edits[2]]
