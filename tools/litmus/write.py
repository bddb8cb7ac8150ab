"""Writes the litmus tests of the table as C programs, each with its outcomes in its head.

The outcomes under SC are those of all interleavings, which are enumerated here and not by plait;
the table says what weak models add.

    python tools/litmus/write.py FOLDER
"""

from __future__ import annotations

import itertools
import re
import sys
from pathlib import Path

from litmus.table import TESTS, Litmus

MODELS = ("sc", "tso", "pso", "c11")
ORDERS = {
    "rlx": "memory_order_relaxed",
    "con": "memory_order_consume",
    "acq": "memory_order_acquire",
    "rel": "memory_order_release",
    "ar": "memory_order_acq_rel",
    "sc": "memory_order_seq_cst",
}
UNASSIGNED = 7
_OPERATION = re.compile(
    r"(?:(?P<if>\w)\? )?"
    r"(?:F (?P<fence>\w+)|(?P<store>[xyz])=(?P<value>\d) (?P<so>\w+)"
    r"|(?P<register>[a-e])=(?P<load>[xyz])"
    r"(?:(?P<op>[<+])(?P<operand>\d)|\?(?P<expected>\d):(?P<desired>\d))? (?P<lo>[\w/]+))"
)


def parsed(test: Litmus) -> list[list[re.Match[str]]]:
    result = []
    for thread in test.threads:
        matches = [_OPERATION.fullmatch(part) for part in thread.split("; ")]
        assert all(matches), (test.name, thread)
        result.append([item for item in matches if item is not None])
    return result


def outcomes_under_sc(test: Litmus) -> set[str]:
    threads = parsed(test)
    marks = [number for number, thread in enumerate(threads) for _ in thread]
    found = set()
    for order in set(itertools.permutations(marks)) if len(marks) < 8 else _merges(marks):
        memory = dict.fromkeys("xyz", 0)
        registers: dict[str, int] = {}
        at = [0] * len(threads)
        for number in order:
            _do(threads[number][at[number]], memory, registers)
            at[number] += 1
        found.add(
            "".join(
                str(memory[name.lower()] if name.isupper() else registers.get(name, UNASSIGNED))
                for name in test.observed.split()
            )
        )
    return found


def _merges(marks: list[int]) -> list[tuple[int, ...]]:
    if not marks:
        return [()]
    return [
        (mark, *rest)
        for mark in sorted(set(marks))
        for rest in _merges([*marks[: marks.index(mark)], *marks[marks.index(mark) + 1 :]])
    ]


def _do(item: re.Match[str], memory: dict[str, int], registers: dict[str, int]) -> None:
    if item["if"] and registers.get(item["if"], UNASSIGNED) == 0:
        return
    if item["store"]:
        memory[item["store"]] = int(item["value"])
    elif item["register"]:
        place = item["load"]
        old = registers[item["register"]] = memory[place]
        if item["op"]:
            memory[place] = int(item["operand"]) + (old if item["op"] == "+" else 0)
        elif item["expected"] and old == int(item["expected"]):
            memory[place] = int(item["desired"])


def outcomes(test: Litmus) -> dict[str, str]:
    strong = outcomes_under_sc(test)
    assert strong.isdisjoint(test.weak), (test.name, "an outcome is not weak", strong)
    found = {}
    for model in MODELS:
        more = {outcome for outcome, models in test.weak.items() if model in models.split()}
        found[model] = " ".join(sorted(strong | more))
    if test.is_race:
        found["c11"] = "race"
    return found


def text(test: Litmus) -> str:
    threads = parsed(test)
    atomic = {
        (item["store"] or item["load"])
        for thread in threads
        for item in thread
        if not item["fence"] and "na" not in (item["so"], item["lo"])
    }  # the others are plain
    accesses = [item for thread in threads for item in thread if not item["fence"]]
    used = sorted({item["store"] or item["load"] for item in accesses})
    lines = [f"// {test.name}, from tools/litmus/table.py: {' || '.join(test.threads)}"]
    lines += [f"// the outcomes of {test.observed}"]
    lines += [f"// {model}: {found}" for model, found in outcomes(test).items()]
    lines += ["#include <assert.h>", "#include <pthread.h>", "#include <stdatomic.h>", ""]
    lines += [f"{'atomic_int' if name in atomic else 'int'} {name};" for name in used]
    registers: list[list[str]] = []
    for number, thread in enumerate(threads):
        own = list(dict.fromkeys(item["register"] for item in thread if item["register"]))
        registers.append(own)
        lines += ["", f"void *thread{number}(void *unused) {{"]
        lines += [f"  int {name} = {UNASSIGNED};" for name in own]
        for item in thread:
            lines += [f"  {_statement(item)}"]
        packed = "".join(f" + {name} * {10**place}" for place, name in enumerate(own))
        lines += [f"  return (void *)(long)({packed[3:] or '0'});", "}"]
    lines += ["", "int main(void) {", f"  pthread_t ids[{len(threads)}];", "  void *result;"]
    count = range(len(threads))
    lines += [f"  pthread_create(&ids[{n}], 0, thread{n}, 0);" for n in count]
    for number in count:
        lines += [f"  pthread_join(ids[{number}], &result);"]
        lines += [
            f"  int {name} = (int)(long)result / {10**place} % 10;"
            for place, name in enumerate(registers[number])
        ]
    observed = test.observed.split()
    for name in observed:
        if name.isupper():
            lines += [f"  int {name} = {name.lower()};"]
    digits = [f"{name} * {10**place}" for place, name in enumerate(reversed(observed))]
    lines += [f"  int outcome = {' + '.join(reversed(digits))};"]
    lines += ["#ifdef OUTCOME", "  assert(outcome != OUTCOME);", "#endif"]
    lines += ["#ifdef ONLY", "  assert(ONLY);", "#endif", "  return outcome;", "}", ""]
    return "\n".join(lines)


def _statement(item: re.Match[str]) -> str:
    condition = f"if ({item['if']}) " if item["if"] else ""
    return condition + _operation(item) + ";"


def _operation(item: re.Match[str]) -> str:
    if item["fence"]:
        return f"atomic_thread_fence({ORDERS[item['fence']]})"
    if item["store"]:
        if item["so"] == "na":
            return f"{item['store']} = {item['value']}"
        order = ORDERS[item["so"]]
        return f"atomic_store_explicit(&{item['store']}, {item['value']}, {order})"
    register, place, orders = item["register"], item["load"], item["lo"]
    if orders == "na":
        return f"{register} = {place}"
    if item["op"]:
        operation = "fetch_add" if item["op"] == "+" else "exchange"
        arguments = f"&{place}, {item['operand']}, {ORDERS[orders]}"
        return f"{register} = atomic_{operation}_explicit({arguments})"
    if item["expected"]:
        first, second = (ORDERS[order] for order in orders.split("/"))
        return (
            f"{register} = {item['expected']},"
            f" atomic_compare_exchange_strong_explicit(&{place}, &{register}, {item['desired']},"
            f" {first}, {second})"
        )
    return f"{register} = atomic_load_explicit(&{place}, {ORDERS[orders]})"


def main() -> None:
    folder = Path(sys.argv[1])
    names = [test.name for test in TESTS]
    assert len(set(names)) == len(names)
    for test in TESTS:
        (folder / f"{test.name}.c").write_text(text(test))
    print(f"{len(TESTS)} tests in {folder}")


if __name__ == "__main__":
    main()
