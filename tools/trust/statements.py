"""Random C statements: every kind of control flow, with bounded trips."""

from __future__ import annotations

from collections.abc import Callable

from trust.expressions import Expressions
from trust.scope import Context, Variable
from trust.types import (
    DOUBLE,
    FLOAT,
    INT128,
    UINT128,
    ArrayType,
    CType,
    IntType,
    Member,
    PointerType,
    RecordType,
    declare,
    is_float,
    is_int,
)

Idiom = Callable[["Statements"], list[str]]


def indent(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def mixer_of(type_: CType, text: str) -> list[str]:
    """Statements that mix a scalar, struct or array of it into the checksum."""
    match type_:
        case IntType() if type_ in (INT128, UINT128):
            return [f"mix((u64){text});", f"mix((u64)({text} >> 64));"]
        case IntType():
            return [f"mix((u64){text});"]
        case RecordType():
            return [f"mix_{type_.name.replace(' ', '_')}(&{text});"]
        case ArrayType():
            return [
                line
                for index in range(type_.count)
                for line in mixer_of(type_.element, f"{text}[{index}]")
            ]
        case PointerType():
            return mixer_of(type_.target, f"(*{text})")
    return [f"mix_{type_.name}({text});"]


def mix_member(member: Member, text: str) -> list[str]:
    return mixer_of(member.type, f"{text}.{member.name}")


class Statements:
    def __init__(self, context: Context, idioms: list[tuple[str, Idiom]]) -> None:
        self.context = context
        self.dice = context.dice
        self.expressions = Expressions(context)
        self.expressions.statement_body = self._simple
        self.idioms = [idiom for feature, idiom in idioms if context.has(feature)]
        self.returns: CType | None = None
        self.exits: list[str] = []  # "break" and "continue", where they may stand
        self.labels: list[str] = []  # labels at the ends of enclosing blocks

    # ---- declarations -------------------------------------------------------------------------

    def random_type(self, nested: int = 1) -> CType:
        dice, context = self.dice, self.context
        rule = dice.below(100)
        if rule < 12 and context.has("floats"):
            return dice.pick((FLOAT, DOUBLE))
        if rule < 30 and nested and context.has("arrays"):
            element = self.random_type(nested - 1 if dice.chance(40) else 0)
            inner = ArrayType(element, dice.between(1, 5))
            return ArrayType(inner, dice.between(1, 3)) if dice.chance(25) else inner
        if rule < 45 and context.structs:
            return dice.pick(context.structs)
        if rule < 53 and context.unions:
            return dice.pick(context.unions)
        if rule < 65 and nested and context.has("pointers"):
            return PointerType(self._pointee())
        return dice.pick(context.ints)

    def _pointee(self) -> CType:
        """A type of which an addressable object exists: pointers always have a target."""
        found = self.context.candidates(lambda item: item.writable)
        if not found:
            return self.context.ints[0]
        type_ = self.dice.pick(found).type
        while isinstance(type_, ArrayType) and self.dice.chance(70):
            type_ = type_.element
        return type_

    def declaration(self, static: bool = False) -> list[str]:
        """A variable with its initialiser, or nothing where a pointer would have no target."""
        type_ = self.random_type()
        dice, make = self.dice, self.expressions
        local_static = not static and dice.chance(10)
        constant = static or local_static
        text: str | None
        if not isinstance(type_, PointerType):
            text = make.initialiser(type_, constant)
        elif constant:
            text = make.constant_address(type_.target)
        else:
            text = make.address(type_.target, self.context.depth)
        if text is None:
            return []
        name = self.context.fresh("g" if static else "v")
        variable = Variable(name, type_, 0 if constant else self.context.depth)
        qualifiers = "static " if local_static or (static and dice.chance(50)) else ""
        if isinstance(type_, IntType) and dice.chance(8):
            # To reach it through a plain pointer would be undefined.
            qualifiers += "volatile "
            variable.addressable = False
        elif dice.chance(6) and not isinstance(type_, PointerType):
            qualifiers += "const "
            variable.writable = False
        self.context.variables.append(variable)
        return [f"{qualifiers}{declare(type_, name)} = {text};"]

    def declarations(self, count: int) -> list[str]:
        return [line for _ in range(count) for line in self.declaration()]

    def mixed(self, depth: int) -> list[str]:
        """Mix the variables declared at this depth of nesting, not those around it."""
        found = self.context.candidates(lambda item: item.depth == depth and not item.stable)
        return [line for item in found for line in self.mix_variable(item)]

    def mix_variable(self, item: Variable) -> list[str]:
        return mixer_of(item.type, item.name)

    # ---- statements ---------------------------------------------------------------------------

    def block(self, count: int, nesting: int, trips: int = 1) -> list[str]:
        """The statements of a braced block (without the braces)."""
        with self.context.block(trips):
            lines = self.declarations(self.dice.below(3))
            label = ""
            if self.context.has("goto") and self.dice.chance(15):
                label = self.context.fresh("out")
                self.labels.append(label)
            for _ in range(count):
                lines += self.statement(nesting)
            if label:
                self.labels.pop()
                lines.append(f"{label}:;")
            if self.dice.chance(50):
                lines += self.mixed(self.context.depth)
        return lines

    def statement(self, nesting: int) -> list[str]:
        context, dice = self.context, self.dice
        if not context.affords(3):
            return ["checksum += 1;"]
        context.spend(1)
        if nesting <= 0:
            return self._simple()
        rules: list[tuple[int, Callable[[int], list[str]]]] = [
            (40, lambda _: self._simple()),
            (10, self._if),
            (5, self._for),
            (4, self._while),
            (3, self._do),
            (2, self._braces),
        ]
        if context.has("switch"):
            rules.append((7, self._switch))
        if context.has("goto"):
            rules.append((2, self._backward_goto))
        if self.idioms:
            rules.append((12, lambda _: self._idiom()))
        if self.exits or self.labels or self.returns is not None:
            rules.append((5, lambda _: self._leave()))
        return dice.weighted(rules)(nesting - 1)

    def _simple(self) -> list[str]:
        """One statement without control flow of its own."""
        dice, make = self.dice, self.expressions
        rule = dice.below(100)
        if rule < 35:
            return [f"{make.assignment(2)};"]
        if rule < 45:
            return [f"mix((u64)({make.full(3)}));"]
        if rule < 55:
            return [f"{make.effect(2)};" if self.context.has("effects") else ";"]
        if rule < 63 and self.context.has("floats"):
            return self._float_assignment()
        if rule < 70 and self.context.structs:
            return self._record_assignment()
        if rule < 77 and self.context.has("pointers"):
            return self._pointer_assignment()
        if rule < 90 and self.context.has("calls"):
            return self._call()
        if rule < 93 and self.context.has("printf"):
            return self._print()
        place = make.place(is_int, writable=True, fixed=True)
        if place is None:
            return [";"]
        return [f"{place.text} = {make.full(3)};"]

    def _float_assignment(self) -> list[str]:
        make, dice = self.expressions, self.dice
        place = make.place(is_float, writable=True)
        if place is None:
            return [f"mix_double({make.floating(2)});"]
        rule = dice.below(5)
        if rule == 0:
            return [f"{dice.pick(('++', '--'))}{place.text};"]
        if rule == 1:
            return [f"{place.text} {dice.pick(('+=', '-=', '*=', '/='))} {make.pure(1)};"]
        operator = dice.pick(("=", "=", "+=", "-=", "*=", "/="))
        return [f"{place.text} {operator} {make.floating(2)};"]

    def _record_assignment(self) -> list[str]:
        make = self.expressions
        record = self.dice.pick(self.context.structs + self.context.unions)
        place = make.place(lambda item: item is record, writable=True)
        value = make.pure_of(record, 1)
        if place is None or value is None:
            return []
        return [f"{place.text} = {value};"]

    def _pointer_assignment(self) -> list[str]:
        make = self.expressions
        found = self.context.candidates(
            lambda item: item.writable and isinstance(item.type, PointerType)
        )
        if not found:
            return []
        pointer = self.dice.pick(found)
        if not isinstance(pointer.type, PointerType):
            raise AssertionError(pointer)
        target = pointer.type.target
        if isinstance(target, PointerType) and self.dice.chance(50):
            # Any pointer may be behind this one, also a static one: only static targets fit.
            text = make.address(target.target, 0)
            return [f"*{pointer.name} = {text};"] if text is not None else []
        text = make.address(target, pointer.depth)
        if text is None:
            return []
        if self.dice.chance(20):
            return [f"mix({pointer.name} == {text});"]
        return [f"{pointer.name} = {text};"]

    def _call(self) -> list[str]:
        context, make = self.context, self.expressions
        found = [item for item in context.functions if context.affords(item.cost)]
        if not found:
            return []
        function = self.dice.pick(found)
        text = make.call_of(function, 1)
        if text is None:
            return []
        if isinstance(function.returns, RecordType):
            integers = [item for item in function.returns.named if is_int(item.type)]
            if integers and self.dice.chance(40):
                return [f"mix((u64){text}.{self.dice.pick(integers).name});"]
        place = make.place(lambda item: item == function.returns, writable=True, fixed=True)
        if place is not None and self.dice.chance(70):
            return [f"{place.text} = {text};"]
        if is_int(function.returns):
            return [f"mix((u64){text});"]
        if is_float(function.returns):
            return [f"mix_double({text});"]
        return [f"{text};" if self.dice.chance(50) else f"(void){text};"]

    def _print(self) -> list[str]:
        make, dice = self.expressions, self.dice
        formats = (
            ("%d", "int"), ("%i", "int"), ("%u", "unsigned"), ("%x", "unsigned"),
            ("%o", "unsigned"), ("%ld", "long"), ("%lu", "unsigned long"), ("%lld", "long long"),
            ("%llx", "unsigned long long"), ("%hhd", "signed char"), ("%hu", "unsigned short"),
            ("%5d", "int"), ("%-6d|", "int"), ("%08x", "unsigned"), ("%+d", "int"),
            ("%#x", "unsigned"), ("%.3d", "int"), ("%zu", "size_t"), ("%X", "unsigned"),
        )  # fmt: skip
        chosen = [dice.pick(formats) for _ in range(dice.between(1, 3))]
        text = " ".join(item for item, _ in chosen)
        values = ", ".join(f"({type_})({make.pure(1)})" for _, type_ in chosen)
        return [f'printf("{text} %c %s%%\\n", {values}, {dice.between(65, 90)}, "text");']

    # ---- control flow -------------------------------------------------------------------------

    def _if(self, nesting: int) -> list[str]:
        dice = self.dice
        condition = self.expressions.full(2)
        lines = [f"if ({condition}) {{", *indent(self.block(dice.between(1, 2), nesting))]
        if dice.chance(45):
            lines += ["} else {", *indent(self.block(dice.between(1, 2), nesting))]
        return [*lines, "}"]

    def _loop_body(self, trips: int, nesting: int, counter: Variable | None) -> list[str]:
        exits, self.exits = self.exits, ["break;", "continue;"]
        with self.context.block():
            if counter is not None:
                self.context.variables.append(counter)
            lines = self.block(self.dice.between(1, 2), nesting, trips)
        self.exits = exits
        return indent(lines)

    def _trips(self) -> int:
        trips = self.dice.between(1, 5)
        return trips if self.context.affords(trips * 12) else 1

    def _for(self, nesting: int) -> list[str]:
        dice = self.dice
        trips = self._trips()
        name = self.context.fresh("i")
        type_ = dice.pick([item for item in self.context.ints if item.name != "_Bool"])
        step = dice.between(1, 3)
        head = dice.pick(
            (
                f"for ({type_.name} {name} = 0; {name} < {trips}; {name}++)",
                f"for ({type_.name} {name} = 0; {name} != {trips * step}; {name} += {step})",
                f"for ({type_.name} {name} = {trips}; {name} > 0; --{name})",
                f"for ({type_.name} {name} = {trips}; {name}--; )",
            )
        )
        counter = Variable(name, type_, self.context.depth + 1, writable=False, stable=True)
        return [f"{head} {{", *self._loop_body(trips, nesting, counter), "}"]

    def _while(self, nesting: int) -> list[str]:
        trips = self._trips()
        name = self.context.fresh("n")
        condition = self.dice.pick((f"{name}-- > 0", f"{name} && {name}--"))
        if self.dice.chance(30):
            condition = f"({condition}) && ({self.expressions.full(1)})"
        body = self._loop_body(trips, nesting, None)
        return ["{", f"    int {name} = {trips};", f"    while ({condition}) {{",
                *indent(body), "    }", "}"]  # fmt: skip

    def _do(self, nesting: int) -> list[str]:
        trips = self._trips()
        name = self.context.fresh("n")
        body = self._loop_body(trips, nesting, None)
        return ["{", f"    unsigned char {name} = 0;", "    do {", *indent(body),
                f"    }} while (++{name} < {trips});", "}"]  # fmt: skip

    def _braces(self, nesting: int) -> list[str]:
        return ["{", *indent(self.block(2, nesting)), "}"]

    def _switch(self, nesting: int) -> list[str]:
        dice, make = self.dice, self.expressions
        kind = dice.below(3)
        if kind == 0:
            subject = f"({make.full(2)}) & 15"
        elif kind == 1:
            subject = f"({dice.pick(self.context.ints).name})(({make.full(2)}) & 15)"
        else:
            subject = make.full(2)
        values = sorted(dice.some(range(-4, 18), dice.between(2, 5)))
        outer = self.exits
        self.exits = ["break;"] + [item for item in outer if item == "continue;"]
        lines: list[str] = [f"switch ({subject}) {{"]
        default_at = dice.below(len(values) + 1)
        for number, value in enumerate(values):
            if number == default_at:
                lines.append("default:")
            following = values[number + 1] if number + 1 < len(values) else 30
            if value >= 0 and following > value + 1 and dice.chance(40):
                lines.append(f"case {value} ... {dice.between(value + 1, following - 1)}:")
            else:
                lines.append(f"case {value}:")
            if dice.chance(80):
                lines += ["    {", *indent(indent(self.block(1, nesting))), "    }"]
                if dice.chance(65):
                    lines.append("    break;")
        if default_at == len(values):
            lines.append("default:;")
        else:
            lines.append("    ;")
        self.exits = outer
        return [*lines, "}"]

    def _backward_goto(self, nesting: int) -> list[str]:
        label, name = self.context.fresh("again"), self.context.fresh("n")
        trips = self._trips()
        exits, self.exits = self.exits, []
        with self.context.block(trips):
            body = self.block(1, nesting)
        self.exits = exits
        return ["{", f"    int {name} = 0;", f"    {label}:", "    {", *indent(indent(body)),
                "    }", f"    if (++{name} < {trips}) goto {label};", "}"]  # fmt: skip

    def _leave(self) -> list[str]:
        """A guarded break, continue, goto or return."""
        dice, make = self.dice, self.expressions
        ways = [*self.exits, *(f"goto {label};" for label in self.labels)]
        if self.returns is not None and (not ways or dice.chance(15)):
            value = make.pure_of(self.returns, 1)
            if value is not None:
                ways = [f"return {value};"]
        if not ways:
            return []
        return [f"if ({make.full(2)}) {dice.pick(ways)}"]

    def _idiom(self) -> list[str]:
        if not self.context.affords(60):
            return self._simple()
        self.context.spend(30)
        idiom = self.dice.pick(self.idioms)
        with self.context.block():
            return ["{", *indent(idiom(self)), "}"]
