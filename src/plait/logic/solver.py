"""An incremental solver for terms and clauses, on a SAT solver of python-sat.

CaDiCaL 1.9.5 is the default: it was the fastest in our measurements and takes an external
propagator. It cannot be interrupted, so it always solves in slices of so many conflicts; in between
we look at the clock, and Python at signals. python-sat is loaded when the first solver is made.
"""

from __future__ import annotations

import importlib
import os
import signal
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

from plait.data import dataclass
from plait.errors import PlaitError
from plait.logic.blast import Blaster
from plait.logic.cadical import Cadical
from plait.logic.circuits import Bits
from plait.logic.gates import Gates
from plait.logic.second_opinion import SecondOpinion
from plait.logic.terms import Terms

DEFAULT_BACKEND = "cadical195"
BACKENDS = {"cadical195": "Cadical195", "minisat22": "Minisat22", "glucose4": "Glucose4"}

# If this variable is set, z3 checks every answer of every solver; for test runs.
SECOND_OPINION = "PLAIT_SECOND_OPINION"

_UNLIMITED = 1 << 62
_FIRST_SLICE = 1000
_FIRST_SLICE_WITH_PROPAGATOR = 100
_SLICE_SECONDS = 0.2


class SolverError(PlaitError):
    """The solver was used in a way it does not support."""


class Propagator(Protocol):
    """What CaDiCaL asks an external propagator (pysat.engines.Propagator, IPASIR-UP).

    `check_model` must check the whole model again, even if `propagate` has seen every assignment:
    while another external clause is pending the solver does not ask for conflicts, and a model
    accepted then is a wrong answer. After it returned False, `add_clause` must give the reason.
    """

    def on_assignment(self, lit: int, fixed: bool = False) -> None: ...
    def on_new_level(self) -> None: ...
    def on_backtrack(self, to: int) -> None: ...
    def check_model(self, model: list[int]) -> bool: ...
    def decide(self) -> int: ...
    def propagate(self) -> list[int]: ...
    def provide_reason(self, lit: int) -> list[int]: ...
    def add_clause(self) -> list[int]: ...


class _Backend(Protocol):
    """The part of python-sat's solver classes that is used here."""

    def add_clause(self, clause: list[int]) -> object: ...
    def conf_budget(self, budget: int) -> None: ...
    def solve_limited(self, assumptions: list[int]) -> bool | None: ...
    def get_model(self) -> list[int] | None: ...
    def get_core(self) -> list[int] | None: ...
    def accum_stats(self) -> dict[str, int]: ...
    def delete(self) -> None: ...
    def connect_propagator(self, propagator: object) -> None: ...
    def disconnect_propagator(self) -> None: ...
    def observe(self, var: int) -> None: ...


@dataclass(frozen=True, slots=True)
class Statistics:
    variables: int
    clauses: int
    conflicts: int
    decisions: int
    propagations: int
    restarts: int


