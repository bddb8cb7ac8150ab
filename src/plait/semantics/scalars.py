"""Arithmetic and representation of scalar values, where Python's own operators differ from C's.

The functions here are total. Conversion of a floating value to an integer type that cannot hold
it is undefined in C; we do what gcc does on x86-64 (cvttsd2si): the 32- or 64-bit conversion gives
the "integer indefinite" minimum value, and narrower types take its low bits. U32 goes through the
64-bit conversion, U64 subtracts 2**63 first where the value is at least that large.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from typing import Any

from plait.model.types import Kind, Scalar

Buffer = bytes | bytearray
Reader = Callable[[Any, int], tuple[Any, ...]]
Writer = Callable[[bytearray, int, Any], None]
Number = int | float

_SINGLE = struct.Struct("<f")
_DOUBLE = struct.Struct("<d")


def divide(left: int, right: int) -> int:
    """The quotient truncated towards zero; 0 where the divisor is 0."""
    if right == 0:
        return 0
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def remainder(left: int, right: int) -> int:
    """What `divide` leaves: it has the sign of `left`; `left` itself where the divisor is 0."""
    return left - divide(left, right) * right


def divide_floats(left: float, right: float) -> float:
    """IEEE 754 division, which also has a value where Python raises."""
    if right != 0:
        return left / right
    if left == 0 or math.isnan(left) or math.isnan(right):
        return math.nan
    return math.copysign(math.inf, left) * math.copysign(1.0, right)


def remainder_floats(left: float, right: float) -> float:
    if right == 0 or math.isinf(left) or math.isnan(left) or math.isnan(right):
        return math.nan
    return math.fmod(left, right)


def to_single(value: float) -> float:
    """The nearest float32. A double result of +, -, *, / on float32 operands rounds right because
    53 >= 2 * 24 + 2 (Figueroa, "When is double rounding innocuous?", 1995)."""
    try:
        result: float = _SINGLE.unpack(_SINGLE.pack(value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)
    return result


def integer_to_single(value: int) -> float:
    """The nearest float32 of an integer, rounded once: via double it would be rounded twice."""
    size = abs(value)
    excess = size.bit_length() - 48
    if excess <= 0:
        return to_single(float(value))
    sticky = (size >> excess) | (size & ((1 << excess) - 1) != 0)
    rounded = to_single(math.ldexp(float(sticky), excess))
    return -rounded if value < 0 else rounded


def float_to_integer(value: float, target: Scalar) -> int:
    bits = target.bits
    if target.signed or bits < 32:
        return target.wrap(_truncate(value, max(bits, 32)))
    if bits == 32:
        return target.wrap(_truncate(value, 64))
    half = 1 << (bits - 1)
    if value >= half:
        return target.wrap(_truncate(value - half, bits) ^ half)
    return target.wrap(_truncate(value, bits))


def _truncate(value: float, bits: int) -> int:
    """cvttsd2si: the truncated value, or the minimum of the signed type if that is no value."""
    indefinite = -(1 << (bits - 1))
    if math.isnan(value) or math.isinf(value):
        return indefinite
    whole = int(value)
    return whole if indefinite <= whole < -indefinite else indefinite


def to_bits(value: Number, scalar: Scalar) -> int:
    """The value's representation as an unsigned integer."""
    if scalar.kind is Kind.FLOAT:
        packer = _SINGLE if scalar.bits == 32 else _DOUBLE
        return int.from_bytes(packer.pack(value), "little")
    return int(value) & ((1 << scalar.bits) - 1)


def from_bits(bits: int, scalar: Scalar) -> Number:
    """The value that the low bits of an integer represent."""
    bits &= (1 << scalar.bits) - 1
    if scalar.kind is Kind.FLOAT:
        packer = _SINGLE if scalar.bits == 32 else _DOUBLE
        result: float = packer.unpack(bits.to_bytes(scalar.size, "little"))[0]
        return result
    if scalar.is_bool:
        return int(bits != 0)
    return scalar.wrap(bits)


def reinterpret(value: Number, source: Scalar, target: Scalar) -> Number:
    """The value of another type that has the same low bits."""
    return from_bits(to_bits(value, source), target)


def zero(scalar: Scalar) -> Number:
    return 0.0 if scalar.kind is Kind.FLOAT else 0


_FORMATS = {
    (8, True): "<b",
    (8, False): "<B",
    (16, True): "<h",
    (16, False): "<H",
    (32, True): "<i",
    (32, False): "<I",
    (64, True): "<q",
    (64, False): "<Q",
}


def _format(scalar: Scalar) -> struct.Struct:
    if scalar.kind is Kind.FLOAT:
        return _SINGLE if scalar.bits == 32 else _DOUBLE
    return struct.Struct(_FORMATS[scalar.bits, scalar.signed])


def reader(scalar: Scalar) -> Reader:
    """A function that takes a buffer and an offset and gives a tuple with the value there."""
    if scalar.is_bool:
        return lambda data, offset: (int(data[offset] != 0),)
    if scalar.bits > 64:
        size, signed = scalar.size, scalar.signed
        return lambda data, offset: (
            int.from_bytes(data[offset : offset + size], "little", signed=signed),
        )
    return _format(scalar).unpack_from


def writer(scalar: Scalar) -> Writer:
    """A function that takes a buffer, an offset and a value and stores the value there."""
    if scalar.bits > 64:
        size, signed = scalar.size, scalar.signed

        def write(data: bytearray, offset: int, value: int) -> None:
            data[offset : offset + size] = value.to_bytes(size, "little", signed=signed)

        return write
    return _format(scalar).pack_into
