"""Properties that hold because nothing in the program could violate them: nobody asks in code that
can be reached. People should know that such a proof says less than they may think."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plait.model.properties import Property

if TYPE_CHECKING:
    from plait.model.actions import CheckKind
    from plait.model.program import Program
    from plait.model.properties import Specification


def properties_without_checks(program: Program, specification: Specification) -> list[str]:
    """Of `assertions` and `unreach-call`, those that no code checks which can be reached as far as
    calls and constants tell; a function that a pointer may point to can be."""
    from plait.model.actions import Check, CheckKind

    kinds = {
        Property.ASSERTIONS: CheckKind.ASSERTION,
        Property.UNREACH_CALL: CheckKind.UNREACH_CALL,
    }
    asked = {item: kind for item, kind in kinds.items() if item in specification}
    present = {
        edge.action.kind
        for function in program.functions.values()
        for edge in function.all_edges()
        if isinstance(edge.action, Check)
    }
    present &= set(asked.values())
    if present:
        present &= _reached_kinds(program, present)
    return sorted(item.value for item, kind in asked.items() if kind not in present)


def _reached_kinds(program: Program, wanted: set[CheckKind]) -> set[CheckKind]:
    from plait.analysis.function_pointers import pointed_to
    from plait.analysis.reachable import reachable_edges
    from plait.model.actions import Call, Check, Spawn

    found: set[CheckKind] = set()
    pending = [program.entry]
    seen = {program.entry}

    def come_to(names: set[str]) -> None:
        pending.extend(sorted(names - seen))
        seen.update(names)

    while pending and not found >= wanted:
        for edge in reachable_edges(program.functions[pending.pop()]):
            action = edge.action
            if isinstance(action, Check):
                found.add(action.kind)
            elif isinstance(action, Call) and isinstance(action.callee, str):
                come_to({action.callee})
            elif isinstance(action, (Call, Spawn)):
                come_to(pointed_to(program))
    return found
