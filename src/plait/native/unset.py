"""Local variables that nothing initialises: how their declarations are compiled so that they have
the values of the counterexample.

No hook tells the runtime of accesses to most locals. So the compiler gets the source with an
initialiser behind their names, `int x` as `int x = VALUE`, where VALUE is what the runtime gives
for this declaration, this thread and this time. A script for sed makes that of the source, line by
line, so that an emitted test can do it too; where the source has changed, it leaves it alone.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable

from plait.data import dataclass
from plait.model.actions import Input, Origin
from plait.model.layout import ArrayLayout
from plait.model.program import Program
from plait.model.unset import Unset

# Stands before the source; the line marker behind it lets the source begin with its line 1.
HEAD = (
    "void *plait_unset(int, unsigned long);"
    " void *plait_unset_array(int, const volatile void *, unsigned long);"
)
_SPECIAL = re.compile(r"[\\.*\[\]^$/]")
_BEHIND = re.compile(r"[ \t]*(?:[,;]|$)")


@dataclass(slots=True, frozen=True)
class Declaration:
    """Of a local variable: `before` is its line up to the end of its declarator."""

    path: str
    line: int
    before: str
    name: str
    is_array: bool


@dataclass(slots=True, frozen=True)
class UnsetValue:
    """The bytes, from `offset` on, that a variable has when it is declared in a thread for the
    `number`th time (from 0)."""

    thread: int
    declaration: Declaration
    number: int
    offset: int
    data: bytes


def declaration_of(program: Program, unset: Unset, compiled: Collection[str]) -> Declaration | None:
    """Where a variable is declared, if it is one and can be initialised there: in one of the files
    that are `compiled`, not in a header or a macro."""
    found = _declaration(program, unset)
    return found if found is not None and os.path.abspath(found.path) in compiled else None


def _declaration(program: Program, unset: Unset) -> Declaration | None:
    function = program.functions.get(unset.maker.name)
    if function is None or function.library:
        return None
    if unset.maker.kind == "local":
        slot = function.slots[unset.maker.place]
        return _at(program, slot.origin, slot.name, isinstance(slot.layout, ArrayLayout))
    if unset.maker.kind == "made":
        for edge in function.edges[unset.maker.place]:
            action = edge.action
            if isinstance(action, Input) and action.indeterminate:
                name = function.registers[action.target.index].name
                return _at(program, action.origin, name, False)
    return None


def _at(program: Program, origin: Origin, name: str, is_array: bool) -> Declaration | None:
    if origin.file < 0 or origin.end_column <= 1 or not name.isidentifier():
        return None
    source = program.sources[origin.file]
    if not 1 <= origin.end_line <= len(source.lines):
        return None
    # Columns count bytes.
    line = source.lines[origin.end_line - 1].encode("utf-8", "surrogateescape")
    before = line[: origin.end_column - 1].decode("utf-8", "surrogateescape")
    behind = line[origin.end_column - 1 :].decode("utf-8", "surrogateescape")
    is_declarator = re.search(rf"\b{re.escape(name)}\b[\w \t\[\]()*,+-]*$", before, re.ASCII)
    if is_declarator is None or not _BEHIND.match(behind) or before.endswith("\\"):
        return None
    return Declaration(source.path, origin.end_line, before, name, is_array)


def script(declarations: Iterable[tuple[int, Declaration]]) -> str:
    """For sed: puts initialisers behind the declarators of one source. What is further to the
    right comes first, so that what is left of the next one is as it was."""
    rows = sorted(declarations, key=lambda item: (item[1].line, -len(item[1].before)))
    return "".join(_command(number, declaration) for number, declaration in rows)


def _command(number: int, declaration: Declaration) -> str:
    name = declaration.name
    if declaration.is_array:
        added = f", *plait_unset_{number} = plait_unset_array({number}, \\&{name}, sizeof {name})"
    else:
        added = f" = *(__typeof__({name}) *)plait_unset({number}, sizeof {name})"
    before = _SPECIAL.sub(r"\\\g<0>", declaration.before)
    # Without the substitution's own delimiter and reference: both are plain text there.
    added = added.replace("/", "\\/")
    return f"{declaration.line}s/^\\({before}\\)\\([ \t]*\\)\\([,;]\\|$\\)/\\1{added}\\2\\3/\n"
