"""How fast the front end and the explorer are, measured against a bare Python in the same run.

Goals: a 700-line preprocessed file takes at most 0.25 s of CPU in a cold process; ten times the
source takes at most 12 times as long; `plait --help` starts within 0.15 s.

    python tools/bench_frontend.py [--repeat N]
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LOAD = """\
import sys
from plait.c import load
from plait.c.options import FrontEndOptions
from plait.model.properties import Specification
load(sys.argv[1:], FrontEndOptions(), Specification())
"""
HEADER = """\
typedef unsigned long pthread_t;
typedef unsigned int u32;
struct item { int key; u32 weight; struct item *next; int history[4]; };
extern int pthread_create(pthread_t *, const void *, void *(*)(void *), void *);
extern int pthread_join(pthread_t, void **);
int total;
"""
# The usual mix: fields, arrays, pointers, loops, switch, short circuit, conversions.
FUNCTION = """\
struct item item_{n};
static int work_{n}(struct item *p, int limit)
{{
  int sum = 0;
  for (int i = 0; i < 4; i++) {{
    p->history[i] = p->key + i * {n};
    if (p->history[i] > limit && p->weight != 0u)
      sum += p->history[i] % 7;
    else
      sum ^= (int)(p->weight >> (i & 3));
  }}
  switch (sum & 3) {{
  case 0: p->weight += 1u; break;
  case 1: p->key = -p->key;
  default: p->weight = (u32)p->key * 3u; break;
  }}
  while (sum > limit)
    sum -= limit > 0 ? limit : 1;
  p->next = p->next ? p->next : &item_{n};
  total += sum;
  return (short)sum;
}}

"""
THREAD = """\
static void *start(void *argument)
{
  struct item *p = argument;
"""
MAIN = """\
  return 0;
}

int main(void)
{
  pthread_t first, second;
  pthread_create(&first, 0, start, &item_0);
  pthread_create(&second, 0, start, &item_1);
  pthread_join(first, 0);
  pthread_join(second, 0);
  return total;
}
"""


MANY_STATES = """\
#include <pthread.h>
int a, b, c;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
void *work(void *unused) {
  for (int i = 0; i < 4; i++) {
    a += b;
    b += c;
    c++;
    pthread_mutex_lock(&lock);
    a++;
    pthread_mutex_unlock(&lock);
  }
  return 0;
}
int main(void) {
  pthread_t threads[3];
  for (int i = 0; i < 3; i++) pthread_create(&threads[i], 0, work, 0);
  for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
  return 0;
}
"""


def source(lines: int) -> str:
    """A program of about that many lines, every function of which is reachable."""
    fixed = (HEADER + THREAD + MAIN).count("\n")
    count = max(2, (lines - fixed) // (FUNCTION.count("\n") + 1))
    functions = "".join(FUNCTION.format(n=number) for number in range(count))
    calls = "".join(f"  work_{number}(p, {number});\n" for number in range(count))
    return HEADER + functions + THREAD + calls + MAIN


def cpu_seconds(command: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = subprocess.run(command, env=environment(), capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if result.returncode not in (0, 1, 3):
        sys.exit(f"{' '.join(command)} failed:\n{result.stderr}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def wall_seconds(command: list[str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, env=environment(), capture_output=True, check=True)
    return time.perf_counter() - start


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT / "src")}


def front_end(repeat: int) -> bool:
    bare = statistics.median(cpu_seconds([sys.executable, "-c", "pass"]) for _ in range(repeat))
    print(f"python -c pass               {bare * 1000:8.0f} ms CPU")
    medians: dict[int, float] = {}
    with tempfile.TemporaryDirectory() as scratch:
        for lines in (700, 7000):
            path = Path(scratch) / f"program_{lines}.i"
            path.write_text(source(lines))
            command = [sys.executable, "-c", LOAD, str(path)]
            cpu_seconds(command)  # compile the byte code and warm the file cache
            medians[lines] = statistics.median(cpu_seconds(command) for _ in range(repeat))
            actual = path.read_text().count("\n")
            print(
                f"front end, {actual:5} lines       {medians[lines] * 1000:8.0f} ms CPU"
                f"   {medians[lines] / bare:6.1f} x bare Python"
            )
    growth = medians[7000] / medians[700]
    inner = (medians[7000] - bare) / (medians[700] - bare)
    print(f"ten times the source         {growth:8.1f} times as long")
    print(f"  without start-up           {inner:8.1f} times as long")
    return medians[700] <= 0.25 and growth <= 12.0


def start_up(repeat: int) -> bool:
    command = [sys.executable, "-m", "plait", "--help"]
    seconds = statistics.median(wall_seconds(command) for _ in range(repeat))
    print(f"plait --help                 {seconds * 1000:8.0f} ms wall")
    return seconds <= 0.15


def explorer() -> None:
    """States per second of CPU, the whole process included, on a program with enough of them."""
    with tempfile.TemporaryDirectory() as scratch:
        path, result = Path(scratch) / "program.c", Path(scratch) / "result.json"
        path.write_text(MANY_STATES)
        for reduction in ("none", "sleep"):
            command = [sys.executable, "-m", "plait", "explore", "--reduction", reduction]
            command += ["--max-states", "100000", "--json", str(result), str(path)]
            seconds = cpu_seconds(command)
            counts = json.loads(result.read_text())["statistics"]
            print(
                f"explore, reduction {reduction:5}     {counts['states'] / seconds:8.0f} states/s"
                f"   {counts['transitions'] / seconds:8.0f} steps/s"
            )


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Measure the front end and the explorer.")
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args(arguments)
    met = [start_up(options.repeat), front_end(options.repeat)]
    explorer()
    print("goals met" if all(met) else "a goal was missed")
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
