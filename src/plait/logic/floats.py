"""IEEE 754 arithmetic as bit-vector terms, rounding to nearest with ties to even.

A floating value is its bit pattern: sign, biased exponent, fraction. The circuits are those of the
textbooks (Muller et al., Handbook of Floating-Point Arithmetic, chapters 7 and 8): take the
operands apart, compute with integers a result that has a few bits more than fit, of which the
lowest is "sticky" (it is 1 if any bit below it is), and round that once. Which of the many NaNs an
operation gives is left open by the standard, and differs between a compiler's constant folding and
the hardware: a function that may give one is told its bits.
"""

from __future__ import annotations

from collections.abc import Callable

from plait.data import dataclass
from plait.errors import UnsupportedCode
from plait.logic.terms import Terms
from plait.model.expressions import BinaryOp
from plait.model.types import Kind, Scalar

# The bits of the NaN of a type that an operation gives where the condition holds.
NaN = Callable[[Scalar, int], int]


@dataclass(frozen=True, slots=True)
class _Format:
    """`precision` counts the leading bit of a significand that is not stored."""

    exponent: int
    fraction: int

    @property
    def bits(self) -> int:
        return 1 + self.exponent + self.fraction

    @property
    def precision(self) -> int:
        return self.fraction + 1

    @property
    def bias(self) -> int:
        return (1 << (self.exponent - 1)) - 1

    @property
    def wide(self) -> int:
        """So many bits hold the sum of two exponents and what normalisation takes off, signed."""
        return self.exponent + 2

    @property
    def infinity(self) -> int:
        return ((1 << self.exponent) - 1) << self.fraction


_FORMATS = {32: _Format(8, 23), 64: _Format(11, 52)}


def _format_of(scalar: Scalar) -> _Format:
    found = _FORMATS.get(scalar.bits) if scalar.kind is Kind.FLOAT else None
    if found is None:
        raise UnsupportedCode("floating-point values of this size are not supported here")
    return found


def open_bits(scalar: Scalar) -> int:
    """How many bits of a quiet NaN are open: its sign, and all of the fraction but the highest."""
    return _format_of(scalar).fraction


def quiet_nan(terms: Terms, scalar: Scalar, bits: int) -> int:
    """The quiet NaN with these `open_bits`."""
    form = _format_of(scalar)
    sign = terms.extract(bits, form.fraction - 1, 1)
    payload = terms.extract(bits, 0, form.fraction - 1)
    ones = terms.constant(-1, form.exponent + 1)
    return terms.concat(terms.concat(sign, ones), payload)


@dataclass(frozen=True, slots=True)
class _Parts:
    """A value taken apart. Where it is finite it is `significand` (an integer as wide as the
    format's precision) times 2**(`exponent` - fraction bits); `exponent` is signed and `wide`."""

    sign: int
    exponent: int
    significand: int
    is_zero: int
    is_infinite: int
    is_nan: int


def _taken_apart(terms: Terms, value: int, form: _Format) -> _Parts:
    sign = terms.extract(value, form.bits - 1, 1)
    biased = terms.extract(value, form.fraction, form.exponent)
    fraction = terms.extract(value, 0, form.fraction)
    is_low = terms.eq(biased, terms.constant(0, form.exponent))
    is_high = terms.eq(biased, terms.constant(-1, form.exponent))
    is_round = terms.eq(fraction, terms.constant(0, form.fraction))
    least = terms.constant(1, form.exponent)
    exponent = terms.sub(
        terms.zero_extend(terms.ite(is_low, least, biased), form.wide),
        terms.constant(form.bias, form.wide),
    )
    return _Parts(
        sign,
        exponent,
        terms.concat(terms.not_(is_low), fraction),
        terms.and_(is_low, is_round),
        terms.and_(is_high, is_round),
        terms.and_(is_high, terms.not_(is_round)),
    )


# --- comparisons


def is_zero(terms: Terms, value: int, scalar: Scalar) -> int:
    """Whether a value is 0 or -0."""
    form = _format_of(scalar)
    magnitude = terms.extract(value, 0, form.bits - 1)
    return terms.eq(magnitude, terms.constant(0, form.bits - 1))


def _is_nan(terms: Terms, value: int, form: _Format) -> int:
    infinity = terms.constant(form.infinity, form.bits - 1)
    return terms.ult(infinity, terms.extract(value, 0, form.bits - 1))


