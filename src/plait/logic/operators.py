"""The operators of bit-vector terms, and what each one computes.

An operator is a small integer, because terms are made in the innermost loop of an encoding. All
values are unsigned, less than 2**width. Comparisons have width 1. As everywhere in plait division
truncates, `x / 0` is 0 and `x % 0` is x; a shift's count is less than the width of what it shifts,
which `Terms` sees to.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

CONSTANT: Final = 0
VARIABLE: Final = 1
NOT: Final = 2
AND: Final = 3
OR: Final = 4
XOR: Final = 5
NEG: Final = 6
ADD: Final = 7
SUB: Final = 8
MUL: Final = 9
UDIV: Final = 10
UREM: Final = 11
SDIV: Final = 12
SREM: Final = 13
SHL: Final = 14
LSHR: Final = 15
ASHR: Final = 16
EQ: Final = 17
ULT: Final = 18
SLT: Final = 19
ITE: Final = 20
CONCAT: Final = 21
EXTRACT: Final = 22
ZERO_EXTEND: Final = 23
SIGN_EXTEND: Final = 24

NAMES: Final = (
    "constant variable not and or xor neg add sub mul udiv urem sdiv srem shl lshr ashr "
    "eq ult slt ite concat extract zero_extend sign_extend"
).split()

Values = Sequence[int]


def signed(value: int, width: int) -> int:
    """The value of a bit vector read as a two's complement number."""
    return value - (1 << width) if value >> (width - 1) else value


def truncated_quotient(left: int, right: int) -> int:
    if right == 0:
        return 0
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def _and(values: Values, widths: Values, parameter: int) -> int:
    result = values[0]
    for value in values:
        result &= value
    return result


def _or(values: Values, widths: Values, parameter: int) -> int:
    result = 0
    for value in values:
        result |= value
    return result


def _sdiv(values: Values, widths: Values, parameter: int) -> int:
    width = widths[0]
    return truncated_quotient(signed(values[0], width), signed(values[1], width))


def _srem(values: Values, widths: Values, parameter: int) -> int:
    left, right = (signed(value, widths[0]) for value in values)
    return left - right * truncated_quotient(left, right)


def _slt(values: Values, widths: Values, parameter: int) -> int:
    left, right = (signed(value, widths[0]) for value in values)
    return int(left < right)


# Operand values, their widths and the parameter (an extract's lowest bit) to a result that may
# still have to be reduced modulo 2**width.
_FUNCTIONS: dict[int, Callable[[Values, Values, int], int]] = {
    NOT: lambda v, w, p: ~v[0],
    AND: _and,
    OR: _or,
    XOR: lambda v, w, p: v[0] ^ v[1],
    NEG: lambda v, w, p: -v[0],
    ADD: lambda v, w, p: v[0] + v[1],
    SUB: lambda v, w, p: v[0] - v[1],
    MUL: lambda v, w, p: v[0] * v[1],
    UDIV: lambda v, w, p: v[0] // v[1] if v[1] else 0,
    UREM: lambda v, w, p: v[0] % v[1] if v[1] else v[0],
    SDIV: _sdiv,
    SREM: _srem,
    SHL: lambda v, w, p: v[0] << v[1],
    LSHR: lambda v, w, p: v[0] >> v[1],
    ASHR: lambda v, w, p: signed(v[0], w[0]) >> v[1],
    EQ: lambda v, w, p: int(v[0] == v[1]),
    ULT: lambda v, w, p: int(v[0] < v[1]),
    SLT: _slt,
    ITE: lambda v, w, p: v[1] if v[0] else v[2],
    CONCAT: lambda v, w, p: v[0] << w[1] | v[1],
    EXTRACT: lambda v, w, p: v[0] >> p,
    ZERO_EXTEND: lambda v, w, p: v[0],
    SIGN_EXTEND: lambda v, w, p: signed(v[0], w[0]),
}


def compute(operator: int, width: int, values: Values, widths: Values, parameter: int = 0) -> int:
    """The value of an operator's result, of `width` bits, for given operands."""
    return _FUNCTIONS[operator](values, widths, parameter) & ((1 << width) - 1)
