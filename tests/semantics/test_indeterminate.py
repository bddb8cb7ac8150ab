"""Values that nobody has set: chosen when they matter, and the same wherever they can be compared."""

from __future__ import annotations

from pathlib import Path

import pytest

from plait.c import FrontEndOptions, load
from plait.model.properties import from_names
from plait.semantics.explore import ExploreOptions, explore

HEAD = """#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
extern void __VERIFIER_assume(int);
struct S { int a, b; };
struct T { char c; struct S s; };
struct C { char a, b; };
int same(struct C s, struct C t) { return s.b == t.b; }
struct S half(void) { struct S s; s.a = 1; return s; }
int *leak(int *p) { return p; }
char bytes_of(char c) { return c; }
_Bool flag(_Bool b) { return b; }
void *thread(void *p) { }
char two(char x, char y) { return x - y; }
"""
SAFE = {
    "a variable agrees with itself": "char x; if (x == 3) assert(x == 3); if (x) assert(x);",
    "an assumption holds afterwards": "char x; __VERIFIER_assume(x > 5); assert(x > 5);",
    "copies of a variable agree": "char x; char y = x; __VERIFIER_assume(x == 7); assert(y == 7);",
    "an argument agrees with its variable": "char x; assert(bytes_of(x) == x);",
    "the same argument twice": "char x; assert(two(x, x) == 0);",
    "memory agrees with itself": "char *p = malloc(1); char y = *p; assert(y == *p);",
    "memory agrees through a pointer": "char x; char *p = &x; if (*p == 1) assert(x == 1); *p = 2; assert(x == 2);",
    "a store fixes the value": "char x; static char g; g = x; assert(g == x);",
    "a copied struct keeps what is set": "struct S s = half(), t; t = s; assert(t.a == 1);",
    "memcpy keeps what is set": "struct S s, t; s.b = 5; memcpy(&t, &s, sizeof s); assert(t.b == 5);",
    "realloc copies what is there": "char *p = malloc(8); p[1] = 4; p = realloc(p, 16); assert(p[1] == 4);",
    "a union half set": "union { int i; double d; } u, v; u.i = 9; v = u; assert(v.i == 9);",
    "padding does not matter": "struct T t = {1, {2, 3}}, u; memcpy(&u, &t, sizeof t); assert(u.c == 1 && u.s.b == 3);",
    "no return value, not used": "pthread_t t; pthread_create(&t, 0, thread, 0); pthread_join(t, 0);",
    "bool is 0 or 1": "_Bool b; assert(flag(b) == 0 || flag(b) == 1);",
    "two rounds of a loop": "char y = 1; for (int i = 0; i < 2; i++) { char x; if (i) { y = x; if (x == 2) assert(y == 2); } }",
    "bool in a char": "_Bool b; unsigned char c = b; assert(c < 2);",
    "a copy that is overwritten": "struct C s, t; t = s; s.a = t.a = 3; assert(s.a + t.a == 6);",
    "snprintf without directives": 'char s[9]; assert(snprintf(s, 100, "ab") == 2 && strcmp(s, "ab") == 0);',
    "a result that nobody uses": 'puts("a"); fwrite("a", 1, 1, stdout);',
    "atomics": "_Atomic char x; char old = x; x |= 1; assert(x == (old | 1));",
}
UNSAFE = {
    "a variable can have any value": "char x; assert(x != 77);",
    "two variables differ": "char x, y; assert(x == y);",
    "memory can have any value": "char *p = malloc(2); p[0] = 1; assert(p[1] != -5);",
    "variables of two rounds differ": "char y = 0; int n = 0; for (int i = 0; i < 2; i++) { char x; if (i == 0) y = x; else assert(x == y); }",
}
# A copy and what it was copied from agree, which is not modelled: no verdict where one is used.
COPIES = {
    "a struct half set": "struct { char a, b; } s, t; s.a = 1; t = s; assert(t.b != 9);",
    "a struct and its copy": "struct { char a, b; } s, t, *p = &s, *q = &t; t = s; assert(p->a == q->a);",
    "the source is used": "struct { char a, b; } s, t, *p = &s; t = s; assert(p->a != 9);",
    "memcpy": "char s[2], t[2]; memcpy(t, s, 2); assert(s[0] == t[0]);",
    "a struct passed twice": "struct C s; s.a = 1; assert(same(s, s));",
    "a result that was not returned": "void *r; pthread_t t; pthread_create(&t, 0, thread, 0); pthread_join(t, &r); assert(r == 0);",
    "read by the library": "char s[2]; s[1] = 0; assert(strlen(s) == strlen(s));",
    "text of snprintf": "char s[3]; snprintf(s, 3, \"%g\", 7.0); assert(s[0] == '7');",
    "result of snprintf": 'char s[3]; assert(snprintf(s, 3, "%g", 7.0) == 1);',
}


