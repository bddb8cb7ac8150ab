"""What cannot be used or is not supported says so, with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from plait.c import FrontEndOptions, load
from plait.errors import InputError
from plait.model.properties import Specification
from plait.semantics.run import run
from tests.c.support import program, write


def failure(*paths: str, entry: str = "main") -> str:
    with pytest.raises(InputError) as caught:
        load(list(paths), FrontEndOptions(entry=entry), Specification())
    message = str(caught.value)
    assert len(message.splitlines()) <= 2
    return message


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    assert "No such file" in failure(str(tmp_path / "missing.c"))
    assert "is a directory" in failure(str(tmp_path))
    (tmp_path / "empty.c").write_text(" \n")
    assert "the file is empty" in failure(str(tmp_path / "empty.c"))
    (tmp_path / "binary.c").write_bytes(b"\x7fELF\0\0\1")
    assert "a binary file" in failure(str(tmp_path / "binary.c"))


def test_compiler_errors_have_place_and_source_line(tmp_path: Path) -> None:
    [path] = write(tmp_path, bad="int main(void) {\n  int x = ;\n}")
    assert failure(path) == f"{path}:2:11: error: expected expression\n  int x = ;"
    [path] = write(tmp_path, types="struct S { int a; } s;\nint main(void) { return s + 1; }")
    message = failure(path)
    assert f"{path}:2:" in message and "invalid operands" in message


def test_missing_entry(tmp_path: Path) -> None:
    [path] = write(tmp_path, fine="int main(void) { return 0; }")
    assert "no function 'start' is defined" in failure(path, entry="start")


def test_sources_need_not_be_utf8(tmp_path: Path) -> None:
    path = tmp_path / "latin.c"
    path.write_bytes(
        b'/* caf\xe9 */ int main(void) { char *s = "\xe9"; return (unsigned char)s[0]; }'
    )
    loaded = load([str(path)], FrontEndOptions(), Specification())
    assert run(loaded, Specification(), seed=1).status == 0xE9


UNSUPPORTED = {
    "inline assembly": 'int x; asm volatile("mov $1, %0" : "=r"(x));',
    "an output operand": 'int x = 1; asm("" : "=r"(x));',
    "fork": "fork();",
    "a pointer to a cancellation point": "int (*p)(int) = close; pthread_cancel(pthread_self()); p(1);",
}


@pytest.mark.parametrize("code", UNSUPPORTED.values(), ids=UNSUPPORTED.keys())
def test_unsupported_code_is_diagnosed_when_and_only_when_reachable(
    tmp_path: Path, code: str
) -> None:
    head = "#include <setjmp.h>\n#include <unistd.h>\n#include <pthread.h>\n"
    used = program(
        tmp_path, f"{head}void f(void) {{\n  {code} }}\nint main(void) {{ f(); return 0; }}"
    )
    assert len(used.unsupported) == 1
    diagnostic = used.unsupported[0]
    assert diagnostic.line == 5
    assert "not supported" in diagnostic.message
    assert code.split(";")[0] in diagnostic.source_line
    assert run(used, Specification(), seed=1).ending == "unsupported"

    unused = program(
        tmp_path, f"{head}void f(void) {{\n  {code} }}\nint main(void) {{ return 0; }}"
    )
    assert unused.unsupported == []
    dead = program(
        tmp_path, f"{head}void f(void) {{\n  {code} }}\nint main(void) {{ if (0) f(); return 0; }}"
    )
    assert dead.unsupported == []


def test_harmless_assembly_is_a_fence(tmp_path: Path) -> None:
    text = 'int main(void) { int x = 3; __asm__ __volatile__("" ::: "memory"); asm("pause"); asm("" : "+r"(x)); return x; }'
    loaded = program(tmp_path, text)
    assert loaded.unsupported == []
    assert run(loaded, Specification(), seed=1).status == 3


def test_unsupported_code_that_is_not_executed_harms_nobody(tmp_path: Path) -> None:
    text = """struct S { int x, y; };
    int main(int argc, char **argv) { int n = 0; for (int j = 0; j < 3; j++) { struct S s; s.x = j;
    if (argc == 5) { int r = ({ struct S q; q.x = 4; (int)(q.x + (long double)1); }); }
    if (argc == 6) for (int i = 0; i < (long double)argc; i++) { struct S q; q.y = 1; break; }
    { struct S t = s; t.x++; if (j == 1) continue; n += t.x; } } return n; }"""
    loaded = program(tmp_path, text)
    assert [item.line for item in loaded.unsupported] == [3, 4]
    assert all("long double" in item.message for item in loaded.unsupported)
    assert run(loaded, Specification(), seed=1).status == 4


@pytest.mark.parametrize(
    "text",
    [
        "__attribute__((destructor)) void f(void) {} int main(void) { return 0; }",
        "__attribute__((constructor)) void f(int n, char **v) {} int main(void) { return 0; }",
        "void f(int *p) {} int main(void) { __attribute__((cleanup(f))) int x = 1; return x; }",
        'int g(void) { return 1; } int f(void) __attribute__((alias("g"))); int main(void) { return f(); }',
        'int v; extern int w __attribute__((alias("v"))); int main(void) { return w; }',
        'int x; int main(void) { asm volatile("\\n\\t" "incl %0" : "+m"(x)); return x; }',
        '#define INC(x, why) asm volatile("incl %0" : "+m"(x))\nint main(void) { int x = 0; INC(x, ""); return x; }',
        "struct S { int a, b; }; _Atomic struct S s; int main(void) { struct S t = {1, 2}; s = t; return 0; }",
    ],
)
def test_never_skipped_silently(text: str, tmp_path: Path) -> None:
    assert len(program(tmp_path, text).unsupported) == 1


UNDEFINED = {
    "float that does not fit": "double d = 3e9; int x = d; return x;",
    "float that does not fit unsigned": "float f = -1.5f; unsigned x = f; return x;",
    "nan": "double z = 0; int x = z / z; return x;",
    "atomic division": "_Atomic int a = 1; int z = 0; a /= z; return a;",
    "atomic shift": "_Atomic int a = 1; int z = 40; a <<= z; return a;",
    "division": "int z = 0; return 5 % z;",
    "quotient": "int m = -2147483647 - 1, z = -1; return m / z;",
    "shift": "int z = -1; return 5 << z;",
}


@pytest.mark.parametrize("body", UNDEFINED.values(), ids=UNDEFINED.keys())
def test_undefined_arithmetic_has_no_verdict(body: str, tmp_path: Path) -> None:
    loaded = program(tmp_path, f"int main(void) {{ {body} }}")
    assert run(loaded, Specification(), seed=1).ending == "undefined behaviour"


def test_long_programs_and_deep_expressions(tmp_path: Path) -> None:
    total = "+".join(["x"] * 3000)
    both = "&&".join(["x"] * 2000)
    chain = "".join(f"if (x == {n}) y = {n}; else " for n in range(8000))
    cases = "".join(f"case {n}: y += {n % 7}; break;" for n in range(3000))
    table = ",".join(f"{{{n}, {{{n}, &g}}}}" for n in range(3000))
    text = f"""int g; struct T {{ int n; struct {{ int m; int *p; }} s; }} table[] = {{ {table} }};
    int main(void) {{ int x = 1, y = 0; y = {total}; if ({both}) y++; {chain} y = 5;
    switch (y) {{ {cases} default: y = 0; }} return y + table[2999].s.m % 256; }}"""
    loaded = program(tmp_path, text)
    assert loaded.unsupported == []
    assert run(loaded, Specification(), seed=1).status == (1 + 1) + 2999 % 256


NO_VERDICT = {
    "an initialiser that cannot be evaluated": "struct { int a; long double l; int b; } s = {1, 2.0L, 3}; int main(void) { return s.b; }",
    "a vector": "typedef int v4 __attribute__((vector_size(16))); struct { v4 v; int k; } s = {{1, 2, 3, 4}, 7}; int main(void) { return s.k; }",
    "a 128-bit constant": "static __int128 g = (__int128)(1e20 * 10); int main(void) { return (int)(g >> 64); }",
    "the right side of &&": "int c; double x; int bad(void) { return 1 / c; } int main(void) { int r = c && (bad() && x > 1.0L); return r; }",
    "one side of ?:": "int c; double x; int bad(void) { return 1 / c; } int main(void) { int r = c ? bad() + (x > 1.0L) : 3; return r; }",
    "a callback in a struct": "struct ops { int n; void (*call)(void); }; void other(struct ops *);"
    " void f(void) {} int main(void) { struct ops o = {1, f}; other(&o); return 0; }",
    "a callback in a struct by value": "struct ops { void (*call[2])(void); }; void other(struct ops);"
    " int main(void) { struct ops o = {0}; other(o); return 0; }",
    "arithmetic on a member of an atomic struct": "struct s { int a; }; _Atomic struct s v;"
    " int main(void) { v.a += 1; return 0; }",
    "a callback": "void other(void (*f)(void)); void f(void) {} int main(void) { other(f); return 0; }",
}


@pytest.mark.parametrize("text", NO_VERDICT.values(), ids=NO_VERDICT.keys())
def test_no_execution_gets_past_what_is_not_supported(text: str, tmp_path: Path) -> None:
    loaded = program(tmp_path, text)
    assert loaded.unsupported
    assert run(loaded, Specification(), seed=1).ending == "unsupported"


def test_compare_and_exchange_of_floating_values_is_unsupported(tmp_path: Path) -> None:
    """It compares bytes, not values: 0.0 and -0.0 differ."""
    text = (
        "#include <stdatomic.h>\nint main(void) { _Atomic float a = -0.0f; float e = 0.0f;"
        " return atomic_compare_exchange_strong(&a, &e, 1.0f); }"
    )
    [diagnostic] = program(tmp_path, text).unsupported
    assert "compare-and-exchange of floating-point values" in diagnostic.message
