"""Exit codes, the same for every command."""

from __future__ import annotations

HOLDS = 0
VIOLATED = 1
UNUSABLE_INPUT = 2
UNKNOWN = 3
INTERRUPTED = 130

OF_VERDICTS = {"true": HOLDS, "false": VIOLATED, "unknown": UNKNOWN}
