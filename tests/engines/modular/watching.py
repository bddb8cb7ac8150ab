"""Whether facts are true: in all states that exploration finds, and along random runs."""

from __future__ import annotations

from collections.abc import Iterable

from plait.engines.modular.order import order_of
from plait.model.facts import Fact, Range, Rounds, Unreachable
from plait.model.program import Edge, Program
from plait.model.properties import Specification
from plait.semantics.explore import explore
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
    found = explore(program, specification, max_states=most, max_seconds=10, keep_states=True)
    return refuted_in_states(program, facts, found.reached)


def refuted_by_run(
    program: Program, specification: Specification, facts: Iterable[Fact], seed: int
) -> list[str]:
    """Along one random schedule: locations, and rounds of loops."""
    never = {(item.function, item.location) for item in facts if isinstance(item, Unreachable)}
    most = {(item.function, item.head): item.most for item in facts if isinstance(item, Rounds)}
    execution = run(program, specification, seed=seed, max_steps=3_000, trace=True)
    found = []
    counts: dict[int, list[tuple[str, dict[int, int]]]] = {}
    orders = {name: order_of(program.functions[name]) for name, _ in most}
    for event in execution.events:
        name, edge = event.function.name, event.edge
        if (name, edge.source) in never:
            found.append(f"{(name, edge.source)} is reached")
        stack = counts.setdefault(event.thread, [])
        if not stack or stack[-1][0] != name:
            # A call or a return; without recursion a name means one frame.
            while any(item[0] == name for item in stack) and stack[-1][0] != name:
                stack.pop()
            if not stack or stack[-1][0] != name:
                stack.append((name, {}))
        elif edge.source == 0 and 0 not in {e.target for e in event.function.all_edges()}:
            stack[-1] = (name, {})
        if name in orders:
            _count(stack[-1][1], edge, orders[name].nest)
            for head, number in stack[-1][1].items():
                if number > most.get((name, head), number):
                    found.append(f"{number} rounds of the loop at {head} of {name}")
    return found


def _count(counts: dict[int, int], edge: Edge, nest: list[tuple[int, ...]]) -> None:
    if edge.target < 0:
        return
    around, target = nest[edge.source], nest[edge.target]
    for head in [item for item in counts if item not in target]:
        del counts[head]
    if edge.target in target:
        is_back = edge.target in around
        counts[edge.target] = counts.get(edge.target, 0) + 1 if is_back else 0
