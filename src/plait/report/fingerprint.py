"""Which violations in two versions of a program are the same one: neither line numbers nor paths
count, nor which of several equal threads does what."""

from __future__ import annotations

import hashlib
import json

from plait.evidence.result import Place, Result, Violation
from plait.report.characters import one_line, to_bytes

_WINDOW = 100
_BASE = 37
_END_OF_FILE = 0xFFFF
_MODULUS = 1 << 64


def violation_fingerprint(violation: Violation) -> str:
    places = [violation.place]
    places += [item.place for item in violation.accesses]
    places += [item.place for item in violation.waiting]
    if not violation.accesses:
        places.append(violation.other_place)
    texts = sorted({_text(place) for place in places if place is not None})
    return _hash([violation.property, *texts])


def question_fingerprint(result: Result) -> str:
    """What was asked about the program, not how it was answered."""
    return _hash(["undecided", *sorted(result.properties), result.entry])


def line_hash(lines: list[str], number: int) -> str:
    """The hash by which GitHub recognises a line: of the 100 characters from its beginning on,
    without blanks, as UTF-16 and as digits of a number to the base 37; and how many lines up to
    this one have that hash. GitHub's upload action complains about any other value."""
    units: list[int] = []
    starts: list[int] = []
    for line in lines:
        starts.append(len(units))
        text = to_bytes(line).decode("utf-8", "replace").rstrip("\r\n")
        data = text.replace(" ", "").replace("\t", "").encode("utf-16-le")
        units += [data[at] | data[at + 1] << 8 for at in range(0, len(data), 2)]
        units.append(ord("\n"))
    units.append(_END_OF_FILE)
    hashes = [_window_hash(units[start : start + _WINDOW]) for start in starts[:number]]
    return f"{hashes[-1]:x}:{hashes.count(hashes[-1])}"


def _window_hash(units: list[int]) -> int:
    value = 0
    for unit in units:
        value = (value * _BASE + unit) % _MODULUS
    return value * pow(_BASE, _WINDOW - len(units), _MODULUS) % _MODULUS


def _text(place: Place) -> str:
    return f"{place.function}: {one_line(place.text)}"


def _hash(parts: list[str]) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]
