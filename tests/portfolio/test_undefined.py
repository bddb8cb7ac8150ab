"""Undefined behaviour as a finding: a violation where it is asked for, shown beside it otherwise."""

from __future__ import annotations

from pathlib import Path

import pytest

import plait
from plait.api import Result
from plait.errors import InputError

THREADS = "#include <assert.h>\n#include <pthread.h>\n#include <stdlib.h>\n"
NULL = """
int x, *g = &x;
void *clear(void *a) { g = 0; return 0; }
int main(void) {
  pthread_t h;
  pthread_create(&h, 0, clear, 0);
  *g = 1;
  pthread_join(h, 0);
  assert(x <= 1);
}
"""
DIVISION = """
extern int __VERIFIER_nondet_int(void);
int main(void) { int n = __VERIFIER_nondet_int(); return 10 / (n + 3); }
"""
UNLOCK = """
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int main(void) { pthread_mutex_unlock(&m); }
"""
DOUBLE_FREE = "int main(void) { int *p = malloc(4); free(p); free(p); }"
ASSERTION = "int main(void) { int x = 1; assert(x == 2); }"
DANGLING = """
int *g;
void f(void) { int x = 1; g = &x; }
void h(void) { int y = 2; g = y ? g : &y; }
int main(void) { f(); h(); *g = 3; }
"""
LEAK = "int main(void) { malloc(4); return 0; }"
OVERFLOW = """
extern int __VERIFIER_nondet_int(void);
int main(void) { int n = __VERIFIER_nondet_int(); return n + 1 > 0; }
"""
ENGINES = ("orders", "impact")


def verified(text: str, folder: Path, **options: object) -> Result:
    path = folder / "program.c"
    path.write_text(THREADS + text)
    chosen: dict[str, object] = {"cache": False, "timeout": 60.0} | options
    return plait.verify(str(path), **chosen)  # type: ignore[arg-type]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("text", "violated"),
    [
        (NULL, "valid-deref"),
        (DIVISION, "no-undefined"),
        (UNLOCK, "lock-misuse"),
        (DOUBLE_FREE, "valid-free"),
        (ASSERTION, "assertions"),
    ],
)
def test_what_is_wrong_in_any_program_needs_no_asking(
    text: str, violated: str, engine: str, tmp_path: Path
) -> None:
    result = verified(text, tmp_path, engine=engine)
    assert (result.verdict, result.violated) == ("false", violated), result.reason
    assert result.trace and result.violation is not None
    answers = {item.property: item.answer for item in result.answers}
    assert sorted(answers.values()).count("violated") == 1
    assert not result.findings


@pytest.mark.parametrize("text", [LEAK, OVERFLOW])
def test_the_rest_is_looked_for_on_request(text: str, tmp_path: Path) -> None:
    assert verified(text, tmp_path).verdict == "true"
    assert verified(text, tmp_path, property=("all",)).verdict == "false"


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("text", "kind"), [(NULL, "valid-deref"), (DIVISION, "no-undefined")])
def test_a_property_that_is_named_stays_alone(
    text: str, kind: str, engine: str, tmp_path: Path
) -> None:
    result = verified(text, tmp_path, engine=engine, property=("assertions",))
    assert result.verdict == "unknown" and result.properties == ["assertions"]
    [finding] = result.findings
    assert finding.violation.property == kind and finding.trace
    assert any("beside what was asked for" in item for item in result.words)
    assert kind in result.to_sarif() and finding.violation.message in result.to_html()


def test_the_last_use_of_a_local_counts_in_a_default_run(tmp_path: Path) -> None:
    """The memory of f's x is that of h's y, so that engines which use it again see nothing."""
    result = verified(DANGLING, tmp_path)
    assert (result.verdict, result.violated) == ("false", "valid-deref"), result.reason
    impact = verified(DANGLING, tmp_path, engine="impact")
    assert impact.verdict == "unknown" and "may outlive" in impact.reason


def test_an_assumption_is_listed_only_where_it_can_be_broken(tmp_path: Path) -> None:
    harmless = "int f(int *p) { return *p; } int main(void) { int x = 1; assert(f(&x)); }"
    for text, is_listed in ((harmless, False), (DANGLING, True)):
        result = verified(text, tmp_path, property=("assertions",))
        listed = [item for item in result.assumptions if "pointer to a local" in item]
        assert bool(listed) == is_listed
    assert not any(
        "pointer to a local" in item for item in verified(DANGLING, tmp_path).assumptions
    )


