"""Files that are whole or not there."""

from __future__ import annotations

import os
from pathlib import Path


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
