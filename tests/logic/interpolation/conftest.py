"""Every answer of the SAT solver in these tests is checked by z3."""

from __future__ import annotations

import pytest

from plait.logic.solver import SECOND_OPINION


@pytest.fixture(autouse=True)
def second_opinion(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SECOND_OPINION, "1")
