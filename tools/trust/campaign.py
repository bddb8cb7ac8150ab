"""The whole comparison: thousands of programs against gcc, the real libc, and plait itself.

    python -m trust.campaign --sequential 3000 --csmith 200 --concurrent 2000 \\
        --native-runs 10000 --jobs 2

Ends with a table; the exit code is 1 if anything disagrees.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from plait.errors import PlaitError
from plait.model.types import DataModel
from trust import agreement, compare, concurrent, csmith, native, native_threads
from trust.interpreted import load_source
from trust.outputs import outputs
from trust.parallel import in_parallel
from trust.shrink import shrink

_MOST_SHRUNK = 5
# Values for clocks and the like: fewer than there are, which can only make the check stricter.
_INPUTS = (0, 1)


@dataclass(slots=True, eq=False)
class Row:
    """A line of the summary."""

    name: str
    programs: int = 0
    agreed: int = 0
    skipped: int = 0
    disagreed: int = 0
    seconds: float = 0
    note: str = ""
    found: list[str] = field(default_factory=list)


@dataclass(slots=True, frozen=True)
class Settings:
    jobs: int
    keep: str
    shrink_seconds: float
    seed: int


def _progress(row: Row, total: int) -> None:
    if sys.stderr.isatty() or row.programs % 100 == 0 or row.programs == total:
        text = f"\r{row.name}: {row.programs}/{total}, {row.disagreed} disagreements "
        print(text, end="", file=sys.stderr, flush=True)
    if row.programs == total:
        print(file=sys.stderr)


def compare_sequential(name: str, subjects: list[compare.Subject], settings: Settings) -> Row:
    row = Row(name)
    started = time.monotonic()
    skips: Counter[str] = Counter()
    for found in in_parallel(compare.compare, subjects, settings.jobs):
        row.programs += 1
        if found.skipped:
            row.skipped += 1
            skips[found.skipped[:60]] += 1
        elif not found.difference:
            row.agreed += 1
        else:
            row.disagreed += 1
            row.found.append(f"{found.subject}: {found.difference}")
            if row.disagreed <= _MOST_SHRUNK and settings.shrink_seconds > 0:
                row.found.append(compare.report(found, settings.keep, settings.shrink_seconds))
        _progress(row, len(subjects))
    row.seconds = time.monotonic() - started
    row.note = ", ".join(f"{count} x {text}" for text, count in skips.most_common(2))
    return row


def compare_concurrent(count: int, settings: Settings) -> Row:
    row = Row("concurrent, reductions")
    started = time.monotonic()
    verdicts: Counter[str] = Counter()
    seeds = range(settings.seed, settings.seed + count)
    for found in in_parallel(agreement.check_seed, seeds, settings.jobs):
        row.programs += 1
        if found.difference:
            row.disagreed += 1
            row.found.append(f"seed {found.seed}: {found.difference}")
            if row.disagreed <= _MOST_SHRUNK and settings.shrink_seconds > 0:
                row.found.append(_shrink_concurrent(found.seed, settings))
        elif found.skipped:
            row.skipped += 1
        else:
            row.agreed += 1
            verdicts.update(f"{name} {verdict}" for name, verdict in found.verdicts.items())
        _progress(row, count)
    row.seconds = time.monotonic() - started
    row.note = ", ".join(f"{verdicts[key]} {key}" for key in sorted(verdicts))
    return row


def _shrink_concurrent(seed: int, settings: Settings) -> str:
    small = shrink(concurrent.generate(seed), agreement.disagrees, seconds=settings.shrink_seconds)
    os.makedirs(settings.keep, exist_ok=True)
    path = os.path.join(settings.keep, f"concurrent-{seed}.c")
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"/* seed {seed} */\n{small}")
    return f"  smallest program: {path}: {agreement.check_source(small).difference}"


@dataclass(slots=True, frozen=True)
class Scenario:
    name: str
    source: str
    runs: int


def check_scenario(scenario: Scenario) -> tuple[str, str, str]:
    """Name, what native runs showed that exploration does not find, and counts."""
    try:
        possible = outputs(load_source(scenario.source), inputs=_INPUTS)
        seen = native_threads.observe(scenario.source, scenario.runs).outputs
    except PlaitError as error:
        return scenario.name, str(error), ""
    missing = sorted(seen - possible)
    return scenario.name, "".join(missing), f"{len(seen & possible)}/{len(possible)}"


def compare_threads(directory: str, runs: int, settings: Settings) -> Row:
    row = Row("pthread outputs")
    started = time.monotonic()
    tasks = [
        Scenario(name, source, runs) for name, source in native_threads.scenarios(directory).items()
    ]
    seen = possible = 0
    # One at a time: scenarios are about timing.
    for name, missing, counts in map(check_scenario, tasks):
        row.programs += 1
        if missing:
            row.disagreed += 1
            row.found.append(f"{name}: seen natively, not by exploration: {missing}")
        else:
            row.agreed += 1
            seen += int(counts.split("/")[0])
            possible += int(counts.split("/")[1])
        _progress(row, len(tasks))
    row.seconds = time.monotonic() - started
    row.note = f"{runs} runs each; {seen} of {possible} possible outputs were seen"
    return row


def table(rows: list[Row]) -> str:
    lines = [f"{'':24}{'programs':>9}{'agree':>8}{'skipped':>9}{'disagree':>10}{'seconds':>9}"]
    for row in rows:
        lines.append(
            f"{row.name:24}{row.programs:9}{row.agreed:8}{row.skipped:9}{row.disagreed:10}"
            f"{row.seconds:9.0f}"
        )
        if row.note:
            lines.append(f"    {row.note}")
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m trust.campaign",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--sequential", type=int, default=3000, metavar="N")
    parser.add_argument("--csmith", type=int, default=200, metavar="N")
    parser.add_argument("--concurrent", type=int, default=2000, metavar="N")
    parser.add_argument("--native-runs", type=int, default=10_000, metavar="N")
    parser.add_argument("--scenarios", default="tests/trust/printing", metavar="DIR")
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--size", type=int, default=12, help="the largest sequential program")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--shrink-seconds", type=float, default=90, metavar="S")
    parser.add_argument("--keep", default="out/disagreements", metavar="DIR")
    options = parser.parse_args(arguments)
    settings = Settings(options.jobs, options.keep, options.shrink_seconds, options.seed)
    rows = list(_rows(options, settings))
    for row in rows:
        for text in row.found:
            print(text)
    print(table(rows))
    wrong = sum(row.disagreed for row in rows)
    print(f"{wrong} disagreements")
    return 1 if wrong else 0


def _rows(options: argparse.Namespace, settings: Settings) -> Iterator[Row]:
    if native.compiler() is None:
        yield Row("sequential, gcc", note="SKIPPED: gcc is not installed")
    else:
        yield from _sequential_rows(options, settings)
    if options.concurrent:
        yield compare_concurrent(options.concurrent, settings)
    if native.compiler() is None or not options.native_runs:
        return
    if os.path.isdir(options.scenarios):
        yield compare_threads(options.scenarios, options.native_runs, settings)
    else:
        yield Row("pthread outputs", note=f"SKIPPED: no directory {options.scenarios}")


def _sequential_rows(options: argparse.Namespace, settings: Settings) -> Iterator[Row]:
    # Every fourth program in the other data model, where gcc can build for it.
    narrow = options.sequential // 4
    for data_model, count in (
        (DataModel.LP64, options.sequential - narrow),
        (DataModel.ILP32, narrow),
    ):
        name = f"sequential, {data_model.value}"
        if not count:
            continue
        if not native.supports(data_model):
            yield Row(name, note="SKIPPED: gcc cannot build such programs here (gcc-multilib)")
            continue
        subjects = compare.subjects_of(
            count, settings.seed, options.size, data_model, from_csmith=False
        )
        yield compare_sequential(name, subjects, settings)
    if not options.csmith:
        return
    if not csmith.is_installed():
        yield Row("csmith", note="SKIPPED: not installed (Debian: csmith libcsmith-dev)")
        return
    subjects = compare.subjects_of(
        options.csmith, settings.seed, options.size, DataModel.LP64, from_csmith=True
    )
    yield compare_sequential("csmith", subjects, settings)


if __name__ == "__main__":
    sys.exit(main())
