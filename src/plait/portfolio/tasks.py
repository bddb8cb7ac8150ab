"""BenchExec task definitions (`.yml`): a program, its data model, and properties to choose from."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from plait.data import replace
from plait.errors import Diagnostic, InputError
from plait.portfolio.subject import Subject, read_text

SUFFIXES = (".yml", ".yaml")
AnySubject = TypeVar("AnySubject", bound=Subject)


def expand_task(subject: AnySubject) -> AnySubject:
    """What a task definition says in the place of its name. The property is that of the task unless
    one is named; a task with several properties needs that."""
    tasks = [path for path in subject.programs if path.endswith(SUFFIXES)]
    if not tasks:
        return subject
    if len(subject.programs) > 1:
        raise InputError(f"{tasks[0]}: a task definition is a program of its own")
    path = tasks[0]
    data = read_task(path)
    folder = Path(path).parent
    model = entry_of(data, "options", dict, {}, path).get("data_model", subject.data_model)
    if model not in ("ILP32", "LP64"):
        raise wrong_task(path, f"data model '{str(model)[:40]}': ILP32 and LP64 are known")
    prp = subject.prp
    if not subject.property and prp is None and not subject.error_function:
        prp = str(folder / _property_file(data, path))
    files = tuple(str(folder / name) for name in files_of(data, path))
    return replace(subject, programs=files, data_model=model, prp=prp)


def read_task(path: str) -> dict[str, Any]:
    import yaml

    try:
        data = _loaded(read_text(path))
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        line = 0 if mark is None else mark.line + 1
        names = ("problem", "reason")
        said = next((text for name in names if (text := getattr(error, name, None))), None)
        what = str(said or "nested too deeply")
        raise InputError(Diagnostic(f"no task definition: {what}", path, line)) from None
    if not isinstance(data, dict) or "input_files" not in data:
        raise wrong_task(path, "no task definition: no 'input_files' in it")
    return data


@lru_cache(maxsize=1)
def _loaded(text: str) -> Any:
    """A task is looked at twice: is it one or are there several properties, and what is it. The
    compiled parser is ten times as fast; messages for people come from the other one."""
    import yaml

    try:
        return yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (yaml.YAMLError, RecursionError, ValueError):
        return yaml.safe_load(text)


def files_of(data: dict[str, Any], path: str) -> list[str]:
    files = data["input_files"]
    names = [files] if isinstance(files, str) else files
    if not isinstance(names, list) or not names or not all(isinstance(n, str) for n in names):
        raise wrong_task(path, "input_files: names of files expected")
    return names


def _property_file(data: dict[str, Any], path: str) -> str:
    rows = entry_of(data, "properties", list, [], path)
    files = [row.get("property_file") for row in rows if isinstance(row, dict)]
    names = [name for name in files if isinstance(name, str)]
    if len(names) == 1:
        return names[0]
    if not names:
        raise wrong_task(path, "no property in it: choose one with --property or --prp")
    raise wrong_task(path, f"several properties ({', '.join(names)}): choose one with --prp")


def entry_of(data: dict[str, Any], name: str, kind: type, default: Any, path: str) -> Any:
    value = data.get(name)
    if value is None:
        return default
    if not isinstance(value, kind):
        raise wrong_task(path, f"{name}: not as in a task definition")
    return value


def wrong_task(path: str, what: str) -> InputError:
    return InputError(Diagnostic(what, path))