class Solver:
    """Decides conjunctions of terms and clauses; what was added is never taken back.

    Literals are those of plait.logic.gates. The last model and core stay readable until the next
    call of `solve`, also when more was added since.
    """

    def __init__(
        self,
        terms: Terms,
        backend: str = DEFAULT_BACKEND,
        second_opinion: SecondOpinion | None = None,
    ) -> None:
        if backend not in BACKENDS:
            raise SolverError(f"no solver named {backend}; there are {', '.join(BACKENDS)}")
        self.terms = terms
        self.backend = backend
        self._oracle: _Backend | None = _new_oracle(backend)
        self.gates = Gates(self._oracle.add_clause)
        self._blaster = Blaster(terms, self.gates)
        self._model: list[int] | None = None
        self._model_variables = 0
        self._core: list[int] | None = None
        self._values: dict[int, int] = {}  # of terms that have no literals, in the model
        self._has_propagator = False
        if second_opinion is None and os.environ.get(SECOND_OPINION):
            second_opinion = SecondOpinion(terms)
        self._opinion = second_opinion

    # --- the problem

    def new_literal(self) -> int:
        """A literal of a variable that no term and no clause mentions."""
        return self.gates.new_literal()

    def add_clause(self, literals: Iterable[int]) -> None:
        self._open()
        clause = list(literals)
        if self._opinion:
            self._opinion.add_clause(clause)
        self.gates.add_clause(clause)

    def literal_of(self, term: int) -> int:
        """A literal that is true exactly where the truth value is."""
        self._open()
        literal = self._blaster.literal(term)
        if self._opinion:
            self._opinion.define(literal, term)
        return literal

    def bits_of(self, term: int) -> Bits:
        """The literals of a term's bits, lowest first."""
        self._open()
        bits = self._blaster.bits(term)
        if self._opinion:
            for place, literal in enumerate(bits):
                self._opinion.define(literal, self.terms.extract(term, place, 1))
        return bits

    def assert_term(self, term: int) -> None:
        self._open()
        if self.terms.width[term] != 1:
            raise ValueError(f"not a truth value: {self.terms.show(term)}")
        if self._opinion:
            self._opinion.assert_term(term)
        self._blaster.assert_term(term)

    # --- answers

    def solve(
        self,
        assumptions: Sequence[int] = (),
        *,
        conflicts: int | None = None,
        deadline: float | None = None,
    ) -> bool | None:
        """Whether there is a model in which the assumed literals are true; None if that was not
        decided within so many conflicts, or before `time.monotonic()` reached the deadline."""
        self._model = self._core = None
        self._values.clear()
        assumed = list(assumptions)
        answer = self._decide(assumed, conflicts, deadline)
        # Both must be fetched now: to ask CaDiCaL after a clause was added ends the process.
        if answer:
            self._model = self._open().get_model() or []
            self._model_variables = self.gates.variables
        elif answer is not None:
            self._core = list(self._open().get_core() or ())
        if self._opinion and answer is not None:
            self._ask_second_opinion(assumed)
        return answer

    def _decide(
        self, assumptions: list[int], conflicts: int | None, deadline: float | None
    ) -> bool | None:
        """Solve in slices that take a fraction of a second: between them Python handles Ctrl-C."""
        oracle = self._open()
        left = _UNLIMITED if conflicts is None else conflicts
        size = _FIRST_SLICE_WITH_PROPAGATOR if self._has_propagator else _FIRST_SLICE
        start = time.monotonic()
        while left > 0 and (deadline is None or start < deadline):
            budget = min(size, left)
            oracle.conf_budget(budget)
            with _signals_wait(self._has_propagator):
                answer = oracle.solve_limited(assumptions)
            if answer is not None:
                return answer
            left -= budget
            end = time.monotonic()
            size = int(size * min(4.0, max(0.25, _SLICE_SECONDS / max(end - start, 1e-6)))) + 1
            start = end
        return None

    def literal_value(self, literal: int) -> bool:
        """The literal's value in the last model."""
        model = self._last_model()
        variable = abs(literal)
        if variable > len(model):
            # No clause mentions it, so it can have any value: like model_value, take 0.
            return literal < 0
        return model[variable - 1] == literal

    def model_value(self, term: int) -> int:
        """The term's value in the last model; variables that do not matter there are 0."""
        value = self._value_in_model(term)
        if value is None:
            value = self.terms.evaluate(
                term, lambda part: self._value_in_model(part) or 0, self._values
            )
        return value

    def _value_in_model(self, term: int) -> int | None:
        bits = self._blaster.known_bits(term)
        if bits is None or any(abs(bit) > self._model_variables for bit in bits):
            return None
        value = 0
        for place, bit in enumerate(bits):
            value |= self.literal_value(bit) << place
        return value

    def core(self) -> list[int]:
        """Assumptions of the last call that suffice for its answer False."""
        if self._core is None:
            raise SolverError("the last answer was not 'unsatisfiable'")
        return self._core

    def _last_model(self) -> list[int]:
        if self._model is None:
            raise SolverError("the last answer was not 'satisfiable'")
        return self._model

    def statistics(self) -> Statistics:
        counts = self._open().accum_stats()
        return Statistics(
            self.gates.variables,
            self.gates.clauses,
            counts["conflicts"],
            counts["decisions"],
            counts["propagations"],
            counts["restarts"],
        )

    def _ask_second_opinion(self, assumptions: list[int]) -> None:
        assert self._opinion is not None
        if self._core is not None:
            self._opinion.expect_unsatisfiable(self._core)
        else:
            self._opinion.expect_model(assumptions, self.literal_value, self.model_value)

    # --- an external propagator

    def connect_propagator(self, propagator: Propagator, observed: Iterable[int]) -> None:
        """Let the propagator take part in the search; it is told about the observed literals'
        variables only, and may only mention those. See `Propagator` for a trap. To be called
        before the first `solve`: CaDiCaL may have eliminated variables that it observes later."""
        oracle = self._open()
        if self.backend != DEFAULT_BACKEND:
            raise SolverError(f"{self.backend} takes no external propagator")
        heard = self._opinion.listen_to(propagator) if self._opinion else propagator
        oracle.connect_propagator(heard)
        self._has_propagator = True
        for literal in observed:
            oracle.observe(abs(literal))

    def observe(self, literal: int) -> None:
        """Tell the connected propagator about one more literal's variable."""
        self._open().observe(abs(literal))

    def disconnect_propagator(self) -> None:
        """Clauses that the propagator gave stay."""
        self._open().disconnect_propagator()
        self._has_propagator = False

    # --- lifetime

    def close(self) -> None:
        """Free the SAT solver's memory. The last model and core stay readable."""
        if self._oracle is not None:
            self.gates.close()
            self._oracle.delete()
            self._oracle = None

    def __enter__(self) -> Solver:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _open(self) -> _Backend:
        if self._oracle is None:
            raise SolverError("the solver is closed")
        return self._oracle


@contextmanager
def _signals_wait(while_called_back: bool) -> Iterator[None]:
    """An exception of a signal handler in the middle of a propagator would reach CaDiCaL as an
    empty clause, after which it may crash; so signals wait for the end of the slice."""
    if not while_called_back or not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _new_oracle(backend: str) -> _Backend:
    try:
        if backend == DEFAULT_BACKEND:
            return Cadical()
        solvers = importlib.import_module("pysat.solvers")
    except ImportError as error:
        message = "plait needs the package python-sat to solve: pip install python-sat"
        raise SolverError(message) from error
    setattr(solvers, "MainThread", _NoMainThread)  # noqa: B010 (the module's type has no such name)
    oracle: _Backend = getattr(solvers, BACKENDS[backend])()
    return oracle


class _NoMainThread:
    """What python-sat is told for the reason that is in plait.logic.cadical."""

    @staticmethod
    def check() -> bool:
        return False
