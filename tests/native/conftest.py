"""The runtime is compiled once for all tests."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from plait.cli.main import main
from plait.native import build

COMPILER = next((name for name in ("gcc", "clang", "cc") if shutil.which(name)), None)
TOOLS = ("objcopy", "objdump", "addr2line", "nm")
MISSING = [name for name in TOOLS if shutil.which(name) is None]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    reason = "no C compiler" if COMPILER is None else f"no {', '.join(MISSING)}"
    for item in items:
        is_native = Path(__file__).parent in Path(item.path).parents
        if is_native and (COMPILER is None or MISSING) and "plan" not in item.path.name:
            item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session")
def runtime_objects(
    tmp_path_factory: pytest.TempPathFactory,
) -> Callable[[build.Commands], list[str]]:
    known: dict[build.Commands, list[str]] = {}
    really = build.compile_runtime

    def compiled(commands: build.Commands) -> list[str]:
        key = build.Commands(commands.compiler, (), commands.runtime, ())
        if key not in known:
            with ThreadPoolExecutor(2) as pool:
                known[key] = really(commands, tmp_path_factory.mktemp("runtime"), pool)
        return known[key]

    return compiled


@pytest.fixture(autouse=True)
def shared_runtime(
    monkeypatch: pytest.MonkeyPatch, runtime_objects: Callable[[build.Commands], list[str]]
) -> Iterator[None]:
    monkeypatch.setattr(
        build, "compile_runtime", lambda commands, folder, pool: runtime_objects(commands)
    )
    yield


Plait = Callable[..., tuple[int, str]]


@pytest.fixture
def plait(capsys: pytest.CaptureFixture[str]) -> Plait:
    """Run a command; exit code and all that it printed."""

    def run(*arguments: object) -> tuple[int, str]:
        code = main([str(item) for item in arguments])
        captured = capsys.readouterr()
        return code, captured.out + captured.err

    return run


Refute = Callable[..., Path]


@pytest.fixture
def refute(plait: Plait, tmp_path: Path) -> Refute:
    """Write a program, explore it, and give the result, which has to be `false`."""

    def run(text: str, *options: str) -> Path:
        source, result = tmp_path / "prog.c", tmp_path / "result.json"
        source.write_text(text)
        code, output = plait("explore", "--timeout", 30, *options, "--json", result, source)
        assert code == 1, output
        return result

    return run
