"""Compare the bounded engine's verdicts on deadlocks with those of exhaustive exploration.

    PYTHONPATH=src python tools/compare_deadlocks.py --first 0 --count 500 [--keep DIR]

Programs are those of `plait.trust.concurrent`, or with --waiting those made here. Every `violated`
must replay. Exit code 1 if anything disagrees; the programs are then kept.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from random import Random

from plait.c import FrontEndOptions, load
from plait.engines.orders.engine import check
from plait.engines.orders.outcome import Answer, Counterexample
from plait.engines.orders.settings import Settings
from plait.evidence.replay import Plan, ReplayFailed, Undecided, replay_deadlock
from plait.model.program import Program
from plait.model.properties import from_names
from plait.semantics.explore import explore
from plait.trust.concurrent import ALL_FEATURES, FEATURES, generate

DEADLOCK = from_names(["no-deadlock"])
VERDICTS = {Answer.HOLDS: "true", Answer.VIOLATED: "false", Answer.UNKNOWN: "unknown"}


HEAD = """\
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
extern void __VERIFIER_assume(int);
extern _Bool __VERIFIER_nondet_bool(void);
pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t c = PTHREAD_COND_INITIALIZER;
pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
pthread_once_t o = PTHREAD_ONCE_INIT;
pthread_barrier_t w;
sem_t s;
volatile int f, g;
_Atomic int h;
static void once(void) { f = 1; }
"""
PIECES = [
    "pthread_mutex_lock(&M);",
    "pthread_mutex_unlock(&M);",
    "pthread_mutex_lock(&M); @ pthread_mutex_unlock(&M);",
    "pthread_mutex_lock(&a); pthread_mutex_lock(&b); pthread_mutex_unlock(&b);"
    " pthread_mutex_unlock(&a);",
    "pthread_mutex_lock(&b); pthread_mutex_lock(&a); pthread_mutex_unlock(&a);"
    " pthread_mutex_unlock(&b);",
    "if (pthread_mutex_trylock(&M) == 0) { @ pthread_mutex_unlock(&M); }",
    "sem_wait(&s);",
    "sem_post(&s);",
    "pthread_mutex_lock(&a); while (!F) pthread_cond_wait(&c, &a); pthread_mutex_unlock(&a);",
    "pthread_mutex_lock(&a); if (!F) pthread_cond_wait(&c, &a); pthread_mutex_unlock(&a);",
    "pthread_mutex_lock(&a); F = 1; pthread_cond_signal(&c); pthread_mutex_unlock(&a);",
    "F = 1; pthread_cond_broadcast(&c);",
    "while (!F) ;",
    "while (__VERIFIER_nondet_bool() && !F) ;",
    "while (1) { if (f) { while (!g) ; break; } if (h) break; }",
    "while (1) { int t; __VERIFIER_atomic_begin(); t = f & g; __VERIFIER_atomic_end();"
    " if (t) break; }",
    "while (1) { int t = F; __VERIFIER_assume(t < 2); if (t) break; }",
    "F = 1;",
    "F = 0;",
    "F = 2;",
    "__VERIFIER_atomic_begin(); __VERIFIER_assume(F); G = 1; __VERIFIER_atomic_end();",
    "__VERIFIER_atomic_begin(); if (F) pthread_mutex_lock(&M); G = 1; __VERIFIER_atomic_end();",
    "__VERIFIER_atomic_begin(); if (__VERIFIER_nondet_bool()) sem_wait(&s); else"
    " __VERIFIER_assume(F); __VERIFIER_atomic_end();",
    "{ __VERIFIER_atomic_begin(); _Bool i = __VERIFIER_nondet_bool(); __VERIFIER_assume(i);"
    " G = 1; __VERIFIER_atomic_end(); }",
    "__VERIFIER_atomic_begin(); if (f) while (!g) ; __VERIFIER_atomic_end();",
    "{ _Bool i = __VERIFIER_nondet_bool(); __VERIFIER_assume(i); F = i; }",
    "{ _Bool i = __VERIFIER_nondet_bool(); F = i; __VERIFIER_assume(i); }",
    "__VERIFIER_assume(F);",
    "if (__VERIFIER_nondet_bool()) { @ } else { @ }",
    "if (F) { @ }",
    "h++; @",
    "pthread_barrier_wait(&w);",
    "pthread_rwlock_rdlock(&l); @ pthread_rwlock_unlock(&l);",
    "pthread_rwlock_wrlock(&l); @ pthread_rwlock_unlock(&l);",
    "pthread_once(&o, once);",
    "if (F) exit(0);",
    "if (F) pthread_exit(NULL);",
    "for (int i = 0; i < 2; i++) { @ }",
]


def waiting_program(seed: int) -> str:
    """Threads that mostly wait for each other, in all the ways there are."""
    dice = Random(seed)
    # A program of few different pieces has more to do with itself.
    pieces = dice.sample(PIECES, 8) if dice.random() < 0.7 else PIECES

    def piece(depth: int) -> str:
        text = dice.choice(pieces if depth < 2 else PIECES[:2] + PIECES[6:8])
        text = text.replace("M", dice.choice("ab"))
        for name in "FG":
            text = text.replace(name + " ", dice.choice("fgh") + " ")
            text = text.replace(name + ")", dice.choice("fgh") + ")")
            text = text.replace(name + ";", dice.choice("fgh") + ";")
        while "@" in text:
            text = text.replace("@", piece(depth + 1), 1)
        return text

    def body() -> str:
        return "".join(f"  {piece(0)}\n" for _ in range(dice.randint(1, 3)))

    count = dice.choice([1, 2, 2, 3])
    text = HEAD
    for number in range(count):
        text += f"void *t{number}(void *unused) {{\n{body()}  return NULL;\n}}\n"
    text += f"int main(void) {{\n  pthread_t t[{count}];\n"
    text += f"  sem_init(&s, 0, {dice.randint(0, 1)});\n"
    text += f"  pthread_barrier_init(&w, NULL, {dice.randint(1, count + 1)});\n"
    for number in range(count):
        text += f"  pthread_create(&t[{number}], NULL, t{number}, NULL);\n"
    if dice.random() < 0.6:
        text += body()
    for number in range(count):
        if dice.random() < 0.8:
            text += f"  pthread_join(t[{number}], NULL);\n"
    end = "pthread_exit(NULL);" if dice.random() < 0.2 else "return 0;"
    return f"{text}  {end}\n}}\n"


def engine_verdict(program: Program, bound: int, seconds: float) -> tuple[str, str]:
    def confirm(found: Counterexample) -> str:
        shares, thread = found.objects.shares, found.claim.thread
        plan = Plan(found.threads, found.children, found.inputs, thread, shares)
        try:
            replay_deadlock(program, DEADLOCK, plan)
        except Undecided as error:
            return str(error)
        except ReplayFailed as error:
            return f"not replayed: {error}"
        return ""

    settings = Settings(finds_deadlocks=True)
    outcome = check(program, bound, time.monotonic() + seconds, settings, confirm=confirm)
    return VERDICTS[outcome.answer], outcome.reason


def oracle_verdict(program: Program, seconds: float) -> tuple[str, str]:
    found = explore(program, DEADLOCK, max_states=60_000, max_seconds=seconds)
    return found.verdict.value, found.reason


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--bound", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--spinning", action="store_true", help="also loops that only wait")
    parser.add_argument("--waiting", action="store_true", help="programs that mostly wait")
    parser.add_argument("--only", default="", help="features, separated by commas")
    parser.add_argument("--keep", type=Path, default=Path(tempfile.gettempdir()))
    options = parser.parse_args()
    features = ALL_FEATURES if options.spinning else FEATURES
    if options.only:
        features = frozenset(options.only.split(","))
    pairs: Counter[tuple[str, str]] = Counter()
    reasons: Counter[str] = Counter()
    disagreed = 0
    for seed in range(options.first, options.first + options.count):
        source = options.keep / f"deadlock_{seed}.c"
        text = waiting_program(seed) if options.waiting else generate(seed, features=features)
        source.write_text(text)
        program = load([str(source)], FrontEndOptions(), DEADLOCK)
        found, reason = engine_verdict(program, options.bound, options.seconds)
        expected, why = oracle_verdict(program, options.seconds)
        pairs[found, expected] += 1
        if found == "unknown":
            reasons[reason.split(" (")[0].split("/")[0]] += 1
        is_bad = {found, expected} == {"true", "false"} or reason.startswith("not replayed")
        if is_bad:
            disagreed += 1
            print(f"seed {seed}: {found} ({reason}), but {expected}: {source}", flush=True)
        else:
            source.unlink()
        if (found == "unknown") != (expected == "unknown"):
            print(f"seed {seed}: {found}, {reason}; {expected}, {why}", flush=True)
    for (found, expected), count in sorted(pairs.items()):
        print(f"engine {found:8} exploration {expected:8} {count:5}")
    for reason, count in reasons.most_common():
        print(f"{count:5} {reason}")
    print(f"{disagreed} disagreements")
    return 1 if disagreed else 0


if __name__ == "__main__":
    sys.exit(main())
