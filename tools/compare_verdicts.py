"""Compare the engines' verdicts with those of exhaustive exploration.

    PYTHONPATH=src python tools/compare_verdicts.py no-data-race --first 0 --count 500

Programs are generated: by default mixed ones, with --programs waiting such that mostly wait, with
--programs guarded such that share memory behind locks and conditions, with
--programs locking such whose critical sections overlap, with
--programs sections such in whose critical sections everything happens, with
--programs pointers such that use memory in all ways, with --programs trying such that try something
until it succeeds, with --programs floats such that compute with floating-point values, with
--programs sizes such that allocate as much as inputs say. An engine
runs with its defaults and each --option NAME=VALUE, or with --every-configuration in all
configurations in turn; where it unrolls loops it deepens them as `plait verify` does, or unrolls
them --bound times. With --check its certificates must be accepted. Of modular all proofs count,
also those that `plait verify` does not rely on. The engine auto is all of them, as `plait.verify`
runs them. Every violation must replay. A program that takes long is mostly one without a verdict,
which says nothing: only every tenth has LONGER times as many seconds.
Exit code 1 if anything disagrees; the programs are then kept.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any

import plait
from plait.c import FrontEndOptions, load
from plait.certificates.fingerprint import fingerprint
from plait.certificates.templates.check import check_any
from plait.certificates.templates.reading import read_any
from plait.certificates.verdicts import Ruling
from plait.data import replace
from plait.engines import registry
from plait.engines.description import EngineDescription, EngineOption
from plait.engines.interface import Answer, Counterexample, Progress, Question
from plait.engines.modular.engine import verify as verify_modularly
from plait.evidence.confirm import confirmed
from plait.evidence.counterexample import NotShown
from plait.evidence.replay import ReplayFailed
from plait.model.facts import Fact
from plait.model.memory_model import MemoryModel
from plait.model.program import Program
from plait.model.properties import Specification, from_names
from plait.portfolio.subject import parts
from plait.semantics.explore import ExploreOptions, explore
from trust import (
    concurrent,
    crowds,
    floating,
    guarded,
    locking,
    pointers,
    sections,
    sizes,
    trying,
    waiting,
)

VERDICTS = {Answer.HOLDS: "true", Answer.VIOLATED: "false", Answer.UNKNOWN: "unknown"}
GENERATORS: dict[str, Callable[[int], str]] = {
    "mixed": concurrent.generate,
    "waiting": waiting.generate,
    "guarded": guarded.generate,
    "locking": locking.generate,
    "sections": sections.generate,
    "pointers": pointers.generate,
    "trying": trying.generate,
    "floats": floating.generate,
    "sizes": sizes.generate,
    "crowds": crowds.generate,
}
# Programs with any number of threads are explored with each of these in place of it.
LIMITS = {"crowds": crowds.LIMITS}
LONGER = 4
PROPERTIES = (
    "assertions",
    "no-data-race",
    "no-deadlock",
    "no-overflow",
    "valid-memsafety",
    "lock-misuse",
)


class Replaying:
    """Listens to an engine: every violation must replay."""

    def __init__(self, program: Program, specification: Specification) -> None:
        self._program = program
        self._specification = specification

    def progress(self, progress: Progress) -> None:
        pass

    def facts(self, facts: tuple[Fact, ...]) -> None:
        pass

    def confirm(self, found: Counterexample) -> str:
        try:
            confirmed(self._program, self._specification, found)
        except (ReplayFailed, NotShown) as error:
            return f"not replayed: {error}"
        return ""


def engine_verdict(
    program: Program, specification: Specification, options: argparse.Namespace, seed: int
) -> tuple[str, str]:
    engine = registry.engine(options.engine)
    configurations = list(configurations_of(engine, options))
    settings = configurations[seed % len(configurations)]
    question = Question(
        program,
        specification,
        time.monotonic() + seconds_for(options, seed),
        options.bound if engine.bounds_loops else None,
        settings,
    )
    outcome = import_module(engine.module).answer(question, Replaying(program, specification))
    if outcome.proof is not None and options.check:
        document = outcome.proof.certificate()
        seconds = 5 * seconds_for(options, seed)
        problem = document and certificate_problem(program, specification, document, seconds)
        if problem:
            return "rejected", f"{settings}: {problem}"
    return VERDICTS[outcome.answer], outcome.reason.split(" with ")[0]


def configurations_of(
    engine: EngineDescription, options: argparse.Namespace
) -> Iterator[dict[str, Any]]:
    """The settings that were named; or all combinations of the engine's switches and choices."""
    named: dict[str, Any] = dict(option.split("=", 1) for option in options.option)
    for option in engine.options:
        if option.name in named:
            named[option.name] = value_of(option, named[option.name])
    unknown = named.keys() - {option.name for option in engine.options}
    if unknown:
        raise SystemExit(f"{engine.name} has no option {', '.join(sorted(unknown))}")
    if not options.every_configuration:
        yield engine.settings(named)
        return
    values: list[Sequence[Any]] = []
    for option in engine.options:
        if option.name in named:
            values.append([named[option.name]])
        else:
            others = [True, False] if option.is_switch else [option.default]
            values.append(option.choices or others)
    for combination in product(*values):
        yield {item.name: value for item, value in zip(engine.options, combination, strict=True)}


