"""The runtime is compiled once for all tests; without a compiler they are skipped."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from plait.cli.main import main
from plait.hunt import build

TOOLS = ("gcc", "objcopy", "objdump", "addr2line", "nm")
MISSING = [name for name in TOOLS if shutil.which(name) is None]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        is_ours = Path(__file__).parent in Path(item.path).parents
        if is_ours and MISSING and "alone" not in item.path.name:
            item.add_marker(pytest.mark.skip(reason=f"no {', '.join(MISSING)}"))


@pytest.fixture(scope="session")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runtime")
    build.prepare("gcc", folder)
    return folder


@pytest.fixture(autouse=True)
def shared_runtime(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    if MISSING:
        return
    ready: Path = request.getfixturevalue("runtime")

    def prepare(compiler: str, folder: Path) -> None:
        for name in ("runtime.txt", "hooks.txt"):
            (folder / name).write_text((ready / name).read_text())

    monkeypatch.setattr(build, "prepare", prepare)
    monkeypatch.setenv("CC", "gcc")


Hunt = Callable[..., tuple[int, str]]


@pytest.fixture
def hunt(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Hunt:
    """Hunt a program given as text; the exit code and all that was printed."""

    def run(text: str, *options: str, after: Sequence[str] = ()) -> tuple[int, str]:
        source = tmp_path / "prog.c"
        source.write_text(text)
        rest = ["--", *after] if after else []
        code = main(["hunt", "--times", "2", "--time", "60", *options, str(source), *rest])
        captured = capsys.readouterr()
        return code, captured.out + captured.err

    return run
