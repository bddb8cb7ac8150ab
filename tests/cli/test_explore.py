"""`plait explore` and `plait run` on whole programs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from plait.cli.main import main
from plait.model.properties import Property, from_names
from plait.portfolio.subject import parts

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"


def explore(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, list[str]]:
    code = main(["explore", *arguments])
    captured = capsys.readouterr()
    assert captured.err == ""
    return code, captured.out.splitlines()


@pytest.mark.parametrize(
    ("arguments", "verdict"),
    [
        (["counter_race.c"], "false (assertions)"),
        (["--property", "no-data-race", "counter_race.c"], "false (no-data-race)"),
        (["locked_counter.c"], "true"),
        (
            ["--property", "assertions,no-data-race,no-deadlock,lock-misuse", "locked_counter.c"],
            "true",
        ),
        (["peterson.c"], "true"),
        (["--property", "no-data-race", "peterson.c"], "true"),
        (["-DNO_TURN", "peterson.c"], "false (assertions)"),
        (["--property", "assertions", "--property", "no-deadlock", "bounded_queue.c"], "true"),
        (["-DIF_INSTEAD_OF_WHILE", "bounded_queue.c"], "false (assertions)"),
        (["-DIF_INSTEAD_OF_WHILE", "--no-spurious-wakeups", "bounded_queue.c"], "true"),
        (
            ["-DIF_INSTEAD_OF_WHILE", "--property", "assertions,no-deadlock", "bounded_queue.c"],
            "false (assertions)",
        ),
        (["deadlock.c"], "true"),
        (["--property", "no-deadlock", "deadlock.c"], "false (no-deadlock)"),
        (["--property", "no-deadlock", "-DORDERED", "deadlock.c"], "true"),
        (["lock_free_stack.c"], "true"),
        (["-DREUSE", "lock_free_stack.c"], "false (assertions)"),
    ],
)
@pytest.mark.parametrize("data_model", ["LP64", "ILP32"])
def test_examples(
    arguments: list[str], verdict: str, data_model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    *options, name = arguments
    code, lines = explore(capsys, "--data-model", data_model, *options, str(EXAMPLES / name))
    assert lines[-1] == f"VERDICT: {verdict}"
    assert code == (0 if verdict == "true" else 1)
    assert "assumptions:" in lines
    assert f"  - data model {data_model}, sequentially consistent memory" in lines


@pytest.mark.parametrize("reduction", ["sleep", "none"])
def test_reduction_does_not_change_the_verdict(
    reduction: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(EXAMPLES / "counter_race.c")
    assert explore(capsys, "--reduction", reduction, path)[0] == 1


def test_counterexample_points_into_the_program(capsys: pytest.CaptureFixture[str]) -> None:
    path = EXAMPLES / "counter_race.c"
    lines = explore(capsys, str(path))[1]
    number = 1 + path.read_text().splitlines().index("  assert(counter == 2);")
    assert any(line.startswith(f"{path}:{number}:3: assertion ") for line in lines)


def test_deadlock_says_who_waits_where(capsys: pytest.CaptureFixture[str]) -> None:
    path = str(EXAMPLES / "deadlock.c")
    lines = explore(capsys, "--property", "no-deadlock", path)[1]
    for waiting, lock, holder in ((2, "accounts[1].lock", 3), (3, "accounts[0].lock", 2)):
        [line] = [line for line in lines if line.startswith(f"  thread {waiting} ")]
        assert f"waits for mutex {lock}, which thread {holder} " in line
        assert f"at {path}:32:3" in line


def test_race_names_both_accesses(capsys: pytest.CaptureFixture[str]) -> None:
    path = str(EXAMPLES / "counter_race.c")
    text = "\n".join(explore(capsys, "--property", "no-data-race", path)[1])
    assert text.count(f"at {path}:17:") >= 2
    assert "counter = counter + 1" in text


def test_limits_are_unknown(capsys: pytest.CaptureFixture[str]) -> None:
    path = str(EXAMPLES / "locked_counter.c")
    code, lines = explore(capsys, "--max-states", "10", path)
    assert code == 3
    assert lines[-1] == "VERDICT: unknown (more than 10 states)"


def test_unsupported_code_is_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.c"
    path.write_text(
        'int main(void) {\n  int x;\n  __asm__("movl $1, %0" : "=r"(x));\n  return x;\n}\n'
    )
    code, lines = explore(capsys, str(path))
    assert code == 3
    assert lines[-1].startswith("VERDICT: unknown (unsupported")
    position = lines.index("unsupported constructs:")
    assert lines[position + 1].startswith(f"  - {path}:3:3: ")
    assert "__asm__" in lines[position + 2]


def test_undefined_functions_are_assumptions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.c"
    path.write_text("_Bool mystery(void);\nint main(void) { return mystery(); }\n")
    code, lines = explore(capsys, str(path))
    assert code == 0
    assert any("mystery" in line for line in lines)


def test_undefined_behaviour_has_a_verdict_where_it_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.c"
    path.write_text("int zero;\nint main(void) { return 1 / zero; }\n")
    code, lines = explore(capsys, str(path))
    assert (code, lines[-1]) == (1, "VERDICT: false (no-undefined)")
    code, lines = explore(capsys, "--property", "assertions", str(path))
    assert code == 3
    assert "undefined behaviour" in lines[-1]


def test_a_loop_with_locals_has_finitely_many_states(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Memory of locals is used again where no pointer outlives them, and only there."""
    path = tmp_path / "a.c"
    path.write_text(
        "int look(int *p) { return *p; }\nint round(void) { int x = 1; return look(&x); }\n"
        "int main(void) { while (round()) {} return 0; }\n"
    )
    assert explore(capsys, "--timeout", "60", str(path))[1][-1] == "VERDICT: true"
    path.write_text(
        "int *g;\nvoid f(void) { int x = 1; g = &x; }\nvoid h(void) { int y = 2; g = y ? g : &y; }\n"
        "int main(void) { f(); h(); *g = 3; return 0; }\n"
    )
    assert explore(capsys, str(path))[1][-1] == "VERDICT: false (valid-deref)"


