"""Files that are no witnesses end in a message with a line, and take neither long nor much memory."""

from __future__ import annotations

import pytest
import yaml

from plait.errors import InputError
from plait.evidence.witness.content import CorrectnessWitness, Kind, ViolationWitness
from plait.evidence.witness.read import from_text

_METADATA = """\
  metadata:
    format_version: '2.2'
    uuid: 11111111-1111-1111-1111-111111111111
    creation_time: '2026-01-01T00:00:00Z'
    producer: {name: other, version: '1'}
    task:
      input_files: [a.c]
      input_file_hashes: {a.c: abc}
      specification: G ! call(reach_error())
      data_model: LP64
      language: C
"""
_VIOLATION = f"""\
- entry_type: violation_sequence
{_METADATA}  content:
  - segment:
    - waypoint:
        type: assumption
        action: follow
        thread_id: 3
        location: {{file_name: a.c, line: 7, column: 2, function: f}}
        constraint: {{value: x == 1, format: c_expression}}
  - segment:
    - waypoint: {{type: target, action: follow, location: {{file_name: a.c, line: 9}}}}
"""
_GRAPH = """\
<?xml version="1.0"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><graph edgedefault="directed">
<data key="witness-type">violation_witness</data><data key="sourcecodelang">C</data>
<data key="specification">G ! call(reach_error())</data><data key="programfile">a.c</data>
<data key="programhash">abc</data><data key="architecture">64bit</data>
<node id="a"><data key="entry">true</data></node><node id="b"/>
<node id="c"><data key="violation">true</data></node><node id="s"><data key="sink">true</data></node>
<edge source="a" target="b"><data key="threadId">main</data><data key="startline">3</data>
<data key="createThread">17</data></edge>
<edge source="b" target="c"><data key="threadId">17</data><data key="startline">5</data>
<data key="control">condition-true</data></edge>
<edge source="b" target="s"><data key="threadId">17</data><data key="startline">5</data>
<data key="control">condition-false</data></edge>
</graph></graphml>
"""


def test_a_violation() -> None:
    witness = from_text(_VIOLATION, "w")
    assert isinstance(witness, ViolationWitness)
    first, last = (segment.follow[0] for segment in witness.segments)
    assert (first.kind, first.thread, first.constraint) == (Kind.ASSUMPTION, "3", "x == 1")
    assert (first.location.line, first.location.column, first.location.function) == (7, 2, "f")
    assert (last.kind, last.thread, last.location.column) == (Kind.TARGET, "0", 0)


def test_threads_of_older_versions_are_open() -> None:
    text = _VIOLATION.replace("'2.2'", "2.0").replace("        thread_id: 3\n", "")
    witness = from_text(text, "w")
    assert isinstance(witness, ViolationWitness)
    assert {segment.follow[0].thread for segment in witness.segments} == {""}


def test_a_graph() -> None:
    witness = from_text(_GRAPH, "w")
    assert isinstance(witness, ViolationWitness)
    create, branch, target = witness.segments
    assert create.follow[0].creates and create.follow[0].thread == "0"
    assert branch.follow[0].constraint == "true" and branch.avoid[0].constraint == "false"
    assert branch.follow[0].thread == create.follow[0].creates
    assert target.follow[0].kind is Kind.TARGET and target.follow[0].location.line == 0


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("line: 7", "line: 0", 19),
        ("line: 7", "line: seven", 19),
        ("type: assumption", "type: guess", 16),
        ("action: follow\n        thread", "action: cycle\n        thread", 17),
        ("thread_id: 3", "thread_id: -3", 18),
        ("value: x == 1, ", "", 20),
        ("type: target", "type: function_enter", 22),
        ("data_model: LP64", "data_model: LP65", 11),
        ("{a.c: abc}", "{b.c: abc}", 9),
        ("'2.2'", "'3.0'", 3),
        ("violation_sequence", "guess", 1),
        ("  content:", "  contents:", 1),
        ("input_files: [a.c]", "input_files: a.c", 8),
        ("- entry_type", "  - ] entry_type", 1),
    ],
)
def test_mistakes_have_a_line(old: str, new: str, line: int) -> None:
    assert old in _VIOLATION
    with pytest.raises(InputError) as caught:
        from_text(_VIOLATION.replace(old, new), "w.yml")
    diagnostic = caught.value.diagnostics[0]
    assert (diagnostic.file, diagnostic.line) == ("w.yml", line), diagnostic.message


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "just text",
        "{",
        "- &a [*a, *a]",
        "[" * 20_000,
        "- !!python/object/apply:os.system ['true']",
        "\0",
        "<graphml>",
        "<a/>",
        '<!DOCTYPE a [<!ENTITY b "c">]><graphml>&b;</graphml>',
        '<!DOCTYPE a SYSTEM "file:///etc/passwd"><graphml/>',
        _GRAPH.replace('<data key="entry">true</data>', ""),
        _GRAPH.replace('target="c"', 'target="a"'),
        _GRAPH.replace('target="s"', 'target="a"'),
        _GRAPH.replace(">5<", ">five<"),
        _GRAPH.replace("64bit", "48bit"),
    ],
)
def test_no_witness(text: str) -> None:
    with pytest.raises(InputError):
        from_text(text, "w")


def test_a_proof_with_ghosts() -> None:
    entries = yaml.safe_load(_VIOLATION.replace("'2.2'", "'2.1'"))
    entries[0]["entry_type"] = "ghost_instrumentation"
    location = {"file_name": "a.c", "line": 3}
    entries[0]["content"] = {
        "ghost_variables": [
            {"name": "g", "scope": "global", "type": "int", "initial": {"value": "0"}}
        ],
        "ghost_updates": [{"location": location, "updates": [{"variable": "g", "value": "1"}]}],
    }
    invariant = {"type": "loop_invariant", "location": location, "value": "g <= 1"}
    proof = {**entries[0], "entry_type": "invariant_set", "content": [{"invariant": invariant}]}
    witness = from_text(yaml.safe_dump([*entries, proof]), "w")
    assert isinstance(witness, CorrectnessWitness)
    assert witness.ghosts[0].name == "g" and witness.invariants[0].is_loop
