"""Compare the engines' verdicts with those of exhaustive exploration.

    PYTHONPATH=src python tools/compare_verdicts.py no-data-race --first 0 --count 500

Programs are generated: by default mixed ones, with --programs waiting such that mostly wait, with
--programs pointers such that use memory in all ways, with --programs trying such that try something
until it succeeds. The engine orders deepens loops as `plait verify` does, or unrolls them --bound
times. The engine impact is run with --por and --no-force-cover, or in all configurations in turn;
its certificates must be accepted. The engine modular only ever proves. The engine auto is all of
them, as `plait.verify` runs them. Every violation must replay.
Exit code 1 if anything disagrees; the programs are then kept.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import plait
from plait.c import FrontEndOptions, load
from plait.certificates.check import check
from plait.certificates.fingerprint import fingerprint
from plait.certificates.reading import read
from plait.certificates.verdicts import Answer as Verified
from plait.engines.impact import outcome as impact
from plait.engines.impact.engine import verify as verify_by_impact
from plait.engines.impact.settings import Explicit, Reduction
from plait.engines.impact.settings import Settings as ImpactSettings
from plait.engines.modular import outcome as modular
from plait.engines.modular.engine import verify as verify_modularly
from plait.engines.orders.engine import verify
from plait.engines.orders.outcome import Answer, Counterexample
from plait.engines.orders.settings import Refinement, Settings
from plait.evidence.replay import (
    Plan,
    ReplayFailed,
    replay,
    replay_blocks,
    replay_deadlock,
    replay_race,
)
from plait.model.program import Program
from plait.model.properties import Specification, from_names
from plait.portfolio.subject import parts
from plait.semantics.explore import ExploreOptions, explore
from plait.semantics.run import run
from trust import concurrent, pointers, trying, waiting

VERDICTS = {Answer.HOLDS: "true", Answer.VIOLATED: "false", Answer.UNKNOWN: "unknown"}
VERDICTS_OF_IMPACT = {
    impact.Answer.HOLDS: "true",
    impact.Answer.VIOLATED: "false",
    impact.Answer.UNKNOWN: "unknown",
}
GENERATORS: dict[str, Callable[[int], str]] = {
    "mixed": concurrent.generate,
    "waiting": waiting.generate,
    "pointers": pointers.generate,
    "trying": trying.generate,
}
PROPERTIES = (
    "assertions",
    "no-data-race",
    "no-deadlock",
    "no-overflow",
    "valid-memsafety",
    "lock-misuse",
)


def impact_verdict(
    program: Program, specification: Specification, options: argparse.Namespace, seed: int
) -> tuple[str, str]:
    def confirm(found: impact.Counterexample) -> str:
        try:
            schedule = replay_blocks(
                program, specification, found.blocks, found.inputs, found.violator
            )
            execution = run(program, specification, schedule=schedule)
        except ReplayFailed as error:
            return f"not replayed: {error}"
        return "" if execution.ending == "violation" else f"ends in {execution.ending}"

    reductions = list(Reduction) if options.por == "all" else [Reduction(options.por)]
    forces = [True, False] if options.por == "all" else [not options.no_force_cover]
    tracked = list(Explicit) if options.por == "all" else [Explicit(options.explicit)]
    configurations = [
        ImpactSettings(reduction, explicit, force)
        for reduction in reductions
        for force in forces
        for explicit in tracked
    ]
    settings = configurations[seed % len(configurations)]
    deadline = time.monotonic() + options.seconds
    outcome = verify_by_impact(program, specification, settings, deadline, confirm=confirm)
    reason = outcome.reason
    if outcome.certificate is not None and options.check:
        problem = certificate_problem(
            program, specification, outcome.certificate(), 5 * options.seconds
        )
        if problem:
            return "rejected", f"{settings}: {problem}"
    return VERDICTS_OF_IMPACT[outcome.answer], reason.split(" with ")[0]


def certificate_problem(
    program: Program, specification: Specification, document: dict[str, Any], seconds: float
) -> str:
    """Why the certificate is not accepted; a time-out is no reason."""
    document |= {"options": [], "fingerprint": fingerprint(program)}
    verdict = check(program, specification, read(json.dumps(document)), time.monotonic() + seconds)
    return verdict.reason if verdict.answer is Verified.REJECTED else ""


def orders_verdict(
    program: Program, specification: Specification, options: argparse.Namespace, seed: int
) -> tuple[str, str]:
    def confirm(found: Counterexample) -> str:
        plan = Plan(
            found.threads, found.children, found.inputs, found.claim.thread, found.objects.shares
        )
        try:
            if options.property == "no-deadlock":
                replay_deadlock(program, specification, plan)
            elif found.race is not None:
                replay_race(program, specification, plan, found.race)
            else:
                replay(program, specification, plan)
        except ReplayFailed as error:
            return f"not replayed: {error}"
        return ""

    settings = Settings(
        unwind=options.bound,
        refinement=Refinement(options.refinement),
        finds_races=options.property == "no-data-race",
        finds_deadlocks=options.property == "no-deadlock",
        checks_memory=options.property == "valid-memsafety",
    )
    deadline = time.monotonic() + options.seconds
    outcome = verify(program, settings, deadline, confirm=confirm)
    return VERDICTS[outcome.answer], outcome.reason


def modular_verdict(
    program: Program, specification: Specification, options: argparse.Namespace, seed: int
) -> tuple[str, str]:
    outcome = verify_modularly(program, specification, time.monotonic() + options.seconds)
    is_proved = outcome.answer is modular.Answer.HOLDS
    return "true" if is_proved else "unknown", outcome.reason.split(": ")[-1]


def portfolio_verdict(
    program: Program, specification: Specification, options: argparse.Namespace, seed: int
) -> tuple[str, str]:
    """All of it as users have it, in processes of its own; every other program on one core."""
    result = plait.verify(
        source_of(options, seed),
        property=options.property,
        timeout=options.seconds,
        jobs=1 + seed % 2,
        cache=False,
    )
    return ("rejected" if result.failure else result.verdict), result.reason


@dataclass
class Comparison:
    """How often the engine and exploration gave which verdicts, and why the engine gave none."""

    pairs: Counter[tuple[str, str]] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    disagreed: int = 0


def source_of(options: argparse.Namespace, seed: int) -> Path:
    path: Path = options.keep / f"{options.property}_{options.programs}_{seed}.c"
    return path


def compare(options: argparse.Namespace) -> Comparison:
    questions = parts(from_names(options.property.split(",")))
    result = Comparison()
    for seed in range(options.first, options.first + options.count):
        source = source_of(options, seed)
        source.write_text(GENERATORS[options.programs](seed))
        programs = [load([str(source)], FrontEndOptions(), part) for part in questions]
        found, reason = ENGINES[options.engine](programs[0], questions[0], options, seed)
        oracles = [
            explore(program, part, ExploreOptions(max_states=options.states, max_seconds=20))
            for part, program in zip(questions, programs, strict=True)
        ]
        # The worst answer to one of several questions is the answer to all.
        oracle = min(oracles, key=lambda item: _WORST_FIRST.index(item.verdict.value))
        expected = oracle.verdict.value
        result.pairs[found, expected] += 1
        if found == "unknown":
            result.reasons[reason.split(" (")[0].split("/")[0]] += 1
        is_undefined = found == "true" and any("undefined" in item.reason for item in oracles)
        if {found, expected} == {"true", "false"} or is_undefined or found == "rejected":
            result.disagreed += 1
            print(
                f"seed {seed}: {found} ({reason}), but {expected} ({oracle.reason}): {source}",
                flush=True,
            )
        else:
            source.unlink()
    return result


ENGINES = {
    "auto": portfolio_verdict,
    "orders": orders_verdict,
    "impact": impact_verdict,
    "modular": modular_verdict,
}


_WORST_FIRST = ("false", "unknown", "true")


def _properties(text: str) -> str:
    for name in text.split(","):
        if name not in PROPERTIES:
            raise argparse.ArgumentTypeError(f"'{name}' is none of {', '.join(PROPERTIES)}")
    return text


def options_of(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "property", type=_properties, help=f"{', '.join(PROPERTIES)}; several with commas"
    )
    parser.add_argument("--programs", choices=GENERATORS, default="mixed")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--bound", type=int)
    parser.add_argument("--seconds", type=float, default=6, help="of the engine, for one program")
    parser.add_argument("--states", type=int, default=60_000, help="of exploration")
    parser.add_argument(
        "--refinement", choices=[item.value for item in Refinement], default="propagator"
    )
    parser.add_argument("--engine", choices=ENGINES, default="orders")
    parser.add_argument("--por", choices=("none", "static", "dynamic", "all"), default="dynamic")
    parser.add_argument("--no-force-cover", action="store_true")
    parser.add_argument("--explicit", choices=[item.value for item in Explicit], default="few")
    parser.add_argument("--check", action="store_true", help="check certificates")
    parser.add_argument("--keep", type=Path, default=Path(tempfile.gettempdir()))
    options = parser.parse_args(arguments)
    if "," in options.property and options.engine != "auto":
        parser.error("several properties: only with --engine auto")
    return options


def main() -> int:
    options = options_of()
    result = compare(options)
    print(f"{options.property}, {options.programs} programs from seed {options.first}")
    for (found, expected), count in sorted(result.pairs.items()):
        print(f"  engine {found:8} exploration {expected:8} {count:5}")
    for reason, count in result.reasons.most_common():
        print(f"  {count:5} unknown: {reason}")
    print(f"  {result.disagreed} disagreements", flush=True)
    return 1 if result.disagreed else 0


if __name__ == "__main__":
    sys.exit(main())
