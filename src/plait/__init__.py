"""plait: verify every way the threads of a C program can interleave.

`plait.verify` and `plait.load` are described in docs/python.md; nothing is imported before it is
used.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from plait.api import Options, Result, Status, load, verify
    from plait.errors import InputError, PlaitError
    from plait.model.program import Program

__version__ = "0.1.0"

__all__ = [
    "InputError",
    "Options",
    "PlaitError",
    "Program",
    "Result",
    "Status",
    "__version__",
    "load",
    "verify",
]

_PLACES = {
    "InputError": "plait.errors",
    "Options": "plait.api",
    "PlaitError": "plait.errors",
    "Program": "plait.model.program",
    "Result": "plait.api",
    "Status": "plait.api",
    "load": "plait.api",
    "verify": "plait.api",
}


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module 'plait' has no attribute '{name}'")
    from importlib import import_module

    return getattr(import_module(_PLACES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
