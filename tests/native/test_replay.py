"""Counterexamples in the compiled program: each property, each primitive."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from plait.cli.main import main
from plait.errors import InputError
from plait.native.execute import execute
from tests.native.conftest import Plait, Refute
from tests.native.programs import ASSERTIONS, OTHERS, source

EXAMPLES = Path(__file__).parents[2] / "examples"
FALSE_EXAMPLES = [
    ("counter_race.c",),
    ("counter_race.c", "--property", "no-data-race"),
    ("deadlock.c", "--property", "no-deadlock"),
    ("bounded_queue.c", "-DIF_INSTEAD_OF_WHILE"),
    ("lock_free_stack.c", "-DREUSE"),
    ("peterson.c", "-DNO_TURN"),
    ("spin_lock.c", "-DTEST_THEN_SET"),
]


@pytest.mark.parametrize("options", FALSE_EXAMPLES, ids=" ".join)
def test_false_examples_fail_every_time(
    options: tuple[str, ...], plait: Plait, tmp_path: Path
) -> None:
    result = tmp_path / "result.json"
    name, *others = options
    code, output = plait("verify", *others, "--timeout", 60, "--json", result, EXAMPLES / name)
    assert code == 1, output
    code, output = plait("replay", result)
    assert code == 0, output
    assert "REPLAY: 20 of 20 runs" in output


@pytest.mark.parametrize("name", ASSERTIONS)
def test_primitives(name: str, plait: Plait, refute: Refute) -> None:
    result = refute(source(ASSERTIONS[name]))
    code, output = plait("replay", "--times", 2, result)
    assert code == 0, output
    assert "assertion '" in output


@pytest.mark.parametrize("name", OTHERS)
def test_properties(name: str, plait: Plait, refute: Refute) -> None:
    chosen, text = OTHERS[name]
    result = refute(source(text), "--property", chosen)
    code, output = plait("replay", "--times", 2, result)
    assert code == 0, output


@pytest.mark.skipif(shutil.which("clang") is None, reason="no clang")
@pytest.mark.parametrize("name", ["mutex", "order of operands", "weak compare and swap", "inputs"])
def test_clang(name: str, plait: Plait, refute: Refute) -> None:
    result = refute(source(ASSERTIONS[name]))
    code, output = plait("replay", "--cc", "clang", "--times", 2, result)
    assert code == 0, output


def test_line_markers_are_followed(plait: Plait, refute: Refute, tmp_path: Path) -> None:
    text = source(ASSERTIONS["mutex"]).replace("void *f", '# 700 "other.c"\nvoid *f', 1)
    code, output = plait("replay", "--times", 2, refute(text))
    assert code == 0, output
    assert "other.c:70" in output


def test_functions_that_are_only_inline(plait: Plait, refute: Refute) -> None:
    text = source("int x; inline void set(void) { x = 1; }\nint main(void) { set(); assert(!x); }")
    code, output = plait("replay", "--times", 1, refute(text))
    assert code == 0, output


def test_a_program_that_starts_elsewhere(plait: Plait, refute: Refute) -> None:
    text = source("int go(unsigned char n) { assert(n != 55); return 0; }")
    code, output = plait("replay", "--times", 1, refute(text, "--entry", "go"))
    assert code == 0, output


def test_several_files_and_options(plait: Plait, tmp_path: Path) -> None:
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "shared.h").write_text("extern int x;\nvoid set(void);\n")
    (tmp_path / "a b.c").write_text(
        '#include <assert.h>\n#include "shared.h"\nint main(void) { set(); assert(x != SIZE); }\n'
    )
    (tmp_path / "c.c").write_text('#include "shared.h"\nint x;\nvoid set(void) { x = SIZE; }\n')
    result = tmp_path / "r.json"
    options = ("-I", tmp_path / "include", "-DSIZE=3")
    code, _ = plait("explore", *options, "--json", result, tmp_path / "a b.c", tmp_path / "c.c")
    assert code == 1
    code, output = plait("replay", "--times", 1, "--emit", tmp_path / "emitted", result)
    assert code == 0, output
    assert make(tmp_path / "emitted", "reproduce").returncode == 0


# --- when it does not work


def test_a_difference_is_named(plait: Plait, refute: Refute, tmp_path: Path) -> None:
    """The compiled program is another one than the model: a macro that only compilers define."""
    text = source("""
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; int x;
void *f(void *p) { pthread_mutex_lock(&m); x = 1; pthread_mutex_unlock(&m); return 0; }
int main(void) { pthread_t a; pthread_create(&a, 0, f, 0);
#ifdef __SANITIZE_THREAD__
  pthread_join(a, 0); x = 0;
#endif
  pthread_mutex_lock(&m); int y = x; pthread_mutex_unlock(&m); assert(y == 0); return 0; }""")
    code, output = plait("replay", "--cc", "gcc", "--times", 2, refute(text))
    assert code == 1, output
    assert "thread 1 came to pthread_join at prog.c:" in output
    assert "where the plan has pthread_mutex_lock" in output
    assert "REPLAY: 0 of 2 runs" in output


def test_an_endless_loop_is_stopped(plait: Plait, refute: Refute) -> None:
    text = source("""
