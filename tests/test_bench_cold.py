"""tools/bench_cold.py: the phases that it names are there, and its numbers add up."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

import bench_cold
import cold_phases

ROOT = Path(__file__).parents[1]
PROGRAM = str(ROOT / "tests" / "programs" / "litmus" / "message_passing.c")


@pytest.mark.parametrize("module", cold_phases.PHASES)
def test_phases_are_functions_of_this_checkout(module: str) -> None:
    for path in cold_phases.PHASES[module]:
        owner = import_module(module)
        for name in path.split("."):
            owner = getattr(owner, name)
        assert callable(owner)


def test_the_innermost_phase_pays(tmp_path: Path) -> None:
    clock = cold_phases.Clock(str(tmp_path))

    def spend(seconds: float) -> None:
        end = cold_phases.time.process_time() + seconds
        while cold_phases.time.process_time() < end:
            pass

    def outer() -> None:
        spend(0.02)
        clock.run("inner", spend, 0.06)

    clock.run("outer", outer)
    assert clock.seconds["inner"] >= 0.06
    assert 0.02 <= clock.seconds["outer"] < 0.06


def test_a_run_is_taken_apart(capsys: pytest.CaptureFixture[str]) -> None:
    assert bench_cold.main(["--rounds", "1", PROGRAM]) == 0
    rows = {
        line[:28].strip(): float(line[28:].split()[0])
        for line in capsys.readouterr().out.splitlines()
        if line.endswith(" ms")
    }
    assert rows[Path(PROGRAM).name] == rows["median of 1 tasks"] > 0
    for phase in ("imports", "libclang: parse", "lowering, linking", "unrolling", "worker"):
        assert rows[phase] > 0, phase


def test_a_baseline_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="no Python there"):
        bench_cold.main(["--baseline", str(tmp_path / "bin" / "plait"), PROGRAM])


def test_different_verdicts_are_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "python").touch()

    def run(command: list[str]) -> tuple[float, str]:
        is_other = command[0].startswith(str(tmp_path))
        return 1.0, f"words\nVERDICT: {'true' if is_other else 'false (assertions)'}\n"

    monkeypatch.setattr(bench_cold, "run", run)
    assert bench_cold.main(["--baseline", str(tmp_path / "plait"), PROGRAM]) == 1
    assert "VERDICT: true but VERDICT: false (assertions)" in capsys.readouterr().out
