"""Functions that nothing defines and that get the address of a function as something else."""

from __future__ import annotations

from pathlib import Path

import pytest

from plait.model.actions import Unsupported
from plait.model.properties import Specification
from plait.semantics.explore import ExploreOptions, explore
from tests.c.support import program

HEAD = "#include <assert.h>\n#include <stdlib.h>\nvoid give(void *p); void *take(void); int x;\n"
HANDLER = "void handler(void) { x = 1; }\n"


@pytest.mark.parametrize(
    "text",
    [
        "int main(void) {\n void *p = handler; give(p); assert(x == 0); }",
        "void *p; int main(void) {\n p = (void *)handler; give(p); assert(x == 0); }",
        "void *ps[2] = {0, handler}; int main(void) {\n give(ps[1]); assert(x == 0); }",
        "void *mine(void) { return (void *)handler; } int main(void) {\n give(mine()); }",
        "int main(void) {\n long n = (long)handler; give((void *)n); }",
        "struct s { void *p; } *s; int main(void) {\n"
        " s = malloc(sizeof *s); s->p = handler; give(s->p); }",
        "int main(int argc, char **argv) {\n give(argc > 1 ? (void *)handler : 0); }",
    ],
)
def test_there_is_no_verdict(text: str, tmp_path: Path) -> None:
    loaded = program(tmp_path, HEAD + HANDLER + text)
    found = explore(loaded, Specification(), ExploreOptions(max_seconds=20))
    assert found.verdict.value == "unknown"
    assert "a callback for 'give', which is not defined" in found.reason
    assert "main.c:6:" in found.reason


@pytest.mark.parametrize(
    "text",
    [
        "int main(void) { int a; void *p = &a; give(p); assert(x == 0); }",
        "int main(void) { void *p = malloc(4); give(p); free(p); assert(x == 0); }",
        "int main(void) { void *p = 0; give(p); assert(x == 0); }",
        "int main(void) { long n = -1; give((void *)n); assert(x == 0); }",
        "int main(void) { void *f = handler, *p = malloc(4); give(p); free(p); assert(f); }",
    ],
)
def test_objects_are_no_functions(text: str, tmp_path: Path) -> None:
    loaded = program(tmp_path, HEAD + HANDLER + text)
    found = explore(loaded, Specification(), ExploreOptions(max_seconds=20))
    assert found.verdict.value == "true", found.reason


def test_where_no_function_becomes_data_nothing_is_asked(tmp_path: Path) -> None:
    text = "int main(void) { void *p = take(); give(p); assert(x == 0); handler(); }"
    loaded = program(tmp_path, HEAD + HANDLER + text)
    actions = [edge.action for edge in loaded.functions["main"].all_edges()]
    assert not any(isinstance(action, Unsupported) for action in actions)
