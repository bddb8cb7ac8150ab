"""What nobody has set may hold any value: a violation that needs one is found by each engine, and
the reference interpreter repeats it with the values that the engine has chosen."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.engines.asking import outcome_of

from plait.cli.main import main
from plait.engines.interface import Answer

HEAD = """
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
extern int __VERIFIER_nondet_int(void);
"""

LOCAL = "int main(void) { int a; int *x = &a; assert(*x == 0); }"
HEAP = "int main(void) { int *x = malloc(4); assert(*x == 0); free(x); }"
ARRAY = "int main(void) { int a[4]; a[1] = 3; assert(a[2] != 7 || a[3] != 8 || a[1] != 3); }"
EXTERN = "extern int g; int main(void) { assert(g == 0); }"
VIOLATED = {
    "a local": LOCAL,
    "heap": HEAP,
    "an array": ARRAY,
    "an undefined variable": EXTERN,
    "shared by threads": """
extern int g; extern int h[3];
void *f(void *p) { g = 1; return 0; }
int main(void) {
  pthread_t t; pthread_create(&t, 0, f, 0);
  int v = g; assert(v != 17 || h[2] != 5); pthread_join(t, 0); }
""",
    # The interpreter asks for a value only where it is used, and only for one of three.
    "of the last round": """
int main(void) {
  for (int i = 0; i < 3; i++) {
    int a; int b[2]; int *p = &b[i & 1];
    if (i == 2) assert(a != 17 || *p != 12); } }
""",
    "results": """
int f(int k) { int a; int b; if (k) return b; return a; }
int main(void) {
  int v = f(0); int w = f(1); int x = f(0);
  assert(v != 5 || w != 7 || x != 9); }
""",
    # An object without bytes has no values, and must not be counted.
    "of several sizes": """
int main(void) {
  int found = 0;
  for (int i = 0; i < 3; i++) {
    int n = __VERIFIER_nondet_int();
    if (n < 0 || n > 2) return 0;
    char *m = malloc(n);
    if (n == 2 && m[1] == 4 + i) found = found * 10 + i + 1; }
  assert(found != 13); }
""",
    "recursion": """
int r(int n) {
  int a; int *p = &a;
  if (n == 0) return 0;
  int k = r(n - 1);
  return k * 10 + (*p == n + 40); }
int main(void) { assert(r(2) != 11); }
""",
    # A thread reads its own before its first step that others see.
    "of each thread": """
int *g; int n;
void *f(void *p) {
  int a[2]; int *m = malloc(8);
  if (a[1] == 4 && m[1] == 5) __atomic_fetch_add(&n, 1, __ATOMIC_SEQ_CST), g = m;
  return 0; }
int main(void) {
  pthread_t t, u; int *q = malloc(4);
  pthread_create(&t, 0, f, 0); pthread_join(t, 0);
  pthread_create(&u, 0, f, 0); pthread_join(u, 0);
  assert(n != 2 || g[0] != 6 || *q != 8); }
""",
    "parts of a value": "int main(void) { int a; char *c = (char *)&a; c[1] = 1; assert(a != 0x4030102); }",
    "a truth value": "int main(void) { bool b; bool *p = &b; assert(!*p); }",
    "a missing argument": "int f(a) int a; { return a; } int main(void) { assert(((int (*)())f)() != 3); }",
}  # fmt: skip
HOLDS = {
    "one value each": "int main(void) { int a; int *p = &a; int x = *p, y = *p; assert(x == y); }",
    "what was set": "int main(void) { int a[2]; a[1] = 3; int i = 1; assert(a[i] == 3); }",
    "of an undefined variable": "extern int g; int main(void) { int x = g; assert(x == g); }",
    "a truth value": "int main(void) { bool b; bool *p = &b; assert(*p == 0 || *p == 1); }",
}


@pytest.mark.parametrize("engine", ["orders", "impact"])
@pytest.mark.parametrize("body", VIOLATED.values(), ids=VIOLATED.keys())
def test_a_violation_replays(engine: str, body: str, tmp_path: Path) -> None:
    outcome = outcome_of(engine, HEAD + body, tmp_path)
    assert outcome.answer is Answer.VIOLATED, outcome.reason


@pytest.mark.parametrize("engine", ["orders", "impact"])
@pytest.mark.parametrize("body", HOLDS.values(), ids=HOLDS.keys())
def test_no_value_changes(engine: str, body: str, tmp_path: Path) -> None:
    assert outcome_of(engine, HEAD + body, tmp_path).answer is Answer.HOLDS


@pytest.mark.parametrize("engine", ["orders", "impact"])
def test_a_copy_is_left_open(engine: str, tmp_path: Path) -> None:
    """The interpreter does not know which bytes are copies of each other: it says so."""
    source = tmp_path / "program.c"
    source.write_text(
        HEAD + "struct s { int a; int b; };\n"
        "int main(void) { struct s x, y; x.a = 1; y = x; assert(y.b == 0); }\n"
    )
    result = tmp_path / "result.json"
    command = ["verify", "--property", "assertions", "--engine", engine, "--no-cache"]
    assert main([*command, "--json", str(result), str(source)]) == 3
    data = json.loads(result.read_text())
    assert data["reason"].startswith("limit: a copy of an uninitialised value is used (")


@pytest.mark.parametrize("engine", ["orders", "impact"])
@pytest.mark.parametrize(
    ("body", "name"),
    [
        (LOCAL, "uninitialised 'a'"),
        (HEAP, "uninitialised memory"),
        (ARRAY, "uninitialised 'a[3]'"),
        (EXTERN, "uninitialised 'g'"),
    ],
)
def test_people_see_it_and_a_schedule_repeats_it(
    engine: str, body: str, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, result = tmp_path / "program.c", tmp_path / "result.json"
    source.write_text(HEAD + body)
    command = ["verify", "--property", "assertions", "--engine", engine, "--no-cache"]
    assert main([*command, "--json", str(result), str(source)]) == 1
    assert f"{name} = " in capsys.readouterr().out
    data = json.loads(result.read_text())
    assert name in [item["name"] for item in data["inputs"]]
    schedule = tmp_path / "schedule.json"
    schedule.write_text(json.dumps(data["schedule"]))
    assert main(["run", "--schedule", str(schedule), str(source)]) == 1
    explore = ["explore", "--property", "assertions", "--inputs", "0..8", str(source)]
    assert main(explore) == 1
