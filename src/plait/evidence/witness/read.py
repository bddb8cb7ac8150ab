"""Witnesses from files, of any format that plait knows."""

from __future__ import annotations

from plait.errors import Diagnostic, InputError
from plait.evidence.witness.content import Witness
from plait.evidence.witness.graphml_form import from_graphml
from plait.evidence.witness.yaml_form import from_yaml

LARGEST = 32 * 1024 * 1024


def from_text(text: str, path: str) -> Witness:
    """Raises InputError for a text that is no witness."""
    if len(text) > LARGEST:
        raise InputError(Diagnostic(f"larger than {LARGEST >> 20} MiB", path))
    if text.lstrip("\ufeff \t\r\n").startswith("<"):
        return from_graphml(text.lstrip("\ufeff \t\r\n"), path)
    return from_yaml(text, path)
