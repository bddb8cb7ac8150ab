"""Counterexamples that may come to nothing, and what a mistake of plait means for an answer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.engines.toy import answer as toy_answer
from tests.engines.toy.description import TOY

import plait
from plait.data import replace
from plait.engines import registry
from plait.engines.interface import Answer, Listener, Outcome, Question

SOME_ROUNDS = """#include <pthread.h>
extern int __VERIFIER_nondet_int(void);
int x, n; pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
void *f(void *p) {
  for (int i = 0; i < n; i++) { pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m); }
  return 0;
}
int main(void) {
  n = __VERIFIER_nondet_int(); if (n < 0 || n > 3) n = 0;
  pthread_t t; pthread_create(&t, 0, f, 0); pthread_join(t, 0); return 0;
}
"""
STILL_THERE = """#include <pthread.h>
#include <stdlib.h>
int *p;
void *f(void *a) { p = malloc(4); return 0; }
int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_join(t, 0); return 0; }
"""


@pytest.fixture
def _toy() -> Iterator[None]:
    with registry.registered(TOY):
        yield


def _verify(folder: Path, text: str, engine: str, properties: str) -> plait.Result:
    path = folder / "program.c"
    path.write_text(text)
    return plait.verify(path, engine=engine, property=properties, cache=False, timeout=120)


def test_a_wait_that_ends_beyond_the_bound_is_no_mistake(tmp_path: Path) -> None:
    """With a small bound the thread that is waited for seems never to end."""
    found = _verify(tmp_path, SOME_ROUNDS, "orders", "no-deadlock")
    assert (found.verdict, found.failure) == ("true", None)


def test_memory_that_may_not_be_lost_is_no_mistake(tmp_path: Path) -> None:
    found = _verify(tmp_path, STILL_THERE, "orders", "valid-memsafety")
    assert found.verdict == "unknown"
    assert found.reason == "whether memory that is not freed is lost is not decided"
    assert found.failure is None


@pytest.mark.usefixtures("_toy")
def test_a_proof_after_a_mistake_has_no_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def doubtful(question: Question, listener: Listener) -> Outcome:
        listener.confirm(replace(toy_answer._the_initial_thread_fails(), excuse=lambda: ""))
        return Outcome(Answer.HOLDS, "surely", bound=4)

    monkeypatch.setattr(toy_answer, "answer", doubtful)
    found = _verify(tmp_path, "int main(void) { return 0; }", "toy", "assertions")
    assert found.verdict == "unknown"
    assert "does not replay" in found.reason
    assert found.bound is None


@pytest.mark.usefixtures("_toy")
def test_a_mistake_is_not_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another counterexample has an excuse, but the first one has none."""

    def doubtful(question: Question, listener: Listener) -> Outcome:
        guess = toy_answer._the_initial_thread_fails()
        listener.confirm(replace(guess, excuse=lambda: ""))
        listener.confirm(guess)
        return Outcome(Answer.HOLDS, "surely")

    monkeypatch.setattr(toy_answer, "answer", doubtful)
    found = _verify(tmp_path, "int main(void) { return 0; }", "toy", "assertions")
    assert (found.verdict, found.failure is None) == ("unknown", False)
    assert "does not replay" in found.reason


_GUARDED = """#include <assert.h>
#include <pthread.h>
int x; pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
void *run(void *u) {
  pthread_mutex_lock(&m); x = 1 - x; assert(x >= 0); pthread_mutex_unlock(&m); return 0;
}
int main(void) { pthread_t t; while (1) pthread_create(&t, 0, run, 0); }
"""


def test_a_proof_that_the_checker_rejects_counts_for_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An engine that believes that nothing is left to exclude."""
    engine = "plait.engines.context.engine"
    monkeypatch.setattr(f"{engine}.not_excluded", lambda *_: ())
    monkeypatch.setattr(f"{engine}.needed_facts", lambda _, known, *rest, **more: known.facts)
    found = _verify(tmp_path, _GUARDED.replace("x >= 0", "x > 0"), "context", "assertions")
    assert found.verdict == "unknown"
    assert found.reason.startswith("a proof was found, but the checker rejects it: ")


def test_a_proof_that_cannot_be_checked_counts_for_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("plait.engines.context.certificate.write", lambda *_: None)
    found = _verify(tmp_path, _GUARDED, "context", "assertions")
    assert found.verdict == "unknown"
    assert found.reason == "a proof was found that no certificate can state"


def test_a_proof_that_is_checked_has_a_certificate_only_on_request(tmp_path: Path) -> None:
    found = _verify(tmp_path, _GUARDED, "context", "assertions")
    assert (found.verdict, found.certificate) == ("true", None)
