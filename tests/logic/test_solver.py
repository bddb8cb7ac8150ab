"""The solver: incremental use, models, cores, limits, propagators and its lifetime."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plait.logic.second_opinion import Disagreement, SecondOpinion
from plait.logic.solver import BACKENDS, SECOND_OPINION, Solver, SolverError
from plait.logic.terms import Terms


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def pigeons(solver: Solver, holes: int) -> None:
    """One more pigeon than holes: unsatisfiable, and hard for resolution."""
    place = [[solver.new_literal() for _ in range(holes)] for _ in range(holes + 1)]
    for pigeon in place:
        solver.add_clause(pigeon)
    for hole in range(holes):
        for second in range(holes + 1):
            for first in range(second):
                solver.add_clause([-place[first][hole], -place[second][hole]])


def test_incremental_use(backend: str) -> None:
    terms = Terms()
    x, y = terms.variable("x", 16), terms.variable("y", 16)
    with Solver(terms, backend, SecondOpinion(terms)) as solver:
        solver.assert_term(terms.eq(terms.add(x, y), terms.constant(100, 16)))
        assert solver.solve()
        assert (solver.model_value(x) + solver.model_value(y)) % 2**16 == 100
        small = solver.literal_of(terms.ult(x, terms.constant(10, 16)))
        assert solver.solve([small])
        assert solver.model_value(x) < 10
        assert solver.solve([-small])
        assert solver.model_value(x) >= 10
        solver.assert_term(terms.ult(terms.constant(200, 16), y))
        assert solver.solve([small]) is False
        assert solver.core() == [small]
        assert solver.solve()
        assert not solver.literal_value(small)
        solver.add_clause([small])
        assert solver.solve() is False
        assert solver.core() == []


def test_cores_name_the_assumptions_needed(backend: str) -> None:
    terms = Terms()
    variables = [terms.variable(f"v{index}", 8) for index in range(20)]
    with Solver(terms, backend, SecondOpinion(terms)) as solver:
        links = [
            solver.literal_of(terms.ult(first, second))
            for first, second in zip(variables, variables[1:])
        ]
        back = solver.literal_of(terms.ult(variables[9], variables[4]))
        assert solver.solve(links)
        assert solver.solve([*links, back]) is False
        core = solver.core()
        assert back in core
        assert set(core) <= {*links, back}
        assert set(core) == {back, *links[4:9]}


def test_enumeration_of_models(backend: str) -> None:
    """Each model is excluded by a clause, as the rounds of a refinement do."""
    terms = Terms()
    x, y = terms.variable("x", 4), terms.variable("y", 4)
    with Solver(terms, backend) as solver:
        solver.assert_term(terms.ult(terms.mul(x, y), terms.constant(3, 4)))
        bits = [*solver.bits_of(x), *solver.bits_of(y)]
        found = set()
        while solver.solve():
            pair = (solver.model_value(x), solver.model_value(y))
            assert pair not in found
            found.add(pair)
            solver.add_clause([-bit if solver.literal_value(bit) else bit for bit in bits])
        assert found == {(a, b) for a in range(16) for b in range(16) if a * b % 16 < 3}


def test_models_stay_readable_while_more_is_added(backend: str) -> None:
    terms = Terms()
    x, y, z = (terms.variable(name, 8) for name in "xyz")
    with Solver(terms, backend) as solver:
        solver.assert_term(terms.eq(terms.mul(x, y), terms.constant(77, 8)))
        assert solver.solve()
        first = solver.model_value(x)
        # Neither blasted before the answer nor part of the problem: computed from the model.
        assert solver.model_value(terms.add(x, z)) == first
        later = terms.udiv(x, y)
        solver.bits_of(later)
        wanted = first // solver.model_value(y) if solver.model_value(y) else 0
        assert solver.model_value(later) == wanted
        solver.assert_term(terms.ne(x, terms.constant(first, 8)))
        assert solver.model_value(x) == first
        assert solver.solve()
        assert solver.model_value(x) != first


def test_limits(backend: str) -> None:
    with Solver(Terms(), backend) as solver:
        pigeons(solver, 11)
        assert solver.solve(conflicts=50) is None
        assert solver.solve(conflicts=0) is None
        start = time.monotonic()
        assert solver.solve(deadline=start + 0.3) is None
        assert 0.2 < time.monotonic() - start < 5
        assert solver.solve(conflicts=300, deadline=time.monotonic() + 60) is None
        assert solver.solve(deadline=time.monotonic() - 1) is None
        with pytest.raises(SolverError):
            solver.core()
        with pytest.raises(SolverError):
            solver.literal_value(1)
    with Solver(Terms(), backend) as solver:
        pigeons(solver, 6)
        assert solver.solve(conflicts=1_000_000, deadline=time.monotonic() + 60) is False


def test_conflict_budgets_are_kept() -> None:
    with Solver(Terms()) as solver:
        pigeons(solver, 11)
        solver.solve(conflicts=500)
        assert 400 <= solver.statistics().conflicts <= 600
        solver.solve(conflicts=700, deadline=time.monotonic() + 60)
        assert 1000 <= solver.statistics().conflicts <= 1400


def test_closing() -> None:
    terms = Terms()
    solver = Solver(terms)
    literal = solver.new_literal()
    solver.add_clause([literal])
    assert solver.solve()
    solver.close()
    solver.close()
    assert solver.literal_value(literal)
    for use in (
        lambda: solver.solve(),
        lambda: solver.add_clause([literal]),
        lambda: solver.literal_of(terms.variable("p", 1)),
        lambda: solver.assert_term(terms.variable("p", 1)),
        lambda: solver.statistics(),
    ):
        with pytest.raises(SolverError):
            use()
    with pytest.raises(ValueError, match="closed"):
        solver.gates.add_clause([literal])


def memory() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs Linux")
def test_solvers_do_not_leak(backend: str) -> None:
    def use() -> None:
        terms = Terms()
        with Solver(terms, backend) as solver:
            x, y = terms.variable("x", 32), terms.variable("y", 32)
            solver.assert_term(terms.eq(terms.mul(x, y), terms.constant(12, 32)))
            assert solver.solve()

    for _ in range(3):
        use()
    gc.collect()
    before = memory()
    for _ in range(25):
        use()
    gc.collect()
    assert memory() - before < 20_000_000


def test_unknown_backends_and_wrong_terms() -> None:
    terms = Terms()
    with pytest.raises(SolverError, match="cadical195"):
        Solver(terms, "chaff")
    with Solver(terms) as solver, pytest.raises(ValueError, match="truth value"):
        solver.assert_term(terms.variable("x", 8))
    with Solver(terms, "minisat22") as solver, pytest.raises(SolverError, match="propagator"):
        solver.connect_propagator(AtMostOne(solver, []), [])


def test_importing_loads_no_solver() -> None:
    code = (
        "import sys, plait.logic.solver, plait.logic.translate;"
        "assert not {'pysat', 'pysolvers', 'z3'} & set(sys.modules)"
    )
    subprocess.run(
        [sys.executable, "-c", code], check=True, env={"PYTHONPATH": os.pathsep.join(sys.path)}
    )


def test_keyboard_interrupt(backend: str) -> None:
    """Also several times in one process, and the solver can be used afterwards."""
    with Solver(Terms(), backend) as solver:
        pigeons(solver, 14)
        for _ in range(3):
            command = f"sleep 0.3; kill -{int(signal.SIGINT)} {os.getpid()}"
            killer = subprocess.Popen(["sh", "-c", command])
            start = time.monotonic()
            with pytest.raises(KeyboardInterrupt):
                solver.solve()
            assert time.monotonic() - start < 5
            killer.wait()
        assert solver.solve(conflicts=10) is None


# --- external propagators


class AtMostOne:
    """At most one of some literals, found out by propagation; `check_model` looks at all again."""

    def __init__(self, solver: Solver, literals: list[int]) -> None:
        self.literals = literals
        self.trail: list[list[int]] = [[]]
        self.reasons: dict[int, list[int]] = {}
        self.pending: list[list[int]] = []
        self.is_lazy = False

    def on_assignment(self, lit: int, fixed: bool = False) -> None:
        self.trail[0 if fixed else -1].append(lit)

    def on_new_level(self) -> None:
        self.trail.append([])

    def on_backtrack(self, to: int) -> None:
        del self.trail[to + 1 :]

    def _true(self) -> Iterator[int]:
        assigned = {literal for level in self.trail for literal in level}
        return (literal for literal in self.literals if literal in assigned)

    def propagate(self) -> list[int]:
        assigned = {literal for level in self.trail for literal in level}
        for first in self._true():
            implied = [-x for x in self.literals if x != first and -x not in assigned]
            for literal in implied:
                self.reasons[literal] = [literal, -first]
            return implied
        return []

    def provide_reason(self, lit: int) -> list[int]:
        return self.reasons[lit]

    def check_model(self, model: list[int]) -> bool:
        members = set(model)
        true = [literal for literal in self.literals if literal in members]
        if len(true) > 1:
            self.pending.append([-true[0], -true[1]])
        return len(true) <= 1

    def decide(self) -> int:
        return 0

    def add_clause(self) -> list[int]:
        return self.pending.pop() if self.pending else []


@pytest.mark.parametrize("wanted", [1, 2, 3])
def test_propagators_take_part(wanted: int) -> None:
    terms = Terms()
    opinion = SecondOpinion(terms)
    x = terms.variable("x", 4)
    with Solver(terms, second_opinion=opinion) as solver:
        bits = list(solver.bits_of(x))
        ones = [terms.zero_extend(terms.extract(x, place, 1), 4) for place in range(4)]
        count = terms.add(terms.add(ones[0], ones[1]), terms.add(ones[2], ones[3]))
        solver.assert_term(terms.ule(terms.constant(1, 4), count))
        enough = solver.literal_of(terms.ule(terms.constant(wanted, 4), count))
        solver.connect_propagator(AtMostOne(solver, bits), bits)
        assert solver.solve([enough]) is (wanted < 2)
        assert solver.solve()
        assert solver.model_value(x) in (1, 2, 4, 8)
        solver.disconnect_propagator()
    assert opinion.confirmed == 2


# --- second opinions


def test_wrong_models_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    terms = Terms()
    x = terms.variable("x", 8)
    with Solver(terms, second_opinion=SecondOpinion(terms)) as solver:
        solver.assert_term(terms.ult(x, terms.constant(5, 8)))
        monkeypatch.setattr(solver, "model_value", lambda term: 9)
        with pytest.raises(Disagreement, match="model"):
            solver.solve()


def test_wrong_cores_are_noticed() -> None:
    terms = Terms()
    opinion = SecondOpinion(terms)
    p = terms.variable("p", 1)
    with Solver(terms, second_opinion=opinion) as solver:
        literal = solver.literal_of(p)
        # A clause that z3 is not told about, as if a gate had a wrong one.
        solver.gates.add_clause([-literal])
        with pytest.raises(Disagreement, match="unsatisfiable"):
            solver.solve([literal])


def test_environment_switches_opinions_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SECOND_OPINION, "1")
    terms = Terms()
    with Solver(terms) as solver:
        literal = solver.literal_of(terms.variable("p", 1))
        solver.gates.add_clause([-literal])
        with pytest.raises(Disagreement):
            solver.solve([literal])


# --- clauses only


@given(
    st.lists(st.lists(st.integers(-8, 8).filter(bool), min_size=1, max_size=3), max_size=40),
    st.lists(st.integers(-8, 8).filter(bool), max_size=4),
    st.sampled_from(sorted(BACKENDS)),
)
@settings(max_examples=150, deadline=None)
def test_clauses_against_z3(clauses: list[list[int]], assumed: list[int], name: str) -> None:
    terms = Terms()
    opinion = SecondOpinion(terms)
    with Solver(terms, name, opinion) as solver:
        literals = [0, *(solver.new_literal() for _ in range(8))]

        def literal(number: int) -> int:
            return literals[number] if number > 0 else -literals[-number]

        for clause in clauses:
            solver.add_clause([literal(number) for number in clause])
        assumptions = [literal(number) for number in assumed]
        answer = solver.solve(assumptions)
        if answer:
            for clause in clauses:
                assert any(solver.literal_value(literal(number)) for number in clause)
            assert all(solver.literal_value(item) for item in assumptions)
        else:
            assert set(solver.core()) <= set(assumptions)
    assert opinion.confirmed == 1
