"""Initial contents of static objects: bytes, and which of them are addresses."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from plait.c import syntax as s
from plait.c.initialisers import Leaf, Normaliser
from plait.c.libclang import Cursor
from plait.c.statements import FunctionLowering
from plait.c.syntax import Node, strip
from plait.c.types import CType, Shape
from plait.errors import UnsupportedCode
from plait.model.expressions import (
    Binary,
    BinaryOp,
    Const,
    Convert,
    Expr,
    FunctionAddress,
    StaticAddress,
)
from plait.model.program import Relocation, StaticObject
from plait.model.types import Kind

if TYPE_CHECKING:
    from plait.c.unit import Unit


class StaticContents:
    """Evaluates the initialiser of one object."""

    def __init__(self, unit: Unit, cursor: Cursor) -> None:
        self._unit = unit
        self._scratch = FunctionLowering(unit, "", cursor)
        self._scratch.is_static_context = True
        self.data = bytearray()
        self.relocations: list[Relocation] = []

    def evaluate(self, node: Node | None, ctype: CType) -> None:
        self.data = bytearray(ctype.size)
        if node is not None:
            self._initialise(node, ctype, 0)

    def _initialise(self, node: Node, ctype: CType, offset: int) -> None:
        for leaf in Normaliser(self._unit).leaves(node, ctype, offset):
            end = leaf.offset + leaf.type.size
            if leaf.type.shape is Shape.ARRAY and leaf.type.count is None:
                end = leaf.offset + len(self._unit.string_bytes(leaf.node, leaf.type))
            if end > len(self.data):
                self.data.extend(bytes(end - len(self.data)))
            self._leaf(leaf)

    def _leaf(self, leaf: Leaf) -> None:
        if leaf.type.shape is Shape.ARRAY:
            contents = self._unit.string_bytes(leaf.node, leaf.type)
            self._put(leaf.offset, contents)
        elif leaf.type.shape is Shape.RECORD:
            literal = strip(leaf.node)
            if literal.kind != s.COMPOUND_LITERAL:
                raise UnsupportedCode("a static object initialised by this expression")
            self._initialise(literal.children[-1], leaf.type, leaf.offset)
        else:
            self._scalar(leaf)

    def _put(self, offset: int, contents: bytes) -> None:
        self.data[offset : offset + len(contents)] = contents
        if self.relocations and self.relocations[-1].offset >= offset:
            end = offset + len(contents)
            self.relocations = [r for r in self.relocations if not offset <= r.offset < end]

    def _scalar(self, leaf: Leaf) -> None:
        scalar = leaf.type.require_scalar()
        if scalar.kind is Kind.FLOAT:
            value = self._unit.tree.floating(leaf.node)
            self._put(leaf.offset, struct.pack("<f" if scalar.bits == 32 else "<d", value))
            return
        expr = self._scratch.converted(leaf.node, leaf.type)
        address = _address_constant(expr)
        if address is not None:
            target, addend = address
            page = 1 << self._unit.linker.data_model.page_bits
            if not isinstance(target, str) and not -page <= addend <= target.size + page // 2:
                raise UnsupportedCode("an address far outside of its object")
            self._put(leaf.offset, bytes(scalar.size))
            self.relocations.append(Relocation(leaf.offset, target, addend))
            if len(self.relocations) > 1 and self.relocations[-2].offset > leaf.offset:
                self.relocations.sort(key=lambda relocation: relocation.offset)
            return
        number = self._integer(expr, leaf)
        if leaf.bit_width is None:
            self._put(leaf.offset, (number % (1 << scalar.bits)).to_bytes(scalar.size, "little"))
        else:
            self._put_bits(leaf, leaf.bit_width, number)

    def _integer(self, expr: Expr, leaf: Leaf) -> int:
        if isinstance(expr, Const) and isinstance(expr.value, int):
            return expr.value
        value = self._unit.tree.integer(leaf.node)
        if value is None or expr.type.bits > 64:  # libclang cuts larger ones
            raise UnsupportedCode("a static object initialised by this expression")
        return value

    def _put_bits(self, leaf: Leaf, width: int, value: int) -> None:
        size = (leaf.bit_offset + width + 7) // 8
        old = int.from_bytes(self.data[leaf.offset : leaf.offset + size], "little")
        mask = ((1 << width) - 1) << leaf.bit_offset
        new = old & ~mask | (value << leaf.bit_offset) & mask
        self.data[leaf.offset : leaf.offset + size] = new.to_bytes(size, "little")


def _address_constant(expr: Expr) -> tuple[StaticObject | str, int] | None:
    """An object or function and an offset, if the expression is an address constant: also one
    that was converted to an integer as wide as itself and had a constant added."""
    match expr:
        case StaticAddress():
            return expr.object, expr.offset
        case FunctionAddress():
            return expr.function, 0
        case Convert() if not expr.type.is_bool and expr.type.kind is not Kind.FLOAT:
            if expr.type.bits == expr.operand.type.bits:
                return _address_constant(expr.operand)
        case Binary(op=BinaryOp.ADD | BinaryOp.SUB, right=Const(value=int() as amount)):
            base = _address_constant(expr.left)
            if base is not None:
                return base[0], base[1] + (amount if expr.op is BinaryOp.ADD else -amount)
        case Binary(op=BinaryOp.ADD, left=Const(value=int() as amount)):
            base = _address_constant(expr.right)
            if base is not None:
                return base[0], base[1] + amount
    return None
