"""Finished jobs on disk, one line of JSON each, written the moment they are finished.

The first line holds the settings: results that were obtained under other ones do not mix. Whatever
kills the run, at most the line that was being written is lost, and the next run goes on from there.
"""

from __future__ import annotations

import fcntl
import json
import os
import stat
import time
from pathlib import Path
from typing import Any

from plait.bench.records import Key, Record, record_from_plain, to_plain
from plait.errors import InputError

NAME = "journal.jsonl"
BEGINNING = b'{"format":'  # of every journal
_FORMAT = 1
_PATIENCE_SECONDS = 1.0  # for a run that was killed and still cleans up


class JournalFailed(Exception):
    """A result could not be written. What was written before is still there."""


class Journal:
    """Open from `open_journal` to `close`; nobody else can open it meanwhile."""

    def __init__(self, path: Path, file: int, records: dict[Key, Record], end: int) -> None:
        self.path = path
        self.records = records
        self._file = file
        self._end = end

    def append(self, record: Record) -> None:
        self._write(to_plain(record))
        self.records[record.key] = record

    def _write(self, data: dict[str, Any]) -> None:
        line = json.dumps(data, separators=(",", ":")).encode("ascii") + b"\n"
        try:
            rest = memoryview(line)
            while rest:
                rest = rest[os.write(self._file, rest) :]
            os.fsync(self._file)
        except OSError as error:
            self._forget_half_a_line()
            raise JournalFailed(f"{self.path}: {error.strerror or error}") from None
        self._end += len(line)

    def _forget_half_a_line(self) -> None:
        try:
            os.ftruncate(self._file, self._end)
        except OSError:
            pass  # then the next run drops it

    def close(self) -> None:
        os.close(self._file)

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_journal(folder: Path, settings: dict[str, Any], *, fresh: bool = False) -> Journal:
    """The journal of a folder, with what an earlier run under the same settings has finished.
    `fresh` throws an earlier run away."""
    path = folder / NAME
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
    except (FileExistsError, NotADirectoryError):
        raise InputError(f"{folder}: not a folder") from None
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise InputError(f"{path}: not a file")
        _lock(path, file)
        if fresh:
            os.ftruncate(file, 0)
        records, end, found = _read(path, file)
        if found is not None:
            _check(path, found, settings)
        os.ftruncate(file, end)
        journal = Journal(path, file, records, end)
        if found is None:
            journal._write({"format": _FORMAT, "settings": settings})
        return journal
    except BaseException:
        os.close(file)
        raise


def _lock(path: Path, file: int) -> None:
    end = time.monotonic() + _PATIENCE_SECONDS
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() > end:
                raise InputError(
                    f"{path}: another run is writing to it; choose another folder with --out"
                ) from None
            time.sleep(0.05)
        except OSError:
            return  # a file system without locks


def _read(path: Path, file: int) -> tuple[dict[Key, Record], int, dict[str, Any] | None]:
    """Records, where the last whole line ends, and the settings; no settings: nothing there."""
    data = _contents(file)
    end = data.rfind(b"\n") + 1
    lines = data[:end].splitlines()
    if not lines:
        return {}, 0, None
    records: dict[Key, Record] = {}
    try:
        head = json.loads(lines[0])
        if head["format"] != _FORMAT:
            raise ValueError
        settings = dict(head["settings"])
        for line in lines[1:]:
            record = record_from_plain(json.loads(line))
            records[record.key] = record
    except (ValueError, KeyError, TypeError):
        raise InputError(f"{path}: not a journal of `plait bench`; --fresh replaces it") from None
    return records, end, settings


def _contents(file: int) -> bytes:
    os.lseek(file, 0, os.SEEK_SET)
    chunks = []
    while chunk := os.read(file, 1 << 20):
        chunks.append(chunk)
    return b"".join(chunks)


def _check(path: Path, found: dict[str, Any], settings: dict[str, Any]) -> None:
    names = sorted(
        name for name in found.keys() | settings.keys() if found.get(name) != settings.get(name)
    )
    if names:
        changes = ", ".join(
            f"{name.replace('_', ' ')} was {found.get(name)}, is {settings.get(name)}"
            for name in names
        )
        raise InputError(
            f"{path}: results of another kind ({changes});"
            " --fresh starts over, --out names another folder"
        )
