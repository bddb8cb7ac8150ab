"""Lines that can be reached, and lines that cannot."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import jsonschema
import pytest

from plait.api import Options, verify_with
from plait.cli.main import _main
from plait.coverage import forms
from plait.coverage.compiled import Measured
from plait.coverage.search import cover
from plait.coverage.table import Table
from plait.data import replace
from plait.errors import InputError
from plait.semantics.run import run
from plait.semantics.schedule import from_text
from tests.report import schema_store

PROGRAM = """#include <pthread.h>
#include <stdlib.h>  /* defines functions that this program does not use */
int __VERIFIER_nondet_int(void); static int x, done;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void never(void) {
  x = 7;
}
static void *work(void *unused) {
  pthread_mutex_lock(&m);
  x++;
  if (x > 1)
    x = 99;
  pthread_mutex_unlock(&m);
  return 0;
}
int main(void) {
  pthread_t a;
  int n = __VERIFIER_nondet_int();
  pthread_create(&a, 0, work, 0);
  if (n == 12345) {
    done = 1;
  }
  pthread_join(a, 0);
  return 0;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("cover") / "program.c"
    path.write_text(PROGRAM)
    return path


@pytest.fixture(scope="module")
def table(program: Path) -> Table:
    options = Options(programs=(str(program),), cache=False, engine="orders")
    return cover(options, lambda text: None)


def test_each_line_is_live_or_dead(program: Path, table: Table) -> None:
    path = str(program)
    assert table.dead == {
        (path, 6): "nobody refers to never",
        (path, 12): "no execution comes here (orders)",
    }
    assert not table.unknown
    assert [number for _, number in sorted(table.live)] == [
        9, 10, 11, 13, 14, 18, 19, 20, 21, 23, 24
    ]  # fmt: skip
    assert table.counts() == table.counts(path) == (13, 11, 2, 0)
    assert table.live[path, 21] == len(table.tests)  # no random run chooses 12345


def test_a_test_reaches_its_lines(program: Path, table: Table) -> None:
    from plait.coverage.search import NOTHING, _reached, program_of

    loaded = program_of(Options(programs=(str(program),)))
    for test in table.tests:
        schedule = from_text(test.schedule, "test")
        reached = _reached(loaded, run(loaded, NOTHING, schedule=schedule, trace=True).events)
        last = set(test.lines) - reached
        # A counterexample ends right before the line that it was asked for.
        assert len(last) <= (test.found_by != "a random run")


def test_forms(program: Path, table: Table) -> None:
    path = str(program)
    data = json.loads(forms.to_json(table))
    assert data["lines"] == len(table.all_lines) and data["dead"] == 2
    assert {"line": 12, "is": "dead", "why": "no execution comes here (orders)"} in data["files"][
        path
    ]
    lcov = forms.to_lcov(table)
    assert f"SF:{path}\n" in lcov and "DA:12,0\n" in lcov and "DA:10,1\n" in lcov
    page = forms.to_html(table)
    assert 'class="dead" title="no execution comes here (orders)"' in page
    assert "pthread_mutex_lock(&amp;m);" in page
    log = json.loads(forms.to_sarif(table))
    jsonschema.Draft7Validator(schema_store.schema(schema_store.SARIF)).validate(log)
    first = log["runs"][0]["results"][-1]
    assert first["message"]["text"] == "dead code: no execution comes here (orders)"
    region = first["locations"][0]["physicalLocation"]["region"]
    assert region == {"startLine": 12, "endLine": 12}
    text = "\n".join(forms.to_text(table, verbose=True))
    assert f"{path}:12: no execution comes here (orders)" in text


def test_lines_that_are_asked_for(program: Path) -> None:
    asked = Options(programs=(str(program),), cache=False, engine="orders")
    dead = verify_with(replace(asked, reach=("program.c:12",)))
    assert (dead.verdict, dead.arguments) == ("true", ["--reach", "program.c:12"])
    live = verify_with(replace(asked, reach=("program.c:12", f"{program}:20")))
    assert live.violated == "unreach-call"
    assert live.violation is not None and live.violation.message == "line 20 is reached"


def test_a_line_is_not_dead_because_nobody_knows(tmp_path: Path) -> None:
    path = tmp_path / "asks.c"
    path.write_text('int main(void) {\n  __asm__ volatile("cpuid" : : : "eax");\n  return 1;\n}\n')
    table = cover(Options(programs=(str(path),), cache=False, engine="orders"), lambda text: None)
    assert table.counts()[2] == 0
    assert list(table.unknown) == [(str(path), 3)]
    assert "assembly" in table.unknown[str(path), 3]


def test_what_has_no_code(program: Path) -> None:
    with pytest.raises(InputError, match="no code of the program stands there"):
        verify_with(Options(programs=(str(program),), reach=("program.c:1",)))


def test_other_questions_are_refused(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _main(["cover", "--property", "no-data-race", str(program)]) == 2
    assert _main(["verify", "--reach", "a.c:1", "--monitor", "file-use", str(program)]) == 2
    assert "two questions" in capsys.readouterr().err


ARGUMENTS = """#include <pthread.h>
#include <stdio.h>
static int done;
static void *work(void *unused) {
  if (done)
    printf("late\\n");
  return 0;
}
int main(int argc, char **argv) {
  pthread_t a;
  int set;
  pthread_create(&a, 0, work, 0);
  if (argc > 2 && argv[1][0] == 'q')
    puts("quiet");
  if (set == 77)
    done = 1;
  pthread_join(a, 0);
  return 0;
}
"""


@pytest.mark.skipif(not shutil.which("gcc") or not shutil.which("gcov"), reason="needs gcc")
def test_compiled_tests_reach_what_is_claimed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Inputs, arguments, values that nobody has set, and an order of the threads."""
    monkeypatch.chdir(tmp_path)
    Path("program.c").write_text(ARGUMENTS)
    command = ["cover", "--no-cache", "--engine", "orders", "--run", "--emit", "tests"]
    assert _main([*command, "program.c"]) == 0
    said = capsys.readouterr().out
    number = said.split("compiled: ")[1].split()[0]
    assert f"compiled: {number} of {number} tests reach what is claimed (gcov)" in said
    assert said.endswith("COVER: 11 live, 0 dead, 0 unknown of 11 lines\n")
    done = subprocess.run(["make", "-C", "tests", "coverage"], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    counted = Path("tests/program.c.gcov").read_text()
    assert "#####" not in counted


def test_what_a_compiled_test_does_not_reach_is_said() -> None:
    ran = Measured(3, (("a.c", 4), ("a.c", 9)), (("b.c", 1),), "ended: early")
    assert list(forms.to_words(ran)) == [
        "compiled test 3 does not reach a.c:4, a.c:9",
        "compiled test 3 reaches, though dead, b.c:1",
        "compiled test 3: ended: early",
    ]
    assert not list(forms.to_words(Measured(1, (), (), "")))
