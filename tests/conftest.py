"""What holds for all tests: none is answered from the cache of whoever runs them or of another
test, none fails because the machine is slow, and the processes that they start need not compile
plait again."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from hypothesis import Phase, settings

from plait.work.garbage import collect_rarely

pytest_plugins = ["tests.started"]

_NUMBERS = count()
_NO_BYTECODE, _BYTECODE = "PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX"

settings.register_profile("plait", deadline=None)
# For `make mutation`: that a test fails is all that matters there.
settings.register_profile("unshrunk", deadline=None, phases=(Phase.explicit, Phase.generate))
settings.load_profile("plait")

# Where bytecode is not kept beside the sources, hundreds of processes would each make it again. The
# first process of a test run makes the folder, those that it starts find it in the environment.
if os.environ.pop(_NO_BYTECODE, "") and _BYTECODE not in os.environ:
    _folder = os.environ[_BYTECODE] = tempfile.mkdtemp(prefix="plait-bytecode-")
    atexit.register(shutil.rmtree, _folder, ignore_errors=True)
if _BYTECODE in os.environ:
    sys.pycache_prefix = os.environ[_BYTECODE]
    sys.dont_write_bytecode = False

collect_rarely()  # a tenth of the time


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
