"""Each rule for certificates of any number of threads, and what happens when one breaks it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from plait.certificates.outcomes import Ending
from plait.certificates.state import Access
from plait.certificates.templates.counting import check_counters
from plait.certificates.templates.document import Counter
from plait.certificates.templates.locality import STUCK, local_accesses
from plait.certificates.verdicts import Rejected, Ruling
from plait.engines.context.engine import verify
from plait.engines.context.invariants import Invariants
from plait.model.actions import NOWHERE
from plait.model.program import Program
from plait.model.properties import from_names
from tests.certificates.template_proofs import Document, about, judged, proved
from tests.engines.context.pairs import loaded

SETS = """
int x, y;
void *run(void *unused) {
  int local = 1, *q = &local, *p = &local;
  x = *p & *q;
  y = 1;
  return 0;
}
int main(void) {
  pthread_t thread;
  while (MORE) pthread_create(&thread, 0, run, 0);
  y = 2;
  assert(x < 2);
  pthread_exit(0);
}
"""

JOINS = """
int x;
void *run(void *unused) {
  x = 1;
  return 0;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, run, 0);
  pthread_join(thread, 0);
  assert(x == 1);
  return 0;
}
"""


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], tuple[Program, Document]]:
    found: dict[str, tuple[Program, Document]] = {}

    def proof(text: str) -> tuple[Program, Document]:
        if text not in found:
            found[text] = proved(text, tmp_path_factory.mktemp("proof"))
        program, document = found[text]
        return program, json.loads(json.dumps(document))

    return proof


def reason(program: Program, document: Document, properties: tuple[str, ...] = ()) -> str:
    verdict = judged(program, document, properties or ("assertions",))
    assert verdict.answer is Ruling.REJECTED
    return verdict.reason


def places(document: Document, template: int) -> list[Document]:
    found: list[Document] = document["templates"][template]["places"]
    return found


def claim(document: Document, row: list[Any], *others: list[Any]) -> int:
    """A new term, behind those that it consists of."""
    for item in (*others, row):
        document["terms"].append(item)
    return len(document["terms"]) - 1


def equal(document: Document, name: str, width: int, value: int) -> int:
    start = len(document["terms"])
    return claim(
        document,
        ["eq", 1, [start, start + 1], 0, ""],
        ["variable", width, [], 0, name],
        ["constant", width, [], value, ""],
    )


def cell_of(program: Program, name: str) -> str:
    [found] = [item for item in program.objects if item.name == name]
    return f"m{program.address_of(found)}.{found.size}"


Known = Callable[[str], tuple[Program, Document]]


def test_the_first_place_is_where_the_program_starts(known: Known) -> None:
    program, document = known(SETS)
    places(document, 0)[0]["thread"] = places(document, 0)[1]["thread"]
    assert "not where the program starts" in reason(program, document)


def test_the_first_label_holds_at_first(known: Known) -> None:
    program, document = known(SETS)
    places(document, 0)[0]["label"].append(equal(document, cell_of(program, "x"), 32, 1))
    assert "not in all initial states" in reason(program, document)


def test_steps_lead_to_places(known: Known) -> None:
    program, document = known(SETS)
    places(document, 1)[1]["label"].append(claim(document, ["constant", 1, [], 0, ""]))
    assert "which does not follow" in reason(program, document)
    program, document = known(SETS)
    del places(document, 1)[1]
    assert "leads to no place" in reason(program, document)


def test_nothing_is_violated(known: Known, tmp_path: Path) -> None:
    _, document = known(SETS)
    text = SETS.replace("x < 2", "x < 1")
    program = loaded(text, tmp_path, from_names(["assertions"]))
    assert "may end in violation" in reason(program, about(program, document))


def test_others_keep_what_holds(known: Known) -> None:
    program, document = known(SETS)
    item = equal(document, cell_of(program, "x"), 32, 0)
    for place in places(document, 0):
        place["label"].append(item)
    assert "does not keep what holds at" in reason(program, document)


def test_others_keep_known_values(known: Known) -> None:
    program, document = known(SETS)
    name = cell_of(program, "x").removeprefix("m")
    for place in places(document, 0):
        place["cells"][name] = 0
    assert "does not keep what holds at" in reason(program, document)


def test_a_new_thread_is_at_its_first_place(known: Known) -> None:
    program, document = known(SETS)
    places(document, 1)[0]["label"].append(equal(document, cell_of(program, "x"), 32, 1))
    assert "run claims that" in reason(program, document)


def test_any_number_of_threads_has_any_number(known: Known) -> None:
    program, document = known(SETS)
    number = document["templates"][1]["number"]
    places(document, 1)[0]["label"].append(equal(document, "self", 32, number))
    assert "run claims that" in reason(program, document)


def test_ghosts_are_what_they_are(known: Known) -> None:
    program, document = known(SETS)
    start = len(document["terms"])
    numbers = (["variable", 32, [], 0, "self"], ["variable", 32, [], 0, "last"])
    item = claim(document, ["eq", 1, [start, start + 1], 0, ""], *numbers)
    for place in places(document, 1):
        place["label"].append(item)
    assert "does not keep what holds at" in reason(program, document)


def test_how_many_threads_there_are(known: Known) -> None:
    program, document = known(SETS)
    document["templates"][1]["multiple"] = False
    assert "there may be several of run" in reason(program, document)


def test_who_is_alone(known: Known) -> None:
    program, document = known(SETS)
    for place in places(document, 0):
        place["alone"] = True
    assert "leads to no place" in reason(program, document)
    program, document = known(SETS)
    places(document, 1)[0]["alone"] = True
    assert "who was started is not alone" in reason(program, document)


def test_what_a_thread_begins_with(known: Known) -> None:
    program, document = known(SETS)
    places(document, 1)[0]["heap"] = {
        page: [size + 8, storage]
        for page, (size, storage) in places(document, 1)[0]["heap"].items()
    }
    assert "which it does not get" in reason(program, document).replace(
        "with an object that it does", "which it does"
    )


def test_a_block_is_there_when_it_is_accessed(known: Known) -> None:
    program, document = known(JOINS)
    assert judged(program, document).answer is Ruling.ACCEPTED
    begun = [number for number, row in enumerate(document["terms"]) if row[4] == "begun.1"]
    for place in places(document, 0):
        place["label"] = [item for item in place["label"] if item not in begun]
    assert "a block that may not be there" in reason(program, document)


def test_blocks_belong_to_threads_that_there_is_one_of(known: Known) -> None:
    program, document = known(SETS)
    [page] = places(document, 1)[0]["heap"]
    document["blocks"] = {page: 1}
    assert "of which there is one thread" in reason(program, document)


def test_what_others_notice_is_not_local(known: Known) -> None:
    program, document = known(SETS)
    document["switch_points"]["run"] = []
    assert "treats an access" in reason(program, document)


def test_what_is_noticed_of_a_thread_that_is_stuck(tmp_path: Path) -> None:
    text = """
