"""The order graph as an external propagator: consulted while the solver is still deciding.

Beyond the paper: a partial assignment whose orders have a cycle is given up at once, with the
reason as a clause, and links that the orders exclude are set to false. The engine still validates
every model that the solver returns, and replays what it reports.

CaDiCaL trusts us, and a promise broken here ends in a crash of the process, not in an exception:

- The reason of a literal that we set may only mention literals that had their value before it. The
  solver asks late or never, and in the meantime the orders may exclude the same link once more, for
  later reasons. So only a literal without a value is set, and its reason is the one found then.
- At level 0, where there are no reasons, it would take a literal without learning it. There it
  gets clauses instead.
- All literals must be observed before the solver is used for the first time. Later it may have
  eliminated them.
- Between searches the solver tries things out. It does not tell us of the levels it makes for that,
  but it does tell us that it goes back.
"""

from __future__ import annotations

from plait.engines.orders.graph import EventOrderGraph, Refuted


class OrderPropagator:
    """Follows the solver's trail in a graph of its own."""

    def __init__(self, graph: EventOrderGraph) -> None:
        self._graph = graph
        self._level = 0
        # True for good, but told at a higher level: the graph forgets these when it goes back.
        self._fixed: list[int] = []
        self._refuted: dict[int, Refuted] = {}
        self._clauses: list[list[int]] = []
        self.conflicts = 0
        self.refutations = 0

    def observed(self) -> list[int]:
        return self._graph.structure.literals

    def on_assignment(self, lit: int, fixed: bool = False) -> None:
        if self._level:
            if fixed:
                self._fixed.append(lit)
        elif not fixed:
            return  # not of a search
        self._graph.push(lit)
        self._graph.reject(-lit)

    def on_new_level(self) -> None:
        self._level += 1
        self._graph.new_level()

    def on_backtrack(self, to: int) -> None:
        if to >= self._level:
            return  # not of a search
        self._level = to
        self._graph.backtrack(to)
        for literal in self._fixed:
            self._graph.push(literal)
            self._graph.reject(-literal)
        if not to:
            self._fixed.clear()

    def check_model(self, model: list[int]) -> bool:
        """The engine checks models itself, and adds its clauses before it asks again; a conflict
        that is already known saves it the round."""
        return not self._graph.has_conflict

    def decide(self) -> int:
        return 0

    def propagate(self) -> list[int]:
        if self._graph.has_conflict:
            return []
        found = []
        for refuted in self._graph.refuted_links():
            literal = -refuted.link.literal
            self._refuted[literal] = refuted
            found.append(literal)
        self.refutations += len(found)
        if self._level:
            return found
        self._clauses = [self.provide_reason(literal) for literal in found]
        return []

    def provide_reason(self, lit: int) -> list[int]:
        reason = self._graph.refutation_reason(self._refuted[lit])
        return [lit, *(-literal for literal in reason)]

    def add_clause(self) -> list[int]:
        if self._graph.has_conflict:
            self.conflicts += 1
            return [-literal for literal in self._graph.conflict_reason()]
        return self._clauses.pop() if self._clauses else []
