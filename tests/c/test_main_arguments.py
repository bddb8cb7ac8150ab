"""`argc` and `argv` are inputs, unless `--args` fixes them."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Unpack

import pytest

import plait
from plait.api import Choices
from plait.c import FrontEndOptions, load
from plait.cli.main import main
from plait.errors import InputError
from plait.model.main_arguments import given_arguments
from plait.model.properties import Specification, from_names
from plait.portfolio.subject import Subject, arguments_of_main
from plait.semantics.explore import Verdict, explore
from plait.semantics.run import run
from tests.c.support import write

THREADS = """#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int x; pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
void *f(void *p) { LOCK x = x + 1; UNLOCK return 0; }
static int usage(const char *name) { printf("usage: %s\\n", name); return 2; }
int main(int argc, char **argv) { BEGIN
  pthread_t t; pthread_create(&t, 0, f, 0); LOCK x = x + 1; UNLOCK pthread_join(t, 0);
  assert(x == 2); return 0; }"""


def _text(begin: str, *, is_right: bool) -> str:
    lock, unlock = (
        ("pthread_mutex_lock(&m);", "pthread_mutex_unlock(&m);") if is_right else ("", "")
    )
    text = THREADS.replace("UNLOCK", unlock).replace("LOCK", lock)
    return text.replace("BEGIN", begin)


def _verify(path: Path, text: str, **choices: Unpack[Choices]) -> plait.Result:
    path.write_text(text)
    return plait.verify(str(path), **{"timeout": 120, "cache": False, **choices})


USAGE = "if (argc < 2) return usage(argv[0]);"


@pytest.mark.parametrize("engine", ["orders", "impact", "auto"])
def test_threads_behind_a_test_of_argc(engine: str, tmp_path: Path) -> None:
    path = tmp_path / "usage.c"
    assert _verify(path, _text(USAGE, is_right=False), engine=engine).verdict == "false"
    assert _verify(path, _text(USAGE, is_right=True), engine=engine).verdict == "true"


def test_modular_engine_does_not_take_argc_for_1(tmp_path: Path) -> None:
    path = tmp_path / "argc.c"
    text = "#include <assert.h>\nint main(int argc, char **argv) { if (argc > N) assert(0); }"
    for number in (1, 4, 5, 1000):
        found = _verify(path, text.replace("N", str(number)), engine="modular")
        assert found.verdict == "unknown"
    text = text.replace("argc > N", "argc < 0")
    for engine in ("modular", "orders", "impact"):
        assert _verify(path, text, engine=engine).verdict == "true"


@pytest.mark.parametrize("engine", ["orders", "auto"])
def test_what_an_argument_says(engine: str, tmp_path: Path) -> None:
    begin = "if (argc != 3 || atoi(argv[2]) != 42) return 1;"
    found = _verify(tmp_path / "atoi.c", _text(begin, is_right=False), engine=engine)
    assert found.verdict == "false"
    assert found.schedule is not None
    count, *strings = found.schedule["steps"][0]["inputs"]
    assert count == 3
    assert re.match(rb"\s*\+?0*42(?!\d)", strings[2].to_bytes(8, "little"))


@pytest.mark.parametrize(
    ("body", "verdict"),
    [
        ("assert(argc >= 0);", "true"),
        ("assert(argc > 0);", "false"),  # C17 5.1.2.2.1: it may be 0
        ("assert(argc != 3);", "false"),
        ("assert(argc != 1000);", "false"),
        ("if (argc <= 4) assert(argv[argc] == 0);", "true"),
        ("if (argc == 0) assert(argv[0] == 0);", "true"),
        ("if (argc > 1) assert(argv[1] != 0);", "true"),
        ("if (argc == 2) assert(argv[1][0] != 'x');", "false"),
        ("if (argc == 2) { argv[1][0] = 'x'; argv[0] = argv[1]; assert(argv[0][0] == 'x'); }",
         "true"),
        # More than is modelled at first.
        ("if (argc == 2) assert(strlen(argv[1]) < 9);", "false"),
        ("if (argc == 2) assert(argv[1][11] != 'x');", "false"),
        ("if (argc == 2) assert(strcmp(argv[1], \"--long-option\"));", "false"),
        ("if (argc == 2) assert(strncmp(argv[1], \"--long-option\", 13) <= 1 << 20);", "true"),
        ("if (argc > 6) assert(argv[6] != 0);", "true"),
        ("if (argc > 6) assert(argv[5][0] != 'x');", "false"),
        # More than is ever modelled: never true.
        ("assert(argv[argc] == 0);", "unknown"),
        ("if (argc > 5000000) assert(argv[5000000] != 0);", "unknown"),
        ("if (argc == 2) assert(argv[1][600] != 'x');", "unknown"),
        ("for (int i = 0; i < argc; i++) assert(argv[i] != 0);", "unknown"),
        ("if (argc == 2) assert(strlen(argv[1]) < 7);", "false"),
        ("if (argc == 1) assert(argv[2] == 0);", "false"),  # an invalid access
    ],
)  # fmt: skip
def test_any_arguments(body: str, verdict: str, tmp_path: Path) -> None:
    text = f"""#include <assert.h>
    #include <string.h>
    int main(int argc, char **argv) {{ {body} return 0; }}"""
    limit = 4 if verdict == "unknown" else 120  # an engine may unroll for as long as it is let
    for engine in ("orders", "auto"):
        found = _verify(tmp_path / "any.c", text, engine=engine, timeout=limit)
        assert found.verdict == verdict, (engine, found.reason)


@pytest.mark.parametrize("engine", ["auto", "orders", "impact"])
def test_longer_arguments_are_not_excluded_as_undefined(engine: str, tmp_path: Path) -> None:
    """That nothing undefined happens says nothing of what the program has more of."""
    text = """#include <assert.h>
    #include <string.h>
    int main(int argc, char **argv) { if (argc == 2) assert(BODY); return 0; }"""
    for body in ("strlen(argv[1]) < 8", "argv[1][8] == argv[1][9]"):
        found = _verify(
            tmp_path / "long.c", text.replace("BODY", body), engine=engine,
            assume_defined=True, property="assertions", timeout=20,
        )  # fmt: skip
        assert found.verdict != "true"


def test_sizes_of_arguments_are_part_of_the_answer(tmp_path: Path) -> None:
    """So that its schedule can be repeated."""
    path = tmp_path / "sizes.c"
    text = """#include <assert.h>
    #include <string.h>
    int main(int argc, char **argv) { if (argc == 2) assert(strcmp(argv[1], "0123456789")); }"""
    found = _verify(path, text)
    assert found.verdict == "false" and found.schedule is not None
    assert "--argument-bytes" in found.arguments
    row = [item for step in found.schedule["steps"] for item in step["inputs"]]
    assert b"0123456789\0" in b"".join(value.to_bytes(8, "little") for value in row[1:])
    fixed = _verify(path, text, args="0123456789")
    assert fixed.verdict == "false" and "--argument-bytes" not in fixed.arguments
    with pytest.raises(InputError, match="argument_bytes"):
        _verify(path, text, argument_bytes=100000)


def test_a_certificate_about_longer_arguments(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It says how long they have to be, and that is not a claim that has to be believed."""
    path, saved = tmp_path / "long.c", tmp_path / "proof.json"
    text = """#include <assert.h>
    int main(int argc, char **argv) { int n = 0; if (argc == 2 && argv[1][9] == 'x') n = 1;
      assert(n < 2); return 0; }"""
    found = _verify(path, text, engine="impact", certificate=True)
    assert found.verdict == "true" and found.certificate is not None
    saved.write_text(found.certificate)
    assert main(["check", str(saved), str(path)]) == 0
    assert "of each the first 32 bytes" in capsys.readouterr().out
    assert main(["check", str(saved), str(path), "--argument-bytes", "16"]) == 1
    assert "--argument-bytes 32" in capsys.readouterr().out
    path.write_text(text.replace("[9]", "[40]"))
    assert main(["check", str(saved), str(path)]) == 1


