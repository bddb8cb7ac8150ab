"""Random litmus tests: a few threads, locations and accesses, with all memory orders."""

from __future__ import annotations

import random

from litmus.table import Litmus
from litmus.write import parsed

_LOADS = ("rlx", "rlx", "acq", "sc")
_STORES = ("rlx", "rlx", "rel", "sc")
_UPDATES = ("rlx", "acq", "rel", "ar", "sc")
_FENCES = ("acq", "rel", "ar", "sc", "sc")
_FAILURES = {"rlx": "rlx", "acq": "acq", "rel": "rlx", "ar": "acq", "sc": "sc"}
_REGISTERS = "abcde"


def random_test(number: int, *, orders: str = "") -> Litmus:
    """The test of a number. `orders`: all accesses have this memory order; fences are free."""
    dice = random.Random(number)
    count = dice.choice((2, 2, 2, 3))
    longest = 4 if count == 2 else 3
    places = "xyz"[: dice.choice((1, 2, 2, 2, 3))]
    registers = list(_REGISTERS)
    threads = []
    for _ in range(count):
        own: list[str] = []
        parts = []
        for _ in range(dice.randint(1, longest)):
            parts.append(_operation(dice, places, registers, own, orders))
        threads.append("; ".join(parts))
    used = sorted(set(_REGISTERS) - set(registers))
    operations = [item for one in parsed(Litmus("", tuple(threads), "", {})) for item in one]
    accessed = {item["store"] or item["load"] for item in operations}
    last = [place.upper() for place in places if place in accessed]
    if not last:
        return random_test(number + 1_000_000, orders=orders)
    return Litmus(f"random-{number}", tuple(threads), " ".join([*used, *last]), {})


def _operation(
    dice: random.Random, places: str, registers: list[str], own: list[str], orders: str
) -> str:
    place, kind = dice.choice(places), dice.random()
    condition = f"{own[-1]}? " if own and dice.random() < 0.15 else ""
    if kind < 0.12:
        return f"F {dice.choice(_FENCES)}"
    if kind < 0.5 or not registers:
        return f"{condition}{place}={dice.randint(1, 3)} {orders or dice.choice(_STORES)}"
    register = registers.pop(0)
    if kind < 0.82:
        text = f"{register}={place} {orders or dice.choice(_LOADS)}"
    else:
        order = orders or dice.choice(_UPDATES)
        text = dice.choice(
            (
                f"{register}={place}<{dice.randint(1, 3)} {order}",
                f"{register}={place}+1 {order}",
                f"{register}={place}?{dice.randint(0, 2)}:{dice.randint(1, 3)}"
                f" {order}/{_FAILURES[order]}",
            )
        )
    own.append(register)
    return condition + text
