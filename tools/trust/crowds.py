"""Random C programs that start any number of threads, of one to three different functions.

Some threads are started once, and joined by the initial thread or by others; some start others;
some look at their identities.

`LIMIT` bounds the number: without it threads are started as long as an input says so; with it a
loop starts exactly so many, so that the state space is small and finite. Whether a program is safe
is not known when it is made. Violations often need several threads that run
the same function.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from trust.dice import Dice

LIMITS = (2, 1, 3)

_PRELUDE = """\
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
extern void __VERIFIER_assume(int);
extern int __VERIFIER_nondet_int(void);
extern _Bool __VERIFIER_nondet_bool(void);
#ifdef LIMIT
static int started[3];
#define MORE(loop) (started[loop]++ < LIMIT)
#else
#define MORE(loop) __VERIFIER_nondet_int()
#endif
"""
_TYPES = ("int", "int", "int", "int", "unsigned", "unsigned char", "_Bool", "long")
_FLAG_LOCK = """\
static void __VERIFIER_atomic_acquire(void) { __VERIFIER_assume(lock == 0); lock = 1; }
static void __VERIFIER_atomic_release(void) { lock = 0; }
"""
_SWAP = """\
static int __VERIFIER_atomic_swap(int *place, int old, int new) {
  if (*place != old) return 0;
  *place = new;
  return 1;
}
"""


@dataclass(slots=True, eq=False)
class _Names:
    """What statements may mention."""

    scalars: list[str] = field(default_factory=list)
    integers: list[str] = field(default_factory=list)  # the scalars of type int
    locals: list[str] = field(default_factory=list)
    arrays: list[tuple[str, int]] = field(default_factory=list)
    mutexes: list[str] = field(default_factory=list)
    pointers: list[str] = field(default_factory=list)


def generate(seed: int) -> str:
    return _Program(Dice(seed)).text()


class _Program:
    def __init__(self, dice: Dice) -> None:
        self.dice = dice
        self.names = _Names()
        self.largest = dice.between(1, 3)  # of the constants
        self.has_lock = dice.chance(35)
        self.has_swap = dice.chance(35)
        self.has_section = dice.chance(40)
        self.has_own = dice.chance(25)  # a thread-local variable
        self.is_passed = dice.chance(40)  # threads get an argument
        self.takes_address = dice.chance(8)  # of locals
        self.has_kept = dice.chance(30)
        self.functions = dice.weighted(((5, 1), (4, 2), (1, 3)))
        self.has_joins = dice.chance(55)
        self.has_identity = dice.chance(12)  # threads look at their own
        self.has_nested = self.functions > 1 and dice.chance(30)  # threads start threads
        self.number = 0  # of the thread function that statements are made for
        self.steps = {1: 4, 2: 3, 3: 2}[self.functions]

    def text(self) -> str:
        parts = [_PRELUDE, *self._globals()]
        for number in range(self.functions):
            parts.append(self._thread(number))
        parts.append(self._main())
        return "\n".join(parts) + "\n"

    def _globals(self) -> list[str]:
        dice, names = self.dice, self.names
        lines = []
        for name in ("x", "y", "z", "w")[: dice.weighted(((3, 2), (1, 3)))]:
            type_ = dice.pick(_TYPES)
            if type_ == "int":
                names.integers.append(name)
            names.scalars.append(name)
            start = f" = {dice.between(1, self.largest)}" if dice.chance(25) else ""
            lines.append(f"{type_} {name}{start};")
        if not names.integers:
            names.scalars.append("v")
            names.integers.append("v")
            lines.append("int v;")
        if dice.chance(20):
            names.arrays.append(("a", 2))
            lines.append("int a[2];")
        elif dice.chance(5):
            names.arrays.append(("a", 2))
            lines.append("int a[100];")
        if dice.chance(15):
            names.pointers.append("p")
            lines.append(f"int *p = &{dice.pick(names.integers)};")
        for name in ("m", "n")[: dice.weighted(((5, 0), (5, 1), (2, 2)))]:
            names.mutexes.append(name)
            lines.append(f"pthread_mutex_t {name} = PTHREAD_MUTEX_INITIALIZER;")
        if self.has_own:
            lines.append("_Thread_local int own;")
        if self.has_lock:
            lines.append("int lock;")
            lines.append(_FLAG_LOCK)
        if self.has_swap:
            lines.append(_SWAP)
        if self.has_kept:
            lines.append("pthread_t kept;")
        if self.has_identity:
            lines.append("pthread_t someone;")
        if self.has_nested or self.has_joins:
            lines += [f"void *t{number}(void *argument);" for number in range(self.functions)]
        return lines

    # --- expressions

    def _constant(self) -> str:
        return str(self.dice.below(self.largest + 1))

    def _value(self, locals_: list[str]) -> str:
        dice, names = self.dice, self.names
        kind = dice.weighted(
            ((7, "constant"), (2, "shared"), (4, "local"), (1, "own"), (1, "more"))
        )
        if kind == "own" and self.has_own:
            return "own"
        if kind == "shared" and names.scalars:
            return self._read()
        if kind == "local" and locals_:
            return dice.pick(locals_)
        if kind == "more" and locals_:
            name = dice.pick(locals_)
            return f"({name} < {self.largest} ? {name} + 1 : {self._constant()})"
        return self._constant()

    def _read(self) -> str:
        dice, names = self.dice, self.names
        if names.arrays and dice.chance(25):
            name, size = names.arrays[0]
            index = dice.pick((str(dice.below(size)), f"{dice.pick(names.scalars)} & 1"))
            return f"{name}[{index}]"
        if names.pointers and dice.chance(30):
            return f"*{names.pointers[0]}"
        return dice.pick(names.scalars)

    def _condition(self, locals_: list[str]) -> str:
        dice = self.dice
        operator = dice.weighted(((5, "=="), (2, "!="), (2, "<"), (2, ">")))
        left = self._read() if dice.chance(70) or not locals_ else dice.pick(locals_)
        return f"{left} {operator} {self._value(locals_)}"

    def _claim(self, locals_: list[str]) -> str:
        dice, top = self.dice, self.largest
        own = [*locals_, *(["own"] if self.has_own else [])]
        name = dice.pick(own) if own and dice.chance(35) else self._read()
        kind = dice.weighted(
            ((3, "at most"), (3, "never"), (2, "same"), (2, "if"), (1, "not below"), (1, "order"))
        )
        if kind == "at most":
            return f"{name} <= {dice.between(max(top - 1, 0), top + 1)}"
        if kind == "never":
            return f"{name} != {dice.between(0, top + 1)}"
        if kind == "not below":
            return f"{name} >= {dice.below(2)}"
        other = dice.pick(own) if own and dice.chance(30) else self._read()
        if kind == "same":
            return f"{name} == {dice.pick((other, self._constant()))}"
        if kind == "order":
            return f"{name} <= {other}"
        return (
            f"{name} != {self._constant()} || {other} {dice.pick(('==', '!='))} {self._constant()}"
        )

    # --- statements

    def _store(self, locals_: list[str]) -> str:
        dice, names = self.dice, self.names
        if names.pointers and dice.chance(15):
            return f"{names.pointers[0]} = &{dice.pick(names.integers)};"
        if names.arrays and dice.chance(20):
            name, size = names.arrays[0]
            index = dice.pick((str(dice.below(size)), f"{dice.pick(names.scalars)} & 1"))
            return f"{name}[{index}] = {self._value(locals_)};"
        if names.pointers and dice.chance(30):
            return f"*{names.pointers[0]} = {self._value(locals_)};"
        return f"{dice.pick(names.scalars)} = {self._value(locals_)};"

    def _statement(self, locals_: list[str], indent: str, depth: int, *, held: bool) -> list[str]:
        dice, names = self.dice, self.names
        choices = [(5, "store"), (3, "load"), (4, "claim"), (2, "assume"), (3, "count")]
        if depth < 2:
            choices.append((3, "branch"))
            if not held:
                if names.mutexes:
                    choices.append((5, "mutex"))
                if self.has_lock:
                    choices.append((5, "lock"))
                if self.has_section:
                    choices.append((5, "section"))
                if names.mutexes:
                    choices.append((1, "try"))
        if depth == 0:
            choices.append((1, "loop"))
        if self.has_swap:
            choices.append((3, "swap"))
        if self.has_own:
            choices.append((3, "own"))
        if self.takes_address:
            choices.append((3, "address"))
        if self.has_identity:
            choices.append((3, "identity"))
        if self.has_kept and self.has_joins:
            choices.append((1, "join kept"))
        if self.has_nested and depth < 2 and self.number + 1 < self.functions:
            choices.append((4, "nested"))
        choices.append((1, "end" if dice.chance(10) else "store"))
        kind = dice.weighted(choices)
        if kind == "load" and locals_:
            return [f"{indent}{dice.pick(locals_)} = {self._read()};"]
        if kind == "claim":
            return [f"{indent}assert({self._claim(locals_)});"]
        if kind == "assume":
            return [f"{indent}__VERIFIER_assume({self._condition(locals_)});"]
        if kind == "count":
            name, other = dice.pick(names.scalars), dice.pick(names.scalars)
            if dice.chance(30):
                return [f"{indent}if ({name} > 0) {name}--;"]
            if dice.chance(30):
                return [f"{indent}if ({other} < {self.largest}) {name} = {other} + 1;"]
            return [f"{indent}if ({name} < {self.largest}) {name}++;"]
        if kind == "swap":
            name = dice.pick(names.integers)
            call = f"__VERIFIER_atomic_swap(&{name}, {self._value(locals_)}, {self._constant()})"
            if dice.chance(50):
                return [f"{indent}{call};"]
            return [
                f"{indent}if ({call}) {{",
                *self._inner(locals_, indent, depth, held),
                f"{indent}}}",
            ]
        if kind == "identity":
            return self._identity(locals_, indent)
        if kind == "join kept":
            call = dice.pick(("pthread_join(kept, 0);", "pthread_detach(kept);"))
            return [f"{indent}if (kept) {call}"]
        if kind == "nested":
            return self._nested(locals_, indent)
        if kind == "own":
            return [f"{indent}own = {dice.pick((self._value(locals_), self._read(), 'own ^ 1'))};"]
        if kind == "address":
            return dice.pick(
                (
                    [f"{indent}{name} = &here;" for name in names.pointers[:1]],
                    [f"{indent}here = {self._value(locals_)};"],
                    [f"{indent}assert(here != {self._constant()});"],
                )
            )
        if kind == "end":
            return [f"{indent}{dice.pick(('return 0;', 'pthread_exit(0);', 'exit(0);'))}"]
        if kind == "branch":
            found = [f"{indent}if ({self._condition(locals_)}) {{"]
            found += self._inner(locals_, indent, depth, held)
            if dice.chance(30):
                found += [f"{indent}}} else {{", *self._inner(locals_, indent, depth, held)]
            return [*found, f"{indent}}}"]
        if kind == "loop":
            loop = dice.pick(
                (
                    f"while ({self._condition(locals_)})",
                    "while (1)",
                    "while (__VERIFIER_nondet_bool())",
                )
            )
            return [f"{indent}{loop} {{", *self._inner(locals_, indent, depth, held), f"{indent}}}"]
        around = {
            "mutex": ("pthread_mutex_lock(&{});", "pthread_mutex_unlock(&{});"),
            "lock": ("__VERIFIER_atomic_acquire();", "__VERIFIER_atomic_release();"),
            "section": ("__VERIFIER_atomic_begin();", "__VERIFIER_atomic_end();"),
            "try": ("if (pthread_mutex_trylock(&{}) == 0) {{", "pthread_mutex_unlock(&{}); }}"),
        }.get(kind)
        if around is None:
            return [indent + self._store(locals_)]
        name = dice.pick(names.mutexes) if names.mutexes else ""
        before, after = (text.format(name) for text in around)
        inner: list[str] = []
        for _ in range(dice.between(1, 2)):
            inner += self._statement(locals_, indent + "  ", depth + 1, held=True)
        if dice.chance(6) and kind != "section" and kind != "try":
            return [*inner, indent + after] if dice.chance(50) and kind == "lock" else inner
        return [indent + before, *inner, indent + after]

    def _identity(self, locals_: list[str], indent: str) -> list[str]:
        equal = "pthread_equal(someone, pthread_self())"
        return self.dice.pick(
            (
                [f"{indent}someone = pthread_self();"],
                [f"{indent}if ({equal}) {self._store(locals_)}"],
                [f"{indent}assert({equal});"],
                [f"{indent}assert(!someone || {equal});"],
            )
        )

    def _nested(self, locals_: list[str], indent: str) -> list[str]:
        """A thread that this thread starts, and perhaps joins."""
        dice = self.dice
        other = dice.between(self.number + 1, self.functions - 1)
        found = [
            f"{indent}{{ pthread_t inner;",
            f"{indent}  pthread_create(&inner, 0, t{other}, {self._argument(locals_)});",
        ]
        if self.has_kept and dice.chance(25):
            found.append(f"{indent}  kept = inner;")
        if dice.chance(60):
            found.append(indent + "  " + self._store(locals_))
        if dice.chance(60):
            found.append(f"{indent}  pthread_join(inner, 0);")
            found.append(f"{indent}  assert({self._claim(locals_)});")
        return [*found, f"{indent}}}"]

    def _started(self) -> list[str]:
        """Threads that the initial one starts and joins."""
        dice = self.dice
        number = dice.below(self.functions)
        argument = self._argument(["r"])
        if dice.chance(30):
            count = dice.between(2, 3) if self.functions == 1 else 2
            lines = [
                f"  pthread_t row[{count}];",
                f"  for (int k = 0; k < {count}; k++) {{",
                f"    pthread_create(&row[k], 0, t{number}, {argument});",
                "  }",
            ]
            if dice.chance(40):
                lines.append("  " + self._store(["r"]))
            joined = dice.pick((count, count, count - 1))
            lines.append(f"  for (int k = 0; k < {joined}; k++) pthread_join(row[k], 0);")
        else:
            lines = [
                "  pthread_t one, two = 0; void *result = 0;",
                f"  pthread_create(&one, 0, t{number}, {argument});",
            ]
            if dice.chance(30):
                lines.append("  " + self._store(["r"]))
            if dice.chance(25):
                lines.append("  pthread_join(one, &result);")
                lines.append(f"  assert(result == (void *){self._constant()}L);")
            elif dice.chance(30):
                other = dice.below(self.functions)
                lines.append(f"  pthread_create(&two, 0, t{other}, {self._argument(['r'])});")
                lines.append("  " + self._store(["r"]))
                names = dice.pick((("one", "two"), ("two", "one"), ("one",), ("two",)))
                lines += [f"  pthread_join({name}, 0);" for name in names]
            else:
                names = ("one", "one", "kept") if self.has_kept else ("one",)
                lines.append(f"  pthread_join({dice.pick(names)}, 0);")
        if dice.chance(70):
            lines.append(f"  assert({self._claim(['r'])});")
        return lines

    def _inner(self, locals_: list[str], indent: str, depth: int, held: bool) -> list[str]:
        return self._statement(locals_, indent + "  ", depth + 1, held=held)

    def _thread(self, number: int) -> str:
        dice = self.dice
        self.number = number
        lines = [f"void *t{number}(void *argument) {{"]
        locals_ = []
        if self.is_passed:
            lines.append("  int i = (int)(long)argument;")
            locals_.append("i")
        for name in ("r", "s")[: dice.between(0, 2)]:
            start = self._read() if dice.chance(40) else self._constant()
            lines.append(f"  int {name} = {start};")
            locals_.append(name)
        if self.takes_address:
            lines.append(f"  int here = {self._constant()};")
        for _ in range(dice.between(1, self.steps)):
            lines += self._statement(locals_, "  ", 0, held=False)
        if dice.chance(60):
            lines.append(f"  assert({self._claim(locals_)});")
        value = f"(void *){self._constant()}L" if self.has_joins else "0"
        return "\n".join([*lines, f"  return {value};", "}"])

    def _main(self) -> str:
        dice = self.dice
        self.number = self.functions
        lines = ["int main(void) {", "  pthread_t thread;", "  int r = 0;"]
        if self.takes_address:
            lines.append(f"  int here = {self._constant()};")
        for _ in range(dice.weighted(((4, 0), (2, 1)))):
            lines.append("  " + self._store(["r"]))
        if self.has_joins and dice.chance(70):
            lines += self._started()
        for number in range(self.functions):
            if self.has_joins and dice.chance(50):
                continue
            is_loop = dice.chance(65)
            target = "kept" if self.has_kept and dice.chance(50) else "thread"
            start = f"pthread_create(&{target}, 0, t{number}, {self._argument(['r'])});"
            if is_loop:
                lines.append(f"  while (MORE({number})) {{")
                if dice.chance(20):
                    lines.append("    " + self._store(["r"]))
                lines.append(f"    {start}")
                if dice.chance(20):
                    lines.append(f"    if (r < {self.largest}) r++;")
                lines.append("  }")
            else:
                for _ in range(dice.weighted(((4, 1), (2, 2)))):
                    lines.append(f"  {start}")
            if dice.chance(20):
                lines.append("  " + self._store(["r"]))
        if dice.chance(30):
            lines += self._statement(["r"], "  ", 1, held=False)
        if dice.chance(40):
            lines.append(f"  assert({self._claim(['r'])});")
        if dice.chance(5):
            lines.append(f"  pthread_join({'kept' if self.has_kept else 'thread'}, 0);")
            lines.append(f"  assert({self._claim(['r'])});")
        lines.append(dice.pick(("  pthread_exit(0);", "  pthread_exit(0);", "  return 0;")))
        return "\n".join([*lines, "}"])

    def _argument(self, locals_: list[str]) -> str:
        if not self.is_passed:
            return "0"
        name = self.dice.pick(locals_) if locals_ else "0"
        return self.dice.pick((f"(void *)(long){name}", f"(void *){self._constant()}L"))
