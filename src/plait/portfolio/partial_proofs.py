"""Several properties of one program, proved one by one, by one engine or by several: what each of
them has shown adds up to an answer.

A violation of any property is an answer by itself. For a proof each property has to hold; it does
not matter who has shown which.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from plait.data import dataclass, replace
from plait.engines.description import EngineDescription
from plait.portfolio.messages import Result

if TYPE_CHECKING:
    from plait.model.properties import Property, Specification


@dataclass(frozen=True, slots=True)
class PartialProof:
    """A proof of some properties."""

    properties: frozenset[str]
    engine: str
    result: Result

    def __post_init__(self) -> None:
        if self.result.verdict != "true" or not self.properties:
            raise ValueError("not a proof")


def names_of(specification: Specification) -> frozenset[str]:
    return frozenset(item.value for item in specification.properties)


def only(specification: Specification, properties: Iterable[Property]) -> Specification | None:
    """Some of its properties; None if it has none of them."""
    left = specification.properties & frozenset(properties)
    return replace(specification, properties=left) if left else None


def is_divisible(question: Specification) -> bool:
    """Whether its properties can be looked at one by one, in the same program. Where memory safety
    is one of them, locals never have the addresses of others that are gone, which an assertion may
    notice: only all of it together is the question."""
    from plait.model.properties import Property

    return Property.VALID_MEMSAFETY not in question


def checked_by(engine: EngineDescription, question: Specification) -> frozenset[Property]:
    """What an engine is asked beside others, which check the rest."""
    if question.memory_model.value not in engine.memory_models:
        return frozenset()
    known = frozenset(item for item in question.properties if item.value in engine.checks)
    if known == question.properties or is_divisible(question):
        return known
    return frozenset()


def together(parts: Sequence[PartialProof], asked: frozenset[str]) -> Result | None:
    """The proof of all that is asked; None if a part is missing. Numbers are those of the last
    part, the one that was waited for."""
    missing = asked
    used: list[PartialProof] = []
    for part in parts:
        if part.properties & missing:
            used.append(part)
            missing -= part.properties
    if missing or not used:
        return None
    engines = list(dict.fromkeys(part.engine for part in used))
    results = [part.result for part in used]
    if len(engines) == 1:
        reasons = [result.reason for result in results]
    else:
        reasons = [
            f"{', '.join(sorted(part.properties))} by {part.engine}: {part.result.reason}"
            for part in used
        ]
    bounds = [result.bound for result in results]
    return Result(
        "true",
        "; ".join(dict.fromkeys(reasons)),
        bound=None if None in bounds else max(bound for bound in bounds if bound is not None),
        statistics=results[-1].statistics,
        evidence={name: row for result in results for name, row in result.evidence.items()},
        certificate=results[0].certificate if len(results) == 1 else None,
        engine=" and ".join(engines),
        predicates=results[0].predicates if len(results) == 1 else None,
    )
