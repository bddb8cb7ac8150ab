"""Results as JSON, and back. Keys that are not known are ignored, so that newer files can be read;
whatever else is not as it should be is a mistake in the input."""

from __future__ import annotations

import json
import types
from functools import cache
from typing import Any, Union, get_args, get_origin, get_type_hints

from plait.data import MISSING, fields, is_dataclass
from plait.errors import Diagnostic, InputError
from plait.evidence.result import Result, Row

MARK = "plait-result"
VERSION = 1
_LARGEST = 1 << 62


def to_text(result: Result) -> str:
    data = {MARK: VERSION, **plain(result)}
    return json.dumps(data, indent=1, ensure_ascii=True) + "\n"


def from_text(text: str, path: str) -> Result:
    """The result in a file; raises InputError for any other text."""
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        what = f"not a result: {error.msg}"
        raise InputError(Diagnostic(what, path, error.lineno, error.colno)) from None
    except (RecursionError, ValueError):
        raise InputError(Diagnostic("not a result: nested too deeply", path)) from None
    if not isinstance(data, dict) or MARK not in data:
        raise InputError(Diagnostic(f"not a result: no '{MARK}' in it", path))
    if data[MARK] != VERSION:
        what = f"result of version {str(data[MARK])[:20]}, this program reads version {VERSION}"
        raise InputError(Diagnostic(what, path))
    try:
        result: Result = _built(Result, data, "result")
    except _Mistake as mistake:
        raise InputError(Diagnostic(str(mistake), path)) from None
    if result.verdict not in ("true", "false", "unknown"):
        raise InputError(Diagnostic("result.verdict: true, false or unknown expected", path))
    if result.data_model not in ("LP64", "ILP32"):
        raise InputError(Diagnostic("result.data_model: LP64 or ILP32 expected", path))
    return result


def from_plain(data: dict[str, Any]) -> Result:
    """A result from parts that `plain` has made."""
    result: Result = _built(Result, data, "result")
    return result


class _Mistake(Exception):
    pass


def plain(value: Any) -> Any:
    """What JSON has: objects, lists, texts, numbers."""
    if isinstance(value, Row):
        # The place of a row is not nested: a trace should be easy to read with simple tools.
        flat = {"step": value.step, "thread": value.thread, **plain(value.place)}
        for item in fields(value)[3:]:
            flat[item.name] = plain(getattr(value, item.name))
        return flat
    if is_dataclass(value):
        return {
            item.name: plain(getattr(value, item.name))
            for item in fields(value)
            if item.metadata.get("is_stored", True)
        }
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return value


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def _read(kind: Any, value: Any, where: str) -> Any:
    """`value` as a value of the type `kind`."""
    if kind is Any:
        return value
    origin = get_origin(kind)
    if origin in (types.UnionType, Union):
        if value is None:
            return None
        return _read(next(item for item in get_args(kind) if item is not type(None)), value, where)
    if origin is list:
        _expect(value, list, "a list", where)
        item_kind = get_args(kind)[0]
        return [_read(item_kind, item, f"{where}[{index}]") for index, item in enumerate(value)]
    if origin is dict:
        _expect(value, dict, "an object", where)
        item_kind = get_args(kind)[1]
        return {key: _read(item_kind, item, f"{where}.{key[:40]}") for key, item in value.items()}
    if is_dataclass(kind):
        _expect(value, dict, "an object", where)
        if kind is Row:
            value = {**value, "place": value}
        return _built(kind, value, where)
    names = {str: "a text", int: "a whole number", bool: "true or false"}
    _expect(value, kind, names[kind], where)
    if kind is int and abs(value) > _LARGEST:
        raise _Mistake(f"{where}: the number is too large")
    return value


def _expect(value: Any, kind: type, what: str, where: str) -> None:
    if type(value) is not kind:
        raise _Mistake(f"{where}: {what} expected")


def _built(kind: Any, value: dict[str, Any], where: str) -> Any:
    hints, found = _hints(kind), {}
    for item in fields(kind):
        if item.name in value and item.metadata.get("is_stored", True):
            found[item.name] = _read(hints[item.name], value[item.name], f"{where}.{item.name}")
        elif item.default is MISSING and item.default_factory is MISSING:
            raise _Mistake(f"{where}: no '{item.name}' in it")
    return kind(**found)
