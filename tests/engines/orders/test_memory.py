"""Regions, parts, pointers and lives of the unrolled memory: small programs with known answers."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from tests.engines.orders.test_engine import answer

from plait.c import FrontEndOptions, load
from plait.engines.interface import Answer
from plait.engines.orders.bounds import Bounds
from plait.engines.orders.engine import check
from plait.engines.orders.event_log import EventLog
from plait.engines.orders.learning import unroll
from plait.engines.orders.possible_values import PossibleValues
from plait.engines.orders.unrolling import Access
from plait.logic.terms import Terms
from plait.model.properties import Specification
from plait.model.types import DataModel

HEAD = """#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
extern int __VERIFIER_nondet_int(void); extern unsigned __VERIFIER_nondet_uint(void);
extern _Bool __VERIFIER_nondet_bool(void); extern void __VERIFIER_assume(int);
"""


def threads(globals_: str, thread: str, before: str, meanwhile: str, after: str) -> str:
    """A program with one thread besides main."""
    return f"""{HEAD}{globals_}
void *run(void *argument) {{ {thread} return 0; }}
int main(void) {{ pthread_t t; {before} pthread_create(&t, 0, run, 0); {meanwhile}
  pthread_join(t, 0); {after} return 0; }}
"""


# A function pointer whose bytes two threads move one by one.
CALL_IN_PARTS = f"""{HEAD} int one(void) {{ return 1; }} int two(void) {{ return 2; }}
int (*from)(void), (*f)(void); unsigned char bytes[8];
void *run(void *unused) {{ for (int i = 0; i < 8; i++) bytes[i] = ((unsigned char *)&from)[i]; return 0; }}
#define START pthread_t t; from = __VERIFIER_nondet_bool() ? one : two; \\
  pthread_create(&t, 0, run, 0); pthread_join(t, 0);
