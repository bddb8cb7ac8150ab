"""Initialisers: from C's braces and designators to (offset, type, value) leaves.

libclang shows initialiser lists as they were written (C17 6.7.9): braces may be elided, designators
may jump, and what is not mentioned is zero.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from plait.c import syntax as s
from plait.c.syntax import Node, strip
from plait.c.types import CType, Member, Shape, find_member
from plait.data import dataclass
from plait.errors import UnsupportedCode

if TYPE_CHECKING:
    from plait.c.unit import Unit


@dataclass(slots=True, eq=False)
class Leaf:
    """One written value: a scalar expression, a whole record, or a string for a char array."""

    offset: int
    type: CType
    node: Node
    bit_offset: int = 0
    bit_width: int | None = None
    is_repeated: bool = False  # by a range designator


@dataclass(slots=True, eq=False)
class _Part:
    """A subobject that an initialiser can stand for."""

    offset: int
    type: CType
    bit_offset: int = 0
    bit_width: int | None = None


class Normaliser:
    """Lists the leaves of one initialiser, in the order in which they take effect."""

    def __init__(self, unit: Unit) -> None:
        self._unit = unit
        self._union_members: dict[tuple[int, int], str] = {}
        self._is_ascending = True  # each leaf so far begins behind, or with, the one before it

    def _choose_member(self, part: _Part, name: str, found: list[Leaf]) -> None:
        """Initialising another member of a union forgets the one that was initialised before."""
        key = (part.offset, id(part.type))
        if self._union_members.setdefault(key, name) != name:
            self._forget(part, found)
            self._union_members[key] = name

    def _forget(self, part: _Part, found: list[Leaf]) -> None:
        """Drop the leaves inside a subobject that is initialised again."""
        if found and found[-1].offset < part.offset and self._is_ascending:
            return
        end = part.offset + part.type.size
        found[:] = [leaf for leaf in found if not part.offset <= leaf.offset < end]

    def _add(self, leaf: Leaf, found: list[Leaf]) -> None:
        if found and leaf.offset < found[-1].offset:
            self._is_ascending = False
        found.append(leaf)

    def leaves(self, node: Node, ctype: CType, offset: int = 0) -> list[Leaf]:
        found: list[Leaf] = []
        self._whole(node, _Part(offset, ctype), found)
        return found

    def _whole(self, node: Node, part: _Part, found: list[Leaf]) -> None:
        """`node` initialises all of `part`: it is braced, or an expression of that type."""
        ctype = part.type
        inner = _unparenthesised(node)
        if ctype.shape in (Shape.ARRAY, Shape.RECORD):
            # It starts the subobject afresh: nothing of an earlier one stays (6.7.9p19).
            self._forget(part, found)
        if inner.kind == s.INIT_LIST:
            if ctype.shape in (Shape.ARRAY, Shape.RECORD):
                if self._is_braced_string(inner, ctype):
                    self._add(Leaf(part.offset, ctype, strip(inner.children[0])), found)
                    return
                self._list(inner, part, found)
                return
            if inner.children:
                self._whole(inner.children[0], part, found)
            return
        if ctype.shape is Shape.ARRAY:
            literal = strip(node)
            if literal.kind == s.STRING:
                self._add(Leaf(part.offset, ctype, literal), found)
                return
            if literal.kind == s.COMPOUND_LITERAL:
                self._whole(literal.children[-1], part, found)
                return
            raise UnsupportedCode("an array initialised by this expression")
        self._add(Leaf(part.offset, ctype, node, part.bit_offset, part.bit_width), found)

    def _is_braced_string(self, node: Node, ctype: CType) -> bool:
        if ctype.shape is not Shape.ARRAY or len(node.children) != 1:
            return False
        element = ctype.inner
        return (
            strip(node.children[0]).kind == s.STRING
            and element is not None
            and element.scalar is not None
        )

    def _list(self, node: Node, part: _Part, found: list[Leaf]) -> None:
        items = node.children
        end = self._fill(items, 0, part, found, braced=True)
        if end < len(items):
            raise UnsupportedCode("more initialisers than members")

    def _fill(
        self,
        items: list[Node],
        position: int,
        part: _Part,
        found: list[Leaf],
        braced: bool,
        current: int = 0,
    ) -> int:
        """Initialise the members of `part`, from member `current` on, from items[position:].

        Returns the position of the first item that was not used. Only a braced list takes
        designators; after one, filling goes on behind the subobject that it named, in the
        innermost aggregate first.
        """
        limit = _member_count(part.type)
        while position < len(items):
            item = items[position]
            if _is_designated(item, self._unit):
                if not braced:
                    return position
                *path, value = item.children
                levels, targets = self._steps(item, path, part, found)
                before = len(found)
                for target in targets:
                    self._whole_or_elided(value, target, found)
                if len(targets) > 1:
                    for leaf in found[min(before, len(found)) :]:
                        leaf.is_repeated = True
                position += 1
                for inner, following in reversed(levels[1:]):
                    position = self._fill(items, position, inner, found, False, following)
                current = levels[0][1]
                continue
            if current >= limit:
                return position
            member = _member_at(part, current)
            if part.type.is_union:
                self._choose_member(part, _initialisable(part.type)[0].name, found)
            current = limit if part.type.is_union else current + 1
            if self._stands_for(item, member.type):
                self._whole(item, member, found)
                position += 1
            elif member.type.shape in (Shape.ARRAY, Shape.RECORD):
                before = position
                position = self._fill(items, position, member, found, braced=False)
                if position == before and _member_count(member.type) > 0:
                    raise UnsupportedCode("an initialiser that does not fit its object")
            else:
                self._whole(item, member, found)
                position += 1
        return position

    def _stands_for(self, item: Node, ctype: CType) -> bool:
        """Whether an item without designator initialises a whole member of this type."""
        inner = _unparenthesised(item)
        if inner.kind == s.INIT_LIST or ctype.shape not in (Shape.ARRAY, Shape.RECORD):
            return True
        if ctype.shape is Shape.ARRAY:
            element = ctype.inner
            is_text = element is not None and element.scalar is not None
            return strip(item).kind == s.STRING and is_text
        return self._unit.type_of(item).shape is Shape.RECORD and (
            self._unit.type_of(item).size == ctype.size
        )

    def _whole_or_elided(self, value: Node, target: _Part, found: list[Leaf]) -> None:
        if self._stands_for(value, target.type):
            self._whole(value, target, found)
        elif self._fill([value], 0, target, found, braced=False) == 0:
            raise UnsupportedCode("an initialiser that does not fit its object")

    def _steps(
        self, item: Node, path: list[Node], part: _Part, found: list[Leaf]
    ) -> tuple[list[tuple[_Part, int]], list[_Part]]:
        """The aggregates on the way of a designator, each with the index of the member behind the
        one that was named, and the subobjects that it names."""
        levels: list[tuple[_Part, int]] = []
        parts = [part]
        position = 0
        while position < len(path):
            step = path[position]
            position += 1
            if step.kind == s.MEMBER_REF:
                name = self._unit.tree.name(step)
                if name and "(" not in name:  # an anonymous one: the next step finds its member
                    passed = [_descend(one, name) for one in parts]
                    for _, way in passed:
                        for holder, _, member in way:
                            if holder.type.is_union:
                                self._choose_member(holder, member, found)
                    levels += [(holder, behind) for holder, behind, _ in passed[-1][1]]
                    parts = [inner for inner, _ in passed]
                continue
            low = self._unit.tree.integer(step)
            high = low
            if self._is_range(item, path, position, parts[0]):
                high = self._unit.tree.integer(path[position])
                position += 1
            if low is None or high is None:
                raise UnsupportedCode("an array designator that is not constant")
            levels.append((parts[-1], high + 1))
            parts = [_member_at(one, index) for one in parts for index in range(low, high + 1)]
        return levels, parts

    def _is_range(self, item: Node, path: list[Node], position: int, part: _Part) -> bool:
        """Tell `[1 ... 3]` from `[1][3]`: libclang shows the same two numbers."""
        if position >= len(path) or path[position].kind == s.MEMBER_REF:
            return False
        element = part.type.inner
        if element is None or element.shape is not Shape.ARRAY:
            return True
        return "..." in self._unit.source_text(item).split("=")[0]


def _unparenthesised(node: Node) -> Node:
    while node.kind in (s.PAREN, s.UNEXPOSED) and len(node.children) == 1:
        if node.children[0].kind not in (s.PAREN, s.UNEXPOSED, s.INIT_LIST):
            break
        node = node.children[0]
    return node


def _is_designated(item: Node, unit: Unit) -> bool:
    if item.kind != s.UNEXPOSED or len(item.children) < 2:
        return False
    if item.children[0].kind == s.MEMBER_REF:
        return True
    return unit.type_of(item).shape is Shape.VOID


def _member_count(ctype: CType) -> int:
    if ctype.shape is Shape.ARRAY:
        return ctype.count if ctype.count is not None else 1 << 62
    if ctype.is_union:
        return min(1, len(_initialisable(ctype)))
    return len(_initialisable(ctype))


def _initialisable(ctype: CType) -> list[Member]:
    """Unnamed bit-fields take no initialiser; anonymous structs and unions do."""
    return [m for m in ctype.fields if m.name or m.bit_width is None]


def _member_at(part: _Part, index: int) -> _Part:
    if part.type.shape is Shape.ARRAY:
        element = part.type.inner
        assert element is not None
        return _Part(part.offset + index * element.size, element)
    member = _initialisable(part.type)[index]
    return _Part(part.offset + member.offset, member.type, member.bit_offset, member.bit_width)


def _descend(part: _Part, name: str) -> tuple[_Part, list[tuple[_Part, int, str]]]:
    """The member `name`, through anonymous structs and unions, and the aggregates passed, each
    with the index behind the member taken and that member's name."""
    for index, member in enumerate(_initialisable(part.type)):
        following = 1 << 62 if part.type.is_union else index + 1
        inner = _Part(part.offset + member.offset, member.type, member.bit_offset, member.bit_width)
        if member.name == name:
            return inner, [(part, following, name)]
        if not member.name and find_member(member.type, name) is not None:
            found, levels = _descend(inner, name)
            return found, [(part, following, f"anonymous {index}"), *levels]
    raise UnsupportedCode(f"a designator of the unknown member '{name}'")


def last_offset(leaves: Iterator[Leaf] | list[Leaf]) -> int:
    """One past the last byte that any leaf writes."""
    return max((leaf.offset + leaf.type.size for leaf in leaves), default=0)
