"""What happens in an execution, as the program's author would say it."""

from __future__ import annotations

from pathlib import Path

from tests.evidence.programs import told

from plait.evidence.operations import Locks
from plait.evidence.result import Row


def operations(rows: list[Row]) -> list[tuple[int, str, str, int | None, bool]]:
    return [
        (row.thread, item.kind, item.object, item.thread, item.succeeded)
        for row in rows
        if (item := row.operation) is not None
    ]


def test_locks_have_the_names_of_the_source(tmp_path: Path) -> None:
    text = """
    struct queue { int items[2]; pthread_mutex_t lock; } queues[2];
    int main(void) {
      pthread_mutex_lock(&queues[1].lock); queues[1].items[1] = 5;
      pthread_mutex_unlock(&queues[1].lock); return 0; }
    """
    traced = told(tmp_path, text, (1, 4))
    assert operations(traced.rows) == [
        (1, "lock", "queues[1].lock", None, True),
        (1, "unlock", "queues[1].lock", None, True),
    ]
    changes = [(item.name, item.value, item.shared) for row in traced.rows for item in row.changes]
    assert changes == [("queues[1].items[1]", "5", True)]


def test_a_lock_that_is_the_first_part_of_an_object(tmp_path: Path) -> None:
    text = """
    struct account { pthread_mutex_t lock; int balance; } accounts[2];
    int main(void) {
      struct account *first = &accounts[1];
      pthread_mutex_lock(&first->lock); first->balance = 1; return 0; }
    """
    traced = told(tmp_path, text, (1, 3))
    assert operations(traced.rows) == [(1, "lock", "accounts[1].lock", None, True)]
    values = {item.name: item.value for row in traced.rows for item in row.changes}
    assert values == {"first": "&accounts[1]", "accounts[1].balance": "1"}


def test_trylock_tells_whether_it_got_the_lock(tmp_path: Path) -> None:
    text = """
    pthread_mutex_t m;
    void *f(void *u) { int got = pthread_mutex_trylock(&m); return (void *)(long)got; }
    int main(void) {
      pthread_t t; pthread_mutex_lock(&m); pthread_create(&t, 0, f, 0);
      pthread_mutex_unlock(&m); return 0; }
    """
    taken = told(tmp_path, text, (1, 4), (2, 3))
    assert (2, "trylock", "m", None, False) in operations(taken.rows)
    assert Locks(taken.rows).held == {1: ["m"]}
    free = told(tmp_path, text, (1, 6), (2, 3))
    assert (2, "trylock", "m", None, True) in operations(free.rows)
    assert Locks(free.rows).holders("m") == [2]


def test_threads_are_started_and_joined_by_number(tmp_path: Path) -> None:
    text = """
    void *work(void *u) { return 0; }
    int main(void) {
      pthread_t ids[2];
      for (int i = 0; i < 2; i++) pthread_create(&ids[i], 0, work, 0);
      pthread_join(ids[1], 0); pthread_join(ids[0], 0); return 0; }
    """
    traced = told(tmp_path, text, (1, 5), (2, 5), (3, 5), (1, 5))
    found = [(kind, thread) for _, kind, _, thread, _ in operations(traced.rows)]
    assert found == [("create", 2), ("create", 3), ("join", 3), ("join", 2)]
    assert [(item.number, item.function, item.creator) for item in traced.threads] == [
        (1, "main", None),
        (2, "work", 1),
        (3, "work", 1),
    ]
    assert traced.threads[2].place is not None and traced.threads[2].place.line == 8
    shown = {item.value for row in traced.rows for item in row.changes if "ids" in item.name}
    assert shown == {"thread 2", "thread 3"}


def test_a_wait_gives_the_lock_back(tmp_path: Path) -> None:
    text = """
    pthread_mutex_t m; pthread_cond_t c; int ready;
    void *f(void *u) {
      pthread_mutex_lock(&m); ready = 1; pthread_cond_signal(&c); pthread_mutex_unlock(&m);
      return 0; }
    int main(void) {
      pthread_t t; pthread_mutex_lock(&m); pthread_create(&t, 0, f, 0);
      if (!ready) pthread_cond_wait(&c, &m);
      pthread_mutex_unlock(&m); return 0; }
    """
    traced = told(tmp_path, text, (1, 6), (2, 6), (1, 3))
    found = [(thread, kind) for thread, kind, _, _, _ in operations(traced.rows)]
    assert found[:4] == [(1, "lock"), (1, "create"), (1, "wait"), (2, "lock")]
    [wait] = [
        row.operation for row in traced.rows if row.operation and row.operation.kind == "wait"
    ]
    assert (wait.object, wait.lock) == ("c", "m")
    assert (1, "wake") in found
    until_wait = next(i for i, row in enumerate(traced.rows) if row.operation is wait)
    assert Locks(traced.rows[: until_wait + 1]).held[1] == []
    until_wake = next(
        i for i, row in enumerate(traced.rows) if row.operation and row.operation.kind == "wake"
    )
    assert Locks(traced.rows[: until_wake + 1]).held[1] == ["m"]