def test_what_lies_behind_an_argument_is_an_assumption(tmp_path: Path) -> None:
    """There it may be the next argument that is written, which would be undefined."""
    body = "if (argc == 3 && !argv[1][0]) argv[1][2] = 'x';"
    text = f"int main(int argc, char **argv) {{ {body} return 0; }}"
    assumption = "no argument of main is accessed behind its end within these 8 bytes"
    program = load(write(tmp_path, main=text), FrontEndOptions(), Specification())
    assert assumption in program.assumptions
    fixed = FrontEndOptions(arguments=("p", "", "b"))
    program = load(write(tmp_path, main=text), fixed, Specification())
    assert assumption not in program.assumptions
    assert run(program, Specification(), seed=0).ending == "undefined behaviour"


def test_memory_safety_needs_fixed_arguments(tmp_path: Path) -> None:
    text = """#include <string.h>
    int main(int argc, char **argv) { char copy[8]; if (argc == 2) strcpy(copy, argv[1]); return 0; }"""
    path = tmp_path / "copy.c"
    found = _verify(path, text, property="valid-memsafety")
    assert found.verdict == "unknown" and "see --args" in found.reason
    assert _verify(path, text, property="valid-memsafety", args="1234567").verdict == "true"
    assert _verify(path, text, property="valid-memsafety", args="12345678").verdict == "false"


