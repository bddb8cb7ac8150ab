"""CaDiCaL 1.9.5 from python-sat's compiled module, without the Python classes around it: to import
those takes ten times as long, and each clause would go through one more call."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import partial
from typing import Any

# In the main thread python-sat would handle Ctrl-C by a longjmp out of the SAT solver, after which
# using it aborts the process and sometimes freeing it crashes. So it is told that it never runs
# there; Python's own handler comes into its own at the end of a slice.
_IN_MAIN_THREAD = 0


class Cadical:
    """As the solver classes of python-sat. After `delete` no method may be called: the memory is
    gone."""

    def __init__(self) -> None:
        self._library: Any = importlib.import_module("pysolvers")
        self._solver: Any = self._library.cadical195_new()
        self._propagator: object = None
        self._assumed: list[int] = []
        self.add_clause: Callable[[list[int]], object] = partial(
            self._library.cadical195_add_cl, self._solver
        )

    def __del__(self) -> None:
        self.delete()

    def delete(self) -> None:
        solver, self._solver = getattr(self, "_solver", None), None
        if solver is not None:
            if self._propagator is not None:
                self._library.cadical195_pdisconn(solver)
            self._library.cadical195_del(solver, None)

    def conf_budget(self, budget: int) -> None:
        self._library.cadical195_cbudget(self._solver, budget)

    def solve_limited(self, assumptions: list[int]) -> bool | None:
        self._assumed = assumptions
        answer = self._library.cadical195_solve_lim(self._solver, assumptions, _IN_MAIN_THREAD)
        return None if answer == 0 else answer > 0

    def get_model(self) -> list[int] | None:
        model: list[int] | None = self._library.cadical195_model(self._solver)
        return model

    def get_core(self) -> list[int] | None:
        core: list[int] | None = self._library.cadical195_core(self._solver, self._assumed)
        return core

    def accum_stats(self) -> dict[str, int]:
        counts: dict[str, int] = self._library.cadical195_acc_stats(self._solver)
        return counts

    def connect_propagator(self, propagator: object) -> None:
        self._library.cadical195_pconn(self._solver, propagator)
        self._propagator = propagator

    def disconnect_propagator(self) -> None:
        self._library.cadical195_pdisconn(self._solver)
        self._propagator = None

    def observe(self, var: int) -> None:
        self._library.cadical195_vobserve(self._solver, var)