int main(void) {
#ifdef __SANITIZE_THREAD__
  for (;;) ;
#endif
  assert(0); }""")
    code, output = plait("replay", "--cc", "gcc", "--times", 1, "--timeout", 1, refute(text))
    assert code == 1, output
    assert "(endless) the run takes longer than its time limit" in output


def test_memory_is_limited(plait: Plait, refute: Refute) -> None:
    text = source("""
char *volatile p;
int main(void) {
#ifdef __SANITIZE_THREAD__
  for (int i = 0; i < 100000; i++) { p = malloc(1 << 24); if (!p) abort(); p[0] = 1; }
#endif
  assert(0); }""")
    arguments = ("--cc", "gcc", "--times", 1, "--memory-limit", 0.3, refute(text))
    code, output = plait("replay", *arguments)
    assert code == 1, output
    assert "(aborted) thread 1 calls abort" in output


def test_a_crash_is_said(plait: Plait, refute: Refute) -> None:
    text = source("""
int main(void) { int *p = 0;
#ifdef __SANITIZE_THREAD__
  *p = 1;
#endif
  assert(p); }""")
    code, output = plait("replay", "--cc", "gcc", "--times", 1, refute(text))
    assert code == 1
    assert "(crashed) thread 1: signal 11" in output


def test_a_failed_assumption_is_no_run(plait: Plait, refute: Refute) -> None:
    text = source("""
