"""Deadlock, exactly: a thread is blocked in a reachable state, and in no continuation does it get
unblocked or does the process end.

A state in which nobody can move is the usual case and found while exploring; this module finds
the rest (two threads wait for each other while a third one runs for ever) on the full graph.

An execution in which an assumption fails does not exist. So it is no continuation in which a thread
gets unblocked; and whether a state is a deadlock all of whose continuations fail an assumption is
left open. An atomic section in which an assumption fails has not begun: its thread just stands
before it.
"""

from __future__ import annotations

from plait.data import dataclass, field


@dataclass(slots=True, eq=False)
class StateGraph:
    """`blocked[s]` maps the threads that are blocked in state s to what they wait for; None for
    a state about which nothing can be said (not explored, or some continuation is unknown).
    `pruned[s]`: a thread has failed an assumption, and the process has not ended before that."""

    sources: list[list[int]] = field(default_factory=list)
    blocked: list[frozenset[int] | None] = field(default_factory=list)
    pruned: list[bool] = field(default_factory=list)
    # Found by `deadlock`: it would be one but for assumptions that fail afterwards.
    doubtful: bool = False

    def add_state(self) -> None:
        self.sources.append([])
        self.blocked.append(None)
        self.pruned.append(False)

    def deadlock(self) -> tuple[int, int] | None:
        """The first state and thread such that the thread is blocked there for ever."""
        threads = sorted({thread for row in self.blocked if row for thread in row})
        found: tuple[int, int] | None = None
        doomed = self._doomed()
        for thread in threads:
            hopeful = [
                not is_pruned and (row is None or thread not in row)
                for row, is_pruned in zip(self.blocked, self.pruned, strict=True)
            ]
            pending = [state for state, is_hopeful in enumerate(hopeful) if is_hopeful]
            while pending:
                for source in self.sources[pending.pop()]:
                    if not hopeful[source]:
                        hopeful[source] = True
                        pending.append(source)
            for state, is_hopeful in enumerate(hopeful):
                if found is not None and state >= found[0]:
                    break
                if is_hopeful or self.pruned[state]:
                    continue
                if not doomed[state]:
                    found = state, thread
                    break
                self.doubtful = True
        return found

    def _doomed(self) -> list[bool]:
        """The states all of whose continuations fail an assumption (or end the process first)."""
        left = [0] * len(self.sources)
        for sources in self.sources:
            for source in sources:
                left[source] += 1
        doomed = self.pruned[:]
        pending = [state for state, is_doomed in enumerate(doomed) if is_doomed]
        while pending:
            for source in self.sources[pending.pop()]:
                left[source] -= 1
                if left[source] == 0 and not doomed[source]:
                    doomed[source] = True
                    pending.append(source)
        return doomed
