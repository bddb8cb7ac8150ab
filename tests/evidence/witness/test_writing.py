"""What is in a witness, and results that have none."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest
import yaml
from tests.evidence.witness.schemas import correctness
from tests.evidence.witness.support import REPOSITORY, violated

from plait.errors import InputError
from plait.evidence.result import Invariant, Place, Result, Source
from plait.evidence.validation.search import Confirmation
from plait.evidence.validation.validate import validate
from plait.evidence.witness.content import CorrectnessWitness, ViolationWitness
from plait.evidence.witness.read import from_text
from plait.evidence.witness.source_text import SourceText
from plait.evidence.witness.specifications import formulas, parsed
from plait.evidence.witness.write import FORMATS, to_witness

_LINES = ["int x;", "int main(void) {", "  while (x < 9) {", "    x++;", "  }", "  return 0;", "}"]


def _proved(*invariants: Invariant) -> Result:
    result = Result("0.1.0", ["a.c"], "main", "LP64", ["unreach-call"], "impact", "true", "")
    result.error_functions = ["reach_error"]
    result.sources = [Source("a.c", "a" * 64, _LINES)]
    result.invariants = list(invariants)
    return result


@pytest.mark.parametrize("form", FORMATS)
def test_a_proof(form: str) -> None:
    place = Place("a.c", 3, 3, "while", function="main")
    text = to_witness(_proved(Invariant(place, "0 <= x && x <= 9", loop=True)), form)
    witness = from_text(text, "w")
    assert isinstance(witness, CorrectnessWitness)
    assert witness.invariants[0].value == "0 <= x && x <= 9"
    assert witness.invariants[0].is_loop and witness.invariants[0].location.line == 3
    if form != "graphml":
        jsonschema.validate(yaml.safe_load(text), correctness(form))


@pytest.mark.parametrize("form", FORMATS)
def test_a_proof_without_invariants_is_not_empty(form: str) -> None:
    text = to_witness(_proved(), form)
    witness = from_text(text, "w")
    assert isinstance(witness, CorrectnessWitness)
    only = witness.invariants[0]
    assert (only.value, only.location.line) == ("1", 3)


def test_results_without_a_witness() -> None:
    unknown = _proved()
    unknown.verdict = "unknown"
    lost = _proved()
    lost.sources = []
    for result in (unknown, lost):
        with pytest.raises(InputError):
            to_witness(result, "2.2")
    with pytest.raises(InputError):
        to_witness(_proved(), "3.0")


def test_a_race_has_two_targets() -> None:
    found = violated(REPOSITORY / "examples" / "counter_race.c", "no-data-race")
    assert found is not None
    entry = yaml.safe_load(to_witness(found.result, "2.2"))[0]
    assert "G ! data-race" in entry["metadata"]["task"]["specification"]
    last = [item["waypoint"] for item in entry["content"][-1]["segment"]]
    assert [item["type"] for item in last] == ["target", "target"]
    assert {item["thread_id"] for item in last} == {1, 2}
    assert len(yaml.safe_load(to_witness(found.result, "2.0"))[0]["content"][-1]["segment"]) == 1


def test_what_a_counterexample_tells() -> None:
    found = violated(REPOSITORY / "examples" / "counter_race.c", "assertions")
    assert found is not None
    rows = _waypoints(to_witness(found.result, "2.2"))
    creations = [row for row in rows if row["type"] == "function_enter"]
    assert [row["location"]["line"] for row in creations] == [23, 24]
    assert all(row["thread_id"] == 0 for row in creations)
    line = (REPOSITORY / "examples" / "counter_race.c").read_text().splitlines()[22]
    assert line[creations[0]["location"]["column"] - 1] == ")"
    assert any("counter == 1" in row.get("constraint", {}).get("value", "") for row in rows)
    plain = _waypoints(to_witness(found.result, "2.0"))
    assert not any("thread_id" in row for row in plain)


def test_the_graph_names_threads() -> None:
    found = violated(REPOSITORY / "examples" / "counter_race.c", "assertions")
    assert found is not None
    root = ElementTree.fromstring(to_witness(found.result, "graphml"))
    space = "{http://graphml.graphdrawing.org/xmlns}"
    keys = {item.attrib["id"] for item in root.iter(f"{space}key")}
    data = [(item.attrib["key"], item.text) for item in root.iter(f"{space}data")]
    assert {key for key, _ in data} <= keys
    assert [text for key, text in data if key == "createThread"] == ["1", "2"]
    assert [text for key, text in data if key == "entry"] == ["true"]
    assert [text for key, text in data if key == "violation"] == ["true"]
    assert {text for key, text in data if key == "threadId"} == {"0", "1", "2"}


def _waypoints(text: str) -> list[dict[str, Any]]:
    content = yaml.safe_load(text)[0]["content"]
    return [item["waypoint"] for segment in content for item in segment["segment"]]


def test_specifications_come_back() -> None:
    for name in ("assertions", "no-data-race", "no-deadlock", "no-overflow", "lock-misuse"):
        read, entry = parsed(formulas("start", [name], []), "w")
        assert entry == "start" and {item.value for item in read.properties} == {name}
    read, _ = parsed(formulas("main", ["valid-deref"], []), "w")
    assert {item.value for item in read.properties} == {"valid-memsafety"}
    read, _ = parsed(formulas("main", ["unreach-call"], ["f", "g"]), "w")
    assert read.error_functions == {"f", "g"}
    with pytest.raises(InputError):
        parsed("CHECK( init(main()), LTL(G assert) ) and more", "w")


def test_places_in_the_source() -> None:
    text = SourceText(
        [
            "int f(int a) { /* if ( */",
            '  if (!(a && g(1, ")"))) return 1;',
            "  for (int i = 0; i < 9; i++) h(i);",
            "  do { a--; } while (a > 0);",
            "}",
        ]
    )
    assert text.keyword_of(2, 7) == ("if", (2, 3))
    assert text.keyword_of(3, 19) == ("for", (3, 3))
    assert text.keyword_of(4, 22) == ("while", (4, 15))
    assert text.is_followed_by(";", 4, 15)
    assert text.keyword_of(3, 31) is None
    assert text.calls("g", (2, 3), (2, 30)) == [(2, 22)]
    assert text.body("f") == (2, 3)


def test_a_file_beyond_ascii(tmp_path: Path) -> None:
    path = tmp_path / "grüße.c"
    path.write_text("#include <assert.h>\nint main(void) { assert(0 /* ß */); }\n")
    found = violated(path, "assertions")
    assert found is not None
    for form in FORMATS:
        from_text(to_witness(found.result, form), "w")


def test_extreme_values(tmp_path: Path) -> None:
    path = tmp_path / "extreme.c"
    path.write_text(
        "#include <assert.h>\n#include <pthread.h>\nunsigned long x; long y;\n"
        "void *f(void *p) { x = -2; y = -9223372036854775807 - 1; return 0; }\n"
        "int main(void) { pthread_t t; pthread_create(&t, 0, f, 0);\n"
        "  pthread_join(t, 0);\n  int z = 0;\n  assert(y == z); return 0; }\n"
    )
    found = violated(path, "assertions")
    assert found is not None
    text = to_witness(found.result, "2.2")
    assert "18446744073709551614U" in text and "(-9223372036854775807 - 1)" in text
    witness = from_text(text, "w")
    assert isinstance(witness, ViolationWitness)
    assert validate(found.program, found.specification, witness).answer is Confirmation.CONFIRMED
