"""Certificates by hand: each rule, and what happens when a certificate breaks it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from plait.certificates.decide import Decider
from plait.certificates.document import Cell
from plait.certificates.independence import Footprint, Move, are_apart, are_independent
from plait.certificates.verdicts import Ruling
from plait.logic.terms import Terms
from plait.model.program import Program
from tests.certificates.building import (
    Builder,
    Document,
    all_accesses,
    changed,
    program_of,
    verdict_on,
)

SEQUENTIAL = """
#include <assert.h>
int a[3] = {1, 2, 3}; int sum;
int main(void) { for (int i = 0; i < 3; i++) sum += a[i]; assert(sum == 6); return 0; }
"""

LOCKED = """
#include <assert.h>
#include <pthread.h>
int x; pthread_mutex_t m;
void *f(void *unused) {
  pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m); return 0; }
int main(void) {
  pthread_t t; pthread_create(&t, 0, f, 0); f(0); pthread_join(t, 0); assert(x == 2); return 0; }
"""

# Steps of two threads that have nothing to do with each other, and one pair that has.
APART = """
#include <assert.h>
#include <pthread.h>
int x, y, z;
void *f(void *unused) { y = 1; z = 2; return 0; }
int main(void) {
  pthread_t t; pthread_create(&t, 0, f, 0); x = 1; int seen = z; assert(seen != 1); return 0; }
"""

# An invariant: the loop comes back to the same location with other values of `n`.
LOOP = """
#include <assert.h>
extern _Bool __VERIFIER_nondet_bool(void);
unsigned n;
int main(void) {
  while (__VERIFIER_nondet_bool()) { n = n < 10 ? n + 1 : n; }
  assert(n <= 10); return 0; }
"""

ALLOCATING = """
#include <assert.h>
#include <alloca.h>
#include <stdlib.h>
struct pair { char c; int i; short s; };
int length(int n) { char *p = alloca(n); p[n - 1] = 1; return p[n - 1] + n; }
int main(void) {
  struct pair *p = malloc(sizeof *p), copy; int here[4];
  if (!p) return 0;
  p->c = 1; p->i = 0x01020304; p->s = 5; copy = *p;
  unsigned char *bytes = (unsigned char *)&copy.i;
  here[bytes[3]] = bytes[0];
  free(p);
  assert(here[1] == 4 && length(3) == 4 && copy.s == 5); return 0; }
