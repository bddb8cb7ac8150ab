"""Whether facts are true: in all states that exploration finds, and along random runs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from plait.engines.modular.order import order_of
from plait.model.facts import Fact, Range, Rounds, Unreachable
from plait.model.program import Edge, Program
from plait.model.properties import Specification
from plait.semantics.explore import ExploreOptions, explore
from plait.semantics.run import run
from plait.semantics.state import Frame, State


def refuted_in_states(program: Program, facts: Iterable[Fact], states: list[State]) -> list[str]:
    pages = {item.name: item.page for item in program.objects}
    ranges = [item for item in facts if isinstance(item, Range)]
    never = {(item.function, item.location) for item in facts if isinstance(item, Unreachable)}
    found = []
    for state in states:
        contents = dict(zip(state.pages, state.contents, strict=True))
        undefined = dict(state.undefined)
        for fact in ranges:
            page = pages[fact.object]
            if page not in contents or any(undefined.get(page, b"")):
                continue
            data = contents[page][fact.offset : fact.offset + fact.size]
            value = int.from_bytes(data, "little", signed=fact.signed)
            if not fact.low <= value <= fact.high:
                found.append(f"{fact}, but it is {value}")
        for thread in state.threads:
            if thread.code is None:
                continue
            places = [(thread.code.function.name, thread.location)]
            frame: Frame | None = thread.caller
            while frame is not None:
                places.append((frame.code.function.name, frame.site.edge.source))
                frame = frame.caller
            found += [f"{place} is reached" for place in places if place in never]
    return found


def refuted_by_exploration(
    program: Program, specification: Specification, facts: Iterable[Fact], most: int
) -> list[str]:
    facts = list(facts)
    found = explore(
        program, specification, ExploreOptions(max_states=most, max_seconds=10, keep_states=True)
    )
    return refuted_in_states(program, facts, found.reached)


def refuted_by_run(
    program: Program, specification: Specification, facts: Iterable[Fact], seed: int
) -> list[str]:
    """Along one random schedule: locations, and rounds of loops."""
    never = {(item.function, item.location) for item in facts if isinstance(item, Unreachable)}
    most = {(item.function, item.head): item.most for item in facts if isinstance(item, Rounds)}
    execution = run(program, specification, seed=seed, max_steps=3_000, trace=True)
    orders = {name: order_of(program.functions[name]) for name, _ in most}
    found = []
    stacks: dict[int, list[_Watched]] = {}
    for event in execution.events:
        name, edge = event.function.name, event.edge
        if (name, edge.source) in never:
            found.append(f"{(name, edge.source)} is reached")
        frame = _frame(stacks.setdefault(event.thread, []), name, edge)
        # An edge has been passed when the next one of its frame is: a call may never return.
        if frame.passed is not None and name in orders:
            _count(frame.counts, frame.passed, orders[name].nest)
            for head, number in frame.counts.items():
                if number > most.get((name, head), number):
                    found.append(f"{number} rounds of the loop at {head} of {name}")
        frame.passed = edge
    return found


@dataclass
class _Watched:
    """A frame, its last edge, and the rounds of the loops that it is in."""

    name: str
    passed: Edge | None = None
    counts: dict[int, int] = field(default_factory=dict)


def _frame(stack: list[_Watched], name: str, edge: Edge) -> _Watched:
    """The running frame: without recursion a name means one frame."""
    if any(item.name == name for item in stack):
        while stack[-1].name != name:
            stack.pop()
    passed = stack[-1].passed if stack and stack[-1].name == name else None
    if passed is None or passed.target != edge.source:
        if passed is not None:
            stack.pop()
        stack.append(_Watched(name))
    return stack[-1]


def _count(counts: dict[int, int], edge: Edge, nest: list[tuple[int, ...]]) -> None:
    if edge.target < 0:
        return
    around, target = nest[edge.source], nest[edge.target]
    for head in [item for item in counts if item not in target]:
        del counts[head]
    if edge.target in target:
        is_back = edge.target in around
        counts[edge.target] = counts.get(edge.target, 0) + 1 if is_back else 0
