"""What is finished stays, whatever happens to the run."""

from __future__ import annotations

import errno
import os
import resource
import signal
import sys
from pathlib import Path

import pytest

from plait.bench.journal import NAME, JournalFailed, open_journal
from plait.errors import InputError
from tests.bench.fakes import record

SETTINGS = {"plait": "1", "timeout": 10.0}


def test_records_come_back(tmp_path: Path) -> None:
    records = [
        record("é\udcff\n\"'", reason="<&>"),
        record("b", "unknown", None),
        record("c", engine="x"),
    ]
    with open_journal(tmp_path / "new" / "out", SETTINGS) as journal:
        for item in records:
            journal.append(item)
    with open_journal(tmp_path / "new" / "out", SETTINGS) as journal:
        assert list(journal.records.values()) == records


@pytest.mark.parametrize("cut", [1, 10, 60])
def test_half_a_line_is_dropped(tmp_path: Path, cut: int) -> None:
    with open_journal(tmp_path, SETTINGS) as journal:
        for name in "abc":
            journal.append(record(name))
    path = tmp_path / NAME
    path.write_bytes(path.read_bytes()[:-cut])
    with open_journal(tmp_path, SETTINGS) as journal:
        assert [key[0] for key in journal.records] == ["folder/a.yml", "folder/b.yml"]
        journal.append(record("d"))
    with open_journal(tmp_path, SETTINGS) as journal:
        assert len(journal.records) == 3


def test_a_head_that_was_not_finished(tmp_path: Path) -> None:
    (tmp_path / NAME).write_bytes(b'{"format":1,"sett')
    with open_journal(tmp_path, SETTINGS) as journal:
        assert journal.records == {}


def test_other_settings_are_refused(tmp_path: Path) -> None:
    with open_journal(tmp_path, SETTINGS) as journal:
        journal.append(record("a"))
    with pytest.raises(InputError, match=r"timeout was 10.0, is 20.*--fresh"):
        open_journal(tmp_path, SETTINGS | {"timeout": 20})
    with open_journal(tmp_path, SETTINGS | {"timeout": 20}, fresh=True) as journal:
        assert journal.records == {}


def test_other_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / NAME).write_text("hello\nyou\n")
    with pytest.raises(InputError, match="not a journal"):
        open_journal(tmp_path, SETTINGS)
    assert (tmp_path / NAME).read_text() == "hello\nyou\n"


def test_a_folder_that_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="not a folder"):
        open_journal(tmp_path / "file", SETTINGS)


def test_one_run_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plait.bench.journal._PATIENCE_SECONDS", 0.1)
    with open_journal(tmp_path, SETTINGS), pytest.raises(InputError, match="another run"):
        open_journal(tmp_path, SETTINGS, fresh=True)
    open_journal(tmp_path, SETTINGS).close()


def test_a_full_disk(tmp_path: Path) -> None:
    """A limit on the size of files stands for it; in another process, as it cannot be raised."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (1500, 1500))
            with open_journal(tmp_path, SETTINGS) as journal:
                try:
                    for number in range(100):
                        journal.append(record(f"task{number}", reason="x" * 100))
                except JournalFailed as error:
                    code = 0 if os.strerror(errno.EFBIG) in str(error) else 2
        except BaseException as error:
            sys.__stderr__.write(repr(error))
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert (tmp_path / NAME).read_bytes().endswith(b"\n")
    with open_journal(tmp_path, SETTINGS) as journal:
        assert 1 <= len(journal.records) <= 5


def test_a_device_is_no_journal(tmp_path: Path) -> None:
    os.symlink("/dev/full", tmp_path / NAME)
    with pytest.raises(InputError, match="not a file"):
        open_journal(tmp_path, SETTINGS)
