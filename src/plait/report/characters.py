"""Characters that every reader of a report accepts, be it a person at a terminal or a parser.

Texts come from source files and file names, which may hold anything: control characters, bytes that
are no UTF-8 (in Python lone surrogates), characters that XML 1.0 forbids, or that make a text
look like another one (https://www.unicode.org/reports/tr9/#Directional_Formatting_Codes).
"""

from __future__ import annotations

import re
from functools import cache

_FORBIDDEN_IN_ASCII = re.compile("[^\t\n\x20-\x7e]")
_BLANKS = re.compile(r"\s+")


@cache
def _forbidden() -> re.Pattern[str]:
    """XML 1.0, production [2], without the discouraged control characters U+007F to U+009F, and
    without those that cannot be seen, change the direction of a text or separate its lines. To
    compile it takes 10 ms, and most texts are ASCII."""
    return re.compile(
        "[^\t\n\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
        "|[\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]"
    )


def clean(text: str) -> str:
    """Whatever is not allowed is shown as an escape, so that nothing gets lost unseen."""
    forbidden = _FORBIDDEN_IN_ASCII if text.isascii() else _forbidden()
    return forbidden.sub(_escaped, text.replace("\r\n", "\n"))


def clean_line(text: str) -> str:
    """With what breaks lines shown as an escape too: no text makes lines of its own."""
    return clean(text).replace("\n", "\\n")


def one_line(text: str) -> str:
    return _BLANKS.sub(" ", clean(text)).strip()


def to_bytes(text: str) -> bytes:
    """The bytes that a text was read from: Python reads bytes that are no UTF-8 as surrogates."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def _escaped(match: re.Match[str]) -> str:
    code = ord(match[0])
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