def verdict(body: str, folder: Path) -> str:
    source = folder / "main.c"
    source.write_text(f"{HEAD}int main(void) {{ {body} return 0; }}")
    specification = from_names(["assertions"])
    program = load([str(source)], FrontEndOptions(), specification)
    result = explore(program, specification, ExploreOptions(max_states=300_000, max_seconds=60))
    return f"{result.verdict.value} {result.reason if result.verdict.value == 'unknown' else ''}".strip()


@pytest.mark.parametrize("body", SAFE.values(), ids=SAFE.keys())
def test_holds(body: str, tmp_path: Path) -> None:
    assert verdict(body, tmp_path) == "true"


@pytest.mark.parametrize("body", UNSAFE.values(), ids=UNSAFE.keys())
def test_fails(body: str, tmp_path: Path) -> None:
    assert verdict(body, tmp_path) == "false"


@pytest.mark.parametrize("body", COPIES.values(), ids=COPIES.keys())
def test_copies_have_no_verdict(body: str, tmp_path: Path) -> None:
    assert verdict(body, tmp_path).startswith(
        "unknown limit: a copy of an uninitialised value is used"
    )


def test_copying_and_choosing_do_not_commute(tmp_path: Path) -> None:
    """Whichever comes first decides: no schedule may be left out for the other."""
    source = tmp_path / "main.c"
    for first, second in (("copy", "use"), ("use", "copy")):
        source.write_text(
            f"""{HEAD}
            struct {{ char a; _Bool b; }} *from, to; int got;
            void *copy(void *p) {{ to = *from; return 0; }}
            void *use(void *p) {{ got = from->b; return 0; }}
            int main(void) {{
                pthread_t p, q;
                from = malloc(sizeof *from);
                from->a = 0;
                pthread_create(&p, 0, {first}, 0); pthread_create(&q, 0, {second}, 0);
                pthread_join(p, 0); pthread_join(q, 0);
                assert(got == to.b || got != to.b);
            }}"""
        )
        specification = from_names(["assertions"])
        program = load([str(source)], FrontEndOptions(), specification)
        for reduction in (True, False):
            found = explore(
                program, specification, ExploreOptions(reduction=reduction, max_seconds=60)
            )
            assert found.verdict.value == "unknown", found.reason
            assert "copy of an uninitialised value" in found.reason


@pytest.mark.parametrize("known", [0, 1])
def test_memory_that_grows(known: int, tmp_path: Path) -> None:
    """What `realloc` adds has any value; what it has copied without one is left open."""
    size = "n * 4" if known else "(n + 1) * 4"
    first = "p[0] = 5;" if known else ""
    body = (
        f"int n = 1; int *p = malloc({size}); {first} p = realloc(p, (n + 1) * 4);"
        " if (p[n - 1] < 4) assert(0);"
    )
    expected = "true" if known else "unknown limit: a copy of an uninitialised value is used"
    assert verdict(body, tmp_path).startswith(expected)
    added = body.replace("p[n - 1]", "p[n]").replace("malloc((n + 1) * 4)", "malloc(n * 4)")
    assert verdict(added, tmp_path) == "false"
