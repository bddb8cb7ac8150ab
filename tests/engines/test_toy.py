"""One folder and one line make an engine: everything else finds it in the registry."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.engines.toy.description import TOY

import plait
from plait.cli.main import main
from plait.engines import registry
from plait.engines.description import EngineDescription, EngineOption, Start

ROOT = Path(__file__).parents[2]
ENDLESS = """#include <pthread.h>
void *f(void *u) { return u; }
int main(void) { pthread_t t; for (;;) pthread_create(&t, 0, f, 0); }
"""
ALONE = "#include <assert.h>\nint x;\nint main(void) { x = 2; assert(x == 3); }\n"
FINE = "#include <assert.h>\nint x;\nint main(void) { x = 2; assert(x == 2); }\n"


@pytest.fixture(autouse=True)
def toy() -> Iterator[None]:
    with registry.registered(TOY):
        yield


def program(folder: Path, text: str) -> Path:
    path = folder / "program.c"
    path.write_text(text)
    return path


def test_help(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["verify", "--help"])
    said = " ".join(capsys.readouterr().out.split())
    assert f"toy {TOY.summary}" in said
    assert "engine toy:" in said
    assert "--toy-scope {all,main}" in said
    assert "--no-toy-guess" in said
    assert "--toy-most N" in said
    with pytest.raises(SystemExit):
        main(["bench", "--help"])
    assert "toy" in capsys.readouterr().out


def test_alone(tmp_path: Path) -> None:
    proved = plait.verify(
        program(tmp_path, ENDLESS), engine="toy", property="assertions", cache=False, timeout=60
    )
    assert (proved.verdict, proved.engine) == ("true", "toy")
    assert proved.words[0].endswith("; by counting assertions: there is no assertion")
    assert proved.statistics["functions"] == 2
    failing = plait.verify(
        program(tmp_path, ALONE), engine="toy", property="assertions", cache=False, timeout=60
    )
    assert (failing.verdict, failing.violated) == ("false", "assertions")
    assert failing.trace
    unclear = plait.verify(
        program(tmp_path, FINE), engine="toy", property="assertions", cache=False, timeout=60
    )
    assert (unclear.verdict, unclear.reason) == ("unknown", "there are assertions")
    assert unclear.failure is None


def test_a_guess_that_does_not_replay_is_no_violation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without an excuse it is a mistake of plait; what the engine says then does not count."""
    from tests.engines.toy import answer as toy_answer

    from plait.engines.interface import Answer, Outcome

    def mistaken(question, listener):  # type: ignore[no-untyped-def]
        guess = toy_answer._the_initial_thread_fails()
        listener.confirm(guess)
        return Outcome(Answer.VIOLATED, "surely", counterexample=guess)

    monkeypatch.setattr(toy_answer, "answer", mistaken)
    found = plait.verify(
        program(tmp_path, FINE), engine="toy", property="assertions", cache=False, timeout=60
    )
    assert found.verdict == "unknown"
    assert "was not replayed" in found.reason


def test_options(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = program(tmp_path, ALONE)
    chosen = [
        "verify",
        "--no-cache",
        "--timeout",
        "60",
        "--engine",
        "toy",
        "--property",
        "assertions",
    ]
    assert main([*chosen, "--no-toy-guess", str(path)]) == 3
    assert main([*chosen, "--toy-most", "1", str(path)]) == 1
    with pytest.raises(plait.InputError, match=r"^toy_scope 'x': known are all, main"):
        plait.verify(path, engine="toy", toy_scope="x")  # type: ignore[call-arg]
    capsys.readouterr()
    assert main(["verify", "--engine", "orders", "--toy-most", "3", str(path)]) == 2
    assert "toy_most: needs --engine toy, but only orders runs" in capsys.readouterr().err


def test_properties_that_it_does_not_check(tmp_path: Path) -> None:
    path = program(tmp_path, FINE)
    found = plait.verify(path, engine="toy", property="no-deadlock", cache=False, timeout=60)
    assert found.verdict == "unknown"
    assert found.reason == "the engine toy does not check no-deadlock"


def test_in_the_portfolio(tmp_path: Path) -> None:
    path = program(tmp_path, ENDLESS)
    seen: set[str] = set()
    found = plait.verify(
        path,
        engine="portfolio",
        property="assertions",
        cache=False,
        timeout=120,
        watch=lambda status: seen.update(item.engine for item in status.engines),
    )
    assert (found.verdict, found.engine) == ("true", "toy")
    assert {"orders", "impact", "toy"} <= seen


def test_in_auto() -> None:
    from plait.portfolio.strategy import machine_for

    machine = machine_for("auto", has_bound=False, needs_certificate=False, suits=lambda _: True)
    assert "toy" in machine.states["side by side"].starts
    machine = machine_for(
        "auto", has_bound=False, needs_certificate=False, suits=lambda item: item.name != "toy"
    )
    assert "toy" not in machine.states["side by side"].starts


def test_bench_and_json(tmp_path: Path) -> None:
    path = program(tmp_path, ALONE)
    (tmp_path / "assertions.prp").write_text("CHECK( init(main()), LTL(G ! call(reach_error())) )")
    path.write_text(
        "void reach_error(void) {}\n#include <assert.h>\nint main(void) { reach_error(); }\n"
    )
    task = tmp_path / "task.yml"
    task.write_text(
        "format_version: '2.0'\ninput_files: program.c\nproperties:\n"
        "  - property_file: assertions.prp\n    expected_verdict: false\n"
        "options:\n  language: C\n  data_model: LP64\n"
    )
    out = tmp_path / "out"
    arguments = ["--timeout", "60", "--engines", "toy,orders", "--out", str(out), str(task)]
    assert main(["bench", *arguments]) == 0
    rows = list(csv.DictReader((out / "results.csv").read_text().splitlines()))
    assert {row["engine"]: row["verdict"] for row in rows} == {"toy": "unknown", "orders": "false"}
    result = tmp_path / "result.json"
    source = program(tmp_path, ALONE)
    chosen = [
        "--engine",
        "toy",
        "--property",
        "assertions",
        "--no-cache",
        "--timeout",
        "60",
        "--json",
        str(result),
    ]
    assert main(["verify", *chosen, str(source)]) == 1
    saved = json.loads(result.read_text())
    assert saved["engine"] == "toy"
    assert saved["settings"] == {"toy_scope": "all", "toy_guess": True, "toy_most": 100}
    assert saved["statistics"]["assertions"] == 1


def test_names_and_options_are_unique() -> None:
    def like(name: str, *options: EngineOption) -> EngineDescription:
        return EngineDescription(
            name, "", Start.LATER, frozenset(), frozenset(), *[""] * 6, options=options
        )

    for extra in (like("toy"), like("auto"), like("new", EngineOption("por", 1, ""))):
        with pytest.raises(ValueError, match="already"), registry.registered(extra):
            pass


def test_the_recipe_shows_the_toy() -> None:
    """The text of docs/adding-an-engine.md quotes the files of this test."""
    text = (ROOT / "docs" / "adding-an-engine.md").read_text("utf-8")
    for name in ("description.py", "answer.py"):
        code = (ROOT / "tests" / "engines" / "toy" / name).read_text("utf-8")
        assert code.strip() in text, name
