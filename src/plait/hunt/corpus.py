"""A folder with what earlier hunts of the same program have found, so that the next one goes on."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from plait.errors import Diagnostic, InputError
from plait.files import read_regular, write_at_once
from plait.hunt.confirm import Failure
from plait.hunt.schedule import Schedule, parse

_STATE = "hunt.json"
_VERSION = 1


class Corpus:
    def __init__(self, folder: Path, key: str) -> None:
        self.folder = folder
        self._key = key
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"--corpus {folder}: {error.strerror or error}") from None

    def state(self) -> dict[str, Any]:
        """What the engines have saved; nothing if the program is another one now."""
        path = self.folder / _STATE
        if not path.exists():
            return {}
        try:
            data = json.loads(read_regular(path))
        except (OSError, ValueError):
            raise InputError(Diagnostic("not a state of plait hunt", str(path))) from None
        if not isinstance(data, dict) or data.get("version") != _VERSION:
            raise InputError(Diagnostic("not a state of plait hunt", str(path)))
        return dict(data.get("engines", {})) if data.get("key") == self._key else {}

    def save(self, engines: dict[str, Any]) -> None:
        data = {"version": _VERSION, "key": self._key, "engines": engines}
        write_at_once(self.folder / _STATE, json.dumps(data).encode())

    def schedules(self) -> list[tuple[Path, Schedule]]:
        """Of failures that were shown before."""
        found = []
        for path in sorted(self.folder.glob("*.schedule")):
            text = read_regular(path).decode("utf-8", "replace")
            found.append((path, parse(text, str(path))))
        return found

    def keep(self, failure: Failure) -> Path:
        name = re.sub(r"[^A-Za-z0-9]+", "-", failure.violated).strip("-")
        digest = hashlib.sha256(failure.identity.encode("utf-8", "replace")).hexdigest()[:8]
        path = self.folder / f"{name}-{digest}.schedule"
        comments = [" ".join(failure.text.split())]
        write_at_once(path, failure.schedule.text(comments).encode("utf-8", "replace"))
        return path


def key_of(executable: Path, words: Iterable[str]) -> str:
    """What has to be the same for an old search to go on."""
    digest = hashlib.sha256(executable.read_bytes())
    for word in words:
        digest.update(b"\0" + word.encode("utf-8", "surrogateescape"))
    return digest.hexdigest()
