"""Steps that commute because of what they compute: additions, insertions into a set of bits.

What a step does is found out by executing it once more in the interpreter, with symbols in place of
the contents of cells that it changes (`Traced`). All else that it reads are *conditions*, with the
values that were found. As nothing is decided by a symbol (that raises `NotTraceable`), the step
does the same in all states in which the conditions hold: the same thread behind it, the same
accesses, and changes that are terms over the cells. Two such steps of different threads commute if
neither changes a condition of the other, and the two orders give equal terms for every cell; where
the terms differ in form, a solver is asked.

How that fits into persistent sets (`futures`): a step t that goes ahead has its conditions from the
state where it does. What the others do meanwhile either shares nothing with t or commutes with it,
so it changes none of them; hence t comes to the same behind it. What another step e reads is the
same with and without t, except for cells that t changes: none of them is a condition of what e was
seen to come to behind t, and so of what it comes to without t.
"""

from __future__ import annotations

from typing import Any, NoReturn

from plait.analysis.sharing import Sharing
from plait.data import dataclass
from plait.engines.explicit.machine import WaryMachine
from plait.logic.solver import Solver
from plait.logic.substitute import Substitution
from plait.logic.terms import Terms
from plait.model.program import Program
from plait.model.properties import Specification
from plait.model.types import Kind, Scalar
from plait.semantics.compile import Site
from plait.semantics.memo import Span
from plait.semantics.outcome import Ending
from plait.semantics.scalars import Number, Reader, Writer
from plait.semantics.state import Frame, State, Status, Thread, picked_of_frame

WIDTH = 144  # bits in which sums and products of C's integers are exact
_LIMIT = 1 << WIDTH - 2
_MOST_CONFLICTS = 2000
_MOST_CELLS = 16


class NotTraceable(Exception):
    """Something other than sums and bit operations was done with a symbol."""


def _refuse(*_: Any) -> NoReturn:
    raise NotTraceable


class Traced:
    """An integer as a term of WIDTH bits; it is between two bounds, so that this is exact."""

    __slots__ = ("highest", "lowest", "term", "terms")

    def __init__(self, terms: Terms, term: int, lowest: int, highest: int) -> None:
        if lowest < -_LIMIT or highest > _LIMIT:
            raise NotTraceable
        self.terms = terms
        self.term = term
        self.lowest = lowest
        self.highest = highest

    def _of(self, other: Any) -> Traced:
        if isinstance(other, Traced):
            return other
        if type(other) is not int:
            raise NotTraceable
        term = self.terms.constant(other & ((1 << WIDTH) - 1), WIDTH)
        return Traced(self.terms, term, other, other)

    def __add__(self, other: Any) -> Traced:
        it = self._of(other)
        term = self.terms.add(self.term, it.term)
        return Traced(self.terms, term, self.lowest + it.lowest, self.highest + it.highest)

    def __sub__(self, other: Any) -> Traced:
        it = self._of(other)
        term = self.terms.sub(self.term, it.term)
        return Traced(self.terms, term, self.lowest - it.highest, self.highest - it.lowest)

    def __rsub__(self, other: Any) -> Traced:
        return self._of(other) - self

    def __neg__(self) -> Traced:
        return Traced(self.terms, self.terms.neg(self.term), -self.highest, -self.lowest)

    def __pos__(self) -> Traced:
        return self

    def __invert__(self) -> Traced:
        return Traced(self.terms, self.terms.not_(self.term), ~self.highest, ~self.lowest)

    def _bitwise(self, other: Any, operation: str) -> Traced:
        it = self._of(other)
        bits = max(map(int.bit_length, (self.lowest, self.highest, it.lowest, it.highest)))
        lowest, highest = -(1 << bits), (1 << bits) - 1
        if self.lowest >= 0 and it.lowest >= 0:
            lowest = 0
        if operation == "and_":
            for side in (self, it):
                if side.lowest >= 0:
                    lowest, highest = 0, min(highest, side.highest)
        term = getattr(self.terms, operation)(self.term, it.term)
        return Traced(self.terms, term, lowest, highest)

    def __and__(self, other: Any) -> Traced:
        return self._bitwise(other, "and_")

    def __or__(self, other: Any) -> Traced:
        return self._bitwise(other, "or_")

    def __xor__(self, other: Any) -> Traced:
        return self._bitwise(other, "xor")

    __radd__, __rand__, __ror__, __rxor__ = __add__, __and__, __or__, __xor__
    __bool__ = __int__ = __index__ = __float__ = __hash__ = _refuse
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse
    __mul__ = __rmul__ = __lshift__ = __rlshift__ = __rshift__ = __rrshift__ = _refuse
    __floordiv__ = __rfloordiv__ = __truediv__ = __rtruediv__ = __mod__ = __rmod__ = __abs__ = (
        _refuse
    )


