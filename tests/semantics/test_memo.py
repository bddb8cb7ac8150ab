"""Steps that are taken again without executing them come to the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from plait.c import FrontEndOptions, load
from plait.model.properties import from_names
from plait.semantics.explore import ExploreOptions, Verdict, explore

PROGRAMS = {
    "what is read": """
        #include <pthread.h>
        int a, b;
        void *left(void *p) { a = 1; b = a; a = 2; return p; }
        int main(void) {
          pthread_t t;
          pthread_create(&t, NULL, left, NULL);
          int x = a, y = b;
          a = x + y;
          b = a;
        }
        """,
    "parts of an object": """
        #include <pthread.h>
        struct { char low, high; short rest; } both;
        void *left(void *p) { both.low = 1; both.rest = both.high; return p; }
        int main(void) {
          pthread_t t;
          pthread_create(&t, NULL, left, NULL);
          both.high = both.low + 2;
          both.rest = both.rest + 1;
        }
        """,
    "what has no value": """
        #include <pthread.h>
        #include <stdlib.h>
        _Bool *p, seen;
        int a, before = 7;
        void *left(void *q) { *p = 0; return q; }
        void *later(void *q) { a = 1; a = 2; a = 3; a = 4; a = 5; before = seen; return q; }
        int main(void) {
          pthread_t t;
          p = malloc(1);
          pthread_create(&t, NULL, left, NULL);
          pthread_create(&t, NULL, later, NULL);
          seen = *p;
        }
        """,
}
PROGRAMS |= {
    f"what has a value in some states ({sets})": f"""
        #include <pthread.h>
        #include <stdlib.h>
        extern _Bool __VERIFIER_nondet_bool(void);
        _Bool *p, seen, other;
        void *later(void *q) {{ seen = *p; other = 1; return q; }}
        int main(void) {{
          pthread_t t;
          p = malloc(1);
          _Bool sets = __VERIFIER_nondet_bool();
          if ({sets}) *p = 0;
          pthread_create(&t, NULL, later, NULL);
          other = 0;
        }}
        """
    for sets in ("sets", "!sets")
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_same_states(name: str, tmp_path: Path) -> None:
    path = tmp_path / "program.c"
    path.write_text(PROGRAMS[name])
    specification = from_names(["assertions"])
    program = load([str(path)], FrontEndOptions(), specification)
    results = [
        explore(program, specification, ExploreOptions(remembers=remembers, keep_states=True))
        for remembers in (True, False)
    ]
    assert [item.verdict for item in results] == [Verdict.TRUE, Verdict.TRUE]
    # Threads are of different machines, so that only memory can be compared.
    memories = [
        {(state.pages, state.contents, state.undefined) for state in item.reached}
        for item in results
    ]
    assert memories[0] == memories[1]
    assert results[0].states == results[1].states > 10
