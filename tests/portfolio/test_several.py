"""Properties of which some are checked by one engine only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import plait
from plait.evidence.result import Result
from plait.portfolio.options import Options
from plait.portfolio.several import groups, verify_groups
from plait.portfolio.status import Status, Watch

ALL = ("assertions", "no-data-race", "no-deadlock")


def asking(*properties: str, **choices: object) -> Options:
    return replace(Options(programs=("a.c",), property=properties), **choices)  # type: ignore[arg-type]


def properties_of(options: Options) -> list[tuple[str, ...]]:
    return [item.property for item in groups(options)]


class TestGroups:
    def test_by_the_engines_that_check_them(self) -> None:
        asked = asking(*ALL, "unreach-call", error_function=("broken",))
        first, second = groups(asked)
        assert first == replace(
            asked, property=("no-data-race", "no-deadlock"), error_function=()
        )
        assert second == replace(asked, property=("assertions", "unreach-call"))

    def test_of_a_property_file(self, tmp_path: Path) -> None:
        path = tmp_path / "both.prp"
        path.write_text(
            "CHECK( init(begin()), LTL(G ! call(oops())) )\n"
            "CHECK( init(begin()), LTL(G ! data-race) )\n"
        )
        first, second = groups(Options(programs=("a.c",), prp=str(path)))
        assert (first.property, first.error_function) == (("no-data-race",), ())
        assert (second.property, second.error_function) == (("unreach-call",), ("oops",))
        assert {(item.prp, item.entry) for item in (first, second)} == {(None, "begin")}

    @pytest.mark.parametrize("properties", [(), ("assertions", "no-overflow"), ("no-deadlock",)])
    def test_one_question(self, properties: tuple[str, ...]) -> None:
        asked = asking(*properties)
        assert groups(asked) == [asked]

    @pytest.mark.parametrize(
        "choices", [{"engine": "orders"}, {"unwind": 3}, {"certificate": True}]
    )
    def test_an_engine_that_has_to_answer_all(self, choices: dict[str, object]) -> None:
        asked = asking(*ALL, **choices)
        assert groups(asked) == [asked]


class Engine:
    """Answers as it is told, and remembers what it was asked."""

    def __init__(self, *answers: tuple[str, str], seconds: Callable[[], None] = lambda: None):
        self.answers = list(answers)
        self.asked: list[Options] = []
        self._takes_time = seconds

    def __call__(self, options: Options, watch: Watch | None) -> Result:
        self.asked.append(options)
        self._takes_time()
        verdict, reason = self.answers.pop(0)
        if watch is not None:
            watch(Status(1.0, options.timeout, 0, None, "alone", ()))
        return Result(
            "0",
            ["a.c"],
            "main",
            "LP64",
            list(options.property),
            f"engine{len(self.asked)}",
            verdict,
            reason,
            words=[reason],
            assumptions=["always", reason],
            statistics={"cpu_seconds": 2.0, "wall_seconds": 1.0, "peak_memory_bytes": 5},
            noise={f"engine{len(self.asked)}": "..."},
        )


def verified(engine: Engine, watch: Watch | None = None, **choices: object) -> Result:
    whole = asking(*ALL, **choices)
    return verify_groups(whole, groups(whole), watch, engine)


def test_all_hold() -> None:
    result = verified(Engine(("true", "one"), ("true", "two")))
    assert result.verdict == "true"
    assert result.properties == sorted(ALL)
    assert result.arguments == [part for name in ALL for part in ("--property", name)]
    assert result.reason == "no-data-race, no-deadlock: one; assertions: two"
    assert result.engine == "engine1 and engine2"
    assert result.words == ["one", "two"]
    assert result.assumptions == ["always", "one", "two"]
    assert result.statistics == {"cpu_seconds": 4.0, "wall_seconds": 2.0, "peak_memory_bytes": 5}
    assert result.noise.keys() == {"engine1", "engine2"}


@pytest.mark.parametrize(("first", "second"), [("true", "unknown"), ("unknown", "true")])
def test_one_is_not_decided(first: str, second: str) -> None:
    result = verified(Engine((first, "one"), (second, "two")))
    assert result.verdict == "unknown"
    expected = "assertions: two" if first == "true" else "no-data-race, no-deadlock: one"
    assert result.reason == expected
    assert result.properties == sorted(ALL)


def test_a_violation_is_the_answer_at_once() -> None:
    engine = Engine(("false", "they race"))
    result = verified(engine)
    assert (result.verdict, result.reason) == ("false", "they race")
    assert result.properties == ["no-data-race", "no-deadlock"]  # what its model was made for
    assert len(engine.asked) == 1


def test_a_violation_counts_behind_an_unknown() -> None:
    result = verified(Engine(("unknown", "no idea"), ("false", "assertion")))
    assert (result.verdict, result.properties) == ("false", ["assertions"])
    assert result.statistics["wall_seconds"] == 2.0


def test_an_interrupt_ends_all() -> None:
    engine = Engine(("unknown", "interrupted; no bound"))
    result = verified(engine)
    assert result.verdict == "unknown"
    assert result.reason.startswith("interrupted; ")
    assert len(engine.asked) == 1


def test_shares_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])

    def takes_time() -> None:
        now[0] += 4.03

    seen: list[Status] = []
    engine = Engine(("unknown", "one"), ("unknown", "two"), seconds=takes_time)
    verified(engine, seen.append, timeout=60.0)
    assert [item.timeout for item in engine.asked] == [30.0, 55.9]
    assert [(item.seconds, item.seconds_left) for item in seen] == [(1.0, 59.0), (5.03, 54.97)]


def test_no_time_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])

    def takes_time() -> None:
        now[0] += 70.0

    engine = Engine(("unknown", "one"), ("unknown", "two"), seconds=takes_time)
    verified(engine, timeout=60.0)
    assert [item.timeout for item in engine.asked] == [30.0, 0.01]


SPINNING = """
#include <assert.h>
#include <pthread.h>
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int sum;
void *work(void *unused) {
  for (;;) {
    pthread_mutex_lock(&lock);
    sum = sum == 3 ? 0 : sum + 1;
    assert(sum <= LIMIT);
    pthread_mutex_unlock(&lock);
  }
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, work, 0);
  work(0);
}
"""


@pytest.mark.parametrize(("limit", "verdict"), [("3", "true"), ("2", "false")])
def test_real_engines(limit: str, verdict: str, tmp_path: Path) -> None:
    path = tmp_path / "spinning.c"
    path.write_text(SPINNING)
    properties = ("assertions", "no-data-race")
    result = plait.verify(path, property=properties, defines=[f"LIMIT={limit}"], timeout=600)
    assert result.verdict == verdict, result.reason
    assert result.properties == (sorted(properties) if verdict == "true" else ["assertions"])
