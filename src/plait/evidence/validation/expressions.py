"""The C expressions that witnesses have as constraints, over the variables of a program.

A small part of C: integers and floats, variables with members and constant indices, casts to
arithmetic types, and all operators without side effects except for those that follow pointers.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable

from plait.data import dataclass
from plait.model.types import F64, I32, I64, U32, U64, DataModel, Kind, Scalar
from plait.semantics.scalars import Number

RESULT = "\\result"
Typed = tuple[Number, Scalar]
Lookup = Callable[[str], Typed]

_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:0[xX][0-9a-fA-F]+|\d+\.\d*(?:[eE][+-]?\d+)?|\.\d+|\d+)[uUlLfF]*)"
    r"|(?P<name>\\result|[A-Za-z_]\w*)"
    r"|(?P<sign><<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^~!<>()?:.\[\]]))",
    re.ASCII,
)
_MOST_TOKENS = 2000
_LEVELS = (
    ("||",),
    ("&&",),
    ("|",),
    ("^",),
    ("&",),
    ("==", "!="),
    ("<", ">", "<=", ">="),
    ("<<", ">>"),
    ("+", "-"),
    ("*", "/", "%"),
)
_COMPARISONS: dict[str, Callable[[Number, Number], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
}
_TYPE_WORDS = frozenset("signed unsigned char short int long _Bool bool float double const".split())


class CannotEvaluate(Exception):
    """The expression, or a value that it needs, is beyond what is understood here."""


@dataclass(slots=True, eq=False)
class Expression:
    """`names` are the variables that it reads; `constants` the whole numbers in it."""

    value: Callable[[Lookup], Typed]
    names: frozenset[str]
    constants: tuple[int, ...]

    def holds(self, lookup: Lookup) -> bool:
        return self.value(lookup)[0] != 0


def parse(text: str, model: DataModel) -> Expression:
    """Raises CannotEvaluate."""
    tokens = _tokens(text)
    try:
        return _Parser(tokens, model).whole()
    except RecursionError:
        raise CannotEvaluate(f"'{text[:60]}' is nested too deeply") from None


def _tokens(text: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    place = 0
    text = text.rstrip().rstrip(";").rstrip()
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None or match.lastgroup is None:
            raise CannotEvaluate(f"'{text[place : place + 20]}' is not understood")
        found.append((match.lastgroup, match[match.lastgroup]))
        place = match.end()
        if len(found) > _MOST_TOKENS:
            raise CannotEvaluate("the expression is too long")
    return found


_Value = Callable[[Lookup], Typed]


class _Parser:
    def __init__(self, tokens: list[tuple[str, str]], model: DataModel) -> None:
        self._tokens = tokens
        self._at = 0
        self._long = I64 if model is DataModel.LP64 else I32
        self._names: set[str] = set()
        self._constants: list[int] = []

    def whole(self) -> Expression:
        value = self._conditional()
        if self._at < len(self._tokens):
            raise CannotEvaluate(f"'{self._tokens[self._at][1]}' is not understood there")
        return Expression(value, frozenset(self._names), tuple(self._constants))

    def _peek(self) -> str:
        return self._tokens[self._at][1] if self._at < len(self._tokens) else ""

    def _next(self) -> tuple[str, str]:
        if self._at >= len(self._tokens):
            raise CannotEvaluate("the expression is not complete")
        self._at += 1
        return self._tokens[self._at - 1]

    def _expect(self, sign: str) -> None:
        if self._next()[1] != sign:
            raise CannotEvaluate(f"'{sign}' expected")

    def _conditional(self) -> _Value:
        condition = self._binary(0)
        if self._peek() != "?":
            return condition
        self._next()
        then = self._conditional()
        self._expect(":")
        otherwise = self._conditional()
        return lambda lookup: (then if condition(lookup)[0] else otherwise)(lookup)

    def _binary(self, level: int) -> _Value:
        if level == len(_LEVELS):
            return self._unary()
        left = self._binary(level + 1)
        while self._peek() in _LEVELS[level]:
            sign = self._next()[1]
            left = _operation(sign, left, self._binary(level + 1))
        return left

    def _unary(self) -> _Value:
        sign = self._peek()
        if sign in ("!", "-", "+", "~"):
            self._next()
            operand = self._unary()
            return lambda lookup: _unary(sign, operand(lookup))
        if sign == "(" and self._is_type(self._at + 1):
            return self._cast()
        return self._primary()

    def _is_type(self, place: int) -> bool:
        return place < len(self._tokens) and self._tokens[place][1] in _TYPE_WORDS

    def _cast(self) -> _Value:
        self._next()
        words = []
        while self._is_type(self._at):
            words.append(self._next()[1])
        self._expect(")")
        scalar = self._type(words)
        operand = self._unary()
        return lambda lookup: (_converted(operand(lookup)[0], scalar), scalar)

    def _type(self, words: list[str]) -> Scalar:
        if "float" in words or "double" in words:
            return F64
        if "_Bool" in words or "bool" in words:
            return Scalar(Kind.INT, 8, is_bool=True)
        bits = self._long.bits if "long" in words else 32
        bits = 64 if words.count("long") > 1 else bits
        bits = 16 if "short" in words else 8 if "char" in words else bits
        return Scalar(Kind.INT, bits, signed="unsigned" not in words)

    def _primary(self) -> _Value:
        kind, text = self._next()
        if kind == "number":
            typed = self._number(text)
            return lambda _: typed
        if text == "(":
            inner = self._conditional()
            self._expect(")")
            return inner
        if kind != "name":
            raise CannotEvaluate(f"'{text}' is not understood there")
        if self._peek() == "(":
            raise CannotEvaluate(f"a call of '{text}' in a constraint")
        name = text
        while self._peek() in (".", "["):
            if self._next()[1] == ".":
                name += "." + self._next()[1]
            else:
                name += f"[{self._next()[1]}]"
                self._expect("]")
        self._names.add(name)
        return lambda lookup: _promoted(lookup(name))

    def _number(self, text: str) -> Typed:
        digits = text.rstrip("uUlL")
        is_hexadecimal = text[:2] in ("0x", "0X")
        if not is_hexadecimal and ("." in text or "e" in text.lower() or text[-1] in "fF"):
            return float(text.rstrip("fFlL")), F64
        octal = digits[0] == "0" and len(digits) > 1 and not is_hexadecimal
        try:
            value = int(digits, 16 if is_hexadecimal else 8 if octal else 10)
        except ValueError:
            raise CannotEvaluate(f"'{text}' is no number") from None
        suffix = text[len(digits) :].lower()
        candidates = [I32, U32] if "l" not in suffix else []
        candidates += [self._long, Scalar(Kind.INT, self._long.bits), I64, U64]
        if "u" in suffix:
            candidates = [item for item in candidates if not item.signed]
        elif not is_hexadecimal and not octal:
            candidates = [item for item in candidates if item.signed]
        self._constants.append(value)
        for scalar in candidates:
            if value <= scalar.maximum:
                return value, scalar
        raise CannotEvaluate(f"'{text}' is too large")


def _promoted(typed: Typed) -> Typed:
    value, scalar = typed
    if scalar.kind is Kind.FLOAT:
        return value, F64
    if scalar.bits < 32 or scalar.is_bool:
        return value, I32
    return value, scalar


def _unary(sign: str, typed: Typed) -> Typed:
    value, scalar = _promoted(typed)
    if sign == "!":
        return int(not value), I32
    if sign == "+":
        return value, scalar
    if isinstance(value, float):
        if sign == "~":
            raise CannotEvaluate("~ of a floating value")
        return -value, scalar
    return _fitting(-value if sign == "-" else ~value, scalar), scalar


def _operation(sign: str, left: _Value, right: _Value) -> _Value:
    if sign == "&&":
        return lambda lookup: (int(bool(left(lookup)[0]) and bool(right(lookup)[0])), I32)
    if sign == "||":
        return lambda lookup: (int(bool(left(lookup)[0]) or bool(right(lookup)[0])), I32)
    return lambda lookup: _arithmetic(sign, left(lookup), right(lookup))


def _arithmetic(sign: str, one: Typed, other: Typed) -> Typed:
    (a, left), (b, right) = _promoted(one), _promoted(other)
    if sign in ("<<", ">>"):
        if isinstance(a, float) or isinstance(b, float) or not 0 <= b < left.bits:
            raise CannotEvaluate("a shift without a value")
        return (_fitting(a << b, left) if sign == "<<" else a >> b), left
    common = _common(left, right)
    a, b = _converted(a, common), _converted(b, common)
    if sign in _COMPARISONS:
        return int(_COMPARISONS[sign](a, b)), I32
    if sign in "/%" and b == 0:
        raise CannotEvaluate("a division by zero")
    if isinstance(a, float) or isinstance(b, float):
        return _floating(sign, float(a), float(b)), common
    if common.kind is Kind.POINTER:
        raise CannotEvaluate("arithmetic with pointers")
    match sign:
        case "+":
            result = a + b
        case "-":
            result = a - b
        case "*":
            result = a * b
        case "&":
            result = a & b
        case "|":
            result = a | b
        case "^":
            result = a ^ b
        case _:
            quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
            result = quotient if sign == "/" else a - quotient * b
    return _fitting(result, common), common


def _floating(sign: str, a: float, b: float) -> float:
    match sign:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return a * b
        case "/":
            return a / b
    raise CannotEvaluate(f"'{sign}' of floating values")


def _common(left: Scalar, right: Scalar) -> Scalar:
    """The type of both operands after C's usual arithmetic conversions."""
    if Kind.FLOAT in (left.kind, right.kind):
        return F64
    if left.kind is Kind.POINTER:
        return left
    if right.kind is Kind.POINTER:
        return right
    bits = max(left.bits, right.bits)
    is_signed = all(item.signed for item in (left, right) if item.bits == bits)
    return Scalar(Kind.INT, bits, signed=is_signed)


def _converted(value: Number, scalar: Scalar) -> Number:
    if scalar.kind is Kind.FLOAT:
        return float(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise CannotEvaluate("a conversion without a value")
        value = int(value)
    return int(value != 0) if scalar.is_bool else scalar.wrap(value)


def _fitting(value: int, scalar: Scalar) -> int:
    if scalar.signed and not scalar.minimum <= value <= scalar.maximum:
        raise CannotEvaluate("an overflow in a constraint")
    return scalar.wrap(value)
