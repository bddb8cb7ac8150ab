"""Lowering of atomic operations, which the forced header turns into `__plait_atomic_*` calls.

All arguments are evaluated, from left to right, also a memory order, and then the operation is one
action. An order that C does not allow for the operation is undefined behaviour (C17 7.17.7). For
compare-and-exchange C17 also wants a failure order that is no stronger than the other one; C23 has
dropped that and compilers never relied on it.
"""

from __future__ import annotations

from collections.abc import Callable

from plait.c import syntax as s
from plait.c.expressions import Expressions
from plait.c.syntax import Node
from plait.c.terms import binary, conditional, convert, pointer_add, unary
from plait.c.types import Shape
from plait.errors import UnsupportedCode
from plait.model.actions import Assign, CheckKind, Input, Load, Order, ReadModifyWrite, Skip, Store
from plait.model.expressions import BinaryOp, Const, Expr, Register, UnaryOp
from plait.model.memory_model import order_of_read
from plait.model.types import I32, Kind, Scalar

ATOMIC_PREFIX = "__plait_atomic_"
_ORDERS = {
    0: Order.RELAXED,
    1: Order.CONSUME,
    2: Order.ACQUIRE,
    3: Order.RELEASE,
    4: Order.ACQ_REL,
    5: Order.SEQ_CST,
}
_HARDWARE_HINTS = 0x30000  # gcc's __ATOMIC_HLE_ACQUIRE and __ATOMIC_HLE_RELEASE
ANY_ORDER = frozenset(_ORDERS.values())
_LOAD_ORDERS = ANY_ORDER - {Order.RELEASE, Order.ACQ_REL}
_STORE_ORDERS = ANY_ORDER - {Order.CONSUME, Order.ACQUIRE, Order.ACQ_REL}
_OPERATORS = {
    "add": BinaryOp.ADD,
    "sub": BinaryOp.SUB,
    "and": BinaryOp.AND,
    "or": BinaryOp.OR,
    "xor": BinaryOp.XOR,
}


_Choice = tuple[Expr, Order]  # a memory order, and the condition under which an argument is it


