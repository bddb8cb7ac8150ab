"""What the properties mean, for people who meet one of them for the first time in a report."""

from __future__ import annotations

from plait.data import dataclass
from plait.evidence.property_parts import PARTS


@dataclass(slots=True, frozen=True)
class Rule:
    """`advice` says what to do about a violation; `weakness` is its number in the CWE list."""

    id: str
    name: str
    summary: str
    description: str
    advice: str
    weakness: int | None = None


_RULES = (
    Rule(
        "assertions",
        "AssertionFails",
        "An assertion can fail",
        "There is an interleaving of the threads, and a choice of the inputs, in which the"
        " condition of an assert is false.",
        "Follow the steps in their order of execution and look for the first one after which the"
        " state is not what you expect. Most often another thread runs between two steps that"
        " belong together: hold a lock around them, or make them one atomic operation. If the"
        " inputs could never have these values, say so in the program.",
        617,
    ),
    Rule(
        "unreach-call",
        "ErrorFunctionIsCalled",
        "A function that must not be called can be called",
        "There is an interleaving of the threads, and a choice of the inputs, that leads to a call"
        " of a function that marks an error.",
        "Follow the steps in their order of execution up to the call and look for the first one"
        " after which the state is not what you expect.",
    ),
    Rule(
        "no-data-race",
        "DataRace",
        "Two threads access the same memory without synchronisation",
        "Two threads can access the same bytes at the same time, at least one of them writes, and"
        " not both accesses are atomic. In C this is undefined behaviour: the compiler assumes"
        " that it does not happen.",
        "Let both accesses hold the same lock, order them (start or join the other thread, wait"
        " for a condition), or make both of them atomic. volatile does not help.",
        362,
    ),
    Rule(
        "no-deadlock",
        "Deadlock",
        "A thread can wait for ever",
        "There is an interleaving after which a thread is blocked and nothing that the others can"
        " do will ever let it go on.",
        "If threads hold locks that others wait for, take the locks in the same order everywhere."
        " If a thread waits for a condition, change the condition and signal it under the lock"
        " that the waiting thread uses, and test the condition in a loop.",
        833,
    ),
    Rule(
        "no-overflow",
        "SignedOverflow",
        "Signed arithmetic can overflow",
        "The result of an operation on signed integers does not fit its type. In C this is"
        " undefined behaviour.",
        "Test the operands before the operation, use a wider type, or an unsigned one if wrapping"
        " is what you want.",
        190,
    ),
    Rule(
        "valid-deref",
        "InvalidAccess",
        "Memory can be accessed that must not be",
        "A pointer that is null, out of bounds, or points to an object that no longer exists is"
        " used for an access, or a constant object is written.",
        "Find the step that made the pointer invalid: often another thread frees the object or"
        " leaves the function that it belongs to. Let the last user free it, or hold a lock from"
        " the test of the pointer to its use.",
        119,
    ),
    Rule(
        "valid-free",
        "InvalidFree",
        "Memory can be freed that must not be",
        "free or realloc gets a pointer that is not the start of a live object from malloc: it was"
        " freed before, or never came from malloc.",
        "Decide which thread owns the object and let only that one free it; set shared pointers to"
        " null under the lock under which they are tested.",
        763,
    ),
    Rule(
        "valid-memtrack",
        "MemoryLeak",
        "Memory can be lost",
        "When the process ends, an object from malloc was not freed and no pointer leads to it.",
        "Free the object before its last pointer is overwritten or goes out of scope.",
        401,
    ),
    Rule(
        "lock-misuse",
        "LockMisuse",
        "A lock can be used against its rules",
        "A lock is released by a thread that does not hold it, taken again by the thread that"
        " holds it, destroyed while in use, used after it was destroyed, or the like.",
        "Pair each lock with exactly one unlock on every path of the same thread, and destroy"
        " locks only after all threads that use them have been joined.",
        667,
    ),
    Rule(
        "no-undefined",
        "UndefinedOperation",
        "An operation can be undefined",
        "A division by zero, a shift by too much, or another operation for whose operands C says"
        " nothing about what happens: the compiler assumes that it does not happen.",
        "Test the operands before the operation, or find the step that has given them these"
        " values.",
        758,
    ),
    Rule(
        "monitor",
        "MonitorError",
        "A monitor sees an error",
        "There is an interleaving of the threads, and a choice of the inputs, in which the events"
        " of the program lead the monitor into an error: they come in an order that it does not"
        " allow.",
        "The message says which rule is broken; follow the steps back to the event that should not"
        " have happened, or to the one that is missing before it.",
    ),
)

UNDECIDED = Rule(
    "undecided",
    "Undecided",
    "plait could not decide whether the properties hold",
    "The program was neither proved nor refuted: a limit was reached, or the program uses"
    " something that plait does not support. It may be right or wrong.",
    "The message says why. Raise the limits (--timeout, --memory-limit, --unwind), try"
    " another engine (`plait verify --help` says what each one is good at), or verify a smaller"
    " part of the program.",
)

_BY_ID = {rule.id: rule for rule in _RULES}


def rules_of(properties: list[str]) -> list[Rule]:
    """The rules that are checked for these properties. Memory safety has one for each part, since
    that is what a violation names."""
    names = [part for name in properties for part in PARTS.get(name, (name,))]
    return [rule_named(name) for name in dict.fromkeys(names)]


def rule_named(name: str) -> Rule:
    """Newer versions may have properties that are not known here."""
    known = _BY_ID.get(name)
    return known or Rule(name, name, f"{name} is violated", f"{name} is violated.", "")
