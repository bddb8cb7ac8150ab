"""Results as JSON, and back. Keys that are not known are ignored, so that newer files can be read;
whatever else is not as it should be is a mistake in the input."""

from __future__ import annotations

import json
import types
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, Union, get_args, get_origin, get_type_hints

from plait.data import MISSING, fields, is_dataclass
from plait.errors import Diagnostic, InputError
from plait.evidence.result import Result, Row

MARK = "plait-result"
VERSION = 1
_LARGEST = 1 << 62
_SCALARS = frozenset({bool, float, int, str})


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
        result: Result = _reader(Result)(data)
    except _Mistake as mistake:
        raise InputError(Diagnostic(str(mistake), path)) from None
    if result.verdict not in ("true", "false", "unknown"):
        raise InputError(Diagnostic("result.verdict: true, false or unknown expected", path))
    if result.data_model not in ("LP64", "ILP32"):
        raise InputError(Diagnostic("result.data_model: LP64 or ILP32 expected", path))
    return result


def from_plain(data: dict[str, Any]) -> Result:
    """A result from parts that `plain` has made."""
    result: Result = _reader(Result)(data)
    return result


class _Mistake(Exception):
    """What is wrong, and where: from the outermost name to the innermost."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.where = ""

    def __str__(self) -> str:
        return f"result{self.where}: {self.args[0]}"


def plain(value: Any) -> Any:
    """What JSON has: objects, lists, texts, numbers."""
    if value is None or type(value) in _SCALARS:
        return value
    if isinstance(value, Row):
        # The place of a row is not nested: a trace should be easy to read with simple tools.
        flat = {"step": value.step, "thread": value.thread, **plain(value.place)}
        for name in _stored_names(Row)[3:]:
            flat[name] = plain(getattr(value, name))
        return flat
    kind: Any = type(value)
    if is_dataclass(value):
        return {name: plain(getattr(value, name)) for name in _stored_names(kind)}
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return value


@cache
def _stored_names(kind: type) -> tuple[str, ...]:
    return tuple(item.name for item in fields(kind) if item.metadata.get("is_stored", True))


Reader = Callable[[Any], Any]


@cache
def _reader(kind: Any) -> Reader:
    """What makes a value of the type `kind` from plain data."""
    if kind is Any:
        return lambda value: value
    origin = get_origin(kind)
    if origin in (types.UnionType, Union):
        some = _reader(next(item for item in get_args(kind) if item is not type(None)))
        return lambda value: None if value is None else some(value)
    if origin is list:
        return _list_reader(_reader(get_args(kind)[0]))
    if origin is dict:
        return _dict_reader(_reader(get_args(kind)[1]))
    if is_dataclass(kind):
        return _record_reader(kind)
    if kind is int:
        return _read_number
    return _plain_reader(kind, {str: "a text", bool: "true or false"}[kind])


def _plain_reader(kind: type, what: str) -> Reader:
    def read(value: Any) -> Any:
        if type(value) is not kind:
            raise _Mistake(f"{what} expected")
        return value

    return read


def _read_number(value: Any) -> int:
    if type(value) is not int:
        raise _Mistake("a whole number expected")
    if abs(value) > _LARGEST:
        raise _Mistake("the number is too large")
    return value


def _list_reader(read_item: Reader) -> Reader:
    def read(value: Any) -> Any:
        if type(value) is not list:
            raise _Mistake("a list expected")
        found: list[Any] = []
        try:
            for item in value:
                found.append(read_item(item))
        except _Mistake as mistake:
            mistake.where = f"[{len(found)}]{mistake.where}"
            raise
        return found

    return read


def _dict_reader(read_item: Reader) -> Reader:
    def read(value: Any) -> Any:
        if type(value) is not dict:
            raise _Mistake("an object expected")
        found, key = {}, ""
        try:
            for key, item in value.items():
                found[key] = read_item(item)
        except _Mistake as mistake:
            mistake.where = f".{key[:40]}{mistake.where}"
            raise
        return found

    return read


def _record_reader(kind: Any) -> Reader:
    rows: list[tuple[str, Reader | None, bool]] = []  # made at first use: kinds may be recursive

    def read(value: Any) -> Any:
        if type(value) is not dict:
            raise _Mistake("an object expected")
        if not rows:
            rows.extend(_rows(kind))
        if kind is Row:
            value = {**value, "place": value}
        found, name = {}, ""
        try:
            for name, read_item, is_needed in rows:
                if name in value and read_item is not None:
                    found[name] = read_item(value[name])
                elif is_needed:
                    break
            else:
                return kind(**found)
        except _Mistake as mistake:
            mistake.where = f".{name}{mistake.where}"
            raise
        raise _Mistake(f"no '{name}' in it")

    return read


def _rows(kind: Any) -> Iterator[tuple[str, Reader | None, bool]]:
    """The name of each field, how it is read if it is, and whether it has to be there."""
    hints = get_type_hints(kind)
    for item in fields(kind):
        is_stored = item.metadata.get("is_stored", True)
        is_needed = item.default is MISSING and item.default_factory is MISSING
        yield item.name, _reader(hints[item.name]) if is_stored else None, is_needed
