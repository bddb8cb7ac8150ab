"""All that the executions of a program can print, by plain enumeration.

This uses the machine's steps but neither the reductions nor the bookkeeping of `explore`, so that
it can also serve to check those.
"""

from __future__ import annotations

from plait.errors import PlaitError
from plait.model.program import Program
from plait.model.properties import Specification
from plait.semantics.inputs import InputDomains
from plait.semantics.machine import Machine
from plait.semantics.outcome import Ending
from plait.semantics.scalars import Number
from plait.semantics.state import State
from plait.semantics.visibility import Visibility

DEADLOCK = "(deadlock)\n"
_SILENT = (Ending.BLOCKED, Ending.PRUNED)


class NotEnumerable(PlaitError):
    """The program has too many states or leaves what the semantics covers."""


def outputs(
    program: Program,
    specification: Specification | None = None,
    *,
    is_visible: Visibility | None = None,
    max_states: int = 200_000,
    inputs: tuple[int, int] | None = None,
) -> set[str]:
    """The outputs of all executions; one that ends in a deadlock or violation says so last.

    With `inputs`, values from that range stand for inputs of large types: there may be more
    outputs than those found.
    """
    machine = Machine(program, specification or Specification(), is_visible)
    machine.start()
    found: set[str] = set()
    start = (machine.state(), b"")
    seen: set[tuple[State, bytes]] = {start}
    pending = [start]
    domains = InputDomains(inputs)
    while pending:
        state, printed = pending.pop()
        machine.restore(state)
        threads = machine.runnable()
        if not threads:
            found.add(printed.decode("latin-1"))
            continue
        can_move = False
        for thread in threads:
            states, violations = _moves(machine, domains, thread, printed)
            found |= violations
            can_move |= bool(states or violations)
            for following, more in states:
                pair = (following, printed + more)
                if pair not in seen:
                    if len(seen) >= max_states:
                        raise NotEnumerable(f"more than {max_states} states")
                    seen.add(pair)
                    pending.append(pair)
        if not can_move:
            found.add(printed.decode("latin-1") + DEADLOCK)
    if domains.gaps and inputs is None:
        raise NotEnumerable(next(iter(domains.gaps)))
    return found


def _moves(
    machine: Machine, domains: InputDomains, thread: int, printed: bytes
) -> tuple[list[tuple[State, bytes]], set[str]]:
    """The states after a step of a thread from the restored state, with what the step prints; and
    the outputs of executions that it ends in a violation."""
    result: list[tuple[State, bytes]] = []
    violations: set[str] = set()
    pending: list[tuple[Number, ...]] = [()]
    while pending:
        choices = pending.pop()
        machine.output = []
        outcome = machine.step(thread, choices)
        if outcome.ending is Ending.MOVED:
            result.append((machine.state(), b"".join(machine.output)))
        elif outcome.ending is Ending.NEEDS_INPUT and outcome.input is not None:
            values, _ = domains.values(outcome.input)
            pending += [(*choices, value) for value in values]
        elif outcome.ending is Ending.VIOLATION:
            text = (printed + b"".join(machine.output)).decode("latin-1")
            violations.add(f"{text}({outcome.kind} violated)\n")
        elif outcome.ending not in _SILENT:
            place = machine.program.place(outcome.origin)
            raise NotEnumerable(f"{outcome.ending.value}: {outcome.message} ({place})")
        machine.undo()
    return result, violations
