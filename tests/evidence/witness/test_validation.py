"""What the validator says about witnesses that are not as plait writes them."""

from __future__ import annotations

import random
import time
from dataclasses import replace
from pathlib import Path

import pytest
from tests.evidence.witness.support import Violated, violated_text

from plait.evidence.validation.search import Confirmation, Found
from plait.evidence.validation.validate import validate
from plait.evidence.witness.content import (
    Format,
    Kind,
    Location,
    Producer,
    Segment,
    Task,
    ViolationWitness,
    Waypoint,
)
from plait.evidence.witness.read import from_text
from plait.evidence.witness.write import to_witness
from plait.semantics.run import run

_WRITER = """\
#include <assert.h>
#include <pthread.h>
int x;
void *writer(void *unused) {
  x = 1;
  x = 2;
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, writer, 0);
  int seen = x;
  if (seen == 1) {
    assert(0);
  }
  pthread_join(t, 0);
  return 0;
}
"""
_BRANCHES = """\
#include <assert.h>
extern int __VERIFIER_nondet_int(void);
extern _Bool __VERIFIER_nondet_bool(void);
int main(void) {
  int a = __VERIFIER_nondet_int(), n = 0;
  _Bool b = __VERIFIER_nondet_bool();
  if (!(a == 77 || b))
    n = 1;
  else if (a == 77 && !b)
    n = 2;
  assert(n != 1 && a != 77);
  return 0;
}
"""


def _witness(*segments: Segment, form: Format = Format.YAML_2_2) -> ViolationWitness:
    task = Task(("program.c",), ("",), "CHECK( init(main()), LTL(G assert) )", "LP64")
    return ViolationWitness(form, task, Producer("test", "1"), segments)


def _point(
    kind: Kind, line: int, constraint: str = "", thread: str = "0", column: int = 0
) -> Segment:
    location = Location("program.c", line, column)
    return Segment((Waypoint(kind, location, constraint, thread),))


def _validated(found: Violated, witness: ViolationWitness) -> Found:
    return validate(found.program, found.specification, witness, deadline=time.monotonic() + 10)


@pytest.fixture(scope="module")
def writer(tmp_path_factory: pytest.TempPathFactory) -> Violated:
    return violated_text(tmp_path_factory.mktemp("writer"), _WRITER)


@pytest.fixture(scope="module")
def branches(tmp_path_factory: pytest.TempPathFactory) -> Violated:
    return violated_text(tmp_path_factory.mktemp("branches"), _BRANCHES)


_CREATE = _point(Kind.ENTER, 11)
_TARGET = _point(Kind.TARGET, 14)


def test_the_target_alone_is_enough(writer: Violated) -> None:
    assert _validated(writer, _witness(_TARGET)).answer is Confirmation.CONFIRMED


def test_where_a_thread_comes_to_between_its_accesses(writer: Violated) -> None:
    """The thread stands before line 6 all the time that x is 1."""
    for constraint in ("1", "x == 1", "x < 2 && x > 0"):
        witness = _witness(_CREATE, _point(Kind.ASSUMPTION, 6, constraint, "1"), _TARGET)
        assert _validated(writer, witness).answer is Confirmation.CONFIRMED


def test_no_execution_is_as_the_witness_says(writer: Violated) -> None:
    for line, constraint in ((6, "x == 0"), (7, "x == 1"), (6, "x == 5")):
        witness = _witness(_CREATE, _point(Kind.ASSUMPTION, line, constraint, "1"), _TARGET)
        assert _validated(writer, witness).answer is Confirmation.REJECTED


def test_order_counts(writer: Violated) -> None:
    end_of_writer = _point(Kind.ASSUMPTION, 7, "1", "1")
    after_reading = _point(Kind.BRANCHING, 13, "true")
    late = _witness(_CREATE, after_reading, end_of_writer, _TARGET)
    assert _validated(writer, late).answer is Confirmation.CONFIRMED
    early = _witness(_CREATE, end_of_writer, _point(Kind.ASSUMPTION, 12, "1"), _TARGET)
    found = _validated(writer, early)
    assert found.answer is Confirmation.REJECTED, found.reason


def test_avoided_waypoints(writer: Violated) -> None:
    avoid = Waypoint(Kind.BRANCHING, Location("program.c", 13), "true", "0")
    target = Segment(_TARGET.follow, (avoid,))
    assert _validated(writer, _witness(_CREATE, target)).answer is Confirmation.REJECTED
    other = replace(avoid, constraint="false")
    target = Segment(_TARGET.follow, (other,))
    assert _validated(writer, _witness(_CREATE, target)).answer is Confirmation.CONFIRMED


