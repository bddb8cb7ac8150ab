"""Only regular files are read; what is written is whole or not there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from plait.files import open_regular, read_regular, write_at_once


def test_half_a_file_is_never_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_at_once(tmp_path / "x", b"old")

    def full(file: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_at_once(tmp_path / "x", b"new")
    assert [path.name for path in tmp_path.iterdir()] == ["x"]
    assert (tmp_path / "x").read_text() == "old"


def test_only_regular_files_are_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"text")
    assert read_regular(tmp_path / "file") == b"text"
    os.mkfifo(tmp_path / "pipe")
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    for path in (tmp_path / "pipe", Path("/dev/null"), tmp_path):
        with pytest.raises(OSError, match=r"not a regular file|[Dd]irectory"):
            open_regular(path)
    assert not before or len(os.listdir("/proc/self/fd")) == before