def test_what_lies_behind_the_examined_arguments_is_no_violation(tmp_path: Path) -> None:
    text = "int main(int c, char **v) { int n = 0; if (c > 1) while (v[1][n]) n++; return n; }"
    result = verified(text, tmp_path, timeout=3.0)  # an engine may unroll for as long as it is let
    assert result.verdict == "unknown", result.reason
    assert not result.findings


def test_assume_defined(tmp_path: Path) -> None:
    """What is undefined does not happen; what the environment hands out is valid or null."""
    text = (
        "struct dev { int id; }; struct dev *get(void); int other(void);"
        "int main(void) { struct dev *d = get(); d->id = 3; assert(d->id %s 3);"
        " return 1 / other(); }"
    )
    result = verified(text % "==", tmp_path, assume_defined=True)
    assert (result.verdict, result.properties) == ("true", ["assertions", "lock-misuse"])
    assert "if no execution does anything undefined" in result.words[0]
    assert any("--assume-defined" in item for item in result.assumptions)
    result = verified(text % "!=", tmp_path, assume_defined=True)
    assert (result.verdict, result.violated) == ("false", "assertions")
    assert verified(text % "==", tmp_path, property=("assertions",)).verdict == "unknown"
    with pytest.raises(InputError, match="leaves nothing to check of valid-access"):
        verified(text % "==", tmp_path, property=("valid-access",), assume_defined=True)


def test_assume_defined_leaves_out_no_access_that_is_valid(tmp_path: Path) -> None:
    """A product that overflows is an index of which the steps of the factor say nothing."""
    text = (
        "extern unsigned __VERIFIER_nondet_uint(void); unsigned char a[10];"
        "int main(void) { unsigned j = __VERIFIER_nondet_uint() * 3u;"
        " if (j < 10) a[j] = 1; assert(a[1] == 0); }"
    )
    result = verified(text, tmp_path, assume_defined=True, engine="orders")
    assert result.verdict in ("unknown", "false"), result.reason
    behind = (
        "extern unsigned __VERIFIER_nondet_uint(void); unsigned char a[10];"
        "int main(void) { unsigned j = __VERIFIER_nondet_uint() % 20; a[j] = 1; assert(j < 10); }"
    )
    result = verified(behind, tmp_path, assume_defined=True, engine="orders")
    assert result.verdict == "true", result.reason


def test_the_environment_may_return_null(tmp_path: Path) -> None:
    text = "int *get(void); int main(void) { int *p = get(); assert(p); }"
    assert verified(text, tmp_path, assume_defined=True).verdict == "false"


def test_that_library_calls_succeed_is_an_assumption(tmp_path: Path) -> None:
    listed = [item for item in verified(NULL, tmp_path).assumptions if "lack of resources" in item]
    assert listed == ["no call fails for lack of resources: pthread_create"]
    listed = [item for item in verified(DIVISION, tmp_path).assumptions if "resources" in item]
    assert not listed


@pytest.mark.parametrize(
    "text",
    [
        "int main(void) { int *p = malloc(4); if (p) *p = 1; assert(p); free(p); }",
        "int main(void) { int *p = calloc(1, 4); assert(p); }",
        "int main(void) { int *p = realloc(0, 4); assert(p); }",
        "void *f(void *a) { return a; }"
        "int main(void) { pthread_t t; assert(pthread_create(&t, 0, f, 0) == 0); }",
    ],
)
def test_library_calls_fail_on_request(text: str, tmp_path: Path) -> None:
    assert verified(text, tmp_path).verdict == "true"
    result = verified(text, tmp_path, failing_calls=True)
    assert (result.verdict, result.violated) == ("false", "assertions")
    assert not any("never fails" in item or "resources" in item for item in result.assumptions)


@pytest.mark.parametrize("engine", ["modular", *ENGINES])
def test_that_no_thread_starts_with_these_arguments_is_said(engine: str, tmp_path: Path) -> None:
    text = """int x;
void *f(void *a) { assert(0); return a; }
int main(int argc, char **argv) {
  pthread_t t;
  if (argc < 2) return 1;
  pthread_create(&t, 0, f, 0);
}
"""
    result = verified(text, tmp_path, engine=engine, args="")
    assert result.verdict == "true"
    assert "with which no thread is started" in result.words[0]
    assert verified(text, tmp_path, args="x").verdict == "false"


def test_a_lock_by_a_pointer_never_fails_either(tmp_path: Path) -> None:
    text = """
    #include <pthread.h>
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    int (*lock)(pthread_mutex_t *) = pthread_mutex_lock;
    int main(void) { lock(&m); pthread_mutex_unlock(&m); }
    """
    found = verified(text, tmp_path).assumptions
    assert "no call fails for lack of resources: pthread_mutex_lock" in found
