"""Values of expressions on a path, and the outcomes of a step as they are found.

Pointer arithmetic can be trouble in some states of a path and not in others: the former leave the
path with an outcome of their own.
"""

from __future__ import annotations

from collections.abc import Callable

from plait.certificates.decide import Decider
from plait.certificates.outcomes import Ending, Lost, PathEnds, StepOutcome, Trouble
from plait.certificates.pointers import Move, Moves
from plait.certificates.state import Access, Path
from plait.certificates.world import World
from plait.errors import UnsupportedCode
from plait.logic.translate import Place, translate, translate_condition
from plait.model.actions import NOWHERE, Origin
from plait.model.expressions import (
    CurrentThread,
    Expr,
    FrameAddress,
    FunctionAddress,
    PointerAdd,
    StaticAddress,
)

MOST_VALUES = 256


class Evaluator:
    def __init__(self, world: World, decider: Decider, most_values: int) -> None:
        self._world = world
        self._program = world.program
        self._decider = decider
        self._terms = decider.terms
        self._most_values = most_values
        self._moves = Moves()
        self._outcomes: list[StepOutcome] = []

    def _end(self, path: Path, ending: Ending, message: str = "") -> None:
        self._outcomes.append(StepOutcome(ending, path, self._origin(path), message))

    def _origin(self, path: Path) -> Origin:
        """Where the path is, or the call of the library function that it is in."""
        for frame in reversed(path.frames):
            edges = frame.function.edges[frame.location]
            if edges and not frame.function.library:
                return edges[0].action.origin
        return NOWHERE

    # --- expressions

    def _value(self, path: Path, expr: Expr) -> int:
        self._check_moves(path, expr)
        return self._translated(path, expr)

    def _condition(self, path: Path, expr: Expr) -> int:
        self._check_moves(path, expr)
        return self._truth(path, expr)

    def _translated(self, path: Path, expr: Expr) -> int:
        addresses = self._addresses(path)
        try:
            return translate(self._terms, expr, path.frame.registers, addresses)
        except UnsupportedCode as error:
            raise Trouble(str(error)) from None

    def _truth(self, path: Path, expr: Expr) -> int:
        addresses = self._addresses(path)
        try:
            return translate_condition(self._terms, expr, path.frame.registers, addresses)
        except UnsupportedCode as error:
            raise Trouble(str(error)) from None

    def _addresses(self, path: Path) -> Callable[[Place], int]:
        def address_of(place: Place) -> int:
            match place:
                case StaticAddress():
                    value = self._static_address(path, place)
                case FrameAddress():
                    value = path.frame.slots.get(place.slot.index, 0)
                case FunctionAddress():
                    value = self._program.address_of(self._program.functions[place.function])
                case CurrentThread():
                    value = path.thread
            return self._terms.constant(value, place.type.bits)

        return address_of

    def _static_address(self, path: Path, place: StaticAddress) -> int:
        if not place.object.thread_local:
            return self._program.address_of(place.object)
        for item, page in self._world.space.thread_local_copies(path.thread):
            if item is place.object:
                return page << self._world.page_bits
        raise Lost("a thread-local object that the program does not have")

    def _for_each(
        self, path: Path, term: int, then: Callable[[Path, int], list[Path]]
    ) -> list[Path]:
        """Go on with every value that a term can have."""
        constant = self._terms.value(term)
        if constant is not None:
            return then(path, constant)
        choices = list(path.facts.values(term, self._most_values))
        if len(choices) > self._most_values:
            raise Lost(f"an address or a size can have more than {self._most_values} values")
        successors: list[Path] = []
        for value, facts in choices:
            chosen = path.fork(facts)
            try:
                successors += then(chosen, value)
            except PathEnds as end:
                self._end(chosen, end.ending, end.message)
        return successors

    def _at_each_place(
        self, path: Path, term: int, then: Callable[[Path, int], list[Path]]
    ) -> list[Path]:
        """Go on with every place in memory that an address can mean."""
        return self._for_each(path, term, then)

    def _placed(self, path: Path, pointer: int) -> int:
        """The place in memory that a pointer means."""
        return pointer

    # --- pointer arithmetic

    def _check_moves(self, path: Path, expr: Expr) -> None:
        for move in self._moves(expr):
            self._check_move(path, move)

    def _check_move(self, path: Path, move: Move) -> None:
        """States in which a pointer leaves the pages of its object are in trouble."""
        terms, bits = self._terms, self._world.page_bits
        happens = []
        for guard, is_zero in move.guards:
            truth = self._truth(path, guard)
            happens.append(terms.not_(truth) if is_zero else truth)
        result = self._placed(path, self._translated(path, move.expr))
        if isinstance(move.expr, PointerAdd):
            base = self._placed(path, self._translated(path, move.expr.base))
        else:
            base = self._placed(path, self._addresses(path)(move.expr))
        width = terms.width[base] - bits
        from_page = terms.extract(base, bits, width)
        to_page = terms.extract(result, bits, width)
        ends = (0, self._world.last_page)  # plain numbers
        number = terms.any_of([terms.eq(from_page, terms.constant(page, width)) for page in ends])
        from_pair, to_pair = (terms.extract(page, 1, width - 1) for page in (from_page, to_page))
        leaves = terms.all_of([*happens, terms.ne(from_pair, to_pair), terms.not_(number)])
        outside = path.facts.with_(leaves)
        if outside is None:
            return
        choices = list(outside.values(from_page, self._most_values))
        if len(choices) > self._most_values:
            raise Lost("pointer arithmetic on too many different objects")
        for page, chosen in choices:
            # Whether the move stays inside depends on the life of the object, as an access does.
            inside, start, end = self._inside(path, page, to_page)
            local = not path.is_free
            path.accesses.append(Access(start, end, False, local, chosen, NOWHERE))
            here = terms.eq(from_page, terms.constant(page, width))
            self._leave(path, terms.all_of([leaves, here, terms.not_(inside)]))

    def _inside(self, path: Path, page: int, to_page: int) -> tuple[int, int, int]:
        """Whether a page belongs to the object that another page is of, and where that is. The
        page in front of an object is its own."""
        terms, world = self._terms, self._world
        first = world.first_page(path.live, page | 1)
        size = None if first is None else path.live.get(first)
        if first is None or size is None:
            start = (page | 1) << world.page_bits
            return terms.false, start, start + 1
        width = terms.width[to_page]
        low = terms.ule(terms.constant(first - 1, width), to_page)
        high = terms.ult(to_page, terms.constant(first + world.pages_of(size), width))
        start = first << world.page_bits
        return terms.and_(low, high), start, start + max(size, 1)

    def _leave(self, path: Path, condition: int) -> None:
        """States in which a pointer leaves its object leave the path."""
        message = "pointer arithmetic leaves its object"
        lost = path.facts.with_(condition)
        if lost is None:
            return
        kept = path.facts.with_(self._terms.not_(condition))
        if kept is None:
            raise Trouble(message)
        self._end(path.fork(lost), Ending.TROUBLE, message)
        path.facts = kept
