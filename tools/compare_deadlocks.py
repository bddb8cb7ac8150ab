"""Compare the bounded engine's verdicts on deadlocks with those of exhaustive exploration.

    PYTHONPATH=src python tools/compare_deadlocks.py --first 0 --count 500 [--keep DIR]

Programs are those of `plait.trust.concurrent`, or with --waiting those of `plait.trust.waiting`.
Every `violated` must replay. Exit code 1 if anything disagrees; the programs are then kept.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from plait.c import FrontEndOptions, load
from plait.engines.orders.engine import check
from plait.engines.orders.outcome import Answer, Counterexample
from plait.engines.orders.settings import Settings
from plait.evidence.replay import Plan, ReplayFailed, Undecided, replay_deadlock
from plait.model.program import Program
from plait.model.properties import from_names
from plait.semantics.explore import explore
from plait.trust import waiting
from plait.trust.concurrent import ALL_FEATURES, FEATURES, generate

DEADLOCK = from_names(["no-deadlock"])
VERDICTS = {Answer.HOLDS: "true", Answer.VIOLATED: "false", Answer.UNKNOWN: "unknown"}


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
        source.write_text(
            waiting.generate(seed) if options.waiting else generate(seed, features=features)
        )
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
