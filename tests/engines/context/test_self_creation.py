"""Threads that start threads like themselves: nobody is the one that it starts."""

from __future__ import annotations

from pathlib import Path

from tests.engines.context.pairs import loaded

from plait.analysis.sharing import sharing_of
from plait.engines.context import ghosts
from plait.engines.context.invariants import Invariants
from plait.engines.context.subject import ContextPrecision
from plait.engines.context.templates import Templates
from plait.engines.context.variables import Variables
from plait.logic.terms import Terms
from plait.model.properties import from_names
from plait.symbolic.execute import Executor
from plait.symbolic.knowledge import Knowledge

_TEXT = """
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int x;
void *run(void *unused) {
  pthread_t thread;
  int more = __VERIFIER_nondet_int();
  pthread_mutex_lock(&mutex);
  if (more) pthread_create(&thread, 0, run, 0);
  x = 1;
  pthread_mutex_unlock(&mutex);
  return 0;
}
int main(void) {
  pthread_t thread;
  while (MORE) pthread_create(&thread, 0, run, 0);
  return 0;
}
"""


def test_a_thread_is_not_the_one_that_it_starts(tmp_path: Path) -> None:
    """What the creator knows of itself, its number and its own variables, says nothing of the new
    thread."""
    specification = from_names(["assertions"])
    program = loaded(_TEXT, tmp_path, specification)
    sharing = sharing_of(program)
    terms = Terms()
    knowledge = Knowledge(program, sharing, ContextPrecision(frozenset()))
    executor = Executor(knowledge, terms, specification)
    templates = Templates(program, sharing, knowledge, executor, terms, None, 100)
    ghosts.add_owners(templates, terms)
    variables = Variables(templates, terms)
    invariants = Invariants(templates, variables, terms, lambda variable: 0, None)
    creations = 0
    for obligation in invariants._beginnings():
        [(place, creator)] = obligation.sources
        if place[0] != obligation.target[0]:
            continue
        creations += 1
        itself = terms.constant(creator.number, 32)
        assert obligation.post(terms.eq(variables.myself, itself)) == terms.false
        changed = [
            variable
            for variable in obligation.step.updates
            if templates.is_own(variable, templates.all[place[0]])
        ]
        assert changed
        for variable in changed:
            zero = terms.constant(0, terms.width[variable])
            assert obligation.post(terms.eq(variable, zero)) is None
    assert creations
