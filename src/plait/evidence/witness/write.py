"""A result as a witness that other verifiers can read."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime

from plait.errors import InputError
from plait.evidence.result import Result
from plait.evidence.witness.content import Format
from plait.evidence.witness.from_result import witness_of
from plait.evidence.witness.graphml_form import to_graphml
from plait.evidence.witness.yaml_form import to_yaml

FORMATS = tuple(item.value for item in Format)


def to_witness(result: Result, form: str) -> str:
    """The witness of a result in one of FORMATS; raises InputError if it has none."""
    if form not in FORMATS:
        raise InputError(f"unknown witness format '{form}' (known: {', '.join(FORMATS)})")
    witness = witness_of(result, Format(form))
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    if witness.format is Format.GRAPHML:
        return to_graphml(witness, now, result.entry)
    return to_yaml(witness, str(uuid.uuid4()), now)