@dataclass(slots=True, eq=False)
class Effect:
    """What a step does wherever the conditions hold: `changes` are the cells that it may change,
    with terms as wide as they are."""

    conditions: dict[Span, bytes]
    changes: dict[Span, int]


class SymbolMachine(WaryMachine):
    """Executes steps with symbols in some cells."""

    def __init__(self, program: Program, specification: Specification, sharing: Sharing) -> None:
        super().__init__(program, specification, sharing)
        self.terms = Terms()
        self._changing: frozenset[Span] = frozenset()
        self._pages: set[int] = set()
        self._cells: dict[Span, tuple[int | Traced, Scalar | None]] = {}

    def effect(
        self, state: State, number: int, steps: tuple[tuple[Number, ...], ...]
    ) -> Effect | None:
        """Of these steps of a thread, if it can be told."""
        written = self._rehearse(state, number, steps)
        if not written or len(written) > _MOST_CELLS:
            return None
        places = {page: place for place, page in enumerate(state.pages)}
        before = {
            span: state.contents[places[span.page]][span.start : span.end] for span in written
        }
        self._changing = frozenset(span for span in written if written[span] != before[span])
        self._pages = {span.page for span in self._changing}
        self._cells = {}
        try:
            if not self._follow(state, number, steps):
                return None
            self._require_known(self.threads[number - 1])
            conditions = dict(self.reads or {})
            return Effect(conditions, self._changes(written, conditions))
        except NotTraceable:
            return None
        finally:
            self._changing, self._pages, self._cells = frozenset(), set(), {}
            self.restore(state)

    def _rehearse(
        self, state: State, number: int, steps: tuple[tuple[Number, ...], ...]
    ) -> dict[Span, bytes]:
        """What the steps write, with what it holds in the end."""
        done = self._follow(state, number, steps)
        found = {}
        if done:
            found = {
                span: bytes(self.memory[span.page][span.start : span.end]) for span in self.writes
            }
        self.restore(state)
        return found

    def _follow(self, state: State, number: int, steps: tuple[tuple[Number, ...], ...]) -> bool:
        self.restore(state)
        self.accesses = None
        self.reads, self.writes = {}, {}
        for choices in steps:
            outcome = self.step(number, choices)
            if outcome.ending is not Ending.MOVED or self.reads is None or choices:
                return False
        return self.exit is None

    def _changes(
        self, written: dict[Span, bytes], conditions: dict[Span, bytes]
    ) -> dict[Span, int]:
        terms = self.terms
        found = {}
        for span, after in written.items():
            bits = 8 * (span.end - span.start)
            value = self._cells[span][0] if span in self._cells else None
            if isinstance(value, Traced):
                found[span] = terms.extract(value.term, 0, bits)
            elif conditions.get(span) != after:
                found[span] = terms.constant(int.from_bytes(after, "little"), bits)
        return found

    def _require_known(self, thread: Thread) -> None:
        """No symbol in what the thread may still look at."""
        if thread.status is Status.RUNNING:
            assert thread.code is not None
            _refuse_traced(thread.code.pick[thread.location](thread.values))
        frame: Frame | None = thread.caller
        while frame is not None:
            _refuse_traced(picked_of_frame(frame))
            frame = frame.caller

    # --- accesses

    def load(self, address: int, read: Reader, size: int, site: Site) -> Any:
        if address >> self.page_bits in self._pages:
            span = self._cell(address, size)
            if span is not None:
                return self._load_cell(span, site)
        return super().load(address, read, size, site)

    def _load_cell(self, span: Span, site: Site) -> int | Traced:
        scalar = site.type
        if scalar is None or scalar.kind is not Kind.INT or scalar.is_bool:
            raise NotTraceable
        known = self._cells.get(span)
        if known is None:
            bits = 8 * (span.end - span.start)
            if bits != scalar.bits:
                raise NotTraceable
            variable = self.terms.variable(_name(span), bits)
            extend = self.terms.sign_extend if scalar.signed else self.terms.zero_extend
            wide = extend(variable, WIDTH)
            known = Traced(self.terms, wide, scalar.minimum, scalar.maximum), scalar
            self._cells[span] = known
        if known[1] != scalar:
            raise NotTraceable
        return known[0]

    def store(self, address: int, write: Writer, size: int, value: Any, site: Site) -> None:
        if address >> self.page_bits in self._pages:
            span = self._cell(address, size)
            if span is not None:
                scalar = site.type
                if scalar is None or scalar.kind is not Kind.INT or scalar.is_bool:
                    raise NotTraceable
                self._cells[span] = value, scalar
                if not isinstance(value, Traced):
                    super().store(address, write, size, value, site)
                return
        if isinstance(value, Traced):
            raise NotTraceable
        super().store(address, write, size, value, site)

    def _cell(self, address: int, size: int) -> Span | None:
        """The changing cell that is accessed; None if none is."""
        page = address >> self.page_bits
        start = address & self.page_mask
        span = Span(page, start, start + size)
        if span in self._changing:
            return span
        for other in self._changing:
            if other.page == page and other.start < span.end and span.start < other.end:
                raise NotTraceable
        return None


