"""Random C expressions without undefined behaviour and independent of the order of evaluation.

An expression is *pure* (reads anything, changes nothing), *stable* (reads only what nothing can
change) or *effectful*. Next to an effectful operand of an operator whose operands are unsequenced
stands a stable one, so that every order of evaluation gives the same result.
"""

from __future__ import annotations

from collections.abc import Callable

from trust.scope import Context, Place, Signature, Variable
from trust.types import (
    BOOL,
    CHAR,
    ArrayType,
    CType,
    FloatType,
    IntType,
    PointerType,
    RecordType,
    declare,
    is_float,
    is_int,
    is_scalar,
    is_wide,
    reaches,
    spell,
)

_LITERALS = (
    "0", "1", "2", "3", "7", "-1", "-2", "127", "128", "-128", "255", "256", "0x7fff", "32768",
    "65535", "-32769", "INT_MAX", "INT_MIN", "2147483648u", "UINT_MAX", "0xdeadbeef", "-7L",
    "5UL", "1LL", "0x7fffffffffffffffLL", "LLONG_MIN", "0x8000000000000000ULL", "ULLONG_MAX",
    "'a'", "'\\xff'", "'\\0'", "'\\n'", "010", "0x100000000LL", "-0x80000001LL",
)  # fmt: skip
_FLOATS = (
    "0.0", "-0.0", "1.0", "1.5f", "0.1", "0.1f", "-2.75", "3e10", "1e-3f", "1e300", "16777217.0",
)  # fmt: skip
_RANGES = {  # values that convert to every integer type that the name stands for
    True: ("-100.0", "100.0"),
    False: ("0.0", "200.0"),
}


