"""Which engines run when, as small state machines that docs/portfolio.md draws.

A machine is in one state at a time. Entering a state starts its engines; engines that are running
go on. An event leads to the next state; without an entry for it the machine stays. The first engine
with a sound answer ends everything.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from plait.data import dataclass, field

MODULAR = "modular"
ORDERS = "orders"
IMPACT = "impact"
ALONE = "alone"


class Event(StrEnum):
    """What leads from one state to the next."""

    BOUNDED = "the program is read: every loop has a bound"
    UNBOUNDED = "the program is read: some loop may go on for ever"
    PROVED_BEFORE = "the program is read: `impact` has proved it before an edit"
    PATIENCE = "the time of the state is up"
    GAVE_UP = "an engine has ended without an answer"


@dataclass(frozen=True, slots=True)
class State:
    """`seconds` and `share` (of the time limit) say when the PATIENCE of the state ends: at the
    later one of the two, or never."""

    starts: tuple[str, ...] = ()
    seconds: float | None = None
    share: float = 0.0
    next: Mapping[Event, str] = field(default_factory=dict)

    def patience(self, limit: float | None) -> float | None:
        if self.seconds is None:
            return None
        return max(self.seconds, self.share * (limit or 0.0))


@dataclass(frozen=True, slots=True)
class Machine:
    """`first` is the engine of the process that reads the program first and says what it is like.
    `is_checked`: cheap static checks come before the first engine."""

    first: str
    states: Mapping[str, State]
    start: str = "reading"
    is_checked: bool = True


def alone(engine: str, *, is_checked: bool = False) -> Machine:
    return Machine(engine, {ALONE: State(starts=(engine,))}, ALONE, is_checked=is_checked)


# Most errors and most proofs of bounded programs are found by `orders` in a second or two, and only
# `impact` proves programs with unbounded loops.
AUTO = Machine(
    ORDERS,
    {
        "reading": State(
            starts=(ORDERS,),
            next={
                Event.BOUNDED: "orders first",
                Event.UNBOUNDED: "head start",
                Event.PROVED_BEFORE: "side by side",
                Event.GAVE_UP: "side by side",
            },
        ),
        "orders first": State(
            seconds=10.0,
            share=0.5,
            next={Event.PATIENCE: "side by side", Event.GAVE_UP: "side by side"},
        ),
        "head start": State(
            seconds=1.0,
            next={Event.PATIENCE: "side by side", Event.GAVE_UP: "side by side"},
        ),
        "side by side": State(starts=(IMPACT,)),
    },
)

PORTFOLIO = Machine(
    ORDERS, {"side by side": State(starts=(ORDERS, IMPACT))}, "side by side", is_checked=False
)


def machine_for(
    engine: str, *, has_bound: bool, needs_certificate: bool, suits_impact: bool
) -> Machine:
    """The machine that fits what is asked for. `has_bound`: loops are unrolled so many times and no
    more, which only `orders` does; only `impact` has certificates, and not for all properties.
    `suits_impact`: it checks at least some of them."""
    match engine:
        case "modular" | "orders" | "impact":
            return alone(engine)
        case "portfolio" if suits_impact:
            return PORTFOLIO
        case "portfolio":
            return alone(ORDERS)
    if needs_certificate:
        return alone(IMPACT)
    if has_bound or not suits_impact:
        return alone(ORDERS, is_checked=not has_bound)
    return AUTO
