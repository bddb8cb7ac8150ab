"""Facts on their way from the static checks to the engines."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.portfolio.team import FakeTeam

import plait
from plait.engines.interface import Answer, Listener, Outcome, Question
from plait.model.facts import Range, Rounds, Unreachable, encode
from plait.portfolio.facts import Known, tell
from plait.work.child import Channel

# Not proved by static checks, which know how often the loop goes round and what `limit` is.
LOOP = """
#include <assert.h>
int sum, limit = 6;
int main(void) {
  int n = 0;
  while (n < limit) { sum = sum + 1; n = n + 1; }
  assert(sum == 5);
}
"""


@pytest.fixture
def loop(tmp_path: Path) -> Path:
    path = tmp_path / "loop.c"
    path.write_text(LOOP)
    return path


def test_orders_unrolls_a_loop_as_far_as_static_checks_say(loop: Path) -> None:
    alone = plait.verify(loop, engine="orders", cache=False)
    assert (alone.verdict, alone.bound) == ("false", 8)
    helped = plait.verify(loop, cache=False)
    assert (helped.verdict, helped.engine, helped.bound) == ("false", "orders", 1)


def test_both_engines_get_what_static_checks_have_proved(
    loop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(question: Question, listener: Listener) -> Outcome:
        return Outcome(Answer.UNKNOWN, _shown(question.known()))

    for engine in ("orders", "impact", "context", "explicit"):
        monkeypatch.setattr(f"plait.engines.{engine}.answer.answer", answer)
    result = plait.verify(loop, cache=False)
    of_orders, rest = result.reason.split("; impact: ")
    of_impact, _ = rest.split("; context: ")
    assert of_orders.removeprefix("orders: ") == of_impact
    assert "6 <= limit <= 6" in of_impact
    assert "at most 6 rounds" in of_impact


def _shown(facts: tuple[object, ...]) -> str:
    return ", ".join(map(str, facts))


def test_known_from_the_beginning_and_told_later() -> None:
    first, own, told = Range("x", 0, 4, True, 0, 7), Unreachable("f", 3), Rounds("f", 1, 2)
    channel = Channel(print)
    known = Known(encode([first]), channel)
    known.add([own])
    assert set(known()) == {first, own}
    team = FakeTeam()
    tell(team, "impact", encode([told]))
    channel.inbox.extend(message for _, message in team.told)
    assert set(known()) == set(known()) == {first, own, told}
