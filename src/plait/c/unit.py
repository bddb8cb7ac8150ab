"""A translation unit: its declarations, types, and where its text stands."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from plait.c import syntax as s
from plait.c.libclang import Cursor, Library, TranslationUnit
from plait.c.pretty import assemblies, decayed, for_heads, generic_types, resolved
from plait.c.syntax import Node, Tree
from plait.c.types import CType, TypeTable
from plait.errors import UnsupportedCode
from plait.model.actions import Origin
from plait.model.program import StaticObject
from plait.model.types import U32, U64, DataModel, Scalar

if TYPE_CHECKING:
    from plait.c.linker import Linker

_INTERNAL = 2  # CXLinkage_Internal
_NO_LINKAGE = 1
_STATIC, _EXTERN = 3, 2  # CX_SC_Static, CX_SC_Extern
_UNEXPOSED_ATTRIBUTE = 400
_MEANINGFUL_ATTRIBUTES = (
    "constructor",
    "destructor",
    "cleanup",
    "alias",
    "ifunc",
    "weakref",
    "weak",
    "noreturn",
)


class Unit:
    """One parsed file, with an index of what it defines at file scope."""

    def __init__(
        self, linker: Linker, library: Library, parsed: TranslationUnit, path: str, number: int
    ) -> None:
        self.linker = linker
        self.library = library
        self.parsed = parsed
        self.path = path
        self.number = number
        self.is_library = number < 0
        self.types = TypeTable(library, linker.data_model)
        self.tree = Tree(library, self.types)
        self.size_type: Scalar = U32 if linker.data_model is DataModel.ILP32 else U64
        self.functions: dict[str, Cursor] = {}
        self.variables: dict[str, Cursor] = {}
        self.constructors: list[str] = []
        self.destructors: list[str] = []
        self.type_of = self.tree.type_of
        self._files: dict[int, str] = {}
        self._for_parts: dict[int, dict[int, tuple[bool, bool, bool]]] = {}
        self._typedefs: dict[str, str] | None = None
        self.label_values: dict[int, int] = {}  # labels whose address the function takes
        self.root: Node | None = None  # the declaration that is being lowered
        self.size_typedef: Cursor | None = None
        self._index()

    def _index(self) -> None:
        library = self.library
        for cursor in library.children(self.parsed.root()):
            if cursor.kind == s.FUNCTION:
                if library.isCursorDefinition(cursor):
                    name = library.spelling(cursor)
                    self.functions[name] = cursor
                    if not self.is_library:
                        self._note_start_and_end(name, cursor)
            elif cursor.kind == s.VAR:
                self._index_variable(cursor)
            elif cursor.kind == s.TYPEDEF and library.spelling(cursor) == "size_t":
                self.size_typedef = cursor

    def _note_start_and_end(self, name: str, cursor: Cursor) -> None:
        attributes = self.attributes(cursor, self.library.children(cursor))
        if "constructor" in attributes:
            self.constructors.append(name)
        if "destructor" in attributes:
            self.destructors.append(name)

    def _index_variable(self, cursor: Cursor) -> None:
        """Keep the declaration that says most: initialised, then tentative, then extern."""
        name = self.library.spelling(cursor)
        known = self.variables.get(name)
        if known is None or self._weight(cursor) >= self._weight(known):
            self.variables[name] = cursor

    def _weight(self, cursor: Cursor) -> int:
        if self.library.Cursor_getVarDeclInitializer(cursor).kind >= 100:
            return 2
        return 0 if self.library.Cursor_getStorageClass(cursor) == _EXTERN else 1

    def defines_variable(self, name: str) -> bool:
        cursor = self.variables.get(name)
        return cursor is not None and self._weight(cursor) > 0

    def is_tentative(self, name: str) -> bool:
        """Whether it defines a variable without a value."""
        cursor = self.variables[name]
        return self._weight(cursor) == 1 and not self.library.getCursorTLSKind(cursor)

    def is_internal(self, cursor: Cursor) -> bool:
        return bool(self.library.getCursorLinkage(cursor) == _INTERNAL)

    def is_inline(self, cursor: Cursor) -> bool:
        return bool(self.library.Cursor_isFunctionInlined(cursor))

    def is_weak(self, cursor: Cursor) -> bool:
        return "weak" in self.attributes(cursor, self.library.children(cursor))

    # Names that lowering refers to

    def function_name(self, declaration: Cursor) -> str:
        """The linked name of a function; asking for it makes it part of the program."""
        return self.linker.function(self, self.library.spelling(declaration), declaration)

    def is_defined(self, name: str, declaration: Cursor) -> bool:
        """Whether the user's sources define this function."""
        return name in self.functions or self.linker.defines_function(name)

    def is_of_system(self, declaration: Cursor) -> bool:
        """Also where the program declares it once more."""
        return any(
            self.library.Location_isInSystemHeader(self.library.getCursorLocation(cursor))
            for cursor in (declaration, self.library.getCanonicalCursor(declaration))
        )

    def is_modelled(self, name: str) -> bool:
        return self.linker.has_library_function(name)

    def variable(self, declaration: Cursor) -> StaticObject:
        """The object of a variable with static or thread storage duration."""
        return self.linker.variable(self, declaration)

    def string_bytes(self, node: Node, ctype: CType) -> bytes:
        """The contents of a char array that a literal initialises, cut or padded to its size."""
        element = ctype.inner
        assert element is not None
        data = s.decode_string(self.tree.name(node), element.size)
        size = ctype.size if ctype.count is not None else len(data) + element.size
        return data[:size].ljust(size, b"\0")

    def string_literal(self, node: Node) -> StaticObject:
        ctype = self.type_of(node)
        data = self.string_bytes(node, ctype)
        return self.linker.string_object(data, ctype, self.origin(node.cursor))

    def anonymous_object(self, node: Node, ctype: CType) -> StaticObject:
        return self.linker.anonymous_object(self, node, ctype)

    def label_of(self, reference: Node) -> int:
        """The identity of the label that a goto or `&&` names; __label__ lets names repeat."""
        return self.library.getCursorReferenced(reference.cursor).data[1] or 0

    def initialiser(self, node: Node) -> Node | None:
        """The initialiser of a variable: libclang knows it, children alone do not tell."""
        cursor = self.library.Cursor_getVarDeclInitializer(node.cursor)
        if cursor.kind < 100:
            return None
        wanted = cursor.data[1]
        for child in node.children:
            if child.cursor.data[1] == wanted and child.kind == cursor.kind:
                return child
        return self.tree.read(cursor)

    # Places in the text

    def origin(self, cursor: Cursor) -> Origin:
        extent = self.library.getCursorExtent(cursor)
        start = self.library.getRangeStart(extent)
        end = self.library.getRangeEnd(extent)
        file, line, column = self._position(start)
        end_file, end_line, end_column = self._position(end)
        if end_file != file or (end_line, end_column) <= (line, column):
            end_line, end_column = line, 0
        return Origin(file, line, column, end_line, end_column)

    def end_origin(self, cursor: Cursor) -> Origin:
        """The closing brace of a function."""
        end = self.library.getRangeEnd(self.library.getCursorExtent(cursor))
        file, line, column = self._position(end)
        return Origin(file, line, max(column - 1, 1), line, column)

    def _position(self, location: object) -> tuple[int, int, int]:
        file, line, column = ctypes.c_void_p(), ctypes.c_uint(), ctypes.c_uint()
        self.library.getExpansionLocation(
            location, ctypes.byref(file), ctypes.byref(line), ctypes.byref(column), None
        )
        handle = file.value or 0
        name = self._files.get(handle)
        if name is None:
            name = self.library.text(self.library.getFileName(file)) if handle else ""
            self._files[handle] = name
        return self.source(name, line.value, column.value)

    def source(self, path: str, line: int, column: int) -> tuple[int, int, int]:
        """The number of a source file of the program, and a place in it."""
        return self.linker.source_number(path), line, column

    def source_text(self, node: Node) -> str:
        origin = self.origin(node.cursor)
        return self.linker.text(origin)

    # What libclang does not say

    def for_parts(
        self, function: Node, node: Node
    ) -> tuple[Node | None, Node | None, Node | None, Node]:
        """Which of a for statement's three parts its children are."""
        *parts, body = node.children
        if len(parts) == 3:
            return parts[0], parts[1], parts[2], body
        if not parts:
            return None, None, None, body
        present = self._present_parts(function, node)
        if sum(present) != len(parts):
            raise UnsupportedCode("a for statement whose parts libclang does not tell apart")
        remaining = iter(parts)
        first, second, third = (next(remaining) if there else None for there in present)
        return first, second, third, body

    def _present_parts(self, function: Node, node: Node) -> tuple[bool, bool, bool]:
        """Read off the function's pretty-printed text, in which macros are expanded."""
        key = function.cursor.data[0] or 0
        known = self._for_parts.get(key)
        if known is None:
            loops: list[Node] = []
            _collect(function, s.FOR, loops)
            heads = for_heads(self.library.pretty(function.cursor))
            if len(heads) != len(loops):
                raise UnsupportedCode("a for statement whose parts libclang does not tell apart")
            known = self._for_parts[key] = {
                loop.cursor.data[1] or 0: head for loop, head in zip(loops, heads, strict=True)
            }
        return known[node.cursor.data[1] or 0]

    def selected_generic(self, node: Node) -> Node:
        """The association of _Generic that was chosen: the one whose type the whole has."""
        controlling, *candidates = node.expressions()
        wanted = self._canonical(node)
        matching = [item for item in candidates if self._canonical(item) == wanted]
        if len(matching) == 1:
            return matching[0]
        types = self._association_types(node)
        if len(types) != len(candidates):
            raise UnsupportedCode("a _Generic whose choice libclang does not tell")
        subjects = self._controlling_types(controlling)
        associations = [None if text == "default" else self._resolved(text) for text in types]
        for type_, candidate in zip(associations, candidates, strict=True):
            if type_ in subjects:
                return candidate
        # `default` is chosen only if it is certain that nothing else fits.
        if "default" in types and all(
            type_ is not None or text == "default"
            for type_, text in zip(associations, types, strict=True)
        ):
            return candidates[types.index("default")]
        raise UnsupportedCode("a _Generic whose choice libclang does not tell")

    def _controlling_types(self, node: Node) -> set[str]:
        """The types that fit a controlling expression: an enum also fits its integer type."""
        raw = self.library.getCanonicalType(self.library.getCursorType(node.cursor))
        found = {decayed(self.library.type_spelling(raw))}
        declaration = self.library.getTypeDeclaration(raw)
        if declaration.kind == s.ENUM:
            integer = self.library.getEnumDeclIntegerType(declaration)
            found.add(decayed(self.library.type_spelling(self.library.getCanonicalType(integer))))
        return found

    def _canonical(self, node: Node) -> str:
        found = self.library.getCanonicalType(self.library.getCursorType(node.cursor))
        return self.library.type_spelling(found)

    def _association_types(self, node: Node) -> list[str]:
        """The types of a _Generic, from the pretty-printed text of what it stands in."""
        if self.root is None:
            return []
        selections: list[Node] = []
        _collect(self.root, s.GENERIC, selections)
        texts = generic_types(self.library.pretty(self.root.cursor))
        if len(texts) != len(selections):
            return []
        wanted = node.cursor.data[1]
        return next(
            text
            for item, text in zip(selections, texts, strict=True)
            if item.cursor.data[1] == wanted
        )

    def _resolved(self, type_: str) -> str | None:
        """A type name with its typedefs replaced; None if that is not certain to be right."""
        if self._typedefs is None:
            self._typedefs = {
                self.library.spelling(cursor): self.library.type_spelling(
                    self.library.getCanonicalType(self.library.getCursorType(cursor))
                )
                for cursor in self.library.children(self.parsed.root())
                if cursor.kind == s.TYPEDEF
            }
        hidden: list[Node] = []
        assert self.root is not None
        for kind in (s.TYPEDEF, s.STRUCT, s.UNION, s.ENUM):
            _collect(self.root, kind, hidden)
        return resolved(type_, self._typedefs, {self.tree.name(item) for item in hidden})

    def assembly(self, node: Node) -> tuple[str, str]:
        """The template of an asm statement, and the text of its operands."""
        assert self.root is not None
        statements: list[Node] = []
        _collect(self.root, s.ASM, statements)
        texts = assemblies(self.library.pretty(self.root.cursor))
        if len(texts) != len(statements):
            raise UnsupportedCode("inline assembly with effects")
        wanted = node.cursor.data[1]
        return next(
            text
            for item, text in zip(statements, texts, strict=True)
            if item.cursor.data[1] == wanted
        )

    def attributes(self, cursor: Cursor, children: Sequence[Cursor | Node]) -> set[str]:
        """The names of the attributes of a declaration that change what it means."""
        if all(child.kind != _UNEXPOSED_ATTRIBUTE for child in children):
            return set()
        text = self.library.pretty(cursor).split("{")[0]
        return {
            name for name in _MEANINGFUL_ATTRIBUTES if re.search(rf"\b_*{name}_*\b", text, re.I)
        }

    def is_noreturn(self, declaration: Cursor) -> bool:
        """Whether a function is declared not to return, here or at first; its type can say so."""
        first = self.library.getCanonicalCursor(declaration)
        return self._says_noreturn(declaration) or (
            (first.data[0] != declaration.data[0]) and self._says_noreturn(first)
        )

    def _says_noreturn(self, declaration: Cursor) -> bool:
        type_ = self.library.type_spelling(self.library.getCursorType(declaration))
        if "noreturn" in type_:
            return True
        children = self.library.children(declaration)
        return "noreturn" in self.attributes(declaration, children) or bool(
            re.match(r"(?:\w+ )*_Noreturn\b", self.library.pretty(declaration))
        )


def _collect(node: Node, kind: int, found: list[Node], seen: set[int] | None = None) -> None:
    """The nodes of a kind in source order; the operand that GNU `?:` repeats counts once."""
    seen = set() if seen is None else seen
    if node.kind == kind:
        key = node.cursor.data[1] or 0
        if key not in seen:
            seen.add(key)
            found.append(node)
    for child in node.children:
        _collect(child, kind, found, seen)
