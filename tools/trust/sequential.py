"""Random sequential C programs without undefined behaviour (given -fwrapv).

A program computes for a while, mixes all values it sees into a checksum and prints that. Its
output does not depend on the order of evaluation, on padding, on uninitialised memory or on
addresses, so every correct C implementation of the same data model prints the same.
"""

from __future__ import annotations

from collections.abc import Iterable

from trust.dice import Dice
from trust.idioms import IDIOMS
from trust.scope import FEATURES, Context, Signature, Variable
from trust.statements import Statements, indent, mix_member
from trust.types import (
    CHAR,
    INT,
    INT128,
    PLAIN_INTS,
    UCHAR,
    UINT,
    UINT128,
    ULLONG,
    ArrayType,
    CType,
    IntType,
    Member,
    PointerType,
    RecordType,
    declare,
    define,
    make_bit_fields,
)

_PRELUDE = """\
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef unsigned long long u64;
#define SIGN(x) (((x) > 0) - ((x) < 0))
static u64 checksum = 14695981039346656037ULL;
static void mix(u64 value) {
    checksum = (checksum ^ value) * 1099511628211ULL;
    checksum ^= checksum >> 29;
}
static void mix_double(double value) {
    u64 bits = 0x7ff8000000000000ULL;
    if (value == value) memcpy(&bits, &value, sizeof bits);
    mix(bits);
}
static void mix_float(float value) {
    unsigned bits = 0x7fc00000u;
    if (value == value) memcpy(&bits, &value, sizeof bits);
    mix(bits);
}
"""
_FINISH = 'printf("checksum = %llx\\n", (unsigned long long)checksum);'


def generate(seed: int, size: int = 10, features: Iterable[str] = FEATURES) -> str:
    """The C program of a seed: about `size` functions and statements at a level of nesting."""
    chosen = frozenset(features)
    unknown = chosen - FEATURES
    if unknown:
        raise ValueError(f"unknown features: {', '.join(sorted(unknown))}")
    return _Program(seed, max(size, 1), chosen).text()


