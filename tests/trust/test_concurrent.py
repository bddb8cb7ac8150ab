"""Generated concurrent programs: all ways to explore them come to the same verdict."""

from __future__ import annotations

import hashlib
from collections import Counter

import pytest

from plait.model.properties import Specification
from plait.semantics.explore import ExploreOptions, Verdict, explore
from trust import agreement, concurrent, native

BATCH = 2  # `make trust` looks at thousands


@pytest.mark.parametrize("start", range(0, 4, BATCH))
def test_reductions_change_no_verdict(start: int) -> None:
    found = [agreement.check_seed(seed) for seed in range(start, start + BATCH)]
    wrong = [f"seed {item.seed}: {item.difference}" for item in found if item.difference]
    assert not wrong, "\n".join(wrong)
    assert not all(item.skipped for item in found)


@pytest.mark.skipif(native.compiler() is None, reason="gcc is not installed")
@pytest.mark.parametrize("start", range(0, 20, 10))
def test_programs_compile_natively(start: int, tmp_path: object) -> None:
    for seed in range(start, start + 10):
        source = concurrent.generate(seed, features=concurrent.ALL_FEATURES)
        native.build(native.VERIFIER_SHIM + source, str(tmp_path))


def test_seeds_reproduce() -> None:
    texts = "".join(concurrent.generate(seed) for seed in range(50))
    assert texts == "".join(concurrent.generate(seed) for seed in range(50))
    # The same in every version of Python; changes only when the generator does.
    assert hashlib.sha256(texts.encode()).hexdigest()[:16] == "104a72cbba38d0b8"


def test_sizes_and_features_are_parameters() -> None:
    for threads in (1, 2, 3, 4):
        text = concurrent.generate(7, threads, 2, {"mutexes"})
        assert text.count("pthread_create") == threads
        assert "sem_" not in text.split("int x")[-1]
    long = concurrent.generate(7, 2, 40, {"mutexes", "loops"})
    assert len(long) > 2 * len(concurrent.generate(7, 2, 3, {"mutexes", "loops"}))
    with pytest.raises(ValueError, match="unknown features: teleport"):
        concurrent.generate(0, features={"teleport"})
    with pytest.raises(ValueError, match="1 to 4 threads"):
        concurrent.generate(0, threads=9)


def test_both_verdicts_occur() -> None:
    specification = Specification()
    verdicts = Counter(
        explore(
            agreement.load_concurrent(concurrent.generate(seed), specification),
            specification,
            ExploreOptions(max_states=agreement.MOST_STATES),
        ).verdict
        for seed in range(20)
    )
    assert verdicts[Verdict.TRUE] >= 4
    assert verdicts[Verdict.FALSE] >= 4
    assert verdicts[Verdict.UNKNOWN] <= 3
