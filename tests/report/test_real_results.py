"""The formats of results that plait has found itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from tests.report import schema_store
from tests.report.test_junit import child, suite_of
from tests.report.test_result_schema import validator
from tests.report.test_sarif import check_rules

from plait.cli.main import main
from plait.evidence.result import Result
from plait.evidence.stored import from_text
from plait.report.sarif import to_sarif

EXAMPLES = Path(__file__).parents[2] / "examples"


def found(tmp_path: Path, *arguments: str) -> Result:
    path = tmp_path / "result.json"
    main(["explore", "--json", str(path), *arguments])
    text = path.read_text("utf-8")
    validator.validate(json.loads(text))
    return from_text(text, str(path))


def sarif_result(result: Result) -> Any:
    log = json.loads(to_sarif(result))
    jsonschema.Draft7Validator(schema_store.schema(schema_store.SARIF)).validate(log)
    check_rules(log)
    (item,) = log["runs"][0]["results"]
    return item


@pytest.mark.parametrize(
    ("name", "property", "line"),
    [
        ("counter_race.c", "assertions", 27),
        ("counter_race.c", "no-data-race", 17),
        ("deadlock.c", "no-deadlock", 32),
    ],
)
def test_examples(name: str, property: str, line: int, tmp_path: Path) -> None:
    result = found(tmp_path, "--property", property, str(EXAMPLES / name))
    item = sarif_result(result)
    assert item["ruleId"] == property
    assert item["locations"][0]["physicalLocation"]["region"]["startLine"] == line
    threads = item["codeFlows"][0]["threadFlows"]
    assert [thread["id"][:8] for thread in threads] == ["thread 1", "thread 2", "thread 3"]
    assert set(item["partialFingerprints"]) == {"plait/v1", "primaryLocationLineHash"}
    case = child(suite_of(result), "testcase")
    assert case.get("line") == str(line)
    assert child(case, "failure").get("type") == property


def test_a_moved_program_has_the_same_fingerprint(tmp_path: Path) -> None:
    text = (EXAMPLES / "counter_race.c").read_text("utf-8")
    other = tmp_path / "moved.c"
    other.write_text("/* One\n * more\n * comment. */\n\n" + text)
    prints = [
        sarif_result(found(tmp_path, str(path)))["partialFingerprints"]
        for path in (EXAMPLES / "counter_race.c", other)
    ]
    assert prints[0] == prints[1]
