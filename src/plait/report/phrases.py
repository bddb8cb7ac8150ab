"""Short phrases about threads, operations and places, shared by the reports."""

from __future__ import annotations

from plait.evidence.result import Access, Cause, Input, Operation, Place, Result, Waiting

_OPERATIONS = {
    "lock": "locks {object}",
    "read-lock": "locks {object} for reading",
    "write-lock": "locks {object} for writing",
    "trylock": "locks {object}",
    "unlock": "unlocks {object}",
    "wait": "waits on {object}, gives back {lock}",
    "wake": "wakes up, locks {lock}",
    "signal": "signals {object}",
    "broadcast": "wakes all on {object}",
    "post": "posts {object}",
    "barrier": "is at the barrier {object}",
    "begin": "atomic section begins",
    "end": "atomic section ends",
    "exit": "thread ends",
    "once": "once, for {object}",
    "free": "frees {object}",
    "start": "it was started",
    "visible": "{object} becomes visible",
}


def thread_name(result: Result, number: int) -> str:
    """`thread 2 (worker)`."""
    if 1 <= number <= len(result.threads) and result.threads[number - 1].function:
        return f"thread {number} ({result.threads[number - 1].function})"
    return f"thread {number}"


def input_phrases(result: Result) -> list[list[str]]:
    """For each row of the trace its inputs, named by the function or the variable that they are the
    values of: `read_sensor() = 3`."""
    known: dict[tuple[int, int], list[Input]] = {}
    for item in result.inputs:
        known.setdefault((item.step, item.thread), []).append(item)
    found = []
    for row in result.trace:
        names = known.get((row.step, row.thread), [])
        phrases = []
        for value in row.inputs:
            is_named = bool(names) and names[0].value == value
            phrases.append(f"{names.pop(0).name} = {value}" if is_named else f"input {value}")
        found.append(phrases)
    return found


def place_name(place: Place | None) -> str:
    return "the library" if place is None else f"{place.file}:{place.line}:{place.column}"


def operation_phrase(operation: Operation) -> str:
    thread = "a thread" if operation.thread is None else f"thread {operation.thread}"
    if operation.kind == "create":
        return f"starts {thread}"
    if operation.kind == "join":
        return f"{thread} has ended"
    if not operation.succeeded and operation.kind == "unlock":
        return f"does not hold {operation.object}"
    if not operation.succeeded:
        return f"{operation.object} is taken"
    phrase = _OPERATIONS.get(operation.kind)
    if phrase is None:
        return f"{operation.kind} {operation.object}".strip()
    return phrase.format(object=operation.object, lock=operation.lock).strip().rstrip(",")


def cause_phrase(result: Result, cause: Cause) -> str:
    """Where a value comes from."""
    if cause.thread is None:
        return f"{cause.name} is {cause.value}: its initial value"
    text = "" if cause.place is None else f": {cause.place.text}"
    line = "" if cause.place is None else f", line {cause.place.line}"
    who = thread_name(result, cause.thread)
    return f"{cause.name} is {cause.value}: since step {cause.step} of {who}{line}{text}"


def waiting_phrase(result: Result, waiting: Waiting) -> str:
    who = thread_name(result, waiting.thread)
    if waiting.what == "join":
        what = "another thread to end"
        if waiting.holders:
            what = f"{thread_name(result, waiting.holders[0])} to end"
    else:
        what = f"{waiting.what} {waiting.object}".strip()
        if waiting.holders:
            owners = " and ".join(thread_name(result, item) for item in waiting.holders)
            what += f", which {owners} hold" + ("s" if len(waiting.holders) == 1 else "")
    return f"{who} waits for {what}, at {place_name(waiting.place)}"


def access_phrases(result: Result, access: Access) -> list[str]:
    """One of the two accesses of a race, in a line and details."""
    kind = "write" if access.write else "read"
    atomic = "atomic " if access.atomic else ""
    locks = ", ".join(access.locks)
    lines = [
        f"{atomic}{kind} of {access.name} by {thread_name(result, access.thread)}"
        f" at {place_name(access.place)}"
        + ("" if access.place is None else f": {access.place.text}"),
        f"holds {locks}" if locks else "holds no lock",
    ]
    if access.last is not None:
        what = operation_phrase(access.last.operation)
        lines.append(
            f"last synchronisation: {what}, step {access.last.step},"
            f" {place_name(access.last.place)}"
        )
    return lines
