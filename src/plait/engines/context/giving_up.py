"""Why the engine says nothing of a program."""

from __future__ import annotations


class GaveUp(Exception):
    """The program is not one that this engine can say anything about."""
