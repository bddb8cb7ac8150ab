"""How far an engine gets in families of programs that grow: more items, more threads.

    python tools/bench_families.py [--engine E] [--seconds S] [--family F] [--everyday [NAME ...]]

A family is run from its smallest program on and ends with the first one that has no verdict within
S seconds of CPU time of each process, and five times as much on the clock. Times are user and
system CPU of all processes of a run, without the cache. `--everyday` adds the programs of
benchmarks/everyday with 1, 2 and 3 items and as they are. `--print F SIZE` writes a program. The
exit code is 1 only for wrong verdicts.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EVERYDAY = ROOT / "benchmarks" / "everyday"
HEADER = "#include <assert.h>\n#include <pthread.h>\n#include <semaphore.h>\n"


@dataclass(frozen=True, slots=True)
class Run:
    """A program with its size as it is shown. The expected verdict of all is `true`."""

    size: str
    source: str


@dataclass(frozen=True, slots=True)
class Family:
    name: str
    what: str
    property: str
    runs: tuple[Run, ...]


def family(
    name: str, what: str, sizes: Iterable[object], source: Callable[..., str], about: str = ""
) -> Family:
    runs = []
    for size in sizes:
        numbers = size if isinstance(size, tuple) else (size,)
        shown = "x".join(map(str, numbers))
        runs.append(Run(shown, HEADER + source(*numbers)))
    return Family(name, what, about or "assertions", tuple(runs))


def threads(functions: list[str], before: str = "", after: str = "") -> str:
    """A main function that starts these, each with its number, and joins them."""
    lines = ["int main(void) {", f"  pthread_t threads[{len(functions)}];", before]
    for number, function in enumerate(functions):
        lines.append(f"  pthread_create(&threads[{number}], 0, {function}, (void *){number}L);")
    lines += [f"  pthread_join(threads[{number}], 0);" for number in range(len(functions))]
    return "\n".join([*lines, after, "  return 0;", "}", ""])


def counter(count: int, rounds: int) -> str:
    return f"""
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int counter;
void *add(void *number) {{
  for (int i = 0; i < {rounds}; i++) {{
    pthread_mutex_lock(&lock);
    counter++;
    pthread_mutex_unlock(&lock);
  }}
  return 0;
}}
""" + threads(["add"] * count, after=f"  assert(counter == {count * rounds});")


def queue(items: int) -> str:
    return f"""
enum {{ CAPACITY = 2, ITEMS = {items} }};
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER, not_full = PTHREAD_COND_INITIALIZER;
int ring[CAPACITY], first, length;
void *produce(void *number) {{
  for (int item = 1; item <= ITEMS; item++) {{
    pthread_mutex_lock(&lock);
    while (length == CAPACITY) pthread_cond_wait(&not_full, &lock);
    ring[(first + length) % CAPACITY] = item;
    length++;
    pthread_cond_signal(&not_empty);
    pthread_mutex_unlock(&lock);
  }}
  return 0;
}}
void *consume(void *number) {{
  for (int expected = 1; expected <= ITEMS; expected++) {{
    pthread_mutex_lock(&lock);
    while (length == 0) pthread_cond_wait(&not_empty, &lock);
    int item = ring[first];
    first = (first + 1) % CAPACITY;
    length--;
    pthread_cond_signal(&not_full);
    pthread_mutex_unlock(&lock);
    assert(item == expected);
  }}
  return 0;
}}
""" + threads(["produce", "consume"])


def semaphore(waits: int) -> str:
    """One post less than waits: whoever waits never gets to its end."""
    return f"""
sem_t items;
void *post(void *number) {{
  for (int i = 1; i < {waits}; i++) sem_post(&items);
  return 0;
}}
void *take(void *number) {{
  for (int i = 0; i < {waits}; i++) sem_wait(&items);
  assert(0);
  return 0;
}}
""" + threads(["post", "take"], before="  sem_init(&items, 0, 0);")


def barrier(count: int) -> str:
    return f"""
