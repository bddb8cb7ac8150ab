"""Why a counterexample cannot be replayed natively."""

from __future__ import annotations

from plait.errors import InputError


class CannotBuild(InputError):
    """The program cannot be compiled or linked here: exit code 2."""
