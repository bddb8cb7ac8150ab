"""Random concurrent C programs with small, finite state spaces.

They are what exploration with and without reductions, and every engine, is compared on. Whether a
program is safe is not known when it is made: its assertions exclude values that the variables may
or may not take.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from trust.dice import Dice

FEATURES = frozenset(
    {
        "arrays",
        "assertions",
        "atomics",
        "barriers",
        "branches",
        "builtins",
        "conditions",
        "join-values",
        "local-threads",
        "loops",
        "mutexes",
        "nondet",
        "once",
        "pointers",
        "print",
        "rwlocks",
        "sections",
        "semaphores",
        "spinlocks",
        "trylocks",
    }
)
# Not in FEATURES because exploration cannot enumerate their inputs, or native runs may not end.
EXTRA_FEATURES = frozenset({"nondet-range", "spinning"})
ALL_FEATURES = FEATURES | EXTRA_FEATURES

_PRELUDE = """\
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
extern void __VERIFIER_assume(int);
extern _Bool __VERIFIER_nondet_bool(void);
extern int __VERIFIER_nondet_int(void);
"""
_TYPES = ("int", "int", "int", "unsigned", "short", "unsigned char", "signed char", "long",
          "_Bool", "unsigned long long", "volatile int")  # fmt: skip
_ATOMIC_TYPES = ("int", "unsigned", "short", "unsigned char", "long", "_Bool", "long long")
# Visible steps a thread may take, by the number of threads besides main.
_STEPS = {1: 14, 2: 8, 3: 4, 4: 2}


@dataclass(slots=True, eq=False)
class _Shared:
    """What all threads of the program can reach."""

    scalars: list[str] = field(default_factory=list)
    atomics: list[str] = field(default_factory=list)
    flags: list[str] = field(default_factory=list)  # the atomics of type _Bool
    arrays: list[tuple[str, int]] = field(default_factory=list)
    pointers: list[str] = field(default_factory=list)
    targets: list[str] = field(default_factory=list)  # the int objects pointers may point to
    mutexes: list[str] = field(default_factory=list)
    rwlocks: list[str] = field(default_factory=list)
    spinlocks: list[str] = field(default_factory=list)
    semaphores: list[str] = field(default_factory=list)
    conditions: list[tuple[str, str, str]] = field(default_factory=list)  # condition, mutex, flag
    barriers: list[str] = field(default_factory=list)
    operations: list[str] = field(default_factory=list)
    once: list[str] = field(default_factory=list)


def generate(
    seed: int,
    threads: int | None = None,
    steps: int | None = None,
    features: Iterable[str] = FEATURES,
) -> str:
    """The program of a seed, with `threads` (1 to 4) threads besides main that make about
    `steps` visible steps each; both are chosen by the seed where they are not given."""
    chosen = frozenset(features)
    unknown = chosen - ALL_FEATURES
    if unknown:
        raise ValueError(f"unknown features: {', '.join(sorted(unknown))}")
    dice = Dice(seed)
    count = threads or dice.weighted(((1, 1), (10, 2), (5, 3), (1, 4)))
    if not 1 <= count <= 4:
        raise ValueError("a program has 1 to 4 threads besides main")
    if steps is None:
        steps = dice.between(max(2, _STEPS[count] // 2), _STEPS[count])
    # A few features at a time: a program that uses all has room for none.
    palette = frozenset(dice.some(sorted(chosen), dice.between(3, 9)))
    palette |= chosen & {"assertions", "print"}
    return _Program(dice, count, steps, palette).text()


class _Program:
    def __init__(self, dice: Dice, count: int, steps: int, features: frozenset[str]) -> None:
        self.dice = dice
        self.count = count
        self.steps = steps
        self.features = features
        self.shared = _Shared()
        self.held: list[str] = []
        self.left = 0  # visible steps the thread being written may still make
        self.registers = 0
        self.nested = False  # inside a block, where no register is declared

    def has(self, feature: str) -> bool:
        return feature in self.features

    def text(self) -> str:
        parts = [_PRELUDE, *self._globals(), *self._operations()]
        for index in range(self.count):
            parts.append(self._thread(index))
        parts.append(self._main())
        return "\n".join(parts) + "\n"

    # ---- declarations -------------------------------------------------------------------------

    def _globals(self) -> list[str]:
        dice, shared = self.dice, self.shared
        lines: list[str] = []
        for name in ("x", "y", "z")[: dice.between(1, 3)]:
            type_ = dice.pick(_TYPES)
            start = f" = {dice.between(1, 3)}" if dice.chance(30) else ""
            lines.append(f"{type_} {name}{start};")
            shared.scalars.append(name)
            if type_ == "int":
                shared.targets.append(f"&{name}")
        if self.has("arrays"):
            size = dice.between(2, 3)
            type_ = dice.pick(("int", "int", "short", "unsigned char"))
            lines.append(f"{type_} a[{size}] = {{ {dice.below(3)} }};")
            shared.arrays.append(("a", size))
            if type_ == "int":
                shared.targets.append(f"&a[{dice.below(size)}]")
        if self.has("pointers"):
            lines.append("int w; int *p = &w;")
            shared.scalars.append("w")
            shared.targets.append("&w")
            shared.pointers.append("p")
        if self.has("atomics"):
            for name in ("u", "v")[: dice.between(1, 2)]:
                type_ = dice.pick(_ATOMIC_TYPES)
                lines.append(f"_Atomic {type_} {name};")
                shared.atomics.append(name)
                if type_ == "_Bool":
                    shared.flags.append(name)
        lines += self._primitives()
        return lines

    def _primitives(self) -> list[str]:
        dice, shared = self.dice, self.shared
        lines: list[str] = []
        if self.has("mutexes") or self.has("trylocks") or self.has("conditions"):
            for name in ("m", "n")[: dice.between(1, 2)]:
                lines.append(f"pthread_mutex_t {name} = PTHREAD_MUTEX_INITIALIZER;")
                shared.mutexes.append(name)
        if self.has("conditions"):
            lines.append("pthread_cond_t c = PTHREAD_COND_INITIALIZER; int ready;")
            shared.conditions.append(("c", dice.pick(shared.mutexes), "ready"))
        if self.has("rwlocks"):
            lines.append("pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;")
            shared.rwlocks.append("rw")
        if self.has("spinlocks"):
            lines.append("pthread_spinlock_t s;")
            shared.spinlocks.append("s")
        if self.has("semaphores"):
            lines.append("sem_t sem;")
            shared.semaphores.append("sem")
        if self.has("barriers"):
            lines.append("pthread_barrier_t b;")
            shared.barriers.append("b")
        if self.has("once"):
            lines.append("pthread_once_t o = PTHREAD_ONCE_INIT;")
            lines.append(f"static void first(void) {{ {dice.pick(shared.scalars)}++; }}")
            shared.once.append("o")
        return lines

    def _operations(self) -> list[str]:
        """Functions whose whole body is atomic."""
        if not self.has("sections"):
            return []
        self.shared.operations.append("__VERIFIER_atomic_swap")
        one, two = self._scalar(), self._scalar()
        update = f"{one} = {two} + by;" if self.dice.chance(50) else f"{one} += by; {two} = {one};"
        return [
            "static int __VERIFIER_atomic_swap(int by) {",
            f"    int old = {two};",
            f"    {update}",
            "    return old;",
            "}",
        ]

    # ---- values -------------------------------------------------------------------------------

    def _scalar(self) -> str:
        return self.dice.pick(self.shared.scalars)

    def _place(self) -> str:
        """A shared object that is not atomic."""
        dice, shared = self.dice, self.shared
        if shared.arrays and dice.chance(35):
            name, size = dice.pick(shared.arrays)
            if size == 2 and self.registers and dice.chance(40):
                return f"{name}[r{dice.below(self.registers)} & 1]"
            return f"{name}[{dice.below(size)}]"
        if shared.pointers and dice.chance(35):
            self.left -= 1
            return f"*{dice.pick(shared.pointers)}"
        return self._scalar()

    def _local(self) -> str:
        """A value that needs no shared memory."""
        if self.registers and self.dice.chance(65):
            return f"r{self.dice.below(self.registers)}"
        return str(self.dice.below(4))

    def _value(self) -> str:
        dice = self.dice
        rule = dice.below(10)
        if rule < 3:
            return self._local()
        if rule < 5:
            operator = dice.pick(("+", "-", "^", "*", "&"))
            return f"({self._local()} {operator} {self._local()})"
        self.left -= 1
        source = self._place()
        if self.shared.atomics and dice.chance(30):
            source = dice.pick(self.shared.atomics)
        if rule < 7:
            return source
        return f"({source} {dice.pick(('+', '-', '^', '|'))} {self._local()})"

    def _condition(self) -> str:
        operator = self.dice.pick(("==", "!=", "<", ">"))
        return f"{self._value()} {operator} {self.dice.below(3)}"

    # ---- statements ---------------------------------------------------------------------------

    def _statements(self, count: int, nesting: int) -> list[str]:
        lines: list[str] = []
        for number in range(count):
            if number and self.left <= 0:
                break
            lines += self._statement(nesting)
        return lines

    def _statement(self, nesting: int) -> list[str]:
        shared = self.shared
        simple: list[tuple[int, Callable[[], list[str]]]] = [
            (30, self._assign),
            (15, self._read),
            (8, self._bump),
        ]
        if shared.atomics:
            simple.append((22, self._atomic))
        if self.has("builtins"):
            simple.append((15, self._builtin))
        if shared.pointers:
            simple.append((8, self._point))
        if self.has("nondet"):
            simple.append((8, self._nondet))
        if self.has("nondet-range"):
            simple.append((8, self._nondet_range))
        if shared.operations:
            simple.append((10, self._operation))
        if self.has("assertions"):
            simple.append((5, self._assertion))
        if nesting <= 0:
            return self.dice.weighted(simple)()
        nested: list[tuple[int, Callable[[], list[str]]]] = list(simple)
        if shared.mutexes and self.has("mutexes"):
            nested.append((30, self._locked))
        if shared.mutexes and self.has("trylocks"):
            nested.append((15, self._try_locked))
        if shared.conditions and not self.held:
            nested.append((25, self._wait_or_signal))
        if shared.rwlocks:
            nested.append((20, self._rwlocked))
        if shared.spinlocks:
            nested.append((20, self._spinlocked))
        if shared.semaphores:
            nested.append((20, self._semaphore))
        if shared.once:
            nested.append((8, self._once))
        if self.has("sections"):
            nested.append((15, self._section))
        if self.has("branches"):
            nested.append((15, self._branch))
        if self.has("loops"):
            nested.append((8, self._loop))
        if self.has("spinning") and shared.atomics:
            nested.append((4, self._spin))
        return self.dice.weighted(nested)()

    def _assign(self) -> list[str]:
        self.left -= 1
        operator = "=" if self.dice.chance(75) else self.dice.pick(("+=", "^=", "|="))
        if operator != "=":
            self.left -= 1
        target = self._place()
        # The right-hand side may read what the place's address depends on: no effects on either.
        return [f"{target} {operator} {self._value()};"]

    def _read(self) -> list[str]:
        value = self._value()
        if self.registers and self.dice.chance(40):
            return [f"r{self.dice.below(self.registers)} = {value};"]
        return self._declare(value)

    def _declare(self, value: str) -> list[str]:
        if self.registers >= 4 or self.held or self.nested:
            if not self.registers:
                return [f"(void)({value});"]
            return [f"r{self.dice.below(self.registers)} = {value};"]
        self.registers += 1
        type_ = self.dice.pick(("int", "int", "unsigned char"))
        return [f"{type_} r{self.registers - 1} = {value};"]

    def _inside(self, count: int, nesting: int = 0) -> list[str]:
        """The statements of an inner block: registers are declared outside of it only."""
        outer, self.nested = self.nested, True
        lines = self._statements(count, nesting)
        self.nested = outer
        return [f"    {line}" for line in lines] or ["    ;"]

    def _bump(self) -> list[str]:
        self.left -= 2
        return [f"{self._scalar()}{self.dice.pick(('++', '--', '++'))};"]

    def _atomic(self) -> list[str]:
        dice = self.dice
        self.left -= 1
        name = dice.pick(self.shared.atomics)
        value = self._local()
        rule = dice.below(5 if name in self.shared.flags else 8)
        if rule == 0:
            return [f"{name} = {value};"]
        if rule == 1:
            return [f"{name}{dice.pick(('++', '--', f' += {value}', f' ^= {value}'))};"]
        if rule == 2:
            order = dice.pick(("relaxed", "release", "seq_cst"))
            return [f"atomic_store_explicit(&{name}, {value}, memory_order_{order});"]
        if rule == 3:
            order = dice.pick(("relaxed", "acquire", "seq_cst"))
            return self._declare(f"atomic_load_explicit(&{name}, memory_order_{order})")
        if rule == 4:
            return self._declare(f"atomic_exchange(&{name}, {value})")
        if rule == 5:
            self.left -= 1
            kind = dice.pick(("strong", "strong", "weak"))
            swap = f"atomic_compare_exchange_{kind}(&{name}, &seen, {value})"
            return [f"{{ __auto_type seen = {name}; if (seen != {dice.below(3)}) {swap}; }}"]
        operation = dice.pick(("add", "sub", "or", "xor", "and"))
        return self._declare(f"atomic_fetch_{operation}(&{name}, {value})")

    def _builtin(self) -> list[str]:
        dice = self.dice
        self.left -= 1
        target = dice.pick(self.shared.targets or ["&plain"])
        value, old = self._local(), dice.below(3)
        operation = dice.pick(("add", "sub", "or", "xor"))
        choice = dice.pick(
            (
                f"__atomic_fetch_{operation}({target}, {value}, __ATOMIC_SEQ_CST)",
                f"__atomic_{operation}_fetch({target}, {value}, __ATOMIC_ACQ_REL)",
                f"__sync_fetch_and_{operation}({target}, {value})",
                f"__sync_{operation}_and_fetch({target}, {value})",
                f"__sync_bool_compare_and_swap({target}, {old}, {value})",
                f"__sync_val_compare_and_swap({target}, {old}, {value})",
                f"__atomic_exchange_n({target}, {value}, __ATOMIC_RELAXED)",
                f"__atomic_load_n({target}, __ATOMIC_ACQUIRE)",
            )
        )
        if "&plain" in choice:
            return self._assign()
        if dice.chance(15):
            return [f"__atomic_store_n({target}, {value}, __ATOMIC_RELEASE);"]
        return self._declare(choice)

    def _point(self) -> list[str]:
        self.left -= 1
        return [f"{self.dice.pick(self.shared.pointers)} = {self.dice.pick(self.shared.targets)};"]

    def _nondet(self) -> list[str]:
        if self.dice.chance(30):
            self.left -= 1
            return [f"{self._scalar()} = __VERIFIER_nondet_bool();"]
        return self._declare("__VERIFIER_nondet_bool()")

    def _nondet_range(self) -> list[str]:
        lines = self._declare("__VERIFIER_nondet_int()")
        name = lines[0].split(" = ")[0].split()[-1]
        if not name.startswith("r"):
            return lines
        return [*lines, f"__VERIFIER_assume({name} >= 0 && {name} <= {self.dice.between(1, 2)});"]

    def _operation(self) -> list[str]:
        self.left -= 1
        return self._declare(f"{self.dice.pick(self.shared.operations)}({self._local()})")

    def _assertion(self) -> list[str]:
        return [f"assert({self._claim(final=False)});"]

    def _claim(self, final: bool) -> str:
        """A property that many executions have."""
        dice = self.dice
        names = [*self.shared.scalars, *self.shared.atomics]
        names += [f"{name}[{dice.below(size)}]" for name, size in self.shared.arrays]
        if not final and self.registers and dice.chance(50):
            return f"r{dice.below(self.registers)} != {dice.between(2, 6)}"
        self.left -= 1
        first = dice.pick(names)
        if len(names) > 1 and dice.chance(50):
            self.left -= 1
            second = dice.pick([name for name in names if name != first])
            return f"!({first} == {dice.below(4)} && {second} == {dice.below(4)})"
        if dice.chance(25):
            return f"{first} <= {dice.between(2, 5)}"
        return f"{first} != {dice.between(1, 5)}"

    # ---- primitives ---------------------------------------------------------------------------

    def _holding(self, lock: str, count: int, nesting: int = 0) -> list[str]:
        """The statements between taking a lock and giving it back."""
        self.left -= 2
        self.held.append(lock)
        body = self._inside(count, nesting)
        self.held.pop()
        return body

    def _locked(self) -> list[str]:
        free = [name for name in self.shared.mutexes if name not in self.held]
        if not free:
            return self._assign()
        name = self.dice.pick(free)
        body = self._holding(name, self.dice.between(1, 3), 1 if not self.held else 0)
        return [f"pthread_mutex_lock(&{name});", *body, f"pthread_mutex_unlock(&{name});"]

    def _try_locked(self) -> list[str]:
        free = [name for name in self.shared.mutexes if name not in self.held]
        if not free:
            return self._assign()
        name = self.dice.pick(free)
        body = self._holding(name, self.dice.between(1, 2))
        other = ["} else {", *self._inside(1)] if self.dice.chance(40) else []
        return [f"if (pthread_mutex_trylock(&{name}) == 0) {{", *body,
                f"    pthread_mutex_unlock(&{name});", *other, "}"]  # fmt: skip

    def _wait_or_signal(self) -> list[str]:
        condition, mutex, flag = self.dice.pick(self.shared.conditions)
        self.left -= 2
        body = self._holding(mutex, 1)
        lock, unlock = f"pthread_mutex_lock(&{mutex});", f"pthread_mutex_unlock(&{mutex});"
        if self.dice.chance(45):
            wait = f"while (!{flag}) pthread_cond_wait(&{condition}, &{mutex});"
            if self.dice.chance(15):
                wait = f"if (!{flag}) pthread_cond_wait(&{condition}, &{mutex});"
            return [lock, wait, *body, unlock]
        wake = self.dice.pick(("signal", "broadcast"))
        return [lock, *body, f"{flag} = 1;", f"pthread_cond_{wake}(&{condition});", unlock]

    def _rwlocked(self) -> list[str]:
        if self.shared.rwlocks[0] in self.held:
            return self._assign()
        name = self.shared.rwlocks[0]
        body = self._holding(name, self.dice.between(1, 2))
        way = self.dice.pick(("rdlock", "wrlock"))
        if self.dice.chance(20):
            return [f"if (pthread_rwlock_try{way}(&{name}) == 0) {{", *body,
                    f"    pthread_rwlock_unlock(&{name});", "}"]  # fmt: skip
        return [f"pthread_rwlock_{way}(&{name});", *body, f"pthread_rwlock_unlock(&{name});"]

    def _spinlocked(self) -> list[str]:
        if self.shared.spinlocks[0] in self.held:
            return self._assign()
        name = self.shared.spinlocks[0]
        body = self._holding(name, 1)
        return [f"pthread_spin_lock(&{name});", *body, f"pthread_spin_unlock(&{name});"]

    def _semaphore(self) -> list[str]:
        name = self.shared.semaphores[0]
        self.left -= 1
        rule = self.dice.below(10)
        if rule < 4:
            return [f"sem_post(&{name});"]
        if rule < 5:
            return self._declare(f"sem_trywait(&{name}) == 0")
        self.left -= 1
        return [f"sem_wait(&{name});", *self._statements(1, 0), f"sem_post(&{name});"]

    def _once(self) -> list[str]:
        self.left -= 2
        return [f"pthread_once(&{self.shared.once[0]}, first);"]

    # ---- control ------------------------------------------------------------------------------

    def _section(self) -> list[str]:
        before = self.left
        body = self._inside(self.dice.between(1, 3))
        self.left = before - 1
        return ["__VERIFIER_atomic_begin();", *body, "__VERIFIER_atomic_end();"]

    def _branch(self) -> list[str]:
        lines = [f"if ({self._condition()}) {{", *self._inside(self.dice.between(1, 2), 1)]
        if self.dice.chance(40):
            lines += ["} else {", *self._inside(1, 1)]
        return [*lines, "}"]

    def _loop(self) -> list[str]:
        trips = self.dice.between(2, 3)
        before = self.left
        body = self._inside(1)
        self.left = before - trips * max(1, before - self.left)
        return [f"for (int i = 0; i < {trips}; i++) {{", *body, "}"]

    def _spin(self) -> list[str]:
        self.left -= 1
        name = self.dice.pick(self.shared.atomics)
        return [f"while ({name} == {self.dice.below(2)}) ;"]

    # ---- threads ------------------------------------------------------------------------------

    def _thread(self, index: int) -> str:
        self.left, self.registers, self.held = self.steps, 0, []
        lines: list[str] = []
        barrier = self.shared.barriers and self.dice.chance(80)
        while self.left > (self.steps // 2 if barrier else 0):
            lines += self._statement(2)
        if self.shared.barriers:
            lines.append("pthread_barrier_wait(&b);")
            while barrier and self.left > 0:
                lines += self._statement(1)
        result = "NULL"
        if self.has("join-values") and self.registers:
            result = f"(void *)(long)r{self.dice.below(self.registers)}"
        body = "\n".join(f"    {line}" for line in lines)
        return f"void *thread{index}(void *argument) {{\n{body}\n    return {result};\n}}"

    def _main(self) -> str:
        dice, shared = self.dice, self.shared
        lines: list[str] = []
        if shared.spinlocks:
            lines.append("pthread_spin_init(&s, PTHREAD_PROCESS_PRIVATE);")
        if shared.semaphores:
            lines.append(f"sem_init(&sem, 0, {dice.weighted(((2, 0), (6, 1), (2, 2)))});")
        if shared.barriers:
            lines.append(f"pthread_barrier_init(&b, NULL, {self.count});")
        lines.append(f"pthread_t t[{self.count}]; void *result[{self.count}];")
        same = dice.chance(20)
        for index in range(self.count):
            start = 0 if same else index
            lines.append(f"pthread_create(&t[{index}], NULL, thread{start}, NULL);")
        self.left, self.registers, self.held = self.steps // 3, 0, []
        if self.has("local-threads"):
            lines += self._statements(2, 1)
        for index in range(self.count):
            lines.append(f"pthread_join(t[{index}], &result[{index}]);")
        if self.has("assertions"):
            lines += [f"assert({self._claim(final=True)});" for _ in range(dice.between(1, 2))]
            if self.has("join-values"):
                lines.append(f"assert((long)result[0] != {dice.between(2, 5)});")
        if self.has("print"):
            lines += self._prints()
        lines.append("return 0;")
        return "\n".join(["int main(void) {", *(f"    {line}" for line in lines), "}"])

    def _prints(self) -> list[str]:
        names = [*self.shared.scalars, *self.shared.atomics]
        names += [f"{name}[{index}]" for name, size in self.shared.arrays for index in range(size)]
        if self.has("join-values"):
            names += [f"(long)result[{index}]" for index in range(self.count)]
        formats = " ".join("%d" for _ in names)
        return [f'printf("{formats}\\n", {", ".join(f"(int)({name})" for name in names)});']
