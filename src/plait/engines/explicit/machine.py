"""The interpreter as the engine uses it: with what the analyses know of the program, and wary of
what they take for granted.

Where an address comes from nowhere that points-to analysis knows of, the access is invalid or the
analysis is (`plait.analysis.points_to`): finding an object there means to give up.
"""

from __future__ import annotations

from typing import Any, NoReturn

from plait.analysis.lifetimes import with_lifetimes
from plait.analysis.sharing import Sharing
from plait.model.program import Edge, Function, Program
from plait.model.properties import Specification
from plait.semantics.compile import Site
from plait.semantics.memo import NotingMachine
from plait.semantics.outcome import Ending, StepEnds, StepOutcome
from plait.semantics.scalars import Number, Reader, Writer
from plait.semantics.visibility import Visibility, conservative


def visibility(sharing: Sharing, specification: Specification) -> Visibility:
    """What both the look at one function and the look at all threads take for visible. Whether
    memory is lost when the process ends depends on what threads have for themselves as well."""
    in_function = conservative()
    if specification.finds_leaks:
        return in_function

    def is_visible(function: Function, edge: Edge) -> bool:
        return in_function(function, edge) and sharing.is_visible(edge)

    return is_visible


class WaryMachine(NotingMachine):
    """Gives up where an address of unknown origin leads to an object."""

    def __init__(self, program: Program, specification: Specification, sharing: Sharing) -> None:
        chosen = with_lifetimes(sharing, specification)
        super().__init__(program, chosen, visibility(sharing, specification))
        self._wild = sharing.wild

    def load(self, address: int, read: Reader, size: int, site: Site) -> Any:
        if self._wild:
            self._look_at(address, site)
        return super().load(address, read, size, site)

    def store(self, address: int, write: Writer, size: int, value: Any, site: Site) -> None:
        if self._wild:
            self._look_at(address, site)
        super().store(address, write, size, value, site)

    def free(self, address: int, storage: str, site: Site) -> None:
        if self._wild:
            self._look_at(address, site)
        super().free(address, storage, site)

    def object_size(self, address: int, storage: str, site: Site) -> int:
        if self._wild:
            self._look_at(address, site)
        return super().object_size(address, storage, site)

    def _look_at(self, address: int, site: Site) -> None:
        if id(site.edge) not in self._wild:
            return
        page = self.first_page(address >> self.page_bits)
        if page in self.memory or page in self.constants:
            what = "a pointer whose origin is not known leads to an object"
            self.stop(Ending.LIMIT, what, site.origin)


class PeekingMachine(WaryMachine):
    """Goes no further than to where a step would change something: for whether it is blocked
    before that. The thread need not be one of the state."""

    def store(self, address: int, write: Writer, size: int, value: Any, site: Site) -> None:
        _stop_before_change()

    def create(self, page: int, size: int, *, is_defined: bool, contents: bytes = b"") -> None:
        _stop_before_change()

    def destroy(self, page: int) -> None:
        _stop_before_change()

    def free(self, address: int, storage: str, site: Site) -> None:
        _stop_before_change()

    def spawn(self, function: int, argument: Number, site: Site) -> int:
        _stop_before_change()

    def end_thread(self, r: list[Any], site: Site) -> int:
        _stop_before_change()

    def end_process(self, r: list[Any], status: int, how: str, site: Site) -> int:
        _stop_before_change()


def _stop_before_change() -> NoReturn:
    raise StepEnds(StepOutcome(Ending.LIMIT, "it is not blocked", in_section=True))