def test_a_lock_beside_its_condition_variable(tmp_path: Path) -> None:
    text = """
    struct queue { pthread_mutex_t lock; pthread_cond_t full; } q;
    int main(void) {
      struct queue own; pthread_mutex_init(&own.lock, 0);
      pthread_mutex_lock(&own.lock);
      pthread_mutex_lock(&q.lock); pthread_cond_wait(&q.full, &q.lock); return 0; }
    """
    traced = told(tmp_path, text, (1, 9))
    found = [row.operation for row in traced.rows if row.operation is not None]
    assert [(item.kind, item.object, item.lock) for item in found[-4:]] == [
        ("lock", "own.lock", ""),
        ("lock", "q.lock", ""),
        ("wait", "q.full", "q.lock"),
        ("wake", "q.full", "q.lock"),
    ]


def test_calls_branches_and_inputs(tmp_path: Path) -> None:
    text = """
    int __VERIFIER_nondet_int(void);
    int twice(int value) {
      return 2 * value; }
    int main(void) {
      int v = __VERIFIER_nondet_int();
      if (v > 3)
        v = twice(v);
      return v; }
    """
    traced = told(tmp_path, text, (1, 1), inputs=(4,))
    [given] = traced.inputs
    assert (given.thread, given.value) == (1, "4")
    assert given.place is not None and given.place.line == 9
    by_line = {row.place.line: row for row in traced.rows}
    assert by_line[10].branch is True
    [call] = [row for row in traced.rows if row.entered]
    assert (call.place.line, call.entered, call.depth) == (11, "twice", 0)
    assert by_line[7].returned and by_line[7].depth == 1
    assert by_line[7].place.function == "twice"
    other = told(tmp_path, text, (1, 1), inputs=(3,))
    assert {row.place.line: row.branch for row in other.rows}[10] is False


def test_a_call_shows_where_it_has_an_effect(tmp_path: Path) -> None:
    """A thread that stands before a lock has not locked, and its row does not say so."""
    text = """
    pthread_mutex_t m;
    void *f(void *u) { pthread_mutex_lock(&m); return 0; }
    int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_mutex_lock(&m); return 0; }
    """
    traced = told(tmp_path, text, (1, 3), (2, 1))
    assert [kind for _, kind, _, _, _ in operations(traced.rows)] == ["create"]
    assert not any("lock" in row.place.text for row in traced.rows)


def test_heap_objects_that_threads_share(tmp_path: Path) -> None:
    text = """
    void *f(void *p) { *(int *)p = 3; return 0; }
    int main(void) {
      int *cell = malloc(sizeof(int)); int own[1]; own[0] = 1; *cell = own[0];
      pthread_t t; pthread_create(&t, 0, f, cell); pthread_join(t, 0); return *cell; }
    """
    traced = told(tmp_path, text, (1, 6), (2, 4), (1, 4))
    shared = {item.name for row in traced.rows for item in row.changes if item.shared}
    assert shared == {"*cell"}


def test_a_join_shows_when_the_thread_has_ended(tmp_path: Path) -> None:
    text = """
    #include <threads.h>
    int f(void *u) { return 3; }
    int main(void) { thrd_t t; int got; thrd_create(&t, f, 0); thrd_join(t, &got); return got; }
    """
    early = told(tmp_path, text, (1, 4))
    assert [item[1] for item in operations(early.rows)] == ["create"]
    traced = told(tmp_path, text, (1, 4), (2, 4), (1, 5))
    assert operations(traced.rows) == [(1, "create", "", 2, True), (1, "join", "", 2, True)]
    assert all(item.name != "value" for row in traced.rows for item in row.changes)


def test_an_unlock_that_fails(tmp_path: Path) -> None:
    text = """
    int main(void) {
      pthread_mutex_t m; pthread_mutexattr_t kind; pthread_mutexattr_init(&kind);
      pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ERRORCHECK);
      pthread_mutex_init(&m, &kind); return pthread_mutex_unlock(&m); }
    """
    traced = told(tmp_path, text, (1, 9))
    assert (1, "unlock", "m", None, False) in operations(traced.rows)


