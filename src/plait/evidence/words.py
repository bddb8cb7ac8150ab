"""What a verdict says and what it does not, in sentences."""

from __future__ import annotations

from plait.engines import registry
from plait.evidence.result import Result

_CLAIMS = {
    "assertions": "no assertion fails",
    "unreach-call": "no error function is called",
    "no-data-race": "no two accesses race",
    "no-deadlock": "no thread waits for ever",
    "no-overflow": "no signed integer overflows",
    "valid-memsafety": "every access to memory, every free and every pointer is valid",
    "valid-access": "every access to memory and every free is valid",
    "lock-misuse": "no lock, condition variable or thread is misused",
    "no-undefined": "no operation is undefined (overflow and unset variables aside)",
    "monitor": "the monitor sees no error",
}


# Where no code that can be reached checks it. (Conditions that are constantly true do not count.)
_NOTHING_THERE = {
    "assertions": " (there is none that could, in code that can be reached)",
    "unreach-call": " (there is no call of one in code that can be reached)",
}
_CAN_BE_SAVED = "the proof can be saved with --certificate and checked by `plait check`"


def words_of(result: Result, *, is_saved: bool = False) -> list[str]:
    """`is_saved`: the proof was asked for, so that nobody has to be told that there is one."""
    first = {"true": _holds, "false": _violated}.get(result.verdict, _open)
    words = [*first(result), *_each(result), *_beside(result), *_remembered(result)]
    if is_saved:
        words = [item for item in words if item != _CAN_BE_SAVED]
    wall, memory = (result.statistics.get(key) for key in ("wall_seconds", "peak_memory_bytes"))
    used = [f"engine {result.engine}"]
    if isinstance(wall, float):
        used.append(f"{wall:.2f} s")
    if isinstance(memory, int):
        used.append(f"{memory / 2**20:,.0f} MiB of memory")
    return [*words, ", ".join(used)]


def _claim(result: Result) -> str:
    def one(name: str) -> str:
        nothing = _NOTHING_THERE.get(name, "") if name in result.unchecked else ""
        return _CLAIMS.get(name, name) + nothing

    return ", and ".join(map(one, result.properties))


def _holds(result: Result) -> list[str]:
    claim = _claim(result)
    scope = "proved for all schedules, all inputs and any number of loop rounds"
    for_all = f"{scope}{_called_with(result)}: {claim}"
    if registry.is_engine(result.engine):
        engine = registry.engine(result.engine)
        if engine.proof_words:
            return [f"{for_all}; {engine.proof_words}: {result.reason}"]
        if engine.certifies(result.properties):
            return [for_all, _CAN_BE_SAVED]
    if " and " in result.engine:
        return [f"{for_all}; {result.reason}"]
    if result.engine == "explore":
        return [f"{for_all}; every reachable state was visited"]
    if result.bound is not None:
        rounds = _rounds(result.bound)
        return [f"{for_all}; no execution needs more than {rounds}, and all of them were examined"]
    return [for_all]


def _called_with(result: Result) -> str:
    """What a proof is restricted to, and that it says nothing about threads if there are none."""
    given = ", if no execution does anything undefined" * ("--assume-defined" in result.arguments)
    if "--args" not in result.arguments:
        return given
    args = result.arguments[result.arguments.index("--args") + 1]
    # A proof has looked at all executions, so that each engine has counted no fewer than can start.
    is_alone = result.statistics.get("threads") == 1
    nobody = ", with which no thread is started" if is_alone else ""
    return f"{given}, but only with the arguments '{args}'{nobody}"


def _violated(result: Result) -> list[str]:
    return [
        f"violated, after {_switches(result.switches)}: {result.reason};"
        " the execution was replayed step by step in the reference interpreter"
    ]


def _open(result: Result) -> list[str]:
    if result.bound is not None:
        return [
            f"not decided: {_claim(result)} in executions with up to {_rounds(result.bound)};"
            " longer ones were not examined"
        ]
    return [f"not decided: {result.reason}"]


def _each(result: Result) -> list[str]:
    """What is known of each property, where it is not the same for all."""
    known = {item.answer for item in result.answers}
    if len(known) < 2:
        return []
    parts = []
    for answer in ("violated", "proved", "open"):
        names = [item.property for item in result.answers if item.answer == answer]
        if names:
            parts.append(f"{answer}: {', '.join(names)}")
    return ["; ".join(parts)]


def _beside(result: Result) -> list[str]:
    found = []
    for item in result.findings:
        violation = item.violation
        place = violation.place
        where = "" if place is None else f" ({place.file}:{place.line}:{place.column})"
        found.append(
            f"found beside what was asked for: {violation.property}, {violation.message}{where};"
            " the execution was replayed step by step in the reference interpreter"
        )
    return found


def _remembered(result: Result) -> list[str]:
    if result.cached is None:
        return []
    found, seconds = (result.cached.get(key) for key in ("found", "seconds"))
    if result.cached.get("edited"):
        return [
            f"the counterexample that {result.engine} found on {str(found)[:10]} in {seconds} s"
            " leads here in the changed program, too; --no-cache verifies without it"
        ]
    return [
        f"answered from the cache: first found on {str(found)[:10]} in {seconds} s by"
        f" {result.engine}; --no-cache verifies again"
    ]


def _rounds(bound: int) -> str:
    return f"{bound} round{'s' if bound != 1 else ''} of each loop"


def _switches(count: int) -> str:
    return f"{count} context switch{'es' if count != 1 else ''}"