enum {{ COUNT = {count} }};
pthread_barrier_t barrier;
int cells[COUNT];
void *work(void *argument) {{
  long number = (long)argument;
  cells[number] = 1;
  pthread_barrier_wait(&barrier);
  assert(cells[(number + 1) % COUNT] == 1);
  return 0;
}}
""" + threads(["work"] * count, before="  pthread_barrier_init(&barrier, 0, COUNT);")


def philosophers(count: int) -> str:
    forks = ", ".join(["PTHREAD_MUTEX_INITIALIZER"] * count)
    return f"""
enum {{ COUNT = {count} }};
pthread_mutex_t forks[COUNT] = {{{forks}}};
int meals[COUNT];
void *dine(void *argument) {{
  int left = (int)(long)argument, right = (left + 1) % COUNT;
  int first = left < right ? left : right, second = left < right ? right : left;
  pthread_mutex_lock(&forks[first]);
  pthread_mutex_lock(&forks[second]);
  meals[left]++;
  pthread_mutex_unlock(&forks[second]);
  pthread_mutex_unlock(&forks[first]);
  return 0;
}}
""" + threads(["dine"] * count)


def readers(reading: int, writing: int) -> str:
    return """
pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
int first, second;
void *read_both(void *number) {
  pthread_rwlock_rdlock(&lock);
  assert(first == second);
  pthread_rwlock_unlock(&lock);
  return 0;
}
void *write_both(void *number) {
  pthread_rwlock_wrlock(&lock);
  first++;
  second++;
  pthread_rwlock_unlock(&lock);
  return 0;
}
""" + threads(["read_both"] * reading + ["write_both"] * writing)


def stages(count: int) -> str:
    passing = "\n".join(
        f"void *stage{n}(void *number) {{ int taken = place[{n}]; "
        f"if (taken > 0) place[{n + 1}] = taken; return 0; }}"
        for n in range(count)
    )
    names = [f"stage{n}" for n in range(count)]
    after = f"  assert(place[{count}] >= 0);"
    begin = "  place[0] = start();"
    return f"""
extern int __VERIFIER_nondet_int(void);
int place[{count + 1}];
int start(void) {{ int found = __VERIFIER_nondet_int(); return found > 0 ? found : 1; }}
{passing}
""" + threads(names, begin, after)


def wings(count: int) -> str:
    """Of the butterfly (Yin, Dong, Liu, Wang: Fig. 6): each pair of threads has one order in which
    both read what was there before."""
    pairs = "\n".join(
        f"""int m{n}, n{n}, m_seen{n}, n_seen{n};
