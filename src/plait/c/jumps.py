"""Jumps out of functions, as returns: after `longjmp` each function that was called since `setjmp`
returns at once to its caller, up to the one that has called it, where control arrives behind that.

Only calls that may lead to a jump are followed by the question whether there is one, and only in
functions that a caller of `setjmp` may have called. Which frame and call to go to is kept by the
model of the library (library/jumps.c), which has refused before what has no such frame.

What a jump does to locals (C17 7.13.2.1): those of the frame where it arrives that were assigned
since `setjmp` and are not volatile have any value.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from plait.c.reducible import make_reducible
from plait.c.terms import zero
from plait.c.tidy import prepend, tidy
from plait.data import dataclass
from plait.model.actions import (
    Action,
    Assign,
    Call,
    EnterScope,
    Guard,
    Input,
    LeaveScope,
    Load,
    Origin,
    ReadModifyWrite,
    Return,
    Skip,
    Store,
    Unsupported,
    expressions_of,
    target_of,
)
from plait.model.dataflow import live_registers
from plait.model.expressions import (
    Binary,
    BinaryOp,
    Const,
    Expr,
    FrameAddress,
    FunctionAddress,
    PointerAdd,
    Register,
    StaticAddress,
    children,
)
from plait.model.program import Edge, Function, RegisterDecl, StaticObject
from plait.model.types import I32, Scalar

SETTING = ("setjmp", "_setjmp", "sigsetjmp", "__sigsetjmp")
JUMPING = ("longjmp", "_longjmp", "siglongjmp", "__longjmp_chk")
_SET, _ENTER, _LEAVE = "__plait_set_jump", "__plait_enter_frame", "__plait_leave_frame"
_TARGET, _SITE, _ARRIVE = "__plait_jump_target", "__plait_jump_site", "__plait_arrive_by_jump"
HELPERS = (_SET, _ENTER, _LEAVE, _TARGET, _SITE, _ARRIVE)
_ATOMIC_FUNCTION = "__VERIFIER_atomic_"


@dataclass(slots=True, eq=False)
class Kept:
    """The registers and slots of a function that a jump leaves as they are: they are volatile."""

    registers: frozenset[int] = frozenset()
    slots: frozenset[int] = frozenset()


def has_jumps(functions: Iterable[str]) -> bool:
    """Whether some of these functions of the library jump, so that it matters who sets where to."""
    return not set(JUMPING).isdisjoint(functions)


def lower_jumps(
    functions: dict[str, Function],
    objects: Iterable[StaticObject],
    kept: dict[str, Kept],
    pointer: Scalar,
) -> None:
    """Put returns behind all calls that may jump."""
    graph = _Calls(functions, objects)
    setting = [name for name in functions if any(_sites(functions, name))]
    for name in graph.called_from(setting):
        function = functions[name]
        calls = [edge for edge in function.all_edges() if graph.may_jump(edge.action)]
        sites = list(_sites(functions, name))
        if not (calls or sites):
            continue
        _Frames(function, calls, sites, kept.get(name, Kept()), pointer, graph.jumps).lower()
        tidy(function)
        make_reducible(function)


def _sites(functions: dict[str, Function], name: str) -> Iterator[Edge]:
    if not functions[name].library:
        for edge in functions[name].all_edges():
            if isinstance(edge.action, Call) and edge.action.callee in SETTING:
                if functions[edge.action.callee].library:
                    yield edge


def _assigned(call: Call, value: Expr) -> Action:
    if call.target is None:
        return Skip(call.origin)
    return Assign(call.origin, call.target, value)


class _Calls:
    """Who calls whom, and which functions may end by a jump."""

    def __init__(self, functions: dict[str, Function], objects: Iterable[StaticObject]) -> None:
        self._functions = functions
        self._pointed_to = {
            relocation.target
            for item in objects
            for relocation in item.relocations
            if isinstance(relocation.target, str)
        }
        self._direct: dict[str, set[str]] = {}
        self._indirect: set[str] = set()
        for name, function in functions.items():
            called = self._direct[name] = set()
            for edge in function.all_edges():
                for expr in expressions_of(edge.action):
                    self._pointed_to |= _functions_in(expr)
                if isinstance(edge.action, Call):
                    if isinstance(edge.action.callee, str):
                        called.add(edge.action.callee)
                    else:
                        self._indirect.add(name)
        self.jumps = {name for name in JUMPING if name in functions and functions[name].library}
        self._jumping = set(self.jumps)
        grown = True
        while grown:
            grown = False
            for name in functions:
                if name not in self._jumping and not self._jumping.isdisjoint(self._callees(name)):
                    self._jumping.add(name)
                    grown = True
        self._may_jump_indirectly = not self._jumping.isdisjoint(self._pointed_to)

    def _callees(self, name: str) -> set[str]:
        called = self._direct.get(name, set())
        return called | self._pointed_to if name in self._indirect else called

    def may_jump(self, action: Action) -> bool:
        if not isinstance(action, Call):
            return False
        if isinstance(action.callee, str):
            return action.callee in self._jumping
        return self._may_jump_indirectly

    def called_from(self, names: Iterable[str]) -> list[str]:
        """These functions and all that they may call, but the jumps themselves."""
        found = dict.fromkeys(names)
        pending = list(found)
        while pending:
            for name in sorted(self._callees(pending.pop())):
                if name not in found and name in self._functions and name not in self.jumps:
                    found[name] = None
                    pending.append(name)
        return list(found)


def _functions_in(expr: Expr) -> set[str]:
    if isinstance(expr, FunctionAddress):
        return {expr.function}
    return {name for child in children(expr) for name in _functions_in(child)}


class _Frames:
    """One function, in which jumps arrive at `sites` or go on to its callers."""

    def __init__(
        self,
        function: Function,
        calls: list[Edge],
        sites: list[Edge],
        kept: Kept,
        pointer: Scalar,
        jumps: set[str],
    ) -> None:
        self._jumps = jumps
        self._function = function
        self._calls = calls
        self._sites = sites
        self._kept = kept
        self._own_registers = len(function.registers)
        self._environments = [self._register(pointer) for _ in sites]
        self._depth = self._register(I32)
        self._behind: list[int] = []  # each site
        self._entrances: list[int] = []  # for jumps to each site
        self._alive = _alive(function)
        self._initial: list[Register] = []

    def lower(self) -> None:
        following = [{edge.target} for edge in self._sites]
        reached = [_reached(self._function, start) for start in following]
        self._merge(reached)
        alive_at = [self._alive.get(edge.target, frozenset()) for edge in self._sites]
        resets = [self._lower_site(number, edge) for number, edge in enumerate(self._sites)]
        way_up = self._way_up() if self._calls else -1
        for edge in self._calls:
            possible = [number for number, inside in enumerate(reached) if edge.source in inside]
            self._lower_call(edge, possible, alive_at, way_up)
        for number, reset in enumerate(resets):
            self._forget_locals(number, reset, alive_at[number])
        if self._sites:
            origin = self._function.origin
            self._leave_frames()
            for register in self._initial:
                prepend(self._function, Assign(origin, register, zero(register.type)))
            prepend(self._function, Call(origin, self._depth, _ENTER, ()))

    def _merge(self, reached: list[set[int]]) -> None:
        """Behind a site is also what is behind others to which a jump from there may lead."""
        grown = True
        while grown:
            grown = False
            for one in reached:
                for other in reached:
                    if not other <= one and any(
                        edge.source in one and edge.source in other for edge in self._calls
                    ):
                        one |= other
                        grown = True

    # Where jumps arrive

    def _lower_site(self, number: int, edge: Edge) -> Edge:
        """Returns an edge behind which flags can be reset when setjmp is called."""
        call = edge.action
        assert isinstance(call, Call)
        origin, behind = call.origin, edge.target
        environment = self._environments[number]
        saved = call.arguments[1] if len(call.arguments) > 1 else Const(I32, 0)
        arguments = (environment, self._depth, Const(I32, number), saved)
        value = self._register(I32)
        self._initial.append(environment)
        edge.action = Assign(origin, environment, call.arguments[0])
        set_at, flagged, first = self._location(), self._location(), self._location()
        edge.target = set_at
        self._edge(set_at, Call(origin, None, _SET, arguments), flagged)
        reset = self._edge(flagged, Skip(origin), first)
        self._edge(first, _assigned(call, Const(I32, 0)), behind)
        entrance, arrived = self._location(), self._location()
        self._edge(entrance, Call(origin, value, _ARRIVE, (environment,)), arrived)
        self._edge(arrived, _assigned(call, value), behind)
        self._entrances.append(entrance)
        self._behind.append(arrived)
        return reset

    # What is behind calls

    def _lower_call(
        self, edge: Edge, possible: list[int], alive_at: list[frozenset[int]], way_up: int
    ) -> None:
        action = edge.action
        assert isinstance(action, Call)
        origin = action.origin
        returned, edge.target = edge.target, self._location()
        jumps_always = action.callee in self._jumps
        if jumps_always and not possible:
            self._edge(edge.target, Skip(origin), way_up)
            return
        target = self._register(I32)
        here = self._location()
        self._edge(edge.target, Call(origin, target, _TARGET, ()), here)
        if not jumps_always:
            here = self._branch(origin, here, target, Const(I32, 0), returned)
        if not possible:
            self._edge(here, Skip(origin), way_up)
            return
        own = self._location()
        elsewhere = self._branch(origin, here, target, self._depth, own)
        self._edge(elsewhere, Skip(origin), way_up)
        site = self._register(I32)
        if len(possible) > 1:
            asked = self._location()
            self._edge(own, Call(origin, site, _SITE, ()), asked)
            own = asked
        inside = self._alive.get(edge.source, frozenset())
        for number in possible[:-1]:
            chosen = self._location()
            own = self._branch(origin, own, site, Const(I32, number), chosen)
            self._arrive(origin, chosen, number, inside, alive_at[number])
        self._arrive(origin, own, possible[-1], inside, alive_at[possible[-1]])

    def _arrive(
        self, origin: Origin, here: int, number: int, inside: frozenset[int], wanted: frozenset[int]
    ) -> None:
        """Leave the blocks that were entered since; those that were left are entered anew."""
        left, entered = tuple(sorted(inside - wanted)), tuple(sorted(wanted - inside))
        actions: list[Action] = [LeaveScope(origin, left)] if left else []
        if entered:
            actions.append(EnterScope(origin, entered))
        for action in actions:
            there = self._location()
            self._edge(here, action, there)
            here = there
        self._edge(here, Skip(origin), self._entrances[number])

    def _way_up(self) -> int:
        """Where the function returns to go on with a jump in its caller."""
        function, place = self._function, self._location()
        origin = self._calls[0].action.origin
        is_atomic = function.display.startswith(_ATOMIC_FUNCTION)
        returns = any(isinstance(edge.action, Return) for edge in function.all_edges())
        stop = None
        if function.library and not returns:
            stop = "a jump out of a function that is called at the end of a thread or process"
        elif is_atomic and not function.library:
            stop = f"a jump out of '{function.display}', which is an atomic section"
        if stop is not None:
            self._edge(place, Unsupported(origin, f"not supported: {stop}"), -1)
            return place
        value = None if function.returns is None else zero(function.returns)
        self._edge(place, Return(origin, value), -1)
        return place

    def _leave_frames(self) -> None:
        for edge in self._function.all_edges():
            if isinstance(edge.action, Return):
                returning = self._location()
                self._edge(returning, edge.action, -1)
                edge.action = Call(edge.action.origin, None, _LEAVE, (self._depth,))
                edge.target = returning

    # What happens to locals

    def _forget_locals(self, number: int, reset: Edge, alive: frozenset[int]) -> None:
        """Make locals that were changed since the site indeterminate where a jump arrives there."""
        here = self._behind[number]
        [last] = self._function.edges[here]
        # Between the site and a call: whoever comes to the site again begins anew.
        inside = _reached(self._function, {last.target}, reset.source)
        before = _reaching(self._function, {edge.source for edge in self._calls}, reset.source)
        changing = [edge for location in inside & before for edge in self._function.edges[location]]
        live = live_registers(self._function)[here]
        flags: list[Register] = []
        for index in range(self._own_registers):
            if not live >> index & 1 or index in self._kept.registers:
                continue
            written = [edge for edge in changing if _assigns(edge.action, index)]
            if written:
                declared = self._function.registers[index]
                variable = Register(declared.type, index, declared.name)
                what = f"'{declared.name or 'value'}', changed since setjmp"
                lost: Action = Input(last.action.origin, variable, what, indeterminate=True)
                flags.append(self._flagged(written, last, lost))
        for slot in sorted(alive - self._kept.slots):
            if not self._is_used_behind(slot, last):
                continue
            name = self._function.slots[slot].name
            stop = Unsupported(
                last.action.origin,
                f"not supported: the value of '{name}', which was changed since setjmp"
                " and is not volatile",
            )
            if self._escapes(slot):
                if any(_may_write_elsewhere(edge.action) for edge in changing):
                    flags.append(self._flagged([], last, stop, is_certain=True))
                    continue
            written = [edge for edge in changing if _stores_to(edge.action, slot)]
            if written:
                flags.append(self._flagged(written, last, stop))
        for flag in flags:
            self._insert_behind(reset, Assign(reset.action.origin, flag, Const(I32, 0)))

    def _flagged(
        self, written: list[Edge], last: Edge, lost: Action, *, is_certain: bool = False
    ) -> Register:
        """A flag that these edges set; where it is, what happens before the last edge."""
        flag = self._register(I32)
        self._initial.append(flag)
        for edge in written:
            self._insert_behind(edge, Assign(edge.action.origin, flag, Const(I32, 1)))
        origin = last.action.origin
        here, changed, onward = last.source, self._location(), self._location()
        self._function.edges[here] = []
        last.source = onward
        self._function.edges[onward] = [last]
        if is_certain:
            self._edge(here, Skip(origin), changed)
        else:
            unchanged = self._branch(origin, here, flag, Const(I32, 1), changed)
            self._edge(unchanged, Skip(origin), onward)
        self._edge(changed, lost, -1 if isinstance(lost, Unsupported) else onward)
        return flag

    def _escapes(self, slot: int) -> bool:
        """Whether others may have its address. That of a jump buffer is passed around to jump."""
        if "jmp_buf" in self._function.slots[slot].spelling:
            return False
        return any(
            _mentions(expr, slot)
            for edge in self._function.all_edges()
            for expr in _not_accessed(edge.action, slot)
        )

    def _is_used_behind(self, slot: int, last: Edge) -> bool:
        """Whether it is read where a jump has arrived, or passed on, before its life begins again.
        What setjmp has returned then is not 0."""
        returned = target_of(last.action)
        start = (last.target, frozenset(() if returned is None else (returned.index,)))
        pending, seen = [start], {start}
        while pending:
            location, nonzero = pending.pop()
            for edge in self._function.edges[location]:
                action = edge.action
                if isinstance(action, EnterScope) and slot in action.slots:
                    continue
                if isinstance(action, Guard) and _is_zero(action.condition, nonzero):
                    continue
                if _reads(action, slot):
                    return True
                behind = (edge.target, _nonzero_behind(action, nonzero))
                if edge.target >= 0 and behind not in seen:
                    seen.add(behind)
                    pending.append(behind)
        return False

    # Building

    def _register(self, type_: Scalar) -> Register:
        self._function.registers.append(RegisterDecl("", type_))
        return Register(type_, len(self._function.registers) - 1, "")

    def _location(self) -> int:
        self._function.edges.append([])
        return len(self._function.edges) - 1

    def _edge(self, source: int, action: Action, target: int) -> Edge:
        made = Edge(source, action, target)
        self._function.edges[source].append(made)
        return made

    def _insert_behind(self, edge: Edge, action: Action) -> None:
        place = self._location()
        self._edge(place, action, edge.target)
        edge.target = place

    def _branch(self, origin: Origin, here: int, one: Expr, other: Expr, equal: int) -> int:
        """Go to `equal` where the two are; returns the location of the other way."""
        unequal = self._location()
        self._edge(here, Guard(origin, Binary(I32, BinaryOp.EQ, one, other)), equal)
        self._edge(here, Guard(origin, Binary(I32, BinaryOp.NE, one, other)), unequal)
        return unequal


def _alive(function: Function) -> dict[int, frozenset[int]]:
    """The slots that are alive at each location; blocks are entered and left in one way."""
    found: dict[int, frozenset[int]] = {0: frozenset()}
    pending = [0]
    while pending:
        location = pending.pop()
        for edge in function.edges[location]:
            slots = found[location]
            if isinstance(edge.action, EnterScope):
                slots = slots | set(edge.action.slots)
            elif isinstance(edge.action, LeaveScope):
                slots = slots - set(edge.action.slots)
            if edge.target >= 0 and edge.target not in found:
                found[edge.target] = slots
                pending.append(edge.target)
    return found


def _is_zero(condition: Expr, nonzero: frozenset[int]) -> bool:
    """Whether a condition says that one of these registers is 0."""
    if not isinstance(condition, Binary) or condition.op is not BinaryOp.EQ:
        return False
    is_known = isinstance(condition.left, Register) and condition.left.index in nonzero
    return is_known and isinstance(condition.right, Const) and condition.right.value == 0


def _nonzero_behind(action: Action, nonzero: frozenset[int]) -> frozenset[int]:
    target = target_of(action)
    if target is None:
        return nonzero
    if isinstance(action, Call) and action.callee == _ARRIVE:
        return nonzero | {target.index}
    if isinstance(action, Assign) and isinstance(action.value, Register):
        if action.value.index in nonzero:
            return nonzero | {target.index}
    return nonzero - {target.index}


def _reached(function: Function, starts: set[int], barrier: int = -1) -> set[int]:
    found, pending = set(starts), list(starts)
    while pending:
        for edge in function.edges[pending.pop()]:
            if edge.target >= 0 and edge.target not in found and edge.target != barrier:
                found.add(edge.target)
                pending.append(edge.target)
    return found


def _reaching(function: Function, ends: set[int], barrier: int) -> set[int]:
    sources: dict[int, list[int]] = {}
    for edge in function.all_edges():
        sources.setdefault(edge.target, []).append(edge.source)
    found, pending = set(ends), list(ends)
    while pending:
        for source in sources.get(pending.pop(), ()):
            if source not in found and source != barrier:
                found.add(source)
                pending.append(source)
    return found


def _assigns(action: Action, index: int) -> bool:
    target = target_of(action)
    return target is not None and target.index == index


def _base(address: Expr) -> int | None:
    """The slot in which an address certainly is."""
    while isinstance(address, PointerAdd):
        address = address.base
    return address.slot.index if isinstance(address, FrameAddress) else None


def _stores_to(action: Action, slot: int) -> bool:
    return isinstance(action, (Store, ReadModifyWrite)) and _base(action.address) == slot


def _reads(action: Action, slot: int) -> bool:
    if isinstance(action, (Load, ReadModifyWrite)) and _base(action.address) == slot:
        return True
    return any(_mentions(expr, slot) for expr in _not_accessed(action, slot))


def _not_accessed(action: Action, slot: int) -> list[Expr]:
    """The expressions of an action, without the address of an access to the slot."""
    found = list(expressions_of(action))
    if isinstance(action, (Load, Store, ReadModifyWrite)) and _base(action.address) == slot:
        found.remove(action.address)
        address = action.address
        while isinstance(address, PointerAdd):
            found.append(address.offset)
            address = address.base
    return found


def _mentions(expr: Expr, slot: int) -> bool:
    if isinstance(expr, FrameAddress):
        return expr.slot.index == slot
    return any(_mentions(child, slot) for child in children(expr))


def _may_write_elsewhere(action: Action) -> bool:
    """Whether an action may write what others have the address of."""
    if isinstance(action, Call):
        return action.callee not in (*JUMPING, *SETTING, *HELPERS)
    if isinstance(action, (Store, ReadModifyWrite)):
        base: Expr = action.address
        while isinstance(base, PointerAdd):
            base = base.base
        return not isinstance(base, (FrameAddress, StaticAddress))
    return False