int main(void) {
#ifdef __SANITIZE_THREAD__
  __VERIFIER_assume(0);
#endif
  assert(0); }""")
    code, output = plait("replay", "--cc", "gcc", "--times", 1, refute(text))
    assert code == 1
    assert "this run does not exist" in output


def test_a_program_that_does_not_compile(plait: Plait, refute: Refute) -> None:
    text = source(
        'int main(void) {\n#ifdef __SANITIZE_THREAD__\n int 3 = "nonsense";\n#endif\n assert(0); }'
    )
    code, output = plait("replay", "--cc", "gcc", "--times", 1, refute(text))
    assert code == 2
    assert "cannot be replayed natively: it does not compile" in output
    assert "nonsense" in output


def test_changed_sources_are_noticed(plait: Plait, refute: Refute, tmp_path: Path) -> None:
    result = refute(source("int main(void) { assert(0); }"))
    (tmp_path / "prog.c").write_text(source("int main(void) { assert(1); }"))
    code, output = plait("replay", result)
    assert code == 2
    assert "have changed since" in output


def test_missing_sources_are_named(plait: Plait, refute: Refute, tmp_path: Path) -> None:
    result = refute(source("int main(void) { assert(0); }"))
    moved = tmp_path / "elsewhere.c"
    (tmp_path / "prog.c").rename(moved)
    code, output = plait("replay", result)
    assert code == 2
    assert "there is no such file" in output
    code, output = plait("replay", "--times", 1, result, moved)
    assert code == 0, output


@pytest.mark.parametrize(
    "text, message",
    [
        ("nothing", "not a result of plait"),
        ("[]", "not a result of plait"),
        ('{"plait-result": 1, "verdict": "true"}', "nothing to replay"),
        ('{"plait-result": 1, "verdict": "false"}', "no schedule"),
    ],
)
def test_what_is_no_counterexample(text: str, message: str, plait: Plait, tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    path.write_text(text)
    code, output = plait("replay", path)
    assert code == 2
    assert message in output


def test_values_that_cannot_be_forced_are_said(plait: Plait, refute: Refute) -> None:
    text = source(
        "#define LOCAL int x;\nint main(void) { LOCAL if (x == 5) assert(0); return 0; }"
    )
    code, output = plait("replay", "--times", 1, refute(text, "--inputs", "5..5"))
    assert code == 1
    assert "uninitialised 'x' is 5 in the counterexample; that is not forced" in output


EVERY_SORT_OF_LOCAL = """
#line 40 "other name.c"
struct pair { char first; int second; }; typedef int three[3];
int ask(int round) { /* \u00e9/&[*] */ int x, *p, (*f)(void), a[3], b = 1; three t; struct pair s; float d;
  const _Bool y; volatile short z; int many[2][2]
  , last;
  return x == 4 && p == (int *)5 && f == (int (*)(void))4 && a[0] + a[2] == 9 && b == 1 && t[1] == 5
    && s.first == 4 && s.second == 5 && d > 4 && y && z == 5 && many[1][0] == 4 && last == 5 && round; }
