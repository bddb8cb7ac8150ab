"""What the HTML report costs: making it, compared with the verification before it, and reading it.

    python tools/bench_report.py [--rows N ...]

Times depend on the machine; what counts are the ratios of one run. Goals: making the report adds at
most 10 % to the run of `plait verify` for a trace of 1,000 rows; with 5,000 rows a browser shows
the page within 1 s, and a step takes less than 50 ms. Without a browser only the first is measured.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from browser import Browser, program
from plait.evidence.result import Change, Operation, Place, Result, Row, Source, Thread, Violation
from plait.report.html import to_html

ROOT = Path(__file__).resolve().parents[1]
REPETITIONS = 9
# Presses the key 100 times; after each one all that changed is laid out.
STEPS = """(() => {
  const times = [];
  for (let step = 0; step < 100; step++) {
    const start = performance.now();
    dispatchEvent(new KeyboardEvent("keydown", { key: "KEY" }));
    document.body.offsetHeight;
    times.push(performance.now() - start);
  }
  return times;
})()"""


def trace_of(rows: int) -> Result:
    """Four threads that add to eight variables, each under its lock."""
    lines = ["lock(&mutex);", "sum[i] = sum[i] + 1;", "unlock(&mutex);", "i = next(i);"]
    source = Source("sum.c", "", [f"  {line}" for line in lines] * 50)
    trace: list[Row] = []
    for index in range(rows):
        thread, name = 1 + index // 4 % 4, f"sum[{index // 4 % 8}]"
        line = 1 + index % len(source.lines)
        row = Row(index + 1, thread, Place("sum.c", line, 3, lines[index % 4], line, 0, "work"))
        if index % 4 == 1:
            row.changes = [Change(name, str(index), shared=True), Change("i", str(index % 8))]
        elif index % 4 != 3:
            row.operation = Operation("lock" if index % 4 == 0 else "unlock", "mutex")
        trace.append(row)
    return Result(
        *("0", ["sum.c"], "main", "LP64", ["assertions"], "orders", "false", "assertion failed"),
        violation=Violation("assertions", "assertion failed", 1, trace[-1].place),
        threads=[Thread(number, "work") for number in range(1, 5)],
        trace=trace,
        sources=[source],
    )


def verification_seconds() -> float:
    command = [sys.executable, "-m", "plait", "verify", str(ROOT / "examples" / "counter_race.c")]
    times = []
    for _ in range(3):
        start = time.perf_counter()
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        times.append(time.perf_counter() - start)
    return min(times)


def making_seconds(result: Result) -> float:
    times = []
    for _ in range(REPETITIONS):
        start = time.perf_counter()
        to_html(result)
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def reading(browser: Browser, result: Result) -> str:
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        page.write_text(to_html(result), encoding="utf-8")
        loads = []
        for _ in range(3):
            browser.open(page)
            entry = "performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd"
            loads.append(float(browser.run(entry)))
        parts = [f"shown after {statistics.median(loads):.0f} ms"]
        for key, name in (("j", "step"), ("n", "step to the next switch")):
            times = sorted(browser.run(STEPS.replace("KEY", key)))
            parts.append(f"{name} {times[50]:.1f} ms (slowest of 100: {times[-1]:.0f} ms)")
        return ", ".join(parts)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--rows", type=int, nargs="*", default=[1000, 5000], metavar="N")
    options = parser.parse_args()
    run = verification_seconds()
    print(f"plait verify examples/counter_race.c: {run:.2f} s")
    browser = None
    if program() is None:
        print("no browser found: reading is not measured", file=sys.stderr)
    else:
        browser = Browser()
        browser.size(1440, 900)
    for rows in options.rows:
        result = trace_of(rows)
        seconds, size = making_seconds(result), len(to_html(result)) / 1024
        share = f"{100 * seconds / run:.1f} % of the run"
        print(f"{rows} rows: made in {1000 * seconds:.1f} ms, {share}; {size:.0f} KiB")
        if browser is not None:
            print(f"{rows} rows: {reading(browser, result)}")
    if browser is not None:
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