"""


@pytest.fixture
def build(tmp_path: Path) -> Callable[[str], tuple[Program, Document]]:
    def built(text: str) -> tuple[Program, Document]:
        program = program_of(tmp_path, text)
        document = Builder(program).document()
        verdict = verdict_on(program, document)
        assert verdict.answer is Ruling.ACCEPTED, verdict.reason
        return program, document

    return built


def rejection(program: Program, document: Document) -> str:
    verdict = verdict_on(program, document)
    assert verdict.answer is Ruling.REJECTED
    return verdict.reason


def address_of(program: Program, name: str) -> int:
    return program.address_of(next(item for item in program.objects if item.name == name))


def cell_of(program: Program, name: str) -> str:
    item = next(item for item in program.objects if item.name == name)
    return f"{program.address_of(item)}.{item.size}"


@pytest.mark.parametrize("text", [SEQUENTIAL, LOCKED, APART, ALLOCATING])
def test_accepted_and_not_for_the_contrary(
    build: Callable[[str], tuple[Program, Document]], tmp_path: Path, text: str
) -> None:
    _, document = build(text)
    before, _, after = text.rpartition("==" if "==" in text else "!=")
    other = program_of(tmp_path, f"{before}{'!=' if '==' in text else '=='}{after}")
    claimed = Builder(other).document()
    assert "violation" in rejection(other, claimed)
    assert "another program" in rejection(other, document)


# --- rule I


def test_the_root_is_the_initial_state(build: Callable[[str], tuple[Program, Document]]) -> None:
    program, document = build(SEQUENTIAL)
    other = changed(document)
    other["initial"][cell_of(program, "sum")] = 7
    assert "initial states" in rejection(program, other)
    other = changed(document)
    other["nodes"][0]["location"]["threads"][0]["stack_page"] -= 1
    assert "starts" in rejection(program, other)
    other = changed(document)
    other["nodes"][0]["location"]["heap"] = {"77": [4, "heap"]}
    assert "starts" in rejection(program, other)
    with_false = changed(document)
    with_false["terms"] = [["constant", 1, [], 0, ""]]
    with_false["nodes"][0]["label"] = [0]
    assert "initial states" in rejection(program, with_false)


# --- rule II


def test_every_thread_is_expanded_or_skipped(
    build: Callable[[str], tuple[Program, Document]],
) -> None:
    program, document = build(LOCKED)
    removed = 0
    for number, node in enumerate(document["nodes"]):
        for thread in node["expanded"]:
            if any(
                (item["parent"], item["thread"]) == (number, thread) for item in document["nodes"]
            ):
                continue
            other = changed(document)
            other["nodes"][number]["expanded"].remove(thread)
            verdict = verdict_on(program, other)
            assert verdict.answer is Ruling.REJECTED
            assert "missing" in verdict.reason
            removed += 1
    assert removed


# --- rule III


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("return 1 / zero;", "division"),
        ("return many[zero + 1000];", "object"),
        ("many[nondet()] = 1; return 0;", "values"),
        ("return many + (zero + (1L << 31)) == 0;", "leaves"),
        ("return many - (zero + (1L << 31)) == 0;", "leaves"),
    ],
)
def test_what_has_no_verdict_has_no_certificate(tmp_path: Path, statement: str, words: str) -> None:
    text = "extern unsigned short __VERIFIER_nondet_ushort(void); int zero, many[1000];"
    called = statement.replace("nondet()", "__VERIFIER_nondet_ushort() % 1000")
    program = program_of(tmp_path, f"{text} int main(void) {{ {called} }}")
    assert words in rejection(program, Builder(program).document())


def test_all_successors_are_there(build: Callable[[str], tuple[Program, Document]]) -> None:
    program, document = build(LOCKED)
    parents = {node["parent"] for node in document["nodes"]}
    covers = {node["cover"] for node in document["nodes"]}
    last = len(document["nodes"]) - 1
    assert last not in parents | covers
    other = changed(document)
    del other["nodes"][last]
    assert "leads to no node" in rejection(program, other)


def test_known_values_are_right(build: Callable[[str], tuple[Program, Document]]) -> None:
    program, document = build(SEQUENTIAL)
    cell = cell_of(program, "sum")
    number = next(
        number for number, node in enumerate(document["nodes"]) if cell in node["location"]["cells"]
    )
    other = changed(document)
    other["nodes"][number]["location"]["cells"][cell] += 1
    assert f"node {number} claims that the 4 bytes" in rejection(program, other)
    other = changed(document)
    del other["nodes"][number]["location"]["cells"][cell]  # as if it still were the initial value
    assert f"node {number} claims that the 4 bytes" in rejection(program, other)
    registers = 0
    for number, node in enumerate(document["nodes"]):
        for depth, frame in enumerate(node["location"]["threads"][0]["frames"]):
            for name in frame["registers"]:
                other = changed(document)
                row = other["nodes"][number]["location"]["threads"][0]["frames"][depth]
                row["registers"][name] ^= 1
                assert verdict_on(program, other).answer is Ruling.REJECTED
                registers += 1
    assert registers


def test_structure_is_right(build: Callable[[str], tuple[Program, Document]]) -> None:
    """No number of a location can be changed without being noticed."""
    program, document = build(LOCKED)
    tried = 0
    for number, node in list(enumerate(document["nodes"]))[::20]:
        for index, thread in enumerate(node["location"]["threads"]):
            for name in ("heap_page", "stack_page", "depth"):
                if thread["status"] == "running":
                    other = changed(document)
                    other["nodes"][number]["location"]["threads"][index][name] += 1
                    assert verdict_on(program, other).answer is Ruling.REJECTED
                    tried += 1
            for depth in range(len(thread["frames"])):
                for name in ("location", "base"):
                    other = changed(document)
                    row = other["nodes"][number]["location"]["threads"][index]["frames"][depth]
                    row[name] += 1
                    assert verdict_on(program, other).answer is Ruling.REJECTED
                    tried += 1
        for page in node["location"]["heap"]:
            other = changed(document)
            other["nodes"][number]["location"]["heap"][page][0] += 1
            assert verdict_on(program, other).answer is Ruling.REJECTED
            tried += 1
    assert tried > 20


def test_what_was_done_before_an_assumption_fails_counts(tmp_path: Path) -> None:
    text = """
    #include <assert.h>
    #include <pthread.h>
    extern void __VERIFIER_assume(int);
    int x;
    void *f(void *unused) { x = 1; __VERIFIER_assume(0); return 0; }
    int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); int l = x; assert(l == 0); return 0; }
    """
    program = program_of(tmp_path, text)
    assert "violation" in rejection(program, Builder(program).document())


# --- labels: rules III and IV


def label_of_loop(program: Program, document: Document, bound: int, used: int) -> Document:
    """Every node gets `n <= bound` as its label."""
    cell = cell_of(program, "n")
    made = changed(document)
    made["terms"] = [
        ["variable", 32, [], 0, f"m{cell}"],
        ["constant", 32, [], bound, ""],
        ["ult", 1, [1, 0], 0, ""],
        ["not", 1, [2], 0, ""],
    ]
    for node in made["nodes"][:used]:
        node["label"] = [3]
    return made


@pytest.fixture
def loop(tmp_path: Path) -> tuple[Program, Document]:
    program = program_of(tmp_path, LOOP)
    forgotten = frozenset({Cell(address_of(program, "n"), 4)})
    return program, Builder(program, forgotten=forgotten).document()


def test_a_loop_needs_its_invariant(loop: tuple[Program, Document]) -> None:
    program, document = loop
    count = len(document["nodes"])
    assert any(node["cover"] is not None for node in document["nodes"])
    assert "violation" in rejection(program, document)
    proof = label_of_loop(program, document, 10, count)
    verdict = verdict_on(program, proof)
    assert verdict.answer is Ruling.ACCEPTED, verdict.reason
    assert "violation" in rejection(program, label_of_loop(program, document, 11, count))
    assert "does not follow" in rejection(program, label_of_loop(program, document, 9, count))


def test_each_label_is_needed(loop: tuple[Program, Document]) -> None:
    program, document = loop
    proof = label_of_loop(program, document, 10, len(document["nodes"]))
    needed = 0
    for node in proof["nodes"]:
        if node["expanded"] or node["cover"] is not None:
            kept, node["label"] = node["label"], []
            needed += verdict_on(program, proof).answer is Ruling.REJECTED
            node["label"] = kept
    assert needed >= 2


def test_the_label_of_a_covered_node_implies_that_of_the_covering_one(
    loop: tuple[Program, Document],
) -> None:
    program, document = loop
    proof = label_of_loop(program, document, 10, len(document["nodes"]))
    covered = next(node for node in proof["nodes"] if node["cover"] is not None)
    covered["label"] = []
    reason = rejection(program, proof)
    assert f"covered by node {covered['cover']}" in reason and "does not follow" in reason


def test_a_label_is_about_what_is_there(loop: tuple[Program, Document]) -> None:
    program, document = loop
    for name, width in [("t2.0.0", 32), ("t1.9.0", 32), ("t1.0.99", 32), ("t1.0.0", 8)]:
        other = label_of_loop(program, document, 10, len(document["nodes"]))
        other["terms"] += [
            ["variable", width, [], 0, name],
            ["eq", 1, [4, 4], 0, ""],
            ["extract", 1, [4], 0, ""],
        ]
        other["nodes"][1]["label"] = [6]
        assert "label" in rejection(program, other)


# --- rule IV


def test_covers_are_right(build: Callable[[str], tuple[Program, Document]]) -> None:
    """A node cannot be covered by any other node than those it is covered by."""
    program, document = build(LOCKED)
    covered = [node for node in document["nodes"] if node["cover"] is not None]
    assert covered
    number = document["nodes"].index(covered[0])
    for cover, node in list(enumerate(document["nodes"]))[::4]:
        if node["cover"] is None and cover != covered[0]["cover"]:
            other = changed(document)
            other["nodes"][number]["cover"] = cover
            assert verdict_on(program, other).answer is Ruling.REJECTED


def test_the_covering_node_is_expanded(tmp_path: Path) -> None:
    """What is skipped at the covering node may be needed at the covered one."""
    program = program_of(tmp_path, APART.replace("seen != 1", "seen == 0 || seen == 2"))
    builder = Builder(program)
    document = builder.document()
    assert verdict_on(program, document).answer is Ruling.ACCEPTED
    rejected = 0
    for number, node in enumerate(document["nodes"]):
        for thread in node["expanded"]:
            arrivals = [item for item in document["nodes"] if item["cover"] == number]
            if arrivals and builder._is_skipped(builder.nodes[number], thread):
                other = changed(document)
                _drop(other, number, thread)
                assert verdict_on(program, other).answer is Ruling.REJECTED
                rejected += 1
    assert rejected


def _drop(document: Document, number: int, thread: int) -> None:
    """Remove an expansion and all that is below it."""
    nodes = document["nodes"]
    nodes[number]["expanded"].remove(thread)
    gone = {
        index
        for index, node in enumerate(nodes)
        if (node["parent"], node["thread"]) == (number, thread)
    }
    for index, node in enumerate(nodes):
        if node["parent"] in gone:
            gone.add(index)
    kept = [index for index in range(len(nodes)) if index not in gone]
    places = {old: new for new, old in enumerate(kept)}
    document["nodes"] = [nodes[index] for index in kept]
    for node in document["nodes"]:
        if node["parent"] is not None:
            node["parent"] = places[node["parent"]]
        if node["cover"] in gone:
            node["cover"] = None
        elif node["cover"] is not None:
            node["cover"] = places[node["cover"]]


# --- rule V


def test_steps_that_both_start_a_thread_depend_on_each_other(tmp_path: Path) -> None:
    facts = Decider(Terms()).nothing()
    for ours, theirs, expected in ((True, True, False), (True, False, True), (False, True, True)):
        step = Footprint([], spawns=ours, is_whole=True, is_lost=False)
        assert are_independent(step, [Move(facts, [], theirs)]) is expected
        assert are_apart(step, [Move(facts, [], theirs)]) is expected
    for is_whole, is_lost in ((False, False), (True, True)):
        step = Footprint([], spawns=False, is_whole=is_whole, is_lost=is_lost)
        assert not are_apart(step, [Move(facts, [], False)])


def test_independent_steps_are_skipped(tmp_path: Path) -> None:
    program = program_of(tmp_path, APART)
    everything = Builder(program, reduce=False).document()
    reduced = Builder(program).document()
    assert verdict_on(program, everything).answer is Ruling.ACCEPTED
    assert verdict_on(program, reduced).answer is Ruling.ACCEPTED
    assert len(reduced["nodes"]) < len(everything["nodes"])


def test_dependent_steps_are_not_skipped(tmp_path: Path) -> None:
    """Of the full tree an expansion can be dropped exactly where the reduced tree has none."""
    program = program_of(tmp_path, APART)
    builder = Builder(program, reduce=False)
    document = builder.document()
    skipped = needed = 0
    for number, node in enumerate(document["nodes"]):
        covers = any(item["cover"] == number for item in document["nodes"])
        for thread in node["expanded"]:
            other = changed(document)
            _drop(other, number, thread)
            may_skip = not covers and builder._is_skipped(builder.nodes[number], thread)
            answer = verdict_on(program, other).answer
            if not may_skip:
                assert answer is Ruling.REJECTED
                needed += 1
            skipped += may_skip
    assert needed and skipped


LOST = """
#include <assert.h>
#include <pthread.h>
int a[4], y, seen; unsigned i = 1;
void *f(void *unused) { y = 1; seen = a[1]; return 0; }
int main(void) {
  pthread_t t; pthread_create(&t, 0, f, 0); a[i] = 1; pthread_join(t, 0); return 0; }
