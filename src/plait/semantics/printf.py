"""The text that printf and its like print. Never fails: what makes no sense is printed as it is."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from plait.model.types import Kind, Scalar
from plait.semantics.scalars import Number, to_bits

if TYPE_CHECKING:
    from plait.semantics.memory import Memory

_DIRECTIVE = re.compile(
    rb"%(?P<flags>[-+ #0]*)(?P<width>\*|\d+)?(?:\.(?P<precision>\*|\d*))?"
    rb"(?P<length>hh|h|ll|l|j|z|t|L|q)?(?P<conversion>[a-zA-Z%])"
)
_BITS = {b"hh": 8, b"h": 16, b"ll": 64, b"j": 64, b"q": 64}


def formatted(memory: Memory, types: tuple[Scalar, ...], values: tuple[Number, ...]) -> bytes:
    """`values[0]` is the address of the format string."""
    text = memory.string_at(int(values[0]))
    arguments = list(zip(values[1:], types[1:], strict=True))
    result: list[bytes] = []
    end = 0
    for directive in _DIRECTIVE.finditer(text):
        result.append(text[end : directive.start()])
        end = directive.end()
        try:
            result.append(_directive(memory, directive, arguments))
        except (ValueError, TypeError, IndexError, OverflowError, KeyError):
            result.append(directive[0])
    result.append(text[end:])
    return b"".join(result)


def _directive(
    memory: Memory, directive: re.Match[bytes], arguments: list[tuple[Number, Scalar]]
) -> bytes:
    conversion = directive["conversion"].decode("ascii")
    if conversion == "%":
        return b"%"
    flags = directive["flags"].decode("ascii")
    width, precision = directive["width"] or b"", directive["precision"]
    if width == b"*":
        width = str(int(arguments.pop(0)[0])).encode()
    if precision == b"*":
        precision = str(int(arguments.pop(0)[0])).encode()
        precision = None if precision.startswith(b"-") else precision
    if width.startswith(b"-"):
        flags, width = flags + "-", width[1:]
    if len(width) > 6 or len(precision or b"") > 6:
        raise ValueError("absurd width")
    shape = f"%{flags}{width.decode()}"
    if precision is not None:
        shape += f".{precision.decode() or '0'}"
    if conversion == "n":
        arguments.pop(0)
        return b""
    value, scalar = arguments.pop(0)
    if conversion == "s":
        string = memory.string_at(int(value)) if value else b"(null)"
        return (shape + "s").encode() % string
    if conversion == "c":
        return (shape + "c").encode() % (int(value) & 0xFF)
    if conversion == "p":
        return (f"%{flags}{width.decode()}s" % (hex(int(value)) if value else "(nil)")).encode()
    if conversion in "diuxXo":
        return _integer(memory, directive, shape, conversion, to_bits(value, scalar), scalar)
    if conversion in "fFeEgG":
        return ((shape + conversion) % float(value)).encode()
    if conversion in "aA":
        return float(value).hex().encode()
    raise ValueError("unknown conversion")


def _integer(
    memory: Memory,
    directive: re.Match[bytes],
    shape: str,
    conversion: str,
    pattern: int,
    scalar: Scalar,
) -> bytes:
    if scalar.signed and scalar.kind is Kind.INT and pattern >> (scalar.bits - 1):
        pattern -= 1 << scalar.bits
    length = directive["length"]
    long_bits = memory.program.data_model.pointer.bits
    bits = 32 if length is None else _BITS.get(length, long_bits)
    pattern &= (1 << bits) - 1
    if conversion in "di":
        if pattern >> (bits - 1):
            pattern -= 1 << bits
        conversion = "d"
    elif conversion == "u":
        conversion = "d"
    if conversion in "xXo" and "#" in shape:
        prefix = {"x": "0x", "X": "0X", "o": "0"}[conversion] if pattern else ""
        digits = prefix + format(pattern, conversion)
        width = directive["width"] or b""
        return (f"%{'-' if '-' in shape else ''}{width.decode()}s" % digits).encode()
    if "." in shape:
        # A precision turns the flag 0 off for integers.
        shape = re.sub(r"^%([-+ #]*)0", r"%\1", shape)
    return ((shape + conversion) % pattern).encode()
