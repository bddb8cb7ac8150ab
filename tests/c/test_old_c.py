"""C as it was before prototypes, and sources that were made for another machine: what the ABI does
where that is certain, and a place where it is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from plait.c import FrontEndOptions, load
from plait.errors import InputError
from plait.model.properties import Specification
from plait.model.types import DataModel
from plait.semantics.explore import ExploreOptions, explore
from tests.c.support import program

HEAD = "#include <assert.h>\n#include <pthread.h>\n"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("void *malloc(unsigned); int main() { int *p = malloc(4); *p = 1; return 0; }", "true"),
        (
            "int f(); int main() { assert(f(1) == 1); return 0; } int f(long a) { return a; }",
            "true",
        ),
        (
            "int f(); int main() { assert(f(1L << 40) == 0); return 0; } int f(int a) { return a; }",
            "true",
        ),
        ("short f(); int main() { assert(f() == 7); } short f() { return 7; }", "true"),
        ("x; f() { return x + 3; } main() { assert(f() == 3); return 0; }", "true"),
        ("worker() { return 0; } START", "true"),
        ("int x; int worker(p) int *p; { x = 1; return 0; } START", "true"),
        ("void worker(void) { } START", "true"),
        ("int seen; int worker(int n) { seen = n; return 0; } START assert(seen == 5);", "true"),
        ("int worker(void *p) { return 3; } JOIN assert((int)(long)r == 3);", "true"),
        ("double worker(double d) { return d; } START", "unknown"),
    ],
)
def test_calls(text: str, wanted: str, tmp_path: Path) -> None:
    create = "pthread_create(&t, 0, (void *(*)(void *))worker, (void *)5);"
    if "START" in text:
        body, _, check = text.partition("START")
        text = (
            f"{body} int main() {{ pthread_t t; {create} pthread_join(t, 0); {check} return 0; }}"
        )
    if "JOIN" in text:
        body, _, check = text.partition("JOIN")
        start = f"pthread_t t; void *r; {create} pthread_join(t, &r);"
        text = f"{body} int main() {{ {start} {check} return 0; }}"
    source = tmp_path / "main.c"
    source.write_text(HEAD + text)
    loaded = load([str(source)], FrontEndOptions(), Specification())
    found = explore(loaded, Specification(), ExploreOptions(max_seconds=20))
    verdict = found.verdict.value
    if found.reason.startswith("input 'result beyond"):  # not all values of it were tried
        verdict = "true"
    assert verdict == wanted, found.reason


@pytest.mark.parametrize(
    "text",
    [
        "int f(); int n; int main() {\n return f(n); } int f(long a) { return a; }",
        "int f(); unsigned n; int main() {\n return f(n); } int f(long a) { return a; }",
        "int f(); int main() {\n return f(1.0); } int f(int a) { return a; }",
    ],
)
def test_what_the_abi_leaves_open_has_a_place(text: str, tmp_path: Path) -> None:
    loaded = program(tmp_path, text)
    [stop] = loaded.unsupported
    assert stop.line == 2 and "argument 1 of 'f'" in stop.message


def test_a_source_that_was_preprocessed_for_32_bits(tmp_path: Path) -> None:
    source = tmp_path / "main.i"
    source.write_text(
        '# 1 "/usr/lib/stddef.h" 1 3 4\ntypedef unsigned int size_t;\n# 2 "main.c" 2\n'
        "int main(void) { return sizeof(size_t); }\n"
    )
    with pytest.raises(InputError, match="--data-model ILP32"):
        load([str(source)], FrontEndOptions(), Specification())
    load([str(source)], FrontEndOptions(data_model=DataModel.ILP32), Specification())


def test_a_narrow_size_of_the_program_is_noted(tmp_path: Path) -> None:
    loaded = program(tmp_path, "typedef unsigned int size_t; int main(void) { return 0; }")
    assert any("--data-model ILP32" in item for item in loaded.assumptions)
    loaded = program(tmp_path, "#include <stddef.h>\nint main(void) { return 0; }")
    assert not any("--data-model" in item for item in loaded.assumptions)


def test_a_variable_with_the_name_of_a_function(tmp_path: Path) -> None:
    text = "int free; double printf; int main(void) { free = 3; return free; }"
    assert not program(tmp_path, text).unsupported


def test_atomics_bring_integers_along(tmp_path: Path) -> None:
    text = "#include <stdatomic.h>\nuint32_t x; uintptr_t y; int main(void) { return x; }"
    assert not program(tmp_path, text).unsupported


@pytest.mark.parametrize(
    ("statement", "is_harmless"),
    [
        ('__asm__ volatile("mfence" ::: "memory");', True),
        ('__asm__ __volatile__("pause" : : : "memory", "cc");', True),
        ('__asm__ volatile("lock; addl $0,0(%%rsp)" ::: "memory");', True),
        ('int a; __asm__ volatile("pause" : "+r"(a));', False),
        ('__asm__ volatile("hlt" ::: "memory");', False),
    ],
)
def test_barriers_with_clobbers(statement: str, is_harmless: bool, tmp_path: Path) -> None:
    loaded = program(tmp_path, f"int main(void) {{ {statement} return 0; }}")
    assert (not loaded.unsupported) is is_harmless
