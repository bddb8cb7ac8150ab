"""Functions that are called without a declaration, as old C has it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from plait.analysis.narrowed_addresses import stop_at_narrowed_addresses
from plait.c import FrontEndOptions, load
from plait.errors import InputError
from plait.model.properties import Specification
from plait.semantics.explore import ExploreOptions, explore
from tests.c.support import program, write

GCC = shutil.which("gcc")
LATER = {
    "void later(void) { x = 1; }": "later(); CHECK(x == 1)",
    "void later(int a) { x = a; }": "later(7); CHECK(x == 7)",
    "void later(unsigned char a, long *p) { x = a; }": "later(300, 0); CHECK(x == 44)",
    "void later(const char *f, ...) { x = f[0]; }": 'later("a %d", 3, 4.5); CHECK(x == 97)',
    "void later(struct node *n) { x = n->v; }": "struct node n = {5}; later(&n); CHECK(x == 5)",
    "void later(node_t *n) { x = n->v; }": "struct node n = {5}; later(&n); CHECK(x == 5)",
    "void later(a) int a; { x = a; }": "later(7); CHECK(x == 7)",
    "int later(int a) { return a + 1; }": "CHECK(later(3) == 4)",
    "void later(double a) { x = a; }": "later(2.5); CHECK(x == 2)",
}
BEFORE = "int x; struct node { int v; }; typedef struct node node_t;\n"


@pytest.mark.parametrize("definition", LATER)
@pytest.mark.parametrize("std", ["gnu17", "gnu89"])
def test_what_is_defined_later(definition: str, std: str, tmp_path: Path) -> None:
    body = LATER[definition].replace("CHECK", "if (0 == ") + ") return 1; return 0;"
    text = f"{BEFORE}int main() {{\n {body} }}\n{definition}\n"
    loaded = program(tmp_path, text.replace("return 1", "assert(0)"), options=options(std))
    found = explore(loaded, Specification(), ExploreOptions(max_seconds=20))
    assert found.verdict.value == "true", found.reason
    assert any(f"later ({tmp_path}/main.c:3:" in item for item in loaded.assumptions)
    if GCC is not None and std == "gnu17":
        command = [GCC, "-w", "-std=gnu11", "-o", str(tmp_path / "native"), "-x", "c", "-"]
        subprocess.run(command, input=text.encode(), check=True)
        assert subprocess.run([str(tmp_path / "native")], check=False).returncode == 0


def options(std: str = "gnu17") -> FrontEndOptions:
    return FrontEndOptions(std=std)


@pytest.mark.parametrize(
    "definition",
    [
        "long later(int a) { return a; }",
        "char *later(int a) { return 0; }",
        "void later(float a) { }",
        "void later(char c, float a) { }",
        "void later(int a) { } void later(long a) { }",
    ],
)
def test_what_no_compiler_takes_or_the_abi_does_not_say(definition: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="conflicting types for 'later'") as refused:
        program(tmp_path, f"int main() {{\n later(1, 2.0); return 0; }}\n{definition}\n")
    assert "main.c:3:" in str(refused.value)


def test_functions_of_the_library(tmp_path: Path) -> None:
    text = (
        "int x; void *run(void *a) { x = 1; return a; }"
        "int main() { unsigned long t; pthread_create(&t, 0, run, 0); pthread_join(t, 0);"
        " char *p = malloc(4); strcpy(p, \"abc\"); assert(x == 1 && strlen(p) == 3); usleep(5);"
        " free(p); exit(0); }"
    )  # fmt: skip
    loaded = program(tmp_path, text)
    assert not loaded.unsupported
    found = explore(loaded, Specification(), ExploreOptions(max_seconds=20))
    assert found.verdict.value == "true", found.reason
    [noted] = [item for item in loaded.assumptions if "without a declaration" in item]
    assert "pthread_create (" in noted and "main.c:1:" in noted


def test_what_another_file_defines(tmp_path: Path) -> None:
    files = write(
        tmp_path,
        a="int main() { assert(twice(4) == 8); return 0; }",
        b="int twice(int a) { return 2 * a; }",
    )
    found = explore(load(files, options(), Specification()), Specification(), ExploreOptions())
    assert found.verdict.value == "true", found.reason


def test_an_address_that_is_returned_as_an_int_is_lost(tmp_path: Path) -> None:
    files = write(
        tmp_path,
        a="int main() { int *p = place(); assert(p == 0); return 0; }",
        b="int x; int *place(void) { return &x; }",
    )
    loaded = load(files, options(), Specification())
    stop_at_narrowed_addresses(loaded)
    found = explore(loaded, Specification(), ExploreOptions())
    assert found.verdict.value == "unknown"
    assert "a.c:1:" in found.reason


def test_what_nothing_defines_gives_any_int(tmp_path: Path) -> None:
    text = "int main() { int k = nobody(3); assert(k != 5); return 0; }"
    loaded = program(tmp_path, text)
    assert any("'nobody' is not defined" in item for item in loaded.assumptions)
    found = explore(loaded, Specification(), ExploreOptions(inputs=(0, 9)))
    assert found.verdict.value == "false"


def test_a_declared_function_is_not_mentioned(tmp_path: Path) -> None:
    loaded = program(tmp_path, "int f(); int main() { return f(); } int f() { return 0; }")
    assert not any("without a declaration" in item for item in loaded.assumptions)
