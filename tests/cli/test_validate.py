"""`plait validate` as its users see it."""

from __future__ import annotations

from pathlib import Path

import pytest

from plait.cli.main import main

EXAMPLES = Path(__file__).parents[2] / "examples"
RACE = str(EXAMPLES / "counter_race.c")


@pytest.fixture(scope="module")
def witness(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("witness") / "w.yml"
    assert main(["explore", RACE, "--witness", str(path)]) == 1
    return path


def _last(capfd: pytest.CaptureFixture[str]) -> str:
    return capfd.readouterr().out.strip().splitlines()[-1]


def test_confirmed(witness: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", str(witness), RACE]) == 0
    assert _last(capfd) == "WITNESS: confirmed"
    assert main(["validate", "--property", "assertions", str(witness), RACE]) == 0
    assert main(["verify", RACE, "--witness", f"{witness}.graphml", "--witness-format", "graphml"])
    assert main(["validate", f"{witness}.graphml", RACE]) == 0


def test_rejected(witness: Path, capfd: pytest.CaptureFixture[str]) -> None:
    other = str(EXAMPLES / "locked_counter.c")
    assert main(["validate", str(witness), other]) == 1
    assert _last(capfd).startswith("WITNESS: rejected (")
    assert main(["validate", "--property", "no-data-race", str(witness), RACE]) == 1
    assert "another property" in _last(capfd)
    assert main(["validate", "--data-model", "ILP32", str(witness), RACE]) == 1
    assert "LP64" in _last(capfd)


def test_unknown(witness: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    proof = tmp_path / "proof.yml"
    safe = str(EXAMPLES / "locked_counter.c")
    assert main(["explore", safe, "--witness", str(proof)]) == 0
    assert main(["validate", str(proof), safe]) == 3
    assert _last(capfd) == "WITNESS: unknown (correctness witnesses are not validated)"


def test_unusable(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", str(tmp_path / "none.yml"), RACE]) == 2
    bad = tmp_path / "bad.yml"
    bad.write_text("- entry_type: violation_sequence\n")
    assert main(["validate", str(bad), RACE]) == 2
    assert f"{bad}:1" in capfd.readouterr().err


@pytest.mark.parametrize("name", ["\x01.c", "\udcff.c", "\U0001f600.c", "<&>.c"])
@pytest.mark.parametrize("form", ["2.2", "graphml"])
def test_odd_names(name: str, form: str, tmp_path: Path) -> None:
    program, witness = tmp_path / name, str(tmp_path / "witness")
    program.write_bytes(Path(RACE).read_bytes())
    options = ["--witness", witness, "--witness-format", form]
    assert main(["explore", *options, str(program)]) == 1
    assert main(["validate", witness, str(program)]) == 0


def test_an_encoding_that_nobody_knows(tmp_path: Path) -> None:
    witness = tmp_path / "w.graphml"
    witness.write_text('<?xml version="1.0" encoding="UT"?><graphml/>')
    assert main(["validate", str(witness), RACE]) == 2