class Expressions:
    def __init__(self, context: Context) -> None:
        self.context = context
        self.dice = context.dice
        self.statement_body: Callable[[], list[str]] | None = None

    # ---- places -------------------------------------------------------------------------------

    def place(
        self,
        want: Callable[[CType], bool],
        *,
        writable: bool = False,
        fixed: bool = False,
        addressable: bool = False,
        max_depth: int = 1000,
        depth: int = 1,
    ) -> Place | None:
        """A random lvalue of a wanted type; `fixed`: no effect can change where it is."""

        def accept(item: Variable) -> bool:
            if item.depth > max_depth or ((writable or addressable) and not item.writable):
                return False
            if addressable and not item.addressable:
                return False
            return reaches(item.type, want, through_pointers=not fixed)

        found = self.context.candidates(accept)
        if not found:
            return None
        # Prefer what was declared last: programs whose parts have to do with each other.
        variable = self.dice.pick(found[-6:] if self.dice.chance(60) else found)
        place = Place(variable.name, variable.type, variable.depth)
        while not want(place.type):
            self._step_into(place, want, fixed, addressable, depth)
            if not place.text:
                return None
        return place

    def _step_into(
        self,
        place: Place,
        want: Callable[[CType], bool],
        fixed: bool,
        addressable: bool,
        depth: int,
    ) -> None:
        match place.type:
            case ArrayType():
                place.text += f"[{self.index(place.type.count, fixed, depth)}]"
                place.type = place.type.element
            case PointerType():
                pointer, place.type = place.text, place.type.target
                place.text = f"(*{pointer})" if self.dice.chance(70) else f"{pointer}[0]"
                place.pointer = pointer
                return
            case RecordType():
                members = [
                    member
                    for member in place.type.named
                    if reaches(member.type, want, not fixed)
                    and not (addressable and member.width is not None)
                ]
                if not members:
                    place.text = ""
                    return
                member = self.dice.pick(members)
                if place.pointer and self.dice.chance(60):
                    place.text = f"{place.pointer}->{member.name}"
                else:
                    place.text = f"{place.text}.{member.name}"
                place.type = member.type
                place.width = member.width
                place.wide = is_wide(member)
            case _:
                raise AssertionError("a scalar that is not wanted leads nowhere")
        place.pointer = ""

    def index(self, count: int, fixed: bool = False, depth: int = 1) -> str:
        if depth <= 0 or self.dice.chance(45):
            return str(self.dice.below(count))
        inner = self.stable() if fixed else self.pure(depth - 1)
        if count & (count - 1) == 0 and self.dice.chance(50):
            return f"({inner}) & {count - 1}"
        return f"(unsigned)({inner}) % {count}u"

    # ---- leaves -------------------------------------------------------------------------------

    def constant(self) -> str:
        """An integer constant expression."""
        dice = self.dice
        if self.context.enumerators and dice.chance(10):
            return dice.pick(self.context.enumerators)
        if dice.chance(15):
            return f"({dice.pick(self.context.ints).name}){dice.pick(_LITERALS)}"
        if dice.chance(10):
            return self.size_constant()
        if dice.chance(35):
            return str(dice.between(-20, 100))
        if dice.chance(20):
            return f"0x{dice.bits(dice.pick((8, 16, 31, 32, 48, 63, 64))):x}"
        return dice.pick(_LITERALS)

    def size_constant(self) -> str:
        dice, context = self.dice, self.context
        record = dice.pick(context.structs) if context.structs else None
        if record is not None and dice.chance(50):
            plain = [member.name for member in record.named if member.width is None]
            if plain and dice.chance(60):
                return f"(int)offsetof({record.name}, {dice.pick(plain)})"
            return f"(int)sizeof({record.name})"
        keyword = dice.pick(("sizeof", "_Alignof"))
        return f"(int){keyword}({dice.pick(context.ints).name})"

    def stable(self) -> str:
        found = self.context.candidates(lambda item: item.stable and is_int(item.type))
        if found and self.dice.chance(60):
            return self.dice.pick(found).name
        return self.constant()

    def read(self, depth: int = 1) -> str:
        place = self.place(is_int, depth=depth)
        if place is None:
            return self.constant()
        return self.value_of(place)

    def value_of(self, place: Place) -> str:
        return f"({spell(place.type)}){place.text}" if place.wide else place.text

    # ---- pure integers ------------------------------------------------------------------------

    def pure(self, depth: int) -> str:
        """An integer expression without effects."""
        dice = self.dice
        if depth <= 0 or dice.chance(12):
            return self.read(depth) if dice.chance(65) else self.constant()
        rule = dice.weighted(
            (
                (30, self._binary),
                (8, self._shift),
                (8, self._divide),
                (10, self._compare),
                (8, self._logic),
                (8, self._unary),
                (10, self._cast),
                (6, self._choose),
                (3, self._comma),
                (5, self._from_float),
                (5, self._pointer_value),
                (5, self._literal_object),
                (3, self._oddity),
            )
        )
        return rule(depth - 1)

    def _binary(self, depth: int) -> str:
        operator = self.dice.pick(("+", "-", "*", "&", "|", "^", "+", "-"))
        return f"({self.pure(depth)} {operator} {self.pure(depth)})"

    def _shift(self, depth: int) -> str:
        operator = self.dice.pick(("<<", ">>"))
        return self.shifted(self.pure(depth), operator, self.pure(depth))

    def shifted(self, left: str, operator: str, count: str) -> str:
        if self.dice.chance(50):
            type_ = self.dice.pick(self.context.ints)
            return f"(({type_.name})({left}) {operator} (({count}) & {type_.shift}))"
        return f"(({left}) {operator} (({count}) & 31))"

    def divisor(self, inner: str) -> str:
        """Never 0, and never -1 in a signed type."""
        return self.dice.pick(
            (
                f"((({inner}) & 15) + 1)",
                f"((({inner}) & 7) - 9)",
                f"((unsigned)({inner}) | 1)",
                f"((unsigned long long)({inner}) | 1)",
                "7",
                "-3",
                "10u",
                "1000000007LL",
            )
        )

    def _divide(self, depth: int) -> str:
        operator = self.dice.pick(("/", "%"))
        return f"({self.pure(depth)} {operator} {self.divisor(self.pure(depth))})"

    def _compare(self, depth: int) -> str:
        operator = self.dice.pick(("<", "<=", ">", ">=", "==", "!="))
        if self.context.has("floats") and self.dice.chance(20):
            return f"({self.floating(depth)} {operator} {self.floating(depth)})"
        return f"({self.pure(depth)} {operator} {self.pure(depth)})"

    def _logic(self, depth: int) -> str:
        operator = self.dice.pick(("&&", "||"))
        return f"({self.pure(depth)} {operator} {self.pure(depth)})"

    def _unary(self, depth: int) -> str:
        operator = self.dice.pick(("-", "~", "!", "+"))
        return f"({operator}({self.pure(depth)}))"

    def _cast(self, depth: int) -> str:
        return f"(({self.dice.pick(self.context.ints).name})({self.pure(depth)}))"

    def _choose(self, depth: int) -> str:
        if self.dice.chance(30):
            return f"({self.pure(depth)} ?: {self.pure(depth)})"
        return f"({self.pure(depth)} ? {self.pure(depth)} : {self.pure(depth)})"

    def _comma(self, depth: int) -> str:
        return f"({self.pure(depth)}, {self.pure(depth)})"

    def _from_float(self, depth: int) -> str:
        if not self.context.has("floats"):
            return self._cast(depth)
        target = self.dice.pick(self.context.ints)
        value = self.floating(min(depth, 1))
        if target == BOOL:
            return f"((_Bool)({value}))"
        low, high = _RANGES[target.signed]
        return f"(({target.name})(({value} >= {low} && {value} <= {high}) ? {value} : 1.5))"

    def _pointer_value(self, depth: int) -> str:
        if not self.context.has("pointers"):
            return self._unary(depth)
        array = self.place(lambda item: isinstance(item, ArrayType), fixed=True, addressable=True)
        if array is None or not isinstance(array.type, ArrayType):
            return self._unary(depth)
        first = f"&{array.text}[{self.index(array.type.count, depth=depth)}]"
        second = f"&{array.text}[{self.index(array.type.count, depth=depth)}]"
        operator = self.dice.pick(("<", "<=", "==", "!=", ">", "-", "-"))
        result = f"({first} {operator} {second})"
        return f"((int){result})" if operator == "-" else result

    def _literal_object(self, depth: int) -> str:
        """A part of a compound literal or of a string literal."""
        dice, context = self.dice, self.context
        if context.has("strings") and dice.chance(25):
            text = dice.pick(('"plait"', '"order"', '"\\x80\\xff\\1\\2z"'))
            return f"{text}[{self.index(6, depth=depth)}]"
        if context.unions and dice.chance(30):
            union = dice.pick(context.unions)
            literal = f"({union.name}){self.initialiser(union, False)}"
            place = Place(f"({literal})", union, 0)
            while not is_int(place.type):
                self._step_into(place, is_int, False, False, depth)
            return self.value_of(place)
        if context.structs and dice.chance(50):
            struct = dice.pick(context.structs)
            place = Place(f"(({struct.name}){self.initialiser(struct, False)})", struct, 0)
            if reaches(struct, is_int):
                while not is_int(place.type):
                    self._step_into(place, is_int, False, False, depth)
                return self.value_of(place)
        element = dice.pick(context.ints).name
        items = ", ".join(self.pure(0) for _ in range(dice.between(1, 3)))
        return f"(({element}[4]){{{items}}})[{self.index(4, depth=depth)}]"

    def _oddity(self, depth: int) -> str:
        dice, context = self.dice, self.context
        if context.has("generic") and dice.chance(50):
            cases = dice.some(("int", "unsigned", "long", "unsigned long", "long long", "char"), 3)
            arms = ", ".join(f"{name}: {dice.between(1, 9)}" for name in cases)
            return f"_Generic(({self.pure(depth)}) + 0, {arms}, default: {self.pure(0)})"
        if context.has("builtins") and dice.chance(60):
            name = dice.pick(("popcount", "popcountll", "parity", "bswap32", "ffs"))
            choice = dice.pick(
                (
                    f"__builtin_{name}({self.pure(depth)})",
                    f"__builtin_expect(({self.pure(depth)}) != 0, 1)",
                    f"__builtin_clz((unsigned)({self.pure(depth)}) | 1)",
                    f"__builtin_ctzll((unsigned long long)({self.pure(depth)}) | 256)",
                    f"abs((short)({self.pure(depth)}))",
                )
            )
            return choice
        return f"((int)sizeof(({self.pure(depth)}) + 0))"

    # ---- floats -------------------------------------------------------------------------------

    def floating(self, depth: int) -> str:
        """A float or double expression without effects."""
        dice = self.dice
        if depth <= 0 or dice.chance(25):
            place = self.place(is_float, depth=0)
            return place.text if place is not None and dice.chance(65) else dice.pick(_FLOATS)
        if dice.chance(25):
            return f"(({dice.pick(('float', 'double'))})({self.pure(depth - 1)}))"
        if dice.chance(10):
            return f"(-({self.floating(depth - 1)}))"
        if dice.chance(10):
            return f"({self.pure(depth - 1)} ? {self.floating(depth - 1)} : {self.floating(0)})"
        if dice.chance(15):
            # An integer operand is converted by the usual arithmetic conversions.
            return f"({self.pure(depth - 1)} {dice.pick('+-*')} {self.floating(depth - 1)})"
        operator = dice.pick(("+", "-", "*", "/"))
        left = self.floating(depth - 1)
        if operator == "-" and left in ("0.0", "-0.0"):
            operator = "+"  # gcc 12 makes -x of 0.0 - x where x comes from an integer: -0.0 for 0
        return f"({left} {operator} {self.floating(depth - 1)})"

    # ---- values of any type -------------------------------------------------------------------

    def pure_of(self, type_: CType, depth: int) -> str | None:
        """A pure expression of a type, to be assigned or passed; None if there is none."""
        match type_:
            case IntType():
                return self.pure(depth)
            case FloatType():
                return self.floating(depth) if self.dice.chance(80) else self.pure(depth)
            case RecordType():
                place = self.place(lambda item: item is type_, depth=depth)
                if place is not None and self.dice.chance(65):
                    return place.text
                return f"({type_.name}){self.initialiser(type_, False)}"
            case PointerType():
                return self.address(type_.target, 1000)
        return None

    def address(self, target: CType, max_depth: int) -> str | None:
        """A valid pointer to an object of this type that lives at least as long as `max_depth`."""
        place = self.place(lambda item: item == target, addressable=True, max_depth=max_depth)
        return None if place is None else f"&{place.text}"

    def constant_address(self, target: CType) -> str | None:
        """An address constant: of a static object or a part of it."""
        place = self.place(
            lambda item: item == target, addressable=True, fixed=True, max_depth=0, depth=0
        )
        return None if place is None else f"&{place.text}"

    def initialiser(self, type_: CType, constant: bool) -> str:
        """An initialiser list or value: nested, designated, partial, with ranges."""
        dice = self.dice
        match type_:
            case IntType():
                return self.constant() if constant or dice.chance(40) else self.pure(1)
            case FloatType():
                return dice.pick(_FLOATS) if constant or dice.chance(50) else self.floating(1)
            case ArrayType():
                return self._array_initialiser(type_, constant)
            case RecordType() if type_.is_union:
                return f"{{ {self.initialiser(type_.named[0].type, constant)} }}"
            case RecordType():
                return self._struct_initialiser(type_, constant)
        raise AssertionError("a pointer inside an aggregate")

    def _array_initialiser(self, type_: ArrayType, constant: bool) -> str:
        dice = self.dice
        if type_.element == CHAR and type_.count >= 3 and dice.chance(40):
            return '"ab"'
        if dice.chance(10):
            return "{ 0 }" if is_scalar(type_.element) else "{ }"
        inner = type_.element
        elides = isinstance(inner, ArrayType) and type_.count > 1 and dice.chance(20)
        if elides and isinstance(inner, ArrayType) and is_scalar(inner.element):
            flat = [self.initialiser(inner.element, constant) for _ in range(inner.count + 1)]
            return f"{{ {', '.join(flat)} }}"  # braces elided
        partial = dice.chance(35)
        count = dice.between(1, type_.count) if partial else type_.count
        items = [self.initialiser(type_.element, constant) for _ in range(count)]
        if partial and dice.chance(60):
            first = dice.below(type_.count)
            last = dice.between(first, type_.count - 1)
            is_range = first < last and (constant or is_scalar(type_.element)) and dice.chance(30)
            where = f"{first} ... {last}" if is_range else str(first)
            items[-1] = f"[{where}] = {items[-1]}"
        return f"{{ {', '.join(items)} }}"

    def _struct_initialiser(self, type_: RecordType, constant: bool) -> str:
        dice = self.dice
        members = type_.named
        if dice.chance(35):
            chosen = dice.some(members, dice.between(1, len(members)))
            items = [f".{item.name} = {self.initialiser(item.type, constant)}" for item in chosen]
        else:
            chosen = members[: dice.between(1, len(members))] if dice.chance(30) else members
            items = [self.initialiser(item.type, constant) for item in chosen]
        return f"{{ {', '.join(items)} }}"

    # ---- effects ------------------------------------------------------------------------------

    def full(self, depth: int) -> str:
        """An integer expression that may have effects; it must be a full expression."""
        if self.context.has("effects") and self.dice.chance(45):
            return self.effect(depth)
        return self.pure(depth)

    def effect(self, depth: int) -> str:
        dice = self.dice
        if depth <= 0:
            return self._simple_effect()
        rule = dice.below(10)
        if rule < 3:
            return self._simple_effect()
        if rule == 3:
            operator = dice.pick(("+", "-", "*", "&", "|", "^", "<", "=="))
            pair = [self.effect(depth - 1), self.stable()]
            if dice.chance(50):
                pair.reverse()
            return f"({pair[0]} {operator} {pair[1]})"
        if rule == 4:
            operator = dice.pick(("&&", "||"))
            return f"({self.full(depth - 1)} {operator} {self.full(depth - 1)})"
        if rule == 5:
            return f"({self.full(depth - 1)} ? {self.full(depth - 1)} : {self.full(depth - 1)})"
        if rule == 6:
            return f"({self.full(depth - 1)}, {self.full(depth - 1)})"
        if rule == 7:
            return f"({dice.pick(('-', '~', '!'))}({self.effect(depth - 1)}))"
        if rule == 8 and self.context.has("calls"):
            return self.call(depth - 1) or self._simple_effect()
        if self.context.has("statement-expressions"):
            return self._statement_expression(depth - 1)
        return f"({self.effect(depth - 1)} ?: {self.pure(depth - 1)})"

    def _simple_effect(self) -> str:
        return self.assignment(1)

    def assignment(self, depth: int) -> str:
        """An assignment expression of an integer place, of any of C's forms."""
        dice = self.dice
        rule = dice.below(10)
        effectful = rule == 0 and depth > 0
        place = self.place(is_int, writable=True, fixed=effectful)
        if place is None:
            return self.pure(depth)
        if not isinstance(place.type, IntType):
            raise AssertionError(place)
        # Whether the value of an assignment or of ++ still is a bit-field that is promoted to int
        # differs between gcc and clang.
        cast = "" if place.width is None else f"({spell(place.type)})"
        if effectful:
            return f"({cast}({place.text} = {self.effect(depth - 1)}))"
        if rule < 4:
            operator = dice.pick(("++", "--"))
            text = f"{place.text}{operator}" if dice.chance(50) else f"{operator}{place.text}"
            return f"({cast}({text}))"
        if rule < 6:
            return f"({cast}({place.text} = {self.pure(depth)}))"
        return f"({cast}({self.compound(place, depth)}))"

    def compound(self, place: Place, depth: int) -> str:
        """`place op= value` for an integer place."""
        dice = self.dice
        type_ = place.type
        if not isinstance(type_, IntType):
            raise AssertionError(place)
        if place.wide:
            operator = dice.pick(("+=", "-=", "*=", "&=", "|=", "^="))
            return f"{place.text} {operator} ({self.pure(depth)})"
        operator = dice.pick(("+=", "-=", "*=", "&=", "|=", "^=", "<<=", ">>=", "/=", "%="))
        if operator in ("<<=", ">>="):
            mask = 31 if place.width is not None else type_.shift
            return f"{place.text} {operator} (({self.pure(depth)}) & {mask})"
        if operator in ("/=", "%="):
            if (
                operator == "/="
                and "floats" in self.context.features
                and type_.shift < 127
                and (dice.chance(20))
            ):
                return f"{place.text} /= {dice.pick(('2.5', '1.25f', '3.0'))}"
            return f"{place.text} {operator} {self.divisor(self.pure(depth))}"
        return f"{place.text} {operator} ({self.pure(depth)})"

    def call(self, depth: int) -> str | None:
        """A call of a function with an integer result."""
        found = [
            item
            for item in self.context.functions
            if is_int(item.returns) and self.context.affords(item.cost)
        ]
        if self.context.has("function-pointers") and self.context.operations:
            if self.dice.chance(20) and self.context.affords(4):
                self.context.spend(4)
                count = len(self.context.operations)
                return f"operations[{self.index(count)}]({self.pure(depth)}, {self.pure(depth)})"
        if not found:
            return None
        return self.call_of(self.dice.pick(found), depth)

    def call_of(self, function: Signature, depth: int) -> str | None:
        arguments: list[str] = []
        for index, type_ in enumerate(function.parameters):
            if index == 0 and function.depth_first:
                arguments.append(f"({self.pure(depth)}) & 3")
                continue
            text = self.pure_of(type_, depth)
            if text is None:
                return None
            arguments.append(text)
        self.context.spend(function.cost)
        return f"{function.name}({', '.join(arguments)})"

    def _statement_expression(self, depth: int) -> str:
        type_ = self.dice.pick(self.context.ints)
        name = self.context.fresh("s")
        first = self.pure(depth)
        with self.context.block():
            self.context.variables.append(Variable(name, type_, self.context.depth))
            middle = f"{self.effect(depth - 1)};"
            if self.statement_body is not None and self.dice.chance(30):
                middle = " ".join(self.statement_body())
            last = self.pure(depth)
        return f"({{ {declare(type_, name)} = {first}; {middle} {last}; }})"
