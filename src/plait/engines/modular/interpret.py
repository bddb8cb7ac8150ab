"""The abstract execution of one thread: functions are followed into, loops are summarised.

A node is a location with the number of the round in each loop around it. Rounds are told apart as
long as the loop is certain to go on, and a few dozen times at most; all others are one, at whose
head values are widened. Calls are followed with the state of the caller, so that each way of calls
has its own frames; recursion is given up.
"""

from __future__ import annotations

from heapq import heappop, heappush

from plait.engines.modular import frames, locking, threads
from plait.engines.modular.actions import Actions
from plait.engines.modular.frames import Frame
from plait.engines.modular.memory import Memory
from plait.engines.modular.merging import merged, widened
from plait.engines.modular.objects import Context, Kind
from plait.engines.modular.order import Order, common, order_of
from plait.engines.modular.outcome import Budget, GaveUp, OutOfBudget
from plait.engines.modular.state import State
from plait.engines.modular.values import Value, join, top
from plait.model.actions import Call, Return
from plait.model.program import Edge, Function, Program
from plait.model.properties import Specification
from plait.model.types import Scalar

_ROUNDS_APART = 40
MANY = 1 << 30  # the round that stands for all others
_JOINS = 2  # before a head is widened
_LOOK_AT_CLOCK_EVERY = 16
_DEEPEST = 60

Node = tuple[int, tuple[int, ...]]


class Interpreter(Actions):
    """`reached` are the locations that were, `rounds` the most rounds of each loop."""

    def __init__(
        self,
        program: Program,
        specification: Specification,
        memory: Memory,
        most_actions: int,
        budget: Budget,
        orders: dict[str, Order],
    ) -> None:
        super().__init__(program, specification, memory)
        self.actions = 0
        self.reached: dict[str, set[int]] = {}
        self.rounds: dict[tuple[str, int], int] = {}
        self._most_actions = most_actions
        self.budget = budget
        self._orders = orders

    def order(self, function: Function) -> Order:
        found = self._orders.get(function.name)
        if found is None:
            found = self._orders[function.name] = order_of(function)
        return found

    def call(
        self, state: State, function: Function, arguments: list[Value], frame: Frame
    ) -> tuple[State | None, Value]:
        """The state behind the call, and its value. The caller's registers are the caller's."""
        count = len(function.registers)
        state.registers = arguments + [None] * (count - len(arguments))
        state.copies, state.tries = {}, {}
        frames.open_frame(self.memory, frame)
        run = _Run(self, frame)
        run.start(state)
        return run.exit, run.result

    def tick(self) -> None:
        self.actions += 1
        if self.actions % _LOOK_AT_CLOCK_EVERY == 0:
            self.budget.look_at_clocks()
        if self.actions > self._most_actions:
            raise OutOfBudget


