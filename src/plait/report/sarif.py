"""Results as SARIF 2.1.0, for code scanning and editors.

What GitHub makes of it decides what is a SARIF result here. It shows every one as an alert,
whatever its kind, and closes alerts that a new upload does not repeat. So a violation is a result
of kind `fail`, a proof is none, and `unknown` is one of kind `open`: otherwise an alert would seem
to be mended when there was just no time to find it again. docs/ci.md says more.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from plait.data import replace
from plait.evidence.result import Finding, Place, Result, Unsupported, Violation
from plait.report import one_line_texts
from plait.report.characters import clean, one_line
from plait.report.fingerprint import line_hash, question_fingerprint, violation_fingerprint
from plait.report.phrases import cause_phrase, operation_phrase, thread_name, waiting_phrase
from plait.report.rules import UNDECIDED, Rule, rule_named, rules_of
from plait.report.sarif_flow import code_flow
from plait.report.sarif_places import ROOT, Places, uri
from plait.report.sarif_text import link, text_of

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)

MAX_RELATED = 100  # GitHub shows no more
MAX_LINKS = 3
MAX_CATEGORY = 200

_Told = tuple[Place | None, str]


def to_sarif(result: Result) -> str:
    """A SARIF log with one run. The same result always gives the same text."""
    places = Places(result)
    rules = _rules(result)
    results = []
    if result.verdict == "false":
        results.append(_failure(result, places, rules))
    elif result.verdict == "unknown":
        results.append(_open_question(result, places, rules))
    for finding in result.findings:
        results.append(_failure(_as_violation(result, finding), places, rules))
    run = {
        "tool": {"driver": _driver(result, rules)},
        "automationDetails": {"id": _category(result)},
        "originalUriBaseIds": {
            ROOT: {"description": {"text": "The directory in which plait was started."}}
        },
        "columnKind": "unicodeCodePoints",
        "invocations": [_invocation(result, places)],
        "artifacts": places.artifacts,
        "results": results,
        "properties": _summary(result),
    }
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(log, indent=1, ensure_ascii=True) + "\n"


def _rules(result: Result) -> list[Rule]:
    """Those that were checked, and the one that the result is about."""
    rules = rules_of(result.properties)
    named = [_violated(result)] if result.verdict == "false" else []
    named += [_violated(_as_violation(result, finding)) for finding in result.findings]
    known = [rule.id for rule in rules]
    rules += [rule_named(name) for name in dict.fromkeys(named) if name not in known]
    return [*rules, UNDECIDED] if result.verdict == "unknown" else rules


def _as_violation(result: Result, finding: Finding) -> Result:
    """As if it had been asked for."""
    violation = finding.violation
    found = result.with_execution_of(finding)
    return replace(found, violated=violation.property, reason=violation.message)


def _violated(result: Result) -> str:
    known = "" if result.violation is None else result.violation.property
    return result.violated or known or "property"


def _driver(result: Result, rules: list[Rule]) -> dict[str, Any]:
    return {
        "name": "plait",
        "version": one_line(result.version) or "unknown",
        "rules": [_descriptor(rule) for rule in rules],
    }


def _descriptor(rule: Rule) -> dict[str, Any]:
    tags = ["correctness", "concurrency"]
    if rule.weakness is not None:
        tags.append(f"external/cwe/cwe-{rule.weakness:03}")
    found: dict[str, Any] = {
        "id": clean(rule.id),
        "name": clean(rule.name),
        "shortDescription": {"text": text_of(rule.summary)},
        "fullDescription": {"text": text_of(rule.description)},
        "defaultConfiguration": {"level": "note" if rule is UNDECIDED else "error"},
        "properties": {"tags": tags},
    }
    if rule is not UNDECIDED:
        found["properties"]["precision"] = "very-high"
    if rule.advice:
        found["help"] = {"text": text_of(rule.advice)}
    return found


def _failure(result: Result, places: Places, rules: list[Rule]) -> dict[str, Any]:
    violation = result.violation or Violation(_violated(result), result.reason, 1, None)
    place = _place_of(violation, result)
    related = [
        {"id": number, **places.location(other, text_of(told))}
        for number, (other, told) in enumerate(_related(result, violation), 1)
    ]
    found: dict[str, Any] = {
        **_rule_reference(_violated(result), rules),
        "kind": "fail",
        "level": "error",
        "message": {"text": _failure_message(result, violation)},
        "locations": [] if place is None else [places.location(place)],
    }
    if related:
        found["relatedLocations"] = related
    flow = code_flow(result, places)
    if flow is not None:
        found["codeFlows"] = [flow]
    found["partialFingerprints"] = _fingerprints(violation_fingerprint(violation), place, places)
    return found


def _open_question(result: Result, places: Places, rules: list[Rule]) -> dict[str, Any]:
    place = _first_place(result)
    names = ", ".join(result.properties) or "the properties"
    told = f"not decided: {names} ({result.reason or 'unknown'})"
    return {
        **_rule_reference(UNDECIDED.id, rules),
        "kind": "open",
        "level": "none",
        "message": {"text": text_of(told)},
        "locations": [] if place is None else [places.location(place)],
        "partialFingerprints": _fingerprints(question_fingerprint(result), place, places),
    }


def _rule_reference(name: str, rules: list[Rule]) -> dict[str, Any]:
    return {"ruleId": clean(name), "ruleIndex": [rule.id for rule in rules].index(name)}


def _fingerprints(own: str, place: Place | None, places: Places) -> dict[str, str]:
    found = {"plait/v1": own}
    lines = [] if place is None else places.lines(place.file)
    if place is not None and 0 < place.line <= len(lines):
        found["primaryLocationLineHash"] = line_hash(lines, place.line)
    return found


def _failure_message(result: Result, violation: Violation) -> str:
    """What is violated, with links to the first of those related places that explain it."""
    what = violation.message or result.reason or "violated"
    if not violation.accesses and not violation.waiting:
        what += f" in {thread_name(result, violation.thread)}"
    first = _located(_explanations(result, violation))[:MAX_LINKS]
    links = [f"{link(told, number)}." for number, (_, told) in enumerate(first, 1)]
    return " ".join([text_of(f"{what}."), *links])


def _related(result: Result, violation: Violation) -> list[tuple[Place, str]]:
    """What else to look at, the explanations first."""
    found = _explanations(result, violation)
    for access in violation.accesses:
        if access.last is not None:
            what = operation_phrase(access.last.operation)
            who = thread_name(result, access.thread)
            found.append((access.last.place, f"last synchronisation of {who}: {what}"))
    for thread in result.threads:
        found.append((thread.place, f"{thread_name(result, thread.number)} is created here"))
    return _located(found)[:MAX_RELATED]


def _explanations(result: Result, violation: Violation) -> list[_Told]:
    """The accesses of a race, who waits for whom, and where the values come from that the failure
    depends on."""
    found: list[_Told] = []
    found += [(item.place, one_line_texts.access(result, item)) for item in violation.accesses]
    if not violation.accesses:
        found.append((violation.other_place, "the other access"))
    found += [(item.place, waiting_phrase(result, item)) for item in violation.waiting]
    found += [(item.place, cause_phrase(result, item)) for item in violation.causes]
    return found


def _located(found: list[_Told]) -> list[tuple[Place, str]]:
    return [(place, told) for place, told in found if place is not None and place.file]


def _place_of(violation: Violation, result: Result) -> Place | None:
    """GitHub wants a place for every result, also for those that belong to none."""
    known = [one_line_texts.main_place(violation)]
    known += [row.place for row in reversed(result.trace) if row.thread == violation.thread]
    return next((place for place in known if place and place.file), _first_place(result))


def _first_place(result: Result) -> Place | None:
    known = [_unsupported_place(item) for item in result.unsupported]
    known += [Place(path, 1, 1, "") for path in result.files]
    return next((place for place in known if place.file), None)


def _unsupported_place(item: Unsupported) -> Place:
    return Place(item.file, item.line, item.column, item.source_line)


def _invocation(result: Result, places: Places) -> dict[str, Any]:
    failed = result.report is not None
    found: dict[str, Any] = {
        "executionSuccessful": not failed,
        "exitCode": one_line_texts.EXIT_CODES.get(result.verdict, 3),
        "exitCodeDescription": text_of(_verdict_line(result)),
    }
    if result.arguments:
        found["arguments"] = [clean(item) for item in result.arguments]
    notes = [_notification(item, places) for item in result.unsupported]
    if failed:
        text = text_of(result.reason or "internal error")
        notes.append({"level": "error", "message": {"text": text}})
    if notes:
        found["toolExecutionNotifications"] = notes
    return found


def _notification(item: Unsupported, places: Places) -> dict[str, Any]:
    found: dict[str, Any] = {
        "level": "warning",
        "message": {"text": text_of(item.message) or "not supported"},
    }
    if item.file:
        found["locations"] = [places.location(_unsupported_place(item))]
    return found


def _verdict_line(result: Result) -> str:
    if result.verdict == "true":
        return "the properties hold"
    if result.verdict == "false":
        return f"violated: {result.violated or 'a property'}"
    return f"not decided: {result.reason}"


def _category(result: Result) -> str:
    """GitHub keeps the results of one category for each commit; a later upload replaces them. So
    each question about each program needs its own."""
    files = "+".join(uri(path) for path in result.files if path)
    if len(files) > MAX_CATEGORY:
        files = hashlib.sha256(files.encode()).hexdigest()[:16]
    return f"plait/{'+'.join(one_line(name) for name in result.properties)}/{files}/"


def _summary(result: Result) -> dict[str, Any]:
    """What the verdict is worth, for those who read the log with other tools."""
    return {
        "verdict": clean(result.verdict),
        "violated": None if result.violated is None else clean(result.violated),
        "reason": clean(result.reason),
        "properties": [clean(name) for name in result.properties],
        "engine": clean(result.engine),
        "bound": result.bound,
        "entry": clean(result.entry),
        "dataModel": clean(result.data_model),
        "assumptions": [clean(item) for item in result.assumptions],
        "words": [clean(item) for item in result.words],
    }