"""


def test_locals_that_nothing_initialises(
    plait: Plait, refute: Refute, tmp_path: Path
) -> None:
    """Each call has values of its own, and so has each thread."""
    text = source(
        EVERY_SORT_OF_LOCAL
        + "int one; void *f(void *p) { int c[2]; if (c[1] == 5) one = 1; return 0; }\n"
        "int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_join(t, 0); f(0);\n"
        "  for (int i = 0; i < 2; i++) { int v; if (i == 0 && v != 4) return 0;\n"
        "    if (i == 1) assert(v != 5 || !one || !ask(1)); } return 0; }"
    )
    program, result, folder = tmp_path / "prog.c", tmp_path / "result.json", tmp_path / "bug"
    program.write_text(text)
    assert plait("verify", "--json", result, "--engine", "orders", program)[0] == 1
    code, output = plait("replay", "--times", 1, "--emit", folder, result)
    assert code == 0, output
    assert "not forced" not in output
    assert make(folder, "reproduce").returncode == 0
    # A program that has been mended does not get the values any more.
    program.write_text(text.replace("int v;", "int v = 1;"))
    assert make(folder, "test").returncode == 0


def test_an_initialiser_that_does_not_compile(plait: Plait, refute: Refute) -> None:
    text = source("static int plait_unset; int main(void) { int b; assert(b != 5); return 0; }")
    code, output = plait("replay", "--times", 1, refute(text, "--inputs", "5..5"))
    assert code == 1
    assert "with initialisers it does not compile" in output


@pytest.mark.parametrize(
    "body",
    [
        "int main(void) { int a; int *x = &a; assert(*x != 5); return 0; }",
        "int main(void) { int *x = malloc(8); assert(x[0] != 5 || x[1] != 4); return 0; }",
        "extern int g; int main(void) { assert(g != 5); return 0; }",
        "extern int g; void *f(void *p) { g = 1; return 0; }"
        " int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); int v = g;"
        " assert(v != 5); pthread_join(t, 0); return 0; }",
    ],
    ids=["a local", "heap", "an undefined variable", "shared"],
)
def test_memory_that_was_never_set(body: str, plait: Plait, refute: Refute) -> None:
    result = refute(source(body), "--inputs", "4..5")
    code, output = plait("replay", "--times", 1, result)
    assert code == 0, output


def test_what_was_set_is_left_alone(plait: Plait, refute: Refute, tmp_path: Path) -> None:
    """The value of a counterexample must not be put into a program that has been mended."""
    text = source("int main(void) { int a;\nint *x = &a; assert(*x != 5); return 0; }")
    result = refute(text, "--inputs", "5..5")
    folder = tmp_path / "bug"
    assert plait("replay", "--times", 1, "--emit", folder, result)[0] == 0
    (tmp_path / "prog.c").write_text(text.replace("int a;", "int a = 1;"))
    done = make(folder, "test")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("operation", ["7 / n", "7 % n", "1 << n"])
def test_undefined_operations(operation: str, plait: Plait, refute: Refute) -> None:
    number = "40" if "<<" in operation else "0"
    text = source(
        "extern int __VERIFIER_nondet_int(void);"
        f"int main(void) {{ int n = __VERIFIER_nondet_int(); return {operation}; }}"
    )
    result = refute(text, "--property", "no-undefined", "--inputs", f"{number}..{number}")
    code, output = plait("replay", "--times", 1, result)
    assert code == 0, output


def test_what_the_library_writes_is_not_forced(plait: Plait, refute: Refute) -> None:
    text = source(
        "#include <unistd.h>\n"
        "int main(void) { char b[2]; if (read(0, b, 2) == 2) assert(b[1] != 7); return 0; }"
    )
    code, output = plait("replay", "--times", 1, refute(text, "--inputs", "0..7"))
    assert code == 1
    assert "what read gives or writes in the counterexample is not forced" in output


def test_what_functions_of_the_system_return_and_write(
    plait: Plait, refute: Refute, tmp_path: Path
) -> None:
    """The runtime itself opens files while the program's `open` answers what the plan says. Calls
    whose result nobody looks at, and those that write nothing, do not take what others are given."""
    text = source(
        "#include <errno.h>\n#include <fcntl.h>\n#include <sys/socket.h>\n"
        "double level(int); char all[4];\n"
        "void *f(void *p) { int size = 4, value;\n"
        "  if (getsockopt(1, SOL_SOCKET, SO_TYPE, &value, (socklen_t *)&size) == 0 && value == 5\n"
        "      && size == 4) all[3] = 1; return 0; }\n"
        "int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_join(t, 0);\n"
        "  int file = open(\"x\", 0); if (file != 5 || level(1) < 4) return 0;\n"
        "  for (int i = 0; i < 2; i++) {\n"
        "    int n = recv(file, all + i, 1, 0); if (i == 0 && (n != -1 || errno != 4)) return 0; }\n"
        "  recv(file, all + 2, 1, 0);\n"
        "  assert(all[0] || all[1] != 4 || all[2] != 5 || !all[3]); return 0; }"
    )
    program, result, folder = tmp_path / "prog.c", tmp_path / "result.json", tmp_path / "bug"
    program.write_text(text)
    code, output = plait("verify", "--json", result, "--engine", "orders", program)
    assert code == 1, output
    assert "written by recv() to argument 2 = 4 in thread 1 (main)" in output
    assert "errno = 4 in thread 1 (main)" in output
    code, output = plait("replay", "--times", 1, "--emit", folder, result)
    assert code == 0, output
    assert "not forced" not in output
    assert make(folder, "reproduce").returncode == 0


# --- tests that stand alone


def make(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = ["make", "-s", "-C", str(folder), *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, errors="replace", timeout=120, check=False
    )


@pytest.mark.skipif(shutil.which("make") is None, reason="no make")
def test_an_emitted_test_fails_every_time_until_it_is_mended(
    plait: Plait, refute: Refute, tmp_path: Path
) -> None:
    result = refute(source(ASSERTIONS["mutex"]))
    folder = tmp_path / "bug"
    code, output = plait("replay", "--times", 1, "--emit", folder, result)
    assert code == 0, output
    for _ in range(5):
        done = make(folder, "test")
        assert done.returncode != 0
        assert "FAIL: the failure shows" in done.stdout
    assert make(folder, "reproduce").returncode == 0
    names = {path.name for path in folder.iterdir()}
    assert {"Makefile", "README", "plan.txt", "replay.gdb", "runtime", "stubs.c"} <= names
    mended = source(ASSERTIONS["mutex"]).replace(
        "pthread_mutex_unlock(&m);\n  pthread_mutex_lock(&m);", ""
    )
    (tmp_path / "prog.c").write_text(mended)
    done = make(folder, "test")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "PASS: the failure does not show" in done.stdout


@pytest.mark.skipif(shutil.which("gdb") is None, reason="no gdb")
@pytest.mark.skipif(shutil.which("make") is None, reason="no make")
def test_gdb_stops_before_the_failing_step(plait: Plait, tmp_path: Path) -> None:
    result, folder = tmp_path / "result.json", tmp_path / "bug"
    plait("explore", "--json", result, EXAMPLES / "counter_race.c")
    plait("replay", "--times", 1, "--emit", folder, result)
    assert make(folder).returncode == 0
    done = subprocess.run(
        ["gdb", "-q", "-batch", "-x", "replay.gdb", "./program"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    if "ptrace" in done.stderr:
        pytest.skip("gdb may not trace processes here")
    assert "assert(counter == 2);" in done.stdout, done.stdout + done.stderr


@pytest.mark.skipif(shutil.which("make") is None, reason="no make")
def test_random_schedules_repeat_and_differ(plait: Plait, tmp_path: Path) -> None:
    result, folder = tmp_path / "result.json", tmp_path / "bug"
    plait("explore", "--json", result, EXAMPLES / "counter_race.c")
    plait("replay", "--times", 1, "--emit", folder, result)
    assert make(folder).returncode == 0

    def outcome(seed: int) -> str:
        settings = {"PLAIT_STRATEGY": "random", "PLAIT_SEED": str(seed)}
        return execute(folder / "program", 10, 1 << 30, **settings).outcome

    outcomes = [outcome(seed) for seed in range(1, 31)]
    assert set(outcomes) == {"failed", "ended"}
    assert outcomes == [outcome(seed) for seed in range(1, 31)]


def test_the_result_names_its_options(refute: Refute) -> None:
    result = refute(source("int main(void) { assert(0); }"), "-DA=1")
    assert json.loads(result.read_text())["arguments"] == ["-D", "A=1"]
    assert os.path.basename(json.loads(result.read_text())["files"][0]) == "prog.c"


def test_names_that_make_and_the_shell_take_for_something_else(
    plait: Plait, tmp_path: Path
) -> None:
    names = ("a;touch pwned;.c", "a:b.c", "a#b.c", "a=b.c", "a|b.c", "a $(x) (b).c", "\udcff.c")
    result, folder = tmp_path / "result.json", tmp_path / "test"
    programs = [tmp_path / name for name in names]
    for number, program in enumerate(programs[1:]):
        program.write_text(f"int part{number}(void) {{ return {number}; }}\n")
    calls = " + ".join(f"part{number}()" for number in range(len(names) - 1))
    declared = "".join(f"int part{number}(void);\n" for number in range(len(names) - 1))
    programs[0].write_text(source(f"{declared}int main(void) {{ assert({calls} == 0); }}"))
    assert plait("explore", "--json", result, *programs)[0] == 1
    code, output = plait("replay", "--times", 1, "--emit", folder, result)
    assert code == 0, output
    assert make(folder, "reproduce").returncode == 0
    assert not (folder / "pwned").exists()


def test_options_of_several_lines_are_not_emitted(
    plait: Plait, refute: Refute, tmp_path: Path
) -> None:
    result = refute(source(ASSERTIONS["mutex"]), "-DX=1\n\ttouch pwned\n#")
    code, output = plait("replay", "--times", 1, "--emit", tmp_path / "test", result)
    assert code == 2
    assert "cannot express" in output
    assert output.count("REPLAY: 1 of 1 runs") == 1
    assert not (tmp_path / "test").exists()


def test_files_of_somebody_else_are_not_replaced(
    plait: Plait, refute: Refute, tmp_path: Path
) -> None:
    result = refute(source(ASSERTIONS["mutex"]))
    (tmp_path / "Makefile").write_text("mine\n")
    code, output = plait("replay", "--times", 1, "--emit", tmp_path, result)
    assert code == 2
    assert "name a new folder" in output
    assert (tmp_path / "Makefile").read_text() == "mine\n"


@pytest.mark.parametrize(
    "change",
    [
        {"properties": 5, "arguments": None},
        {"sources": [{"path": "a" * 5000}, {"path": "a\0"}]},
        {"arguments": ["-D", "X\0"]},
        {"arguments": ["-D", "X=\ud800"]},
    ],
    ids=str,
)
def test_results_that_were_tampered_with(
    change: dict[str, object], plait: Plait, refute: Refute
) -> None:
    result = refute(source(ASSERTIONS["mutex"]))
    result.write_text(json.dumps(json.loads(result.read_text()) | change))
    code, output = plait("replay", "--times", 1, result)
    assert code in (0, 2), output
    assert "internal error" not in output


def test_numbers_of_many_digits(plait: Plait, tmp_path: Path) -> None:
    result = tmp_path / "result.json"
    result.write_text('{"plait-result": ' + "9" * 10_000 + "}")
    assert plait("replay", result)[0] == 2


def test_another_property_than_was_asked_for(plait: Plait, refute: Refute) -> None:
    result = refute(source(ASSERTIONS["mutex"]))
    data = json.loads(result.read_text())
    data["violation"]["property"] = "no-data-race"
    result.write_text(json.dumps(data))
    code, output = plait("replay", "--times", 1, result)
    assert code == 2
    assert "was not asked for" in output


def test_a_message_cannot_write_lines_of_its_own(plait: Plait, refute: Refute) -> None:
    result = refute(source(ASSERTIONS["mutex"]))
    data = json.loads(result.read_text())
    data["violation"]["message"] = "\x1b[2J\nREPLAY: 1 of 1"
    result.write_text(json.dumps(data))
    _, output = plait("replay", "--times", 1, result)
    assert "\x1b" not in output
    assert output.count("\nREPLAY: ") == 1


@pytest.mark.parametrize("trick", ["mkfifo report.txt", "ln -s /dev/zero report.txt"])
def test_a_program_that_replaces_its_report(trick: str, tmp_path: Path) -> None:
    script = tmp_path / "program"
    script.write_text(f"#!/bin/sh\nrm report.txt output.txt\n{trick}\n")
    script.chmod(0o755)
    assert execute(script, 5, 1 << 30).outcome == "none"


def test_a_program_that_cannot_be_started(tmp_path: Path) -> None:
    (tmp_path / "program").write_text("")
    with pytest.raises(InputError, match="cannot be run"):
        execute(tmp_path / "program", 5, 1 << 30)


def test_the_program_ends_when_plait_is_ended(tmp_path: Path) -> None:
    """By SIGTERM, as `timeout` sends it. The compiler's output is replaced by a program that
    sleeps and does not hear signals."""
    code = (
        "import pathlib, sys\n"
        "from plait.cli.main import main\n"
        "from plait.native import build\n"
        "build.Builder.build = lambda self, folder: pathlib.Path(sys.argv[2])\n"
        "sys.exit(main(['replay', sys.argv[1]]))\n"
    )
    script, result, started = (tmp_path / name for name in ("program", "result.json", "pid"))
    script.write_text(f"#!/bin/sh\ntrap '' TERM HUP\necho $$ > {started}\nexec sleep 60\n")
    script.chmod(0o755)
    assert main(["explore", "--json", str(result), str(EXAMPLES / "counter_race.c")]) == 1
    command = [sys.executable, "-c", code, str(result), str(script)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen(command, env=environment)
    end = time.monotonic() + 30
    while not (started.exists() and started.read_text()) and time.monotonic() < end:
        time.sleep(0.05)
    process.terminate()
    assert process.wait(30) == 130
    assert not Path(f"/proc/{started.read_text().strip()}").exists()
