"""`plait verify` and `plait report` write the forms of a result that others read."""

from __future__ import annotations

import json
import xml.etree.ElementTree as xml
from pathlib import Path

import pytest

from plait.cli.main import main

RACE = str(Path(__file__).parents[2] / "examples" / "counter_race.c")


def test_forms_are_written_at_once_or_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["verify", "--json", "r.json", "--sarif", "a.sarif", "--junit", "a.xml", RACE]) == 1
    assert main(["report", "r.json", "--sarif", "b.sarif", "--junit", "b.xml"]) == 0
    for one, other in (("a.sarif", "b.sarif"), ("a.xml", "b.xml")):
        assert Path(one).read_bytes() == Path(other).read_bytes()
    assert (
        json.loads(Path("a.sarif").read_text())["runs"][0]["results"][0]["ruleId"] == "assertions"
    )
    assert xml.parse("a.xml").getroot().get("failures") == "1"