def test_bit_fields_are_not_called_by_the_first_one(tmp_path: Path) -> None:
    text = """
    struct { unsigned a : 3; unsigned b : 5; } bits;
    int main(void) { bits.b = 2; return 0; }
    """
    traced = told(tmp_path, text, (1, 3))
    assert {item.name for row in traced.rows for item in row.changes} == {"bits"}


def test_a_lock_on_the_heap_does_not_show_its_parts(tmp_path: Path) -> None:
    text = """
    #include <stdlib.h>
    struct part { int n; pthread_mutex_t lock; } *part;
    int main(void) {
      part = malloc(sizeof *part); pthread_mutex_init(&part->lock, 0);
      pthread_mutex_lock(&part->lock); return 0; }
    """
    traced = told(tmp_path, text, (1, 6))
    [row] = [row for row in traced.rows if row.operation is not None]
    assert not any(item.name.startswith("heap") for item in row.changes)


def test_fields_on_the_heap_have_the_names_of_the_source(tmp_path: Path) -> None:
    text = """
    struct inner { int a, b; };
    struct node { int key; int value; struct node *next; struct inner in[2]; } *head;
    void *f(void *p) { struct node *mine = p; mine->value = 2; return 0; }
    int main(void) {
      pthread_t t; struct node *n = malloc(sizeof *n); int *list = malloc(12);
      n->key = 1; n->value = 1; n->next = n; n->in[1].b = 4; list[2] = 5; head = n;
      head->next->key = 3;
      pthread_create(&t, 0, f, n); pthread_join(t, 0); return n->value; }
    """
    traced = told(tmp_path, text, (1, 12), (2, 4), (1, 4))
    changes = [
        (item.name, item.value) for row in traced.rows for item in row.changes if not item.read
    ]
    assert ("n->key", "1") in changes and ("n->key", "3") in changes
    assert ("n->in[1].b", "4") in changes and ("list[2]", "5") in changes
    assert ("n->value", "2") in changes, "one name for all threads"
    assert not any("heap" in name for name, _ in changes)


def test_a_pointer_that_goes_along_a_list(tmp_path: Path) -> None:
    """What `p->value` is changes, so that it cannot be a name."""
    text = """
    struct node { int value; struct node *next; };
    int main(void) {
      struct node *one = malloc(sizeof *one), *p = malloc(sizeof *p);
      p->next = one; p->value = 1; p = p->next; p->value = 2; p->next = 0; return 0; }
    """
    traced = told(tmp_path, text, (1, 12))
    changes = [
        (item.name, item.value) for row in traced.rows for item in row.changes if not item.read
    ]
    assert ("heap2->value", "1") in changes and ("heap1->value", "2") in changes
    assert not any(name == "p->value" for name, _ in changes)


def test_locks_on_the_heap_have_the_names_of_the_source(tmp_path: Path) -> None:
    text = """
    struct part { int n; pthread_mutex_t lock; } *part;
    void *f(void *p) { struct part *mine = p; pthread_mutex_lock(&mine->lock); return 0; }
    int main(void) {
      pthread_t t; part = malloc(sizeof *part); pthread_mutex_init(&part->lock, 0);
      pthread_mutex_lock(&part->lock); part->n = 1; pthread_mutex_unlock(&part->lock);
      pthread_create(&t, 0, f, part); return 0; }
    """
    traced = told(tmp_path, text, (1, 14), (2, 4))
    named = {(thread, kind, name) for thread, kind, name, _, _ in operations(traced.rows)}
    assert {(1, "lock", "part->lock"), (1, "unlock", "part->lock")} <= named
    assert (2, "lock", "part->lock") in named, "one name for all threads"
    assert any(item.name == "part->n" for row in traced.rows for item in row.changes)
    locking = [row for row in traced.rows if row.operation is not None]
    assert not any("heap" in item.name for row in locking for item in row.changes)


def test_what_the_library_accesses_is_named_after_the_argument(tmp_path: Path) -> None:
    text = """
    #include <string.h>
    struct request { int port; char file[4]; }; struct request *shared;
    int main(void) {
      struct request *made = calloc(2, sizeof *made); shared = made;
      memcpy(made->file, "ab", 2); memset(&made->port, 1, 1); memset(made[1].file + 1, 7, 1);
      return made[1].file[1] == 7; }
    """
    traced = told(tmp_path, text, (1, 40))
    names = [change.name for row in traced.rows for change in row.changes if not change.read]
    assert names[-4:-1] == ["made->file[0]", "made->file[1]", "made->port"]
    assert "made->port[0]" not in names