def test_inputs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.c"
    path.write_text(
        "#include <assert.h>\nint __VERIFIER_nondet_int(void);\n"
        "int main(void) { int x = __VERIFIER_nondet_int(); assert(x != 40); }\n"
    )
    assert explore(capsys, "--inputs", "-5..5", str(path))[0] == 3
    assert explore(capsys, "--inputs", "30..50", str(path))[0] == 1


def test_sources_that_are_not_utf8(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.c"
    path.write_bytes(
        b"#include <assert.h>\n/* gr\xfc\xdfe */ int x;\n"
        b'int main(void) { assert(x && "\xe4\xf6\xfc"); }\n'
    )
    code, lines = explore(capsys, str(path))
    assert code == 1
    assert lines[-1] == "VERDICT: false (assertions)"


def test_prp_and_error_function(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, prp = tmp_path / "a.c", tmp_path / "p.prp"
    path.write_text("void bad(void) {}\nvoid start(void) { bad(); }\nint main(void) {}\n")
    prp.write_text("CHECK( init(start()), LTL(G ! call(bad())) )\n")
    assert explore(capsys, "--prp", str(prp), str(path))[1][-1] == "VERDICT: false (unreach-call)"
    assert explore(capsys, "--error-function", "bad", str(path))[0] == 0
    assert explore(capsys, "--error-function", "bad", "--entry", "start", str(path))[0] == 1


def test_several_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "h.h").write_text("extern int shared; int next(void);\n")
    (tmp_path / "a.c").write_text(
        '#include <assert.h>\n#include "h.h"\nstatic int own = 1;\n'
        "int main(void) { next(); assert(shared == 5 + own); }\n"
    )
    (tmp_path / "b.c").write_text(
        '#include "h.h"\nstatic int own = 5;\nint shared;\n'
        "int next(void) { return shared = own + 1; }\n"
    )
    assert explore(capsys, str(tmp_path / "a.c"), str(tmp_path / "b.c"))[0] == 0


def test_compile_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.c").write_text("#include <assert.h>\nint main(void) { assert(WANTED); }\n")
    (tmp_path / "b.c").write_text("#error not chosen\n")
    commands = [
        {"directory": str(tmp_path), "file": f"{name}.c", "command": f"cc -DWANTED=1 -c {name}.c"}
        for name in "ab"
    ]
    (tmp_path / "compile_commands.json").write_text(json.dumps(commands))
    chosen = str(tmp_path / "a.c")
    assert explore(capsys, "--compile-commands", str(tmp_path), chosen)[0] == 0


def test_json_and_schedule(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = str(EXAMPLES / "counter_race.c")
    result, schedule = tmp_path / "result.json", tmp_path / "schedule.json"
    code, _ = explore(capsys, "--json", str(result), "--save-schedule", str(schedule), program)
    assert code == 1
    data = json.loads(result.read_text())
    assert (data["plait-result"], data["verdict"], data["violated"]) == (1, "false", "assertions")
    assert data["properties"] == ["assertions", "lock-misuse", "no-undefined", "valid-access"]
    assert data["trace"][-1]["text"].startswith("assert(counter == 2)")
    assert data["schedule"] == json.loads(schedule.read_text())
    assert data["statistics"]["states"] > 0
    assert main(["run", "--schedule", str(schedule), program]) == 1
    again = tmp_path / "again.json"
    assert main(["run", "--schedule", str(schedule), "--save-schedule", str(again), program]) == 1
    assert main(["run", "--schedule", str(again), program]) == 1


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk_does_not_hide_the_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explore", "--json", "/dev/full", str(EXAMPLES / "counter_race.c")]) == 2
    captured = capsys.readouterr()
    assert captured.out.splitlines()[-1] == "VERDICT: false (assertions)"
    assert "--json /dev/full: cannot write" in captured.err


def test_deadlocks_are_explored_apart_from_spurious_wakeups() -> None:
    whole = from_names(["no-deadlock", "assertions", "no-data-race"])
    first, second = parts(whole)
    assert first.properties == {Property.ASSERTIONS, Property.NO_DATA_RACE}
    assert second.properties == {Property.NO_DEADLOCK}


def test_run_is_repeatable(capsys: pytest.CaptureFixture[str]) -> None:
    program = str(EXAMPLES / "counter_race.c")
    outputs = []
    for _ in range(2):
        main(["run", "--seed", "5", program])
        outputs.append(capsys.readouterr().out)
    assert outputs[0] == outputs[1]
    assert "thread 2 (add_one)" in outputs[0]


def test_run_shows_what_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.c"
    path.write_text('#include <stdio.h>\nint main(void) { printf("%d items\\n", 3); return 4; }\n')
    assert main(["run", "--quiet", str(path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("exit with status 4")
    assert lines[1:] == ["output:", "  3 items"]


def test_show(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = str(EXAMPLES / "counter_race.c")
    assert main(["show", program]) == 0
    assert "load counter" in capsys.readouterr().out
    assert main(["show", "--dot", "-", program]) == 0
    assert capsys.readouterr().out.startswith("digraph")
    picture = tmp_path / "picture.svg"
    assert main(["show", "--svg", str(picture), program]) == 0
    assert picture.read_text().startswith("<svg")


def test_interrupt_gives_the_best_partial_answer(tmp_path: Path) -> None:
    path = tmp_path / "a.c"
    path.write_text(
        "#include <pthread.h>\nunsigned long a;\n"
        "void *f(void *x) { for (;;) a++; }\n"
        "int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); for (;;) a++; }\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-m", "plait", "explore", str(path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    time.sleep(3)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert process.returncode == 3
    assert out.splitlines()[-1] == "VERDICT: unknown (interrupted)"
    assert "Traceback" not in err


def test_a_run_names_its_inputs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.c"
    path.write_text(
        "int read_sensor(void); int x; int main(void) { x = read_sensor(); return 0; }\n"
    )
    assert main(["run", str(path)]) == 0
    assert "[read_sensor() = " in capsys.readouterr().out
