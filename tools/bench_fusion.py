"""`fusion` against `dpor`: the shape of Table 1 and Figure 6 of the Fusion paper.

    tools/bench_fusion.py [--seconds S] [--only NAME ...]

The programs are our own, after what the paper says of its own: fa02 (two threads whose steps are
not atomic, a violation in another order of the first run), pBch4 (a violation behind a branch that
the first run does not take), pBch4ok (the same without a violation), dynRec (threads that start
each other), and the hash table of the indexer, where entries of different threads meet from 12
threads on. Traces are runs of the search, without those that show a failure again; transitions are
their operations.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from plait.data import dataclass
from plait.hunt.build import build_sources
from plait.hunt.dpor import Dpor
from plait.hunt.fusion.search import Fusion
from plait.hunt.fusion.source import load_source
from plait.hunt.places import Places
from plait.hunt.run import Program, Runner

_PROPERTIES = ("assertions", "unreach-call", "abort", "crash")
_HEAD = "#include <assert.h>\n#include <pthread.h>\n"
_GIB = 1 << 30


def _main(functions: list[str], end: str) -> str:
    names = [f"t{number}" for number in range(len(functions))]
    starts = "".join(
        f"  pthread_create(&{name}, 0, {function}, 0);\n"
        for name, function in zip(names, functions, strict=True)
    )
    joins = "".join(f"  pthread_join({name}, 0);\n" for name in names)
    return (
        f"int main(void) {{\n  pthread_t {', '.join(names)};\n{starts}{joins}{end}  return 0;\n}}\n"
    )


def fa02(rounds: int) -> str:
    """Deposits that are not atomic: in the worst order nearly all are lost."""
    lowest = min(rounds, 2)
    text = f"""int balance;
void *deposit(void *p) {{
  for (int i = 0; i < {rounds}; i++) {{
    int seen = balance;
    balance = seen + 1;
  }}
  return 0;
}}
"""
    return _HEAD + text + _main(["deposit", "deposit"], f"  assert(balance > {lowest});\n")


def pbch4(rounds: int) -> str:
    """One thread looks at the counter of the other once; in the middle it finds what is wrong."""
    text = f"""int filled, looked, wrong;
