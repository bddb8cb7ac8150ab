"""Which engines run when, as small state machines that docs/portfolio.md draws.

A machine is in one state at a time. Entering a state starts its engines; engines that are running
go on. An event leads to the next state; without an entry for it the machine stays. The first engine
with a sound answer ends everything.

Which engine has which part is said by the engines' descriptions (plait.engines.registry).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum

from plait.data import dataclass, field
from plait.engines import registry
from plait.engines.description import EngineDescription, Start

ALONE = "alone"


class Event(StrEnum):
    """What leads from one state to the next."""

    BOUNDED = "the program is read: every loop has a bound"
    UNBOUNDED = "the program is read: some loop may go on for ever"
    PROVED_BEFORE = "the program is read: it was proved without bounds before an edit"
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
    """`is_checked`: cheap static checks come before the first engine, in its process."""

    states: Mapping[str, State]
    start: str = "reading"
    is_checked: bool = True


def together(engines: Sequence[EngineDescription], *, is_checked: bool = False) -> Machine:
    """All of them at once, without a strategy."""
    stage = ALONE if len(engines) == 1 else "side by side"
    starts = tuple(item.name for item in engines)
    return Machine({stage: State(starts=starts)}, stage, is_checked=is_checked)


def one_after_the_other(
    first: Sequence[EngineDescription],
    soon: Sequence[EngineDescription],
    later: Sequence[EngineDescription],
) -> Machine:
    """Most errors and most proofs of bounded programs are found by the first engine in a second or
    two; those that start later prove programs with unbounded loops. Those that join soon do well
    where the others need long, or have no answer at all."""
    starts = tuple(item.name for item in first)
    waiting = f"{' and '.join(starts)} first"
    joined = " and ".join(item.name for item in (*first, *soon))
    everybody = tuple(item.name for item in (*later, *soon))
    last = {Event.PATIENCE: "all", Event.GAVE_UP: "all"}
    return Machine(
        {
            "reading": State(
                starts=starts,
                next={
                    Event.BOUNDED: waiting,
                    Event.UNBOUNDED: "head start",
                    Event.PROVED_BEFORE: "side by side",
                    Event.GAVE_UP: "all",
                },
            ),
            waiting: State(
                seconds=4.0,
                next={Event.PATIENCE: joined, Event.GAVE_UP: "all"},
            ),
            joined: State(
                starts=tuple(item.name for item in soon), seconds=6.0, share=0.5, next=last
            ),
            "head start": State(
                seconds=1.0,
                next={Event.PATIENCE: "side by side", Event.GAVE_UP: "all"},
            ),
            "side by side": State(
                starts=tuple(item.name for item in later), seconds=2.0, next=last
            ),
            "all": State(starts=everybody),
        },
    )


def machine_for(
    engine: str,
    *,
    has_bound: bool,
    needs_certificate: bool,
    suits: Callable[[EngineDescription], bool],
    memory_model: str = "sc",
) -> Machine:
    """The machine that fits what is asked for. `has_bound`: loops are unrolled so many times and no
    more, which only some engines do, as only some give certificates. `suits`: whether an engine
    checks at least some of the properties. Under a weak memory model the engines that know it
    start together: there are few."""
    if registry.is_engine(engine):
        return together([registry.engine(engine)])
    first = registry.starting(Start.FIRST)
    soon = tuple(filter(suits, registry.starting(Start.SOON)))
    later = tuple(filter(suits, registry.starting(Start.LATER)))
    if memory_model != "sc":
        everybody = [item for item in (*first, *soon, *later) if suits(item)]
        return together(everybody or first[:1])
    if engine == registry.PORTFOLIO:
        return together([*first, *later, *soon])
    if needs_certificate:
        # If none of them suits, it is for one of them to say so.
        givers = [item for item in registry.starting(Start.LATER) if item.gives_certificates]
        return together([item for item in givers if suits(item)] or givers[:1])
    if has_bound:
        return together([item for item in first if item.bounds_loops])
    if not later and not soon:
        return together(first, is_checked=True)
    return one_after_the_other(first, soon, later)
