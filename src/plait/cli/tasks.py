"""BenchExec task definitions (`.yml`): a program, its data model, and properties to choose from."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from plait.cli.inputs import read_text
from plait.errors import Diagnostic, InputError

SUFFIXES = (".yml", ".yaml")


def expand_task(options: argparse.Namespace) -> None:
    """Put what a task definition says in the place of its name. The property is that of the task
    unless the options name one; a task with several properties needs that."""
    tasks = [path for path in options.programs if path.endswith(SUFFIXES)]
    if not tasks:
        return
    if len(options.programs) > 1:
        raise InputError(f"{tasks[0]}: a task definition is a program of its own")
    path = tasks[0]
    data = _read(path)
    folder = Path(path).parent
    options.programs = [str(folder / name) for name in _files(data, path)]
    model = _entry(data, "options", dict, {}, path).get("data_model", options.data_model)
    if model not in ("ILP32", "LP64"):
        raise _wrong(path, f"data model '{str(model)[:40]}': ILP32 and LP64 are known")
    options.data_model = model
    if not options.property and options.prp is None and not options.error_function:
        options.prp = str(folder / _property_file(data, path))


def _read(path: str) -> dict[str, Any]:
    import yaml

    try:
        data = yaml.safe_load(read_text(path))
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        line = 0 if mark is None else mark.line + 1
        what = str(getattr(error, "problem", None) or "nested too deeply")
        raise InputError(Diagnostic(f"no task definition: {what}", path, line)) from None
    if not isinstance(data, dict) or "input_files" not in data:
        raise _wrong(path, "no task definition: no 'input_files' in it")
    return data


def _files(data: dict[str, Any], path: str) -> list[str]:
    files = data["input_files"]
    names = [files] if isinstance(files, str) else files
    if not isinstance(names, list) or not names or not all(isinstance(n, str) for n in names):
        raise _wrong(path, "input_files: names of files expected")
    return names


def _property_file(data: dict[str, Any], path: str) -> str:
    rows = _entry(data, "properties", list, [], path)
    files = [row.get("property_file") for row in rows if isinstance(row, dict)]
    names = [name for name in files if isinstance(name, str)]
    if len(names) == 1:
        return names[0]
    if not names:
        raise _wrong(path, "no property in it: choose one with --property or --prp")
    raise _wrong(path, f"several properties ({', '.join(names)}): choose one with --prp")


def _entry(data: dict[str, Any], name: str, kind: type, default: Any, path: str) -> Any:
    value = data.get(name)
    if value is None:
        return default
    if not isinstance(value, kind):
        raise _wrong(path, f"{name}: not as in a task definition")
    return value


def _wrong(path: str, what: str) -> InputError:
    return InputError(Diagnostic(what, path))
