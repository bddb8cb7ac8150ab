"""What checking a certificate comes to."""

from __future__ import annotations

from enum import Enum

from plait.data import dataclass
from plait.model.actions import NOWHERE, Origin


class Ruling(Enum):
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    UNKNOWN = "unknown"


@dataclass(slots=True, frozen=True)
class Verdict:
    """`reason` names the first step that fails; the counts say what was checked."""

    answer: Ruling
    reason: str
    nodes: int
    steps: int
    queries: int


class Rejected(Exception):
    """Raised where a rule fails; never leaves the checker."""

    def __init__(self, what: str, node: int | None = None, origin: Origin = NOWHERE) -> None:
        self.what = what
        self.node = node
        self.origin = origin
        super().__init__(what)
