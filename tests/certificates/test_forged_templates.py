"""Certificates for any number of threads that were made up for programs that are violated."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from plait.certificates.objects import Objects
from plait.certificates.outcomes import Lost
from plait.certificates.templates.addresses import Addresses
from plait.certificates.templates.execute import TemplateExecutor
from plait.certificates.verdicts import Ruling
from plait.model.program import Program
from plait.model.properties import from_names
from tests.certificates.template_proofs import Document, about, judged, proved
from tests.certificates.test_template_rules import JOINS, cell_of, equal, places, reason
from tests.engines.context.pairs import loaded


def forged(right: str, wrong: str, folder: Path) -> tuple[Program, Document]:
    """A program, with the proof of another one, for which the checker does not take it."""
    _, document = proved(right, folder)
    program = loaded(wrong, folder, from_names(["assertions"]))
    document = about(program, document)
    assert judged(program, document).answer is Ruling.REJECTED
    return program, document


def add(document: Document, *row: Any) -> int:
    document["terms"].append([*row])
    return len(document["terms"]) - 1


def either(document: Document, one: int, other: int) -> int:
    return add(document, "or", 1, [one, other], 0, "")


def test_a_new_thread_knows_where_its_creator_comes_to(tmp_path: Path) -> None:
    """Not nowhere: each of the two would say that the other one cannot be there."""
    text = """
int x;
void *run(void *unused) {
  assert(x < 2);
  return 0;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, run, 0);
  x = 1;
  pthread_exit(0);
}
"""
    program, document = forged(text, text.replace("x < 2", "x < 1"), tmp_path)
    first, nowhere = equal(document, cell_of(program, "x"), 32, 0), 65535
    for number, place in enumerate(places(document, 0)):
        here = equal(document, "place.0", 16, number)
        place["label"].append(first if place["alone"] else here)
    for place in places(document, 1):
        place["label"] += [first, equal(document, "place.0", 16, nowhere)]
    assert "run claims that" in reason(program, document)


OWN = """
int first;
__thread char own;
void *once(void *unused) {
  return 0;
}
void *run(void *unused) {
  __VERIFIER_atomic_begin();
  if (!first) {
    first = 1;
    own = 1;
  }
  int found = own;
  __VERIFIER_atomic_end();
  assert(found < 2);
  return 0;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, once, 0);
  while (MORE) pthread_create(&thread, 0, run, 0);
  pthread_exit(0);
}
"""


@pytest.mark.parametrize("is_listed", [False, True])
def test_what_each_thread_has_of_its_own_is_no_block(tmp_path: Path, *, is_listed: bool) -> None:
    """What one of them has written would be there for all others."""
    program, document = forged(OWN, OWN.replace("found < 2", "found > 0"), tmp_path)
    [number] = [item["number"] for item in document["templates"] if item["multiple"]]
    [name] = {row[4] for row in document["terms"] if row[4].startswith("m") and row[1] == 8}
    page = name.removeprefix("m").partition(".")[0]
    page = str(int(page) >> program.data_model.page_bits)
    document["blocks"][page] = 1
    is_first = equal(document, cell_of(program, "first"), 32, 0)
    is_second = equal(document, cell_of(program, "first"), 32, 1)
    labels = [
        either(document, is_first, equal(document, name, 8, 1)),
        either(document, is_first, is_second),
        add(document, "variable", 1, [], 0, "begun.1"),
    ]
    for template in document["templates"]:
        for place in template["places"]:
            if template["number"] == number:
                place["label"] = [
                    item for item in place["label"] if document["terms"][item][0] != "slt"
                ]
                place["label"].append(labels[2])
            if template["name"] != "once":
                place["label"] += labels[:2]
            if is_listed and template["name"] == "once":
                place["heap"][page] = [1, "library"]
    words = "is nowhere" if is_listed else "no place has the block"
    assert words in reason(program, document)


def test_a_block_is_as_large_as_what_was_allocated(tmp_path: Path) -> None:
    text = """
