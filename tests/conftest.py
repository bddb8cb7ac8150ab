"""What holds for all tests: none is answered from the cache of whoever runs them or of another
test, and none fails because the machine is slow."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from hypothesis import settings

_NUMBERS = count()

settings.register_profile("plait", deadline=None)
settings.load_profile("plait")


@pytest.fixture(autouse=True, scope="session")
def _folder_of_caches(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Also for what fixtures of modules verify, before any test has a cache of its own."""
    folder = tmp_path_factory.mktemp("caches")
    before = os.environ.get("PLAIT_CACHE_DIR")
    os.environ["PLAIT_CACHE_DIR"] = str(folder / "shared")
    yield folder
    if before is None:
        del os.environ["PLAIT_CACHE_DIR"]
    else:
        os.environ["PLAIT_CACHE_DIR"] = before


@pytest.fixture(autouse=True)
def cache_folder(_folder_of_caches: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = _folder_of_caches / str(next(_NUMBERS))
    monkeypatch.setenv("PLAIT_CACHE_DIR", str(folder))
    return folder
