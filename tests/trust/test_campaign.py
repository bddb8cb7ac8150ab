"""The campaign's summary and exit code."""

from __future__ import annotations

from pathlib import Path

import pytest

from trust import agreement, campaign, compare, csmith, native

SCENARIOS = Path(__file__).parent / "printing"


@pytest.mark.skipif(native.compiler() is None, reason="gcc is not installed")
def test_a_small_campaign(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    directory = tmp_path / "scenarios"
    directory.mkdir()
    (directory / "one.c").write_text((SCENARIOS / "lost_update.c").read_text())
    code = campaign.main(
        ["--sequential", "4", "--csmith", "0", "--concurrent", "2", "--native-runs", "50",
         "--jobs", "1", "--scenarios", str(directory), "--keep", str(tmp_path / "keep")]
    )  # fmt: skip
    text = capsys.readouterr().out
    assert code == 0, text
    assert "0 disagreements" in text
    assert "pthread outputs" in text


def test_a_disagreement_gives_exit_code_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def wrong(seed: int) -> agreement.Agreement:
        return agreement.Agreement(seed, difference="true, expected false")

    monkeypatch.setattr(agreement, "check_seed", wrong)
    code = campaign.main(
        ["--sequential", "0", "--csmith", "0", "--concurrent", "2", "--native-runs", "0",
         "--jobs", "1", "--shrink-seconds", "0"]
    )  # fmt: skip
    text = capsys.readouterr().out
    assert code == 1
    assert "seed 1: true, expected false" in text
    assert "2 disagreements" in text


def test_missing_tools_are_said_loudly(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(csmith, "is_installed", lambda: False)
    assert compare.main(["--csmith", "--count", "1"]) == 0
    assert "SKIPPED: csmith is not installed" in capsys.readouterr().err
    monkeypatch.setattr(native, "compiler", lambda: None)
    assert campaign.main(["--concurrent", "0", "--sequential", "1", "--csmith", "0"]) == 0
    assert "SKIPPED: gcc is not installed" in capsys.readouterr().out
