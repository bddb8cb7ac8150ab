"""The abstract machine: no two objects of different threads, or of one frame, share a page."""

from __future__ import annotations

from pathlib import Path

import pytest

from plait.c import load
from plait.c.options import FrontEndOptions
from plait.model.machine import AddressSpace
from plait.model.program import Program
from plait.model.properties import from_names
from plait.model.types import DataModel

TEXT = """
_Thread_local int first;
_Thread_local char second[40000];
int global;
int main(void) {
  char a[3];
  char b[20000];
  char *p = a, *q = b;
  return p[0] + q[0] + first + second[1] + global;
}
"""


def program(tmp_path: Path, model: DataModel) -> Program:
    path = tmp_path / "program.c"
    path.write_text(TEXT)
    return load([str(path)], FrontEndOptions(data_model=model), from_names([]))


def test_the_address_behind_an_object_is_its_own() -> None:
    page = 1 << DataModel.ILP32.page_bits
    assert [DataModel.ILP32.pages_of(size) for size in (0, page - 1, page)] == [1, 1, 3]


@pytest.mark.parametrize("model", list(DataModel))
def test_arenas_follow_each_other_behind_what_is_static(tmp_path: Path, model: DataModel) -> None:
    made = program(tmp_path, model)
    space = AddressSpace(made)
    assert space.arena(1)[0] == made.first_free_page
    assert all(space.arena(n)[1] == space.arena(n + 1)[0] for n in range(1, space.most_threads))
    pages = 1 << made.data_model.pointer.bits - made.data_model.page_bits
    assert space.arena(space.most_threads)[1] <= pages


@pytest.mark.parametrize("model", list(DataModel))
def test_thread_local_objects_come_before_the_heap(tmp_path: Path, model: DataModel) -> None:
    made = program(tmp_path, model)
    space = AddressSpace(made)
    first, second = space.thread_locals
    assert space.thread_local_copies(1) == [(first, first.page), (second, second.page)]
    assert space.heap_start(1) == space.arena(1)[0]
    start = space.arena(3)[0]
    taken = made.data_model.pages_taken
    assert space.thread_local_copies(3) == [(first, start), (second, start + taken(first.size))]
    assert space.heap_start(3) == start + 2 + taken(40000)


@pytest.mark.parametrize("model", list(DataModel))
def test_objects_begin_at_odd_pages(tmp_path: Path, model: DataModel) -> None:
    made = program(tmp_path, model)
    space = AddressSpace(made)
    pages = [item.page for item in (*made.objects, *made.functions.values())]
    for thread in (1, 2, 64):
        pages += [page for _, page in space.thread_local_copies(thread)]
        pages += [space.heap_start(thread), *space.arena(thread)]
        for function in made.functions.values():
            layout = space.frame_layout(function)
            pages += [space.arena(thread)[1] - layout.pages + slot for slot in layout.slots]
    assert min(pages) > 1
    assert max(pages) < made.data_model.last_page
    assert all(page % 2 for page in pages)


@pytest.mark.parametrize(("model", "pages"), [(DataModel.ILP32, 6), (DataModel.LP64, 4)])
def test_slots_of_a_frame_have_pages_of_their_own(
    tmp_path: Path, model: DataModel, pages: int
) -> None:
    made = program(tmp_path, model)
    (main,) = (item for item in made.functions.values() if item.display == "main")
    layout = AddressSpace(made).frame_layout(main)
    assert (layout.pages, layout.slots) == (pages, (0, 2))
