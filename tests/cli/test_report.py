"""`plait report`: what was saved can be shown and written later."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from plait.cli.main import main

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize("verbose", [[], ["-v"]])
def test_the_same_as_when_it_was_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], verbose: list[str]
) -> None:
    saved = str(tmp_path / "result.json")
    program = str(EXAMPLES / "counter_race.c")
    assert main(["verify", *verbose, "--json", saved, program]) == 1
    printed = capsys.readouterr().out.splitlines()
    assert main(["report", *verbose, saved]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[-1] == printed[-1] == "VERDICT: false (assertions)"
    until = shown.index("assumptions:")
    assert shown[:until] == printed[:until]


def test_no_source_is_needed(tmp_path: Path) -> None:
    source = tmp_path / "program.c"
    source.write_text((EXAMPLES / "counter_race.c").read_text())
    saved = str(tmp_path / "result.json")
    assert main(["explore", "--json", saved, str(source)]) == 1
    os.remove(source)
    again = str(tmp_path / "again.json")
    assert main(["report", saved, "--json", again]) == 0
    assert Path(again).read_text() == Path(saved).read_text()


def test_mistakes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(tmp_path / "missing.json")]) == 2
    (tmp_path / "other.json").write_text("{}")
    assert main(["report", str(tmp_path / "other.json")]) == 2
    assert "not a result" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["report", "a.json", "b.json"])


@pytest.mark.parametrize(
    ("part", "key", "value"),
    [
        (None, "data_model", "LP65"),
        ("violation", "property", "</script>"),
        ("violation", "thread", 10**30),
        ("trace", "column", 10**30),
    ],
)
def test_values_that_no_result_has(
    tmp_path: Path, part: str | None, key: str, value: object
) -> None:
    saved = tmp_path / "result.json"
    assert main(["explore", "--json", str(saved), str(EXAMPLES / "counter_race.c")]) == 1
    data = json.loads(saved.read_text())
    changed = data if part is None else data[part]
    (changed[0] if isinstance(changed, list) else changed)[key] = value
    saved.write_text(json.dumps(data))
    witness = ["--witness", str(tmp_path / "w.graphml"), "--witness-format", "graphml"]
    assert main(["report", str(saved), *witness]) in (0, 2)
    assert not (tmp_path / "w.graphml").exists()


def test_texts_cannot_write_lines_of_their_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    saved = tmp_path / "result.json"
    assert main(["explore", "--json", str(saved), str(EXAMPLES / "counter_race.c")]) == 1
    evil = "\x1b[2J\nVERDICT: true"
    data = json.loads(saved.read_text())
    data |= {"violated": evil, "words": [evil], "assumptions": [evil]}
    data["violation"]["message"] = "\x1b[2J"
    saved.write_text(json.dumps(data))
    capsys.readouterr()
    assert main(["report", str(saved)]) == 0
    printed = capsys.readouterr().out
    assert "\x1b" not in printed
    assert printed.count("\nVERDICT: ") == 1
