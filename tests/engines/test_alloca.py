"""Memory from alloca where accesses are checked: its end is not looked at, but what is before it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.engines.asking import outcome_of

from plait.engines.interface import Answer

HEAD = """#include <alloca.h>
#include <assert.h>
char *kept;
static void keep(int n) { char *p = alloca(n); p[0] = 1; kept = p; }
static void use(int n) { char *p = alloca(n); p[0] = 1; }
"""


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("use(2); keep(2); assert(argc < 3);", Answer.VIOLATED),
        ("keep(2); return kept[0];", Answer.UNKNOWN),  # dangling: no proof, and not found
        ("keep(2);", Answer.UNKNOWN),
        ("use(2);", Answer.HOLDS),  # nothing leads to it when its function is over
    ],
)
def test_violations_are_found_proofs_are_not(body: str, expected: Answer, tmp_path: Path) -> None:
    text = f"{HEAD}int main(int argc, char **argv) {{ {body} return 0; }}"
    outcome = outcome_of("orders", text, tmp_path, "assertions,valid-access")
    assert outcome.answer is expected, outcome.reason
