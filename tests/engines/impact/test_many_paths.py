"""Blocks with more paths than anybody could look at one by one."""

from __future__ import annotations

import json
import time
from pathlib import Path

from tests.engines.impact.helpers import loaded, outcome_of

from plait.certificates.check import check
from plait.certificates.fingerprint import fingerprint
from plait.certificates.reading import read
from plait.certificates.verdicts import Ruling
from plait.engines.interface import Answer, Outcome
from plait.model.program import Program
from plait.model.properties import Specification

HEAD = "#include <assert.h>\n#include <pthread.h>\nextern int __VERIFIER_nondet_int(void);\n"


def branches(count: int, text: str) -> str:
    return " ".join(text.replace("#", str(number)) for number in range(count))


def verified(text: str, folder: Path) -> tuple[Program, Outcome]:
    path = folder / "program.c"
    path.write_text(HEAD + text)
    program = loaded(path)
    return program, outcome_of(program, seconds=60)


SUM = branches(20, "{ int a# = __VERIFIER_nondet_int(); if (a# > 3) s += a# & 1; else s ^= 0; }")


def test_a_million_paths_are_proved(tmp_path: Path) -> None:
    text = f"int main(void) {{ int s = 0; {SUM} assert(s <= 20); return 0; }}"
    assert verified(text, tmp_path)[1].answer is Answer.HOLDS


def test_a_violation_behind_a_million_paths_is_replayed(tmp_path: Path) -> None:
    text = f"int main(void) {{ int s = 0; {SUM} assert(s < 20); return 0; }}"
    assert verified(text, tmp_path)[1].answer is Answer.VIOLATED


def test_inputs_that_only_some_paths_ask_for(tmp_path: Path) -> None:
    """All inputs have one name, so that a value too much would go to the wrong place."""
    asked = branches(
        12,
        "if (s & 1) { s += __VERIFIER_nondet_int() & 7; if (s > 9) s -= 4; }"
        "else { int a# = __VERIFIER_nondet_int(); if (a# > 2 && a# < 9) s += a#; }",
    )
    text = f"int main(void) {{ unsigned s = 0; {asked} assert(s != 42); return 0; }}"
    assert verified(text, tmp_path)[1].answer is Answer.VIOLATED


def test_the_certificate_of_a_section_with_many_paths(tmp_path: Path) -> None:
    """The checker executes each path by itself, from the same locations and labels."""
    section = branches(7, "if (x & (1 << #)) y += #; else z++;")
    text = (
        "extern void __VERIFIER_atomic_begin(void), __VERIFIER_atomic_end(void);"
        "unsigned x, y, z; void *t(void *a) { while (1) {"
        f"__VERIFIER_atomic_begin(); y = z = 0; {section} __VERIFIER_atomic_end(); }} }}"
        "int main(void) { pthread_t a, b; x = __VERIFIER_nondet_int();"
        "pthread_create(&a, 0, t, 0); pthread_create(&b, 0, t, 0);"
        "__VERIFIER_atomic_begin(); assert(y <= 21 && z <= 7); __VERIFIER_atomic_end();"
        "return 0; }"
    )
    program, outcome = verified(text, tmp_path)
    assert outcome.answer is Answer.HOLDS, outcome.reason
    assert outcome.proof is not None
    document = outcome.proof.certificate() | {"options": [], "fingerprint": fingerprint(program)}
    deadline = time.monotonic() + 120
    verdict = check(program, Specification(), read(json.dumps(document)), deadline)
    assert verdict.answer is Ruling.ACCEPTED, verdict.reason