def compare(terms: Terms, op: BinaryOp, scalar: Scalar, left: int, right: int) -> int:
    """The truth value of a comparison: nothing but != holds of a NaN, and 0 equals -0."""
    if op is BinaryOp.NE:
        return terms.not_(compare(terms, BinaryOp.EQ, scalar, left, right))
    form = _format_of(scalar)
    both_zero = terms.and_(is_zero(terms, left, scalar), is_zero(terms, right, scalar))
    ordered = terms.not_(terms.or_(_is_nan(terms, left, form), _is_nan(terms, right, form)))
    equal = terms.or_(terms.eq(left, right), both_zero)
    if op is BinaryOp.EQ:
        return terms.and_(ordered, equal)
    signs = [terms.extract(item, form.bits - 1, 1) for item in (left, right)]
    # Patterns of the same sign are ordered like integers, those with a sign the other way round.
    less = terms.ite(terms.xor(*signs), signs[0], terms.xor(signs[0], terms.ult(left, right)))
    if op is BinaryOp.LT:
        return terms.all_of([ordered, less, terms.not_(equal)])
    return terms.and_(ordered, terms.or_(less, equal))


# --- arithmetic


def negate(terms: Terms, value: int, scalar: Scalar) -> int:
    """The value with its sign changed; of a NaN, too."""
    return terms.xor(value, terms.constant(1 << (scalar.bits - 1), scalar.bits))


def arithmetic(terms: Terms, op: BinaryOp, scalar: Scalar, left: int, right: int, nan: NaN) -> int:
    form = _format_of(scalar)
    match op:
        case BinaryOp.ADD:
            return _sum(terms, form, scalar, left, right, nan)
        case BinaryOp.SUB:
            return _sum(terms, form, scalar, left, negate(terms, right, scalar), nan)
        case BinaryOp.MUL:
            return _product(terms, form, scalar, left, right, nan)
        case BinaryOp.DIV:
            return _quotient(terms, form, scalar, left, right, nan)
    raise UnsupportedCode(f"floating-point {op.name} is not supported here")


def _sum(terms: Terms, form: _Format, scalar: Scalar, left: int, right: int, nan: NaN) -> int:
    magnitudes = [terms.extract(item, 0, form.bits - 1) for item in (left, right)]
    is_swapped = terms.ult(*magnitudes)
    larger = terms.ite(is_swapped, right, left)
    large = _taken_apart(terms, larger, form)
    small = _taken_apart(terms, terms.ite(is_swapped, left, right), form)
    # Two bits more than are kept, and the sticky one, are enough (Handbook, section 7.3).
    width = form.precision + 3
    three = terms.constant(0, 3)
    distance = terms.sub(large.exponent, small.exponent)
    moved = _moved_right(terms, terms.concat(small.significand, three), distance)
    differ = terms.xor(large.sign, small.sign)
    one = terms.zero_extend(terms.concat(large.significand, three), width + 1)
    other = terms.zero_extend(moved, width + 1)
    total = terms.ite(differ, terms.sub(one, other), terms.add(one, other))
    is_nothing = terms.eq(total, terms.constant(0, width + 1))
    exponent = terms.add(large.exponent, terms.constant(1, form.wide))
    rounded = _rounded(terms, form, large.sign, *_normalised(terms, exponent, total))
    sign = terms.and_(large.sign, terms.not_(differ))
    nothing = terms.concat(sign, terms.constant(0, form.bits - 1))
    result = terms.ite(is_nothing, nothing, rounded)
    result = terms.ite(large.is_infinite, larger, result)
    opposite = terms.all_of([large.is_infinite, small.is_infinite, differ])
    is_nan = terms.any_of([large.is_nan, small.is_nan, opposite])
    return _unless_nan(terms, is_nan, result, scalar, nan)


def _product(terms: Terms, form: _Format, scalar: Scalar, left: int, right: int, nan: NaN) -> int:
    a, b = (_taken_apart(terms, item, form) for item in (left, right))
    width = 2 * form.precision
    product = terms.mul(
        terms.zero_extend(a.significand, width), terms.zero_extend(b.significand, width)
    )
    # The highest bit of the product stands for twice what those of the factors together do.
    exponent = terms.add(terms.add(a.exponent, b.exponent), terms.constant(1, form.wide))
    sign = terms.xor(a.sign, b.sign)
    rounded = _rounded(terms, form, sign, *_normalised(terms, exponent, product))
    is_nothing = terms.or_(a.is_zero, b.is_zero)
    is_infinite = terms.or_(a.is_infinite, b.is_infinite)
    result = _with_limits(terms, form, sign, is_nothing, is_infinite, rounded)
    is_nan = terms.any_of([a.is_nan, b.is_nan, terms.and_(is_nothing, is_infinite)])
    return _unless_nan(terms, is_nan, result, scalar, nan)


