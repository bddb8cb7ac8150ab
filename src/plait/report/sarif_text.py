"""Plain text as a SARIF message (3.11): braces stand for arguments there, and brackets before a
parenthesis for links."""

from __future__ import annotations

from plait.report.characters import one_line


def text_of(text: str) -> str:
    plain = one_line(text).replace("{", "{{").replace("}", "}}")
    return plain.replace("](", "] (")


def link(text: str, target: int) -> str:
    """A link to the related location with the id `target`."""
    plain = one_line(text).replace("{", "{{").replace("}", "}}").replace("\\", "\\\\")
    return f"[{plain.replace('[', chr(92) + '[').replace(']', chr(92) + ']')}]({target})"
