"""Litmus tests with published outcomes: `orders` finds each of them and proves that there are no
others (`make litmus` looks at all of them)."""

from __future__ import annotations

from pathlib import Path

import pytest

from litmus.agree import problems_of_orders
from litmus.generate import random_test
from litmus.outcomes import found_by_orders
from litmus.run import published

FOLDER = Path(__file__).parents[3] / "litmus"
OF_BUFFERS = """SB+Fsc SB+xchg+rlx SB+rfi+rlx MP+rlx MP+Frel-rlx CoWR+rlx CoWW+rlx 2+2W+Frel fadd2+rlx""".split()
OF_C11 = """SB+rlx SB+sc SB+Fsc SB+sc-Fsc MP+ra MP+rlx MP+Frel-Facq MP+cas-fails+acq MP+cas-fails+rlx
MP+na+ra MP+na+rlx LB+rlx R+Fsc 2+2W+sc CoRR+rlx CoWR+rlx
RS-store+ra RS-update+rlx fadd2+rlx na+plain""".split()


def found(name: str, model: str) -> tuple[list[str], list[str]]:
    file = FOLDER / f"{name}.c"
    expected = published(file)
    return found_by_orders(file, model, len(expected["sc"][0])), expected[model]


@pytest.mark.parametrize("model", ["tso", "pso"])
@pytest.mark.parametrize("name", OF_BUFFERS)
def test_published_outcomes_with_store_buffers(name: str, model: str) -> None:
    answer, expected = found(name, model)
    assert answer == expected


@pytest.mark.parametrize("name", OF_C11)
def test_published_outcomes_of_c11(name: str) -> None:
    answer, expected = found(name, "c11")
    assert answer == expected


@pytest.mark.parametrize("number", [2, 5])
def test_random_tests_have_the_outcomes_of_exploration(number: int, tmp_path: Path) -> None:
    assert problems_of_orders(random_test(number), tmp_path) == []
