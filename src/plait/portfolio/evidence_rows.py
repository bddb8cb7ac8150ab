"""Evidence as JSON, for messages and for the cache."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from plait.evidence.counterexample import Evidence


def row_of(evidence: Evidence) -> dict[str, Any]:
    import json

    from plait.evidence.stored import plain
    from plait.semantics.schedule import to_text

    return {
        "violation": plain(evidence.violation),
        "schedule": json.loads(to_text(evidence.schedule)),
        "threads": plain(evidence.threads),
        "inputs": plain(evidence.inputs),
        "trace": plain(evidence.trace),
    }