int x, y;
void *run(void *unused) {
  y = 1;
  x = 1;
  __VERIFIER_assume(y == 2);
  return 0;
}
int main(void) {
  pthread_t thread;
  while (MORE) pthread_create(&thread, 0, run, 0);
  assert(x < 2);
  pthread_exit(0);
}
"""
    program, document = proved(text, tmp_path)
    assert judged(program, document).answer is Ruling.ACCEPTED
    document["switch_points"]["run"] = []
    assert "treats an access" in reason(program, document)


def test_races(known: Known, tmp_path: Path) -> None:
    _, document = known(SETS)
    properties = ("no-data-race",)
    program = loaded(SETS, tmp_path, from_names(properties))
    document["properties"] = [*properties]
    assert "race for" in reason(program, about(program, document), properties)


def test_a_number_is_no_address(known: Known, tmp_path: Path) -> None:
    """Of the thread by which the certificate stands for all others it would be."""
    _, document = known(SETS)
    address = next(
        slot
        for place in places(document, 1)
        for frame in place["thread"]["frames"]
        if frame["function"] == "run"
        for slot in frame["slots"].values()
    )
    text = SETS.replace(" *p = &local", f" *p = (int *){address}L")
    program = loaded(text, tmp_path, from_names(["assertions"]))
    assert "in no object of the thread" in reason(program, about(program, document))
    text = SETS.replace("  x = *p", f"  assert((long)&local == {address}L);\n  x = *p")
    program = loaded(text, tmp_path, from_names(["assertions"]))
    assert "may end in violation" in reason(program, about(program, document))


def test_what_is_said_of_nobody(known: Known) -> None:
    program, document = known(SETS)
    places(document, 0)[1]["cells"]["117093774995226648.8"] = 1
    assert "which is nobody's" in reason(program, document)
    program, document = known(SETS)
    document["templates"][1]["number"] = 1
    assert "numbers of different threads" in reason(program, document)
    program, document = known(SETS)
    thread = places(document, 1)[0]["thread"]
    thread["heap_page"] = 7
    assert "somewhere else" in reason(program, document)


WRONG = """
int x;
extern int __VERIFIER_nondet_int(void);
void *run(void *unused) {
  int own = __VERIFIER_nondet_int();
  x = own;
  assert(x == own);
  return 0;
}
int main(void) {
  pthread_t thread;
  while (MORE) pthread_create(&thread, 0, run, 0);
  pthread_exit(0);
}
"""


def test_each_thread_has_its_own_variables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Invariants, "_disturbances", lambda self: [])
    specification = from_names(["assertions"])
    program = loaded(WRONG, tmp_path, specification)
    proof = verify(program, specification).proof
    assert proof is not None
    document = proof.certificate()
    assert document is not None
    assert "does not keep" in reason(program, about(program, document))


# The first thread leaves place 1 to 2; from there nobody comes back.
MOVES: list[tuple[int, int, int | None]] = [(1, 0, 1), (1, 1, 2), (1, 2, 2), (1, 2, None)]


@pytest.mark.parametrize(
    ("counter", "moves", "words"),
    [
        (Counter(1, 1, frozenset({0, 1}), frozenset({2})), MOVES, ""),
        (Counter(1, 1, frozenset({0}), frozenset({2})), MOVES, "before it begins"),
        (Counter(1, 1, frozenset({0, 1}), frozenset({0, 2})), MOVES, "before it begins"),
        (Counter(1, 1, frozenset({0, 1, 2}), frozenset({2})), MOVES, "left it and not"),
        (Counter(1, 1, frozenset({0, 1, 2}), frozenset()), MOVES, "leave it twice"),
        (
            Counter(1, 1, frozenset({0, 1}), frozenset({2})),
            [*MOVES, (1, 2, 1)],
            "leave it twice",
        ),
        (
            Counter(1, 1, frozenset({0, 1}), frozenset({2})),
            [*MOVES, (1, 0, 2)],
            "not have left it",
        ),
    ],
)
def test_counted_places(
    counter: Counter, moves: list[tuple[int, int, int | None]], words: str
) -> None:
    certificate: Any = SimpleNamespace(counters=[counter])
    if not words:
        check_counters(certificate, moves)
        return
    with pytest.raises(Rejected) as caught:
        check_counters(certificate, moves)
    assert words in caught.value.what


def test_a_write_to_some_part_of_a_large_object(tmp_path: Path) -> None:
    text = """