class _Run:
    """Of one function, from one call."""

    def __init__(self, interpreter: Interpreter, frame: Frame) -> None:
        self.interpreter = interpreter
        self.memory = interpreter.memory
        self.frame = frame
        self.function = frame.function
        self.order = interpreter.order(frame.function)
        self.reached = interpreter.reached.setdefault(frame.function.name, set())
        self.pending: dict[Node, State] = {}
        self.queue: list[tuple[tuple[int, ...], Node]] = []
        self.heads: dict[Node, tuple[int, State]] = {}
        self.left: set[Node] = set()  # rounds from which a loop was left
        self.exit: State | None = None
        self.result: Value = (1, 0, ())

    def start(self, state: State) -> None:
        self._arrive((0, (0,) * len(self.order.nest[0])), state)
        while self.queue:
            _, node = heappop(self.queue)
            found = self.pending.pop(node, None)
            if found is not None:
                self._visit(node, found)

    def _arrive(self, node: Node, state: State) -> None:
        waiting = self.pending.get(node)
        if waiting is not None:
            self.pending[node] = merged(self.memory, waiting, state)
            return
        self.pending[node] = state
        position, nest = self.order.position, self.order.nest[node[0]]
        key: list[int] = []
        for head, count in zip(nest, node[1], strict=True):
            key += (position[head], count)
        key.append(position[node[0]])
        heappush(self.queue, (tuple(key), node))

    def _visit(self, node: Node, state: State) -> None:
        """Follow a node up to where ways meet."""
        while True:
            location, counts = node
            if location in self.order.heads:
                stayed = self._at_head(node, state)
                if stayed is None:
                    return
                state = stayed
            self.reached.add(location)
            leaving = self.function.edges[location]
            if not leaving:
                raise GaveUp(f"{self.function.display} comes to a location that nothing leaves")
            following: list[tuple[Edge, State]] = []
            for edge in leaving:
                after = state.copy() if len(leaving) > 1 else state
                passed = self._follow(edge, after, counts)
                if passed is not None:
                    following.append((edge, passed))
            for edge, _ in following:
                self._note_exits(node, edge)
            if not following:
                return
            if len(following) == 1:
                edge, state = following[0]
                node = self._next(node, edge)
                is_met = self.order.incoming[node[0]] > 1 or node[0] in self.order.heads
                if not is_met:
                    continue
                self._arrive(node, state)
                return
            for edge, passed in following:
                self._arrive(self._next(node, edge), passed)
            return

    # --- loops

    def _at_head(self, node: Node, state: State) -> State | None:
        """The state to go on with; None if nothing is new."""
        location, counts = node
        rounds = self.interpreter.rounds
        key = (self.function.name, location)
        if counts[-1] > rounds.get(key, -1):
            rounds[key] = counts[-1]
        if counts[-1] != MANY:
            return state
        if state.depth > 0:
            edge = self.function.edges[location][0]
            where = self.interpreter.where(self.frame, edge)
            self.memory.complain(f"{where}: a loop in an atomic section")
        known = self.heads.get(node)
        if known is None:
            self.heads[node] = 1, state.copy()
            return state
        visits, old = known
        if visits <= _JOINS:
            new = merged(self.memory, old.copy(), state)
        else:
            new = widened(self.memory, self.memory.invariants.thresholds, old, state)
        if new.equals(old):
            return None
        self.heads[node] = visits + 1, new.copy()
        return new

    def _next(self, node: Node, edge: Edge) -> Node:
        nest = self.order.nest
        around, target = nest[node[0]], nest[edge.target]
        if not target:
            return edge.target, ()
        shared = common(around, target)
        counts = node[1][:shared] + (0,) * (len(target) - shared)
        if shared == len(target) and target[-1] == edge.target:
            counts = (*counts[:-1], self._next_round(edge.target, counts))
        return edge.target, counts

    def _next_round(self, head: int, counts: tuple[int, ...]) -> int:
        count = counts[-1]
        if count >= _ROUNDS_APART or (head, counts) in self.left or head in self.order.endless:
            return MANY
        return count + 1

    def _note_exits(self, node: Node, edge: Edge) -> None:
        around = self.order.nest[node[0]]
        if not around:
            return
        target = self.order.nest[edge.target]
        for depth in range(common(around, target), len(around)):
            self.left.add((around[depth], node[1][: depth + 1]))

    # --- edges

    def _follow(self, edge: Edge, state: State, counts: tuple[int, ...]) -> State | None:
        interpreter = self.interpreter
        interpreter.tick()
        action = edge.action
        if isinstance(action, Call):
            return self._call(edge, action, state, counts)
        if isinstance(action, Return):
            self._return(edge, action, state)
            return None
        single = self.frame.is_single and MANY not in counts
        context: Context = (*self.frame.context, (id(edge), counts))
        if not interpreter.act(self.frame, state, edge, context, single):
            return None
        return state

    def _return(self, edge: Edge, action: Return, state: State) -> None:
        value: Value = None
        returns = self.function.returns
        if action.value is not None:
            value = self.interpreter.value(self.frame, state, action.value, edge)
            if returns is not None and action.value.type != returns:
                value = top(returns)
        frames.end_frame(self.memory, self.frame, state)
        value = frames.without(self.memory, value, set(self.frame.slots.values()))
        state.registers, state.copies, state.tries = [], {}, {}
        self.result = join(self.result, value)
        self.exit = state if self.exit is None else merged(self.memory, self.exit, state)

    def _call(
        self, edge: Edge, action: Call, state: State, counts: tuple[int, ...]
    ) -> State | None:
        interpreter, frame = self.interpreter, self.frame
        arguments = [interpreter.value(frame, state, item, edge) for item in action.arguments]
        types = [item.type for item in action.arguments]
        names = self._callees(edge, action, state)
        before = state.registers
        interpreter.suspended.append(before)
        result: State | None = None
        for name in names:
            function = interpreter.program.functions[name]
            after, returned = self._call_one(
                edge, function, state.copy() if len(names) > 1 else state,
                _passed(function, arguments, types), counts,
            )  # fmt: skip
            if after is None:
                continue
            if action.target is not None and function.returns != action.target.type:
                returned = top(action.target.type)
            # Pointers to the callee's locals are nowhere in them: they were there before.
            after.registers, after.copies = before[:], {}
            target = action.target
            if target is not None:
                after.assign(target.index, returned)
            if function.library:
                passed = arguments[0] if arguments else None
                number = None if target is None or returned is None else target.index
                locking.apply(self.memory, after, name, passed, number)
                if name == "pthread_join":
                    threads.joined(self.memory, after, passed)
            result = after if result is None else merged(self.memory, result, after)
        interpreter.suspended.pop()
        return result

    def _call_one(
        self, edge: Edge, function: Function, state: State, arguments: list[Value],
        counts: tuple[int, ...],
    ) -> tuple[State | None, Value]:  # fmt: skip
        frame = self.frame
        if function.name in frame.names or len(frame.names) > _DEEPEST:
            raise GaveUp(f"{function.display} is called recursively")
        user_edge = frame.user_edge if frame.function.library else edge
        callee = Frame(
            function,
            (*frame.context, (id(edge), counts)),
            frame.is_single and MANY not in counts,
            user_edge if function.library else None,
            (*frame.names, function.name),
        )
        return self.interpreter.call(state, function, arguments, callee)

    def _callees(self, edge: Edge, action: Call, state: State) -> list[str]:
        if isinstance(action.callee, str):
            return [action.callee]
        interpreter = self.interpreter
        where = interpreter.where(self.frame, edge)
        value = interpreter.value(self.frame, state, action.callee, edge)
        if value is None or value[0] <= value[1]:
            if value is None or not (0 <= value[0] and value[1] < self.memory.objects.page):
                raise GaveUp(f"{where}: a call through a pointer of unknown origin")
            self.memory.complain(f"{where}: a call through a pointer that may be null")
        found = []
        for place in value[2]:
            item = self.memory.objects[place[0]]
            if item.kind is Kind.FUNCTION and place[1] <= 0 <= place[2]:
                found.append(item.function)
            if item.kind is not Kind.FUNCTION or place[1] != 0 or place[2] != 0:
                self.memory.complain(f"{where}: a call through a pointer to no function")
        return found


def _passed(function: Function, arguments: list[Value], types: list[Scalar]) -> list[Value]:
    """Arguments as the callee's parameters; of what does not fit nothing is known."""
    found: list[Value] = []
    for index in range(function.parameters):
        scalar = function.registers[index].type
        if index >= len(arguments) or types[index] != scalar:
            found.append(top(scalar))
        else:
            found.append(arguments[index])
    return found
