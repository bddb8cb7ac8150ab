"""The names of the properties, for whoever must not import the model just to print help."""

from __future__ import annotations

PROPERTY_NAMES = (
    "assertions",
    "unreach-call",
    "no-data-race",
    "no-deadlock",
    "no-overflow",
    "valid-memsafety",
    "valid-access",
    "lock-misuse",
    "no-undefined",
)
# What is checked where nothing is asked for, and the name of everything (plait.model.properties).
DEFAULT_NAMES = ("assertions", "valid-access", "lock-misuse", "no-undefined")
ALL_NAME = "all"
# What --monitor asks; it has no name of its own among those that --property takes.
MONITOR_NAME = "monitor"
CHECKED_NAMES = (*PROPERTY_NAMES, MONITOR_NAME)
