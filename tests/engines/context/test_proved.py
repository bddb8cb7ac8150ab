"""Idioms of programs with any number of threads: they are proved."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.engines.context.pairs import PAIRS, loaded

from plait.engines.context.engine import verify
from plait.engines.interface import Answer
from plait.model.properties import from_names


@pytest.mark.parametrize("name", PAIRS)
def test_it_is_proved(name: str, tmp_path: Path) -> None:
    specification = from_names(["assertions"])
    program = loaded(PAIRS[name].text, tmp_path, specification)
    assert verify(program, specification).answer is Answer.HOLDS
