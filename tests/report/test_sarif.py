"""SARIF: valid by the official schema, by the rules that the schema does not express, and useful."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote, urlsplit

import jsonschema
import pytest
from hypothesis import given
from tests.report import schema_store
from tests.report.exchange_samples import (
    COUNTER,
    RANDOM,
    all_samples,
    deadlock,
    lost_update,
    proved,
    question,
    race,
    results,
    undecided,
)

from plait.evidence.result import Place, Result, Row, Source
from plait.report import sarif_flow
from plait.report.fingerprint import line_hash
from plait.report.sarif import to_sarif

KINDS = set(
    "acquire release enter exit call return branch implicit false true caution danger unknown"
    " unreachable taint function handler lock memory resource scope value".split()
)


def log_of(result: Result) -> Any:
    return json.loads(to_sarif(result))


def only_run(result: Result) -> Any:
    (run,) = log_of(result)["runs"]
    return run


def only_result(result: Result) -> Any:
    (found,) = only_run(result)["results"]
    return found


@pytest.fixture(scope="module")
def official() -> Any:
    schema = schema_store.schema(schema_store.SARIF)
    return jsonschema.Draft7Validator(schema)


@pytest.mark.parametrize(
    "result", all_samples(), ids=lambda item: f"{item.verdict} {item.violated}"
)
def test_samples_are_valid(result: Result, official: Any) -> None:
    log = log_of(result)
    official.validate(log)
    check_rules(log)


def test_the_validator_is_strict(official: Any) -> None:
    log = log_of(lost_update())
    log["runs"][0]["results"][0]["kind"] = "maybe"
    assert not official.is_valid(log)
    log = log_of(lost_update())
    log["runs"][0]["results"][0]["codeFlows"][0]["threadFlows"][0]["locations"] = []
    assert not official.is_valid(log)


@given(results())
@RANDOM
def test_any_result_gives_a_valid_log(result: Result) -> None:
    text = to_sarif(result)
    assert text.isascii()
    assert text == to_sarif(result)
    log = json.loads(text)
    json.dumps(log, ensure_ascii=False).encode()  # no lone surrogates
    assert "\\u0000" not in text
    check_rules(log)


@given(results())
@RANDOM
def test_any_result_is_valid_by_the_official_schema(result: Result) -> None:
    jsonschema.Draft7Validator(schema_store.schema(schema_store.SARIF)).validate(log_of(result))


# The rules of the standard that its schema does not express


def check_rules(log: Any) -> None:
    for run in log["runs"]:
        rules = run["tool"]["driver"]["rules"]
        assert len({rule["id"] for rule in rules}) == len(rules)
        for result in run["results"]:
            assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
            assert result["message"]["text"]
            assert (result["level"] == "none") == (result["kind"] != "fail")  # 3.27.10
            check_links(result)
            for flow in result.get("codeFlows", []):
                check_code_flow(flow)
        check_artifacts(run)
        check_placeholders(run)


def check_links(result: Any) -> None:
    ids = [item["id"] for item in result.get("relatedLocations", [])]
    assert len(set(ids)) == len(ids) <= 100
    for target in re.findall(r"\]\((\d+)\)", result["message"]["text"]):
        assert int(target) in ids


def check_code_flow(flow: Any) -> None:
    names = [thread["id"] for thread in flow["threadFlows"]]
    assert len(set(names)) == len(names)
    orders: list[int] = []
    for thread in flow["threadFlows"]:
        own = [step["executionOrder"] for step in thread["locations"]]
        assert own == sorted(own)
        orders += own
        for step in thread["locations"]:
            assert set(step.get("kinds", [])) <= KINDS
            assert step["nestingLevel"] >= 0
            assert step["location"]["message"]["text"]
    assert len(set(orders)) == len(orders)
    assert min(orders) >= 0
    assert len(orders) <= sarif_flow.MAX_LOCATIONS


def check_artifacts(run: Any) -> None:
    artifacts = run["artifacts"]
    uris = [item["location"]["uri"] for item in artifacts]
    assert len(set(uris)) == len(uris)
    for location in [*artifact_locations(run["results"]), *artifact_locations(run["invocations"])]:
        assert artifacts[location["index"]]["location"]["uri"] == location["uri"]
    for artifact in artifacts:
        location = artifact["location"]
        parts = urlsplit(location["uri"])
        assert re.fullmatch(r"(?:[A-Za-z0-9._~/:-]|%[0-9A-F]{2})+", location["uri"])
        if "uriBaseId" in location:
            assert location["uriBaseId"] in run["originalUriBaseIds"]
            assert not parts.scheme and not parts.netloc and not parts.path.startswith("/")
            assert ".." not in parts.path.split("/")
    for region in regions(run):
        start = region["startLine"], region.get("startColumn", 1)
        end = region.get("endLine", start[0]), region.get("endColumn", 10**9)
        assert (1, 1) <= start < end


def check_placeholders(run: Any) -> None:
    """Texts of messages have no single brace: it would stand for an argument (3.11.5)."""
    for message in messages(run):
        assert not re.search("[{}]", message["text"].replace("{{", "").replace("}}", ""))


def walk(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield key, item
            yield from walk(item)
    elif isinstance(value, list):
        for item in value:
            yield from walk(item)


def artifact_locations(value: Any) -> Iterator[Any]:
    return (item for key, item in walk(value) if key == "artifactLocation")


def regions(value: Any) -> Iterator[Any]:
    return (item for key, item in walk(value) if key == "region")


def messages(value: Any) -> Iterator[Any]:
    return (item for key, item in walk(value) if key == "message")


# What is in it


def test_a_violation() -> None:
    found = only_result(lost_update())
    assert (found["ruleId"], found["kind"], found["level"]) == ("assertions", "fail", "error")
    assert found["message"]["text"].startswith(
        "assertion 'counter == 2' failed in thread 1 (main)."
    )
    (location,) = found["locations"]
    assert location["physicalLocation"] == {
        "artifactLocation": {
            "uri": "src/two%20words/counter.c",
            "uriBaseId": "SRCROOT",
            "index": 0,
        },
        "region": {"startLine": 14, "startColumn": 3, "endLine": 14, "endColumn": 24},
    }
    assert location["logicalLocations"] == [{"name": "main", "kind": "function"}]


def test_one_flow_for_each_thread_in_the_order_of_execution() -> None:
    (flow,) = only_result(lost_update())["codeFlows"]
    threads = {item["id"]: item["locations"] for item in flow["threadFlows"]}
    assert list(threads) == ["thread 1 (main)", "thread 2 (add)", "thread 3 (add)"]
    orders = [[step["executionOrder"] for step in steps] for steps in threads.values()]
    assert orders == [[1, 2, 7, 10, 11], [3, 5, 6], [4, 8, 9]]
    main = threads["thread 1 (main)"]
    assert main[0]["kinds"] == ["call", "function"]
    assert main[0]["importance"] == "important"
    assert main[1]["importance"] == "essential"
    assert main[-1]["kinds"] == ["branch", "false", "danger"]
    assert threads["thread 2 (add)"][1]["state"] == {"counter": {"text": "1"}}
    assert threads["thread 2 (add)"][1]["nestingLevel"] == 1
    assert flow["threadFlows"][0]["initialState"] == {"counter": {"text": "0"}}


def test_a_race_links_to_both_accesses() -> None:
    found = only_result(race())
    text = found["message"]["text"]
    assert "[write of counter by thread 2 (add)" in text and "holds no lock](1)" in text
    assert "[read of counter by thread 3 (add)" in text and "holds m](2)" in text
    told = [item["message"]["text"] for item in found["relatedLocations"]]
    assert "last synchronisation of thread 2 (add): starts thread 2" in told
    assert "thread 3 (add) is created here" in told
    threads = {item["id"]: item["locations"] for item in found["codeFlows"][0]["threadFlows"]}
    assert [step["kinds"][-1] for step in threads["thread 2 (add)"]] == ["danger", "function"]


def test_a_deadlock_is_where_a_thread_waits() -> None:
    found = only_result(deadlock())
    region = found["locations"][0]["physicalLocation"]["region"]
    assert region["startLine"] == 5
    assert "waits for lock b, which thread 3 (add) holds" in found["message"]["text"]
    steps = found["codeFlows"][0]["threadFlows"]
    assert [step["kinds"] for step in steps[0]["locations"]] == [
        ["acquire", "lock"],
        ["lock", "false", "danger"],
    ]
    assert [step["kinds"] for step in steps[1]["locations"]] == [["acquire", "lock", "danger"]]


def test_a_proof_raises_no_alert() -> None:
    run = only_run(proved())
    assert run["results"] == []
    assert run["invocations"][0]["exitCode"] == 0
    assert run["properties"]["verdict"] == "true"
    assert run["properties"]["assumptions"] == ["malloc succeeds"]


def test_unknown_is_open() -> None:
    run = only_run(undecided())
    (found,) = run["results"]
    assert (found["ruleId"], found["kind"], found["level"]) == ("undecided", "open", "none")
    assert found["message"]["text"] == "not decided: assertions (time limit of 5 s)"
    assert found["locations"][0]["physicalLocation"]["region"]["startLine"] == 9
    (invocation,) = run["invocations"]
    assert (invocation["exitCode"], invocation["executionSuccessful"]) == (3, True)
    (note,) = invocation["toolExecutionNotifications"]
    assert note["level"] == "warning"
    assert note["message"]["text"] == "setjmp is not modelled"


def test_a_crash_is_no_successful_execution() -> None:
    (invocation,) = only_run(undecided(report="plait-report-1.json"))["invocations"]
    assert not invocation["executionSuccessful"]
    assert invocation["toolExecutionNotifications"][-1]["level"] == "error"


def test_rules_name_the_parts_of_memory_safety() -> None:
    rules = [rule["id"] for rule in only_run(race())["tool"]["driver"]["rules"]]
    assert rules == ["assertions", "no-data-race", "valid-deref", "valid-free", "valid-memtrack"]


def test_every_rule_says_what_to_do() -> None:
    names = (
        "assertions unreach-call no-data-race no-deadlock no-overflow valid-memsafety lock-misuse"
    )
    for rule in only_run(undecided(properties=names.split()))["tool"]["driver"]["rules"]:
        for key in ("shortDescription", "fullDescription", "help"):
            assert len(rule[key]["text"]) > 15


def test_artifacts_have_hashes() -> None:
    (artifact,) = only_run(proved())["artifacts"]
    assert artifact["hashes"] == {"sha-256": "ab" * 32}
    assert artifact["sourceLanguage"] == "c"
    assert artifact["roles"] == ["analysisTarget"]


# Fingerprints


def prints(result: Result) -> dict[str, str]:
    found: dict[str, str] = only_result(result)["partialFingerprints"]
    return found


def test_fingerprints_survive_moved_lines_and_paths() -> None:
    moved = lost_update("/* one\n   two */\n" + COUNTER, "/elsewhere/counter.c", 2)
    assert prints(moved) == prints(lost_update())


def test_fingerprints_survive_other_indentation() -> None:
    indented = COUNTER.replace("  ", "\t\t")
    assert prints(lost_update(indented)) == prints(lost_update())


def test_fingerprints_tell_violations_apart() -> None:
    changed = lost_update(COUNTER.replace("== 2", "== 3"))
    others = [prints(item)["plait/v1"] for item in (lost_update(), changed, race(), deadlock())]
    assert len(set(others)) == 4


def test_fingerprints_do_not_depend_on_which_of_two_threads_comes_first() -> None:
    first, second = race(), race()
    assert second.violation is not None
    second.violation.accesses.reverse()
    assert prints(first) == prints(second)


def as_hash(*units: int) -> str:
    return f"{sum(unit * 37 ** (99 - index) for index, unit in enumerate(units)) % 2**64:x}"


def test_the_hash_of_a_line_is_that_of_github() -> None:
    assert line_hash([" a", "\tb "], 2) == as_hash(98, 10, 65535) + ":1"
    assert line_hash(["𝄞"], 1) == as_hash(0xD834, 0xDD1E, 10, 65535) + ":1"
    lines = ["x"] * 300
    assert line_hash(lines, 4) == as_hash(*[120, 10] * 50) + ":4"
    assert line_hash(lines, 300) == as_hash(120, 10, 65535) + ":1"


# Hostile sources and long traces


def test_columns_count_characters() -> None:
    line = 'puts("äöü"); assert(0);'
    before = len('puts("äöü"); '.encode())
    place = Place("a.c", 1, before + 1, "assert(0)", 1, before + 10)
    result = lost_update()
    assert result.violation is not None
    violation = dataclasses.replace(result.violation, place=place)
    sources = [Source("a.c", "", [line])]
    found = only_result(dataclasses.replace(result, violation=violation, sources=sources))
    region = found["locations"][0]["physicalLocation"]["region"]
    assert line[region["startColumn"] - 1 : region["endColumn"] - 1] == "assert(0)"


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("./a/../b.c", "b.c"),
        ("/x/y z.c", "file:///x/y%20z.c"),
        ("../b.c", "../b.c"),
        ("ä#?%.c", "%C3%A4%23%3F%25.c"),
        ("\udcff.c", "%FF.c"),
        ("a:b.c", "a%3Ab.c"),
    ],
)
def test_paths_are_uris(path: str, uri: str) -> None:
    (artifact,) = only_run(question("", path))["artifacts"]
    assert artifact["location"]["uri"] == uri
    assert unquote(uri, errors="surrogateescape").endswith(path[-3:])


def test_long_traces_keep_what_matters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sarif_flow, "MAX_LOCATIONS", 5)
    here = Place("a.c", 1, 1, "x")
    rows = [Row(step, 2 if step == 10 else 1, here) for step in range(30)]
    (flow,) = only_result(dataclasses.replace(lost_update(), trace=rows))["codeFlows"]
    steps = [step for thread in flow["threadFlows"] for step in thread["locations"]]
    assert sorted(step["executionOrder"] for step in steps) == [10, 11, 12, 29, 30]
    assert "25 of its 30 rows are left out" in flow["message"]["text"]


def test_each_question_has_its_own_category() -> None:
    category = only_run(race())["automationDetails"]["id"]
    assert category == "plait/assertions+no-data-race+valid-memsafety/src/two%20words/counter.c/"
    assert only_run(deadlock())["automationDetails"]["id"] != category
