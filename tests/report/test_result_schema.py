"""The JSON schema of our own result says what the dataclasses say."""

from __future__ import annotations

import dataclasses
import json
import types
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any, Union, get_args, get_origin, get_type_hints

import jsonschema
import pytest
from hypothesis import given
from tests.report.exchange_samples import RANDOM, all_samples, lost_update, results

from plait.engines.impact import statistics as impact
from plait.engines.modular import outcome as modular
from plait.engines.orders import outcome as orders
from plait.evidence import result as results_module
from plait.evidence.result import Place, Result, Row
from plait.evidence.stored import MARK, VERSION, to_text

SCHEMA = json.loads((files("plait.report") / "result.schema.json").read_text("utf-8"))
DOCUMENT = Path(__file__).parents[2] / "docs" / "json.md"
CLASSES = {
    name: kind
    for name, kind in vars(results_module).items()
    if dataclasses.is_dataclass(kind) and isinstance(kind, type)
}
BASIC = {str: "string", int: "integer", bool: "boolean"}

validator = jsonschema.Draft202012Validator(SCHEMA)


def expected(kind: Any) -> dict[str, Any]:
    """The schema of a type, without any words."""
    if kind in BASIC:
        return {"type": BASIC[kind]}
    origin = get_origin(kind)
    if origin in (types.UnionType, Union):
        (item,) = [item for item in get_args(kind) if item is not type(None)]
        inner = expected(item)
        if "$ref" in inner:
            return {"anyOf": [inner, {"type": "null"}]}
        return {**inner, "type": [inner["type"], "null"]}
    if origin is list:
        return {"type": "array", "items": expected(get_args(kind)[0])}
    if origin is dict:
        item = get_args(kind)[1]
        more = {} if item is Any else {"additionalProperties": expected(item)}
        return {"type": "object", **more}
    return {"$ref": f"#/$defs/{kind.__name__}"}


def expected_object(kind: type) -> dict[str, Any]:
    hints = get_type_hints(kind)
    properties, required = {}, []
    for item in dataclasses.fields(kind):
        if not item.metadata.get("is_stored", True):
            continue
        if kind is Row and item.name == "place":
            place = expected_object(Place)
            properties |= place["properties"]
            required += place["required"]
            continue
        properties[item.name] = expected(hints[item.name])
        if item.default is dataclasses.MISSING and item.default_factory is dataclasses.MISSING:
            required.append(item.name)
    return {"type": "object", "required": required, "properties": properties}


def without_words(schema: Any) -> Any:
    if isinstance(schema, dict):
        extra = ("description", "enum")
        return {
            key: without_words(item)
            for key, item in schema.items()
            if key not in extra or isinstance(item, dict)
        }
    return [without_words(item) for item in schema] if isinstance(schema, list) else schema


def test_it_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("name", sorted(set(CLASSES) - {"Result"}))
def test_each_class_is_described(name: str) -> None:
    assert without_words(SCHEMA["$defs"][name]) == expected_object(CLASSES[name])


def test_the_result_is_described() -> None:
    whole = expected_object(Result)
    found = without_words(SCHEMA)
    assert found["properties"] == {MARK: {"const": VERSION}, **whole["properties"]}
    assert found["required"] == [MARK, *whole["required"]]
    assert set(SCHEMA["$defs"]) == set(CLASSES) - {"Result"}


def objects() -> Iterator[dict[str, Any]]:
    yield SCHEMA
    yield from SCHEMA["$defs"].values()


def test_every_key_has_a_description() -> None:
    for item in objects():
        assert item["description"].endswith(".")
        for key, value in item["properties"].items():
            assert value["description"].endswith("."), key


@pytest.mark.parametrize(
    "result", all_samples(), ids=lambda item: f"{item.verdict} {item.violated}"
)
def test_samples_are_valid(result: Result) -> None:
    validator.validate(json.loads(to_text(result)))


@given(results())
@RANDOM
def test_any_result_is_valid(result: Result) -> None:
    validator.validate(json.loads(to_text(result)))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (["plait-result"], 2),
        (["verdict"], "maybe"),
        (["verdict"], True),
        (["files"], "a.c"),
        (["bound"], "3"),
        (["violation", "thread"], "main"),
        (["violation", "place", "line"], None),
        (["trace", 0, "changes", 0, "read"], 0),
        (["trace", 0, "operation"], "lock"),
        (["sources", 0, "lines"], [1]),
    ],
)
def test_wrong_types_are_rejected(path: list[Any], value: Any) -> None:
    data = json.loads(to_text(lost_update()))
    place = data
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    assert not validator.is_valid(data)


@pytest.mark.parametrize("key", SCHEMA["required"])
def test_missing_keys_are_rejected(key: str) -> None:
    data = json.loads(to_text(lost_update()))
    del data[key]
    assert not validator.is_valid(data)


def test_keys_of_newer_versions_are_accepted() -> None:
    validator.validate(json.loads(to_text(lost_update())) | {"new": 1})


def test_the_document_names_every_key() -> None:
    text = DOCUMENT.read_text("utf-8")
    for item in objects():
        for key in item["properties"]:
            assert f"`{key}`" in text, key


def test_the_document_names_all_statistics() -> None:
    text = DOCUMENT.read_text("utf-8")
    for statistics in (orders.Statistics(), impact.Statistics(), modular.Statistics()):
        for key in statistics.numbers():
            assert f"`{key}`" in text, key
