"""Paths through a block as one way: few of them, and together they say what the paths say."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from tests.symbolic.helpers import APART, MERGED, executor_of, loaded, reachable

from plait.logic.solver import Solver
from plait.logic.terms import Terms
from plait.symbolic.blocks import Block, Kind, Way
from plait.symbolic.execute import Executor
from plait.symbolic.locations import Cell, Location
from plait.symbolic.variables import cell_variable, register_variable
from trust import concurrent, pointers, trying

HEAD = "#include <assert.h>\n#include <pthread.h>\nextern int __VERIFIER_nondet_int(void);\n"


def branches(count: int, text: str) -> str:
    return " ".join(text.replace("#", str(number)) for number in range(count))


INPUTS = branches(20, "{ int a# = __VERIFIER_nondet_int(); if (a# > 3) s += a# & 1; else s ^= 2; }")


def last_block(executor: Executor) -> tuple[Location, Block]:
    """Of the initial thread, which is alone: the one with the most ways."""
    found = [(place, executor.block(place, 1)) for place in reachable(executor, 20)]
    return max(found, key=lambda row: len(row[1].ways))


# --- how many ways there are


def test_a_million_paths_are_one_way(tmp_path: Path) -> None:
    """To the violation: where it does not happen, the process ends."""
    text = f"{HEAD} int main(void) {{ int s = 0; {INPUTS} assert(s < 100); return 0; }}"
    executor = executor_of(loaded(text, tmp_path), Terms(), MERGED)
    block = executor.block(executor.start(), 1)
    assert [way.kind for way in block.ways] == [Kind.VIOLATION]
    assert block.ends_process


def test_nested_branches_and_calls_in_a_loop(tmp_path: Path) -> None:
    """Where a run has been inside of the loop must not keep it from meeting others."""
    body = branches(
        12, "{ int a# = __VERIFIER_nondet_int(); if (a# > 3) { if (a# > 9) s += one(a#); s++; } }"
    )
    text = (
        f"{HEAD} int one(int x) {{ if (x & 1) return 1; if (x & 2) return 2; return 3; }}"
        f"int main(void) {{ int s = 0; while (s < 1000) {{ {body} }} return 0; }}"
    )
    executor = executor_of(loaded(text, tmp_path), Terms(), MERGED)
    _, block = last_block(executor)
    assert len(block.ways) <= 4


def test_explicit_values_are_kept_apart(tmp_path: Path) -> None:
    """What has few values is part of the location: as many ways as there are values at the end."""
    text = (
        f"{HEAD} int x, y; int main(void) {{ int s = 0, *p = &x; {INPUTS}"
        "if (__VERIFIER_nondet_int()) p = &y;"
        "while (__VERIFIER_nondet_int()) *p = s; return 0; }"
    )
    executor = executor_of(loaded(text, tmp_path), Terms(), MERGED)
    block = executor.block(executor.start(), 1)
    targets = [way.target for way in block.ways if way.kind is Kind.MOVE]
    assert len(targets) == len(set(targets)) == 2


def test_too_many_explicit_values_are_given_up(tmp_path: Path) -> None:
    flags = branches(10, "int f# = 0;")
    text = (
        f"{HEAD} int main(void) {{ {flags}"
        + branches(10, "if (__VERIFIER_nondet_int()) f# = 1;")
        + "while (__VERIFIER_nondet_int()) assert("
        + " + ".join(f"f{number}" for number in range(10))
        + " < 17); return 0; }"
    )
    executor = executor_of(loaded(text, tmp_path), Terms(), MERGED)
    assert len(executor.block(executor.start(), 1).ways) < 200


def test_large_numbers_are_no_addresses(tmp_path: Path) -> None:
    """A value of -1 has the bits of an address; there is nothing at it, and it may be given up."""
    text = (
        f"{HEAD} int main(void) {{ {branches(10, 'long f# = 0;')}"
        + branches(10, "if (__VERIFIER_nondet_int()) f# = -1;")
        + "while (__VERIFIER_nondet_int()) assert("
        + " + ".join(f"f{number}" for number in range(10))
        + " < 17); return 0; }"
    )
    executor = executor_of(loaded(text, tmp_path), Terms(), MERGED)
    assert len(executor.block(executor.start(), 1).ways) < 200


def test_troubles_and_violations_of_a_place_are_one(tmp_path: Path) -> None:
    checks = branches(10, "if (__VERIFIER_nondet_int()) s += 3 / one(s + #);")
    text = (
        f"{HEAD} int one(int x) {{ return x; }}"
        "int main(void) { int s = __VERIFIER_nondet_int();"
        f"{checks} assert(s < 100); return 0; }}"
    )
    executor = executor_of(loaded(text, tmp_path), Terms(), MERGED)
    block = executor.block(executor.start(), 1)
    ends = [(way.kind, way.message, way.origin) for way in block.ways]
    assert len(ends) == len(set(ends))
    assert sum(way.kind is Kind.TROUBLE for way in block.ways) >= 10


# --- merged ways against paths


def values_behind(
    executor: Executor, terms: Terms, way: Way, initially: dict[Cell, int]
) -> dict[int, int]:
    """The values of variables behind a way, also of those that the location has."""
    found = dict(way.step.updates)
    assert way.target is not None
    for number, thread in enumerate(way.target.threads, 1):
        for depth, frame in enumerate(thread.frames):
            types = executor.memory.knowledge.shape(frame.function).function.registers
            for index, value in frame.registers:
                bits = types[index].type.bits
                variable = register_variable(terms, number, depth, index, bits)
                found[variable] = terms.constant(value, bits)
    return {**found, **known_cells(terms, way.target, initially)}


def known_cells(terms: Terms, location: Location, initially: dict[Cell, int]) -> dict[int, int]:
    return {
        cell_variable(terms, cell): terms.constant(value, 8 * cell[1])
        for cell, value in {**initially, **dict(location.cells)}.items()
        if value is not None
    }


def structure(way: Way) -> object:
    """What a way ends in, without values."""
    if way.target is None:
        return way.kind, way.message, way.origin
    threads = tuple(
        (
            thread.status,
            thread.depth,
            thread.heap_page,
            thread.stack_page,
            tuple(
                (frame.function, frame.location, frame.base, frame.allocated, frame.slots)
                for frame in thread.frames
            ),
        )
        for thread in way.target.threads
    )
    return threads, way.target.heap


class Comparison:
    def __init__(self, text: str, folder: Path) -> None:
        program = loaded(text, folder)
        self.terms = Terms()
        self.paths = executor_of(program, self.terms, APART)
        self.merged = executor_of(program, self.terms, MERGED)
        self.blocks = self.fewer = 0
        self._solver = Solver(self.terms)

    def compare(self, location: Location, number: int) -> None:
        paths = self.paths.block(location, number)
        merged = self.merged.block(location, number)
        assert len(merged.ways) <= len(paths.ways)
        assert set(map(structure, merged.ways)) <= set(map(structure, paths.ways))
        assert set(paths.accesses) == set(merged.accesses)
        if any(way.inputs for way in paths.ways):
            return
        self.blocks += 1
        self.fewer += len(merged.ways) < len(paths.ways)
        for kind in set(map(structure, paths.ways)):
            self._same(
                location,
                [way for way in paths.ways if structure(way) == kind],
                [way for way in merged.ways if structure(way) == kind],
            )

    def _same(self, location: Location, paths: list[Way], merged: list[Way]) -> None:
        terms = self.terms
        conditions = [
            terms.any_of(terms.all_of(way.step.assumes) for way in ways) for ways in (paths, merged)
        ]
        assert self.is_valid(terms.not_(terms.xor(*conditions)))
        for path in paths:
            for way in merged:
                if path.target is not None:
                    both = terms.all_of((*path.step.assumes, *way.step.assumes))
                    self._same_values(location, both, path, way)

    def _same_values(self, location: Location, both: int, path: Way, way: Way) -> None:
        terms = self.terms
        initially = {
            **self.paths.memory.initially_known,
            **self.merged.memory.initially_known,
        }
        one = values_behind(self.paths, terms, path, initially)
        other = values_behind(self.merged, terms, way, initially)
        known = known_cells(terms, location, initially)
        for variable in {**one, **other}:
            before = known.get(variable, variable)
            values = one.get(variable, before), other.get(variable, before)
            assert self.is_valid(terms.implies(both, terms.eq(*values))), terms.show(variable)

    def is_valid(self, claim: int) -> bool:
        if claim == self.terms.true:
            return True
        return self._solver.solve([-self._solver.literal_of(claim)]) is False


GENERATORS: dict[str, Callable[[int], str]] = {
    "mixed": concurrent.generate,
    "pointers": pointers.generate,
    "trying": trying.generate,
}


@pytest.mark.parametrize("kind", GENERATORS)
def test_merged_ways_say_what_the_paths_say(kind: str, tmp_path: Path) -> None:
    compared = 0
    for seed in range(40, 45):
        comparison = Comparison(GENERATORS[kind](seed), tmp_path)
        for location in reachable(comparison.paths, 15):
            for number in location.can_step():
                comparison.compare(location, number)
        compared += comparison.blocks
    assert compared > 10


SECTIONS = {
    "a flag for each branch": "if (x > #) y += #; else z = x;",
    "three ways": "switch (x & 3) { case 0: y++; break; case 1: z += y; break; default: x += #; }",
    "a pointer": "{ int *p = x & 1 ? &y : &z; *p += #; x >>= 1; }",
    "a wait": "if (x == #) __VERIFIER_assume(y < 10 + #); else z++;",
    "a loop": "while (x > #) { if (x > y) y++; if (y > z) z++; if (z < 9) x--; }",
}


@pytest.mark.parametrize("name", SECTIONS)
def test_sections(name: str, tmp_path: Path) -> None:
    """Atomic sections with more than a hundred paths."""
    count = 4 if name == "three ways" else 6
    text = (
        f"{HEAD} extern void __VERIFIER_atomic_begin(void), __VERIFIER_atomic_end(void);"
        "extern void __VERIFIER_assume(int); int x, y, z;"
        f"void *t(void *a) {{ __VERIFIER_atomic_begin(); {branches(count, SECTIONS[name])}"
        "__VERIFIER_atomic_end(); assert(y < 7 || z > 9); return 0; }"
        "int main(void) { pthread_t a; pthread_create(&a, 0, t, 0); x++; y++; z++; return 0; }"
    )
    comparison = Comparison(text, tmp_path)
    for location in reachable(comparison.paths, 25):
        for number in location.can_step():
            comparison.compare(location, number)
    assert comparison.fewer


def value_of(terms: Terms, term: int, values: dict[int, int]) -> int:
    return terms.evaluate(term, lambda variable: values.get(variable, 0))


def test_inputs_of_merged_paths(tmp_path: Path) -> None:
    """The inputs that a merged way asks for, in order, are those of one path; with them that path
    is possible, and has the same values behind it."""
    body = branches(
        4,
        "if (s > #) { int a# = __VERIFIER_nondet_int(); if (a# & 1) s += __VERIFIER_nondet_int();"
        "else s -= a#; } else s += other();",
    )
    text = (
        f"{HEAD} extern int other(void); int g;"
        f"int main(void) {{ int s = 2; {body} while (__VERIFIER_nondet_int()) g = s; return 0; }}"
    )
    program = loaded(text, tmp_path)
    terms = Terms()
    paths, merged = (executor_of(program, terms, most) for most in (APART, MERGED))
    start = paths.start()
    dice = Random(1)
    tried = 0
    for _ in range(200):
        way = dice.choice([way for way in merged.block(start, 1).ways if way.target is not None])
        values = {use.variable: dice.choice((0, 1, 2, 3, 2**32 - 1)) for use in way.inputs}

        if not all(value_of(terms, term, values) for term in way.step.assumes):
            continue
        asked = [use for use in way.inputs if use.when is None or value_of(terms, use.when, values)]
        matching = []
        for path in paths.block(start, 1).ways:
            given = {
                use.variable: values[other.variable]
                for use, other in zip(path.inputs, asked, strict=False)
            }
            if (
                [use.name for use in path.inputs] == [use.name for use in asked]
                and structure(path) == structure(way)
                and all(value_of(terms, term, given) for term in path.step.assumes)
            ):
                matching.append((path, given))
        ((path, given),) = matching
        for variable, term in path.step.updates.items():
            merged_term = way.step.updates[variable]
            assert value_of(terms, term, given) == value_of(terms, merged_term, values)
        tried += 1
    assert tried > 50
