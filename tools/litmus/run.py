"""Compares the outcomes that exploration finds in litmus tests with those in their heads.

    python tools/litmus/run.py FILE... [--models sc,tso,pso,c11] [--orders]

With --orders: those that the engine `orders` finds.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from litmus.outcomes import found_by_orders
from plait.data import replace
from plait.model.memory_model import MemoryModel
from plait.model.program import Program
from plait.model.properties import from_names
from plait.portfolio.subject import Subject, for_exploring, load_program, specification
from plait.semantics.explore import ExploreOptions, Verdict, explore

MODELS = ("sc", "tso", "pso", "c11")


def published(file: Path) -> dict[str, list[str]]:
    """The outcomes in the head of a test, by model."""
    found = {}
    for line in file.read_text().splitlines():
        model, colon, outcomes = line.removeprefix("// ").partition(": ")
        if colon and model in MODELS:
            found[model] = outcomes.split()
    return found


def loaded(file: Path, model: str) -> Program:
    subject = Subject(programs=(str(file),), memory_model=model)
    return load_program(subject, *specification(subject))


def explored(file: Path, model: str, width: int, seconds: float | None = None) -> list[str]:
    """The outcomes that `explore` finds, each with as many digits as there are in the head."""
    program = loaded(file, model)
    chosen = replace(from_names([]), memory_model=MemoryModel(model))
    chosen = for_exploring(program, chosen)
    found = explore(program, chosen, ExploreOptions(keep_states=True, max_seconds=seconds))
    if found.verdict is Verdict.FALSE and "data race" in found.reason:
        return ["race"]
    if found.verdict is not Verdict.TRUE:
        return [found.reason]
    statuses = {state.exit[0] for state in found.reached if state.exit is not None}
    return [f"{status:0{width}}" for status in sorted(statuses)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--orders", action="store_true")
    options = parser.parse_args()
    models = options.models.split(",")
    wrong = 0
    seconds = dict.fromkeys(models, 0.0)
    for file in options.files:
        expected = published(file)
        for model in models:
            before = time.process_time()
            width = len(expected["sc"][0])
            if options.orders:
                found = found_by_orders(file, model, width)
            else:
                found = explored(file, model, width)
            seconds[model] += time.process_time() - before
            if found != expected[model]:
                wrong += 1
                print(f"{file.stem} under {model}: {found}, not {expected[model]}", flush=True)
    times = ", ".join(f"{model} {spent:.1f} s" for model, spent in seconds.items())
    print(f"{len(options.files)} tests, {wrong} differences ({times})")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
