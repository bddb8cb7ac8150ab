"""A proof for any number of threads, as people read it: what each thread relies on at a line, and
which locks it holds there.

The proof comes as the document that `--certificate` saves (docs/certificates.md). It has no more
than it needs, so that this is short. What cannot be said in C is left out, so the lines alone are
no proof; locks are recognised by what the thread relies on: that it is their owner.
"""

from __future__ import annotations

from typing import Any

from plait.data import dataclass, field
from plait.evidence.cell_names import CellNames
from plait.evidence.in_c import InC, Name
from plait.evidence.result import Invariant, Place
from plait.evidence.trace_rows import place_of
from plait.model.program import Program

Document = dict[str, Any]


def is_of_roles(document: Document) -> bool:
    return document.get("kind") == "templates"


def roles_of(program: Program, document: Document) -> list[Invariant]:
    return _Reader(program, document).invariants()


@dataclass(slots=True, eq=False)
class _Said:
    """What holds at a line, wherever exactly the thread is there."""

    place: Place
    conditions: set[str] = field(default_factory=set)
    locks: set[str] = field(default_factory=set)


class _Reader:
    def __init__(self, program: Program, document: Document) -> None:
        self._program = program
        self._document = document
        self._terms = document["terms"]
        self._cells = CellNames(program)

    def invariants(self) -> list[Invariant]:
        found = []
        for template in self._document["templates"]:
            lines: dict[tuple[str, int, str], _Said] = {}
            for place in template["places"]:
                if not self._is_false(place):
                    self._read(template, place, lines)
            for said in lines.values():
                if said.conditions or said.locks:
                    text = " && ".join(sorted(said.conditions))
                    holding = ", ".join(sorted(said.locks))
                    found.append(Invariant(said.place, text, False, template["name"], holding))
        return sorted(found, key=lambda item: (item.role, item.place.file, item.place.line))

    def _read(
        self, template: Document, place: Document, lines: dict[tuple[str, int, str], _Said]
    ) -> None:
        where = self._where(place["thread"])
        if where is None:
            return
        depth, here = where
        function = self._program.functions[place["thread"]["frames"][depth]["function"]]

        def name(variable: str) -> Name | None:
            if variable.startswith("m"):
                known = self._cells.of(variable[1:])
                return None if known is None else Name(known.text, known.is_signed)
            if not variable.startswith("t"):
                return None
            _, frame, register = (int(item) for item in variable[1:].split("."))
            if frame != depth or variable.split(".")[0] != f"t{template['number']}":
                return None
            declared = function.registers[register]
            if not declared.name.isidentifier() or declared.name.startswith("__"):
                return None
            return Name(declared.name, declared.type.signed)

        texts = InC(self._terms, name)
        said = [texts.condition(term) for term in place["label"]]
        conditions = {item for item in said if item is not None}
        locks = {lock for term in place["label"] for lock in self._held(term)}
        known = lines.get((here.file, here.line, here.function))
        if known is None:
            lines[here.file, here.line, here.function] = _Said(here, conditions, locks)
        else:
            known.conditions &= conditions
            known.locks &= locks

    def _where(self, thread: Document) -> tuple[int, Place] | None:
        """The innermost frame that the author of the program knows, and where that is."""
        for depth in reversed(range(len(thread["frames"]))):
            frame = thread["frames"][depth]
            function = self._program.functions[frame["function"]]
            leaving = function.edges[frame["location"]]
            if not function.library and leaving:
                here = place_of(self._program, leaving[0].action.origin, function.display)
                return None if here is None else (depth, here)
        return None

    def _held(self, term: int) -> list[str]:
        """The lock that a condition says the thread to be the owner of."""
        operator, _, operands, _, _ = self._terms[term]
        if operator != "eq":
            return []
        names = [self._terms[item][4] for item in operands]
        if "self" not in names:
            return []
        found = []
        for name in names:
            cell = name.removeprefix("owner.") if name.startswith("owner.") else name[1:]
            if name.startswith(("m", "owner.")):
                item = self._cells.object_of(cell)
                found += [] if item is None else [item.name]
        return found

    def _is_false(self, place: Document) -> bool:
        rows = [self._terms[term] for term in place["label"]]
        return any(row[0] == "constant" and row[3] == 0 for row in rows)
