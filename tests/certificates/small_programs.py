"""Random programs of two or three threads with a few statements each: small enough to explore all
their states, and to build certificates for them without any cleverness."""

from __future__ import annotations

from random import Random

_HEAD = """#include <assert.h>
#include <pthread.h>
extern void __VERIFIER_atomic_begin(void); extern void __VERIFIER_atomic_end(void);
extern _Bool __VERIFIER_nondet_bool(void); extern void __VERIFIER_assume(int);
"""


def generate(seed: int) -> str:
    return _Program(Random(seed)).text()


class _Program:
    def __init__(self, generator: Random) -> None:
        self._random = generator
        self._globals = ["x", "y", "z"][: generator.choice([2, 3])]

    def text(self) -> str:
        count = self._random.choice([1, 2, 2])
        functions = "".join(
            f"void *f{index}(void *unused) {{ int l = 0; {self._body(1, 3)} return 0; }}\n"
            for index in range(count)
        )
        threads = range(count)
        ids = ", ".join(f"t{index}" for index in threads)
        creates = " ".join(f"pthread_create(&t{index}, 0, f{index}, 0);" for index in threads)
        joins = " ".join(f"pthread_join(t{index}, 0);" for index in threads)
        if self._random.random() < 0.4:
            joins = ""
        one, other = self._globals[:2]
        end = f"assert(!({one} == {self._digit(3)} && {other} == {self._digit(3)}));"
        return (
            f"{_HEAD}int {', '.join(self._globals)}; int *p; pthread_mutex_t m;\n{functions}"
            f"int main(void) {{ int l = 0; pthread_t {ids}; {creates}\n"
            f"  {self._body(0, 2)}\n  {joins} {end} return 0; }}\n"
        )

    def _digit(self, limit: int) -> int:
        return self._random.randrange(limit)

    def _body(self, least: int, most: int) -> str:
        return " ".join(self._statement(0) for _ in range(self._random.randint(least, most)))

    def _value(self) -> str:
        name = self._random.choice(self._globals)
        return self._random.choice([str(self._digit(3)), name, "l", f"{name} + 1", f"{name} ^ 1"])

    def _test(self) -> str:
        name = self._random.choice(["l", self._random.choice(self._globals)])
        return f"{name} {self._random.choice(['==', '!='])} {self._digit(2)}"

    def _statement(self, depth: int) -> str:
        choose = self._random
        kinds = ["write", "write", "read", "if", "atomic", "assume", "assert", "input", "pointer"]
        if depth == 0:
            kinds += ["while", "lock"]
        kind = choose.choice(kinds)
        if kind == "if" and depth < 2:
            otherwise = f" else {{ {self._statement(depth + 1)} }}"
            return f"if ({self._test()}) {{ {self._statement(depth + 1)} }}" + choose.choice(
                ["", otherwise]
            )
        if kind == "atomic" and depth < 2:
            inner = f"{self._statement(2)} {self._statement(2)}"
            return f"__VERIFIER_atomic_begin(); {inner} __VERIFIER_atomic_end();"
        if kind == "lock":
            inner = f"{self._statement(2)} {self._statement(2)}"
            return f"pthread_mutex_lock(&m); {inner} pthread_mutex_unlock(&m);"
        if kind == "while":
            return f"while ({self._test()}) {{ {self._statement(2)} }}"
        if kind == "assume":
            return f"__VERIFIER_assume({self._test()});"
        if kind == "assert":
            return f"assert({self._test().replace('==', '!=')});"
        if kind == "input":
            return "l = __VERIFIER_nondet_bool();"
        if kind == "read":
            return f"l = {choose.choice(self._globals)};"
        if kind == "pointer":
            return f"p = &{choose.choice(self._globals)}; *p = {self._value()};"
        return f"{choose.choice(self._globals)} = {self._value()};"