int large[100], index;
void *run(void *unused) {
  int here = index;
  if (here < 0 || here > 99) return 0;
  large[here] = 1;
  return 0;
}
int main(void) {
  pthread_t thread;
  index = __VERIFIER_nondet_int();
  while (MORE) pthread_create(&thread, 0, run, 0);
  pthread_exit(0);
}
"""
    program, document = proved(text, tmp_path)
    assert judged(program, document).answer is Ruling.ACCEPTED
    [item] = [item for item in program.objects if item.name == "large"]
    name = f"m{program.address_of(item) + 8}.4"
    label = equal(document, name, 32, 0)
    for place in places(document, 0) + places(document, 1):
        place["label"].append(label)
    assert judged(program, document).answer is Ruling.REJECTED


def test_who_is_stuck_stands_nowhere() -> None:
    """So whatever others access is compared with what it has done, wherever they are."""
    facts: Any = None
    access = Access(0, 4, True, True, facts, NOWHERE)
    path = SimpleNamespace(accesses=[access], is_halted=True)
    outcome: Any = SimpleNamespace(ending=Ending.MOVED, path=path)
    behind = SimpleNamespace(target=None)
    step = SimpleNamespace(outcomes=[outcome])
    standing: Any = SimpleNamespace(step=step, outcomes=[(outcome, behind)])
    pairs: Any = SimpleNamespace(addresses=SimpleNamespace(is_shared=lambda address: True))
    assert local_accesses(pairs, standing) == {access: {STUCK}}
