"""The names of the properties, for whoever must not import the model just to print help."""

from __future__ import annotations

PROPERTY_NAMES = (
    "assertions",
    "unreach-call",
    "no-data-race",
    "no-deadlock",
    "no-overflow",
    "valid-memsafety",
    "lock-misuse",
)
