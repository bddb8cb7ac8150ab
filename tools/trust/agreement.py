"""Ways to explore a concurrent program that must come to the same verdict.

The reference is the plain one: every access to memory that may be shared is a step of its own,
and no reduction. Against it stand the sleep sets, and the sharing analysis as the source of what
is visible; enumeration of all outputs; and replay of each counterexample.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from plait.analysis.points_to import PointsTo
from plait.analysis.sharing import Sharing
from plait.c import load
from plait.c.options import FrontEndOptions
from plait.errors import PlaitError
from plait.model.program import Edge, Function, Program
from plait.model.properties import Property, Specification
from plait.semantics.explore import Exploration, ExploreOptions, Verdict, explore
from plait.semantics.run import run
from plait.semantics.visibility import Visibility
from trust import concurrent
from trust.interpreted import source_file
from trust.outputs import NotEnumerable, outputs

MOST_STATES = 20_000
PROPERTIES = (Property.ASSERTIONS, Property.NO_DATA_RACE, Property.NO_DEADLOCK)


@dataclass(slots=True, eq=False)
class Agreement:
    """`difference` is empty where all ways agree; `verdicts` and `states` are the reference's."""

    seed: int = -1
    difference: str = ""
    skipped: str = ""
    verdicts: dict[str, str] = field(default_factory=dict)
    states: int = 0


def by_sharing(program: Program) -> Visibility:
    """Only what the sharing analysis finds visible to other threads is a step."""
    visible = Sharing(PointsTo(program)).visible

    def is_visible(function: Function, edge: Edge) -> bool:
        return id(edge) in visible

    return is_visible


def load_concurrent(source: str, specification: Specification) -> Program:
    # A thread that may wake up at any moment never waits for ever: no spurious wake-ups then.
    spurious = Property.NO_DEADLOCK not in specification
    with source_file(source) as path:
        return load([path], FrontEndOptions(spurious_wakeups=spurious), specification)


def check_source(source: str, max_states: int = MOST_STATES) -> Agreement:
    """Explore a program in all ways; the first difference, or what all agree on."""
    result = Agreement()
    try:
        for item in PROPERTIES:
            result.difference = _check_property(source, item, max_states, result)
            if result.difference:
                return result
    except NotEnumerable as error:
        result.skipped = str(error)
    except PlaitError as error:
        result.difference = f"plait rejects the program: {error}"
    except Exception as error:  # a crash is what this looks for
        result.difference = f"plait crashes: {type(error).__name__}: {error}"
    return result


def check_seed(seed: int) -> Agreement:
    result = check_source(concurrent.generate(seed))
    result.seed = seed
    return result


def disagrees(source: str) -> bool:
    """A predicate for the shrinker."""
    found = check_source(source, 5_000).difference
    return bool(found) and not found.startswith("plait rejects")


def _check_property(source: str, item: Property, max_states: int, result: Agreement) -> str:
    specification = Specification(frozenset({item}))
    program = load_concurrent(source, specification)
    plainly = ExploreOptions(reduction=False, max_states=max_states)
    reference = explore(program, specification, plainly)
    result.states = max(result.states, reference.states)
    result.verdicts[item.value] = reference.verdict.value
    if reference.verdict is Verdict.UNKNOWN:
        raise NotEnumerable(reference.reason)
    problem = _replay(program, specification, reference)
    if problem:
        return f"{item.value}: {problem}"
    shared = by_sharing(program)
    others = (
        ("with sleep sets", explore(program, specification, ExploreOptions(max_states=max_states))),
        (
            "with the sharing analysis",
            explore(program, specification, replace(plainly, is_visible=shared)),
        ),
        (
            "with both reductions",
            explore(program, specification, replace(plainly, reduction=True, is_visible=shared)),
        ),
    )
    for name, other in others:
        problem = _difference(reference, other) or _replay(
            program, specification, other, None if name == "with sleep sets" else shared
        )
        if problem:
            return f"{item.value}, {name}: {problem}"
    if others[0][1].schedule is not None and reference.schedule is not None:
        lengths = len(reference.schedule), len(others[0][1].schedule)
        if lengths[0] != lengths[1]:
            return f"{item.value}: shortest counterexamples of {lengths[0]} and {lengths[1]} steps"
    if item is Property.ASSERTIONS:
        return _check_outputs(program, specification, reference, shared)
    return ""


def _difference(reference: Exploration, other: Exploration) -> str:
    if other.verdict is not reference.verdict:
        return (
            f"{other.verdict.value} ({other.reason}), expected {reference.verdict.value}"
            f" ({reference.reason})"
        )
    if other.states > reference.states and reference.verdict is Verdict.TRUE:
        return f"{other.states} states, more than the {reference.states} without reduction"
    return ""


def _replay(
    program: Program,
    specification: Specification,
    found: Exploration,
    is_visible: Visibility | None = None,
) -> str:
    """Does the counterexample's schedule lead to the violation?"""
    if found.schedule is None or found.violation is None:
        return ""
    execution = run(program, specification, schedule=found.schedule, is_visible=is_visible)
    kind = found.violation.kind
    if kind == "no-data-race":
        return ""  # a race is no event of one execution
    if kind == "no-deadlock":
        # A partial deadlock leaves other threads running.
        good = execution.ending in ("deadlock", "end of schedule", "blocked")
    else:
        good = execution.ending == "violation" and execution.outcome.kind == kind
    return "" if good else f"the counterexample ends in '{execution.ending}' when replayed"


def _check_outputs(
    program: Program, specification: Specification, reference: Exploration, shared: Visibility
) -> str:
    plain = outputs(program, specification)
    fails = any(item.endswith("violated)\n") for item in plain)
    if fails != (reference.verdict is Verdict.FALSE):
        return f"enumeration finds {sorted(plain)}, exploration {reference.verdict.value}"
    reduced = outputs(program, specification, is_visible=shared)
    if plain != reduced:
        return f"outputs {sorted(reduced)} with the sharing analysis, {sorted(plain)} without"
    return ""
