"""Properties of which a violation names a part."""

from __future__ import annotations

from collections.abc import Collection

PARTS = {
    "valid-memsafety": ("valid-deref", "valid-free", "valid-memtrack"),
    "valid-access": ("valid-deref", "valid-free"),
}


def property_with(part: str, asked: Collection[str]) -> str:
    """The property as it was asked for, given what was violated of it."""
    whole = [name for name, parts in PARTS.items() if part in parts]
    if part in asked or not whole:
        return part
    return next((name for name in whole if name in asked), whole[0])
