"""Random concurrent C programs that compute with floating-point values.

Threads read and write a few shared numbers; what they make of them goes through sums, quotients,
conversions and comparisons, among them infinities, NaNs, subnormal numbers and conversions that do
not fit. Inputs have few values and there is hardly a loop, so that exploration comes to an end.
"""

from __future__ import annotations

from random import Random

_HEAD = """\
#include <assert.h>
#include <pthread.h>
#include <string.h>
extern _Bool __VERIFIER_nondet_bool(void);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
volatile float f = 0.5f, g;
volatile double d = 3, e;
volatile int i = 2, k;
union { float f; unsigned u; } w;
union { double d; unsigned long long u; } v;
"""
_PLACES = {"float": ("f", "g", "w.f"), "double": ("d", "e", "v.d"), "int": ("i", "k")}
_NUMBERS = {
    "float": ("0.1f", "-0.0f", "1e38f", "1e-40f", "16777216.0f", "2.5f", "-3.0f"),
    "double": ("0.1", "-0.0", "1e308", "5e-324", "9007199254740993.0", "0.5", "1e39", "-7.25"),
    "int": ("0", "1", "-2", "3", "1000", "16777217", "2147483647"),
}
_CASTS = ("char", "short", "unsigned", "long", "unsigned long", "_Bool", "unsigned char")


def generate(seed: int) -> str:
    """The program of a seed."""
    return _Program(Random(seed)).text()


class _Program:
    def __init__(self, dice: Random) -> None:
        self._dice = dice

    def text(self) -> str:
        dice = self._dice
        count = dice.choice([1, 2, 2])
        text = _HEAD
        for number in range(count):
            text += f"void *t{number}(void *p) {{\n{self._body(2)}  return 0;\n}}\n"
        text += f"int main(void) {{\n  pthread_t t[{count}];\n"
        if dice.random() < 0.6:
            choice = "__VERIFIER_nondet_bool() + __VERIFIER_nondet_bool()"
            text += f"  {self._place(self._kind())} = {choice};\n"
        for number in range(count):
            text += f"  pthread_create(&t[{number}], 0, t{number}, 0);\n"
        if dice.random() < 0.5:
            text += self._body(1)
        for number in range(count):
            text += f"  pthread_join(t[{number}], 0);\n"
        return f"{text}  assert({self._condition(1)});\n  return 0;\n}}\n"

    def _kind(self) -> str:
        return self._dice.choice(["float", "double", "double", "float", "int"])

    def _place(self, kind: str) -> str:
        return self._dice.choice(_PLACES[kind])

    def _body(self, most: int) -> str:
        count = self._dice.randint(1, most)
        return "".join(f"  {self._statement(0)}\n" for _ in range(count))

    def _statement(self, depth: int) -> str:
        dice = self._dice
        shape = dice.randrange(9 if depth < 2 else 6)
        if shape < 4:
            kind = self._kind()
            return f"{self._place(kind)} = {self._value(kind, 2)};"
        if shape == 4:
            operator = dice.choice(["+=", "-=", "*=", "/="])
            return f"{self._place(self._kind_of_float())} {operator} {self._value('double', 1)};"
        if shape == 5:
            return f"assert({self._condition(1)} || {self._condition(1)});"
        inner = self._statement(depth + 1)
        if shape == 6:
            other = self._statement(depth + 1)
            return f"if ({self._condition(1)}) {{ {inner} }} else {{ {other} }}"
        if shape == 7:
            return f"pthread_mutex_lock(&m); {inner} pthread_mutex_unlock(&m);"
        return f"for (float r = 0; r < 0.2f; r += 0.1f) {{ {inner} }}"

    def _kind_of_float(self) -> str:
        return self._dice.choice(["float", "double"])

    def _condition(self, depth: int) -> str:
        dice = self._dice
        kind = self._kind()
        if dice.random() < 0.15:
            return dice.choice(["w.u != 0x3f800000u", "v.u < 1ull << 63", "k == 0", "(_Bool)f"])
        operator = dice.choice(["==", "!=", "<", "<=", ">", ">="])
        return f"{self._value(kind, depth)} {operator} {self._value(self._kind(), depth)}"

    def _value(self, kind: str, depth: int) -> str:
        dice = self._dice
        if depth == 0 or dice.random() < 0.2:
            return self._place(kind) if dice.random() < 0.6 else dice.choice(_NUMBERS[kind])
        if kind == "int":
            if dice.random() < 0.5:
                return f"({self._value('int', depth - 1)} & 7)"
            cast = dice.choice(_CASTS) if dice.random() < 0.4 else "int"
            return f"(int)({cast})({self._value(self._kind_of_float(), depth - 1)})"
        shape = dice.randrange(10)
        if shape < 6:
            other = self._kind() if dice.random() < 0.4 else kind
            sides = self._value(kind, depth - 1), self._value(other, depth - 1)
            operator = dice.choice("+-*/")
            if other == "int" and operator == "/":
                return f"({sides[0]} / (float)({sides[1]}))"
            return f"({sides[0]} {operator} {sides[1]})"
        if shape == 6:
            return f"(-({self._value(kind, depth - 1)}))"
        if shape == 7:
            condition = self._condition(depth - 1)
            return f"({condition} ? {self._value(kind, depth - 1)} : {self._value(kind, 0)})"
        return f"({kind})({self._value(self._kind(), depth - 1)})"
