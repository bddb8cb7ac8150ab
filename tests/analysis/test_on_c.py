"""The analyses on C programs: what they find, and that executions contain nothing they excluded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from plait.analysis.loops import Loop, find_loops
from plait.analysis.objects import ObjectKind
from plait.analysis.points_to import PointsTo
from plait.analysis.sharing import Sharing
from plait.c import load
from plait.c.options import FrontEndOptions
from plait.model.actions import Load, ReadModifyWrite, Store
from plait.model.dot import to_dot, to_svg
from plait.model.program import Program, StaticObject
from plait.model.properties import from_names
from plait.model.show import show
from plait.model.types import DataModel
from plait.semantics import run as running
from plait.semantics.explore import ExploreOptions, explore
from plait.semantics.machine import Machine

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.c"))

LISTS = """
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
struct node { int value; struct node *next; };
struct node *head;
int flag, settings, once_only;
_Thread_local int mine;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
void push(int value) {
  struct node *n = malloc(sizeof *n);
  n->value = value;
  pthread_mutex_lock(&lock);
  n->next = head;
  head = n;
  pthread_mutex_unlock(&lock);
}
void *pusher(void *a) {
  int local[4];
  memset(local, 0, sizeof local);
  for (int i = 0; i < 4; i++) local[i] = settings;
  while (!flag) {}
  int k = 0;
  while (k++ < 7) mine += local[k % 4];
  push(local[0]);
  return 0;
}
void *starter(void *a) {
  int *p = a;
  once_only++;
  *p = 1;
  flag = 1;
  return 0;
}
int main(void) {
  pthread_t t[2], u;
  int x = 0;
  char *text = malloc(10);
  settings = 3;
  strcpy(text, "abc");
  for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, pusher, 0);
  pthread_create(&u, 0, starter, &x);
  for (unsigned i = 0; i != 2; ++i) pthread_join(t[i], 0);
  pthread_join(u, 0);
  free(text);
  return x;
}
"""

TABLES = """
#include <pthread.h>
#include <stdlib.h>
#include <stddef.h>
struct link { struct link *next; };
struct device { int state; struct link link; int (*open)(struct device *); };
static int open_disk(struct device *d) { d->state++; return 1; }
static int open_tape(struct device *d) { d->state--; return 2; }
static int never(struct device *d) { return 3; }
static struct device disk = { .open = open_disk };
static struct device tape = { .open = open_tape };
static int (*unused)(struct device *) = 0;
struct link *first;
int opened;
void *worker(void *argument) {
  struct link *l = first;
  while (l) {
    struct device *d = (struct device *)((char *)l - offsetof(struct device, link));
    opened += d->open(d);
    l = l->next;
  }
  if (unused) unused(&disk);
  int *copy = malloc(sizeof *copy);
  *copy = *(int *)argument;
  copy = realloc(copy, 2 * sizeof *copy);
  copy[1] = *copy;
  int result = copy[1];
  free(copy);
  return (void *)(long)result;
}
int main(void) {
  pthread_t t;
  int number = 7;
  void *result;
  disk.link.next = &tape.link;
  first = &disk.link;
  pthread_create(&t, 0, worker, &number);
  worker(&number);
  pthread_join(t, &result);
  return (long)result != 7;
}
"""


def compiled(tmp_path: Path, text: str, model: DataModel = DataModel.LP64) -> Program:
    path = tmp_path / "program.c"
    path.write_text(text)
    return load([str(path)], FrontEndOptions(data_model=model), from_names([]))


def shared_names(sharing: Sharing) -> set[str]:
    return {
        item.static.name if item.static is not None else f"{item.kind.value} of {item.function}"
        for item in sharing.points_to.objects
        if sharing.is_shared(item)
    }


def loops_of(program: Program, name: str) -> list[Loop]:
    return find_loops(program, program.functions[name])


def test_sharing_of_lists(tmp_path: Path) -> None:
    program = compiled(tmp_path, LISTS)
    sharing = Sharing(PointsTo(program))
    found = {item.starts: item.is_multiple for item in sharing.threads}
    assert found == {("main",): False, ("pusher",): True, ("starter",): False}
    expected = {"flag", "lock", "head", "slot of main", "heap of malloc", "heap of pthread_create"}
    assert shared_names(sharing) == expected
    heap = [item for item in sharing.points_to.objects if item.function == "malloc"]
    assert sorted(sharing.is_shared(item) for item in heap if item.kind is ObjectKind.HEAP) == [
        False,
        True,
    ]


def test_loops_of_lists(tmp_path: Path) -> None:
    program = compiled(tmp_path, LISTS)
    assert [loop.bound for loop in loops_of(program, "main")] == [2, 2]
    assert [(loop.bound, loop.is_spin) for loop in loops_of(program, "pusher")] == [
        (4, False),
        (None, True),
        (7, False),
    ]


@pytest.mark.parametrize("model", list(DataModel))
def test_function_tables_and_container_of(tmp_path: Path, model: DataModel) -> None:
    program = compiled(tmp_path, TABLES, model)
    points_to = PointsTo(program)
    called = {
        name
        for arc in points_to.arcs
        for name in [points_to.instances[arc.callee].function.display]
        if points_to.instances[arc.caller].function.display == "worker"
    }
    assert {"open_disk", "open_tape"} <= called and "never" not in called
    sharing = Sharing(points_to)
    assert {"disk", "tape", "opened"} <= shared_names(sharing)
    assert "first" not in shared_names(sharing)


class Watcher(Machine):
    """Notes which thread accesses which object through which edge."""

    points_to: PointsTo
    sharing: Sharing

    def __init__(self, *arguments: Any) -> None:
        self.births: dict[int, int] = {}
        self.seen: dict[tuple[int, int], list[tuple[int, bool, Any]]] = {}
        super().__init__(*arguments)

    def create(self, page: int, *arguments: Any, **options: Any) -> None:
        self.births[page] = self.births.get(page, 0) + 1
        super().create(page, *arguments, **options)

    def load(self, address: int, *arguments: Any) -> Any:
        self.note(address, False, arguments[-1])
        return super().load(address, *arguments)

    def store(self, address: int, *arguments: Any) -> None:
        self.note(address, True, arguments[-1])
        super().store(address, *arguments)

    def note(self, address: int, is_write: bool, site: Any) -> None:
        page = self.first_page(address >> self.page_bits)
        item = self.static_pages.get(page)
        assert isinstance(site.edge.action, Load | Store | ReadModifyWrite)
        targets = self.points_to.targets(site.function.name, site.edge.action.address)
        if isinstance(item, StaticObject):
            assert any(target.static is item for target in targets), (item.name, site)
        elif page in self.births:
            assert any(target.is_per_instance for target in targets), site
        if len(self.threads) > 1:
            life = (page, self.births.get(page, 0))
            self.seen.setdefault(life, []).append((self.number, is_write, site))

    def check(self) -> None:
        for uses in self.seen.values():
            threads = {number for number, _, _ in uses}
            if len(threads) > 1 and any(is_write for _, is_write, _ in uses):
                for _, _, site in uses:
                    assert self.sharing.is_visible(site.edge), (site.function.name, site.text)


def watch(monkeypatch: pytest.MonkeyPatch, program: Program, seeds: int) -> None:
    made: list[Watcher] = []
    sharing = Sharing(PointsTo(program))

    class Mine(Watcher):
        def __init__(self, *arguments: Any) -> None:
            self.sharing, self.points_to = sharing, sharing.points_to
            super().__init__(*arguments)
            made.append(self)

    monkeypatch.setattr(running, "Machine", Mine)
    for seed in range(seeds):
        running.run(program, from_names([]), seed=seed, max_steps=400)
        made[-1].check()
    assert any(machine.seen for machine in made)


@pytest.mark.parametrize("text", [LISTS, TABLES])
def test_executions_contain_nothing_unforeseen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    watch(monkeypatch, compiled(tmp_path, text), 15)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples(monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    program = load([str(path)], FrontEndOptions(), from_names([]))
    for function in program.functions.values():
        find_loops(program, function)
    assert show(program, verbose=True) and to_dot(program) and to_svg(program)
    watch(monkeypatch, program, 5)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_fewer_visible_edges_give_the_same_verdict(path: Path) -> None:
    specification = from_names([])
    program = load([str(path)], FrontEndOptions(), specification)
    sharing = Sharing(PointsTo(program))
    every = explore(program, specification)
    fewer = explore(
        program, specification, ExploreOptions(is_visible=lambda _, edge: sharing.is_visible(edge))
    )
    assert fewer.verdict is every.verdict
    assert fewer.states <= every.states
