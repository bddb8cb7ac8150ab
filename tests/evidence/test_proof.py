"""Invariants from proofs: they hold in every state that the interpreter comes to."""

from __future__ import annotations

import random
import re
import tempfile
from pathlib import Path

import pytest
from tests.evidence.programs import EXAMPLES

from plait.c import FrontEndOptions, load
from plait.engines.impact.engine import verify
from plait.engines.impact.settings import Reduction, Settings
from plait.engines.interface import Answer
from plait.evidence.proof import Proof, proof_of
from plait.evidence.result import Invariant
from plait.model.layout import cells
from plait.model.program import Program
from plait.model.properties import Specification
from plait.semantics.machine import Machine
from plait.semantics.outcome import Ending
from plait.semantics.state import Status
from trust import native

PROGRAMS = Path(__file__).parents[1] / "engines" / "impact" / "programs"
ASSERTIONS = Specification()


def proved(path: Path, reduction: Reduction) -> tuple[Program, Proof]:
    program = load([str(path)], FrontEndOptions(), ASSERTIONS)
    outcome = verify(program, ASSERTIONS, Settings(reduction=reduction))
    assert outcome.answer is Answer.HOLDS and outcome.proof is not None
    is_reduced = reduction is not Reduction.NONE
    return program, proof_of(program, outcome.proof.certificate(), is_reduced=is_reduced)


def value_of(text: str, values: dict[str, int]) -> bool:
    """The value of a C condition without arithmetic."""
    python = text.replace("&&", " and ").replace("||", " or ")
    names = sorted(values, key=len, reverse=True)
    pattern = "|".join(re.escape(name) for name in names)
    python = re.sub(rf"(?<![\w.\]])({pattern})(?![\w\[.])", lambda m: f"({values[m[1]]})", python)
    python = re.sub(r"(\d)U\b", r"\1", python)
    return bool(eval(python, {"__builtins__": {}}))


def globals_of(program: Program, machine: Machine) -> dict[str, int]:
    found = {}
    for item in program.objects:
        if item.library or item.thread_local or item.read_only:
            continue
        data = machine.memory[item.page]
        for cell in cells(item.layout):
            raw = bytes(data[cell.offset : cell.offset + cell.scalar.size])
            found[item.name + cell.path] = int.from_bytes(raw, "little", signed=cell.scalar.signed)
    return found


def check(program: Program, invariants: list[Invariant], seeds: range) -> int:
    """Random runs; how often an invariant was looked at."""
    looked_at = 0
    by_place: dict[tuple[str, int, int], list[Invariant]] = {}
    for item in invariants:
        key = item.place.function, item.place.line, item.place.column
        by_place.setdefault(key, []).append(item)
    for seed in seeds:
        dice = random.Random(seed)
        machine = Machine(program, ASSERTIONS)
        machine.supply = lambda request, dice=dice: dice.randint(0, 1)
        machine.start()
        for _ in range(300):
            threads = machine.runnable()
            if not threads:
                break
            machine.commit()
            if machine.step(dice.choice(threads)).ending is not Ending.MOVED:
                machine.take_back()
                continue
            known = globals_of(program, machine)
            for thread in machine.threads:
                if thread.status is not Status.RUNNING or thread.code is None:
                    continue
                function = thread.code.function
                leaving = function.edges[thread.location]
                if not leaving:
                    continue
                origin = leaving[0].action.origin
                for item in by_place.get((function.display, origin.line, origin.column), []):
                    own = {
                        declared.name: int(value)
                        for declared, value in zip(function.registers, thread.values, strict=False)
                        if declared.name and isinstance(value, int)
                    }
                    assert value_of(item.text, known | own), (item.text, known | own)
                    looked_at += 1
    return looked_at


@pytest.mark.parametrize("reduction", [Reduction.NONE, Reduction.DYNAMIC])
def test_invariants_of_peterson_hold(reduction: Reduction) -> None:
    program, proof = proved(EXAMPLES / "peterson.c", reduction)
    assert proof.invariants
    assert check(program, proof.invariants, range(30)) > 100


def test_shared_variables_need_all_interleavings() -> None:
    _, reduced = proved(EXAMPLES / "peterson.c", Reduction.DYNAMIC)
    assert not any("turn" in item.text or "inside" in item.text for item in reduced.invariants)
    _, whole = proved(EXAMPLES / "peterson.c", Reduction.NONE)
    inside = [item.text for item in whole.invariants if "inside == 1" in item.place.text]
    assert len(inside) == 1 and "inside == 1" in inside[0]


