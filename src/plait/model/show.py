"""Programs as text: threads, functions, locations and actions, in C's notation."""

from __future__ import annotations

from plait.model.actions import (
    Action,
    Allocate,
    Assign,
    AtomicBegin,
    AtomicEnd,
    Call,
    Check,
    EndProcess,
    EndThread,
    EnterScope,
    Fence,
    Free,
    Guard,
    Input,
    LeaveScope,
    Load,
    ObjectSize,
    Order,
    Output,
    Prune,
    ReadModifyWrite,
    Return,
    Skip,
    Spawn,
    Store,
    Unsupported,
    Wait,
)
from plait.model.expressions import (
    Binary,
    BinaryOp,
    Conditional,
    Const,
    Convert,
    CurrentThread,
    Expr,
    FrameAddress,
    FunctionAddress,
    PointerAdd,
    Register,
    StaticAddress,
    Unary,
)
from plait.model.layout import Layout, RecordLayout, path_at
from plait.model.program import Edge, Function, Program, StaticObject
from plait.model.types import Kind

_PRECEDENCE = {
    BinaryOp.MUL: 10,
    BinaryOp.DIV: 10,
    BinaryOp.REM: 10,
    BinaryOp.ADD: 9,
    BinaryOp.SUB: 9,
    BinaryOp.SHL: 8,
    BinaryOp.SHR: 8,
    BinaryOp.LT: 7,
    BinaryOp.LE: 7,
    BinaryOp.EQ: 6,
    BinaryOp.NE: 6,
    BinaryOp.AND: 5,
    BinaryOp.XOR: 4,
    BinaryOp.OR: 3,
}
_PRIMARY, _PREFIX, _SUM, _TERNARY = 12, 11, 9, 1


def show_expr(expr: Expr) -> str:
    """An expression in C's notation, with no more parentheses than it needs."""
    return _render(expr)[0]


def _render(expr: Expr) -> tuple[str, int]:
    """The text, and how tightly its outermost operator binds."""
    match expr:
        case Const():
            return _constant(expr)
        case Register():
            return expr.name or f"t{expr.index}", _PRIMARY
        case StaticAddress() if expr.object.name.startswith('"') and expr.offset == 0:
            return expr.object.name, _PRIMARY
        case StaticAddress() | FrameAddress():
            name, layout = _root(expr)
            is_whole = expr.offset == 0 and isinstance(layout, RecordLayout)
            return _address(name, "" if is_whole else path_at(layout, expr.offset))
        case FunctionAddress():
            return f"&{expr.function}", _PREFIX
        case CurrentThread():
            return "self", _PRIMARY
        case Unary():
            return expr.op.value + _at_least(expr.operand, _PREFIX, expr.op.value), _PREFIX
        case Binary():
            level = _PRECEDENCE[expr.op]
            left, right = _at_least(expr.left, level), _at_least(expr.right, level + 1)
            return f"{left} {expr.op.value} {right}", level
        case PointerAdd():
            left, right = _at_least(expr.base, _SUM), _at_least(expr.offset, _SUM + 1)
            if isinstance(expr.offset, Const) and expr.offset.value < 0:
                return f"{left} - {-expr.offset.value}", _SUM
            return f"{left} + {right}", _SUM
        case Convert():
            return f"({expr.type}){_at_least(expr.operand, _PREFIX)}", _PREFIX
        case Conditional():
            condition = _at_least(expr.condition, _TERNARY + 1)
            then, otherwise = show_expr(expr.then), _at_least(expr.otherwise, _TERNARY)
            return f"{condition} ? {then} : {otherwise}", _TERNARY


def _constant(expr: Const) -> tuple[str, int]:
    value = expr.value
    if expr.type.kind is Kind.POINTER:
        return ("NULL" if value == 0 else hex(int(value))), _PRIMARY
    return str(value), _PREFIX if value < 0 else _PRIMARY


def _address(name: str, path: str) -> tuple[str, int]:
    if path.startswith("+"):
        return f"&{name} {path.replace('+', '+ ')}", _SUM
    if "+" in path:
        whole, _, rest = path.rpartition("+")
        return f"&{name}{whole} + {rest}", _SUM
    return f"&{name}{path}", _PREFIX


def _at_least(expr: Expr, level: int, before: str = "") -> str:
    text, binding = _render(expr)
    if binding < level or (before == "-" and text.startswith("-")):
        return f"({text})"
    return text


def _object_name(item: StaticObject) -> str:
    return item.name or f"object{item.page}"


def _root(address: StaticAddress | FrameAddress) -> tuple[str, Layout]:
    if isinstance(address, StaticAddress):
        return _object_name(address.object), address.object.layout
    return address.slot.name or f"slot{address.slot.index}", address.slot.layout


def show_place(address: Expr) -> str:
    """The thing at an address: `x`, `a[3]`, `*p`."""
    if isinstance(address, StaticAddress | FrameAddress):
        name, layout = _root(address)
        text, binding = _address(name, path_at(layout, address.offset))
    else:
        text, binding = _render(address)
    if text.startswith("&") and binding == _PREFIX:
        return text[1:]
    return f"*{text}" if binding >= _PREFIX else f"*({text})"


