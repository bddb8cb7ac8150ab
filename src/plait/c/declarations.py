"""Lowering of local declarations, and of the initialisers of objects in memory."""

from __future__ import annotations

from plait.c import syntax as s
from plait.c.calls import Calls
from plait.c.initialisers import Leaf, Normaliser, last_offset
from plait.c.places import MemoryPlace, RegisterPlace
from plait.c.syntax import Node, strip
from plait.c.terms import binary, constant, convert, pointer_add
from plait.c.types import CType, Shape, layout_of
from plait.errors import UnsupportedCode
from plait.model.actions import Allocate, Assign, Input, Store
from plait.model.expressions import BinaryOp, Const, Expr, StaticAddress
from plait.model.types import Kind

_EXTERN, _STATIC = 2, 3
_UNEXPOSED_DECLARATION = 1


class Declarations(Calls):
    """Declarations of one function; `_address_taken` has the locals that must live in memory."""

    _address_taken: set[int]

    def _declaration(self, node: Node) -> None:
        if node.kind != s.VAR:
            if node.kind == _UNEXPOSED_DECLARATION and not node.children:
                return  # __label__
            if node.kind not in (s.STRUCT, s.UNION, s.ENUM, s.TYPEDEF, s.FUNCTION, s.STATIC_ASSERT):
                raise UnsupportedCode(f"a declaration of this kind (clang cursor {node.kind})")
            if node.kind == s.TYPEDEF:
                self.refuse_sizes_with_effects(self.unit.type_of(node), node.children)
            return
        library = self.unit.library
        storage = library.Cursor_getStorageClass(node.cursor)
        if storage in (_EXTERN, _STATIC):
            return  # referenced objects are made on first use
        if "cleanup" in self.unit.attributes(node.cursor, node.children):
            raise UnsupportedCode("the attribute 'cleanup'")
        ctype = self.unit.type_of(node)
        name = self.unit.tree.name(node)
        key = node.cursor.data[0] or 0
        initial = self.unit.initialiser(node)
        if ctype.shape is Shape.VARIABLE_ARRAY:
            self._variable_array(node, ctype, name, key)
            return
        sizes = node.children[:-1] if initial is not None else node.children
        self.refuse_sizes_with_effects(ctype, sizes)
        if ctype.scalar is not None and key not in self._address_taken and not ctype.atomic:
            register = self.register(ctype.scalar, name, ctype.spelling)
            self.locals[key] = RegisterPlace(register, ctype)
            if self.checks_lifetimes and ctype.scalar.kind is not Kind.FLOAT:
                self.scope.variables.append(register)
            if initial is None:
                unset = f"uninitialised '{name}'"
                declarator = self.unit.origin(node.cursor)
                self.emit(Input(declarator, register, unset, indeterminate=True))
            else:
                value = self._scalar_initialiser(initial, ctype)
                self.emit(Assign(self.origin, register, value))
        else:
            if ctype.shape is Shape.UNSUPPORTED:
                raise UnsupportedCode(f"a variable of the type '{ctype.spelling}'")
            declarator = self.unit.origin(node.cursor)
            slot = self.slot(name, layout_of(ctype), ctype.spelling, declarator)
            place = MemoryPlace(self.slot_address(slot), ctype)
            self.locals[key] = place
            if initial is not None:
                self.initialise(place, initial)

    def _scalar_initialiser(self, node: Node, ctype: CType) -> Expr:
        scalar = ctype.require_scalar()
        while node.kind == s.INIT_LIST:
            if not node.children:
                return Const(scalar, 0.0 if scalar.kind is Kind.FLOAT else 0)
            node = node.children[0]
        return convert(scalar, self.rvalue(node))

    def _variable_array(self, node: Node, ctype: CType, name: str, key: int) -> None:
        element = ctype.inner
        assert element is not None
        if self.checks_lifetimes:
            # Its life ends with its block, but the model keeps it until the function returns.
            raise UnsupportedCode("a variable length array, with valid-memsafety")
        self.unit.linker.assume(
            "no pointer to a variable length array is used after the end of its block"
        )
        if element.shape is Shape.VARIABLE_ARRAY:
            raise UnsupportedCode("a multi-dimensional variable length array")
        count = self.rvalue(self._length_of(node, element))
        size_type = self.unit.size_type
        size = self.temporary(
            binary(BinaryOp.MUL, convert(size_type, count), constant(size_type, element.size))
        )
        base = self.register(self.pointer, name, ctype.spelling)
        self.emit(Allocate(self.origin, base, size, False, "stack"))
        self.vla_sizes[key] = size
        array = CType(Shape.ARRAY, 0, ctype.spelling, inner=element)
        self.locals[key] = MemoryPlace(base, array)

    def _length_of(self, node: Node, element: CType) -> Node:
        """The length expression of a variable length array: the one child that is not the length
        of an array inside it; libclang lists those first."""
        *inner, length = node.expressions() or [node]
        constants = []
        while element.shape is Shape.ARRAY and element.inner is not None:
            constants.append(element.count)
            element = element.inner
        if length is node or sorted(map(str, map(self.unit.tree.integer, inner))) != sorted(
            map(str, constants)
        ):
            raise UnsupportedCode("a variable length array of this type")
        return length

    def initialise(self, place: MemoryPlace, node: Node) -> None:
        """Initialise an object in memory; what is not mentioned becomes zero."""
        ctype = place.type
        if ctype.shape is Shape.RECORD and strip(node).kind != s.INIT_LIST:
            self.copy_record(place, self.record(node))
            return
        leaves = Normaliser(self.unit).leaves(node, ctype)
        if not _covers(leaves, ctype):
            self.clear(place.address, ctype)
        values: dict[int, Expr] = {}
        for leaf in leaves:
            self._initialise_leaf(place.address, leaf, values)

    def _initialise_leaf(self, base: Expr, leaf: Leaf, values: dict[int, Expr]) -> None:
        """`values` has what was computed for a range designator: it is evaluated once."""
        where = pointer_add(base, Const(self.data_model.offset_type, leaf.offset))
        if leaf.node.kind == s.STRING and leaf.type.shape is Shape.ARRAY:
            self._initialise_string(where, leaf)
        elif leaf.type.shape is Shape.RECORD:
            self.copy_record(MemoryPlace(where, leaf.type), self.record(leaf.node))
        else:
            value = values.get(id(leaf.node)) or self._scalar_initialiser(leaf.node, leaf.type)
            if leaf.is_repeated:
                value = values.setdefault(id(leaf.node), self.stable(value))
            self.write(MemoryPlace(where, leaf.type, leaf.bit_offset, leaf.bit_width), value)

    def _initialise_string(self, where: Expr, leaf: Leaf) -> None:
        element = leaf.type.inner
        assert element is not None
        scalar = element.require_scalar()
        data = self.unit.string_bytes(leaf.node, leaf.type)
        for index in range(0, len(data), scalar.size):
            value = int.from_bytes(data[index : index + scalar.size], "little")
            address = pointer_add(where, Const(self.data_model.offset_type, index))
            self.emit(Store(self.origin, address, constant(scalar, value)))

    def compound_literal(self, node: Node) -> MemoryPlace:
        ctype = self.unit.type_of(node)
        if self.is_static_context:
            item = self.unit.anonymous_object(node, ctype)
            return MemoryPlace(StaticAddress(self.pointer, item), ctype)
        initial = node.children[-1]
        place = self.temporary_object(ctype, "(compound literal)")
        self.initialise(place, initial)
        return place


def _covers(leaves: list[Leaf], ctype: CType) -> bool:
    """Whether the leaves write every byte (padding counts as not written)."""
    if any(leaf.bit_width is not None for leaf in leaves):
        return False
    covered = sum(leaf.type.size for leaf in {leaf.offset: leaf for leaf in leaves}.values())
    return covered == ctype.size and last_offset(leaves) == ctype.size
