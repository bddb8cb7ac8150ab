"""Handlers of signals that a thread sends to itself."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from plait.c import FrontEndOptions
from plait.model.properties import Specification
from plait.semantics.explore import ExploreOptions, explore
from plait.semantics.run import run
from tests.c.support import program

GCC = shutil.which("gcc")
HEAD = """#include <assert.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
volatile int seen, is_blocked;
pthread_t by;
sigjmp_buf back;
int blocked(int n) {
  sigset_t now;
  sigprocmask(SIG_BLOCK, NULL, &now);
  return sigismember(&now, n);
}
void count(int n) { seen += n; is_blocked = blocked(n) + 2 * blocked(2); by = pthread_self(); }
void jump(int n) { siglongjmp(back, n); }
void again(int n) { raise(n); }
void *raising(void *p) { raise(10); return 0; }
"""
ACTION = "struct sigaction a; memset(&a, 0, sizeof a); a.sa_handler = count; "


def answer(tmp_path: Path, body: str) -> tuple[str, str]:
    loaded = program(tmp_path, f"{HEAD}int main(void) {{\n{body}\nreturn 0; }}")
    found = explore(loaded, Specification(), ExploreOptions(max_seconds=20, inputs=(0, 9)))
    return found.verdict.value, found.reason


@pytest.mark.parametrize(
    ("body", "holds"),
    [
        ("signal(10, count); int r = raise(10);", "r == 0 && seen == 10 && is_blocked == 1"),
        ("signal(10, count); raise(10); raise(10);", "seen == 20 && blocked(10) == 0"),
        ("signal(10, count); pthread_kill(pthread_self(), 10);", "seen == 10"),
        ("signal(10, count); kill(getpid(), 10);", "seen == 10"),
        ("signal(10, count); signal(10, SIG_IGN); raise(10);", "seen == 0"),
        ("signal(10, count); signal(12, count); raise(12);", "seen == 12"),
        (f"{ACTION} sigaddset(&a.sa_mask, 2); sigaction(10, &a, NULL); raise(10);",
         "is_blocked == 3 && blocked(2) == 0"),
        (f"{ACTION} a.sa_flags = SA_NODEFER; sigaction(10, &a, NULL); raise(10);",
         "is_blocked == 0 && seen == 10"),
        (f"{ACTION} a.sa_flags = SA_RESETHAND; sigaction(10, &a, NULL); raise(10);",
         "signal(10, SIG_IGN) == SIG_DFL"),
        ("signal(10, count); sigset_t s; sigemptyset(&s); sigaddset(&s, 10);"
         " sigprocmask(SIG_BLOCK, &s, NULL); raise(10);", "seen == 0"),
        ("signal(10, jump); int r = sigsetjmp(back, 1); if (!r) raise(10);",
         "r == 10 && blocked(10) == 0"),
        ("signal(10, jump); int r = sigsetjmp(back, 0); if (!r) raise(10);",
         "r == 10 && blocked(10) == 1"),
        ("signal(10, count); pthread_t t; pthread_create(&t, 0, raising, 0); pthread_join(t, 0);",
         "seen == 10"),
    ],
)  # fmt: skip
def test_the_handler_runs_at_once(body: str, holds: str, tmp_path: Path) -> None:
    """The contrary of what holds is violated, and the compiled program agrees."""
    verdict, reason = answer(tmp_path, f"{body} assert(!({holds}));")
    assert verdict == "false", reason
    if GCC is not None:
        path = tmp_path / "main.c"
        path.write_text(f"{HEAD}int main(void) {{\n{body} assert({holds});\nreturn 0; }}")
        binary = str(tmp_path / "native")
        subprocess.run([GCC, "-w", "-pthread", "-o", binary, str(path)], check=True)
        assert subprocess.run([binary], check=False).returncode == 0


def test_signals_from_outside_are_not_examined(tmp_path: Path) -> None:
    verdict, reason = answer(tmp_path, "signal(10, count); raise(10); assert(seen == 10);")
    assert verdict == "unknown" and "a signal that is handled" in reason, reason


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("signal(10, count); pthread_t t; pthread_create(&t, 0, raising, 0); pthread_kill(t, 10);",
         "whose handler another thread may run"),
        ("signal(10, count); pthread_t t; pthread_create(&t, 0, raising, 0); kill(getpid(), 10);",
         "whose handler another thread may run"),
        (f"{ACTION} a.sa_flags = SA_SIGINFO; sigaction(10, &a, NULL); raise(10);",
         "whose handler has three parameters"),
        ("signal(10, again); raise(10);", "may be pending"),
    ],
)  # fmt: skip
def test_what_is_not_known(body: str, message: str, tmp_path: Path) -> None:
    loaded = program(tmp_path, f"{HEAD}int main(void) {{\n{body}\nreturn 0; }}")
    reasons = {run(loaded, Specification(), seed=seed).outcome.message for seed in range(12)}
    assert any(message in reason for reason in reasons), reasons
    assert answer(tmp_path, body)[0] == "unknown"


def test_unless_it_is_said_that_none_arrives(tmp_path: Path) -> None:
    text = f"{HEAD}int main(void) {{ signal(10, count); raise(10); assert(seen == 10); }}"
    loaded = program(tmp_path, text, options=FrontEndOptions(signals=False))
    found = explore(loaded, Specification(), ExploreOptions(max_seconds=20))
    assert found.verdict.value == "true", found.reason
    assert any("--no-signals" in item for item in loaded.assumptions)
    loaded = program(
        tmp_path, "int main(void) { return 0; }", options=FrontEndOptions(signals=False)
    )
    assert not any("--no-signals" in item for item in loaded.assumptions)
