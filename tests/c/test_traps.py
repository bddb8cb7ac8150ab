"""What libclang's interface does not say plainly, each met on real files."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from plait.c import FrontEndOptions, load
from plait.model.properties import Specification
from plait.model.types import DataModel
from plait.semantics.run import run
from tests.c.support import execute

RUNS: dict[str, tuple[str, int]] = {
    "absent parts of for": (
        """#define EVER ;;
        #define PARTS(a, b, c) a; b; c
        int main(void) { int n = 0; for (EVER) { if (++n == 3) break; }
        for (PARTS(, n < 10, n++)); for (n++; n < 20;) n += 2; for (;; n++) if (n > 30) break;
        for (int i = 0;; i++) { if (i == 4) { n += i; break; } } for (; ; ) { n++; break; } return n; }""",
        36,
    ),
    "for inside strings and statement expressions": (
        """int main(void) { const char *s = "for (;;)"; int n = 0;
        for (; n < ({ int k = 0; for (;;) { if (++k > 5) break; } k; ); ) n++; return n + s[0]; }""".replace(
            "k; );", "k; });"
        ),
        6 + ord("f"),
    ),
    "nand of a truth value": (
        """_Bool b = 1; int main(void) { __sync_fetch_and_nand(&b, 1);
        return *(unsigned char *)&b; }""",
        1,
    ),
    "gnu conditional": (
        "int f(void) { static int c; return c++; } int main(void) { return (f() ?: 40) + (f() ?: 7); }",
        41,
    ),
    "offsetof and types_compatible": (
        """struct S { char a; int b[3]; }; int main(void) {
        return __builtin_offsetof(struct S, b[2]) * 10 + __builtin_types_compatible_p(int, const int); }""",
        121,
    ),
    "choose_expr": (
        'int main(void) { return __builtin_choose_expr(sizeof(int) == 4, 5, "no"); }',
        5,
    ),
    "generic by constant": (
        "int main(void) { short s = 0; return _Generic(s, int: 1, short: 2, default: 3) * 10 + _Generic(&s, int *: 1, default: 4); }",
        24,
    ),
    "generic by typedef": (
        "typedef unsigned long word; int main(void) { return _Generic(sizeof(int), word: 6, int: 7); }",
        6,
    ),
    "range and nested designators": (
        """int a[2][3] = {[0 ... 1] = {[1 ... 2] = 2}}; int b[2][3] = {[1][2] = 5};
        int main(void) { return a[0][1] + a[1][2] * 10 + a[0][0] * 100 + b[1][2]; }""",
        27,
    ),
    "compound assignment computes in the common type": (
        "int main(void) { unsigned char c = 200; c += 100; short s = 7; s *= 1.5; int i = -1; i /= 2u; return c + s * 10 + (i == 0x7fffffff); }",
        44 + 100 + 1,
    ),
    "old declarations": ("f(a, b) char b; { return a + b; } main() { return f(1, 'a'); }", 98),
    "variable named unix": (
        "int main(void) { int unix = 3, linux = 4, i386 = 5; return unix + linux + i386; }",
        12,
    ),
    "left to right": (
        """int main(void) { int a = 1; int b = a + (a = 5) + a; int c[3] = {0, 0, 0}; int i = 0;
        c[i] = (i = 2); return b * 10 + c[0]; }""",
        112,
    ),
    "goto into and out of blocks": (
        """int main(void) { int n = 0; goto in; { int x; int *p; in: p = &x; *p = n++; if (n < 3) goto in; }
        return n; }""",
        3,
    ),
    "label address table": (
        """int main(void) { static const void *const t[] = {&&a, &&b}; int n = 0, i = 1; goto *t[i];
        a: n += 1; i = 5; b: n += 10; if (i < 5) goto *t[0]; return n; }""",
        21,
    ),
}


@pytest.mark.parametrize(("text", "expected"), RUNS.values(), ids=RUNS.keys())
def test_run_gives_the_status(text: str, expected: int, tmp_path: Path) -> None:
    execution = execute(tmp_path, text)
    assert (execution.ending, execution.status) == ("exit", expected)


@pytest.mark.parametrize("model", DataModel)
def test_sizes_follow_the_data_model(model: DataModel, tmp_path: Path) -> None:
    text = """struct S { char c; long long l; char *p; };
    int main(void) { return sizeof(long) + sizeof(void *) * 10 + (sizeof(struct S) == %d) * 100; }"""
    big = 24 if model is DataModel.LP64 else 16
    options = FrontEndOptions(data_model=model)
    execution = execute(tmp_path, text % big, options)
    assert execution.status == (188 if model is DataModel.LP64 else 144)


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is missing: no .i to read")
def test_preprocessed_by_gcc_with_its_own_stdatomic(tmp_path: Path) -> None:
    source = tmp_path / "a.c"
    source.write_text(
        """#include <stdatomic.h>
        #include <stdlib.h>
        #include <math.h>
        atomic_int n; atomic_flag f = ATOMIC_FLAG_INIT;
        int main(void) { atomic_store(&n, 4); while (atomic_flag_test_and_set(&f)); int e = 4;
        return atomic_compare_exchange_strong(&n, &e, 9) + atomic_load(&n) + atomic_fetch_add(&n, 1); }"""
    )
    preprocessed = tmp_path / "a.i"
    subprocess.run(["gcc", "-E", str(source), "-o", str(preprocessed)], check=True)
    program = load([str(preprocessed)], FrontEndOptions(), Specification())
    assert program.unsupported == []
    assert run(program, Specification(), seed=1).status == 19
