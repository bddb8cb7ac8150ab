"""The arguments of `main` as inputs: what the front end calls them, and what a run is given."""

from __future__ import annotations

from collections.abc import Iterable

COUNT = "number of arguments"
LARGE_COUNT = "argc"  # where there are more than the model has
STRING = "argv[{}]"  # the bytes of one, the first one lowest

MOST_ARGUMENTS = 4  # with the program's name
MOST_BYTES = 8  # of an argument, with the final zero


def is_argument(name: str) -> bool:
    return name in (COUNT, LARGE_COUNT) or name in map(STRING.format, range(MOST_ARGUMENTS))


def given_arguments(inputs: Iterable[tuple[str, int]]) -> tuple[int, list[bytes]] | None:
    """`argc` and the arguments that are known of an execution with these inputs; None if it looks
    at none of them."""
    found = dict(inputs)
    if COUNT not in found:
        return None
    count = found[COUNT] if found[COUNT] <= MOST_ARGUMENTS else found[LARGE_COUNT]
    known: list[bytes] = []
    for number in range(min(count, MOST_ARGUMENTS)):
        data = found.get(STRING.format(number), 0).to_bytes(MOST_BYTES, "little")
        known.append(data.split(b"\0")[0])
    return count, known