void *fill(void *p) {{
  for (int i = 0; i < {rounds}; i++) {{
    filled = filled + 1;
    looked = looked + 1;
  }}
  return 0;
}}
void *look(void *p) {{
  for (int i = 0; i < {rounds}; i++) looked = looked + 1;
  if (filled == {rounds // 2 + 1}) wrong = 1;
  return 0;
}}
"""
    return _HEAD + text + _main(["fill", "look"], "  assert(!wrong);\n")


def pbch4ok(rounds: int) -> str:
    """The threads count in two batches; whose turn was last depends on the order, their sum does
    not."""
    text = f"""int mine, yours, last, both;
void *one(void *p) {{
  for (int i = 0; i < {rounds}; i++) {{
    mine = mine + 1;
    last = last + 1;
  }}
  if (yours > {rounds - 1}) both = mine;
  return 0;
}}
void *two(void *p) {{
  for (int i = 0; i < {rounds}; i++) {{
    yours = yours + 1;
    last = last + 1;
  }}
  if (mine > {rounds - 1}) both = yours;
  return 0;
}}
"""
    return _HEAD + text + _main(["one", "two"], f"  assert(both == 0 || both == {rounds});\n")


def dynrec(depth: int) -> str:
    """Each thread starts the next one, and counts how often it was the first to come."""
    text = """int seen, firsts;
void *grow(void *p) {
  long left = (long)p;
  pthread_t next;
  if (left > 0) pthread_create(&next, 0, grow, (void *)(left - 1));
  int before = seen;
  seen = before + 1;
  if (before == 0) firsts = firsts + 1;
  if (left > 0) pthread_join(next, 0);
  return 0;
}
"""
    end = f"  grow((void *){depth + 1});\n  assert(firsts < {depth + 2});\n"
    return f"{_HEAD}{text}int main(void) {{\n{end}  return 0;\n}}\n"


def indexer(threads: int) -> str:
    """Four messages of each thread into a table of 128 entries, of which each is taken by compare
    and exchange. From 12 threads on several look for the same entries: the first message of thread
    11 and the second one of thread 0."""
    text = f"""#include <stdatomic.h>
enum {{ SIZE = 128, MESSAGES = 4, THREADS = {threads} }};
atomic_int table[SIZE];
int numbers[THREADS];
void *insert(void *p) {{
  int self = *(int *)p;
  for (int message = 0; message < MESSAGES; message++) {{
    int place = (message * 11 + self + 1) * 7 % SIZE;
    for (;;) {{
      int empty = 0;
      if (atomic_compare_exchange_strong(&table[place], &empty, self + 1)) break;
      place = (place + 1) % SIZE;
    }}
  }}
  return 0;
}}
int main(void) {{
  pthread_t t[THREADS];
  for (int i = 0; i < THREADS; i++) {{
    numbers[i] = i;
    pthread_create(&t[i], 0, insert, &numbers[i]);
  }}
  for (int i = 0; i < THREADS; i++) pthread_join(t[i], 0);
  assert(table[84] == 1);
  return 0;
}}
"""
    return _HEAD + text


PROGRAMS = {
    **{f"fa02-{k}": fa02(k) for k in (1, 5, 10)},
    **{f"pBch4-{k}": pbch4(k) for k in (5, 10, 20)},
    **{f"pBch4ok-{k}": pbch4ok(k) for k in (1, 3, 4, 5)},
    **{f"dynRec-{k}": dynrec(k) for k in range(5)},
    **{f"indexer-{k}": indexer(k) for k in (10, 11, 12, 13, 14)},
}


@dataclass(slots=True, frozen=True)
class Row:
    answer: str
    traces: int
    transitions: int
    seconds: float

    def __str__(self) -> str:
        return f"{self.answer:>5} {self.traces:7} {self.transitions:11,} {self.seconds:7.1f}"


def measure(source: Path, folder: Path, engine: str, seconds: float) -> Row:
    built = build_sources([str(source)], "gcc", ["-O0", "-w"], folder)
    program = Program(built.executable, (), _PROPERTIES, "/", None, 10, 2 * _GIB, 100_000)
    search = Dpor()
    if engine == "fusion":
        lines = Places(folder).line_numbers()
        search = Fusion((), load_source([str(source)]), lines)
    began = time.monotonic()
    answer = ">"
    with Runner(program) as runner:
        while time.monotonic() - began < seconds:
            run = search.next_run(runner)
            if run is None:
                answer = "?" if search.gaps else "true"
                break
            if run.is_failure:
                answer = "false"
                break
        transitions = runner.operations
    return Row(answer, search.runs, transitions, time.monotonic() - began)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--seconds", type=float, default=60.0, help="for each search")
    parser.add_argument("--only", action="append", default=[], metavar="NAME")
    options = parser.parse_args()
    columns = "traces, transitions, s"
    print(f"{'':12} {'fusion: ' + columns:>33}   {'dpor: ' + columns:>33}   ratio")
    with tempfile.TemporaryDirectory(prefix="plait-bench-fusion-") as name:
        for program, text in PROGRAMS.items():
            if options.only and not program.startswith(tuple(options.only)):
                continue
            source = Path(name) / f"{program}.c"
            source.write_text(text)
            rows = [
                measure(source, Path(name), engine, options.seconds)
                for engine in ("fusion", "dpor")
            ]
            sign = ">" if rows[1].answer == ">" else ""
            ratio = f"{sign}{rows[1].traces / max(rows[0].traces, 1):.1f}"
            print(f"{program:12} {rows[0]}   {rows[1]}   {ratio}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
