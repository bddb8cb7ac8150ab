"""Sequential programs by plait and by gcc: both must print the same.

    python -m trust.compare --count 100 --seed 0 [--csmith] [--data-model ILP32]

Each disagreement is shrunk and written to a file, with the seed that reproduces it.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from dataclasses import dataclass

from plait.errors import PlaitError
from plait.model.types import DataModel
from trust import csmith, native, sequential
from trust.interpreted import interpret
from trust.native import NativeError, Run
from trust.parallel import in_parallel
from trust.scope import FEATURES
from trust.shrink import shrink


@dataclass(slots=True, frozen=True)
class Subject:
    """A generated program, by what reproduces it."""

    seed: int
    size: int = 8
    data_model: DataModel = DataModel.LP64
    from_csmith: bool = False

    def __str__(self) -> str:
        origin = "csmith" if self.from_csmith else f"size {self.size}"
        return f"seed {self.seed} ({origin}, {self.data_model.value})"

    def source(self) -> str:
        if self.from_csmith:
            return csmith.generate(self.seed)
        # gcc has no __int128 in 32-bit programs.
        wide = self.data_model is DataModel.LP64
        return sequential.generate(
            self.seed, self.size, FEATURES if wide else FEATURES - {"int128"}
        )

    @property
    def include_dirs(self) -> tuple[str, ...]:
        found = csmith.include_dir() if self.from_csmith else None
        return () if found is None else (found,)


@dataclass(slots=True, frozen=True)
class Comparison:
    """`difference` is empty where both agree; `skipped` says why there was nothing to compare."""

    subject: Subject
    difference: str = ""
    skipped: str = ""


def expected(subject: Subject, source: str, timeout: float = 10) -> Run:
    options = [*native.REFERENCE, *(f"-I{path}" for path in subject.include_dirs)]
    return native.compile_and_run(
        source, data_model=subject.data_model, options=options, timeout=timeout
    )


def difference(subject: Subject, source: str, wanted: Run) -> str:
    """How plait's run of the source differs from the native one; empty if it does not."""
    try:
        found = interpret(source, data_model=subject.data_model, include_dirs=subject.include_dirs)
    except PlaitError as error:
        return f"plait rejects the program: {error}"
    except Exception as error:  # a crash is what this tool looks for
        return f"plait crashes: {type(error).__name__}: {error}"
    if found.errors:
        return f"plait ends with {found.errors}"
    if found.status != wanted.status:
        return f"exit status {found.status}, expected {wanted.status}"
    if found.output != wanted.output:
        pairs = zip(
            [*found.output.splitlines(), "(nothing)"],
            [*wanted.output.splitlines(), "(nothing)"],
            strict=False,
        )
        for got, want in pairs:
            if got != want:
                return f"prints {got!r}, expected {want!r}"
        return "output differs"
    return ""


def compare(subject: Subject) -> Comparison:
    """Generate and run one program both ways."""
    try:
        source = subject.source()
        wanted = expected(subject, source)
    except NativeError as error:
        return Comparison(subject, skipped=str(error).splitlines()[0])
    return Comparison(subject, difference(subject, source, wanted))


def signature(text: str) -> str:
    """What kind of difference it is: shrinking must not slip from one bug to another."""
    for mark in ("plait rejects", "plait crashes", "plait ends with", "exit status", "prints"):
        if text.startswith(mark):
            if mark in ("plait crashes", "plait ends with"):
                return ":".join(text.split(":")[:2])[:60].split(" at ")[0]
            if mark == "plait rejects":
                return mark + text.splitlines()[0].rpartition(":")[2][:30]
            return mark
    return text[:20]


def smallest(subject: Subject, source: str, seconds: float = 90) -> str:
    """A small program with the same kind of disagreement, and without undefined behaviour."""
    reference = expected(subject, source)
    kind = signature(difference(subject, source, reference))
    is_checked = "checksum = " in reference.output
    extra = [f"-I{path}" for path in subject.include_dirs]
    if subject.from_csmith:
        extra.append("-Wno-error=incompatible-pointer-types")
    is_clean = native.complaint(source, extra) is None

    def still_fails(candidate: str) -> bool:
        try:
            wanted = expected(subject, candidate, timeout=2)
        except NativeError:
            return False
        if wanted.status != 0 or ("checksum = " in wanted.output) != is_checked:
            return False
        if signature(difference(subject, candidate, wanted)) != kind:
            return False
        return not is_clean or native.complaint(candidate, extra) is None

    return shrink(source, still_fails, seconds=seconds)


def report(comparison: Comparison, directory: str, seconds: float = 90) -> str:
    """Shrink a disagreement, write it to a file and say where."""
    subject = comparison.subject
    os.makedirs(directory, exist_ok=True)
    small = smallest(subject, subject.source(), seconds)
    origin = "csmith" if subject.from_csmith else "sequential"
    name = f"{origin}-{subject.seed}-{subject.data_model.value}.c"
    path = os.path.join(directory, name)
    again = difference(subject, small, expected(subject, small))
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"/* {subject}\n   {again} */\n".replace("*//", "* //") + small)
    return f"{subject}: {again}\n  smallest program: {path}"


def subjects_of(
    count: int, seed: int, size: int, data_model: DataModel, from_csmith: bool
) -> list[Subject]:
    return [
        Subject(number, 2 + (number * 7919) % size, data_model, from_csmith)
        for number in range(seed, seed + count)
    ]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m trust.compare",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--count", type=int, default=100, metavar="N")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="the first seed")
    parser.add_argument("--size", type=int, default=12, help="the largest size of program")
    parser.add_argument("--csmith", action="store_true", help="programs from csmith")
    parser.add_argument("--data-model", choices=["LP64", "ILP32"], default="LP64")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--shrink-seconds", type=float, default=90)
    parser.add_argument("--keep", default="out/disagreements", metavar="DIR",
                        help="where the smallest programs go")  # fmt: skip
    options = parser.parse_args(arguments)
    data_model = DataModel(options.data_model)
    if options.csmith and not csmith.is_installed():
        print("SKIPPED: csmith is not installed (Debian: csmith libcsmith-dev)", file=sys.stderr)
        return 0
    if not native.supports(data_model):
        print(f"SKIPPED: gcc cannot build {data_model.value} programs here", file=sys.stderr)
        return 0
    subjects = subjects_of(options.count, options.seed, options.size, data_model, options.csmith)
    return _run(subjects, options.jobs, options.keep, options.shrink_seconds)


def _run(subjects: list[Subject], jobs: int, keep: str, seconds: float) -> int:
    started = time.monotonic()
    skipped = wrong = 0
    for number, comparison in enumerate(in_parallel(compare, subjects, jobs), 1):
        if comparison.skipped:
            skipped += 1
        elif comparison.difference:
            wrong += 1
            print(f"\n{comparison.subject}: {comparison.difference}", flush=True)
            if seconds > 0:
                print(report(comparison, keep, seconds), flush=True)
        if sys.stderr.isatty() or number % 100 == 0:
            print(f"\r{number}/{len(subjects)}", end="", file=sys.stderr, flush=True)
    taken = time.monotonic() - started
    print(f"\n{len(subjects)} programs, {skipped} skipped, {wrong} disagreements, {taken:.0f} s")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
