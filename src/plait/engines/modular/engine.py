"""`verify`: passes over all threads until nothing new is found, then what follows from the last.

The initial thread is executed first, then each thread that was found to start, all against the
table of invariants. The pass that adds nothing to it has seen a superset of what happens in any
execution: if it has nothing to complain about, the property holds, and the table is full of facts.
"""

from __future__ import annotations

import time

from plait.analysis.sharing import Sharing, sharing_of
from plait.engines.interface import Answer
from plait.engines.modular import conclusions, frames
from plait.engines.modular.frames import Frame
from plait.engines.modular.interpret import Interpreter
from plait.engines.modular.invariants import Invariants, Thread
from plait.engines.modular.memory import Memory
from plait.engines.modular.objects import Kind, Objects
from plait.engines.modular.order import Order
from plait.engines.modular.outcome import Budget, CheckOutcome, GaveUp, OutOfBudget, Statistics
from plait.engines.modular.state import State
from plait.engines.modular.values import Thresholds, Value, top
from plait.model.actions import expressions_of
from plait.model.expressions import Const, children
from plait.model.program import Program
from plait.model.properties import Specification

_MOST_ACTIONS = 15_000
_MOST_PASSES = 40


def verify(
    program: Program,
    specification: Specification,
    deadline: float | None = None,
    *,
    needs_facts: bool = True,
) -> CheckOutcome:
    """HOLDS or UNKNOWN, before the deadline (of time.monotonic) and in half a second, unless the
    analysis of pointers takes longer: that is not interrupted. Without need for facts it ends with
    the first pass that finds something to complain about: later ones only see more."""
    began = time.monotonic()
    search = _Search(program, specification, Budget(deadline), needs_facts)
    try:
        outcome = search.run()
    except GaveUp as error:
        outcome = CheckOutcome(Answer.UNKNOWN, str(error), search.statistics)
    except (OutOfBudget, RecursionError):
        reason = "the program is too large to be easy"
        outcome = CheckOutcome(Answer.UNKNOWN, reason, search.statistics)
    search.statistics.seconds = time.monotonic() - began
    return outcome


class _Search:
    def __init__(
        self,
        program: Program,
        specification: Specification,
        budget: Budget,
        needs_facts: bool,
    ) -> None:
        self.needs_facts = needs_facts
        self.program = program
        self.specification = specification
        self.budget = budget
        self.statistics = Statistics()

    def run(self) -> CheckOutcome:
        self.budget.look_at_clocks()
        sharing = sharing_of(self.program)
        self.budget.look_at_clocks()
        objects = Objects(self.program, sharing)
        invariants = Invariants(objects, Thresholds(_constants(sharing)))
        initial = Thread(1, {self.program.entry})
        invariants.threads[()] = initial
        actions = 0
        orders: dict[str, Order] = {}
        while True:
            self.statistics.passes += 1
            invariants.has_changed = False
            memory = Memory(objects, invariants)
            interpreter = Interpreter(
                self.program,
                self.specification,
                memory,
                _MOST_ACTIONS - actions,
                self.budget,
                orders,
            )
            started = 0
            while started < len(invariants.threads):
                thread = list(invariants.threads.values())[started]
                self._execute(interpreter, memory, thread)
                started += 1
            invariants.distrust_overwritten()
            actions += interpreter.actions
            self.statistics.actions = actions
            self.statistics.threads = len(invariants.threads)
            if not invariants.has_changed:
                break
            if memory.complaints and not self.needs_facts:
                doubt = conclusions.doubt(self.specification, interpreter)
                return CheckOutcome(Answer.UNKNOWN, doubt, self.statistics)
            if self.statistics.passes >= _MOST_PASSES:
                raise OutOfBudget
        self.statistics.locations = sum(len(found) for found in interpreter.reached.values())
        if memory.touched & invariants.outlived:
            raise GaveUp("a local may be used after its life by another thread")
        if memory.touched & invariants.freed:
            memory.complain("memory may be used after it was freed")
        facts = conclusions.facts(self.program, interpreter)
        doubt = conclusions.doubt(self.specification, interpreter)
        if doubt:
            return CheckOutcome(Answer.UNKNOWN, doubt, self.statistics, facts=facts)
        reason = conclusions.explanation(self.specification, interpreter)
        return CheckOutcome(Answer.HOLDS, reason, self.statistics, facts=facts, sharing=sharing)

    def _execute(self, interpreter: Interpreter, memory: Memory, thread: Thread) -> None:
        memory.thread = thread
        memory.thread_numbers = memory.invariants.numbers_of(thread)
        is_initial = thread.number == 1
        for name in sorted(thread.functions):
            function = self.program.functions[name]
            alive: frozenset[int] | None = frozenset() if is_initial else None
            empty: frozenset[int] = frozenset()
            state = State([], {}, {}, {}, set(), frozenset(), frozenset(), 0, alive, empty, empty)
            if is_initial:
                self._initialise(memory, state)
            for cell, value in thread.handed.items():
                if memory.invariants.is_handed(cell) and cell[0] not in memory.invariants.opaque:
                    state.cells[cell] = value
            frame = Frame(function, (thread.number,), True, None, (name,))
            arguments: list[Value] = [
                top(r.type) for r in function.registers[: function.parameters]
            ]
            if arguments and not is_initial:
                if function.registers[0].type == self.program.data_model.pointer:
                    arguments[0] = thread.argument
            after, _ = interpreter.call(state, function, arguments, frame)
            if after is not None:
                frames.end_thread(memory, after)

    def _initialise(self, memory: Memory, state: State) -> None:
        """What is in static objects before the program starts."""
        for item in self.program.objects:
            number = memory.objects.static(item)
            for cell in memory.invariants.cells_of(number):
                value = memory.initial(cell)
                state.cells[cell] = value
                if memory.objects[number].kind is Kind.STATIC:
                    memory.invariants.note(cell, value)


def _constants(sharing: Sharing) -> set[int]:
    """Numbers that the program mentions, where a bound may well lie."""
    found: set[int] = set()
    for instances in sharing.points_to.instances_of.values():
        template = instances[0].template
        for edge in template.edges:
            pending = list(expressions_of(edge.action))
            while pending:
                item = pending.pop()
                if isinstance(item, Const) and isinstance(item.value, int):
                    found.add(item.value)
                pending.extend(children(item))
    return found
