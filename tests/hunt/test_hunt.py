"""`plait hunt` on programs of each kind: what is found, what is not, and what goes wrong."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from plait.cli.main import main
from plait.hunt.schedule import parse
from tests.hunt.conftest import Hunt
from tests.hunt.programs import DIFFICULT, FAILING, FINE, HEAD, two

ENGINES = ("dpor", "random", "pct")


@pytest.mark.parametrize("name", FAILING)
def test_failures_are_found(name: str, hunt: Hunt) -> None:
    chosen, text, said = FAILING[name]
    options = ("--property", chosen, "--runs", "2000")
    code, output = hunt(text, *options)
    assert code == 1, output
    assert said in output
    assert "each shown in 2 of 2 runs" in output


@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_finds_the_lost_update(engine: str, hunt: Hunt) -> None:
    chosen, text, said = FAILING["lost update"]
    code, output = hunt(text, "--property", chosen, "--engine", engine, "--runs", "2000")
    assert code == 1 and said in output, output


@pytest.mark.parametrize("name", FINE)
def test_all_schedules_of_what_is_fine(name: str, hunt: Hunt) -> None:
    code, output = hunt(FINE[name], "--engine", "dpor")
    assert code == 0, output
    assert "HUNT: no failure in any schedule" in output


def test_random_schedules_prove_nothing(hunt: Hunt) -> None:
    code, output = hunt(FINE["locked"], "--engine", "random", "--runs", "20")
    assert code == 3, output
    assert "not every schedule was tried" in output


@pytest.mark.parametrize("name", DIFFICULT)
def test_difficult_programs(name: str, hunt: Hunt) -> None:
    wanted, said, text, options = DIFFICULT[name]
    code, output = hunt(text, *options)
    assert code == wanted, output
    assert said in output


def test_threads_that_could_go_on_before_the_end_of_a_run(hunt: Hunt) -> None:
    """The first run ends at once, before the other thread has done anything."""
    text = two(
        "extern void __VERIFIER_assume(int);\n"
        "void *f(void *p) { __VERIFIER_assume(a); abort(); }\n"
        "void *g(void *p) { a = 1; return 0; }"
    )
    code, output = hunt(text, "--engine", "dpor")
    assert code == 1 and "abort is called" in output, output


def test_a_failure_that_does_not_show_again_is_none(hunt: Hunt) -> None:
    """What the program draws from the system is not in its schedule."""
    text = HEAD + (
        "int main(void) { unsigned char b; getentropy(&b, 1); assert(b & 1); return 0; }"
    )
    code, output = hunt(text, "--engine", "random", "--runs", "60", "--times", "30")
    assert code == 3, output
    assert "seen once, but not in every run of its schedule" in output


def test_effects_that_are_not_seen_are_named(hunt: Hunt) -> None:
    text = two("void *f(void *p) { a += rand(); return 0; }\n#define g f")
    code, output = hunt(text, "--engine", "dpor")
    assert code == 3 and "calls rand, whose effects" in output, output


def test_the_clock_shows_how_far_others_are(hunt: Hunt) -> None:
    text = two("void *f(void *p) { a = time(0); return 0; }\n#define g f")
    code, output = hunt(text, "--engine", "dpor")
    assert code == 3 and "reads the clock" in output, output


PREDICTED = {
    "no-deadlock": (
        "void *f(void *p) { pthread_mutex_lock(&m); pthread_mutex_lock(&n); a = 1;"
        " pthread_mutex_unlock(&n); pthread_mutex_unlock(&m); return 0; }\n"
        "void *g(void *p) { pthread_mutex_lock(&n); pthread_mutex_lock(&m);"
        " pthread_mutex_unlock(&m); pthread_mutex_unlock(&n); return 0; }",
        "waits for a mutex",
    ),
    "no-data-race": (
        "void *f(void *p) { x = 1; pthread_mutex_lock(&m); pthread_mutex_unlock(&m); return 0; }\n"
        "void *g(void *p) { pthread_mutex_lock(&m); pthread_mutex_unlock(&m); x = 2; return 0; }",
        "stands before a write of x",
    ),
}


@pytest.mark.parametrize("name", PREDICTED)
def test_one_run_predicts_another(name: str, hunt: Hunt) -> None:
    """The first run of dpor lets one thread end before the other one begins."""
    functions, said = PREDICTED[name]
    options = ("--property", name, "--engine", "dpor", "--runs", "1")
    code, output = hunt(two(functions, "return x;"), *options)
    assert code == 1 and said in output, output
    assert hunt(two(functions, "return x;"), *options, "--no-predict")[0] == 3


def test_what_is_ordered_is_not_predicted(hunt: Hunt) -> None:
    """A semaphore between the critical sections, a value that is waited for, a lock around both."""
    functions = (
        "static pthread_mutex_t o = PTHREAD_MUTEX_INITIALIZER;\n"
        "void *f(void *p) { pthread_mutex_lock(&o); pthread_mutex_lock(&m); pthread_mutex_lock(&n);"
        " pthread_mutex_unlock(&n); pthread_mutex_unlock(&m); pthread_mutex_unlock(&o);"
        " x = 1; sem_post(&s); return 0; }\n"
        "void *g(void *p) { pthread_mutex_lock(&o); pthread_mutex_lock(&n); pthread_mutex_lock(&m);"
        " pthread_mutex_unlock(&m); pthread_mutex_unlock(&n); pthread_mutex_unlock(&o);"
        " sem_wait(&s); x = 2; return 0; }"
    )
    code, output = hunt(two(functions, "return x;"), "--engine", "dpor")
    assert code == 0 and "0 predictions" in output, output


def test_races_are_told_with_both_places(hunt: Hunt) -> None:
    text = two(
        "void *f(void *p) {\n x = 1;\n return 0; }\nvoid *g(void *p) {\n x = 2; return 0; }",
        "return x;",
    )
    line = text[: text.index(" x = 1;")].count("\n") + 1
    code, output = hunt(text, "--property", "no-data-race")
    assert code == 1, output
    assert f"write of x at prog.c:{line}," in output and f"prog.c:{line + 3}" in output


def test_what_locks_order_does_not_race(hunt: Hunt) -> None:
    code, output = hunt(FINE["semaphore"], "--property", "no-data-race", "--runs", "40")
    assert code == 0, output
    assert "0 suspected races" in output


def test_a_corpus_goes_on(hunt: Hunt, tmp_path: Path) -> None:
    """The second hunt begins where the first one was stopped, and tries old failures first."""
    corpus = ("--corpus", str(tmp_path / "corpus"), "--engine", "dpor")
    code, output = hunt(FINE["locked"], *corpus, "--runs", "1")
    assert code == 3, output
    code, output = hunt(FINE["locked"], *corpus)
    assert code == 0 and "1 runs" in output.replace("1 runs,", "1 runs"), output
    chosen, text, said = FAILING["lost update"]
    code, output = hunt(text, *corpus, "--property", chosen)
    assert code == 1, output
    kept = list((tmp_path / "corpus").glob("*.schedule"))
    assert len(kept) == 1
    code, output = hunt(text, *corpus, "--property", chosen, "--runs", "1")
    assert code == 1 and said in output, output
    code, output = hunt(text, "--schedule", str(kept[0]), "--property", chosen)
    assert code == 1 and "2 of 2 runs of the schedule fail" in output, output


def test_fewer_switches(hunt: Hunt, tmp_path: Path) -> None:
    chosen, text, _ = FAILING["lost update"]
    text = text.replace("int y = a;", "for (int i = 0; i < 5; i++) sched_yield(); int y = a;")
    text = text.replace("#include <signal.h>", "#include <signal.h>\n#include <sched.h>")
    path = tmp_path / "s.schedule"
    options = ("--property", chosen, "--engine", "random", "--save-schedule", str(path))
    counts = []
    for more in ((), ("--minimize",)):
        assert hunt(text, *options, "--seed", "3", *more)[0] == 1
        counts.append(parse(path.read_text(), str(path)).switches)
    assert counts[1] <= min(counts[0], 5), counts


def test_arguments_and_input(hunt: Hunt, tmp_path: Path) -> None:
    given = tmp_path / "given.txt"
    given.write_text("7\n")
    text = HEAD + (
        'int main(int n, char **v) { int k = 0; scanf("%d", &k);'
        ' assert(!(n == 2 && !strcmp(v[1], "-x") && k == 7)); return 0; }'
    )
    code, output = hunt(text, "--input", str(given), after=["-x"])
    assert code == 1 and "assertion" in output, output
    assert hunt(text, after=["-x"])[0] == 3


def test_a_build_of_its_own(hunt: Hunt, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "main.c").write_text(FAILING["lost update"][1].replace("static ", ""))
    (tmp_path / "Makefile").write_text(
        "CC = none\nprog: main.o\n\t$(CC) -o $@ main.o -lpthread\n"
        "main.o: main.c\n\t$(CC) $(CFLAGS) -c main.c\n"
    )
    build = f"make -C {tmp_path} CC=%cc CFLAGS=%cflags"
    program = str(tmp_path / "prog")
    options = ["--times", "2", "--property", "assertions"]
    code = main(["hunt", "--binary-from", build, *options, program])
    output = capsys.readouterr().out
    assert code == 1 and "main.c:" in output, output
    (tmp_path / "Makefile").write_text("prog:\n\tfalse\n")
    (tmp_path / "prog").unlink()
    code = main(["hunt", "--binary-from", build, program])
    assert code == 2
    assert "the build ends with status 2" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "no source file given"),
        (["nothing.c"], "there is no such file"),
        (["--binary-from", "true", "./prog"], "names no %cc"),
        (["--schedule", "nothing", "PROG"], "No such file"),
        (["--input", "nothing", "PROG"], "No such file"),
        (["--cc", "nothing", "PROG"], "not found"),
    ],
)
def test_unusable_input(
    arguments: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "p.c"
    program.write_text("int main(void) { return 0; }\n")
    code = main(["hunt", *(str(program) if item == "PROG" else item for item in arguments)])
    assert code == 2
    assert said in capsys.readouterr().err


def test_no_orphan_is_left(tmp_path: Path) -> None:
    """Whoever ends the hunt ends the program, and hears what was found."""
    mark = tmp_path / "pid"
    program = tmp_path / "p.c"
    program.write_text(
        "#include <stdio.h>\n#include <unistd.h>\nint main(void) { FILE *f ="
        f' fopen("{mark}", "w"); fprintf(f, "%d\\n", getpid()); fclose(f); for (;;) ; }}\n'
    )
    command = [sys.executable, "-m", "plait", "hunt", str(program)]
    hunt = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    deadline = time.monotonic() + 120
    while not (mark.exists() and mark.read_text().endswith("\n")):
        assert time.monotonic() < deadline and hunt.poll() is None
        time.sleep(0.05)
    pid = int(mark.read_text())
    hunt.send_signal(signal.SIGINT)
    output, _ = hunt.communicate(timeout=60)
    assert hunt.returncode == 3, output
    assert "interrupted" in output
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
