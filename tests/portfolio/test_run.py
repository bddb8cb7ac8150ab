"""The portfolio with a team that is made up, and with real processes."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from tests.cli.test_live import HARD
from tests.portfolio.machines import AUTO, PORTFOLIO
from tests.portfolio.team import FakeTeam
from tests.work.processes import children, state

from plait.model.facts import Rounds
from plait.model.facts import encode as encode_facts
from plait.portfolio import run
from plait.portfolio.job import Job
from plait.portfolio.messages import (
    Checking,
    Failed,
    Features,
    Loaded,
    Message,
    OutOfTime,
    Progress,
    Proved,
    Result,
    encode,
)
from plait.portfolio.options import Options
from plait.portfolio.run import _Portfolio
from plait.portfolio.status import Status
from plait.portfolio.strategy import Machine
from plait.work.child import Work
from plait.work.limits import Ending, Finish

needs_proc = pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="needs /proc")
DONE = Finish(Ending.FINISHED)
ORDERS = {"events": 12, "clauses": 3456}
IMPACT = {"nodes": 9, "open_nodes": 2, "covers": 5, "uncovered": 1, "refinements": 1}


class Game:
    """What the portfolio does when this and that happens."""

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, machine: Machine = AUTO, **choices: Any
    ) -> None:
        self.now = 100.0
        monkeypatch.setattr(time, "monotonic", lambda: self.now)
        self.jobs: list[Job] = []
        monkeypatch.setattr(run, "work_of", self._work_of)
        self.statuses: list[Status] = []
        options = Options(programs=("a.c",), **choices)
        asked = frozenset({"assertions", "no-deadlock"})
        self.portfolio = _Portfolio(options, machine, self.now, self.statuses.append, asked)
        self.team = FakeTeam()
        self.portfolio.begin(self.team)

    def _work_of(self, options: Options, job: Job, deadline: float | None) -> Work:
        self.jobs.append(job)
        return lambda channel: None

    def says(self, name: str, message: Message) -> bool:
        is_over = self.portfolio.hear(self.team, name, encode(message))
        self.portfolio.look(self.team)
        return is_over

    def ends(self, name: str, finish: Finish = DONE) -> None:
        self.team.stop(name)
        self.portfolio.ended(self.team, name, finish)
        self.portfolio.look(self.team)

    def waits(self, seconds: float) -> float:
        self.now += seconds
        return self.portfolio.look(self.team)

    def doing(self, name: str) -> str:
        self.waits(1.0)
        return next(item.doing for item in self.statuses[-1].engines if item.engine == name)


class TestStages:
    def test_bounded_programs(self, monkeypatch: pytest.MonkeyPatch) -> None:
        game = Game(monkeypatch, jobs=2, timeout=60)
        game.says("orders", Loaded([], []))
        assert game.team.started == ["orders"]
        game.says("orders", Features("BOUNDED"))
        game.waits(3.5)
        assert game.team.started == ["orders"]
        game.waits(1.0)
        assert game.team.started == ["orders", "explicit"]
        game.ends("explicit")  # which says nothing of the others
        game.waits(29.0)
        assert game.team.started == ["orders", "explicit"]
        game.waits(2.0)
        assert game.team.started == ["orders", "explicit", "impact", "context"]

    def test_unbounded_programs(self, monkeypatch: pytest.MonkeyPatch) -> None:
        game = Game(monkeypatch, jobs=2)
        game.says("orders", Features("UNBOUNDED"))
        assert game.waits(0.5) <= 0.5
        assert game.team.started == ["orders"]
        game.waits(0.6)
        assert game.team.started == ["orders", "impact", "context"]
        assert len(game.team.running) == 2  # they take turns
        game.waits(2.1)
        assert game.team.started == ["orders", "impact", "context", "explicit"]

    @pytest.mark.parametrize("before", [None, Features("BOUNDED"), Features("UNBOUNDED")])
    def test_an_engine_gives_up(
        self, before: Features | None, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        game = Game(monkeypatch)
        if before is not None:
            game.says("orders", before)
        assert not game.says("orders", Result("unknown", "too hard"))
        game.ends("orders")
        assert game.team.started == ["orders", "impact", "context", "explicit"]
        game.ends("impact")
        assert game.team.started == ["orders", "impact", "context", "explicit"]

    @pytest.mark.parametrize("verdict", ["true", "false"])
    def test_a_verdict_ends_all(self, verdict: str, monkeypatch: pytest.MonkeyPatch) -> None:
        game = Game(monkeypatch, PORTFOLIO)
        assert game.team.started == ["orders", "impact", "context", "explicit"]
        assert not game.says("impact", OutOfTime({}))
        assert game.says("orders", Result(verdict, "because"))

    @pytest.mark.parametrize("doubting", ["orders", "impact"])
    def test_doubt_comes_before_any_verdict(
        self, doubting: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        game = Game(monkeypatch, PORTFOLIO)
        proving = "impact" if doubting == "orders" else "orders"
        assert game.says(proving, Result("true", "proved"))
        assert game.says(doubting, Result("unknown", "does not replay", failure={"plan": {}}))
        _, _, answer = run._answer(game.portfolio._options, game.portfolio.workers, {})
        assert answer.verdict == "unknown"

    def test_undefined_behaviour_that_was_executed_comes_before_a_proof(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        game = Game(monkeypatch, PORTFOLIO)
        found = {"violation": {"place": "a.c:3", "message": "division by zero"}}
        game.says("orders", Result("unknown", "undefined", evidence={"findings": [found]}))
        for verdict, expected in (("true", "unknown"), ("false", "false")):
            game.says("impact", Result(verdict, "because"))
            _, _, answer = run._answer(game.portfolio._options, game.portfolio.workers, {})
            answer = run._with_findings(answer, game.portfolio.workers)
            assert (answer.verdict, answer.evidence["findings"]) == (expected, [found])

    def test_one_core(self, monkeypatch: pytest.MonkeyPatch) -> None:
        game = Game(monkeypatch, jobs=1)
        game.says("orders", Features("UNBOUNDED"))
        seen = set()
        for _ in range(100):
            game.waits(0.2)
            assert len(game.team.running) == 1
            seen |= game.team.running
            waiting = [e.engine for e in game.statuses[-1].engines if e.state == "waiting"]
            assert set(waiting) == game.team.paused
        assert seen == {"orders", "impact", "context", "explicit"}
        game.ends("impact")
        game.ends("context")
        game.ends("explicit")
        assert game.team.running == {"orders"}


class TestStaticChecks:
    @pytest.mark.parametrize("ending", [Ending.DIED, Ending.MEMORY])
    def test_their_end_is_not_that_of_the_engine(
        self, ending: Ending, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        game = Game(monkeypatch, jobs=2)
        game.says("orders", Loaded([], []))
        game.says("orders", Checking())
        game.ends("orders", Finish(ending, "by signal 11 (SIGSEGV)"))
        assert game.team.started == ["orders", "orders"]
        assert game.team.running == {"orders"}
        assert [(job.is_first, job.is_checked) for job in game.jobs] == [
            (True, True),
            (True, False),
        ]
        game.says("orders", Features("UNBOUNDED"))
        game.ends("orders", Finish(ending))
        assert game.team.started == ["orders", "orders", "impact", "context", "explicit"]

    @pytest.mark.parametrize("ending", [Ending.INTERRUPTED, Ending.TIME])
    def test_who_has_no_time_does_not_begin_again(
        self, ending: Ending, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        game = Game(monkeypatch, jobs=2, timeout=60)
        game.says("orders", Checking())
        game.ends("orders", Finish(ending))
        assert game.team.started.count("orders") == 1

    def test_they_are_over_when_the_program_is_described(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        game = Game(monkeypatch)
        game.says("orders", Checking())
        game.says("orders", Features("BOUNDED"))
        game.ends("orders", Finish(Ending.DIED))
        assert game.team.started == ["orders", "impact", "context", "explicit"]

    def test_status(self, monkeypatch: pytest.MonkeyPatch) -> None:
        game = Game(monkeypatch)
        game.says("orders", Loaded([], []))
        game.says("orders", Checking())
        assert game.doing("orders") == "static checks"
        assert game.portfolio.workers["orders"].so_far() == "the static checks were not finished"
        game.says("orders", Failed("internal error", {}))
        game.says("orders", Features("BOUNDED"))
        assert game.doing("orders") == "loop bound 1"


class TestFacts:
    ROWS = encode_facts(Rounds("f", head, 2) for head in range(20))

    def test_engines_that_are_running_are_told(self, monkeypatch: pytest.MonkeyPatch) -> None:
        game = Game(monkeypatch, PORTFOLIO)
        assert not game.says("orders", Proved(self.ROWS))
        told = [name for name, _ in game.team.told]
        assert told == ["impact"] * 2 + ["context"] * 2 + ["explicit"] * 2
        rows = [row for _, message in game.team.told for row in message["facts"]]
        assert rows == self.ROWS * 3
        game.team.told.clear()
        game.ends("impact")
        game.ends("context")
        game.ends("explicit")
        game.says("orders", Proved(self.ROWS))
        assert game.team.told == []

    def test_engines_that_start_later_begin_with_them(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        game = Game(monkeypatch)
        game.says("orders", Proved(self.ROWS[:2]))
        game.says("orders", Proved(self.ROWS[2:]))
        assert game.team.told == []
        game.says("orders", Features("UNBOUNDED"))
        game.waits(2.0)
        assert [job.facts for job in game.jobs] == [(), tuple(self.ROWS), tuple(self.ROWS)]


class TestStatus:
    def test_what_engines_do(self, monkeypatch: pytest.MonkeyPatch) -> None:
        game = Game(monkeypatch, PORTFOLIO)
        assert game.doing("orders") == game.doing("impact") == "reading the program"
        game.says("orders", Progress("loop bound 4: encoding", {"last_bound": 4}))
        assert game.doing("orders") == "loop bound 4: encoding"
        assert game.statuses[-1].engines[0].numbers == {"last_bound": 4}
        game.says("orders", Progress("executing a counterexample"))
        assert game.statuses[-1].engines[0].numbers == {"last_bound": 4}
        game.says("orders", Progress("", ORDERS, bound=4, properties=["assertions", "no-deadlock"]))
        game.says("impact", Progress("9 nodes", IMPACT, so_far="9 nodes, 2 of them still open"))
        assert game.doing("impact") == "9 nodes"
        assert game.portfolio.workers["impact"].so_far() == "9 nodes, 2 of them still open"
        assert [len(item.history) for item in game.portfolio.workers.values()] == [1, 1, 0, 0]

    def test_why_an_engine_has_ended(self, monkeypatch: pytest.MonkeyPatch) -> None:
        game = Game(monkeypatch, PORTFOLIO, memory_limit=1.0)
        game.says("orders", Result("unknown", "internal error:\n  KeyError"))
        game.ends("orders")
        game.ends("impact", Finish(Ending.MEMORY))
        game.ends("context")
        game.ends("explicit")
        assert game.doing("orders") == "gave up: internal error: KeyError"
        assert game.doing("impact") == "memory limit of 1 GiB"
        assert {item.state for item in game.statuses[-1].engines} == {"ended"}
        assert game.statuses[-1].memory_bytes == 0

    def test_limits(self, monkeypatch: pytest.MonkeyPatch) -> None:
        game = Game(monkeypatch, timeout=10, memory_limit=0.5)
        game.waits(4.0)
        status = game.statuses[-1]
        assert (status.seconds, status.seconds_left) == (4.0, 6.0)
        assert (status.memory_bytes, status.memory_bytes_left) == (1 << 20, 511 << 20)
        game.waits(7.0)
        assert game.statuses[-1].seconds_left == 0.0

    def test_every_stage_is_seen_at_once(self, monkeypatch: pytest.MonkeyPatch) -> None:
        game = Game(monkeypatch)
        game.portfolio.look(game.team)
        game.says("orders", Features("UNBOUNDED"))
        game.ends("orders", Finish(Ending.DIED, "by signal 9 (SIGKILL)"))
        stages = [status.stage for status in game.statuses]
        assert list(dict.fromkeys(stages)) == ["reading", "head start", "all"]
        assert len(stages) <= 4

    def test_what_an_engine_does_is_no_history(self, monkeypatch: pytest.MonkeyPatch) -> None:
        game = Game(monkeypatch)
        game.says("orders", Progress("loop bound 1: solving", {"last_bound": 1}))
        assert game.portfolio.workers["orders"].history == []
        assert game.portfolio.workers["orders"].so_far() == "the program was not read yet"


@needs_proc
class TestProcesses:
    def test_without_any_process(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def no_process() -> int:
            raise OSError(11, "Resource temporarily unavailable")

        monkeypatch.setattr("os.fork", no_process)
        path = tmp_path / "a.c"
        path.write_text("#include <assert.h>\nint main(void) { assert(0); }\n")
        result = run.verify(Options(programs=(str(path),)))
        assert (result.verdict, result.is_interrupted) == ("false", False)

    def test_one_core_runs_one_engine(self, tmp_path: Path) -> None:
        """By the state that the system says: T is stopped."""
        source = tmp_path / "hard.c"
        source.write_text(HARD)
        counts: list[int] = []
        known: list[list[int]] = [[]]

        def watch(status: Status) -> None:
            workers = children(os.getpid())
            if len(workers) > 1:
                running = [state(pid) != "T" for pid in workers].count(True)
                if running != 1:  # a signal takes a moment to arrive
                    time.sleep(0.05)
                    running = [state(pid) != "T" for pid in workers].count(True)
                if workers == known[-1]:  # who has just begun is told to wait afterwards
                    counts.append(running)
            known.append(workers)

        options = Options(programs=(str(source),), timeout=5.0, jobs=1)
        result = run.verify(options, watch)
        assert result.verdict == "unknown"
        assert len(counts) > 5
        assert max(counts) == 1  # none for a moment, when one has ended
        assert not children(os.getpid())

    def test_an_interrupt(self, tmp_path: Path) -> None:
        source = tmp_path / "hard.c"
        source.write_text(HARD)
        seen: list[str] = []

        def watch(status: Status) -> None:
            seen.append(status.stage)
            if len(status.engines) == 3 and seen.count("side by side") == 3:
                threading.Timer(0.0, os.kill, (os.getpid(), signal.SIGINT)).start()

        result = run.verify(Options(programs=(str(source),), timeout=60.0, jobs=1), watch)
        assert result.reason.startswith("interrupted; orders: ")
        assert "impact: " in result.reason
        assert not children(os.getpid())


def test_why_larger_arguments_are_needed_is_said_if_there_is_no_time_for_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    short = "limit: access to more of 'argv' (main.c:7:3)"
    game = Game(monkeypatch)
    game.says("orders", Result("unknown", short, beyond="argv up to argv[3]"))
    assert game.portfolio.larger is not None and game.portfolio.beyond == short
    workers = {"orders": run.WorkerState("orders", 0.0)}
    late, found = Result("unknown", "time limit of 5 s"), Result("false", "")
    said = run._or_what_was_before(late, workers, short)
    assert said.reason == f"{short}; with larger arguments of main: time limit of 5 s"
    assert run._or_what_was_before(found, workers, short) is found
    assert run._or_what_was_before(late, workers, "") is late
    workers["orders"].receive(encode(Loaded([], [])))
    assert run._or_what_was_before(late, workers, short) is late
