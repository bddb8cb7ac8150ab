"""Generated sequential programs print the same by plait and by gcc."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import HealthCheck, given, settings

from plait.model.types import DataModel
from trust import compare, csmith, native, sequential
from trust.compare import Subject
from trust.strategies import sequential_programs

BATCH = 10
needs_gcc = pytest.mark.skipif(native.compiler() is None, reason="gcc is not installed")


def batch(start: int, data_model: DataModel, *, from_csmith: bool = False) -> list[Subject]:
    return compare.subjects_of(BATCH, start, 9, data_model, from_csmith)


def check(subjects: list[Subject]) -> None:
    found = [compare.compare(subject) for subject in subjects]
    wrong = [f"{item.subject}: {item.difference}" for item in found if item.difference]
    assert not wrong, "\n".join(wrong)
    assert not all(item.skipped for item in found), found[0].skipped


@needs_gcc
@pytest.mark.parametrize("start", range(0, 20, BATCH))
def test_lp64(start: int) -> None:
    check(batch(start, DataModel.LP64))


@needs_gcc
@pytest.mark.parametrize("start", range(10_000, 10_010, BATCH))
def test_ilp32(start: int) -> None:
    if not native.supports(DataModel.ILP32):
        pytest.skip("gcc builds no 32-bit programs here (gcc-multilib is not installed)")
    check(batch(start, DataModel.ILP32))


@needs_gcc
def test_csmith() -> None:
    if not csmith.is_installed():
        pytest.skip("csmith is not installed")
    check(batch(0, DataModel.LP64, from_csmith=True))


@needs_gcc
@given(sequential_programs(max_size=4))
@settings(
    max_examples=8,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
def test_any_seed(source: str) -> None:
    subject = Subject(0)
    assert compare.difference(subject, source, compare.expected(subject, source)) == ""


@needs_gcc
@pytest.mark.parametrize("seed", range(2))
def test_programs_are_well_defined(seed: int) -> None:
    source = sequential.generate(seed, 8)
    assert native.complaint(source) is None
    runs = [
        native.compile_and_run(source, options=options)
        for options in (native.REFERENCE, native.OPTIMISED)
    ]
    assert runs[0] == runs[1]


def test_seeds_reproduce() -> None:
    texts = "".join(sequential.generate(seed, 6) for seed in range(20))
    assert texts == "".join(sequential.generate(seed, 6) for seed in range(20))
    # The same in every version of Python; changes only when the generator does.
    assert hashlib.sha256(texts.encode()).hexdigest()[:16] == "a07a069784302a8e"


def test_features_can_be_switched_off() -> None:
    text = "".join(sequential.generate(seed, 8, {"calls", "effects"}) for seed in range(20))
    body = text.replace("&value", "").replace("unsigned __int128", "__int128")
    for word in ("malloc", "goto", "switch", "__int128", "struct", "union", "&v", "({"):
        assert word not in body, word


def test_unknown_features_are_named() -> None:
    with pytest.raises(ValueError, match="unknown features: teleport"):
        sequential.generate(0, 3, {"teleport"})
