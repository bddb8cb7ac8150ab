"""Lowering of atomic operations, which the forced header turns into `__plait_atomic_*` calls."""

from __future__ import annotations

from plait.c import syntax as s
from plait.c.expressions import Expressions
from plait.c.syntax import Node
from plait.c.terms import binary, conditional, convert, pointer_add, unary
from plait.c.types import Shape
from plait.errors import UnsupportedCode
from plait.model.actions import Assign, Input, Load, Order, ReadModifyWrite, Skip, Store
from plait.model.expressions import BinaryOp, Const, Expr, Register, UnaryOp
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
_OPERATORS = {
    "add": BinaryOp.ADD,
    "sub": BinaryOp.SUB,
    "and": BinaryOp.AND,
    "or": BinaryOp.OR,
    "xor": BinaryOp.XOR,
}


class Atomics(Expressions):
    """Atomic operations of one function."""

    spurious_failures: bool

    def order_of(self, node: Node) -> Order:
        """A memory order argument; one that is not constant counts as the strongest."""
        value = self.unit.tree.integer(node)
        return Order.SEQ_CST if value is None else _ORDERS.get(value & 0xFFFF, Order.SEQ_CST)

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
                target = self.register(scalar)
                order = self.order_of(arguments[1])
                self.emit(Load(self.origin, target, address, order))
                return target
            case "store":
                value = convert(scalar, self.rvalue(arguments[1]))
                self.emit(Store(self.origin, address, value, self.order_of(arguments[2])))
                return None
            case "compare_exchange" | "compare_exchange_weak":
                weak = name.endswith("weak") and self.spurious_failures
                return self._compare_exchange(scalar, address, arguments, weak)
            case "cas_value":
                expected = self.stable(convert(scalar, self.rvalue(arguments[1])))
                desired = self.stable(convert(scalar, self.rvalue(arguments[2])))
                old = self.register(scalar)
                guard = binary(BinaryOp.EQ, old, expected)
                order = self.order_of(arguments[3])
                self.emit(ReadModifyWrite(self.origin, old, address, desired, guard, order))
                return old
        operand = self.stable(convert(scalar, self.rvalue(arguments[1])))
        old = self.register(scalar)
        new = self._combined(name, old, operand)
        order = self.order_of(arguments[2])
        self.emit(ReadModifyWrite(self.origin, old, address, new, None, order))
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
        expected = self.load_scalar(where, scalar)
        old = self.register(scalar)
        success = self.register(I32)
        failed, after = self.location(), self.location()
        if weak:
            order = self.order_of(arguments[4])
            self._may_fail(Load(self.origin, old, address, order), success, failed)
        guard = binary(BinaryOp.EQ, old, expected)
        order = self.order_of(arguments[3])
        self.emit(ReadModifyWrite(self.origin, old, address, desired, guard, order))
        self.emit(Assign(self.origin, success, guard))
        self.branch(success, after, failed)
        self.at = failed
        self.emit(Store(self.origin, where, old))
        self.start(after)
        return success

    def _may_fail(self, load: Load, success: Register, failed: int) -> None:
        """For no reason, and then it has only read. A branch of its own, so that the values of the
        object are not a matter of an input."""
        fails = self.register(I32)
        self.emit(Input(self.origin, fails, "spurious failure", Const(I32, 2)))
        reads, tries = self.location(), self.location()
        self.branch(fails, reads, tries)
        self.at = reads
        self.emit(load)
        self.emit(Assign(self.origin, success, Const(I32, 0)))
        self.edge(self.at, Skip(self.origin), failed)
        self.at = tries
