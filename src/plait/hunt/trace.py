"""What the runtime has recorded about one run (`src/plait/native/runtime/record.c`)."""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from pathlib import Path

from plait.data import dataclass
from plait.hunt.schedule import Decision, Pick, Step

_HEADER = struct.Struct("<8s7Q")
_OUTCOME = (64, 2048)
_NAMES = (64 + 2048, 512, 64)
_SUSPECT = struct.Struct("<5Q")
_SUSPECTS_AT = 64 + 2048 + 512 * 64
_RECORDS_AT = 1 << 16
_RECORD = struct.Struct("<5QIHH4BIQ")
READ, WRITE, UPDATE, SYNC, CHOICE, PENDING = range(6)
_OUTSIDE, _PATIENT = 1, 2


@dataclass(slots=True, frozen=True)
class Operation:
    """One record. `other` is a second object that is touched; for a choice the number of ways.
    `enabled` has a bit for each thread that could have gone on, if that was asked for."""

    number: int
    thread: int
    kind: int
    name: str
    address: int
    size: int
    pc: int
    value: int | None
    is_atomic: bool
    is_step: bool
    enabled: int
    other: int
    is_outside: bool
    is_patient: bool
    pending_kind: int  # of a record of what a thread would do next


@dataclass(slots=True, frozen=True)
class Suspect:
    """Two accesses that nothing orders."""

    first: int
    second: int
    first_pc: int
    second_pc: int
    address: int


class Trace:
    """A run, read from its file; operations are decoded when they are asked for."""

    def __init__(self, path: Path) -> None:
        with open(path, "rb") as file:
            size = file.seek(0, 2)
            with mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ) as data:
                head = _HEADER.unpack_from(data, 0)
                _, self.count, names, suspects, self.thread_count, _, _, self.clock_reads = head
                self.outcome = _text(data, *_OUTCOME)
                at, _, width = _NAMES
                self._names = [_text(data, at + i * width, width) for i in range(names)]
                self.suspects = [
                    Suspect(*_SUSPECT.unpack_from(data, _SUSPECTS_AT + i * _SUSPECT.size))
                    for i in range(suspects)
                ]
                self._data = data[_RECORDS_AT : _RECORDS_AT + self.count * _RECORD.size]

    def __iter__(self) -> Iterator[Operation]:
        names = self._names
        for number, row in enumerate(_RECORD.iter_unpack(self._data)):
            (
                address,
                pc,
                value,
                enabled,
                other,
                size,
                thread,
                name,
                kind,
                atomic,
                step,
                has,
                flags,
                _,
            ) = row
            yield Operation(
                number,
                thread,
                kind,
                names[name] if names else "",
                address,
                size,
                pc,
                value if has else None,
                bool(atomic),
                bool(step),
                enabled,
                other,
                bool(flags & _OUTSIDE),
                bool(flags & _PATIENT),
                has if kind == PENDING else -1,
            )

    def fingerprint(self) -> int:
        """Of all that was done, in its order."""
        return hash(bytes(self._data))

    def decisions(self) -> Iterator[Decision]:
        """What makes the run again."""
        for row in _RECORD.iter_unpack(self._data):
            if row[8] == CHOICE:
                yield Pick(row[2])
            elif row[8] != PENDING and row[10]:
                yield Step(row[6])


def _text(data: mmap.mmap, start: int, size: int) -> str:
    return data[start : start + size].split(b"\0", 1)[0].decode("utf-8", "backslashreplace")