#define f() (memcpy(&f, bytes, 8), f())
"""
NODE = "struct node { int value; struct node *next; } *head;"
PROGRAMS = {
    "a large array, another place": (threads("int a[1000]; unsigned i;", "a[i] = 1;", "i = __VERIFIER_nondet_uint(); __VERIFIER_assume(i < 999);", "a[i + 1] = 2;", "assert(a[i] == 1 && a[i + 1] == 2);"), Answer.HOLDS),
    "a large array, maybe the same place": (threads("int a[1000]; unsigned i, j;", "a[i] = 1;", "i = __VERIFIER_nondet_uint(); j = __VERIFIER_nondet_uint(); __VERIFIER_assume(i < 1000 && j < 1000);", "a[j] = 2;", "assert(a[i] == 1);"), Answer.VIOLATED),
    "the initial contents of a region": (threads("int a[8] = {1, 2, 3, 4, 5, 6, 7, 8}; unsigned i;", "i = 5;", "", "int x = a[i]; a[7] = 8;", "assert(x == 1 || x == 6); assert(a[i] == 6);"), Answer.HOLDS),
    "the value before the last one": (threads("int a[8]; unsigned i = 3;", "a[i] = 1; a[i] = 2;", "", "int x = a[3]; int y = a[3];", "assert(x <= y);"), Answer.HOLDS),
    "behind a region": (threads("int a[8]; unsigned i;", "a[i] = 1;", "i = __VERIFIER_nondet_uint();", "", "assert(a[0] < 2);"), Answer.UNKNOWN),
    "a region of structs": (threads("struct { int x; char y; short z; } s[9]; unsigned i;", "s[i].y = 1; s[i].z = 2;", "i = __VERIFIER_nondet_uint() % 9;", "s[i].x = 3;", "assert(s[i].x == 3 && s[i].y == 1 && s[i].z == 2);"), Answer.HOLDS),
    "a private array by index": (f"{HEAD} int main(void) {{ char c[200] = {{7}}; unsigned i = __VERIFIER_nondet_uint(), j = __VERIFIER_nondet_uint(); __VERIFIER_assume(i < 200 && j < 200 && i != j && j); c[i] = 1; assert(c[j] == 0); c[0] = 5; assert(i == 0 || c[i] == 1); }}", Answer.HOLDS),
    "a union": (threads("union { int i; unsigned char b[4]; } u;", "u.i = 0x01020304;", "", "unsigned char x = u.b[0], y = u.b[3];", "assert(u.b[2] == 2); assert(x == 0 || y == 1);"), Answer.HOLDS),
    "a write in parts is one step": (threads("union { int i; unsigned char b[4]; } u;", "u.i = -1;", "", "int x = u.i;", "assert(x == 0 || x == -1); assert(u.b[1] == 255);"), Answer.HOLDS),
    "writes of bytes are many steps": (threads("union { int i; unsigned char b[4]; } u;", "u.b[0] = 1; u.b[1] = 1;", "", "int x = u.i;", "assert(x == 0 || x == 0x101);"), Answer.VIOLATED),
    "a private union": (f"{HEAD} int main(void) {{ union {{ int i; short h[2]; }} u; u.i = __VERIFIER_nondet_int(); if (u.h[0] == 5) u.h[1] = 1; else u.i = 3; assert(u.i == 3 || u.i == 0x10005); }}", Answer.HOLDS),
    "memcpy of a shared struct": (threads("struct s { int x; short y; } a = {1, 2}, b;", "memcpy(&b, &a, sizeof a);", "", "", "assert(b.x == 1 && b.y == 2);"), Answer.HOLDS),
    "a pointer that a later thread writes": (threads(NODE, "struct node *n = malloc(sizeof *n); n->value = 3; n->next = 0; head = n;", "", "struct node *h = head; if (h) assert(h->value == 3);", ""), Answer.HOLDS),
    "a freed object": (threads("int *p;", "*p = 1;", "p = malloc(4); *p = 0;", "free(p);", ""), Answer.UNKNOWN),
    "an object freed in time": (threads("int *p;", "*p = 1;", "p = malloc(4); *p = 0;", "", "assert(*p == 1); free(p);"), Answer.HOLDS),
    "freed twice": (threads("int *p;", "free(p);", "p = malloc(4);", "free(p);", ""), Answer.UNKNOWN),
    "free of null": (threads("int *p;", "free(p);", "", "", "assert(p == 0);"), Answer.HOLDS),
    "free of the middle": (threads("char *p;", "free(p + 1);", "p = malloc(4);", "", ""), Answer.UNKNOWN),
    "a bug besides a free": (threads("int *p, x;", "free(p); x++;", "p = malloc(4);", "x++;", "assert(x == 2);"), Answer.VIOLATED),
    "one of two sizes": (threads("int *p, n;", "p[n - 1] = 1;", "n = __VERIFIER_nondet_bool() ? 2 : 4; p = calloc(n, sizeof *p);", "", "assert(p[n - 1] == 1 && (n == 4 || p[0] == 0));"), Answer.HOLDS),
    "beyond one of two sizes": (threads("int *p, n;", "p[3] = 1;", "n = __VERIFIER_nondet_bool() ? 2 : 4; p = calloc(n, sizeof *p);", "", ""), Answer.UNKNOWN),
    "copies of floats": (threads("float f = 1.5f; union { float f; unsigned u; } w;", "float g = f; w.f = g;", "", "", "assert(w.u == 0x3fc00000);"), Answer.HOLDS),
    "arithmetic on floats": (threads("float f = 1.5f;", "f = f + 1;", "", "", "assert(f == 2.5f);"), Answer.HOLDS),
    "a local that only the other thread uses": (f"{HEAD} int r; void *run(void *p) {{ r = *(int *)p; return 0; }} int main(void) {{ int x = 5; pthread_t t; pthread_create(&t, 0, run, &x); pthread_join(t, 0); assert(r == 5); }}", Answer.HOLDS),
    # Two locals whose lives do not overlap: the same address or not, who knows.
    "addresses of locals that are gone": (f"{HEAD} long at(void) {{ int x; return (long)&x; }} int main(void) {{ long p = at(); assert(p != at()); }}", Answer.UNKNOWN),
    "a local whose address nobody looks at": (f"{HEAD} int at(void) {{ int x = 1; return !!&x + x; }} int main(void) {{ assert(at() == at()); }}", Answer.HOLDS),
    "an index that is read, through a pointer that is read": (threads("int a[4], *p = a; unsigned i; unsigned long ids[3];", "p[i] = 1;", "i = 2; for (int k = 0; k < 2; k++) pthread_create(&ids[k], 0, run, 0);", "", "assert(a[1] == 0); for (int k = 0; k < 2; k++) pthread_join(ids[k], 0); assert(a[2] == 1);"), Answer.HOLDS),
    "an index behind the end of what is read": (threads("int a[4], b[4], *p = a; unsigned i;", "p[i] = 1;", "i = __VERIFIER_nondet_uint() % 5;", "", "assert(b[0] == 0);"), Answer.UNKNOWN),
    "a pointer to one of two arrays": (threads("int a[4], b[9], *p = a; unsigned i;", "p[i] = 1;", "if (__VERIFIER_nondet_bool()) p = b; i = __VERIFIER_nondet_uint() % 4;", "", "assert(a[i] == 0 || b[i] == 0);"), Answer.HOLDS),
    "a pointer to the other of two arrays": (threads("int a[4], b[9], *p = a; unsigned i;", "p[i] = 1;", "if (__VERIFIER_nondet_bool()) p = b; i = __VERIFIER_nondet_uint() % 4;", "", "assert(b[i] == 0);"), Answer.VIOLATED),
    "a function in parts": (f"{CALL_IN_PARTS} int main(void) {{ START assert(f() >= 1); }}", Answer.HOLDS),
    "another function in parts": (f"{CALL_IN_PARTS} int main(void) {{ START assert(f() == 1); }}", Answer.VIOLATED),
    "no function in parts": (f"{CALL_IN_PARTS} int main(void) {{ START bytes[1] = 1; assert(f() >= 1); }}", Answer.UNKNOWN),
    "realloc": (threads("int *p;", "p = realloc(p, 8); p[1] = 2;", "p = malloc(4); *p = 1;", "", "assert(p[0] == 1 && p[1] == 2);"), Answer.HOLDS),
}  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), PROGRAMS.values(), ids=PROGRAMS.keys())
def test_small_programs(text: str, expected: Answer, tmp_path: Path) -> None:
    source = tmp_path / "main.c"
    source.write_text(text)
    assert answer(source, 8)[0] is expected


def test_an_access_by_a_symbolic_index_is_one_event(tmp_path: Path) -> None:
    source = tmp_path / "main.c"
    text, _ = PROGRAMS["a large array, maybe the same place"]
    source.write_text(text)
    program = load([str(source)], FrontEndOptions(), Specification())
    events = unroll(program, Terms(), Bounds.same(1)).unrolling.events
    array = [event for event in events if event.address is not None]
    assert [event.kind for event in array].count(Access.WRITE) == 2
    assert [event.kind for event in array].count(Access.READ) == 1


def test_an_object_of_several_pages(tmp_path: Path) -> None:
    source = tmp_path / "main.c"
    check_both = "assert(a[39000] == 1 && a[30000] == 2);"
    source.write_text(
        threads("char a[40000];", "a[39000] = 1;", "int i = 30000;", "a[i] = 2;", check_both)
    )
    options = FrontEndOptions(data_model=DataModel.ILP32)
    program = load([str(source)], options, Specification())
    assert check(program, 1).answer is Answer.HOLDS


def test_addresses_are_not_given_twice(tmp_path: Path) -> None:
    source = tmp_path / "main.c"
    source.write_text(
        HEAD + "int *p[70]; int main(void) { for (int i = 0; i < 70; i++) {"
        " p[i] = malloc(1 << 26); *p[i] = i; } assert(*p[0] == 0); }"
    )
    options = FrontEndOptions(data_model=DataModel.ILP32)
    program = load([str(source)], options, Specification())
    assert check(program, 70).answer is Answer.UNKNOWN


def test_what_is_read_later_is_found_later() -> None:
    """Only terms without reads keep their values: what is written to a cell grows."""
    terms = Terms()
    pointers = SimpleNamespace(is_vague=lambda cell: False, values=lambda cell: ())
    layout = SimpleNamespace(root=lambda cell: None)
    first, second, third = (terms.constant(number << 32, 64) for number in (3, 5, 7))
    log = SimpleNamespace(
        terms=terms,
        program=SimpleNamespace(data_model=DataModel.LP64),
        knowledge=SimpleNamespace(pointers=pointers, layout=layout),
        contents=SimpleNamespace(of=lambda place, size: first),
    )
    values = PossibleValues(cast(EventLog, log))
    condition, other = terms.fresh("condition", 1), terms.fresh("other", 1)
    read, cell = terms.fresh("read", 64), (1 << 32, 8)
    values.cells_of[read] = [cell]
    choice = terms.ite(condition, read, second)
    fixed = terms.ite(condition, second, first)
    for written in ({}, {third: None}):
        values.written[cell] = written
        assert set(values.leaves(choice) or ()) == {5 << 32, 3 << 32, *(7 << 32 for _ in written)}
        assert set(values.leaves(fixed) or ()) == {5 << 32, 3 << 32}
        eight = terms.constant(8, 64)
        moved = values.leaves(terms.add(terms.ite(other, third, fixed), eight))
        assert set(moved or ()) == {(number << 32) + 8 for number in (3, 5, 7)}
