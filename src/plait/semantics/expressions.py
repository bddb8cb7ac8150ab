"""Translation of model expressions to Python source: one template per operator.

In the generated text `m` is the machine and `r` the list of the running frame: its registers,
then the addresses of its slots. Every template gives a value in the canonical form of its type
(see plait.model.types), given operands in canonical form.
"""

from __future__ import annotations

import math

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
    UnaryOp,
    children,
)
from plait.model.program import Function, Program
from plait.model.types import Kind, Scalar
from plait.semantics import scalars

# Python's parser gives up on some 100 nested parentheses; a template has at most four.
_DEEPEST = 16

HELPERS: dict[str, object] = {
    "divide": scalars.divide,
    "remainder": scalars.remainder,
    "divide_floats": scalars.divide_floats,
    "remainder_floats": scalars.remainder_floats,
    "to_single": scalars.to_single,
    "integer_to_single": scalars.integer_to_single,
    "float_to_integer": scalars.float_to_integer,
    "infinity": math.inf,
    "not_a_number": math.nan,
}

_PLAIN_OPERATORS = {
    BinaryOp.ADD: "+",
    BinaryOp.SUB: "-",
    BinaryOp.MUL: "*",
}
_BITWISE_OPERATORS = {BinaryOp.AND: "&", BinaryOp.OR: "|", BinaryOp.XOR: "^"}
_COMPARISONS = {BinaryOp.EQ: "==", BinaryOp.NE: "!=", BinaryOp.LT: "<", BinaryOp.LE: "<="}


