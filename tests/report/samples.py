"""Results made by hand, one for each kind of thing a report has to show."""

from __future__ import annotations

import random

from plait.evidence.result import (
    Access,
    Cause,
    Change,
    Finding,
    Input,
    Invariant,
    Operation,
    Place,
    PropertyAnswer,
    Result,
    Row,
    Source,
    Synchronisation,
    Thread,
    TreeNode,
    Unsupported,
    Violation,
    Waiting,
)

COUNTER = """\
#include <assert.h>
#include <pthread.h>

/* Two threads add one to a counter;
 * nothing keeps them apart. */
int counter = 0;
int limit;

static void *add_one(void *unused) {
  int before = counter;
  counter = before + 1;
  return 0;
}

int main(void) {
  pthread_t first, second;
  limit = __VERIFIER_nondet_int();
  pthread_create(&first, 0, add_one, 0);
  pthread_create(&second, 0, add_one, 0);
  pthread_join(first, 0);
  pthread_join(second, 0);
  assert(counter == 2); // fails if an update is lost
  return 0;
}
"""

DEADLOCK = """\
#include <pthread.h>

pthread_mutex_t fork_a = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t fork_b = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t fork_c = PTHREAD_MUTEX_INITIALIZER;
int meals = 0;

void *dine(void *seat) {
  pthread_mutex_t *left = left_of(seat), *right = right_of(seat);
  pthread_mutex_lock(left);
  pthread_mutex_lock(right);
  meals++;
  pthread_mutex_unlock(right);
  pthread_mutex_unlock(left);
  return 0;
}

int main(void) {
  pthread_t one, two, three;
  pthread_create(&one, 0, dine, (void *)0);
  pthread_create(&two, 0, dine, (void *)1);
  pthread_create(&three, 0, dine, (void *)2);
  pthread_join(one, 0);
  pthread_join(two, 0);
  pthread_join(three, 0);
  return 0;
}
"""

RACE = """\
#include <pthread.h>
#include <stdatomic.h>

struct account { long balance; int open; };
struct account account;
pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
atomic_int visits;

void *deposit(void *amount) {
  pthread_mutex_lock(&guard);
  account.balance += (long)amount;
  pthread_mutex_unlock(&guard);
  visits++;
  return 0;
}

int main(void) {
  pthread_t teller;
  account.open = 1;
  pthread_create(&teller, 0, deposit, (void *)50);
  account.balance += 10; /* not under the lock */
  pthread_join(teller, 0);
  return 0;
}
"""

LOOP = """\
#include <assert.h>
#include <pthread.h>

int done;
int total;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void *producer(void *unused) {
  for (int i = 0; i < 100; i++) {
    pthread_mutex_lock(&lock);
    total = total + 2;
    pthread_mutex_unlock(&lock);
  }
  done = 1;
  return 0;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, producer, 0);
  while (!done) {
    pthread_mutex_lock(&lock);
    assert(total % 2 == 0);
    pthread_mutex_unlock(&lock);
  }
  return 0;
}
"""


