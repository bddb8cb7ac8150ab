"""`plait verify`: verdict line, exit code, bounds, and what it does not check yet."""

from __future__ import annotations

from pathlib import Path

import pytest

from plait.cli.main import main

EXAMPLES = Path(__file__).parents[2] / "examples"


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    code = main(["verify", *arguments])
    return code, capsys.readouterr().out.rstrip().splitlines()[-1]


def test_verdicts(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, str(EXAMPLES / "locked_counter.c")) == (0, "VERDICT: true")
    assert run(capsys, str(EXAMPLES / "counter_race.c")) == (1, "VERDICT: false (assertions)")


def test_a_lock_that_is_tried_again(capsys: pytest.CaptureFixture[str]) -> None:
    spin_lock = str(EXAMPLES / "spin_lock.c")
    assert run(capsys, spin_lock) == (0, "VERDICT: true")
    assert run(capsys, "--property", "no-data-race", spin_lock) == (0, "VERDICT: true")
    assert run(capsys, "-DTEST_THEN_SET", spin_lock) == (1, "VERDICT: false (assertions)")


def test_a_lock_free_stack(capsys: pytest.CaptureFixture[str]) -> None:
    stack = str(EXAMPLES / "lock_free_stack.c")
    assert run(capsys, stack) == (0, "VERDICT: true")
    assert run(capsys, "-DREUSE", stack) == (1, "VERDICT: false (assertions)")


def test_a_bound_is_no_proof(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    source = tmp_path / "loop.c"
    source.write_text(
        "#include <assert.h>\nextern _Bool __VERIFIER_nondet_bool(void); int n;\n"
        "int main(void) { while (__VERIFIER_nondet_bool()) n = n < 100 ? n + 1 : n; assert(n <= 100); }"
    )
    code, last = run(capsys, "--unwind", "3", str(source))
    assert (code, last) == (3, "VERDICT: unknown (no violation with up to 3 loop rounds)")
    source.write_text(source.read_text().replace("n <= 100", "n < 3"))
    assert run(capsys, str(source)) == (1, "VERDICT: false (assertions)")


def test_properties_beside_assertions(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    races = "--property", "no-data-race"
    assert run(capsys, *races, str(EXAMPLES / "locked_counter.c")) == (0, "VERDICT: true")
    code, last = run(capsys, *races, str(EXAMPLES / "counter_race.c"))
    assert (code, last) == (1, "VERDICT: false (no-data-race)")
    source = tmp_path / "misuse.c"
    source.write_text(
        "#include <limits.h>\n#include <pthread.h>\npthread_mutex_t m; int x = INT_MAX;\n"
        "int main(void) { x = x + 1; pthread_mutex_unlock(&m); }"
    )
    for name in ("no-overflow", "lock-misuse"):
        assert run(capsys, "--property", name, str(source)) == (1, f"VERDICT: false ({name})")


def test_deadlocks(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "--property", "no-deadlock", str(EXAMPLES / "deadlock.c")]) == 1
    lines = capsys.readouterr().out.rstrip().splitlines()
    assert lines[-1] == "VERDICT: false (no-deadlock)"
    assert any(
        line.startswith("  thread 2 (there) waits for mutex accounts[1].lock") for line in lines
    )
    assert run(capsys, "--property", "no-deadlock", str(EXAMPLES / "locked_counter.c"))[0] == 0


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("locked_counter", "VERDICT: true"),
        ("counter_race", "VERDICT: false (assertions)"),
        ("deadlock", "VERDICT: false (no-deadlock)"),
    ],
)
def test_deadlocks_and_another_property(
    capsys: pytest.CaptureFixture[str], name: str, expected: str
) -> None:
    properties = "assertions,no-deadlock"
    assert run(capsys, "--property", properties, str(EXAMPLES / f"{name}.c"))[1] == expected


def test_a_timeout_is_kept(capsys: pytest.CaptureFixture[str]) -> None:
    code, last = run(capsys, "--timeout", "0.01", str(EXAMPLES / "locked_counter.c"))
    assert code == 3
    assert "time limit of 0.01 s" in last


def test_bad_input(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["verify", str(tmp_path / "missing.c")]) == 2
    with pytest.raises(SystemExit) as stopped:
        main(["verify", "--unwind", "0", "x.c"])
    assert stopped.value.code == 2


@pytest.mark.parametrize(
    "text",
    [
        "static void f(pthread_t *t) { int v = 3; pthread_create(t, 0, reads, &v); }"
        " int main(void) { pthread_t t; f(&t); pthread_join(t, 0); return 0; }",
        "void *leaves(void *p) { int v; g = &v; pthread_exit(0); }"
        " int main(void) { pthread_t t; pthread_create(&t, 0, leaves, 0); pthread_join(t, 0);"
        " *g = 3; return 0; }",
        "void *shows(void *p) { g = &own; return 0; }"
        " int main(void) { pthread_t t; pthread_create(&t, 0, shows, 0); pthread_join(t, 0);"
        " sink = *g; return 0; }",
    ],
    ids=["local of a function", "local of a thread", "thread-local"],
)
def test_objects_that_are_gone(
    text: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """The last step of their life is one that no other thread sees otherwise."""
    source = tmp_path / "gone.c"
    source.write_text(
        "#include <pthread.h>\nint sink, *g; _Thread_local int own = 5;\n"
        "void *reads(void *p) { sink = *(int *)p; return 0; }\n" + text
    )
    expected = 1, "VERDICT: false (valid-deref)"
    assert run(capsys, "--property", "valid-memsafety", str(source)) == expected


def test_a_property_file_as_a_property(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    prp = tmp_path / "race, or not.prp"
    prp.write_text("CHECK( init(main()), LTL(G ! data-race) )\n")
    race = str(EXAMPLES / "counter_race.c")
    assert main(["explore", "--property", str(prp), race]) == 1
    assert capsys.readouterr().out.endswith("VERDICT: false (no-data-race)\n")
    assert main(["explore", "--property", str(prp), "--property", "assertions", race]) == 2
    assert "excludes other properties" in capsys.readouterr().err


def test_a_page_is_named_when_it_is_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = str(tmp_path / "page.html")
    assert main(["explore", "--html", page, str(EXAMPLES / "counter_race.c")]) == 1
    assert f"\na page to step through: {page}\n" in capsys.readouterr().out


def test_a_proof_that_was_saved_is_not_offered(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "a.c"
    source.write_text("int x; int main(void) { while (x) { } return 0; }\n")
    saved = tmp_path / "proof.json"
    offer = "the proof can be saved with --certificate"
    assert main(["verify", "--engine", "impact", str(source)]) == 0
    assert offer in capsys.readouterr().out
    arguments = ["--certificate", str(saved), "--json", str(tmp_path / "r.json")]
    assert main(["verify", "--engine", "impact", *arguments, str(source)]) == 0
    said = capsys.readouterr().out
    assert offer not in said and f"certificate: {saved}" in said
    assert offer not in (tmp_path / "r.json").read_text()
