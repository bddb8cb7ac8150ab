"""The model of the program that is hunted, with what is computed of it once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from plait.analysis.sharing import Sharing, sharing_of
from plait.c import load
from plait.c.options import FrontEndOptions
from plait.model.program import Program
from plait.model.properties import Property, Specification

_ERROR_FUNCTIONS = frozenset({"reach_error", "__VERIFIER_error"})
SPECIFICATION = Specification(
    frozenset(
        (Property.ASSERTIONS, Property.UNREACH_CALL, Property.VALID_ACCESS, Property.NO_UNDEFINED)
    ),
    _ERROR_FUNCTIONS,
)


class Source:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.specification = SPECIFICATION

    @cached_property
    def sharing(self) -> Sharing:
        return sharing_of(self.program)


def load_source(
    files: Sequence[str],
    include_dirs: Sequence[str] = (),
    defines: Sequence[str] = (),
    arguments: tuple[str, ...] = ("program",),
) -> Source:
    """`arguments` are those of main, with the program's name. Raises PlaitError if plait cannot
    read the program."""
    options = FrontEndOptions(
        include_dirs=tuple(include_dirs),
        defines=tuple(defines),
        spurious_wakeups=False,
        arguments=arguments,
    )
    return Source(load(list(files), options, SPECIFICATION))
