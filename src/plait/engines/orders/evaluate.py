"""Expressions as terms, in the symbolic state of a path."""

from __future__ import annotations

from plait.engines.orders.event_log import EventLog
from plait.engines.orders.objects import Instance
from plait.engines.orders.paths import Path
from plait.errors import UnsupportedCode
from plait.logic.translate import NAN_BITS, translate, truth_of
from plait.model.actions import Origin
from plait.model.expressions import (
    CurrentThread,
    Expr,
    FrameAddress,
    FunctionAddress,
    PointerAdd,
    StaticAddress,
    children,
)
from plait.model.program import StaticObject
from plait.model.types import Kind, Scalar

_Move = PointerAdd | StaticAddress | FrameAddress


class Evaluator:
    """`thread_locals` are the running thread's that were used so far; `origin` is the place of the
    action whose expressions are evaluated."""

    def __init__(self, log: EventLog) -> None:
        self.program = log.program
        self._terms = log.terms
        self._objects = log.knowledge.objects
        self._log = log
        self._moves: dict[int, list[_Move]] = {}
        self.thread_locals: dict[StaticObject, Instance] = {}
        self.origin: Origin | None = None

    def value(self, expr: Expr, path: Path) -> int:
        for move in self._moves_in(expr):
            self._claim_inside(move, path)
        return self._translated(expr, path)

    def _translated(self, expr: Expr, path: Path) -> int:
        def unknown(bits: int, when: int) -> int:
            guard = self._terms.and_(path.condition.term, when)
            return self._log.unknown(NAN_BITS, Scalar(Kind.INT, bits), guard)

        return translate(self._terms, expr, _Registers(path), _Addresses(self, path), unknown)

    def truth(self, expr: Expr, path: Path) -> int:
        return truth_of(self._terms, self.value(expr, path), expr.type)

    def _moves_in(self, expr: Expr) -> list[_Move]:
        """The parts of an expression that move pointers."""
        known = self._moves.get(id(expr))
        if known is None:
            known = self._moves[id(expr)] = []
            pending = [expr]
            while pending:
                item = pending.pop()
                if isinstance(item, (PointerAdd, StaticAddress, FrameAddress)):
                    known.append(item)
                pending.extend(children(item))
        return known

    def _claim_inside(self, move: _Move, path: Path) -> None:
        """A pointer that leaves its pages could come to look like one to another object: as in the
        reference interpreter such an execution has no verdict. Page 0 and the last one have plain
        integers."""
        terms, bits = self._terms, self.program.data_model.page_bits
        if isinstance(move, PointerAdd):
            before = self._translated(move.base, path)
        elif move.offset == 0:
            return
        else:
            before = _Addresses(self, path)(move)
        after = self._translated(move, path)
        count = terms.width[before] - bits
        pages = [terms.extract(item, bits, count) for item in (before, after)]
        stays = terms.eq(*(terms.extract(page, 1, count - 1) for page in pages))
        for number in (0, self.program.data_model.last_page):
            stays = terms.or_(stays, terms.eq(pages[0], terms.constant(number, count)))
        for first, length in self._objects.large:
            offsets = [terms.sub(page, terms.constant(first - 1, count)) for page in pages]
            inside = [terms.ult(item, terms.constant(length + 1, count)) for item in offsets]
            stays = terms.or_(stays, terms.and_(*inside))
        if stays == terms.true:
            return
        leaving = self._log.under(path.copy(), terms.not_(stays))
        if leaving is not None:
            message = "pointer arithmetic leaves its object"
            origin = self.origin or self._log.function.origin
            self._log.claim(self._log.result.troubles, leaving, "limit", message, origin)

    def constant(self, value: int, type_: Scalar) -> int:
        return self._terms.constant(value, type_.bits)

    def static_address(self, item: StaticObject) -> int:
        if not item.thread_local:
            return self.program.address_of(item)
        instance = self.thread_locals.get(item)
        if instance is None:
            instance = self._objects.thread_local(self._log.run.number, item)
            self.thread_locals[item] = instance
        return instance.address

    @property
    def running_thread(self) -> int:
        return self._log.run.number


class _Registers(dict[int, int]):
    """The registers that an expression reads; one that was never assigned is unknown."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path

    def __missing__(self, index: int) -> int:
        value = self._path.registers[index]
        if value is None:
            raise UnsupportedCode("a register that is read before it is assigned")
        return value


class _Addresses:
    """Addresses of objects and functions, and the number of the running thread."""

    def __init__(self, evaluator: Evaluator, path: Path) -> None:
        self._evaluator = evaluator
        self._path = path

    def __call__(self, expr: Expr) -> int:
        evaluator = self._evaluator
        match expr:
            case StaticAddress():
                return evaluator.constant(evaluator.static_address(expr.object), expr.type)
            case FunctionAddress():
                function = evaluator.program.functions[expr.function]
                return evaluator.constant(evaluator.program.address_of(function), expr.type)
            case FrameAddress():
                base = self._path.slots[expr.slot.index]
                if base is None:
                    raise UnsupportedCode("a local that is used outside of its block")
                return base
            case CurrentThread():
                return evaluator.constant(evaluator.running_thread, expr.type)
        raise AssertionError(f"{type(expr).__name__} is no address")