class ExpressionWriter:
    """Writes the expressions of one function; `lines` gets assignments to temporaries where an
    expression nests too deeply, and `names` the objects that the text refers to."""

    def __init__(self, program: Program, function: Function, names: dict[str, object]) -> None:
        self.program = program
        self.slot_index = len(function.registers)
        self.names = names
        self.lines: list[str] = []
        self._temporaries = 0
        self._spilled: dict[int, str] = {}
        self._site = ""

    def value(self, expr: Expr, site: str) -> str:
        """Python text for the value; `site` names the place to blame for a limit."""
        self._site = site
        self._spill_deep_parts(expr)
        return self._write(expr)

    def used(self, expr: Expr, site: str) -> str:
        """The value, for a context that would not notice an indeterminate one: the sign does."""
        self._site = site
        self._spill_deep_parts(expr)
        return self._used(expr)

    def condition(self, expr: Expr, site: str) -> str:
        """Python text that is true where the value is not 0."""
        if isinstance(expr, Binary) and expr.op in _COMPARISONS:
            self._site = site
            self._spill_deep_parts(expr)
            return self._comparison(expr)
        return self.value(expr, site)

    def _spill_deep_parts(self, expr: Expr) -> None:
        """Assign parts that nest deeply to temporaries. That evaluates them also where a
        Conditional would not need them, which does no harm: expressions are total."""
        self._spilled.clear()
        heights: dict[int, int] = {}
        pending = [expr]
        while pending:
            item = pending[-1]
            parts = children(item)
            missing = [part for part in parts if id(part) not in heights]
            if missing:
                pending += missing
                continue
            pending.pop()
            height = 1 + max((heights[id(part)] for part in parts), default=0)
            if height > _DEEPEST:
                name = f"t{self._temporaries}"
                self._temporaries += 1
                self.lines.append(f"{name} = {self._write(item)}")
                self._spilled[id(item)] = name
                height = 0
            heights[id(item)] = height

    def _write(self, expr: Expr) -> str:
        return self._spilled.get(id(expr)) or self._template(expr)

    def _template(self, expr: Expr) -> str:
        match expr:
            case Const():
                return _constant(expr)
            case Register():
                return f"r[{expr.index}]"
            case StaticAddress():
                return self._static_address(expr)
            case FrameAddress():
                base = f"r[{self.slot_index + expr.slot.index}]"
                return self._moved(base, expr.offset, expr.slot.size)
            case FunctionAddress():
                return str(self.program.address_of(self.program.functions[expr.function]))
            case CurrentThread():
                return "m.number"
            case Unary():
                sign = "-" if expr.op is UnaryOp.NEG else "~"
                return wrapped(f"{sign}{self._write(expr.operand)}", expr.type)
            case PointerAdd():
                base, offset = self._write(expr.base), self._write(expr.offset)
                return f"m.move_pointer({base}, {offset}, {self._site})"
            case Convert():
                return self._conversion(self._write(expr.operand), expr.operand.type, expr.type)
            case Conditional():
                condition, then = self._write(expr.condition), self._write(expr.then)
                return f"({then} if {condition} else {self._write(expr.otherwise)})"
            case Binary():
                return self._binary(expr)

    def _binary(self, expr: Binary) -> str:
        op = expr.op
        if op in _COMPARISONS:
            return f"(1 if {self._comparison(expr)} else 0)"
        left, right = self._write(expr.left), self._write(expr.right)
        if op in _PLAIN_OPERATORS:
            return wrapped(f"({left} {_PLAIN_OPERATORS[op]} {right})", expr.type)
        if op in _BITWISE_OPERATORS:
            # Canonical operands of one type give a canonical result.
            return f"({left} {_BITWISE_OPERATORS[op]} {right})"
        count = f"({right} & {expr.left.type.bits - 1})"
        if op is BinaryOp.SHL:
            return wrapped(f"({left} << {count})", expr.type)
        if op is BinaryOp.SHR:
            # Python's >> is arithmetic, and canonical unsigned values are not negative.
            return f"({left} >> {count})"
        name = "divide" if op is BinaryOp.DIV else "remainder"
        if expr.type.kind is Kind.FLOAT:
            name += "_floats"
        return wrapped(f"{name}({left}, {right})", expr.type)

    def _comparison(self, expr: Binary) -> str:
        left, right = self._used(expr.left), self._used(expr.right)
        return f"{left} {_COMPARISONS[expr.op]} {right}"

    def _used(self, expr: Expr) -> str:
        text = self._write(expr)
        return f"+{text}" if isinstance(expr, (Register, Conditional, Convert)) else text

    def _conversion(self, text: str, source: Scalar, target: Scalar) -> str:
        if target.is_bool:
            return f"(1 if {text} else 0)"
        if source.kind is Kind.FLOAT:
            if target.kind is Kind.FLOAT:
                return wrapped(text, target) if target.bits < source.bits else f"(+{text})"
            name = f"type_{target}{target.bits}"
            self.names[name] = target
            return f"float_to_integer({text}, {name})"
        if target.kind is Kind.FLOAT:
            return f"integer_to_single({text})" if target.bits == 32 else f"float({text})"
        if target.minimum <= source.minimum and source.maximum <= target.maximum:
            # An indeterminate value stays one only if it can be any value of both types.
            same = target.bits == source.bits and not source.is_bool
            return text if same else f"(+{text})"
        return wrapped(text, target)

    def _static_address(self, expr: StaticAddress) -> str:
        item = expr.object
        if item.thread_local:
            return self._moved(f"m.thread_locals[{self._number_of(expr)}]", expr.offset, item.size)
        address = self.program.address_of(item)
        if 0 <= expr.offset <= item.size:
            return str(address + expr.offset)
        return self._moved(str(address), expr.offset, item.size)

    def _moved(self, base: str, offset: int, size: int) -> str:
        if offset == 0:
            return base
        if 0 < offset <= size:
            return f"({base} + {offset})"
        return f"m.move_pointer({base}, {offset}, {self._site})"

    def _number_of(self, expr: StaticAddress) -> int:
        per_thread = (item for item in self.program.objects if item.thread_local)
        return next(i for i, item in enumerate(per_thread) if item is expr.object)


def wrapped(text: str, scalar: Scalar) -> str:
    """The value of `scalar` that is congruent to an exact integer result, or the rounded float."""
    if scalar.kind is Kind.FLOAT:
        return f"to_single({text})" if scalar.bits == 32 else f"({text})"
    mask = (1 << scalar.bits) - 1
    if not scalar.signed:
        return f"({text} & {mask})"
    half = 1 << (scalar.bits - 1)
    return f"((({text} + {half}) & {mask}) - {half})"


def _constant(expr: Const) -> str:
    if expr.type.kind is not Kind.FLOAT:
        return f"({int(expr.value)})" if expr.value < 0 else str(int(expr.value))
    value = float(expr.value)
    if math.isnan(value):
        return "not_a_number"
    if math.isinf(value):
        return "infinity" if value > 0 else "(-infinity)"
    return f"({value!r})"
