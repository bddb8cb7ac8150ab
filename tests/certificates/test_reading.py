"""Files that are no certificates: a message that says what is wrong and where, never a traceback."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from plait.certificates.check import check
from plait.certificates.document import Certificate, RegisterName
from plait.certificates.json_values import CertificateError
from plait.certificates.reading import read
from plait.certificates.verdicts import Ruling
from plait.model.program import Program
from tests.certificates.building import ASSERTIONS, Builder, Document, changed, program_of

TEXT = """
#include <assert.h>
#include <pthread.h>
int x;
void *f(void *unused) { int local[2] = {1, 2}; x = local[x & 1]; return 0; }
int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); assert(x < 2); return 0; }
"""


@pytest.fixture(scope="module")
def proof(tmp_path_factory: pytest.TempPathFactory) -> tuple[Program, Document]:
    program = program_of(tmp_path_factory.mktemp("source"), TEXT)
    document = Builder(program).document()
    cell = next(iter(document["initial"]))
    width = 8 * int(cell.split(".")[1])
    document["terms"] = [
        ["variable", width, [], 0, f"m{cell}"],
        ["constant", width, [], 1, ""],
        ["eq", 1, [0, 1], 0, ""],
        ["eq", 1, [0, 0], 0, None],
        ["or", 1, [2, 3], 0, ""],
        ["extract", 1, [0], 3, ""],
        ["ite", 1, [2, 3, 5], 0, ""],
        ["concat", 2, [2, 3], 0, ""],
    ]
    document["nodes"][1]["label"] = [4]
    return program, document


def complaint(document: Any) -> str:
    with pytest.raises(CertificateError) as caught:
        read(document if isinstance(document, str) else json.dumps(document))
    return str(caught.value)


def test_what_is_read(proof: tuple[Program, Document]) -> None:
    program, document = proof
    certificate = read(json.dumps(document))
    assert isinstance(certificate, Certificate)
    assert len(certificate.nodes) == len(document["nodes"])
    assert check(program, ASSERTIONS, certificate).answer is Ruling.ACCEPTED
    assert not any(isinstance(item, RegisterName) for item in certificate.meanings.values())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not JSON"),
        ("{", "not JSON"),
        ("[" * 100_000, "nested"),
        ("null", "an object expected"),
        ("[]", "an object expected"),
        ("{}", "'format' is missing"),
        ('{"format": 1}', "certificate.format: a string expected"),
        ('{"format": "x"}', "'plait-certificate' expected"),
        ('{"format": "plait-certificate", "version": 2}', "version 1"),
        ('{"format": "plait-certificate", "version": 1, "version": 1}', "twice"),
        ('{"format": "plait-certificate", "version": NaN}', "NaN"),
        ('{"format": "plait-certificate", "version": 1' + "0" * 5000 + "}", "certificate"),
        ('{"format": "plait-certificate", "version": true}', "a number expected"),
        ('{"format": "plait-certificate", "version": 1.0}', "a number expected"),
    ],
)
def test_no_certificate(text: str, words: str) -> None:
    assert words in complaint(text)


def _term(index: int, *values: Any) -> Callable[[Document], None]:
    def change(document: Document) -> None:
        document["terms"][index] = list(values)

    return change


def _node(number: int, **values: Any) -> Callable[[Document], None]:
    def change(document: Document) -> None:
        document["nodes"][number].update(values)

    return change


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (_term(2, "equal", 1, [0, 1], 0, ""), "terms[2][0]: no operator"),
        (_term(2, "eq", 1, [0, 2], 0, ""), "terms[2][2][1]: operands come before"),
        (_term(2, "eq", 1, [0, 7], 0, ""), "come before"),
        (_term(2, "eq", 1, [0, -1], 0, ""), "out of range"),
        (_term(2, "eq", 2, [0, 1], 0, ""), "one bit"),
        (_term(2, "eq", 1, [0], 0, ""), "operands"),
        (_term(2, "not", 1, [0], 0, ""), "width"),
        (_term(2, "constant", 1, [], 2, ""), "does not fit"),
        (_term(2, "constant", 1, [0], 1, ""), "operands"),
        (_term(2, "constant", 0, [], 0, ""), "at least one bit"),
        (_term(2, "constant", 10**9, [], 0, ""), "out of range"),
        (_term(2, "variable", 1, [], 0, "x"), "neither"),
        (_term(2, "variable", 1, [], 0, "m5.1"), "bits"),
        (_term(2, "variable", 1, [], 0, "m5.0"), "no cell"),
        (_term(2, "variable", 32, [], 0, "t1.0.99999999999999999999999"), "neither"),
        (_term(2, "eq", 1, [0, 1], 0, "name"), "only variables have names"),
        (_term(2, "eq", 1, [0, 1], 5, ""), "parameter"),
        (_term(2, "eq", 1, [0, 1], 0), "a list of 5 items"),
        (_term(5, "extract", 1, [0], 900, ""), "terms[5]"),
        (_term(5, "zero_extend", 1, [0], 0, ""), "narrower"),
        (_term(6, "ite", 1, [0, 3, 5], 0, ""), "operands"),
        (_node(0, parent=0), "a parent and a thread"),
        (_node(1, parent=None), "a parent and a thread"),
        (_node(1, parent=1), "before its children"),
        (_node(1, parent=10**6), "before its children"),
        (_node(1, thread=2), "not expanded at the parent"),
        (_node(1, label=[0]), "truth values"),
        (_node(1, label=[99]), "come before"),
        (_node(1, cover=10**6), "no such node"),
        (_node(1, cover=1), "not covered itself"),
        (_node(1, expanded=[1, 1]), "only once"),
        (_node(1, expanded=[7]), "not running"),
        (_node(1, more=1), "nothing of that name"),
        (_node(1, location={"threads": [], "heap": {}, "cells": {}}), "threads"),
        (lambda d: d["initial"].update({"1.2.3": 0}), "no number"),
        (lambda d: d["initial"].update({"01.4": 0}), "no number"),
        (lambda d: d["initial"].update({"5": 0}), "no cell"),
        (lambda d: d["initial"].update({"5.4": 1 << 32}), "out of range"),
        (lambda d: d["initial"].update({"8.4": 1, "10.4": 1}), "overlap"),
        (lambda d: d.update(nodes=[]), "no node"),
        (lambda d: d.update(fingerprint="0"), "64 hexadecimal"),
        (lambda d: d.update(properties="assertions"), "a list expected"),
        (lambda d: d["nodes"][1]["location"]["heap"].update({"7": 4}), "a list expected"),
        (lambda d: d["nodes"][1]["location"]["threads"][0].update(status="?"), "status"),
        (lambda d: d["nodes"][1]["location"]["threads"][0].update(frames=[]), "frames"),
        (lambda d: d["nodes"][1]["location"]["threads"][0].update(status="ended"), "frames"),
    ],
)
def test_malformed(
    proof: tuple[Program, Document], change: Callable[[Document], None], words: str
) -> None:
    document = changed(proof[1])
    change(document)
    assert words in complaint(document)


def test_frames_that_the_program_does_not_have(proof: tuple[Program, Document]) -> None:
    program, document = proof
    for name, value in [
        ("function", "nobody"),
        ("location", 10**6),
        ("registers", {"999": 1}),
        ("slots", {"999": 1}),
    ]:
        other = changed(document)
        other["nodes"][1]["location"]["threads"][0]["frames"][-1][name] = value
        verdict = check(program, ASSERTIONS, read(json.dumps(other)))
        assert verdict.answer is Ruling.REJECTED
        assert verdict.reason.startswith("node 1: thread 1, frame")


_ODD = [None, True, -1, 0, 1, 2, 7, 2**64, 1.5, "", "1", "main", "t1.0.0", [], [1], {}, {"1": 1}]


def _mutated(generator: random.Random, document: Document) -> Document:
    """The document with something, somewhere, replaced, removed, or moved."""
    made = changed(document)
    for _ in range(generator.choice([1, 1, 2, 5])):
        place: Any = made
        while True:
            if not place or not isinstance(place, (list, dict)):
                break
            key = (
                generator.randrange(len(place))
                if isinstance(place, list)
                else generator.choice(sorted(place))
            )
            inner = place[key]
            if isinstance(inner, (list, dict)) and inner and generator.random() < 0.85:
                place = inner
                continue
            what = generator.randrange(4)
            if what == 0:
                del place[key]
            elif what == 1 and type(inner) is int:
                place[key] = inner + generator.choice([-1, 1, 2])
            elif what == 2 and isinstance(place, list):
                place.insert(key, place[generator.randrange(len(place))])
            else:
                place[key] = generator.choice(_ODD)
            break
    return made


@pytest.mark.parametrize("seed", range(4))
def test_random_changes(proof: tuple[Program, Document], seed: int) -> None:
    program, document = proof
    generator = random.Random(seed)
    read_well = 0
    for _ in range(150):
        other = _mutated(generator, document)
        try:
            certificate = read(json.dumps(other))
        except CertificateError as error:
            assert str(error).startswith("certificate")
            continue
        read_well += 1
        check(program, ASSERTIONS, certificate)  # whatever the answer is
    assert read_well


def test_random_text(proof: tuple[Program, Document]) -> None:
    generator = random.Random(0)
    text = json.dumps(proof[1])
    for _ in range(100):
        place = generator.randrange(len(text))
        junk = "".join(generator.choice('{}[]",:0123456789-eE \\u"\x00é') for _ in range(3))
        try:
            read(text[:place] + junk + text[place + generator.randrange(4) :])
        except CertificateError:
            pass


def test_a_missing_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from plait.cli.main import main

    source = tmp_path / "p.c"
    source.write_text("int main(void) { return 0; }")
    assert main(["check", str(tmp_path / "none.json"), str(source)]) == 2
    assert "none.json" in capsys.readouterr().err
