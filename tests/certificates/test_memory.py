"""The checker's memory: which cells an object that comes to life may have changed."""

from __future__ import annotations

from plait.certificates.document import Cell
from plait.certificates.memory import Cells, KnownBytes, Memory
from plait.logic.terms import Terms


def test_cells_of_an_object_that_comes_to_life_have_changed() -> None:
    before, begins_before, ends_behind, behind = (Cell(100 + 4 * n, 4) for n in range(4))
    cells = Cells((before, begins_before, ends_behind, behind))
    terms = Terms()
    memory = Memory(terms, KnownBytes(terms, cells, {}, {}, terms.constant))
    memory.create(106, 4, None)
    assert set(memory.changed(cells)) == {begins_before, ends_behind}


def test_what_was_written_is_gone_when_an_object_comes_to_life_there() -> None:
    terms = Terms()
    memory = Memory(terms, KnownBytes(terms, Cells(()), {}, {}, terms.constant))
    memory.write(100, terms.constant(7, 32))
    memory.create(102, 2, b"")
    assert memory.read(100, 4) == terms.constant(7, 32)
    memory.create(100, 2, b"\x05")
    assert memory.read(100, 4) == terms.constant(5, 32)