def test_places_that_do_not_exist(writer: Violated) -> None:
    assert _validated(writer, _witness(_point(Kind.TARGET, 99))).answer is Confirmation.REJECTED
    elsewhere = Segment((Waypoint(Kind.TARGET, Location("other.c", 14), thread="0"),))
    assert _validated(writer, _witness(elsewhere)).answer is Confirmation.REJECTED
    nobody = _witness(_point(Kind.ASSUMPTION, 5, "1", "7"), _TARGET)
    assert _validated(writer, nobody).answer is Confirmation.REJECTED
    wrong_line = _witness(_point(Kind.TARGET, 16))
    assert _validated(writer, wrong_line).answer is Confirmation.REJECTED
    wrong_thread = _witness(_CREATE, Segment((replace(_TARGET.follow[0], thread="1"),)))
    assert _validated(writer, wrong_thread).answer is Confirmation.REJECTED


def test_what_cannot_be_evaluated_is_unknown(writer: Violated) -> None:
    for constraint in ("f(x)", "*p == 1", "nobody == 1", "x == ", "((((((((", "x / 0"):
        witness = _witness(_CREATE, _point(Kind.ASSUMPTION, 6, constraint, "1"), _TARGET)
        assert _validated(writer, witness).answer is Confirmation.UNKNOWN


def test_negated_and_composed_conditions(branches: Violated) -> None:
    text = to_witness(branches.result, "2.2")
    assert "branching" in text
    witness = from_text(text, "witness")
    assert isinstance(witness, ViolationWitness)
    assert _validated(branches, witness).answer is Confirmation.CONFIRMED
    first = next(
        index
        for index, segment in enumerate(witness.segments)
        if segment.follow[0].kind is Kind.BRANCHING
    )
    for value in ("true", "false"):
        point = replace(witness.segments[first].follow[0], constraint=value)
        segments = list(witness.segments)
        segments[first] = Segment((point,))
        answer = _validated(branches, replace(witness, segments=tuple(segments))).answer
        is_same = value == witness.segments[first].follow[0].constraint
        assert (answer is Confirmation.CONFIRMED) is is_same


def test_inputs_come_from_the_witness(branches: Violated) -> None:
    """No exploration would guess 77."""
    witness = _witness(
        _point(Kind.RETURN, 5, "\\result == 77"),
        _point(Kind.BRANCHING, 7, "false"),
        _point(Kind.BRANCHING, 9, "true"),
        _point(Kind.TARGET, 11),
    )
    assert _validated(branches, witness).answer is Confirmation.CONFIRMED


def test_changed_witnesses_are_confirmed_only_if_they_replay(writer: Violated) -> None:
    text = to_witness(writer.result, "2.2")
    witness = from_text(text, "witness")
    assert isinstance(witness, ViolationWitness)
    dice = random.Random(5)
    answers = []
    for _ in range(60):
        segments = list(witness.segments)
        for _ in range(dice.randint(1, 2)):
            index = dice.randrange(len(segments) - 1)
            match dice.randrange(4):
                case 0:
                    del segments[index]
                case 1:
                    segments.insert(index, segments[dice.randrange(len(segments) - 1)])
                case 2:
                    point = segments[index].follow[0]
                    line = dice.randint(1, 17)
                    moved = replace(point, location=replace(point.location, line=line, column=0))
                    segments[index] = Segment((moved,))
                case 3:
                    point = segments[index].follow[0]
                    segments[index] = Segment((replace(point, thread=dice.choice("012")),))
            if len(segments) < 2:
                break
        found = _validated(writer, replace(witness, segments=tuple(segments)))
        answers.append(found.answer)
        if found.answer is Confirmation.CONFIRMED:
            assert found.schedule is not None
            execution = run(writer.program, writer.specification, schedule=found.schedule)
            assert execution.ending == "violation"
    assert Confirmation.REJECTED in answers


def test_formats_agree(writer: Violated, tmp_path: Path) -> None:
    for form in Format:
        witness = from_text(to_witness(writer.result, form.value), "witness")
        assert isinstance(witness, ViolationWitness)
        assert witness.format is form
        assert _validated(writer, witness).answer is Confirmation.CONFIRMED
