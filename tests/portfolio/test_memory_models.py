"""`plait verify --memory-model`: who answers, and what the answer says."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.semantics.test_memory_models import SB

import plait
from plait.engines import registry
from plait.errors import InputError
from plait.model.memory_model import ORDERS_IGNORED
from plait.portfolio.options import Options
from plait.portfolio.partial_proofs import checked_by
from plait.portfolio.subject import specification

MP = (
    SB.replace("x = 1; a = y;", "a = atomic_load_explicit(&y, memory_order_acquire); b = x;")
    .replace("y = 1; b = x;", "x = 1; atomic_store_explicit(&y, 1, memory_order_release);")
    .replace("a || b", "!a || b")
)


@pytest.fixture
def sb(tmp_path: Path) -> Path:
    file = tmp_path / "sb.c"
    file.write_text(SB)
    return file


@pytest.mark.parametrize(("model", "verdict"), [("sc", "true"), ("tso", "false"), ("c11", "true")])
def test_each_model_has_its_verdict(sb: Path, model: str, verdict: str) -> None:
    result = plait.verify(sb, memory_model=model, cache=False)
    assert result.verdict == verdict, result.reason
    if model != "sc":
        assert result.engine in ("explicit", "orders")
    if verdict == "false":
        shown = [row.operation.object for row in result.trace if row.operation is not None]
        assert "x = 1" in shown and "y = 1" in shown


def test_an_engine_that_does_not_know_the_model_has_no_verdict(sb: Path) -> None:
    result = plait.verify(sb, memory_model="tso", engine="impact", cache=False)
    assert result.verdict == "unknown"
    assert result.reason == "impact does not know the memory model tso"


def test_engines_are_asked_about_models_they_know() -> None:
    chosen, _ = specification(Options(programs=("a.c",), memory_model="c11"))
    asked = {item.name for item in registry.engines() if checked_by(item, chosen)}
    assert asked == {"explicit", "orders"}


def test_that_memory_orders_are_ignored_comes_first(tmp_path: Path) -> None:
    file = tmp_path / "mp.c"
    file.write_text(MP)
    result = plait.verify(file, cache=False)
    assert result.assumptions[0].startswith(ORDERS_IGNORED)
    assert plait.verify(file, memory_model="c11", cache=False).verdict == "true"


def test_what_there_is_not_under_a_weak_model() -> None:
    with pytest.raises(InputError, match="certificate: none is given under a weak memory model"):
        Options(programs=("a.c",), memory_model="pso", certificate=True, engine="explicit").check()
    with pytest.raises(InputError, match="excludes --monitor"):
        specification(Options(programs=("a.c",), memory_model="tso", monitor="m.mon"))
