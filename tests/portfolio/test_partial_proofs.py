"""Several properties, to whose proof engines contribute what they can."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.portfolio.machines import PORTFOLIO
from tests.portfolio.test_run import ORDERS, Game

import plait
from plait.data import replace
from plait.engines import registry
from plait.model.properties import Specification, from_names
from plait.portfolio import run, worker
from plait.portfolio.job import Job
from plait.portfolio.messages import Holds, OutOfTime, Progress, Question, Result, encode
from plait.portfolio.options import Options
from plait.portfolio.partial_proofs import PartialProof, only, together
from plait.portfolio.worker import _conclusion, _left
from plait.portfolio.worker_state import WorkerState
from plait.work.child import Channel

BOTH = frozenset({"assertions", "no-deadlock"})


def part(*properties: str, engine: str = "orders", **result: Any) -> PartialProof:
    return PartialProof(frozenset(properties), engine, Result("true", f"by {engine}", **result))


class TestTogether:
    def test_nothing(self) -> None:
        assert together([], BOTH) is None
        assert together([], frozenset()) is None

    def test_a_part_is_missing(self) -> None:
        assert together([part("assertions"), part("no-data-race")], BOTH) is None

    @pytest.mark.parametrize("verdict", ["false", "unknown"])
    def test_only_proofs_count(self, verdict: str) -> None:
        with pytest.raises(ValueError):
            PartialProof(BOTH, "orders", Result(verdict, "because"))

    def test_of_one_engine(self) -> None:
        found = together([part("no-deadlock", bound=3), part("assertions", bound=2)], BOTH)
        assert found is not None
        assert (found.verdict, found.reason, found.engine) == ("true", "by orders", "orders")
        assert found.bound == 3

    def test_of_two(self) -> None:
        found = together(
            [
                part("no-deadlock", bound=3, statistics={"events": 1}),
                part("assertions", engine="impact", statistics={"nodes": 2}, evidence={"tree": []}),
            ],
            BOTH,
        )
        assert found is not None
        assert found.reason == "no-deadlock by orders: by orders; assertions by impact: by impact"
        assert found.engine == "orders and impact"
        assert (found.bound, found.statistics, found.evidence) == (None, {"nodes": 2}, {"tree": []})

    def test_what_adds_nothing_is_left_out(self) -> None:
        found = together(
            [part(*BOTH, engine="modular", predicates={}), part("assertions", engine="impact")],
            BOTH,
        )
        assert found is not None
        assert (found.engine, found.predicates) == ("modular", {})


def test_only() -> None:
    whole = from_names(["unreach-call", "no-data-race"], ["oops"])
    some = only(whole, from_names(["no-data-race", "no-deadlock"]).properties)
    assert some == Specification(from_names(["no-data-race"]).properties, frozenset({"oops"}))
    assert only(whole, from_names(["assertions"]).properties) is None


class TestWhatAnEngineIsAsked:
    def asked(self, options: Options, engine: str, *proofs: PartialProof) -> list[tuple[int, str]]:
        program: Any = None
        questions = [
            (from_names(["no-deadlock"]), program),
            (from_names(["assertions", "no-data-race"]), program),
        ]
        found = _left(options, registry.engine(engine), questions, [*proofs])
        return [(number, str(left)) for number, left, _ in found]

    def test_all(self) -> None:
        expected = [(0, "no-deadlock"), (1, "assertions, no-data-race")]
        assert self.asked(Options(), "orders") == expected
        # Whoever asks for one engine is told what it does not check.
        assert self.asked(Options(engine="impact"), "impact") == expected
        assert self.asked(Options(certificate=True), "impact") == expected

    def test_what_it_checks(self) -> None:
        assert self.asked(Options(), "traces") == [(1, "assertions")]
        assert self.asked(Options(engine="portfolio"), "traces") == [(1, "assertions")]

    @pytest.mark.parametrize("engine", ["orders", "impact"])
    def test_memory_safety_belongs_to_the_whole(self, engine: str) -> None:
        program: Any = None
        whole = from_names(["assertions", "valid-memsafety"])
        asked = registry.engine(engine)
        left = list(_left(Options(), asked, [(whole, program)], [part("valid-memsafety")]))
        assert [item[1] for item in left] == ([whole] if engine == "orders" else [])

    def test_what_is_not_proved_yet(self) -> None:
        assert self.asked(Options(), "orders", part("no-data-race"), part("no-deadlock")) == [
            (1, "assertions")
        ]


class TestConclusion:
    def test_a_violation_comes_first(self) -> None:
        bad, open_ = Result("false", "oops"), Result("unknown", "too hard")
        found = _conclusion("orders", [(0, open_), (1, bad)], [part("no-data-race")], BOTH)
        assert found == (1, bad)

    def test_what_is_open_is_never_proved(self) -> None:
        open_ = Result("unknown", "too hard")
        assert _conclusion("orders", [(0, open_)], [part(*BOTH)], BOTH) == (0, open_)

    def test_bounds(self) -> None:
        some, more = Result("unknown", "?", bound=3), Result("unknown", "?", bound=8)
        _, found = _conclusion("orders", [(0, more), (1, some)], [], BOTH)
        assert isinstance(found, Result)
        assert found.bound == 3
        _, found = _conclusion("orders", [(0, more), (1, OutOfTime({}))], [], BOTH)
        assert isinstance(found, Result)
        assert found.bound is None

    def test_a_proof(self) -> None:
        _, found = _conclusion("orders", [], [part("assertions"), part("no-deadlock")], BOTH)
        assert isinstance(found, Result)
        assert (found.verdict, found.engine) == ("true", "")

    def test_half_a_proof(self) -> None:
        _, found = _conclusion("impact", [], [part("assertions", engine="impact")], BOTH)
        assert isinstance(found, Result)
        assert found.verdict == "unknown"
        assert found.reason == "proved assertions, does not check no-deadlock"


class TestSupervisor:
    def says_holds(
        self, game: Game, engine: str, *properties: str, about: str = "a.c as it is"
    ) -> bool:
        game.says(engine, Question("main", sorted(BOTH), [], {}))
        proof = encode(Result("true", f"by {engine}"))
        return game.says(engine, Holds([*properties], engine, proof, about, "key"))

    def test_another_program(self, monkeypatch: pytest.MonkeyPatch) -> None:
        game = Game(monkeypatch, PORTFOLIO)
        assert not self.says_holds(game, "orders", "no-deadlock")
        assert not self.says_holds(game, "impact", "assertions", about="a.c after an edit")
        assert game.portfolio.proof is None

    def test_another_question(self, monkeypatch: pytest.MonkeyPatch) -> None:
        game = Game(monkeypatch, PORTFOLIO)
        game.says("impact", Question("main", ["no-overflow"], [], {}))
        proof = encode(Result("true", "because"))
        assert not game.says("impact", Holds(sorted(BOTH), "impact", proof, "a.c", "key"))
        assert game.portfolio.proof is None

    def test_parts_add_up(self, monkeypatch: pytest.MonkeyPatch) -> None:
        game = Game(monkeypatch, PORTFOLIO)
        assert not self.says_holds(game, "orders", "no-deadlock")
        assert game.portfolio.proof is None
        assert self.says_holds(game, "impact", "assertions")
        portfolio = game.portfolio
        engine, _, answer = run._answer(portfolio._options, portfolio.workers, {}, portfolio.proof)
        assert (engine, answer.verdict) == ("orders and impact", "true")

    def test_twice_the_same_is_not_all(self, monkeypatch: pytest.MonkeyPatch) -> None:
        game = Game(monkeypatch, PORTFOLIO)
        assert not self.says_holds(game, "orders", "assertions")
        assert not self.says_holds(game, "impact", "assertions")
        assert game.portfolio.proof is None

    @pytest.mark.parametrize(
        "other", [Result("unknown", "?", failure={"plan": {}}), Result("false", "oops")]
    )
    def test_doubt_and_violations_come_first(
        self, other: Result, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        game = Game(monkeypatch, PORTFOLIO)
        self.says_holds(game, "orders", *BOTH)
        game.says("impact", other)
        portfolio = game.portfolio
        _, _, answer = run._answer(portfolio._options, portfolio.workers, {}, portfolio.proof)
        assert answer.verdict == other.verdict


class TestBounds:
    """What was examined of all properties, if each of them was looked at by itself."""

    def worker(self) -> WorkerState:
        worker = WorkerState("orders", 0.0)
        worker.receive(encode(Question("main", sorted(BOTH), [], {})))
        return worker

    def test_the_smallest_counts(self) -> None:
        worker = self.worker()
        assert worker.bound is None
        worker.receive(encode(Progress("", ORDERS, bound=8, properties=["assertions"])))
        assert worker.bound is None
        worker.receive(encode(Progress("", ORDERS, bound=1, properties=["no-deadlock"])))
        assert worker.bound == 1
        worker.receive(encode(Progress("", ORDERS, bound=9, properties=["assertions"])))
        assert worker.bound == 1

    def test_what_is_proved_has_no_bound(self) -> None:
        worker = self.worker()
        worker.receive(encode(Progress("", ORDERS, bound=1, properties=["no-deadlock"])))
        proof = encode(Result("true", "because"))
        worker.receive(encode(Holds(["assertions"], "orders", proof, "a.c", "")))
        assert worker.bound == 1
        worker.receive(encode(Holds(["no-deadlock"], "orders", proof, "a.c", "")))
        assert worker.bound is None


class Quick:
    """An engine that says what it is told to say."""

    answers: dict[str, Result | OutOfTime]

    def __init__(
        self, engine: Any, options: Options, specification: Specification, *rest: Any, **more: Any
    ) -> None:
        self.name = str(specification)

    def result(self, deadline: float | None, previous: Any) -> Result | OutOfTime:
        answer = self.answers[self.name]
        if answer.__class__ is Result and answer.reason == "crash":
            raise RuntimeError("oops")
        return answer


class TestWorker:
    def said(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, **answers: Result
    ) -> list[dict[str, Any]]:
        path = tmp_path / "a.c"
        path.write_text("int main(void) { return 0; }")
        Quick.answers = {name.replace("_", "-"): answer for name, answer in answers.items()}
        monkeypatch.setattr(worker, "EngineRun", Quick)
        options = Options(programs=(str(path),), property=tuple(BOTH), cache=False)
        rows: list[dict[str, Any]] = []
        worker.work(options, Job("orders"), None, Channel(rows.append))
        return rows[2:]

    def test_doubt_comes_at_once(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        doubt = Result("unknown", "does not replay", failure={"plan": {}})
        proof = Result("true", "because")
        (row,) = self.said(monkeypatch, tmp_path, no_deadlock=doubt, assertions=proof)
        assert row["kind"] == "Result"
        assert row["failure"] == {"plan": {}}

    def test_a_mistake_in_one_question(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        crash = Result("unknown", "crash")
        proof = Result("true", "because")
        holds, result = self.said(monkeypatch, tmp_path, no_deadlock=crash, assertions=proof)
        assert (holds["kind"], holds["properties"]) == ("Holds", ["assertions"])
        assert len(holds["about"]) == 64
        assert result["verdict"] == "unknown"
        assert result["reason"].startswith("internal error: RuntimeError")
        assert result["failure"]["traceback"]

    def test_all_hold(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        proof = Result("true", "because", bound=2)
        holds, result = self.said(monkeypatch, tmp_path, no_deadlock=proof, assertions=proof)
        assert (holds["kind"], holds["properties"]) == ("Holds", ["no-deadlock"])
        assert (result["verdict"], result["bound"], result["engine"]) == ("true", 2, "")


SPINNING = """
#include <assert.h>
#include <pthread.h>
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int sum, up = 1;
void *work(void *unused) {
  for (;;) {
    pthread_mutex_lock(&lock);
    sum += up ? 1 : -1;
    up = !up;
    assert(sum != 2);
    pthread_mutex_unlock(&lock);
#ifdef RACE
    up = up;
#endif
  }
}
int main(void) {
  pthread_t thread;
#ifdef FAILS
  up = 0, sum = 3;
#endif
  pthread_create(&thread, 0, work, 0);
  work(0);
}
"""


class TestRealEngines:
    def verified(self, tmp_path: Path, *names: str, defines: tuple[str, ...] = ()) -> plait.Result:
        path = tmp_path / "spinning.c"
        path.write_text(SPINNING)
        return plait.verify(path, property=names, defines=defines, timeout=600)

    def test_proved_by_two(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        """Without the engines that prove both."""
        names = ("assertions", "no-data-race")
        impact = registry.engine("impact")
        checks = impact.checks - {"no-data-race"}
        engines = {name: registry.engine(name) for name in ("modular", "orders")}
        engines["impact"] = replace(impact, proves=checks, refutes=checks)
        monkeypatch.setattr(registry, "_ENGINES", engines)
        result = self.verified(tmp_path, *names)
        assert (result.verdict, result.engine) == ("true", "modular and impact"), result.reason
        assert result.properties == [*names]
        assert result.assumptions
        assert result.reason.startswith("no-data-race by modular: ")
        again = self.verified(tmp_path, *names)
        assert (again.verdict, again.engine) == ("true", "modular and impact")
        assert again.cached is not None

    @pytest.mark.parametrize(
        ("define", "violated"), [("FAILS", "assertions"), ("RACE", "no-data-race")]
    )
    def test_violations_of_each(self, define: str, violated: str, tmp_path: Path) -> None:
        result = self.verified(tmp_path, "assertions", "no-data-race", defines=(define,))
        assert (result.verdict, result.violated) == ("false", violated), result.reason
