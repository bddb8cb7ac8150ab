"""Where in the source the things are that witnesses point at: keywords of branches and closing
parentheses of calls. Comments, literals and preprocessor lines are blanked before one looks."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

_BLANKED = re.compile(
    r"//[^\n]*|/\*.*?(?:\*/|\Z)|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|^[ \t]*\#[^\n]*",
    re.DOTALL | re.MULTILINE,
)
_WORD_BEFORE = re.compile(r"(\w+)\s*\Z", re.ASCII)
_KEYWORDS = ("if", "while", "for", "switch")
_FARTHEST = 20_000

Position = tuple[int, int]  # line and column, from 1


class SourceText:
    def __init__(self, lines: Sequence[str]) -> None:
        text = "\n".join(lines)
        self._text = _BLANKED.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
        self._starts = [0]
        for line in lines:
            self._starts.append(self._starts[-1] + len(line) + 1)
        self.lines = len(lines)

    def offset(self, line: int, column: int) -> int:
        if not 1 <= line <= self.lines:
            return len(self._text)
        return min(self._starts[line - 1] + column - 1, len(self._text))

    def position(self, offset: int) -> Position:
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    def keyword_of(self, line: int, column: int) -> tuple[str, Position] | None:
        """The keyword, and its place, of the statement whose condition begins at a place; or that
        stands there itself."""
        start = self.offset(line, column)
        match = re.compile(r"(?:if|while|for|switch)\b").match(self._text, start)
        if match is not None:
            return match[0], (line, column)
        depth = 0
        is_first = True  # no ';' was passed
        for offset in range(start - 1, max(start - _FARTHEST, 0) - 1, -1):
            sign = self._text[offset]
            if sign == ")":
                depth += 1
            elif sign == "(" and depth:
                depth -= 1
            elif sign == "(":
                before = _WORD_BEFORE.search(self._text, max(offset - 100, 0), offset)
                if before is None or before[1] not in _KEYWORDS:
                    if before is None or not before[1]:
                        continue  # a parenthesis inside of the condition
                    return None
                if (before[1] == "for") is is_first:
                    return None
                return before[1], self.position(before.start(1))
            elif sign == ";":
                is_first = False
            elif sign in "{}":
                return None
        return None

    def statement(self, line: int, column: int) -> Position | None:
        """Where the statement begins that is at a place, or whose condition is there; None for
        conditions of `for` and `do`, which come after something else in their statement."""
        found = self.keyword_of(line, column)
        if found is None:
            return line, column
        keyword, position = found
        is_do = keyword == "while" and self.is_followed_by(";", *position)
        return None if keyword == "for" or is_do else position

    def is_followed_by(self, sign: str, line: int, column: int) -> bool:
        """Whether the statement's parentheses that open after a place are followed by a sign."""
        end = self._closing(self._text.find("(", self.offset(line, column)))
        return end is not None and self._text[end + 1 :].lstrip()[:1] == sign

    def calls(self, name: str, begin: Position, end: Position) -> list[Position]:
        """The closing parentheses of the calls of a function by its name, in order."""
        first = self.offset(*begin)
        last = self.offset(*end) if end > begin else first + 1
        found = []
        for match in re.finditer(rf"\b{re.escape(name)}\s*\(", self._text[first:last]):
            closing = self._closing(first + match.end() - 1)
            if closing is not None:
                found.append(self.position(closing))
        return found

    def body(self, name: str) -> Position | None:
        """The first statement of a function's definition."""
        for match in re.finditer(rf"\b{re.escape(name)}\s*\(", self._text):
            closing = self._closing(match.end() - 1)
            if closing is None:
                continue
            inside = re.compile(r"\s*\{\s*").match(self._text, closing + 1)
            if inside is not None:
                return self.position(inside.end())
        return None

    def _closing(self, opening: int) -> int | None:
        if opening < 0:
            return None
        depth = 0
        for offset in range(opening, min(opening + _FARTHEST, len(self._text))):
            sign = self._text[offset]
            if sign == "(":
                depth += 1
            elif sign == ")":
                depth -= 1
                if depth == 0:
                    return offset
        return None