SMALL = """equal_counters bounded_counter double_counter covered_in_loop input
    condition alias_pointer section_loop process_exit_flag""".split()


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("reduction", [Reduction.NONE, Reduction.DYNAMIC])
def test_invariants_of_small_programs_hold(name: str, reduction: Reduction) -> None:
    program, proof = proved(PROGRAMS / f"{name}_safe.c", reduction)
    check(program, proof.invariants, range(15))


def test_the_tree_shows_where_threads_are() -> None:
    _, proof = proved(EXAMPLES / "peterson.c", Reduction.DYNAMIC)
    assert proof.tree[0].parent is None
    numbers = {node.number for node in proof.tree}
    for node in proof.tree[1:]:
        assert node.parent in numbers and node.thread is not None
    assert any(node.cover is not None for node in proof.tree)
    assert any("peterson.c:" in place for node in proof.tree for place in node.where.values())


@pytest.mark.parametrize("name", ["peterson", "locked_counter", "spin_lock"])
def test_invariants_can_be_written_where_they_hold(name: str) -> None:
    """The compiler knows all names at the place that the invariant is about."""
    if native.compiler() is None:
        pytest.skip("needs a C compiler")
    path = EXAMPLES / f"{name}.c"
    _, proof = proved(path, Reduction.NONE)
    assert proof.invariants
    lines = path.read_text().splitlines()
    for item in sorted(proof.invariants, key=lambda item: -item.place.line):
        if lines[item.place.line - 1].rstrip().endswith((";", "{")):
            if not lines[item.place.line - 1].startswith("static void leave"):
                lines.insert(item.place.line - 1, f"(void)({item.text});")
    with tempfile.TemporaryDirectory() as folder:
        native.build("\n".join(lines) + "\n", folder)


WORKER = """
#include <pthread.h>
%s
int main(void) {
  pthread_t thread;
  %s
  pthread_create(&thread, 0, work, 0);
  %s
  pthread_join(thread, 0);
  return 0;
}
"""


def invariants_of(
    tmp_path: Path, text: str, before: str = "", behind: str = "", reduction: str = "none"
) -> dict[str, str]:
    """By the text of the statement."""
    path = tmp_path / "program.c"
    path.write_text(WORKER % (text, before, behind))
    _, proof = proved(path, Reduction(reduction))
    return {item.place.text: item.text for item in proof.invariants}


@pytest.mark.parametrize("reduction", ["none", "dynamic"])
def test_steps_that_run_over_a_place_count(tmp_path: Path, reduction: str) -> None:
    """The first call is made by a thread that is alone, the second one in an atomic section."""
    text = """
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
int g;
void set(int n) {
  g = n;
}
void *work(void *p) {
  %s
  return 0;
}"""
    section = "__VERIFIER_atomic_begin(); set(2); __VERIFIER_atomic_end();"
    found = invariants_of(tmp_path, text % section, behind="set(3);", reduction=reduction)
    assert "g = n" not in found
    found = invariants_of(tmp_path, text % "", "set(1);", "set(3);", reduction=reduction)
    assert "g = n" not in found


def test_the_first_round_of_a_local_loop_counts(tmp_path: Path) -> None:
    text = """
int g;
void *work(void *p) {
  int s = 7;
  for (int i = 0;
       i < 5;
       i++)
    s = 1;
  g = s;
  return 0;
}"""
    found = invariants_of(tmp_path, text)
    assert "i < 5" not in found and "s == 1" in found["g = s"]


def test_a_name_that_means_something_else_is_not_used(tmp_path: Path) -> None:
    text = """
int x; int y; int z;
void *work(void *p) {
  static int x = 1;
  enum { y = 3 };
  x = y;
  z = x;
  return 0;
}"""
    found = invariants_of(tmp_path, text, "x = 5; y = 6; z = 7;")
    assert found["z = x"] == "z == 7"


def test_members_of_a_union_are_told_apart(tmp_path: Path) -> None:
    text = """
union { int i; unsigned char c[4]; } u;
struct { unsigned a : 3; unsigned b : 5; } bits;
int z;
void *work(void *p) {
  z = 2;
  return 0;
}"""
    found = invariants_of(tmp_path, text, "u.i = 260; u.c[0] = 9; bits.a = 1; bits.b = 2;")
    assert "u.c[0] == 9" in found["z = 2"]
    assert "u.i" not in found["z = 2"] and "bits" not in found["z = 2"]
