"""The layers of the package: imports point one way, and the check would notice if they did not."""

from __future__ import annotations

from pathlib import Path

import pytest

import check_imports

ROOT = Path(__file__).parents[1]
LAYERS = {"low": [], "high": ["low"]}


def package(directory: Path, **sources: str) -> Path:
    root = directory / "plait"
    for name, text in {"": "", "low": "", "high": "import plait.low\n", **sources}.items():
        place = root / name.replace("__", "/")
        if name in ("", "low", "high"):
            place.mkdir(parents=True, exist_ok=True)
            (place / "__init__.py").write_text(text)
        else:
            place.with_suffix(".py").write_text(text)
    return root


def test_plait_itself() -> None:
    assert check_imports.main([]) == 0


def test_downward_imports_are_fine(tmp_path: Path) -> None:
    root = package(tmp_path, high__a="import plait.low.b\n", low__b="import os\n")
    assert check_imports.check(root, LAYERS) == []


@pytest.mark.parametrize(
    "text",
    [
        "import plait.high.a\n",
        "from plait.high import a\n",
        "from plait import high\n",
        "from ..high import a\n",
        "def f():\n    import plait.high.a\n",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from plait.high import a\n",
    ],
)
def test_an_upward_import_is_found(tmp_path: Path, text: str) -> None:
    root = package(tmp_path, high__a="", low__b=text)
    (problem,) = check_imports.check(root, LAYERS)
    line = text.count("\n")
    assert problem.startswith(f"{root / 'low' / 'b.py'}:{line}: low may not import high")


def test_a_permission_that_nobody_uses_is_found(tmp_path: Path) -> None:
    root = package(tmp_path, high="import os\n")
    problem = "layers.toml lets high import low, which it does not do"
    assert check_imports.check(root, LAYERS) == [problem]


@pytest.mark.parametrize(
    "text",
    [
        "def f():\n    import plait.low\n",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import plait.low\n",
    ],
)
def test_a_lazy_import_uses_a_permission(tmp_path: Path, text: str) -> None:
    assert check_imports.check(package(tmp_path, high=text), LAYERS) == []


def test_a_circle_is_found(tmp_path: Path) -> None:
    root = package(tmp_path, low__a="from plait.low import b\n", low__b="import plait.low.a\n")
    (problem,) = check_imports.check(root, LAYERS)
    assert "plait.low.a -> plait.low.b -> plait.low.a" in problem


def test_a_lazy_import_makes_no_circle(tmp_path: Path) -> None:
    lazy = "def f():\n    import plait.low.a\n"
    root = package(tmp_path, low__a="import plait.low.b\n", low__b=lazy)
    assert check_imports.check(root, LAYERS) == []


def test_a_module_without_a_layer_is_found(tmp_path: Path) -> None:
    root = package(tmp_path)
    (root / "stray.py").write_text("")
    (problem,) = check_imports.check(root, LAYERS)
    assert "plait.stray belongs to no layer" in problem


def test_the_package_root_loads_nothing(tmp_path: Path) -> None:
    root = package(tmp_path)
    (root / "__init__.py").write_text("import plait.low\n")
    (problem,) = check_imports.check(root, LAYERS)
    assert "root imports plait.low" in problem


def test_failure_gives_exit_code_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = package(tmp_path, low__b="import plait.high\n")
    layers = tmp_path / "layers.toml"
    layers.write_text('[layers]\nlow = []\nhigh = ["low"]\n')
    assert check_imports.main(["--layers", str(layers), "--source", str(root)]) == 1
    assert "b.py:1" in capsys.readouterr().out
