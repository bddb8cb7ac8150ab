"""The published YAML formats as JSON schemas, written after their descriptions: violation witnesses
2.0 and their extension by threads (2.2), correctness witnesses 2.0 and 2.1 (with ghosts)."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]

_TEXT: Schema = {"type": "string", "minLength": 1}


def _object(required: Schema, optional: Schema | None = None) -> Schema:
    return {
        "type": "object",
        "properties": {**required, **(optional or {})},
        "required": list(required),
        "additionalProperties": False,
    }


def _metadata(version: str) -> Schema:
    return _object(
        {
            "format_version": {"const": version},
            "uuid": {"type": "string", "pattern": "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"},
            "creation_time": {
                "type": "string",
                "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(Z|[+-]\d\d:\d\d)$",
            },
            "producer": _object(
                {"name": _TEXT, "version": _TEXT},
                {"configuration": _TEXT, "command_line": _TEXT, "description": _TEXT},
            ),
            "task": _object(
                {
                    "input_files": {"type": "array", "items": _TEXT, "minItems": 1},
                    "input_file_hashes": {
                        "type": "object",
                        "additionalProperties": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
                        "minProperties": 1,
                    },
                    "specification": {
                        "type": "string",
                        "pattern": r"^CHECK\( init\(\w+\(\)\), LTL\(.+\) \)$",
                    },
                    "data_model": {"enum": ["ILP32", "LP64"]},
                    "language": {"const": "C"},
                }
            ),
        }
    )


_LOCATION = _object(
    {"file_name": _TEXT, "line": {"type": "integer", "minimum": 1}},
    {"column": {"type": "integer", "minimum": 1}, "function": _TEXT},
)


def _waypoint(kind: str, constraint: Schema | None, actions: list[str], version: str) -> Schema:
    required: Schema = {
        "type": {"const": kind},
        "action": {"enum": actions},
        "location": _LOCATION,
    }
    if constraint is not None:
        required["constraint"] = constraint
    threads = {"thread_id": {"type": "integer", "minimum": 0}} if version == "2.2" else {}
    return _object({"waypoint": _object(required, threads)})


def violation(version: str) -> Schema:
    def waypoint(kind: str, constraint: Schema | None = None) -> Schema:
        return _waypoint(kind, constraint, ["follow", "avoid"], version)

    def constraint(*formats: str) -> Schema:
        return _object({"value": _TEXT, "format": {"enum": list(formats)}})

    normal = [
        waypoint("assumption", constraint("c_expression")),
        waypoint("branching", _object({"value": {"enum": ["true", "false"]}})),
        waypoint("function_enter"),
        waypoint("function_return", constraint("acsl_expression", "ext_c_expression")),
    ]
    target = _waypoint("target", None, ["follow"], version)
    most = 2 if version == "2.2" else 1
    segment = _object(
        {"segment": {"type": "array", "items": {"anyOf": [*normal, target]}, "minItems": 1}}
    )
    last = _object({"segment": {"type": "array", "items": target, "minItems": 1, "maxItems": most}})
    entry = _object(
        {
            "entry_type": {"const": "violation_sequence"},
            "metadata": _metadata(version),
            "content": {"type": "array", "items": segment, "minItems": 1, "contains": last},
        }
    )
    return {"type": "array", "items": entry, "minItems": 1, "maxItems": 1}


def correctness(version: str) -> Schema:
    invariant = _object(
        {
            "invariant": _object(
                {
                    "type": {"enum": ["loop_invariant", "location_invariant"]},
                    "location": _LOCATION,
                    "value": _TEXT,
                    "format": {"const": "c_expression"},
                }
            )
        }
    )
    entry = _object(
        {
            "entry_type": {"const": "invariant_set"},
            "metadata": _metadata(version),
            "content": {"type": "array", "items": invariant, "minItems": 1},
        }
    )
    return {"type": "array", "items": {"anyOf": [entry, _ghosts(version)]}, "minItems": 1}


def _ghosts(version: str) -> Schema:
    expression = _object({"value": _TEXT, "format": {"const": "c_expression"}})
    variable = _object(
        {"name": _TEXT, "scope": {"const": "global"}, "type": _TEXT, "initial": expression}
    )
    update = _object({"variable": _TEXT, "value": _TEXT, "format": {"const": "c_expression"}})
    updates = _object({"location": _LOCATION, "updates": {"type": "array", "items": update}})
    content = _object(
        {
            "ghost_variables": {"type": "array", "items": variable},
            "ghost_updates": {"type": "array", "items": updates},
        }
    )
    return _object(
        {
            "entry_type": {"const": "ghost_instrumentation"},
            "metadata": _metadata(version),
            "content": content,
        }
    )
