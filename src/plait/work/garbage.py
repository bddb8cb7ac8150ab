"""When Python looks for garbage in circles."""

from __future__ import annotations

import gc

_NEW_OBJECTS = 200_000  # some 20 MB


def collect_rarely() -> None:
    """For a process of our own: programs and formulas are large, live to the end and have hardly
    any circles, so that looking at them again and again was 5 % of a run."""
    gc.freeze()
    gc.set_threshold(_NEW_OBJECTS, 10, 10)
