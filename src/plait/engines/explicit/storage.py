"""States in little memory, without loss.

What a state consists of is kept once and has a number (the idea of COLLAPSE compression in SPIN:
Holzmann, "State Compression in SPIN", 1997): all memory together, and each thread. A stored state
is the row of these numbers, so that two states are one exactly if their rows are.
"""

from __future__ import annotations

from array import array

from plait.semantics.state import State, Thread

_Memory = tuple[object, ...]


class StateStore:
    """Gives states numbers, and the states back."""

    def __init__(self) -> None:
        self._numbers: dict[bytes, int] = {}
        self._rows: list[bytes] = []
        self._memories: dict[_Memory, int] = {}
        self._memory_list: list[_Memory] = []
        self._threads: dict[Thread, int] = {}
        self._thread_list: list[Thread] = []

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def memories(self) -> int:
        return len(self._memory_list)

    def add(self, state: State) -> tuple[int, bool]:
        """The number of a state, and whether it is new."""
        row = self._row(state)
        number = self._numbers.get(row)
        if number is not None:
            return number, False
        number = self._numbers[row] = len(self._rows)
        self._rows.append(row)
        return number, True

    def state(self, number: int) -> State:
        row = array("I")
        row.frombytes(self._rows[number])
        pages, contents, undefined, heap, end = self._memory_list[row[0]]
        listed = self._thread_list
        threads = tuple([listed[item] for item in row[1:]])
        return State(pages, contents, undefined, heap, threads, end)  # type: ignore[arg-type]

    def _row(self, state: State) -> bytes:
        memory = (state.pages, state.contents, state.undefined, state.heap, state.exit)
        place = self._memories.get(memory)
        if place is None:
            place = self._memories[memory] = len(self._memory_list)
            self._memory_list.append(memory)
        row = [place]
        known = self._threads
        for thread in state.threads:
            # Threads of states are interned, so that they are equal only if they are the same.
            number = known.get(thread)
            if number is None:
                number = known[thread] = len(self._thread_list)
                self._thread_list.append(thread)
            row.append(number)
        return array("I", row).tobytes()
