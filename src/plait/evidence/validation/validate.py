"""Whether a violation witness describes an execution that violates its specification.

It is confirmed by an execution in the reference interpreter that follows it and violates the
property at its target, rejected if there is none, or if it is not about this program. Everything
else is unknown.
"""

from __future__ import annotations

from plait.data import replace
from plait.evidence.validation.expressions import CannotEvaluate, parse
from plait.evidence.validation.following import Guide
from plait.evidence.validation.places import NoSuchPlace, Places, Unresolved
from plait.evidence.validation.search import Confirmation, Found, Say, search
from plait.evidence.validation.watching import Watched
from plait.evidence.witness.content import MAIN, Format, Kind, Segment, ViolationWitness, Waypoint
from plait.model.program import Program
from plait.model.properties import Specification
from plait.semantics.run import run

MOST_STATES = 500_000


def validate(
    program: Program,
    specification: Specification,
    witness: ViolationWitness,
    *,
    max_states: int = MOST_STATES,
    deadline: float | None = None,
    say: Say | None = None,
) -> Found:
    places = Places(program, witness.format)
    try:
        segments = _with_creations(witness, places)
        guide = Guide.of(segments)
        watched = _watched(guide, places, program)
    except NoSuchPlace as reason:
        return Found(Confirmation.REJECTED, str(reason))
    except (Unresolved, CannotEvaluate) as reason:
        return Found(Confirmation.UNKNOWN, str(reason))
    unnamed = _unnamed(guide)
    if unnamed:
        why = f"the witness does not say who creates thread '{unnamed}'"
        return Found(Confirmation.REJECTED, why)
    found = search(
        program,
        specification,
        guide,
        watched,
        places,
        max_states=max_states,
        deadline=deadline,
        say=say,
    )
    if found.answer is Confirmation.CONFIRMED and not _replays(program, specification, found):
        why = "internal error: the execution that was found does not replay"
        return Found(Confirmation.UNKNOWN, why)
    return found


def _replays(program: Program, specification: Specification, found: Found) -> bool:
    """Races and deadlocks are properties of the state that the schedule leads to."""
    assert found.schedule is not None
    execution = run(program, specification, schedule=found.schedule)
    if found.kind in ("no-data-race", "no-deadlock"):
        return execution.ending != "violation"
    return execution.ending == "violation" and execution.outcome.kind == found.kind


def _with_creations(witness: ViolationWitness, places: Places) -> list[Segment]:
    """In YAML the k-th call that creates a thread names it k."""
    segments = list(witness.segments)
    if witness.format is Format.GRAPHML:
        return segments
    created = 0
    for index, segment in enumerate(segments):
        waypoint = segment.follow[0]
        if waypoint.kind is not Kind.ENTER:
            continue
        if any(places.creates_thread(key) for key in places.resolve(waypoint)):
            created += 1
            numbered = replace(waypoint, creates=str(created))
            segments[index] = Segment((numbered,), segment.avoid)
    return segments


def _watched(guide: Guide, places: Places, program: Program) -> Watched:
    watched = Watched()
    for number, waypoint in enumerate(guide.waypoints):
        if waypoint.kind is Kind.TARGET:
            if waypoint.location.line:
                places.file_of(waypoint.location)
            continue
        has_expression = waypoint.kind in (Kind.ASSUMPTION, Kind.RETURN)
        if has_expression and waypoint.constraint.strip() not in ("", "1"):
            watched.constraints[number] = parse(waypoint.constraint, program.data_model)
        for key in places.resolve(waypoint):
            match waypoint.kind:
                case Kind.ASSUMPTION:
                    watched.assumptions.setdefault(key, []).append(number)
                case Kind.BRANCHING:
                    way = waypoint.constraint == "true"
                    watched.branches.setdefault(key, []).append((number, way))
                case Kind.RETURN:
                    watched.returns.setdefault(key, []).append(number)
                case Kind.ENTER:
                    table = watched.creations if waypoint.creates else watched.calls
                    table.setdefault(key, []).append(number)
    return watched


def _unnamed(guide: Guide) -> str:
    """The name of a thread that a waypoint has and nobody creates before it."""
    known = {MAIN, ""}
    for avoid, follow in zip(guide.avoid, guide.follow, strict=True):
        for number in (*avoid, *follow):
            waypoint: Waypoint = guide.waypoints[number]
            if waypoint.thread not in known:
                return waypoint.thread.removeprefix("t")
        known |= {guide.waypoints[number].creates for number in follow}
    return ""