void *left{n}(void *number) {{ m{n} = 2; n_seen{n} = n{n}; return 0; }}
void *right{n}(void *number) {{ n{n} = 2; m_seen{n} = m{n}; return 0; }}"""
        for n in range(count)
    )
    names = [name for n in range(count) for name in (f"left{n}", f"right{n}")]
    after = "\n".join(f"  assert(m_seen{n} || n_seen{n});" for n in range(count))
    return pairs + "\n" + threads(names, after=after)


_DOUBLED = (1, 2, 4, 8, 16, 32, 64)
FAMILIES = (
    family(
        "counter",
        "threads x additions under a lock",
        [(2, 2), (2, 4), (2, 8), (4, 1), (4, 2), (4, 4), (8, 1), (8, 2), (8, 8), (16, 2), (32, 8)],
        counter,
    ),
    family("queue", "items from a producer to a consumer", (1, 2, 3, *_DOUBLED[2:]), queue),
    family("queue-deadlock", "the same", (1, 2, 3, *_DOUBLED[2:]), queue, "no-deadlock"),
    family("semaphore", "waits, and one post less", (*_DOUBLED[1:5], 24, 32, 64), semaphore),
    family("barrier", "threads that meet once", (2, 3, 4, 6, 8, 12, 16), barrier),
    family("barrier-deadlock", "the same", (2, 3, 4, 6, 8, 12, 16), barrier, "no-deadlock"),
    family("philosophers", "ordered forks", (2, 3, 4, 6, 8, 10, 12), philosophers, "no-deadlock"),
    family(
        "readers",
        "readers x writers of a read-write lock",
        [(1, 1), (2, 1), (2, 2), (3, 2), (4, 2), (6, 2)],
        readers,
    ),
    family("stages", "threads that hand on a positive number", (1, 2, 3, 4, 5, 6), stages),
    family("wings", "pairs of threads that cannot both be too early", (1, 2, 3, 4), wings),
)


@dataclass(frozen=True, slots=True)
class Result:
    verdict: str
    reason: str
    cpu: float


class Bench:
    def __init__(self, plait: str, engine: str, seconds: int, memory: float) -> None:
        self._command = [plait, "verify", "--no-cache", "--progress", "none", "--engine", engine]
        self._command += ["--timeout", str(5 * seconds), "--memory-limit", str(memory)]
        self._seconds = seconds

    def run(self, source: str, options: list[str]) -> Result:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(
            [*self._command, *options, source],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            check=False,
            preexec_fn=self._limit,
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        lines = [line for line in done.stdout.splitlines() if line.startswith("VERDICT:")]
        verdict, _, reason = (lines[-1][9:] if lines else "unknown (no answer)").partition(" ")
        return Result(verdict, reason, cpu)

    def _limit(self) -> None:
        os.nice(5)
        resource.setrlimit(resource.RLIMIT_CPU, (self._seconds, self._seconds + 1))


def show(name: str, size: str, result: Result) -> None:
    reason = f"  {result.reason}" if result.verdict == "unknown" else ""
    print(f"{name:22} {size:>8} {result.verdict:>8} {result.cpu:8.1f} s{reason}", flush=True)


def run_families(bench: Bench, chosen: list[Family], folder: Path) -> bool:
    is_right = True
    for one in chosen:
        last = "-"
        for run in one.runs:
            source = folder / f"{one.name}_{run.size}.c"
            source.write_text(run.source, encoding="utf-8")
            result = bench.run(str(source), ["--property", one.property])
            show(one.name, run.size, result)
            is_right = is_right and result.verdict != "false"
            if result.verdict != "true":
                break
            last = run.size
        print(f"{one.name:22} ends at {last} ({one.what}, {one.property})", flush=True)
    return is_right


def run_everyday(bench: Bench, properties: list[str], names: list[str]) -> bool:
    is_right = True
    for source in sorted(EVERYDAY.glob("*.c")):
        if source.stem.endswith("_broken") or (names and source.stem not in names):
            continue
        for about in properties:
            for items in ("1", "2", "3", ""):
                options = ["--property", about] if about != "default" else []
                result = bench.run(str(source), options + ([f"-DITEMS={items}"] if items else []))
                show(f"{source.stem} {about}", items or "all", result)
                is_right = is_right and result.verdict != "false"
                if result.verdict != "true":
                    break
    return is_right


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--engine", default="auto")
    parser.add_argument("--plait", default=str(Path(sys.executable).with_name("plait")))
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--memory-limit", type=float, default=4)
    names = [one.name for one in FAMILIES]
    parser.add_argument("--family", action="append", choices=[*names, "none"], default=[])
    parser.add_argument("--everyday", nargs="*", metavar="NAME", help="all without a name")
    parser.add_argument("--property", action="append", default=[], help="of everyday programs")
    parser.add_argument("--print", nargs=2, metavar=("FAMILY", "SIZE"))
    options = parser.parse_args()
    if options.print:
        name, size = options.print
        runs = [run for one in FAMILIES if one.name == name for run in one.runs]
        found = [run.source for run in runs if run.size == size]
        if not found:
            parser.error(f"no {name} of size {size}: {', '.join(run.size for run in runs)}")
        print(found[0])
        return 0
    bench = Bench(options.plait, options.engine, options.seconds, options.memory_limit)
    chosen = [one for one in FAMILIES if not options.family or one.name in options.family]
    with tempfile.TemporaryDirectory() as folder:
        is_right = run_families(bench, chosen, Path(folder))
    if options.everyday is not None:
        properties = options.property or ["assertions", "no-deadlock"]
        is_right = run_everyday(bench, properties, options.everyday) and is_right
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(main())