class Atomics(Expressions):
    """Atomic operations of one function."""

    spurious_failures: bool

    def orders_of(self, node: Node, operation: str, allowed: frozenset[Order]) -> list[_Choice]:
        """Evaluate a memory order argument: what it can be, each with the condition for it."""
        value = self.rvalue(node)
        if isinstance(value, Const) and isinstance(value.value, int):
            known = _ORDERS.get(value.value & ~_HARDWARE_HINTS)
            if known in allowed:
                return [(Const(I32, 1), known)]
            named = f"memory_order_{known.value}" if known else f"the memory order {value.value}"
            self.check(Const(I32, 0), CheckKind.UNDEFINED, f"{operation} cannot have {named}")
            return [(Const(I32, 1), Order.SEQ_CST)]
        asked = self.stable(convert(I32, value))
        plain = self.stable(binary(BinaryOp.AND, asked, Const(I32, ~_HARDWARE_HINTS)))
        choices: list[_Choice] = []
        is_allowed: Expr = Const(I32, 0)
        for number, order in _ORDERS.items():
            if order in allowed:
                same = binary(BinaryOp.EQ, plain, Const(I32, number))
                is_allowed = binary(BinaryOp.OR, is_allowed, same)
                choices.append((same, order))
        message = f"{operation} cannot have this memory order"
        self.check(is_allowed, CheckKind.UNDEFINED, message)
        return choices

    def with_order(self, choices: list[_Choice], emit: Callable[[Order], None]) -> None:
        """What `emit` appends, with the order that the argument has. The last choice is what is
        left: others than these are undefined."""
        after = self.location() if len(choices) > 1 else None
        for is_it, order in choices[:-1]:
            here, others = self.location(), self.location()
            self.branch(is_it, here, others)
            self.at = here
            emit(order)
            assert after is not None
            self.edge(self.at, Skip(self.origin), after)
            self.at = others
        emit(choices[-1][1])
        if after is not None:
            self.start(after)

    def atomic_call(self, name: str, node: Node, arguments: list[Node]) -> Expr | None:
        """An operation's value has the object's own type: the header casts every call to it."""
        if name in ("begin", "end"):
            handler = getattr(self, f"_intrinsic_atomic_{name}")
            handler(arguments)
            return None
        scalar = self._pointee(arguments[0])
        address = self.stable(self.rvalue(arguments[0]))
        match name:
            case "load":
                orders = self.orders_of(arguments[1], "an atomic load", _LOAD_ORDERS)
                target = self.register(scalar)
                self.with_order(
                    orders, lambda order: self.emit(Load(self.origin, target, address, order))
                )
                return target
            case "store":
                value = convert(scalar, self.rvalue(arguments[1]))
                since = self.at, self.emitted
                orders = self.orders_of(arguments[2], "an atomic store", _STORE_ORDERS)
                kept = self.keep(value, *since)
                self.with_order(
                    orders, lambda order: self.emit(Store(self.origin, address, kept, order))
                )
                return None
            case "compare_exchange" | "compare_exchange_weak":
                self._require_bits(scalar)
                weak = name.endswith("weak") and self.spurious_failures
                return self._compare_exchange(scalar, address, arguments, weak)
            case "cas_value":
                self._require_bits(scalar)
                expected = self.stable(convert(scalar, self.rvalue(arguments[1])))
                desired = self.stable(convert(scalar, self.rvalue(arguments[2])))
                orders = self.orders_of(arguments[3], "compare-and-swap", ANY_ORDER)
                old = self.register(scalar)
                guard = binary(BinaryOp.EQ, old, expected)
                self.with_order(
                    orders,
                    lambda order: self.emit(
                        ReadModifyWrite(
                            self.origin, old, address, desired, guard, order, order_of_read(order)
                        )
                    ),
                )
                return old
        operand = self.stable(convert(scalar, self.rvalue(arguments[1])))
        orders = self.orders_of(arguments[2], "an atomic update", ANY_ORDER)
        old = self.register(scalar)
        new = self._combined(name, old, operand)
        self.with_order(
            orders,
            lambda order: self.emit(ReadModifyWrite(self.origin, old, address, new, None, order)),
        )
        return new if name.endswith("_fetch") else old

    def _pointee(self, node: Node) -> Scalar:
        """The scalar type that an atomic operation accesses: that of the argument before its
        implicit conversion to `void *`."""
        while node.kind in (s.PAREN, s.UNEXPOSED) and len(node.children) == 1:
            ctype = self.unit.type_of(node)
            if ctype.is_pointer and ctype.inner is not None and ctype.inner.scalar is not None:
                break
            node = node.children[0]
        ctype = self.unit.type_of(node)
        inner = ctype.inner
        if inner is None or inner.shape is not Shape.SCALAR or inner.scalar is None:
            raise UnsupportedCode("an atomic operation on an object that is not a scalar")
        if inner.scalar.bits > 64:
            raise UnsupportedCode(f"an atomic operation on '{inner.spelling}'")
        return inner.scalar

    def _require_bits(self, scalar: Scalar) -> None:
        """What is compared are the bytes (C17 7.17.7.4): 0.0 is not -0.0, a NaN is itself."""
        if scalar.kind is Kind.FLOAT:
            raise UnsupportedCode("compare-and-exchange of floating-point values")

    def _combined(self, name: str, old: Register, operand: Expr) -> Expr:
        operation = name.removeprefix("fetch_").removesuffix("_fetch")
        if operation == "exchange":
            return operand
        if old.type.kind is Kind.POINTER and operation in ("add", "sub"):
            offset = convert(self.data_model.offset_type, operand)
            return pointer_add(old, offset if operation == "add" else unary(UnaryOp.NEG, offset))
        if operation == "nand":
            if old.type.is_bool:
                both = binary(BinaryOp.AND, convert(I32, old), convert(I32, operand))
                return convert(old.type, unary(UnaryOp.NOT, both))
            return unary(UnaryOp.NOT, binary(BinaryOp.AND, old, operand))
        if operation in ("min", "max"):
            less = binary(BinaryOp.LT, old, operand)
            if operation == "min":
                return conditional(less, old, operand)
            return conditional(less, operand, old)
        if operation not in _OPERATORS:
            raise UnsupportedCode(f"the atomic operation '{name}'")
        if old.type.is_bool:
            # The front end's macros cast to _Bool first; arithmetic is that of the byte.
            result = binary(_OPERATORS[operation], convert(I32, old), convert(I32, operand))
            return convert(old.type, result)
        return binary(_OPERATORS[operation], old, operand)

    def _compare_exchange(
        self, scalar: Scalar, address: Expr, arguments: list[Node], weak: bool
    ) -> Expr:
        where = self.stable(self.rvalue(arguments[1]))
        desired = self.stable(convert(scalar, self.rvalue(arguments[2])))
        orders = self.orders_of(arguments[3], "a compare-and-exchange", ANY_ORDER)
        failing = self.orders_of(arguments[4], "a compare-and-exchange that fails", _LOAD_ORDERS)
        expected = self.load_scalar(where, scalar)
        old = self.register(scalar)
        success = self.register(I32)
        failed, after = self.location(), self.location()
        if weak:
            self._may_fail(old, address, failing, success, failed)
        guard = binary(BinaryOp.EQ, old, expected)

        def update(order: Order, failure: Order) -> None:
            self.emit(ReadModifyWrite(self.origin, old, address, desired, guard, order, failure))

        self.with_order(
            orders,
            lambda order: self.with_order(failing, lambda failure: update(order, failure)),
        )
        self.emit(Assign(self.origin, success, guard))
        self.branch(success, after, failed)
        self.at = failed
        self.emit(Store(self.origin, where, old))
        self.start(after)
        return success

    def _may_fail(
        self, old: Register, address: Expr, orders: list[_Choice], success: Register, failed: int
    ) -> None:
        """For no reason, and then it has only read. A branch of its own, so that the values of the
        object are not a matter of an input."""
        fails = self.register(I32)
        self.emit(Input(self.origin, fails, "spurious failure", Const(I32, 2)))
        reads, tries = self.location(), self.location()
        self.branch(fails, reads, tries)
        self.at = reads
        self.with_order(orders, lambda order: self.emit(Load(self.origin, old, address, order)))
        self.emit(Assign(self.origin, success, Const(I32, 0)))
        self.edge(self.at, Skip(self.origin), failed)
        self.at = tries
