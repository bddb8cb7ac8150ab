"""Functions that are called before anything declares them, as C90 has it: `int f()` (6.3.2.2).

Where the definition that follows returns nothing, compilers of today warn and clang refuses. For it
such functions are declared in a file of their own, which is read first.
"""

from __future__ import annotations

import os
import re

from plait.c import syntax as s
from plait.c.libclang import Cursor, Library, Message, TranslationUnit
from plait.c.toolchain import OVERRIDE_HEADERS
from plait.c.types import CType, Shape, TypeTable, promote
from plait.model.types import DataModel, Kind

DECLARATIONS = os.path.join(OVERRIDE_HEADERS, "undeclared.h")  # there is none but what is made here
_CALL = re.compile(
    r"(?:call to undeclared (?:library )?function|implicit declaration of function"
    r"|implicitly declaring library function) '(\w+)'"
)
_CONFLICT = re.compile(r"conflicting types for '(\w+)'")


def called_undeclared(parsed: TranslationUnit) -> dict[str, Message]:
    """The functions that a file calls without a declaration, and where it does so first."""
    found: dict[str, Message] = {}
    for message in parsed.warnings():
        match = _CALL.match(message[0])
        if match is not None:
            found.setdefault(match[1], message)
    return found


def missing_declarations(
    library: Library, parsed: TranslationUnit, errors: list[Message], data_model: DataModel
) -> bytes:
    """Declarations with which these errors go away: of functions without a result that are called
    before. Empty if that is not all that is wrong with them."""
    undeclared = called_undeclared(parsed)
    types = TypeTable(library, data_model)
    lines: list[str] = []
    for message, _, line, column in errors:
        match = _CONFLICT.fullmatch(message)
        if match is None or match[1] not in undeclared:
            continue
        for cursor in library.children(parsed.root()):
            if cursor.kind != s.FUNCTION or library.spelling(cursor) != match[1]:
                continue
            place = library.file_position(library.getCursorLocation(cursor))
            if place[1:] == (line, column):
                declared = _declared(match[1], types.of(cursor), library, cursor)
                if declared:
                    lines.append(declared)
    return "\n".join(dict.fromkeys(lines)).encode()


def _declared(name: str, ctype: CType, library: Library, cursor: Cursor) -> str:
    """As a function without parameters where callers pass what it takes; else with its own."""
    if ctype.result is None or ctype.result.shape is not Shape.VOID:
        return ""
    scalars = [item.scalar for item in ctype.parameters]
    if any(item is not None and item.kind is Kind.FLOAT and item.bits == 32 for item in scalars):
        return ""  # a caller passes a double
    if not ctype.variadic and all(item is None or promote(item) == item for item in scalars):
        return f"void {name}();"
    raw = library.getCanonicalType(library.getCursorType(cursor))
    passed = [
        library.type_spelling(library.getArgType(raw, number))
        for number in range(library.getNumArgTypes(raw))
    ]
    return f"void {name}({', '.join([*passed, '...'] if ctype.variadic else passed)});"
