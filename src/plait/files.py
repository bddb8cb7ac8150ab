"""Files that the user names: only regular ones are read, and what is written is whole or not
there."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

_WITHOUT_WAITING = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)


def open_regular(path: str | Path) -> BinaryIO:
    """OSError for anything else: a pipe may never say anything, and a device never end."""
    number = os.open(path, os.O_RDONLY | _WITHOUT_WAITING)
    try:
        kind = os.fstat(number).st_mode
        if stat.S_ISDIR(kind):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(kind):
            raise OSError(errno.EINVAL, "not a regular file", str(path))
        return open(number, "rb")
    except BaseException:
        os.close(number)
        raise


def read_regular(path: str | Path) -> bytes:
    with open_regular(path) as file:
        return file.read()


def write_at_once(path: Path, data: bytes, mode: int | None = None) -> None:
    """Nobody sees half a file, not even after a crash: it is written beside the old one, which it
    then replaces."""
    beside = path.with_name(f".plait-{os.getpid()}-{os.urandom(4).hex()}")
    try:
        with open(beside, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            beside.chmod(mode)
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