def value_of(option: EngineOption, text: str) -> Any:
    """What the text of a setting stands for."""
    value: Any = text
    if option.is_switch:
        value = {"True": True, "False": False}.get(text, text)
    elif not option.choices and text.isdecimal():
        value = int(text)
    problem = option.problem(value)
    if problem:
        raise SystemExit(f"{option.name}={text}: {problem}")
    return value


def certificate_problem(
    program: Program, specification: Specification, document: dict[str, Any], seconds: float
) -> str:
    """Why the certificate is not accepted; a time-out is no reason."""
    document |= {"options": [], "fingerprint": fingerprint(program)}
    certificate, deadline = read_any(json.dumps(document)), time.monotonic() + seconds
    verdict = check_any(program, specification, certificate, deadline)
    return verdict.reason if verdict.answer is Ruling.REJECTED else ""


def modular_verdict(
    program: Program, specification: Specification, options: argparse.Namespace, seed: int
) -> tuple[str, str]:
    """Also the proofs that are not relied on."""
    deadline = time.monotonic() + seconds_for(options, seed)
    outcome = verify_modularly(program, specification, deadline)
    is_proved = outcome.answer is Answer.HOLDS
    return "true" if is_proved else "unknown", outcome.reason.split(": ")[-1]


def portfolio_verdict(
    program: Program, specification: Specification, options: argparse.Namespace, seed: int
) -> tuple[str, str]:
    """All of it as users have it, in processes of its own; every other program on one core."""
    result = plait.verify(
        source_of(options, seed),
        property=options.property,
        timeout=seconds_for(options, seed),
        jobs=1 + seed % 2,
        cache=False,
    )
    return ("rejected" if result.failure else result.verdict), result.reason


def seconds_for(options: argparse.Namespace, seed: int) -> float:
    seconds: float = options.seconds
    return seconds if seed % 10 else LONGER * seconds


@dataclass
class Comparison:
    """How often the engine and exploration gave which verdicts, and why the engine gave none."""

    pairs: Counter[tuple[str, str]] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    disagreements: list[str] = field(default_factory=list)

    def add(self, other: Comparison) -> None:
        self.pairs += other.pairs
        self.reasons += other.reasons
        self.disagreements += other.disagreements


def source_of(options: argparse.Namespace, seed: int) -> Path:
    path: Path = options.keep / f"{options.property}_{options.engine}_{options.programs}_{seed}.c"
    return path


