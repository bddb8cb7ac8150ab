"""Which pointers may outlive what they point to."""

from __future__ import annotations

from pathlib import Path

import pytest

from plait.analysis.lifetimes import Lifetimes
from plait.analysis.points_to import PointsTo
from plait.analysis.sharing import Sharing
from plait.c import FrontEndOptions, load
from plait.model.properties import Specification

HEAD = "#include <alloca.h>\n#include <pthread.h>\n"
RUN = "void *t(void *a) { return *(int *)a ? a : 0; }"
# The program, what may outlive, and of that whose memory may be used again.
CASES = {
    "passed down": (
        "int g(int *p) { return *p; } int main(void) { int x = 1; return g(&x); }",
        [],
        [],
    ),
    "returned": (
        "int *f(void) { int x = 1; return &x; } int main(void) { int y = *f(); return *(&y); }",
        ["f.x"],
        ["f.x"],
    ),
    "kept in a global": (
        "int *g; void f(void) { int x = 1; g = &x; } void h(void) { int y; int *p = &y; *p = 1; }"
        "int main(void) { int z = 1, *q = &z; f(); h(); return *g + *q; }",
        ["f.x"],
        ["f.x"],
    ),
    "given to a thread": (
        RUN + "int main(void) { int x = 1; pthread_t h; pthread_create(&h, 0, t, &x); }",
        ["main.x"],
        [],
    ),
    "given to a thread in a loop": (
        RUN + "int main(void) { for (int i = 0; i < 2; i++) {"
        " int x = 1; pthread_t h; pthread_create(&h, 0, t, &x); } }",
        ["main.x"],
        ["main.x"],
    ),
    "behind its block": (
        "int main(void) { int *p; { int x = 1; p = &x; } return *p; }",
        ["main.x"],
        [],
    ),
    "in its block": (
        "int main(void) { int s = 0; for (int i = 0; i < 3; i++) { int x = 1, *p = &x; s += *p; }"
        " return s; }",
        [],
        [],
    ),
    "in the next round": (
        "int main(void) { int *p = 0; for (int i = 0; i < 3; i++) {"
        " int x = 1; if (p) *p = 2; p = &x; } return 0; }",
        ["main.x"],
        ["main.x"],
    ),
    "a recursion": (
        "int f(int *p, int n) { int x = 0; return n ? f(&x, n - 1) : *p; }"
        "int main(void) { int y = 0; return f(&y, 3); }",
        ["f.x"],
        ["f.x"],
    ),
    "into a frame of the same function": (
        "void f(int n, int **out) { int x = n, *p = 0; if (n) { f(n - 1, &p); *p = 1; }"
        " if (out) *out = &x; } int main(void) { f(1, 0); return 0; }",
        ["f.x", "f.p"],
        ["f.x", "f.p"],
    ),
    "through a struct of the caller": (
        "struct s { int *p; }; void h(struct s *q) { int z = 1; q->p = &z; }"
        "int main(void) { struct s q; h(&q); return *q.p; }",
        ["h.z"],
        ["h.z"],
    ),
    "through a struct of its own": (
        "struct s { int *p; }; int h(struct s *q) { return *q->p; }"
        "int f(void) { struct s q; int x = 1; q.p = &x; return h(&q); } int main(void) { return f(); }",
        [],
        [],
    ),
    "from alloca": (
        "int *f(void) { return alloca(8); } int main(void) { return *f(); }",
        ["f@3"],
        ["f@3"],
    ),
    "a thread-local": (
        "_Thread_local int own; int *g; void *t(void *a) { g = &own; return 0; }"
        "int main(void) { pthread_t h; pthread_create(&h, 0, t, 0); return *g; }",
        ["own"],
        ["own"],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_lifetimes(name: str, tmp_path: Path) -> None:
    text, outliving, reused = CASES[name]
    path = tmp_path / "program.c"
    path.write_text(HEAD + text)
    found = Lifetimes(Sharing(PointsTo(load([str(path)], FrontEndOptions(), Specification()))))
    assert [repr(item) for item in found.outliving] == outliving
    assert [repr(item) for item in found.reused()] == reused
