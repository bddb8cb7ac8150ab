"""Results as JUnit XML: one test case for each property, as Jenkins, GitLab and GitHub's readers
expect it. docs/ci.md says what becomes of each verdict, and why."""

from __future__ import annotations

import posixpath
import xml.etree.ElementTree as xml

from plait.evidence.property_parts import property_with
from plait.evidence.result import Place, Result
from plait.report import one_line_texts
from plait.report.characters import clean, one_line
from plait.report.phrases import input_phrases, thread_name
from plait.report.rules import rule_named
from plait.report.text import explanation_lines

MAX_ROWS = 1_000  # of the trace; the readers show the text as a whole


def to_junit(result: Result) -> str:
    """The same result always gives the same text: there is no time of day in it."""
    names = list(dict.fromkeys(result.properties)) or ["properties"]
    violated = property_with(result.violated or names[0], names)
    if result.verdict == "false" and violated not in names:
        names.append(violated)
    seconds = _seconds(result)
    counts = {
        "tests": len(names),
        "failures": 1 if result.verdict == "false" else 0,
        "errors": len(names) if result.verdict == "unknown" else 0,
        "skipped": len(names) - 1 if result.verdict == "false" else 0,
    }
    totals = {key: str(value) for key, value in counts.items()} | {"time": f"{seconds:.3f}"}
    suites = xml.Element("testsuites", {"name": "plait", **totals})
    suite = xml.SubElement(suites, "testsuite", {"name": _suite_name(result), **totals})
    properties = xml.SubElement(suite, "properties")
    for key, value in _facts(result).items():
        xml.SubElement(properties, "property", {"name": key, "value": one_line(value)})
    for name in names:
        case = xml.SubElement(suite, "testcase", _case(result, name, seconds / len(names)))
        if result.verdict == "false":
            _failed_or_skipped(case, result, name, violated)
        elif result.verdict == "unknown":
            attributes = {"message": _message(result), "type": "unknown"}
            _text(xml.SubElement(case, "error", attributes), _unknown_text(result))
    _text(xml.SubElement(suite, "system-out"), "\n".join(_words(result)))
    xml.indent(suites, " ")
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + xml.tostring(suites, "unicode") + "\n"


def _failed_or_skipped(case: xml.Element, result: Result, name: str, violated: str) -> None:
    if name == violated:
        attributes = {"message": _message(result), "type": one_line(result.violated or violated)}
        _text(xml.SubElement(case, "failure", attributes), _failure_text(result))
    else:
        message = f"not decided: the search ended with the violation of {violated}"
        xml.SubElement(case, "skipped", {"message": one_line(message)})


def _case(result: Result, name: str, seconds: float) -> dict[str, str]:
    place = _place(result)
    found = {"name": one_line(name), "classname": _class_name(result), "time": f"{seconds:.3f}"}
    if place is not None:
        found["file"] = one_line(place.file)
        if place.line > 0:
            found["line"] = str(place.line)
    return found


def _place(result: Result) -> Place | None:
    known = [] if result.violation is None else [one_line_texts.main_place(result.violation)]
    known += [Place(path, 0, 0, "") for path in result.files]
    return next((place for place in known if place is not None and place.file), None)


def _suite_name(result: Result) -> str:
    return one_line(" ".join(result.files)) or "plait"


def _class_name(result: Result) -> str:
    """Readers take dots as levels: examples/counter_race.c is shown under plait, examples."""
    first = posixpath.splitext(next(iter(result.files), ""))[0]
    parts = [part.replace(".", "_") for part in first.split("/") if part not in ("", ".", "..")]
    return one_line(".".join(["plait", *parts]))


def _facts(result: Result) -> dict[str, str]:
    facts = {
        "plait.version": result.version,
        "plait.verdict": result.verdict,
        "plait.engine": result.engine,
        "plait.entry": result.entry,
        "plait.data_model": result.data_model,
    }
    return facts if result.bound is None else facts | {"plait.bound": str(result.bound)}


def _seconds(result: Result) -> float:
    for key in ("wall_seconds", "seconds"):
        value = result.statistics.get(key)
        if isinstance(value, int | float) and 0 <= value < 1e9:
            return float(value)
    return 0.0


def _message(result: Result) -> str:
    found = result.violation.message if result.violation is not None else ""
    return one_line(found or result.reason) or result.verdict


def _failure_text(result: Result) -> str:
    """Where and what, the trace with one line for each row, and what to do."""
    place = one_line_texts.where(_place(result))
    lines = explanation_lines(result) or [f"{place}: {_message(result)}"]
    if result.trace:
        lines += ["", *_trace(result)]
    advice = rule_named(result.violated or "").advice
    return "\n".join(lines + (["", advice] if advice else []))


def _trace(result: Result) -> list[str]:
    left_out = max(len(result.trace) - MAX_ROWS, 0)
    rows = result.trace[left_out:]
    lines = [f"({left_out} earlier rows are left out)"] if left_out else []
    cells = [
        (f"{row.step:>4}", thread_name(result, row.thread), one_line_texts.where(row.place))
        for row in rows
    ]
    widths = [max(len(cell[column]) for cell in cells) for column in range(3)]
    inputs = input_phrases(result)
    for row, cell, named in zip(rows, cells, inputs[-len(rows) :]):
        head = "  ".join(text.ljust(width) for text, width in zip(cell, widths))
        lines.append(f"{head}  {one_line_texts.row(row, named)}")
    return lines


def _unknown_text(result: Result) -> str:
    lines = [f"{result.verdict}: {result.reason}"]
    for item in result.unsupported:
        place = Place(item.file, item.line, item.column, "")
        lines.append(f"{one_line_texts.where(place)}: {item.message}")
    return "\n".join(lines)


def _words(result: Result) -> list[str]:
    lines = list(result.words)
    if result.assumptions:
        lines += ["assumptions:", *(f"  - {item}" for item in result.assumptions)]
    detail = {"false": result.violated, "unknown": result.reason}.get(result.verdict)
    return [*lines, f"VERDICT: {result.verdict}" + (f" ({detail})" if detail else "")]


def _text(element: xml.Element, text: str) -> None:
    element.text = clean(text)