def _quotient(terms: Terms, form: _Format, scalar: Scalar, left: int, right: int, nan: NaN) -> int:
    a, b = (_taken_apart(terms, item, form) for item in (left, right))
    first, dividend = _normalised(terms, a.exponent, a.significand)
    second, divisor = _normalised(terms, b.exponent, b.significand)
    # Long division. The quotient of two normalised significands is more than 1/2 and less than 2.
    width = form.precision + 1
    rest, divisor = terms.zero_extend(dividend, width), terms.zero_extend(divisor, width)
    digits: int | None = None
    for _ in range(form.precision + 2):
        fits = terms.ule(divisor, rest)
        digits = fits if digits is None else terms.concat(digits, fits)
        rest = terms.ite(fits, terms.sub(rest, divisor), rest)
        rest = terms.concat(terms.extract(rest, 0, width - 1), terms.false)
    assert digits is not None
    quotient = terms.concat(digits, terms.ne(rest, terms.constant(0, width)))
    exponent = terms.sub(first, second)
    # It is 1 or more, or one more step makes it so.
    count = terms.width[quotient]
    is_one = terms.extract(quotient, count - 1, 1)
    doubled = terms.concat(terms.extract(quotient, 0, count - 1), terms.false)
    quotient = terms.ite(is_one, quotient, doubled)
    lower = terms.sub(exponent, terms.constant(1, form.wide))
    exponent = terms.ite(is_one, exponent, lower)
    sign = terms.xor(a.sign, b.sign)
    rounded = _rounded(terms, form, sign, exponent, quotient)
    is_nothing = terms.or_(a.is_zero, b.is_infinite)
    is_infinite = terms.or_(a.is_infinite, b.is_zero)
    result = _with_limits(terms, form, sign, is_nothing, is_infinite, rounded)
    # 0/0 and infinity/infinity are the ways to be both.
    is_nan = terms.any_of([a.is_nan, b.is_nan, terms.and_(is_nothing, is_infinite)])
    return _unless_nan(terms, is_nan, result, scalar, nan)


def _with_limits(
    terms: Terms, form: _Format, sign: int, is_nothing: int, is_infinite: int, rounded: int
) -> int:
    nothing, infinity = (terms.constant(item, form.bits - 1) for item in (0, form.infinity))
    result = terms.ite(is_nothing, terms.concat(sign, nothing), rounded)
    return terms.ite(is_infinite, terms.concat(sign, infinity), result)


def _unless_nan(terms: Terms, is_nan: int, result: int, scalar: Scalar, nan: NaN) -> int:
    return result if is_nan == terms.false else terms.ite(is_nan, nan(scalar, is_nan), result)


# --- conversions


def from_integer(terms: Terms, value: int, source: Scalar, target: Scalar) -> int:
    form = _format_of(target)
    width = source.bits
    negative = terms.extract(value, width - 1, 1) if source.signed else terms.false
    magnitude = terms.ite(negative, terms.neg(value), value)
    exponent = terms.constant(width - 1, form.wide)
    rounded = _rounded(terms, form, negative, *_normalised(terms, exponent, magnitude))
    is_nothing = terms.eq(value, terms.constant(0, width))
    return terms.ite(is_nothing, terms.constant(0, form.bits), rounded)


def resized(terms: Terms, value: int, source: Scalar, target: Scalar, nan: NaN) -> int:
    """From one floating type to another."""
    if source.bits == target.bits:
        return value
    narrow, form = _format_of(source), _format_of(target)
    parts = _taken_apart(terms, value, narrow)
    wide = max(narrow.wide, form.wide)
    exponent = terms.sign_extend(parts.exponent, wide)
    rounded = _rounded(terms, form, parts.sign, *_normalised(terms, exponent, parts.significand))
    result = _with_limits(terms, form, parts.sign, parts.is_zero, parts.is_infinite, rounded)
    return _unless_nan(terms, parts.is_nan, result, target, nan)


def to_integer(terms: Terms, value: int, source: Scalar, target: Scalar) -> int:
    """Towards zero. What does not fit is undefined in C, so that a check comes before it; the value
    then is that of `plait.semantics.scalars.float_to_integer`."""
    bits = target.bits
    parts = _taken_apart(terms, value, _format_of(source))
    if target.signed or bits < 32:
        return terms.extract(_truncated(terms, parts, max(bits, 32)), 0, bits)
    if bits == 32:
        return terms.extract(_truncated(terms, parts, 64), 0, 32)
    magnitude, is_beyond = _whole_part(terms, parts, bits)
    wide = terms.width[parts.exponent]
    is_large = terms.all_of(
        [
            terms.not_(parts.sign),
            terms.not_(parts.is_nan),
            terms.sle(terms.constant(bits - 1, wide), parts.exponent),
        ]
    )
    large = terms.ite(is_beyond, terms.constant(0, bits), magnitude)
    return terms.ite(is_large, large, _truncated(terms, parts, bits))