"""


@pytest.mark.parametrize("seed", range(6))
def test_what_a_label_leaves_open_is_not_independent(tmp_path: Path, seed: int) -> None:
    """Where nothing is known about `i`, the checker loses track of `a[i] = 1`. That the step was
    left out there, rightly, is no reason to leave it out behind `seen = a[1]`."""
    program = program_of(tmp_path, LOST)
    store = all_accesses(program)["main"][1]
    index = str(program.functions["main"].edges[store - 1][0].action.target.index)  # type: ignore[union-attr]
    document = Builder(program, seed=seed).document()
    nodes = document["nodes"]

    def frame(number: int) -> Document:
        found: Document = nodes[number]["location"]["threads"][0]["frames"][-1]
        return found

    above = next(
        number
        for number, node in enumerate(nodes)
        if (frame(number)["function"], frame(number)["location"]) == ("main", store)
        and (node["thread"], node["expanded"]) == (2, [2])
    )
    for number in range(len(nodes) - 1, above - 1, -1):
        if _comes_from(nodes, number, above, 2):
            del frame(number)["registers"][index]
            if 1 in nodes[number]["expanded"]:
                _drop(document, number, 1)
    # Only the step that is missing behind `seen = a[1]` is wrong.
    assert "thread 1 is missing" in rejection(program, document)


def _comes_from(nodes: list[Document], number: int, above: int, thread: int) -> bool:
    """Whether only steps of one thread lead from one node to another."""
    place = number
    while place > above and nodes[place]["thread"] == thread:
        place = nodes[place]["parent"]
    return place == above


# --- rule VI


def test_shared_accesses_are_switch_points(tmp_path: Path) -> None:
    program = program_of(tmp_path, APART)
    points = all_accesses(program)
    for function in ("main", "f"):
        for place in points[function]:
            fewer = points | {function: [item for item in points[function] if item != place]}
            document = Builder(program, fewer).document()
            verdict = verdict_on(program, document)
            edge = program.functions[function].edges[place][0]
            text = program.text(edge.action.origin)
            is_shared = text in ("z", "z = 2", "int seen = z;", "z = 2;")
            if verdict.answer is Ruling.REJECTED:
                assert "local" in verdict.reason
            assert (verdict.answer is Ruling.REJECTED) == is_shared, text


def test_a_violation_behind_an_unnoticed_switch(tmp_path: Path) -> None:
    """With `x = 1; x = 0` as one step nobody sees the 1, but the checker sees the trick."""
    text = """
    #include <assert.h>
    #include <pthread.h>
    int x;
    void *f(void *unused) { x = 1; x = 0; return 0; }
    int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); int l = x; assert(l == 0); return 0; }
    """
    program = program_of(tmp_path, text)
    assert "violation" in rejection(program, Builder(program).document())
    assert "local" in rejection(program, Builder(program, {}).document())


# --- rule IX

STAYS_IN_SECTION = """
#include <assert.h>
#include <pthread.h>
extern void __VERIFIER_atomic_begin(void), __VERIFIER_atomic_end(void);
int x;
void *f(void *unused) {
  __VERIFIER_atomic_begin();
  while (x < 2) x++;
  assert(x != 2); __VERIFIER_atomic_end(); return 0; }
