"""After an edit: the counterexample of the run before is tried first, and believed only if the
interpreter shows it in the changed program."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.portfolio.machines import AUTO
from tests.portfolio.test_cache import EXAMPLES, LOCKED, verify

import plait
from plait.evidence.portable_schedule import (
    PortableSchedule,
    follow,
    from_data,
    portable_schedule_of,
    to_data,
)
from plait.model.program import Program
from plait.model.properties import Specification
from plait.portfolio.options import Options
from plait.portfolio.store import Store
from plait.portfolio.subject import load_program, specification
from plait.semantics.run import run

UNRELATED = """
static int unrelated;
static void more(int rounds) { for (int i = 0; i < rounds; i++) unrelated += i; }
"""
INPUT = """
#include <assert.h>
#include <pthread.h>
int key, seen;
int __VERIFIER_nondet_int(void);
void *set(void *unused) { key = __VERIFIER_nondet_int(); seen = 1; return 0; }
int main(void) {
  pthread_t one;
  pthread_create(&one, 0, set, 0);
  if (seen) assert(key != 123456);
  return 0;
}
"""

QUESTIONS: list[tuple[str, dict[str, Any]]] = [
    ("counter_race.c", {}),
    ("counter_race.c", {"property": "no-data-race"}),
    ("deadlock.c", {"property": "no-deadlock"}),
    ("deadlock.c", {"property": ("no-deadlock", "assertions")}),
]


def edited(text: str) -> str:
    """Lines move, steps are added, the program does the same."""
    text = text.replace("int main(void) {", "int main(void) {\n  more(3);", 1)
    return UNRELATED + "/* a remark */\n" + text


@pytest.mark.parametrize(("example", "choices"), QUESTIONS)
def test_the_same_error_is_found_in_an_edited_program(
    example: str, choices: dict[str, Any], tmp_path: Path
) -> None:
    path = tmp_path / example
    text = (EXAMPLES / example).read_text()
    path.write_text(text)
    first = verify(path, **choices)
    path.write_text(edited(text))
    second = verify(path, **choices)
    assert first.verdict == second.verdict == "false"
    assert second.violated == first.violated
    assert second.cached is not None and second.cached["edited"] is True
    assert any("in the changed program, too" in line for line in second.words)
    assert [thread.function for thread in second.threads] == [
        thread.function for thread in first.threads
    ]
    again = verify(path, **choices)
    assert again.cached is not None and "edited" not in again.cached
    assert again.trace == second.trace


def test_inputs_are_remembered(tmp_path: Path) -> None:
    path = tmp_path / "input.c"
    path.write_text(INPUT)
    assert verify(path).verdict == "false"
    path.write_text(edited(INPUT))
    result = verify(path)
    assert result.cached is not None
    assert [item.value for item in result.inputs] == ["123456"]


def test_a_repaired_program_is_proved(tmp_path: Path) -> None:
    path = tmp_path / "program.c"
    broken = LOCKED.replace("pthread_mutex_lock(&lock);", "").replace(
        "pthread_mutex_unlock(&lock);", ""
    )
    path.write_text(broken)
    assert verify(path).verdict == "false"
    path.write_text(LOCKED)
    result = verify(path)
    assert (result.verdict, result.cached) == ("true", None)
    # The counterexample is still known when the error comes back in other words.
    path.write_text(edited(broken))
    result = verify(path)
    assert result.verdict == "false" and result.cached is not None


def test_another_question_has_another_history(tmp_path: Path) -> None:
    path = tmp_path / "program.c"
    text = (EXAMPLES / "counter_race.c").read_text()
    path.write_text(text)
    verify(path, property="no-data-race")
    path.write_text(edited(text))
    assert verify(path).cached is None


def test_without_the_cache_nothing_is_followed(tmp_path: Path) -> None:
    path = tmp_path / "program.c"
    text = (EXAMPLES / "counter_race.c").read_text()
    path.write_text(text)
    verify(path)
    path.write_text(edited(text))
    assert verify(path, cache=False).cached is None


# --- portable schedules


def loaded(text: str, path: Path, **about: Any) -> tuple[Specification, Program]:
    path.write_text(text)
    options = Options(programs=(str(path),), **about)
    chosen, entry = specification(options)
    return chosen, load_program(options, chosen, entry)


def test_a_portable_schedule_leads_back_to_its_schedule(tmp_path: Path) -> None:
    chosen, program = loaded((EXAMPLES / "counter_race.c").read_text(), tmp_path / "a.c")
    failing = next(
        found
        for seed in range(200)
        if (found := run(program, chosen, seed=seed)).ending == "violation"
    )
    portable = portable_schedule_of(program, chosen, failing.schedule)
    assert portable is not None
    assert from_data(json.loads(json.dumps(to_data(portable)))) == portable
    schedule = follow(program, chosen, portable, deadline=float("inf"))
    assert schedule is not None
    assert run(program, chosen, schedule=schedule).ending == "violation"
    assert len(schedule) == len(failing.schedule)


def test_no_time_is_no_schedule(tmp_path: Path) -> None:
    chosen, program = loaded((EXAMPLES / "counter_race.c").read_text(), tmp_path / "a.c")
    assert follow(program, chosen, PortableSchedule((), {}), deadline=0.0) is None


SMALL = st.integers(-1, 5)
STANDS = st.tuples(
    st.sampled_from(["main", "add", "pthread_mutex_lock"]),
    st.sampled_from(["", "counter = counter + 1;", "add(0);"]),
    SMALL,
    st.just(""),
)
TURNS = st.tuples(SMALL, SMALL, st.none() | STANDS.map(list), SMALL).map(list)
ITINERARIES = st.fixed_dictionaries(
    {
        "turns": st.lists(TURNS, max_size=8) | st.none() | SMALL,
        "inputs": st.lists(st.tuples(SMALL, st.lists(st.tuples(st.text(), SMALL)))),
        "racing": st.none() | st.tuples(SMALL, SMALL) | st.text(),
        "is_deadlock": st.booleans() | st.none(),
    }
)


@settings(deadline=None, max_examples=60, suppress_health_check=list(HealthCheck))
@given(
    ITINERARIES | st.text() | st.none() | st.lists(SMALL),
    st.sampled_from(["assertions", "no-data-race", "no-deadlock"]),
)
def test_no_portable_schedule_finds_an_error_that_is_not_there(
    tmp_path: Path, data: Any, name: str
) -> None:
    from plait.portfolio.previous import Previous, follow_previous

    question = loaded(LOCKED, tmp_path / "locked.c", property=(name,))
    counterexample = {"portable schedule": json.loads(json.dumps(data)), "cached": None}
    assert follow_previous(Previous(counterexample), [question], None) is None


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"counterexample": 5, "proof": []},
        {"counterexample": {}, "proof": {}},
        {"counterexample": {"portable schedule": {"turns": "x"}}, "proof": {"labels": 7}},
        {"proof": {"labels": [None, 1, "x", [], {}, [[]], {"terms": 0}]}},
    ],
)
@pytest.mark.parametrize("engine", ["auto", "impact"])
def test_a_strange_history_changes_nothing(
    data: dict[str, Any], engine: str, tmp_path: Path, cache_folder: Path
) -> None:
    path = tmp_path / "program.c"
    path.write_text((EXAMPLES / "counter_race.c").read_text())
    verify(path, engine=engine)
    (entry,) = cache_folder.glob("edit-*.json")
    store = Store.open(cache_folder)
    assert store is not None and store.put(entry.stem, data)
    path.write_text(LOCKED)
    result = plait.verify(path, engine=engine)
    assert (result.verdict, result.cached, result.failure) == ("true", None, None)


# --- proofs


def test_a_proof_helps_the_next_one(tmp_path: Path) -> None:
    from plait.cli.main import main

    path, saved = tmp_path / "peterson.c", tmp_path / "proof.json"
    text = (EXAMPLES / "peterson.c").read_text()
    path.write_text(text)
    first = verify(path, engine="impact")
    path.write_text(edited(text))
    second = verify(path, engine="impact", certificate=True)
    assert (first.verdict, second.verdict, second.cached) == ("true", "true", None)
    assert second.statistics["suggested"] > 0
    assert second.statistics["refinements"] < first.statistics["refinements"]
    assert second.certificate is not None
    saved.write_text(second.certificate)
    assert main(["check", str(saved), str(path)]) == 0


def test_a_proof_does_not_hide_a_new_error(tmp_path: Path) -> None:
    path = tmp_path / "peterson.c"
    text = (EXAMPLES / "peterson.c").read_text()
    path.write_text(text)
    verify(path, engine="impact")
    broken = text.replace("atomic_store(&turn, other);", "")
    assert broken != text
    path.write_text(broken)
    assert verify(path, engine="impact").verdict == "false"


def test_the_engine_of_the_last_proof_starts_at_once() -> None:
    from plait.portfolio.strategy import Event

    following = AUTO.states[AUTO.start].next[Event.PROVED_BEFORE]
    assert "impact" in AUTO.states[following].starts
