"""Asking the engine in tests."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from tests.engines.asking import Replaying

from plait.c import FrontEndOptions, load
from plait.engines import registry
from plait.engines.explicit.answer import answer
from plait.engines.interface import Outcome, Question
from plait.model.properties import from_names


def ask(folder: Path, text: str, property_: str = "assertions", **chosen: Any) -> Outcome:
    """With all reductions, unless something else is chosen."""
    path = folder / "program.c"
    path.write_text(text)
    specification = from_names([property_])
    program = load([str(path)], FrontEndOptions(), specification)
    settings = registry.engine("explicit").settings(chosen)
    question = Question(program, specification, time.monotonic() + 60, settings=settings)
    return answer(question, Replaying(question))
