"""A folder with one file for each thing that is worth to be kept for a later run.

Nothing here fails: what cannot be read, or is not exactly what was written, is not there, and what
cannot be written is not kept. The folder has to belong to the user, and nobody else may write to
it, for what is read from it is believed.
"""

from __future__ import annotations

import json
import os
import stat
import time
from hashlib import sha256
from pathlib import Path
from typing import Any

MOST_ENTRIES = 2_000
MOST_BYTES = 200_000_000
LARGEST_ENTRY = 16_000_000

_MARK = b"plait-cache 1 "
_SUFFIX = ".json"
_UNFINISHED = ".part"
_OLD_SECONDS = 3600.0  # after that nobody finishes what is unfinished
_KEPT = 0.75  # of the limits, when something has to go


def folder() -> Path | None:
    """Where the environment says, as for the caches of other programs."""
    chosen = os.environ.get("PLAIT_CACHE_DIR")
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(base):
        return Path(base) / "plait"
    try:
        return Path.home() / ".cache" / "plait"
    except RuntimeError:
        return None


class Store:
    """Open files through the folder's descriptor: its name may get another meaning meanwhile."""

    def __init__(self, descriptor: int) -> None:
        self._folder = descriptor

    @classmethod
    def open(cls, path: Path | None) -> Store | None:
        """None if there is no folder that can be trusted."""
        if path is None or not hasattr(os, "geteuid") or os.open not in os.supports_dir_fd:
            return None
        try:
            os.makedirs(path, mode=0o700, exist_ok=True)
            descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except (OSError, ValueError):
            return None
        found = os.fstat(descriptor)
        if found.st_uid != os.geteuid() or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            os.close(descriptor)
            return None
        return cls(descriptor)

    def close(self) -> None:
        os.close(self._folder)

    def get(self, key: str) -> dict[str, Any] | None:
        """What was put there under this key; a file that is not whole is removed."""
        name = key + _SUFFIX
        try:
            data = self._read(name)
        except FileNotFoundError:
            return None
        except OSError:
            data = b""
        entry = _parsed(key, data)
        try:
            if entry is None:
                os.unlink(name, dir_fd=self._folder)
            else:
                os.utime(name, dir_fd=self._folder)  # used just now
        except OSError:
            pass
        return entry

    def put(self, key: str, entry: dict[str, Any]) -> bool:
        """Whether it was kept. Others see the old file or the new one, never a part."""
        body = json.dumps({"key": key, "entry": entry}, separators=(",", ":")).encode("ascii")
        if len(body) > LARGEST_ENTRY:
            return False
        data = _MARK + sha256(body).hexdigest().encode("ascii") + b"\n" + body
        beside = f"{key}.{os.getpid()}.{os.urandom(4).hex()}{_UNFINISHED}"
        try:
            self._write(beside, data)
            os.replace(beside, key + _SUFFIX, src_dir_fd=self._folder, dst_dir_fd=self._folder)
        except OSError:
            self.remove(beside)
            return False
        self._clean()
        return True

    def remove(self, name: str) -> None:
        try:
            os.unlink(name, dir_fd=self._folder)
        except OSError:
            pass

    def forget(self, key: str) -> None:
        self.remove(key + _SUFFIX)

    def _read(self, name: str) -> bytes:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        descriptor = os.open(name, flags, dir_fd=self._folder)
        with os.fdopen(descriptor, "rb") as file:
            found = os.fstat(descriptor)
            is_own = found.st_uid == os.geteuid() and stat.S_ISREG(found.st_mode)
            is_open = found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
            if not is_own or is_open or found.st_size > LARGEST_ENTRY + 1000:
                return b""
            return file.read(LARGEST_ENTRY + 1000)

    def _write(self, name: str, data: bytes) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(name, flags, 0o600, dir_fd=self._folder)
        with os.fdopen(descriptor, "wb", buffering=0) as file:
            rest = memoryview(data)
            while rest:
                rest = rest[file.write(rest) :]

    def _clean(self) -> None:
        """What was not used for longest goes first, and more of it than needed, so that the next
        time is not soon."""
        rows: list[tuple[int, int, str]] = []
        old = time.time() - _OLD_SECONDS
        try:
            with os.scandir(self._folder) as entries:
                for entry in entries:
                    found = entry.stat(follow_symlinks=False)
                    if entry.name.endswith(_SUFFIX):
                        rows.append((found.st_mtime_ns, found.st_size, entry.name))
                    elif entry.name.endswith(_UNFINISHED) and found.st_mtime < old:
                        self.remove(entry.name)
        except OSError:
            return
        count, size = len(rows), sum(row[1] for row in rows)
        if count <= MOST_ENTRIES and size <= MOST_BYTES:
            return
        for _, own, name in sorted(rows):
            if count <= MOST_ENTRIES * _KEPT and size <= MOST_BYTES * _KEPT:
                return
            self.remove(name)
            count, size = count - 1, size - own


def _parsed(key: str, data: bytes) -> dict[str, Any] | None:
    head, _, body = data.partition(b"\n")
    if head != _MARK + sha256(body).hexdigest().encode("ascii"):
        return None
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or found.get("key") != key:
        return None
    entry = found.get("entry")
    return entry if isinstance(entry, dict) else None