void *run(void *unused) {
  long found = ((long *)pthread_self())[0];
  return 0;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, run, 0);
  pthread_exit(0);
}
"""
    program, document = forged(text, text.replace("[0]", "[20]"), tmp_path)
    [page] = document["blocks"]
    for place in places(document, 0):
        place["heap"].pop(page, None)
    for place in places(document, 1):
        place["heap"][page] = [400, "library"]
    assert "a shared block is, or one of another size" in reason(program, document)
    places(document, 1)[0]["heap"][page] = [48, "library"]
    assert "not the same at all places" in reason(program, document)


def test_blocks_have_pages_of_their_own(tmp_path: Path) -> None:
    program, document = proved(JOINS, tmp_path)
    [page] = [int(item) for item in document["blocks"]]
    for words in ("two shared blocks overlap", "is where a shared block is"):
        changed = about(program, document)
        places(changed, 1)[0]["heap"][str(page + 1)] = [48, "library"]
        if "two" in words:
            changed["blocks"][str(page + 1)] = 1
        assert words in reason(program, changed)
    top = str(min(place["thread"]["stack_page"] for place in places(document, 0)))
    changed = about(program, document)
    changed["blocks"][top] = 1
    places(changed, 1)[0]["heap"][top] = [48, "library"]
    assert "is where a stack is" in reason(program, changed)


def test_numbers_of_the_start_are_no_addresses(tmp_path: Path) -> None:
    """Where a block will be is not known at first."""
    program, document = proved(JOINS, tmp_path)
    [page] = document["blocks"]
    address = int(page) << program.data_model.page_bits
    label = equal(document, f"a{address}", program.data_model.pointer.bits, address)
    places(document, 0)[0]["label"].append(label)
    assert "not in all initial states" in reason(program, document)


CHOOSES = """
int main(void) {
  unsigned rounds = 0;
  do {
    rounds = rounds ? 2 : 1;
  } while (MORE);
  if (rounds == 1) return 0;
  long *object = malloc(16);
  if (!object) return 0;
  int chosen = MORE;
  unsigned long base = chosen ? (unsigned long)object : 0;
  unsigned long offset = chosen ? 8 : NUMBER;
  long found = ACCESS;
  return 0;
}
"""


def test_a_number_is_not_taken_for_the_place_of_an_object(tmp_path: Path) -> None:
    """Not even where the pointer is calculated from a choice between both."""
    text = CHOOSES.replace("NUMBER", "8")
    program, document = proved(text.replace("ACCESS", "0"), tmp_path)
    start, loop = places(document, 0)[:2]
    document["templates"] = [document["templates"][0] | {"places": [start, loop]}]
    page = loop["thread"]["heap_page"] + 2
    loop["thread"]["heap_page"] = page
    address = (page << program.data_model.page_bits) + 8
    text = CHOOSES.replace("ACCESS", "*(long *)(base + offset)")
    program = loaded(text.replace("NUMBER", str(address)), tmp_path, from_names(["assertions"]))
    assert "in no object of the thread" in reason(program, about(program, document))


def test_objects_are_where_the_machine_has_them(tmp_path: Path) -> None:
    """At another page the one behind an object would be taken for the one in front of it."""
    text = CHOOSES.replace("NUMBER", "8").replace("ACCESS", "0")
    program, document = proved(text, tmp_path)
    start, loop = places(document, 0)[:2]
    document["templates"] = [document["templates"][0] | {"places": [start, loop]}]
    loop["thread"]["heap_page"] += 1
    text = text.replace("found = 0", "found = (long)((char *)object + (1L << 32))")
    program = loaded(text, tmp_path, from_names(["assertions"]))
    assert "no object begins there" in reason(program, about(program, document))


def test_a_template_stands_for_some_thread(tmp_path: Path) -> None:
    """Locals of thread 0 would be static objects."""
    program, document = proved(JOINS, tmp_path)
    document["templates"][1]["number"] = 0
    assert "numbers of different threads" in reason(program, document)


def test_a_block_of_several_pages_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    world: Any = type("World", (), {"page_bits": 13, "pointer_bits": 32})()
    world.pages_taken = lambda size: (((size >> 13) + 1) | 1) + 1
    world.space = type("Space", (), {"arena": staticmethod(lambda number: (101, 201))})()
    terms: Any = type("Terms", (), {"variable": staticmethod(lambda name, width: name)})()
    addresses = Addresses(world, terms, {111: 3 << 13})
    assert [addresses.block_at(page << 13) for page in (109, 111, 114, 117)] == [
        None,
        111,
        111,
        None,
    ]
    assert [addresses.is_apart(page, 1) for page in (109, 111, 113, 117)] == [
        True,
        False,
        False,
        True,
    ]
    executor = TemplateExecutor.__new__(TemplateExecutor)
    executor._own, executor._blocks = addresses, {111: (3 << 13, "library")}
    executor._world = world
    made: list[int] = []
    monkeypatch.setattr(Objects, "_create", lambda self, path, page, *rest: made.append(page))
    path: Any = SimpleNamespace(heap={111: (3 << 13, "library")}, heap_page=117, handed=None)
    executor._create(path, 111, 3 << 13, None)
    executor._create(path, 117, 1, None)
    assert made == [111, 117]
    path.heap_page = 101  # so that what is there is no block, but on the stack
    for page in (111, 113):
        with pytest.raises(Lost):
            executor._create(path, page, 3 << 13, None)
    path.heap = {}  # at a place that does not have it
    with pytest.raises(Lost):
        executor._create(path, 113, 1, None)


@pytest.mark.parametrize("is_handed", [False, True])
def test_nothing_comes_to_life_where_an_object_is(
    monkeypatch: pytest.MonkeyPatch, *, is_handed: bool
) -> None:
    """Of what was handed over, the new thread has what is there behind the step."""
    executor = TemplateExecutor.__new__(TemplateExecutor)
    executor._blocks = {}
    own: Any = SimpleNamespace(is_apart=lambda page, size: True)
    executor._own = own
    world: Any = SimpleNamespace(pages_taken=lambda size: 4)
    executor._world = world
    made: list[int] = []
    monkeypatch.setattr(Objects, "_create", lambda self, path, page, *rest: made.append(page))
    item = 113, (8, "heap")
    heap = {} if is_handed else dict([item])
    path: Any = SimpleNamespace(heap=heap, heap_page=101, handed=item if is_handed else None)
    for page in (111, 113, 115):
        with pytest.raises(Lost):
            executor._create(path, page, 8, None)
    executor._create(path, 117, 8, None)
    executor._create(path, 109, 8, None)
    assert made == [117, 109]
