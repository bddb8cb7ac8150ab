"""Random small concurrent programs about memory: arrays by index, unions, copies, heap objects."""

from __future__ import annotations

import random

_HEAD = """#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
extern _Bool __VERIFIER_nondet_bool(void);
int x = 1, y; unsigned char k;
"""
_DECLARED = {
    "array": "int a[6] = {1, 0, 2};",
    "bytes": "unsigned char c[8] = {1, 2};",
    "copies": "struct P { int p; short q; char r; } m1 = {1, 2, 3}, m2;",
    "heap": "int *hp;",
    "lists": "struct N { int v; struct N *next; } *head;",
    "pointers": "int o1 = 1, o2 = 2; int *pa[6] = {&o1, &o2};",
    "private": "",
    "sizes": "int *dyn; unsigned len;",
    "structs": "struct S { int v; char t; short w; } s[6];",
    "union": "union U { int i; short h[2]; unsigned char b[4]; } u;",
}
_PRIVATE = "int l[6] = {1, 2, 3}; union { int i; short h[2]; unsigned char b[4]; } pu; pu.i = 0;"
_BEFORE = {
    "heap": "hp = malloc(sizeof(int)); *hp = 1;",
    "sizes": "len = __VERIFIER_nondet_bool() ? 2 : 6; dyn = calloc(len, 4);",
}


def generate(seed: int) -> str:
    return _Program(random.Random(seed)).text()


class _Program:
    def __init__(self, dice: random.Random) -> None:
        self.dice = dice
        self.features = dice.sample(sorted(_DECLARED), dice.randint(1, 3))

    def text(self) -> str:
        parts = [_HEAD, *(_DECLARED[feature] for feature in self.features)]
        private = _PRIVATE if "private" in self.features else ""
        count = self.dice.choice([1, 2, 2])
        for number in range(count):
            start = self.dice.choice(["0", "1", "__VERIFIER_nondet_bool()"])
            body = "\n  ".join(self.statement() for _ in range(self.dice.randint(2, 4)))
            parts.append(
                f"void *t{number}(void *z) {{ unsigned i = {start}; {private}\n  {body}\n"
                "  return 0; }"
            )
        lines = [_BEFORE[feature] for feature in self.features if feature in _BEFORE]
        lines.append(f"pthread_t p[{count}];")
        lines += [f"pthread_create(&p[{n}], 0, t{n}, 0);" for n in range(count)]
        lines += [f"pthread_join(p[{n}], 0);" for n in range(count)]
        lines.append(f"assert({self.place()} != {self.dice.randint(1, 4)});")
        body = "\n  ".join(lines)
        parts.append(f"int main(void) {{ unsigned i = 0; {private}\n  {body}\n  return 0; }}")
        return "\n".join(parts) + "\n"

    def index(self, count: int) -> str:
        least = 4 if count >= 4 else 2
        return self.dice.choice(
            [
                f"x & {least - 1}",
                f"(unsigned)(x + y) % {count}",
                f"(unsigned)(i + x) % {count}",
                f"k & {least - 1}",
                f"i & {least - 1}",
                str(self.dice.randrange(count)),
            ]
        )

    def place(self) -> str:
        index, dice = self.index, self.dice
        found = ["x", "y", "k"]
        for feature in self.features:
            found += {
                "array": [f"a[{index(6)}]"] * 4,
                "bytes": [f"c[{index(8)}]"] * 2
                + ["(*(short *)&c[2])", "(*(int *)(c + (x & 1) * 4))"],
                "copies": ["m1.p", "m2.p", "m2.q", "m2.r"],
                "heap": ["(*hp)"] * 2,
                "lists": [],
                "pointers": [f"(*pa[{dice.choice(['x & 1', '0', 'i & 1'])}])", "o1"],
                "private": [],
                "sizes": [f"dyn[{dice.choice(['0', 'x & 1', 'len - 1'])}]"],
                "structs": [f"s[{index(6)}].{dice.choice('vtw')}"] * 3,
                "union": ["u.i", f"u.h[{index(2)}]", f"u.b[{index(4)}]"],
            }[feature]
        return dice.choice(found)

    def statement(self) -> str:
        place, dice = self.place, self.dice
        found = [
            f"{place()} = {dice.randint(0, 5)};",
            f"{place()} = {place()};",
            f"{{ int t = {place()}; {place()} = t + 1; }}",
            f"{place()}++;",
            f"i = {place()} & 1;",
            f"if ({place()}) {place()} = {dice.randint(0, 3)};",
            f"__VERIFIER_atomic_begin(); {place()} = {place()}; __VERIFIER_atomic_end();",
            f"assert({place()} != {dice.randint(2, 7)});",
        ]
        for feature in self.features:
            found += {
                "copies": ["memcpy(&m2, &m1, sizeof m1);", "memset(&m2, 1, 4);", "m1 = m2;"],
                "heap": [
                    "free(hp);",
                    "{ int *q = malloc(4); *q = 2; hp = q; }",
                    "{ int *q = hp, *w = malloc(4); *w = 3; hp = w; free(q); }",
                ],
                "lists": [
                    "{ struct N *q = malloc(sizeof *q); q->v = 2; q->next = head; head = q; }",
                    "if (head) { y = head->v; head = head->next; }",
                    "if (head && head->next) head->next->v = 4;",
                ],
                "pointers": [f"pa[{dice.choice(['x & 1', '0', 'i & 1'])}] = &o2;"],
                "private": [
                    f"l[{self.index(6)}] = {place()};",
                    f"{place()} = l[{self.index(6)}];",
                    f"pu.i = {place()}; pu.b[{self.index(4)}] = 1; {place()} = pu.h[1];",
                ],
            }.get(feature, [])
        return dice.choice(found)
