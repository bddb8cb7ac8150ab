"""The edits of a campaign, as data: `edits/*.toml`, one file for each part of plait."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = Path(__file__).resolve().parent / "edits"


@dataclass(frozen=True, slots=True)
class Edit:
    """`old` stands once in the file. `tests` are arguments for pytest, the fastest first; at least
    one of them fails when `old` is replaced by `new`, for the reason that `why` gives."""

    name: str
    file: str
    old: str
    new: str
    why: str
    tests: tuple[str, ...]

    def applied(self, text: str) -> str:
        count = text.count(self.old)
        if count != 1:
            raise ValueError(f"{self.name}: the old text is {count} times in {self.file}")
        return text.replace(self.old, self.new)


def all_edits(folder: Path = FOLDER) -> list[Edit]:
    return [edit for path in sorted(folder.glob("*.toml")) for edit in _read(path)]


def _read(path: Path) -> Iterator[Edit]:
    with path.open("rb") as file:
        rows = tomllib.load(file)["edit"]
    for row in rows:
        row["tests"] = tuple(row["tests"])
        yield Edit(**row)


def problems(edits: list[Edit], root: Path = ROOT) -> list[str]:
    """What is wrong with a list of edits, without running anything."""
    found: list[str] = []
    names: set[str] = set()
    for edit in edits:
        if edit.name in names:
            found.append(f"{edit.name}: the name of two edits")
        names.add(edit.name)
        try:
            text = edit.applied((root / edit.file).read_text())
            if edit.file.endswith(".py"):
                compile(text, edit.file, "exec")
        except (OSError, ValueError, SyntaxError) as error:
            found.append(f"{edit.name}: {error}")
        if edit.old == edit.new:
            found.append(f"{edit.name}: changes nothing")
        if not edit.tests:
            found.append(f"{edit.name}: no test is named")
        for test in edit.tests:
            path, _, rest = test.partition("::")
            function = rest.partition("[")[0]
            if not (root / path).is_file():
                found.append(f"{edit.name}: there is no {path}")
            elif function and f"def {function}(" not in (root / path).read_text():
                found.append(f"{edit.name}: {path} has no {function}")
    return found
