"""Rule R: no two threads race: what they are about to access at their places is not the same, or
they cannot be there at the same time."""

from __future__ import annotations

from plait.certificates.outcomes import Ending, StepOutcome
from plait.certificates.races import racing
from plait.certificates.state import Access
from plait.certificates.templates.pairs import Pairs, Standing
from plait.certificates.verdicts import Rejected


def check_races(pairs: Pairs, standing: list[Standing]) -> None:
    rows = [(item, _made(pairs, item)) for item in standing if not item.place.is_alone]
    for position, (one, ours) in enumerate(rows):
        for other, theirs in rows[position:]:
            if pairs.may_exist(one, other):
                for mine, accesses in ours:
                    for outcome, others in theirs:
                        access = racing(accesses, others)
                        if access is not None and _meet(pairs, one, mine, other, outcome):
                            what = f"{one.words} and {other.words} race for {access.start:#x}"
                            raise Rejected(what, origin=access.origin)


def _made(pairs: Pairs, one: Standing) -> list[tuple[StepOutcome, list[Access]]]:
    """What the steps of a thread at a place access of what is shared, where they are made: also to
    the end of the process, or to an assumption that fails behind that."""
    assert one.step is not None
    found = []
    for outcome in one.step.outcomes:
        if outcome.ending is Ending.NOTHING and outcome.path.is_inside:
            continue
        accesses = [item for item in outcome.path.accesses if pairs.addresses.is_shared(item.start)]
        if accesses:
            found.append((outcome, accesses))
    if found and one.place.thread.depth:
        raise Rejected(f"{one.words}: an atomic section is not one step: its races are unknown")
    return found


def _meet(
    pairs: Pairs, one: Standing, mine: StepOutcome, other: Standing, theirs: StepOutcome
) -> bool:
    facts = pairs.together(mine.path.facts, one, other)
    if facts is None:
        return False
    return facts.with_all(map(pairs.renamed, theirs.path.facts.items)) is not None
