"""Random litmus tests under all memory models: what must be contained in what, and TSO and PSO by
store buffers against TSO and PSO by axioms.

    python -m litmus.agree COUNT [FIRST] [--orders]

- SC is in TSO, TSO in PSO, SC in C11.
- TSO is what its axioms say, and so is PSO.
- With all accesses SC, C11 is SC (RC11 has the DRF-SC property; all these accesses are atomic).
- Without SC accesses, what TSO allows C11 allows, too: plain moves and mfence are how compilers
  translate C11 (Lahav et al. 2017, section 5); with relaxed accesses alone the same is true of PSO.
- SC is what all interleavings give, which are enumerated apart from plait.

With --orders: the engine `orders` finds under each weak model what exploration finds, and no more.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from litmus.axiomatic import explored_by_axioms
from litmus.generate import random_test
from litmus.outcomes import found_by_orders
from litmus.run import explored, loaded
from litmus.table import Litmus
from litmus.write import outcomes_under_sc, text
from plait.model.memory_model import MemoryModel
from plait.semantics.explore import Verdict

_MOST_SECONDS = 10.0  # of an exploration; what takes longer is left out
_ORDERS = ("", "", "sc", "rlx")


def problems(test: Litmus, orders: str, folder: Path) -> list[str]:
    file = folder / "test.c"
    file.write_text(text(test))
    width = len(test.observed.split())
    found = {model.value: set(explored(file, model.value, width)) for model in MemoryModel}
    program = loaded(file, "c11")
    for weak in (MemoryModel.TSO, MemoryModel.PSO):
        result = explored_by_axioms(program, weak)
        statuses = {state.exit[0] for state in result.reached if state.exit is not None}
        if result.verdict is not Verdict.TRUE:
            statuses = set()
        found[f"{weak.value} by axioms"] = {f"{status:0{width}}" for status in statuses}
    found["interleavings"] = outcomes_under_sc(test)
    has_sc_accesses = any(
        part.split()[-1].startswith("sc") and not part.startswith("F")
        for thread in test.threads
        for part in thread.split("; ")
    )
    wanted = [("sc", "tso"), ("tso", "pso"), ("sc", "c11")]
    wanted += [("sc", "interleavings"), ("interleavings", "sc")]
    for model in ("tso", "pso"):
        wanted += [(model, f"{model} by axioms"), (f"{model} by axioms", model)]
    if orders == "sc":
        wanted.append(("c11", "sc"))
    if not has_sc_accesses:
        wanted.append(("tso", "c11"))
    if orders == "rlx":
        wanted.append(("pso", "c11"))
    return [
        f"{test.name}: {' || '.join(test.threads)}: {', '.join(sorted(found[one] - found[other]))}"
        f" under {one}, not under {other}"
        for one, other in wanted
        if not found[one] <= found[other]
    ]


def problems_of_orders(test: Litmus, folder: Path) -> list[str]:
    file = folder / "test.c"
    file.write_text(text(test))
    width = len(test.observed.split())
    found = []
    for model in ("tso", "pso", "c11"):
        wanted = explored(file, model, width, _MOST_SECONDS)
        if any(item.startswith("time is up") for item in wanted):
            continue
        answer = found_by_orders(file, model, width)
        if wanted != answer:
            what = f"{model}: {', '.join(wanted)} by exploration, {', '.join(answer)} by orders"
            found.append(f"{test.name}: {' || '.join(test.threads)}: {what}")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int)
    parser.add_argument("first", type=int, nargs="?", default=0)
    parser.add_argument("--orders", action="store_true")
    options = parser.parse_args()
    count, first = options.count, options.first
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for number in range(first, first + count):
            orders = _ORDERS[number % len(_ORDERS)]
            test = random_test(number, orders=orders)
            if options.orders:
                found = problems_of_orders(test, Path(folder))
            else:
                found = problems(test, orders, Path(folder))
            wrong += bool(found)
            for line in found:
                print(line, flush=True)
            if (number - first + 1) % 20 == 0:
                print(f"{number - first + 1} tests, {wrong} with differences", flush=True)
    print(f"{count} tests, {wrong} with differences")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