def _truncated(terms: Terms, parts: _Parts, width: int) -> int:
    """The whole part in so many bits, signed; the least number of these if it does not fit."""
    magnitude, is_beyond = _whole_part(terms, parts, width)
    whole = terms.ite(parts.sign, terms.neg(magnitude), magnitude)
    is_large = terms.or_(is_beyond, terms.extract(magnitude, width - 1, 1))
    return terms.ite(is_large, terms.constant(1 << (width - 1), width), whole)


def _whole_part(terms: Terms, parts: _Parts, width: int) -> tuple[int, int]:
    """Without the sign in so many bits, and whether it needs more (as a NaN does)."""
    wide = terms.width[parts.exponent]
    fraction = terms.width[parts.significand] - 1
    room = width + fraction
    places = (width - 1).bit_length()
    # Less than the widths need to say: then the count is not taken modulo the width.
    assert 1 << places <= room
    count = terms.extract(parts.exponent, 0, places)
    shifted = terms.shl(terms.zero_extend(parts.significand, room), count)
    is_fraction = terms.slt(parts.exponent, terms.constant(0, wide))
    whole = terms.extract(shifted, fraction, width)
    magnitude = terms.ite(is_fraction, terms.constant(0, width), whole)
    return magnitude, terms.sle(terms.constant(width, wide), parts.exponent)


# --- normalisation and rounding


def _normalised(terms: Terms, exponent: int, significand: int) -> tuple[int, int]:
    """The same value with the highest bit of the significand set, unless it is 0."""
    width = terms.width[significand]
    step = 1 << ((width - 1).bit_length() - 1)
    count: int | None = None
    while step:
        is_empty = terms.eq(terms.extract(significand, width - step, step), terms.constant(0, step))
        moved = terms.concat(terms.extract(significand, 0, width - step), terms.constant(0, step))
        significand = terms.ite(is_empty, moved, significand)
        count = is_empty if count is None else terms.concat(count, is_empty)
        step >>= 1
    assert count is not None
    return terms.sub(exponent, terms.zero_extend(count, terms.width[exponent])), significand


def _rounded(terms: Terms, form: _Format, sign: int, exponent: int, significand: int) -> int:
    """The nearest value of the format. The highest bit of the significand is set and stands for
    2**exponent; the lowest may be sticky, if there are two more than the format's precision."""
    width = form.precision + 2
    wide = terms.width[exponent]
    least = terms.constant(1 - form.bias, wide)
    is_tiny = terms.slt(exponent, least)
    distance = terms.ite(is_tiny, terms.sub(least, exponent), terms.constant(0, wide))
    moved = _moved_right(terms, _with_width(terms, significand, width), distance)
    kept = terms.extract(moved, 2, form.precision)
    half, rest, odd = (terms.extract(moved, place, 1) for place in (1, 0, 2))
    goes_up = terms.and_(half, terms.or_(rest, odd))
    biased = terms.add(exponent, terms.constant(form.bias, wide))
    biased = terms.ite(is_tiny, terms.constant(0, wide), biased)
    # A carry out of the fraction goes into the exponent, as it should; up to infinity.
    packed = terms.concat(
        terms.extract(biased, 0, form.exponent), terms.extract(kept, 0, form.fraction)
    )
    packed = terms.add(packed, terms.zero_extend(goes_up, form.bits - 1))
    is_large = terms.slt(terms.constant(form.bias, wide), exponent)
    infinity = terms.constant(form.infinity, form.bits - 1)
    return terms.concat(sign, terms.ite(is_large, infinity, packed))


def _with_width(terms: Terms, significand: int, width: int) -> int:
    """With zeros behind it, or without its lowest bits but a sticky one."""
    given = terms.width[significand]
    if given == width:
        return significand
    if given < width:
        return terms.concat(significand, terms.constant(0, width - given))
    dropped = given - width + 1
    rest = terms.ne(terms.extract(significand, 0, dropped), terms.constant(0, dropped))
    return terms.concat(terms.extract(significand, dropped, width - 1), rest)


def _moved_right(terms: Terms, significand: int, distance: int) -> int:
    """Shifted by a number that is not negative; the lowest bit is sticky."""
    width = terms.width[significand]
    stages = width.bit_length()
    given = terms.width[distance]
    if given > stages:
        # From `width` places on, nothing but the sticky bit is left.
        is_far = terms.ne(
            terms.extract(distance, stages, given - stages), terms.constant(0, given - stages)
        )
        farthest = terms.constant(-1, stages)
        distance = terms.ite(is_far, farthest, terms.extract(distance, 0, stages))
    for stage in range(terms.width[distance]):
        step = min(1 << stage, width)
        rest = terms.ne(terms.extract(significand, 0, step), terms.constant(0, step))
        moved = terms.zero_extend(rest, width)
        if step < width:
            high = terms.zero_extend(terms.extract(significand, step, width - step), width)
            moved = terms.or_(high, moved)
        significand = terms.ite(terms.extract(distance, stage, 1), moved, significand)
    return significand
