"""Places and files in the terms of SARIF: artifacts, locations and regions."""

from __future__ import annotations

import posixpath
from typing import Any
from urllib.parse import quote

from plait.evidence.result import Place, Result, Source
from plait.report.characters import clean, to_bytes

ROOT = "SRCROOT"


def uri(path: str) -> str:
    """A path as a URI reference: file:// for an absolute one, otherwise relative to ROOT."""
    normal = posixpath.normpath(path)
    encoded = quote(to_bytes(normal), safe="/")
    if normal.startswith("/"):
        return "file:///" + encoded.lstrip("/")
    return encoded


class Places:
    """Hands out locations, and collects the files that they are in."""

    def __init__(self, result: Result) -> None:
        self.artifacts: list[dict[str, Any]] = []
        self._index: dict[str, int] = {}
        self._lines: dict[str, list[str]] = {}
        for source in result.sources:
            self._add_source(source)
        for path in result.files:
            index = self._artifact(path)
            if index is not None:
                self.artifacts[index]["roles"] = ["analysisTarget"]

    def location(self, place: Place, message: str = "") -> dict[str, Any]:
        """A SARIF location; `message` is plain text."""
        found: dict[str, Any] = {}
        physical = self._physical(place)
        if physical:
            found["physicalLocation"] = physical
        if place.function:
            name = clean(place.function)
            found["logicalLocations"] = [{"name": name, "kind": "function"}]
        if message:
            found["message"] = {"text": message}
        return found

    def lines(self, path: str) -> list[str]:
        """The text of a file, if it is part of the result."""
        return self._lines.get(uri(path), []) if path else []

    def _physical(self, place: Place) -> dict[str, Any]:
        index = self._artifact(place.file)
        if index is None:
            return {}
        found: dict[str, Any] = {
            "artifactLocation": {**self.artifacts[index]["location"], "index": index}
        }
        region = self._region(place)
        if region:
            found["region"] = region
        return found

    def _region(self, place: Place) -> dict[str, int]:
        if place.line < 1:
            return {}
        region = {"startLine": place.line}
        if place.column > 0:
            region["startColumn"] = self._column(place.file, place.line, place.column)
        start = place.line, region.get("startColumn", 1)
        if place.end_line > place.line or (place.end_line == place.line and place.end_column == 0):
            region["endLine"] = place.end_line
        if place.end_line >= place.line and place.end_column > 0:
            column = self._column(place.file, place.end_line, place.end_column)
            if (place.end_line, column) > start:
                region |= {"endLine": place.end_line, "endColumn": column}
        return region

    def _column(self, path: str, line: int, column: int) -> int:
        """Columns of a compiler count bytes, those of a report count characters."""
        lines = self.lines(path)
        if line > len(lines) or lines[line - 1].isascii():
            return column
        data = to_bytes(lines[line - 1])
        return len(data[: column - 1].decode("utf-8", "replace")) + 1

    def _add_source(self, source: Source) -> None:
        index = self._artifact(source.path)
        if index is None:
            return
        self._lines[uri(source.path)] = source.lines
        if len(source.sha256) == 64:
            self.artifacts[index]["hashes"] = {"sha-256": clean(source.sha256)}

    def _artifact(self, path: str) -> int | None:
        if not path:
            return None
        name = uri(path)
        if name not in self._index:
            self._index[name] = len(self.artifacts)
            where = {"uri": name}
            if name != ".." and not name.startswith(("file:", "../")):
                where["uriBaseId"] = ROOT
            self.artifacts.append({"location": where, "sourceLanguage": "c"})
        return self._index[name]
