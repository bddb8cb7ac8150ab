"""The outcomes of a litmus test that the engine `orders` finds, from one formula: each of them is
executed in the reference interpreter, and that there are no others is proved."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from plait.data import replace
from plait.engines import registry
from plait.engines.interface import Counterexample, Question
from plait.engines.orders import engine
from plait.engines.orders.answer import settings_of
from plait.engines.orders.bounds import Bounds
from plait.engines.orders.learning import unroll
from plait.engines.orders.outcome import Statistics
from plait.errors import InputError
from plait.evidence.confirm import confirmed
from plait.evidence.counterexample import NotShown
from plait.evidence.replay import ReplayFailed
from plait.logic.terms import Terms
from plait.model.memory_model import MemoryModel
from plait.model.program import Program
from plait.model.properties import Specification, from_names
from plait.portfolio.subject import Subject, for_exploring, load_program

_CHOSEN = "OUTCOME=__VERIFIER_nondet_int()"  # an outcome violates the assertion if it is this one


def found_by_orders(file: Path, model: str, width: int) -> list[str]:
    """As `run.explored`."""
    names = ["assertions", "no-data-race"] if model == "c11" else ["assertions"]
    chosen = replace(from_names(names), memory_model=MemoryModel(model))
    program = load_program(Subject(programs=(str(file),), defines=(_CHOSEN,)), chosen, "main")
    chosen = for_exploring(program, chosen)

    def objection_to(found: Counterexample) -> str:
        try:
            confirmed(program, chosen, found)
        except (ReplayFailed, NotShown, InputError) as error:
            return f"it does not replay: {error}"
        return ""

    with searching(program, chosen) as (search, formula):
        unrolling, terms = formula.learned.unrolling, formula.learned.terms
        races = [claim for claim in unrolling.violations if claim.race is not None]
        race = engine.finished(search._search(formula, races))
        if race is not None:
            return [objection_to(search._counterexample(formula, race)) or "race"]
        outcomes: set[int] = set()
        while True:
            claim = engine.finished(search._search(formula, unrolling.violations))
            if claim is None:
                break
            example = search._counterexample(formula, claim)
            [(_, value)] = [row for rows in example.inputs.values() for row in rows]
            objection = objection_to(example)
            if objection or value in outcomes:
                return [objection or f"{value} once more"]
            outcomes.add(value)
            [use] = unrolling.inputs
            is_it = terms.eq(use.term, terms.constant(value, use.type.bits))
            formula.solver.add_clause([-formula.solver.literal_of(is_it)])
        for claims in (unrolling.troubles, unrolling.cuts):
            claim = engine.finished(search._search(formula, claims))
            if claim is not None:
                return [f"{claim.what}: {claim.message}"]
    return [f"{outcome:0{width}}" for outcome in sorted(outcomes)]


@contextmanager
def searching(
    program: Program, chosen: Specification
) -> Iterator[tuple[engine._Round, engine._Formula]]:
    """The engine with the formula of a program whose loops have one round."""
    options = registry.engine("orders").settings({})
    settings = settings_of(Question(program, chosen, settings=options))
    bounds = Bounds.same(1)
    search = engine._Round(program, bounds, settings, Statistics(), None, None)
    with ExitStack() as stack:
        learned = unroll(program, Terms(), bounds, memory_model=settings.memory_model)
        yield search, search._encoded(learned, stack)
