"""Deadlock, exactly: a thread is blocked in a reachable state, and in no continuation does it get
unblocked or does the process end.

A state in which nobody can move is the usual case and found while exploring; this module finds
the rest (two threads wait for each other while a third one runs for ever) on the full graph.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True, eq=False)
class StateGraph:
    """`blocked[s]` maps the threads that are blocked in state s to what they wait for; None for
    a state about which nothing can be said (not explored, or some continuation is unknown)."""

    sources: list[list[int]] = field(default_factory=list)
    blocked: list[frozenset[int] | None] = field(default_factory=list)

    def add_state(self) -> None:
        self.sources.append([])
        self.blocked.append(None)

    def deadlock(self) -> tuple[int, int] | None:
        """The first state and thread such that the thread is blocked there for ever."""
        threads = sorted({thread for row in self.blocked if row for thread in row})
        found: tuple[int, int] | None = None
        for thread in threads:
            hopeful = [row is None or thread not in row for row in self.blocked]
            pending = [state for state, is_hopeful in enumerate(hopeful) if is_hopeful]
            while pending:
                for source in self.sources[pending.pop()]:
                    if not hopeful[source]:
                        hopeful[source] = True
                        pending.append(source)
            for state, is_hopeful in enumerate(hopeful):
                if not is_hopeful and (found is None or state < found[0]):
                    found = state, thread
                    break
        return found
