"""What the supervisor costs: a verification in processes of its own against the same one in this
process, both warm, program by program. Those that are not decided soon are left out.

    python tools/bench_portfolio.py [--rounds N] [PROGRAM.c ...]
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path

from plait.api import verify_with
from plait.bench.verifying import warm_up
from plait.portfolio.job import Job
from plait.portfolio.options import Options
from plait.portfolio.worker import work
from plait.work.child import Channel

EXAMPLES = Path(__file__).parents[1] / "examples"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("programs", nargs="*", default=sorted(map(str, EXAMPLES.glob("*.c"))))
    parser.add_argument("--rounds", type=int, default=10)
    options = parser.parse_args()
    warm_up()
    print(f"{'program':24} {'here':>9} {'supervised':>11} {'overhead':>9} {'ratio':>6}")
    overheads = []
    for program in options.programs:
        chosen = Options(programs=(program,), engine="orders", timeout=5.0, cache=False)
        if verify_with(chosen).verdict == "unknown":
            print(f"{Path(program).name:24} not decided")
            continue
        here = _median(lambda: _here(chosen), options.rounds)  # noqa: B023 (called at once)
        there = _median(lambda: verify_with(chosen), options.rounds)  # noqa: B023
        overheads.append(there - here)
        print(
            f"{Path(program).name:24} {here * 1000:6.1f} ms {there * 1000:8.1f} ms"
            f" {(there - here) * 1000:6.1f} ms {there / here:6.2f}"
        )
    print(f"median overhead {statistics.median(overheads) * 1000:.1f} ms")


def _here(options: Options) -> None:
    work(options, Job(options.engine), time.monotonic() + 5.0, Channel(lambda message: None))


def _median(run: Callable[[], object], rounds: int) -> float:
    times = []
    for _ in range(rounds):
        began = time.perf_counter()
        run()
        times.append(time.perf_counter() - began)
    return statistics.median(times)


if __name__ == "__main__":
    main()