int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_join(t, 0); return 0; }
"""


def test_nobody_goes_ahead_of_who_is_in_a_section(tmp_path: Path) -> None:
    """Where a thread is in the middle of a section, the others do not move: if one of them were
    the only thread that is expanded there, nothing would be."""
    program = program_of(tmp_path, STAYS_IN_SECTION)
    document = Builder(program, reduce=False).document()
    assert "violation" in rejection(program, document)
    kept: dict[int, Document] = {}
    for number, node in enumerate(document["nodes"]):
        parent = kept.get(node["parent"])
        if (parent is None and number) or (parent is not None and parent["persistent"]):
            continue
        if any(thread["depth"] for thread in node["location"]["threads"]):
            node |= {"cover": None, "expanded": [1], "persistent": 1}
        kept[number] = node
    places = {number: place for place, number in enumerate(kept)}
    for node in kept.values():
        for field in ("parent", "cover"):
            node[field] = places.get(node[field])
    assert any(node["persistent"] for node in kept.values())
    assert "section" in rejection(program, document | {"nodes": list(kept.values())})


# --- what is claimed


def test_only_properties_of_checks(build: Callable[[str], tuple[Program, Document]]) -> None:
    program, document = build(SEQUENTIAL)
    for names in ([], ["valid-memsafety"], ["no-deadlock"], ["nonsense"]):
        assert "propert" in rejection(program, document | {"properties": names})
    claimed = rejection(program, document | {"properties": ["no-data-race"]})
    assert "not what was asked" in claimed