class Program:
    """Places and rows of a source text, found by the text of their lines."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.lines = text.splitlines()
        self.source = Source(path, "0" * 64, self.lines)

    def place(self, text: str, function: str = "main") -> Place:
        for number, line in enumerate(self.lines, 1):
            column = line.find(text)
            if column >= 0 and not line.startswith((" *", "/*")):
                end = column + 1 + len(text)
                return Place(self.path, number, column + 1, text, number, end, function)
        raise ValueError(text)

    def row(self, step: int, thread: int, text: str, *changes: Change, **more: object) -> Row:
        function = str(more.pop("function", "main"))
        return Row(step, thread, self.place(text, function), list(changes), **more)  # type: ignore[arg-type]


def _result(program: Program, verdict: str, reason: str, **more: object) -> Result:
    found: dict[str, object] = {
        "version": "0.1",
        "files": [program.path],
        "entry": "main",
        "data_model": "LP64",
        "properties": ["assertions"],
        "engine": "orders",
        "verdict": verdict,
        "reason": reason,
        "assumptions": ["data model LP64, sequentially consistent memory"],
        "sources": [program.source],
    }
    return Result(**(found | more))  # type: ignore[arg-type]


def _wrote(name: str, value: str) -> Change:
    return Change(name, value, read=False, shared=True)


def _read(name: str, value: str) -> Change:
    return Change(name, value, read=True, shared=True)


def lost_update() -> Result:
    program = Program("examples/counter.c", COUNTER)
    row = program.row
    add = {"function": "add_one"}
    first, second = (
        "pthread_create(&first, 0, add_one, 0)",
        "pthread_create(&second, 0, add_one, 0)",
    )
    trace = [
        row(1, 1, "limit = __VERIFIER_nondet_int()", _wrote("limit", "-7"), inputs=["-7"]),
        row(2, 1, first, Change("first", "68719476736"), operation=Operation("create", "", 2)),
        row(3, 1, second, Change("second", "73014444032"), operation=Operation("create", "", 3)),
        row(4, 2, "before = counter", _read("counter", "0"), Change("before", "0"), **add),
        row(5, 3, "before = counter", _read("counter", "0"), Change("before", "0"), **add),
        row(
            6,
            2,
            "counter = before + 1",
            Change("before", "0", read=True),
            _wrote("counter", "1"),
            **add,
        ),
        row(6, 2, "return 0", returned=True, **add),
        row(7, 1, "pthread_join(first, 0)", operation=Operation("join", "", 2)),
        row(
            8,
            3,
            "counter = before + 1",
            Change("before", "0", read=True),
            _wrote("counter", "1"),
            **add,
        ),
        row(8, 3, "return 0", returned=True, **add),
        row(9, 1, "pthread_join(second, 0)", operation=Operation("join", "", 3)),
        row(10, 1, "assert(counter == 2)", _read("counter", "1"), branch=False),
    ]
    failing = program.place("assert(counter == 2)")
    return _result(
        program,
        "false",
        "assertion 'counter == 2' failed",
        violated="assertions",
        bound=1,
        words=[
            "The assertion 'counter == 2' in line 22 can fail.",
            "The execution below does it with 6 context switches; no execution with fewer does.",
        ],
        settings={"unwind": None, "refinement": "kernel", "order_encoding": "lazy"},
        statistics={
            "events": 24,
            "reads": 9,
            "writes": 15,
            "clauses": 1406,
            "variables": 502,
            "refinements": 3,
            "solving_seconds": 0.004,
            "wall_seconds": 0.41,
            "cpu_seconds": 0.39,
            "peak_memory_bytes": 61_000_000,
        },
        violation=Violation(
            "assertions",
            "assertion 'counter == 2' failed",
            1,
            failing,
            causes=[
                Cause("counter", "1", 8, 3, program.place("counter = before + 1", "add_one")),
                Cause("before", "0", 5, 3, program.place("before = counter", "add_one")),
                Cause("counter", "0"),
            ],
        ),
        threads=[
            Thread(1, "main"),
            Thread(2, "add_one", 1, program.place(first)),
            Thread(3, "add_one", 1, program.place(second)),
        ],
        inputs=[
            Input(
                1,
                1,
                "__VERIFIER_nondet_int()",
                "-7",
                program.place("limit = __VERIFIER_nondet_int()"),
            )
        ],
        trace=trace,
    )


def deadlock() -> Result:
    program = Program("philosophers.c", DEADLOCK)
    row = program.row
    names = {2: ("one", "fork_a"), 3: ("two", "fork_b"), 4: ("three", "fork_c")}
    trace, step = [], 0
    creations = {thread: f"pthread_create(&{name}, 0, dine" for thread, (name, _) in names.items()}
    for thread, text in creations.items():
        step += 1
        trace.append(row(step, 1, text, operation=Operation("create", "", thread)))
    for thread, (_, fork) in names.items():
        step += 1
        trace.append(
            row(
                step,
                thread,
                "pthread_mutex_lock(left)",
                Change("left", f"&{fork}"),
                operation=Operation("lock", fork),
                function="dine",
            )
        )
    place = program.place("pthread_mutex_lock(right)", "dine")
    return _result(
        program,
        "false",
        "threads 2, 3 and 4 wait for each other",
        properties=["no-deadlock"],
        violated="no-deadlock",
        words=[
            "Threads 2, 3 and 4 wait for each other, for ever.",
            "Each holds the mutex that the one before it waits for.",
        ],
        statistics={"wall_seconds": 1.21, "events": 64},
        violation=Violation(
            "no-deadlock",
            "threads 2, 3 and 4 wait for each other",
            2,
            place,
            waiting=[
                Waiting(2, "mutex", "fork_b", place, [3]),
                Waiting(3, "mutex", "fork_c", place, [4]),
                Waiting(4, "mutex", "fork_a", place, [2]),
                Waiting(1, "join", "", program.place("pthread_join(one, 0)"), [2]),
            ],
        ),
        threads=[
            Thread(1, "main"),
            *(Thread(thread, "dine", 1, program.place(text)) for thread, text in creations.items()),
        ],
        trace=trace,
    )


def race() -> Result:
    program = Program("account.c", RACE)
    row = program.row
    create = program.place("pthread_create(&teller, 0, deposit, (void *)50)")
    plain = program.place("account.balance += 10")
    locked = program.place("account.balance += (long)amount", "deposit")
    lock = program.place("pthread_mutex_lock(&guard)", "deposit")
    return _result(
        program,
        "false",
        "race on account.balance",
        properties=["no-data-race"],
        violated="no-data-race",
        words=[
            "Threads 1 and 2 can access account.balance at the same time, and at least one of them writes."
        ],
        statistics={"wall_seconds": 0.62},
        violation=Violation(
            "no-data-race",
            "race on account.balance",
            1,
            plain,
            locked,
            accesses=[
                Access(
                    1,
                    plain,
                    True,
                    False,
                    "account.balance",
                    [],
                    Synchronisation(2, Operation("create", "", 2), create),
                ),
                Access(
                    2,
                    locked,
                    True,
                    False,
                    "account.balance",
                    ["guard"],
                    Synchronisation(3, Operation("lock", "guard"), lock),
                ),
            ],
        ),
        threads=[Thread(1, "main"), Thread(2, "deposit", 1, create)],
        trace=[
            row(1, 1, "account.open = 1", _wrote("account.open", "1")),
            row(2, 1, create.text, operation=Operation("create", "", 2)),
            row(
                3,
                2,
                "pthread_mutex_lock(&guard)",
                operation=Operation("lock", "guard"),
                function="deposit",
            ),
            row(
                4,
                2,
                "account.balance += (long)amount",
                _read("account.balance", "0"),
                function="deposit",
            ),
            row(5, 1, "account.balance += 10", _read("account.balance", "0")),
        ],
    )


def proof(nodes: int = 40) -> Result:
    program = Program("total.c", LOOP)
    rng = random.Random(3)
    tree = [TreeNode(0, None, None, {"1": "total.c:18"}, "total == 0 && done == 0")]
    leaves = [0]
    while len(tree) < nodes:
        number = len(tree)
        parent = leaves[-1] if rng.random() < 0.8 else rng.choice(leaves)
        thread = rng.choice([1, 2])
        where = {"1": f"total.c:{20 + number % 5}", "2": f"total.c:{9 + number % 6}"}
        label = rng.choice(["total % 2 == 0", "done == 0", "total % 2 == 0 && i <= 100", "1"])
        cover = rng.randrange(parent) if number % 5 == 4 and parent else None
        tree.append(TreeNode(number, parent, thread, where, label, cover))
        if cover is None:
            leaves.append(number)
    return _result(
        program,
        "true",
        "no execution violates the property",
        engine="impact",
        words=[
            "No execution of any length, with any schedule, violates an assertion.",
            "The invariants below are the reason.",
        ],
        settings={"por": "all", "explicit": True, "force_cover": True},
        statistics={
            "nodes": nodes,
            "covers": 8,
            "refinements": 11,
            "wall_seconds": 2.4,
            "peak_memory_bytes": 91_000_000,
        },
        history=[
            {
                "seconds": 0.2 * step,
                "nodes": 2 * step + step * step // 3,
                "covers": step // 2,
                "refinements": step,
            }
            for step in range(1, 12)
        ],
        invariants=[
            Invariant(
                program.place("for (int i = 0; i < 100; i++)", "producer"),
                "0 <= i && i <= 100 && total % 2 == 0",
                True,
            ),
            Invariant(program.place("total = total + 2", "producer"), "i < 100 && total % 2 == 0"),
            Invariant(program.place("while (!done)"), "total % 2 == 0", True),
            Invariant(program.place("assert(total % 2 == 0)"), "total % 2 == 0"),
        ],
        tree=tree,
    )


def unknown() -> Result:
    program = Program("total.c", LOOP)
    return _result(
        program,
        "unknown",
        "time limit of 60 s; no violation with up to 12 loop rounds",
        bound=12,
        words=[
            "plait could not decide within 60 s.",
            "No execution with up to 12 loop rounds violates an assertion.",
        ],
        statistics={
            "clauses": 918_221,
            "refinements": 4021,
            "wall_seconds": 60.02,
            "peak_memory_bytes": 810_000_000,
            "last_bound": 13,
            "exact_checks": None,
        },
        history=[
            {
                "seconds": 0.4 * bound**2,
                "last_bound": bound,
                "clauses": 700 * bound**2,
                "refinements": 3 * bound**3,
                "threads": 2,
            }
            for bound in range(1, 13)
        ],
        unsupported=[Unsupported("inline assembly", "total.c", 4, 1, "int done;")],
    )


def long_trace(length: int = 5000, threads: int = 4) -> Result:
    """Random increments of a few shared variables under locks."""
    program = Program("examples/counter.c", COUNTER)
    rng = random.Random(1)
    lines = [number for number, line in enumerate(program.lines, 1) if line.strip()]
    values = dict.fromkeys(["counter", *(f"slots[{index}]" for index in range(12))], 0)
    trace, held, thread = [], {}, 1
    for number in range(threads - 1):
        place = program.place("pthread_create(&first, 0, add_one, 0)")
        trace.append(Row(number + 1, 1, place, [], Operation("create", "", number + 2)))
    for step in range(threads, length + 1):
        if rng.random() < 0.3:
            thread = rng.randrange(threads) + 1
        line = rng.choice(lines)
        text = program.lines[line - 1].strip()
        place = Place(program.path, line, 1, text, line, 0, "main" if thread == 1 else "add_one")
        row = Row(step, thread, place)
        name = rng.choice([*values])
        lock = f"mutex_{rng.randrange(3)}"
        if held.get(lock) == thread:
            del held[lock]
            row.operation = Operation("unlock", lock)
        elif lock not in held and rng.random() < 0.2:
            held[lock] = thread
            row.operation = Operation("lock", lock)
        elif rng.random() < 0.5:
            row.changes = [_read(name, str(values[name]))]
        else:
            values[name] += rng.choice([-1, 1, 1, 2])
            row.changes = [_wrote(name, str(values[name])), Change("before", str(step))]
        trace.append(row)
    trace = trace[:length]
    return _result(
        program,
        "false",
        "assertion 'counter == 2' failed",
        violated="assertions",
        words=["The assertion 'counter == 2' in line 22 can fail."],
        statistics={"wall_seconds": 9.1},
        violation=Violation(
            "assertions",
            "assertion 'counter == 2' failed",
            1,
            program.place("assert(counter == 2)"),
        ),
        threads=[
            Thread(1, "main"),
            *(Thread(number + 2, "add_one", 1, trace[0].place) for number in range(threads - 1)),
        ],
        trace=trace,
    )


HOSTILE = [
    "</script><script>window.hacked = 1</script>",
    "<!--<script>",
    "]]>",
    "<img src=x onerror='window.hacked = 1'>",
    "\u2028\u2029\0\x1b[31m",
    "\udc80 undecodable",
    "{{data}} {{script}} \\u003c",
    "'\"`${window.hacked = 1}",
    "javascript:window.hacked=1",
    "\N{RIGHT-TO-LEFT OVERRIDE}reversed",
]


def hostile() -> Result:
    """Every text of the result is something that a careless page would execute or break on."""
    source = Source(
        HOSTILE[0], "", [*HOSTILE, 'char *text = "</script>"; // <b>', "#define X <!--"]
    )
    places = [
        Place(source.path, number, 1, text, number, 0, text)
        for number, text in enumerate(HOSTILE, 1)
    ]
    trace = [
        Row(
            number,
            1 + number % 2,
            place,
            [Change(text, text, shared=True), Change(text, text, True, True)],
            Operation(text, text, 2),
            1,
            True,
            [text],
            text,
            True,
        )
        for number, (text, place) in enumerate(zip(HOSTILE, places), 1)
    ]
    beside = Violation(HOSTILE[3], HOSTILE[0], 1, places[1])
    return Result(
        HOSTILE[0],
        [HOSTILE[0], HOSTILE[5]],
        HOSTILE[1],
        HOSTILE[2],
        HOSTILE,
        HOSTILE[3],
        "false",
        HOSTILE[0],
        HOSTILE,
        HOSTILE,
        {text: text for text in HOSTILE},
        HOSTILE[3],
        1,
        HOSTILE,
        HOSTILE,
        [Unsupported(text, text, 1, 1, text) for text in HOSTILE],
        {text: text for text in HOSTILE} | {"nan": float("nan"), "list": [1, {"a": float("inf")}]},
        [{"seconds": 1, HOSTILE[0]: 1}, {"seconds": 2, HOSTILE[0]: 3, "text": HOSTILE[0]}],
        Violation(
            HOSTILE[0],
            HOSTILE[3],
            1,
            places[0],
            places[1],
            [Cause(text, text, 1, 2, places[0]) for text in HOSTILE],
            [
                Access(
                    1,
                    places[0],
                    True,
                    True,
                    text,
                    HOSTILE,
                    Synchronisation(1, Operation(text, text), places[2]),
                )
                for text in HOSTILE[:2]
            ],
            [
                Waiting(1, HOSTILE[0], HOSTILE[0], places[0], [2]),
                Waiting(2, HOSTILE[3], HOSTILE[3], None, [1]),
            ],
        ),
        {},
        [Thread(1, HOSTILE[0]), Thread(2, HOSTILE[3], 1, places[3])],
        [Input(1, 1, text, text, places[0]) for text in HOSTILE],
        trace,
        [Invariant(place, text, True) for place, text in zip(places, HOSTILE)],
        [
            TreeNode(index, index - 1 if index else None, 1, {text: text}, text, 0)
            for index, text in enumerate(HOSTILE)
        ],
        [source],
        HOSTILE[0],
        answers=[PropertyAnswer(text, text) for text in HOSTILE],
        findings=[Finding(beside, {HOSTILE[0]: HOSTILE[1]}, [Thread(1, HOSTILE[0])], [], trace)],
    )


ALL = {
    "lost_update": lost_update,
    "deadlock": deadlock,
    "race": race,
    "proof": proof,
    "unknown": unknown,
    "long_trace": long_trace,
    "hostile": hostile,
}
