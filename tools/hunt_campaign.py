"""`plait hunt` against plain enumeration.

    tools/hunt_campaign.py [--count N] [--first SEED] [--seconds S] [--engine dpor|fusion]

`dpor`: do the runs of the compiled program print what the executions of the model print, all of it
and nothing else? `fusion`: is a violation found where there is one, and does the search never say
that it has seen every schedule then? Programs are those of the trust campaigns, without inputs. An
outcome is what the program prints and how it ends. What cannot be enumerated, or not within the
limits, is left out and counted.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from plait.c import load
from plait.c.options import FrontEndOptions
from plait.errors import PlaitError
from plait.hunt.build import build_sources
from plait.hunt.dpor import Dpor
from plait.hunt.fusion.search import Fusion
from plait.hunt.fusion.source import load_source
from plait.hunt.places import Places
from plait.hunt.run import Program, Run, Runner
from plait.model.properties import Property, Specification
from plait.semantics.explore import ExploreOptions, Verdict, explore

sys.path.insert(0, str(Path(__file__).parent))
from trust import concurrent
from trust.outputs import DEADLOCK, NotEnumerable, outputs

# Compilers take operands in other orders than the model, which shows where one is a pointer.
_FEATURES = concurrent.FEATURES - {"nondet", "pointers"}
_PROPERTIES = ("assertions", "unreach-call", "no-deadlock", "abort", "crash")
_ASSERTIONS = ("assertions", "unreach-call", "abort", "crash")
_GIB = 1 << 30


def outcome_of(run: Run, printed: str) -> str | None:
    """As `trust.outputs` writes it; None for a run that is none of its own."""
    if run.how == "ended":
        return printed
    if run.how == "failed" and run.violated == "no-deadlock":
        return DEADLOCK
    if run.how == "failed" and run.violated == "assertions":
        return "(violation)"
    if run.how in ("redundant", "assumption"):
        return None
    return f"({run.how}: {run.detail})"


def hunted(executable: Path, seconds: float) -> tuple[set[str], int, set[str], bool]:
    """Outcomes, runs, why not everything was covered, whether the search came to its end."""
    program = Program(executable, (), _PROPERTIES, "/", None, 5, 2 * _GIB, 100_000)
    found: set[str] = set()
    search, deadline = Dpor(), time.monotonic() + seconds
    with Runner(program) as runner:
        while time.monotonic() < deadline:
            run = search.next_run(runner)
            if run is None:
                return found, search.runs, search.gaps, True
            outcome = outcome_of(run, _standard_output(runner.output()))
            if outcome is not None:
                found.add(outcome)
    return found, search.runs, search.gaps, False


def _standard_output(text: str) -> str:
    """Without what `assert` says."""
    return "".join(line for line in text.splitlines(True) if "Assertion `" not in line)


def expected(source: Path) -> set[str]:
    options = FrontEndOptions(spurious_wakeups=False)
    specification = Specification(properties=frozenset({Property.ASSERTIONS}))
    program = load([str(source)], options, specification)
    raw = outputs(program, specification, max_states=30_000)
    found = {"(violation)" if "(" in item else item for item in raw if not item.endswith(DEADLOCK)}
    # A state whose only step is a violation looks like a deadlock there.
    specification = Specification(properties=frozenset({Property.NO_DEADLOCK}))
    program = load([str(source)], options, specification)
    exploration = explore(program, specification, ExploreOptions(max_states=100_000))
    if exploration.verdict is Verdict.UNKNOWN:
        raise NotEnumerable(exploration.reason)
    if exploration.verdict is Verdict.FALSE:
        found.add(DEADLOCK)
    return found


def check(seed: int, folder: Path, seconds: float) -> tuple[str, str]:
    """A word for the count, and more about it."""
    source = folder / "program.c"
    source.write_text(concurrent.generate(seed, features=_FEATURES))
    try:
        wanted = expected(source)
    except PlaitError as error:
        return "not enumerable", str(error)
    built = build_sources([str(source)], "gcc", ["-O0", "-w"], folder)
    found, runs, gaps, is_done = hunted(built.executable, seconds)
    extra, missing = found - wanted, wanted - found
    if extra:
        return "EXTRA", f"{sorted(extra)[:3]} is not among {sorted(wanted)[:5]}"
    if not is_done or gaps:
        return "not complete", f"{runs} runs, {sorted(gaps)}"
    if missing:
        return "MISSING", f"{sorted(missing)[:3]} after {runs} runs"
    return "agrees", f"{runs} runs, {len(wanted)} outcomes"


def check_fusion(seed: int, folder: Path, seconds: float, totals: Counter[str]) -> tuple[str, str]:
    """The same for `fusion`, which is asked whether anything fails."""
    source = folder / "program.c"
    source.write_text(concurrent.generate(seed, features=_FEATURES))
    try:
        fails = "(violation)" in expected(source)
    except PlaitError as error:
        return "not enumerable", str(error)
    built = build_sources([str(source)], "gcc", ["-O0", "-w"], folder)
    program = Program(built.executable, (), _ASSERTIONS, "/", None, 5, 2 * _GIB, 100_000)
    lines = Places(folder).line_numbers()
    search, deadline = Fusion((), load_source([str(source)]), lines), time.monotonic() + seconds
    found, runs = False, 0
    with Runner(program) as runner:
        while not found and time.monotonic() < deadline:
            run = search.next_run(runner)
            if run is None:
                break
            found, runs = run.is_failure, runs + 1
    totals.update(runs=runs, pruned=search.pruned, predicted=search.predicted)
    totals["programs with a trace program"] += search.checked > 0
    said = f"{runs} runs, {search.pruned} pruned, {sorted(search.gaps | search.obstacles)}"
    if found != fails and (found or search.is_done):
        return "EXTRA" if found else "MISSING", said
    if not found and (search.gaps or not search.is_done):
        return "not complete", said
    return ("found" if found else "proved"), said


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=20.0, help="for each program")
    parser.add_argument("--engine", choices=("dpor", "fusion"), default="dpor")
    parser.add_argument("-v", "--verbose", action="store_true", help="a line for each program")
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    totals: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="plait-hunt-campaign-") as name:
        for seed in range(options.first, options.first + options.count):
            if options.engine == "dpor":
                word, detail = check(seed, Path(name), options.seconds)
            else:
                word, detail = check_fusion(seed, Path(name), options.seconds, totals)
            counts[word] += 1
            if options.verbose or word in ("EXTRA", "MISSING"):
                print(f"seed {seed}: {word}: {detail}", flush=True)
    for rows in (counts, totals):
        print(", ".join(f"{word}: {count}" for word, count in sorted(rows.items())))
    return 1 if counts["EXTRA"] or counts["MISSING"] else 0


if __name__ == "__main__":
    sys.exit(main())