class _Program:
    def __init__(self, seed: int, size: int, features: frozenset[str]) -> None:
        self.dice = Dice(seed)
        self.size = size
        ints = list(PLAIN_INTS)
        if "int128" in features:
            ints += [INT128, UINT128]
        self.context = Context(self.dice, features, ints, budget=300 + 250 * size)
        self.statements = Statements(self.context, IDIOMS)

    def text(self) -> str:
        parts = [_PRELUDE]
        parts += self._types()
        parts += [line for _ in range(2 + self.size // 3) for line in self._global()]
        parts += self._operations()
        if self.context.has("calls"):
            for _ in range(1 + self.dice.below(1 + self.size // 4)):
                parts.append(self._function())
            if self.context.has("recursion") and self.dice.chance(60):
                parts.append(self._recursive())
        parts.append(self._main())
        return "\n".join(parts) + "\n"

    # ---- types and globals --------------------------------------------------------------------

    def _types(self) -> list[str]:
        context, dice = self.context, self.dice
        lines: list[str] = []
        enum: IntType | None = None
        if context.has("enums") and dice.chance(60):
            name = context.fresh("E")
            items = [f"{name}_{letter}" for letter in "abc"]
            values = [f" = {dice.between(0, 40)}" if dice.chance(50) else "" for _ in items]
            if dice.chance(30):
                values[1] = " = -2"
            body = ", ".join(f"{item}{value}" for item, value in zip(items, values, strict=True))
            lines.append(f"enum {name} {{ {body} }};")
            context.enumerators += items
            enum = IntType(f"enum {name}", signed=False)  # or signed: it has negative values
            context.ints.append(enum)
        if context.has("unions") and dice.chance(70):
            lines.append(self._union())
        if context.has("structs"):
            lines += [self._struct(enum) for _ in range(dice.between(1, 3))]
        return lines

    def _union(self) -> str:
        """A union of integer types, whose first member covers all bytes."""
        dice, context = self.dice, self.context
        record = RecordType(f"union {context.fresh('U')}", [Member("w", ULLONG)], is_union=True)
        options: list[CType] = [INT, UINT, UCHAR, ArrayType(UCHAR, 8), ArrayType(INT, 2)]
        options += [ArrayType(IntType("short"), 4), IntType("long"), CHAR, IntType("long long", 63)]
        chosen = dice.some(options, dice.between(1, 3))
        record.members += [Member(f"m{index}", type_) for index, type_ in enumerate(chosen)]
        record.named = record.members
        context.unions.append(record)
        return define(record) + "\n" + self._mixer(record)

    def _struct(self, enum: IntType | None) -> str:
        dice, context = self.dice, self.context
        name = f"struct {context.fresh('S')}"
        members: list[Member] = []
        if context.has("bitfields") and dice.chance(40):
            members += make_bit_fields(dice, "b", enum)
        for index in range(dice.between(1, 4)):
            type_ = self.statements.random_type()
            while isinstance(type_, PointerType):
                type_ = self.statements.random_type()
            members.append(Member(f"m{index}", type_))
        if context.has("bitfields") and dice.chance(25):
            members += make_bit_fields(dice, "c", enum)
        record = RecordType(name, members)
        text = define(record) + "\n" + self._mixer(record)
        context.structs.append(record)
        return text

    def _mixer(self, record: RecordType) -> str:
        name = f"mix_{record.name.replace(' ', '_')}"
        members = record.named[:1] if record.is_union else record.named
        lines = [line for member in members for line in mix_member(member, "(*p)")]
        return "\n".join([f"static void {name}(const {record.name} *p) {{", *indent(lines), "}"])

    def _global(self) -> list[str]:
        return self.statements.declaration(static=True)

    # ---- functions ----------------------------------------------------------------------------

    def _operations(self) -> list[str]:
        """Functions of one type, for tables and function pointers."""
        context, dice = self.context, self.dice
        if not context.has("function-pointers"):
            return []
        lines = ["typedef int operation(int, long long);"]
        for _ in range(dice.between(2, 4)):
            name = context.fresh("op")
            with context.block():
                for parameter, type_ in (("a", INT), ("b", IntType("long long", 63))):
                    context.variables.append(Variable(parameter, type_, context.depth))
                body = [f"{self.statements.expressions.assignment(1)};"]
                body.append(f"return {self.statements.expressions.pure(3)};")
            lines += [f"static int {name}(int a, long long b) {{", *indent(body), "}"]
            context.operations.append(name)
        table = ", ".join(context.operations)
        lines.append(f"static operation *const operations[] = {{ {table} }};")
        lines.append("static int apply(operation *f, int n) { return f(n, n * 2) - n; }")
        return lines

    def _parameter_type(self) -> CType:
        type_ = self.statements.random_type()
        return PointerType(type_.element) if isinstance(type_, ArrayType) else type_

    def _function(self) -> str:
        context, dice = self.context, self.dice
        name = context.fresh("f")
        parameters = [self._parameter_type() for _ in range(dice.below(4))]
        if dice.chance(60):
            returns: CType = dice.pick(context.ints)
        else:
            returns = self.statements.random_type(0)
        before, context.cost = context.cost, 0
        budget, context.budget = context.budget, context.budget // 4
        with context.block():
            declared: list[str] = []
            for type_ in parameters:
                variable = Variable(context.fresh("p"), type_, context.depth)
                variable.stable = isinstance(type_, IntType) and dice.chance(30)
                variable.writable = not variable.stable
                context.variables.append(variable)
                declared.append(declare(type_, variable.name))
            lines = self._body(returns)
        cost, context.cost, context.budget = context.cost, before, budget
        context.functions.append(Signature(name, parameters, returns, cost + 1))
        head = declare(returns, f"{name}({', '.join(declared) or 'void'})")
        keyword = dice.pick(("static ", "", "static inline ")) if dice.chance(60) else "static "
        return "\n".join([f"{keyword}{head} {{", *indent(lines), "}"])

    def _body(self, returns: CType) -> list[str]:
        self.statements.returns = returns
        lines = self.statements.declarations(self.dice.between(1, 3))
        for _ in range(self.dice.between(2, 2 + self.size // 2)):
            lines += self.statements.statement(2)
        lines += self.statements.mixed(self.context.depth)
        value = self.statements.expressions.pure_of(returns, 2)
        self.statements.returns = None
        return [*lines, f"return {value};"]

    def _recursive(self) -> str:
        """A function that calls itself to a depth of at most 3, once or twice at each level."""
        context, dice = self.context, self.dice
        name = context.fresh("r")
        type_ = dice.pick(context.ints)
        make = self.statements.expressions
        with context.block():
            depth = Variable("depth", INT, context.depth, writable=False, stable=True)
            value = Variable("value", type_, context.depth)
            context.variables += [depth, value]
            first = [f"if (depth <= 0) return {make.pure(2)};", *self.statements.declarations(2)]
            step = [f"{make.assignment(2)};"]
            call = f"value += {name}(depth - 1, {make.pure(1)});"
            if dice.chance(40):
                call += f" if ({make.pure(1)}) value ^= {name}(depth - 2, value);"
            last = [f"mix((u64)value); return {make.pure(2)};"]
        context.functions.append(
            Signature(name, [INT, type_], type_, 8 * (len(first) + 4), depth_first=True)
        )
        head = f"static {declare(type_, name)}(int depth, {declare(type_, 'value')}) {{"
        return "\n".join([head, *indent([*first, *step, call, *last]), "}"])

    def _main(self) -> str:
        context = self.context
        with context.block():
            lines = self.statements.declarations(self.dice.between(1, 4))
            for _ in range(2 + self.size):
                lines += self.statements.statement(3)
            lines += self.statements.mixed(context.depth)
        for variable in context.variables:
            lines += self.statements.mix_variable(variable)
        lines += [_FINISH, "return 0;"]
        return "\n".join(["int main(void) {", *indent(lines), "}"])


__all__ = ["FEATURES", "generate"]
