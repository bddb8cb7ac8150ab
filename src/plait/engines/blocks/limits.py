"""What an engine over blocks cannot decide, known before it begins."""

from __future__ import annotations

from plait.analysis.lifetimes import Lifetimes
from plait.analysis.sharing import Sharing
from plait.model.properties import Property, Specification


def reused_local(sharing: Sharing, specification: Specification) -> str:
    """Why accesses to locals may go unnoticed after their life; empty if they do not. In blocks,
    frames of a function at the same depth have the same addresses."""
    if Property.VALID_ACCESS not in specification:
        return ""
    for item in Lifetimes(sharing).reused():
        return f"a pointer to {item!r} may outlive it, and its memory is used again here"
    return ""
