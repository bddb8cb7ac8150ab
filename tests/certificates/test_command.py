"""`plait check`: the last line, exit codes, limits, and mistakes in the file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from plait.cli.main import main
from plait.cli.parser import parse
from plait.portfolio.arguments import as_arguments
from tests.certificates.building import Builder, Document, program_of

TEXT = """
#include <assert.h>
#include <pthread.h>
#ifndef LIMIT
#define LIMIT 2
#endif
int x; pthread_mutex_t m;
void *f(void *unused) {
  pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m); return 0; }
int main(void) {
  pthread_t t; pthread_create(&t, 0, f, 0); f(0); pthread_join(t, 0); assert(x == LIMIT); return 0; }
"""


@pytest.fixture
def proof(tmp_path: Path) -> tuple[Path, Path, Document]:
    """The source, the certificate's file, and what is in it."""
    program = program_of(tmp_path, TEXT)
    source = tmp_path / "program.c"
    document = Builder(program).document()
    return source, tmp_path / "proof.json", document


def run(
    capsys: pytest.CaptureFixture[str], file: Path, document: Document, *arguments: str
) -> tuple[int, str]:
    file.write_text(json.dumps(document))
    asked = () if "--property" in arguments else ("--property", "assertions")
    code = main(["check", str(file), *asked, *arguments])
    shown = capsys.readouterr()
    return code, (shown.out + shown.err).rstrip().splitlines()[-1]


def test_answers(
    capsys: pytest.CaptureFixture[str], proof: tuple[Path, Path, Document], tmp_path: Path
) -> None:
    source, file, document = proof
    assert run(capsys, file, document, str(source)) == (0, "CERTIFICATE: accepted")
    moved = tmp_path / "moved.c"
    moved.write_text(TEXT)
    assert run(capsys, file, document, str(moved)) == (0, "CERTIFICATE: accepted")
    moved.write_text(TEXT.replace("x++", "x += 2"))
    code, last = run(capsys, file, document, str(moved))
    assert (code, last.partition(" (")[0]) == (1, "CERTIFICATE: rejected")
    code, last = run(capsys, file, document, "--timeout", "0.001", str(source))
    assert (code, last) == (3, "CERTIFICATE: unknown (time limit of 0.001 s)")


def test_the_first_failing_step_is_said(
    capsys: pytest.CaptureFixture[str], proof: tuple[Path, Path, Document]
) -> None:
    source, file, document = proof
    document["nodes"][3]["expanded"] = []
    document["nodes"] = [node for number, node in enumerate(document["nodes"]) if number <= 3]
    code, last = run(capsys, file, document, str(source))
    assert code == 1
    assert last.startswith("CERTIFICATE: rejected (node ")


def test_what_is_asked_is_what_must_be_claimed(
    capsys: pytest.CaptureFixture[str], proof: tuple[Path, Path, Document]
) -> None:
    source, file, document = proof
    for arguments in (
        ["-D", "LIMIT=3"],
        ["--property", "no-overflow"],
        ["--property", "assertions,lock-misuse"],
        ["--property", "unreach-call"],
        ["--property", "no-data-race"],
        ["--data-model", "ILP32"],
    ):
        code, last = run(capsys, file, document, *arguments, str(source))
        assert code == 1
        assert last.endswith("; it was made with no options)")
    document["options"] = ["-D", "A B=\x1b[2K"]
    code, last = run(capsys, file, document, str(source))
    assert (code, last) == (0, "CERTIFICATE: accepted")
    code, last = run(capsys, file, document, "--entry", "f", str(source))
    assert code == 1
    assert last.endswith("; it was made with -D 'A B=\\x1b[2K')")
    code, last = run(capsys, file, document, "--property", "made-up", str(source))
    assert code == 2


def test_the_properties_of_a_certificate(
    capsys: pytest.CaptureFixture[str], proof: tuple[Path, Path, Document]
) -> None:
    """A certificate that claims more or less than the proof is about is rejected, whatever is
    asked."""
    source, file, document = proof
    for claim in (["no-overflow"], ["assertions", "no-overflow"], ["no-data-race"], []):
        other = document | {"properties": claim}
        for asked in (["--property", ",".join(claim)] if claim else [], []):
            code, last = run(capsys, file, other, *asked, str(source))
            assert code == 1, (claim, asked)
            assert last.startswith("CERTIFICATE: rejected (")


def test_arguments_can_be_given_again(proof: tuple[Path, Path, Document]) -> None:
    arguments = ["--property", "no-overflow", "--error-function", "g", "-I", "a", "-D", "B=1"]
    arguments += ["-U", "C", "-include", "d.h", "--std", "c11", "--data-model", "ILP32"]
    arguments += ["--entry", "start", "--compile-commands", "e", "--args", "f 'g h'"]
    arguments += ["--no-spurious-wakeups"]
    options = parse(["verify", *arguments, str(proof[0])])
    assert as_arguments(options) == arguments
    assert as_arguments(parse(["verify", str(proof[0])])) == []
    again = parse(["check", "proof.json", *as_arguments(options), str(proof[0])])
    assert as_arguments(again) == arguments


def test_unusable_input(
    capsys: pytest.CaptureFixture[str], proof: tuple[Path, Path, Document], tmp_path: Path
) -> None:
    source, file, document = proof
    assert run(capsys, file, document, str(tmp_path / "none.c"))[0] == 2
    file.write_bytes(b"\xff\xfe{}")
    assert main(["check", str(file), str(source)]) == 2
    file.write_text("{}")
    assert main(["check", str(file), str(source)]) == 2
    assert main(["check", str(tmp_path), str(source)]) == 2
    assert "plait:" in capsys.readouterr().err
    with pytest.raises(SystemExit) as stop:
        main(["check", str(file)])
    assert stop.value.code == 2


def test_a_default_run_can_be_certified(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    source, file = tmp_path / "program.c", tmp_path / "proof.json"
    source.write_text(TEXT)
    assert main(["verify", "--no-cache", "--certificate", str(file), str(source)]) == 0
    assert main(["check", str(file), str(source)]) == 0
    shown = capsys.readouterr().out
    assert "valid-access" in shown and "by an analysis of pointers" in shown


def test_no_certificate_shows_what_only_exact_lives_show(
    capsys: pytest.CaptureFixture[str], proof: tuple[Path, Path, Document]
) -> None:
    source, file, document = proof
    source.write_text(
        "int *g; void f(int n) { int x; g = &x; if (n) f(n - 1); }"
        "int main(void) { f(2); return 0; }"
    )
    code, last = run(capsys, file, document, "--property", "valid-access", str(source))
    assert code not in (0, 1) and "may outlive it" in last