class Commuting:
    """Which effects commute. Each pair is decided once."""

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self._known: dict[tuple[object, object], bool] = {}
        self._interned: dict[object, Effect] = {}

    def interned(self, effect: Effect) -> Effect:
        key = frozenset(effect.conditions.items()), frozenset(effect.changes.items())
        return self._interned.setdefault(key, effect)

    def commute(self, one: Effect, other: Effect) -> bool:
        key = one, other
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._known[other, one] = self._decide(one, other)
        return found

    def _decide(self, one: Effect, other: Effect) -> bool:
        for span, data in one.conditions.items():
            for theirs, value in other.conditions.items():
                if _overlap(span, theirs) and (span != theirs or data != value):
                    return False
        for mine, its in ((one, other), (other, one)):
            for span in mine.changes:
                if any(_overlap(span, item) for item in its.conditions):
                    return False
                if any(span != item and _overlap(span, item) for item in its.changes):
                    return False
        spans = {**one.changes, **other.changes}
        return all(
            self._equal(self._behind(one, other, span), self._behind(other, one, span))
            for span in spans
        )

    def _behind(self, first: Effect, second: Effect, span: Span) -> int:
        """The contents of a cell after both."""
        if span not in second.changes:
            return first.changes[span]
        by_name = {
            self._terms.variable(_name(item), 8 * (item.end - item.start)): term
            for item, term in first.changes.items()
        }
        return Substitution(self._terms, by_name.get)(second.changes[span])

    def _equal(self, one: int, other: int) -> bool:
        if one == other:
            return True
        differ = self._terms.ne(one, other)
        if self._terms.is_constant(differ):
            return not self._terms.value(differ)
        with Solver(self._terms) as solver:
            solver.assert_term(differ)
            return solver.solve(conflicts=_MOST_CONFLICTS) is False


def _overlap(one: Span, other: Span) -> bool:
    return one.page == other.page and one.start < other.end and other.start < one.end


def _name(span: Span) -> str:
    return f"m{span.page}.{span.start}.{span.end}"


def _refuse_traced(values: tuple[Any, ...]) -> None:
    if any(value.__class__ is Traced for value in values):
        raise NotTraceable