def show_action(function: Function, action: Action) -> str:
    """An action in one line."""
    match action:
        case Skip():
            return "skip"
        case Assign():
            return f"{show_expr(action.target)} = {show_expr(action.value)}"
        case Load():
            place = show_place(action.address)
            return f"{show_expr(action.target)} = load {place}{_order(action.order)}"
        case Store():
            place, value = show_place(action.address), show_expr(action.value)
            return f"store {place} = {value}{_order(action.order)}"
        case ReadModifyWrite():
            place = show_place(action.address)
            guard = "" if action.guard is None else f" if {show_expr(action.guard)}"
            new = f"{place} = {show_expr(action.new)}{guard}"
            return f"{show_expr(action.old)} = atomic {place}; {new}{_order(action.order)}"
        case Fence():
            return f"fence{_order(action.order)}"
        case Input():
            count = "" if action.count is None else f" below {show_expr(action.count)}"
            return f"{show_expr(action.target)} = input {action.name}{count}"
        case Guard():
            return f"[{show_expr(action.condition)}]"
        case Prune():
            return f"assume {show_expr(action.condition)}"
        case Wait():
            on = "" if action.on is None else f" on {show_place(action.on)}"
            return f"wait for {action.what}{on} until {show_expr(action.condition)}"
        case Check():
            condition = show_expr(action.condition)
            return f"check {condition}  ({action.kind.value}: {action.message})"
        case Call():
            callee = action.callee if isinstance(action.callee, str) else show_place(action.callee)
            callee = f"({callee})" if callee.startswith("*") else callee
            arguments = ", ".join(show_expr(item) for item in action.arguments)
            result = "" if action.target is None else f"{show_expr(action.target)} = "
            return f"{result}{callee}({arguments})"
        case Return():
            return "return" if action.value is None else f"return {show_expr(action.value)}"
        case EnterScope():
            return f"enter {_slots(function, action.slots)}"
        case LeaveScope():
            return f"leave {_slots(function, action.slots)}"
        case Allocate():
            zeroed = "zeroed " if action.zeroed else ""
            size = show_expr(action.size)
            return f"{show_expr(action.target)} = allocate {zeroed}{action.storage} {size}"
        case Free():
            return f"free {_of_storage(action.storage)}{show_expr(action.address)}"
        case ObjectSize():
            measured = f"{_of_storage(action.storage)}object {show_expr(action.address)}"
            return f"{show_expr(action.target)} = size of {measured}"
        case AtomicBegin():
            return "atomic {"
        case AtomicEnd():
            return "} atomic"
        case Spawn():
            start, argument = show_expr(action.function), show_expr(action.argument)
            return f"{show_expr(action.target)} = spawn {start.removeprefix('&')}({argument})"
        case EndThread():
            return "end of thread"
        case EndProcess():
            return f"{action.how} with status {show_expr(action.status)}"
        case Output():
            return f"print {', '.join(show_expr(item) for item in action.arguments)}"
        case Unsupported():
            return f"unsupported: {action.message}"


def _order(order: Order) -> str:
    return "" if order is Order.PLAIN else f"  ({order.value})"


def _slots(function: Function, slots: tuple[int, ...]) -> str:
    return ", ".join(function.slots[index].name or f"slot{index}" for index in slots)


def show(program: Program, verbose: bool = False) -> str:
    """The threads, static objects and functions of a program; with `verbose`, the library's too."""
    lines = _threads(program, verbose)
    objects = [item for item in program.objects if verbose or not item.library]
    if objects:
        lines += ["", "objects"]
        width = max(len(_object_name(item)) for item in objects)
        for item in objects:
            kind = " thread-local" if item.thread_local else ""
            fixed = " read-only" if item.read_only else ""
            text = (
                f"  {_object_name(item):{width}}  {item.spelling}{kind}{fixed}, {item.size} bytes"
            )
            lines.append(text)
    for function in program.functions.values():
        if verbose or not function.library:
            lines.append("")
            lines += _function(program, function)
    return "\n".join(lines) + "\n"


def _threads(program: Program, verbose: bool) -> list[str]:
    lines = ["threads", f"  1 starts in {program.entry}"]
    for function in program.functions.values():
        for edge in function.all_edges():
            text = spawn_text(edge)
            if text and (verbose or not function.library):
                place = program.place(edge.action.origin)
                lines.append(f"  {text} starts in {function.display} at {place}")
    return lines


def spawn_text(edge: Edge) -> str:
    """What an edge starts: a Spawn itself, or a call that is given a function to start."""
    action = edge.action
    if isinstance(action, Spawn):
        return show_expr(action.function).removeprefix("&")
    if isinstance(action, Call) and action.callee in ("pthread_create", "thrd_create"):
        for argument in action.arguments:
            if isinstance(argument, FunctionAddress):
                return argument.function
    return ""


def _function(program: Program, function: Function) -> list[str]:
    declared = function.registers[: function.parameters]
    parameters = ", ".join(f"{item.spelling or item.type} {item.name}".strip() for item in declared)
    result = "void" if function.returns is None else str(function.returns)
    library = "  (library)" if function.library else ""
    place = f"  at {program.place(function.origin)}" if function.origin.file >= 0 else ""
    lines = [f"{result} {function.display}({parameters}){place}{library}"]
    for slot in function.slots:
        lines.append(f"  local {slot.name or f'slot{slot.index}'}: {slot.spelling}")
    last = ""
    for location, leaving in enumerate(function.edges):
        for number, edge in enumerate(leaving):
            name = f"{location:>5}" if number == 0 else " " * 5
            goal = "end" if edge.target < 0 else str(edge.target)
            text = f"{name} -> {goal:<5} {show_action(function, edge.action)}"
            source = program.text(edge.action.origin)
            if source and source != last:
                shown = source if len(source) <= 60 else source[:57] + "..."
                text = f"{text:<60}  // {edge.action.origin.line}: {shown}"
            last = source
            lines.append(text)
    return lines


def _of_storage(storage: str) -> str:
    return "" if storage == "heap" else f"{storage} "