def to_explore(
    source: Path,
    options: argparse.Namespace,
    questions: Sequence[Specification],
    programs: Sequence[Program],
) -> Iterator[tuple[Specification, Program]]:
    """The programs themselves, or with few threads."""
    limits = LIMITS.get(options.programs)
    if limits is None:
        yield from zip(questions, programs, strict=True)
        return
    text = source.read_text()
    with tempfile.TemporaryDirectory() as folder:
        for limit in limits:
            bounded = Path(folder) / f"{source.stem}_{limit}.c"
            bounded.write_text(f"#define LIMIT {limit}\n{text}")
            for part in questions:
                yield part, load([str(bounded)], FrontEndOptions(), part)


def compare_one(options: argparse.Namespace, seed: int) -> Comparison:
    chosen = replace(
        from_names(options.property.split(",")), memory_model=MemoryModel(options.memory_model)
    )
    questions = parts(chosen)
    source = source_of(options, seed)
    source.write_text(GENERATORS[options.programs](seed))
    programs = [load([str(source)], FrontEndOptions(), part) for part in questions]
    found, reason = ENGINES[options.engine](programs[0], questions[0], options, seed)
    if found == "unknown":  # agrees with everything, so that exploring would be for nothing
        source.unlink()
        why = reason.split(" (")[0].split("/")[0]
        return Comparison(Counter([(found, "not asked")]), Counter([why]))
    oracles = [
        explore(program, part, ExploreOptions(max_states=options.states, max_seconds=20))
        for part, program in to_explore(source, options, questions, programs)
    ]
    # The worst answer to one of several questions is the answer to all.
    oracle = min(oracles, key=lambda item: _WORST_FIRST.index(item.verdict.value))
    expected = oracle.verdict.value
    result = Comparison(Counter([(found, expected)]))
    is_undefined = found == "true" and any("undefined" in item.reason for item in oracles)
    if {found, expected} == {"true", "false"} or is_undefined or found == "rejected":
        result.disagreements.append(
            f"seed {seed}: {found} ({reason}), but {expected} ({oracle.reason}): {source}"
        )
    else:
        source.unlink()
    return result


def compare(options: argparse.Namespace) -> Comparison:
    result = Comparison()
    seeds = range(options.first, options.first + options.count)
    one = partial(compare_one, options)
    with ProcessPoolExecutor(options.jobs) as pool:
        for item in pool.map(one, seeds) if options.jobs > 1 else map(one, seeds):
            result.add(item)
            for text in item.disagreements:
                print(text, flush=True)
    return result


ENGINES = {item.name: engine_verdict for item in registry.engines()} | {
    "auto": portfolio_verdict,
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
    parser.add_argument("--seconds", type=float, default=1.5, help="of the engine, for one program")
    parser.add_argument("--states", type=int, default=60_000, help="of exploration")
    parser.add_argument("--engine", choices=ENGINES, default="orders")
    parser.add_argument(
        "--option", action="append", default=[], metavar="NAME=VALUE", help="of the engine"
    )
    parser.add_argument(
        "--every-configuration",
        action="store_true",
        help="take all combinations of the engine's other options in turn",
    )
    parser.add_argument(
        "--memory-model", choices=[model.value for model in MemoryModel], default="sc"
    )
    parser.add_argument("--check", action="store_true", help="check certificates")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="programs at once")
    parser.add_argument("--keep", type=Path, default=Path(tempfile.gettempdir()))
    options = parser.parse_args(arguments)
    if "," in options.property and options.engine != "auto":
        parser.error("several properties: only with --engine auto")
    return options


def main() -> int:
    options = options_of()
    result = compare(options)
    print(f"{options.engine}: {options.property}, {options.programs} from {options.first} on")
    for (found, expected), count in sorted(result.pairs.items()):
        print(f"  engine {found:8} exploration {expected:8} {count:5}")
    for reason, count in result.reasons.most_common():
        print(f"  {count:5} unknown: {reason}")
    print(f"  {len(result.disagreements)} disagreements", flush=True)
    return 1 if result.disagreements else 0


if __name__ == "__main__":
    sys.exit(main())
