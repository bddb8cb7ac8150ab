"""Calls of functions that run already. Lazily, a recursion would be unrolled for ever below the
case that ends it, so an engine asks at once whether such a call is possible."""

from __future__ import annotations

from plait.symbolic.locations import Location


def calls_again(before: Location, after: Location, thread: int) -> bool:
    """Whether the step of a thread from one location to another has called such a function."""
    frames = after.threads[thread - 1].frames
    if len(frames) <= len(before.threads[thread - 1].frames):
        return False
    return len({frame.function for frame in frames}) < len(frames)
