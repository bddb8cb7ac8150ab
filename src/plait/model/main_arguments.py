"""The arguments of `main` as inputs: what the front end calls them, and what a run is given."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from plait.data import dataclass, replace

COUNT = "number of arguments"
LARGE_COUNT = "argc"  # where there are more than the model has
CHUNK = 8  # bytes that one input holds

_STRING = re.compile(r"argv\[(\d+)\](?:\+(\d+))?")


@dataclass(slots=True, frozen=True)
class ArgumentSizes:
    """What the model has of the arguments: of so many of them, with the program's name, so many
    bytes each, with the final zero. It is made larger like a bound on loop rounds: once some
    execution needs more."""

    count: int = 4
    bytes: int = 8


SMALLEST = ArgumentSizes()
LARGEST = ArgumentSizes(32, 512)
VECTOR = "argv up to argv[{}]"  # the name of a vector that has no end in the model


def larger(sizes: ArgumentSizes, short: str) -> ArgumentSizes | None:
    """Enough for one that has more of an object with the name `short`; None: it stays at that."""
    if short.startswith("argv"):
        grown = replace(sizes, count=2 * sizes.count)
    else:
        grown = replace(sizes, bytes=4 * sizes.bytes)
    return grown if grown.count <= LARGEST.count and grown.bytes <= LARGEST.bytes else None


def in_chunks(size: int) -> int:
    """As many bytes as whole inputs have."""
    return -(-size // CHUNK) * CHUNK


def input_name(number: int, offset: int) -> str:
    """Of the input that has the bytes of an argument from an offset on, the first one lowest."""
    return f"argv[{number}]+{offset}" if offset else f"argv[{number}]"


def is_argument(name: str) -> bool:
    return name in (COUNT, LARGE_COUNT) or _STRING.fullmatch(name) is not None


def given_arguments(inputs: Iterable[tuple[str, int]]) -> tuple[int, list[bytes]] | None:
    """`argc` and the arguments that are known of an execution with these inputs; None if it looks
    at none of them."""
    found = dict(inputs)
    if COUNT not in found:
        return None
    count = found.get(LARGE_COUNT, found[COUNT])
    strings = _strings(found)
    known = [strings.get(number, b"") for number in range(min(count, max(strings, default=-1) + 1))]
    return count, known


def _strings(inputs: Mapping[str, int]) -> dict[int, bytes]:
    chunks: dict[int, dict[int, int]] = {}
    for name, value in inputs.items():
        part = _STRING.fullmatch(name)
        if part is not None:
            chunks.setdefault(int(part[1]), {})[int(part[2] or 0)] = value
    return {
        number: b"".join(
            value.to_bytes(CHUNK, "little") for _, value in sorted(rows.items())
        ).split(b"\0")[0]
        for number, rows in chunks.items()
    }
