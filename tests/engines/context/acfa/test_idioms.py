"""Idioms for any number of threads: proved as they are, and violated without their condition."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.certificates.template_proofs import about, judged
from tests.engines.context.acfa.inference import verified
from tests.engines.context.pairs import PAIRS, loaded
from tests.engines.context.test_races import PAIRS as RACES

from plait.certificates.verdicts import Ruling
from plait.engines.interface import Answer
from plait.model.properties import from_names

PROVED = (
    "a state that is tested and set",
    "a counter under a mutex",
    "a flag that is taken and given back",
    "an argument",
    "what each thread has of its own",
    "a thread that is stuck has done what it did",
    "what a joined thread has left behind",
    "a thread that is not there yet",
)
FREE_OF_RACES = (
    "a state that is tested and set",
    "a lock that is taken on a condition",
    "two phases, with a flag for the interrupt",
    "sections",
    "before the start, and after the end",
    "one writer",
)


@pytest.mark.parametrize("name", PROVED)
def test_it_is_proved_and_the_checker_accepts_that(name: str, tmp_path: Path) -> None:
    outcome = verified(PAIRS[name].text, tmp_path)
    assert outcome.answer is Answer.HOLDS, outcome.reason
    assert outcome.proof is not None
    document = outcome.proof.certificate()
    assert document is not None
    program = loaded(PAIRS[name].text, tmp_path, from_names(["assertions"]))
    verdict = judged(program, about(program, document))
    assert verdict.answer is Ruling.ACCEPTED, verdict.reason


@pytest.mark.parametrize("name", PROVED)
def test_without_its_condition_it_is_violated(name: str, tmp_path: Path) -> None:
    outcome = verified(PAIRS[name].violated, tmp_path)
    assert outcome.answer is Answer.VIOLATED, outcome.reason


@pytest.mark.parametrize("name", FREE_OF_RACES)
def test_it_is_free_of_races(name: str, tmp_path: Path) -> None:
    outcome = verified(RACES[name].text, tmp_path, ["no-data-race"])
    assert outcome.answer is Answer.HOLDS, outcome.reason


@pytest.mark.parametrize("name", FREE_OF_RACES)
def test_without_its_condition_it_races(name: str, tmp_path: Path) -> None:
    outcome = verified(RACES[name].violated, tmp_path, ["no-data-race"])
    assert outcome.answer is Answer.VIOLATED, outcome.reason


def test_what_is_not_known_exactly_is_no_race(tmp_path: Path) -> None:
    """Of large objects it is not known which bytes are accessed; nothing is claimed of them."""
    name = "an array of which nothing is known"
    outcome = verified(RACES[name].violated, tmp_path, ["no-data-race"])
    assert outcome.answer is Answer.UNKNOWN
