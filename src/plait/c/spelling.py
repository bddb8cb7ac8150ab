"""What the source calls an object in memory, where it says so without doing anything."""

from __future__ import annotations

from plait.c import syntax as s
from plait.c.syntax import Node, Tree, strip

_LONGEST = 40


def spelled(tree: Tree, node: Node) -> str:
    """`p->value`, `list[2].next`, `*x`; empty for what has calls or operators in it."""
    text = _spelled(tree, node)
    return text if len(text) <= _LONGEST else ""


def _spelled(tree: Tree, node: Node) -> str:
    node = strip(node)
    match node.kind:
        case s.DECL_REF:
            return tree.name(node)
        case s.INTEGER:
            value = tree.integer(node)
            return "" if value is None else str(value)
        case s.MEMBER if node.children:
            base, name = _spelled(tree, node.children[0]), tree.name(node)
            if not base or not name.isidentifier():
                return ""
            is_pointer = tree.type_of(node.children[0]).is_pointer
            if base.startswith("*"):
                base = f"({base})"
            return f"{base}->{name}" if is_pointer else f"{base}.{name}"
        case s.SUBSCRIPT if len(node.children) == 2:
            base, index = (_spelled(tree, child) for child in node.children)
            is_plain = base and index and not base.startswith("*")
            return f"{base}[{index}]" if is_plain else ""
        case s.UNARY if _is_dereference(tree, node):
            base = _spelled(tree, node.children[0])
            return f"*{base}" if base else ""
    return ""


def _is_dereference(tree: Tree, node: Node) -> bool:
    kind = int(tree.library.getCursorUnaryOperatorKind(node.cursor))
    return kind == s.DEREFERENCE and bool(node.children)
