"""Write the list of library functions into docs/c-support.md, from the models themselves.

python tools/list_library.py           writes it
python tools/list_library.py --check   says whether it is up to date
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from plait.c.catalogue import index_library, read_cancellation_points, read_list
from plait.c.effects import (
    Access,
    Amount,
    Effect,
    Result,
    ResultKind,
    SystemFunction,
    read_effects,
    read_plain_results,
)

DOCUMENT = Path(__file__).parents[1] / "docs" / "c-support.md"
BEGIN = "<!-- written by tools/list_library.py -->"
END = "<!-- end of what tools/list_library.py writes -->"
_RESULTS = {
    ResultKind.ANY: "any",
    ResultKind.STATUS: "0 or -1",
    ResultKind.FROM_MINUS_ONE: "-1 or more",
    ResultKind.NOT_NEGATIVE: "0 or more",
    ResultKind.COUNT: "-1 to argument {}",
    ResultKind.UP_TO: "0 to argument {}",
    ResultKind.BELOW: "0 to less than argument {}",
    ResultKind.ARGUMENT: "argument {} or null",
    ResultKind.STRING: "a string",
    ResultKind.STRING_OR_NULL: "a string or null",
}
_ACCESSES = {
    Access.WRITES: "writes",
    Access.READS: "reads",
    Access.TEXT: "writes a string to",
}


def listing() -> str:
    """The generated part of the document, with its marks."""
    parts = [_models(), _inputs(), _others(), _cancellation_points()]
    lines = [line for part in parts for line in (*part, "")]
    return "\n".join([BEGIN, "", *lines, END])


def _models() -> list[str]:
    by_file: dict[str, list[str]] = {}
    unsupported = read_list("unsupported.txt")
    for name, file in index_library()[0].items():
        if not name.startswith("__plait_") and name not in unsupported:
            by_file.setdefault(file, []).append(name)
    rows = [f"| `{file}` | {_names(names)} |" for file, names in sorted(by_file.items())]
    head = "Functions with a model, by the C source that has it (`src/plait/c/library`):"
    return [head, "", "| model | functions |", "|---|---|", *rows]


def _inputs() -> list[str]:
    rows: dict[tuple[str, str], list[str]] = {}
    for name, function in read_effects().items():
        row = _result(function.result), _accesses(function)
        rows.setdefault(row, []).append(name)
    lines = [f"| {_names(names)} | {row[0]} | {row[1]} |" for row, names in rows.items()]
    return [
        "Functions whose results and output are inputs: any that POSIX allows. Arguments count from"
        " 1; strings and objects behind other `const` pointers are read; what is behind a null"
        " pointer is not accessed. Of a failing call `errno` can be any positive number.",
        "",
        "| functions | result | accesses |",
        "|---|---|---|",
        *lines,
    ]


def _others() -> list[str]:
    reasons: dict[str, list[str]] = {}
    for name, reason in read_list("unsupported.txt").items():
        reasons.setdefault(reason, []).append(name)
    rows = [f"| {reason} | {_names(names)} |" for reason, names in sorted(reasons.items())]
    results: dict[str, list[str]] = {}
    for name, plain in read_plain_results().items():
        results.setdefault(_result(plain), []).append(name)
    return [
        "Functions without effect on the program's memory:",
        "",
        "| result | functions |",
        "|---|---|",
        *(f"| {result} | {_names(names)} |" for result, names in results.items()),
        "",
        "Functions that are refused:",
        "",
        "| reason | functions |",
        "|---|---|",
        *rows,
    ]


def _cancellation_points() -> list[str]:
    found = read_cancellation_points()
    kinds = list(dict.fromkeys(found.values()))
    always, possible = ([name for name in found if found[name] == kind] for kind in kinds)
    return [
        "Where threads are cancelled, these functions are cancellation points, beside"
        " `pthread_testcancel`, `pthread_join` and waits on condition variables:",
        "",
        "| | |",
        "|---|---|",
        f"| always | {_names(always)} |",
        f"| possibly | {_names(possible)} |",
    ]


def _names(names: Iterable[str]) -> str:
    return " ".join(f"`{name}`" for name in sorted(names))


def _result(result: Result) -> str:
    return _RESULTS[result.kind].format(result.argument)


def _accesses(function: SystemFunction) -> str:
    if function.by_types:
        return "may write the variables whose addresses it gets"
    return "; ".join(map(_access, function.effects))


def _access(effect: Effect) -> str:
    unit = "bytes" if effect.in_bytes else "objects"
    match effect.amount:
        case Amount.FIXED:
            is_one = effect.number == 1 and not effect.in_bytes
            amount = "" if is_one else f": {effect.number} {unit}"
        case Amount.ARGUMENT:
            product = f" and argument {effect.times} say, multiplied" if effect.times else " says"
            amount = f": as many {unit} as argument {effect.number}{product}"
        case Amount.POINTED:
            amount = f": as many {unit} as is said where argument {effect.number} points"
        case Amount.RESULT:
            amount = f": as many {unit} as the result says"
    return f"{_ACCESSES[effect.access]} what argument {effect.argument} points to{amount}"


def renewed(text: str) -> str:
    before, _, rest = text.partition(BEGIN)
    return before + listing() + rest.partition(END)[2]


def main() -> int:
    text = DOCUMENT.read_text(encoding="utf-8")
    wanted = renewed(text)
    if "--check" in sys.argv:
        return int(text != wanted)
    DOCUMENT.write_text(wanted, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