@pytest.mark.parametrize(
    "text",
    [
        "int main(int argc, char **argv) { return 0; }",
        "int main(int argc, char **argv) { (void)argc; (void)argv; return 0; }",
        "int main(int argc, char *argv[], char **envp) { return envp[0] != 0; }",
    ],
)
def test_arguments_that_nobody_looks_at(text: str, tmp_path: Path) -> None:
    program = load(write(tmp_path, main=text), FrontEndOptions(), Specification())
    explored = explore(program, Specification())
    assert explored.verdict is Verdict.TRUE
    assert not any("argv" in item.name for item in program.objects)


def test_fixed_arguments_are_said_first(tmp_path: Path) -> None:
    path = tmp_path / "fixed.c"
    found = _verify(path, _text(USAGE, is_right=False), args="")
    assert found.verdict == "true"
    assert "but only with the arguments '', with which no thread is started" in found.words[0]
    assert found.arguments == ["--args", ""]
    found = _verify(path, _text(USAGE, is_right=True), args="one")
    assert found.verdict == "true"
    assert "but only with the arguments 'one':" in found.words[0]
    assert _verify(path, _text(USAGE, is_right=False), args="one").verdict == "false"


def test_args_are_taken_apart_as_by_a_shell() -> None:
    assert arguments_of_main(None) is None
    assert arguments_of_main("") == ("./program",)
    assert arguments_of_main("a 'b c' \"d\"") == ("./program", "a", "b c", "d")
    with pytest.raises(InputError, match="No closing quotation"):
        Subject(programs=("x.c",), args="'").check()


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is missing: nothing to compare with")
def test_fixed_arguments_are_those_of_a_real_program(tmp_path: Path) -> None:
    text = """#include <stdio.h>
    int main(int argc, char **argv) { for (int i = 1; i <= argc; i++) {
      if (!argv[i]) { printf("end %d of %d\\n", i, argc); break; }
      for (char *p = argv[i]; *p; p++) printf("%d,", *p); printf(";"); } return 0; }"""
    (source,) = write(tmp_path, main=text)
    arguments = ("./program", "a", "", "b c", "\u00e9", "--x=1")
    binary = tmp_path / "program"
    subprocess.run(["gcc", "-w", source, "-o", str(binary)], check=True)
    real = subprocess.run(arguments, executable=binary, capture_output=True, check=True)
    program = load([source], FrontEndOptions(arguments=arguments), Specification())
    assert run(program, Specification(), seed=0).output == real.stdout


def test_arguments_of_an_execution() -> None:
    assert given_arguments([("f()", 1)]) is None
    assert given_arguments([("number of arguments", 0)]) == (0, [])
    known = int.from_bytes(b"ab\0c", "little")
    whole = int.from_bytes(b"12345678", "little")
    chosen = [("number of arguments", 2), ("argv[0]", known), ("argv[1]", whole)]
    assert given_arguments(chosen) == (2, [b"ab", b"12345678"])
    assert given_arguments([("number of arguments", 5), ("argc", 9)]) == (9, [])
    longer = [("argv[1]+8", int.from_bytes(b"9\0", "little")), *chosen]
    assert given_arguments(longer) == (2, [b"ab", b"123456789"])


def test_races_behind_a_test_of_argc(tmp_path: Path) -> None:
    path = tmp_path / "race.c"
    path.write_text(_text(USAGE, is_right=False))
    program = load([str(path)], FrontEndOptions(arguments=("p", "a")), from_names(["no-data-race"]))
    assert explore(program, from_names(["no-data-race"])).verdict is Verdict.FALSE


def test_a_violation_beyond_what_is_unsupported(tmp_path: Path) -> None:
    """Some arguments lead to code that is not modelled; others to a failure some rounds later."""
    text = """#include <assert.h>
    #include <stdlib.h>
    int main(int argc, char **argv) { int n = 0;
      if (argc == 2) n = system("true");
      for (int i = 0; i < 5; i++) n++;
      assert(n != 5); return 0; }"""
    path = tmp_path / "beyond.c"
    assert _verify(path, text, engine="orders").verdict == "false"
    found = _verify(path, text.replace("n != 5", "n >= 5"), engine="orders")
    assert found.verdict == "unknown" and "'system'" in found.reason and found.bound is None


def test_an_argument_with_too_many_values_is_shown_at_main(tmp_path: Path) -> None:
    path = tmp_path / "main.c"
    text = "int main(int argc, char **argv) { return argc ? argv[0][0] : 0; }"
    found = _verify(path, text, engine="explicit")
    assert found.verdict == "unknown" and f"argv[0] ({path}:1:1)" in (found.reason or "")
