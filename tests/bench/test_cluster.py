"""A suite on a cluster: what is sent, who does it, and what happens when somebody is lost. All of it
without Ray; `test_cluster_on_ray` has the rest."""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plait.bench.cluster import dispatch
from plait.bench.cluster.dispatch import (
    Dispatcher,
    Lost,
    NobodyLeft,
    Node,
    Patience,
    Said,
    Unusable,
)
from plait.bench.cluster.executor import Cluster, ClusterExecutor
from plait.bench.cluster.node import remove_stale_folders
from plait.bench.cluster.shipping import Terms, job_from_plain, job_to_plain, pack, unpack
from plait.bench.journal import NAME
from plait.bench.machine import version
from plait.bench.records import Job
from plait.bench.suite import Task, find_tasks
from plait.cli.bench import bench, bench_options
from plait.cli.main import main
from plait.cli.output import Console
from plait.errors import InputError
from tests.bench.fakes import job, processes_with, wait_until

ROOT = Path(__file__).parents[2]
FAKE_RAY = Path(__file__).parent / "fake_ray"

# --- a suite ---------------------------------------------------------------------------------


def write_suite(folder: Path, fast: int, slow: int = 0) -> Path:
    """Tasks that take no time, every second one with a violation; and tasks without an end."""
    tasks = folder / "suite" / "small"
    tasks.mkdir(parents=True)
    (folder / "suite" / "p.prp").write_text("CHECK( init(main()), LTL(G ! call(reach_error())) )")
    head = "extern int __VERIFIER_nondet_int(void);\nvoid reach_error(void) {}\n"
    for n in range(fast):
        body = f"int x = {n % 2}; if (x) reach_error();"
        _write_task(tasks, f"fast-{n:02}", head + f"int main(void) {{ {body} }}\n", n % 2 == 0)
    endless = "unsigned x = 0; while (__VERIFIER_nondet_int()) x += 2; if (x % 2) reach_error();"
    for n in range(slow):
        _write_task(tasks, f"slow-{n:02}", head + f"int main(void) {{ {endless} }}\n", True)
    return folder / "suite"


def _write_task(folder: Path, name: str, text: str, expected: bool) -> None:
    (folder / f"{name}.c").write_text(text)
    (folder / f"{name}.yml").write_text(
        f"format_version: '2.0'\ninput_files: {name}.c\nproperties:\n"
        f"  - property_file: ../p.prp\n    expected_verdict: {str(expected).lower()}\n"
    )


# --- what is sent ----------------------------------------------------------------------------


def test_a_job_survives_the_journey(tmp_path: Path) -> None:
    suite = write_suite(tmp_path, 1)
    (task,) = find_tasks([str(suite)]).tasks
    terms = Terms({"timeout": 3.0, "memory_limit": None, "jobs": 2}, 13.3, 1 << 30)
    parcel = pack(Job(task, "orders"), terms)
    assert "\n" not in parcel
    assert str(tmp_path) not in parcel
    there = tmp_path / "there"
    there.mkdir()
    found, found_terms = unpack(parcel, there)
    assert (found.key, found.task.fingerprint) == (Job(task, "orders").key, task.fingerprint)
    assert found.task.files == ("small/fast-00.c",)
    assert found.task.property_file == "p.prp"
    assert found_terms == terms
    for ours, theirs in [(task.files[0], "small/fast-00.c"), (task.property_file, "p.prp")]:
        assert (there / theirs).read_bytes() == Path(ours).read_bytes()


def test_what_a_program_includes_goes_with_it(tmp_path: Path) -> None:
    suite = write_suite(tmp_path, 1)
    source = suite / "small" / "fast-00.c"
    (suite / "small" / "part.h").write_text("int part;\n")
    source.write_text('#include "part.h"\n' + source.read_text())
    (task,) = find_tasks([str(suite)]).tasks
    there = tmp_path / "there"
    there.mkdir()
    found, _ = unpack(pack(Job(task, "orders"), Terms({})), there)
    assert found.task.required == ("small/part.h",)
    assert (there / "small" / "part.h").read_text() == "int part;\n"


@given(st.binary(max_size=200))
def test_files_are_bytes(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        here, there = Path(folder) / "here", Path(folder) / "there"
        here.mkdir()
        there.mkdir()
        (here / "ä b.c").write_bytes(content)
        task = Task(
            "t", "t.yml", (str(here / "ä b.c"),), "p", str(here / "p.prp"), "LP64", None, ""
        )
        found, _ = unpack(pack(Job(task, "auto"), Terms({})), there)
        assert (there / found.task.files[0]).read_bytes() == content
        assert not (there / found.task.property_file).exists()  # there was none


@pytest.mark.parametrize("name", ["/etc/x", "../x", "a/../../x"])
def test_nothing_is_written_elsewhere(name: str, tmp_path: Path) -> None:
    parcel = json.dumps(
        {"job": job_to_plain(job("a")), "files": {name: ""}, "terms": {"choices": {}}}
    )
    with pytest.raises(ValueError, match="no name inside"):
        unpack(parcel, tmp_path / "there")


def test_jobs_as_data() -> None:
    item = job("a", "impact", None)
    assert job_from_plain(json.loads(json.dumps(job_to_plain(item)))) == item


# --- the process on a node -------------------------------------------------------------------


def start_node() -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "plait.bench.cluster.node"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )


def test_a_node_answers(tmp_path: Path) -> None:
    suite = write_suite(tmp_path, 2)
    (suite / "small" / "fast-02.yml").write_text(
        (suite / "small" / "fast-00.yml").read_text().replace("00", "02")
    )
    (suite / "small" / "fast-02.c").write_text("int main( {")
    node = start_node()
    assert node.stdin is not None and node.stdout is not None
    hello = json.loads(node.stdout.readline())
    assert hello["version"] == version()
    assert hello["machine"]["cores"] == os.cpu_count()
    results = []
    for task in find_tasks([str(suite)]).tasks:
        node.stdin.write(
            pack(Job(task, "orders"), Terms({"timeout": 60.0, "jobs": 1}, 120.0)) + "\n"
        )
        node.stdin.flush()
        results.append(json.loads(node.stdout.readline())["result"])
    assert [item["verdict"] for item in results] == ["true", "false", "error"]
    assert all(item["cpu_seconds"] > 0 and item["memory_bytes"] > 0 for item in results[:2])
    assert results[2]["reason"].startswith("small/fast-02.c:1:1")  # whatever the folder here is
    node.stdin.close()
    assert node.wait(20) == 0
    node.stdout.close()


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_nothing_outlives_the_parent_of_a_node(tmp_path: Path) -> None:
    suite = write_suite(tmp_path, 0, 1)
    (task,) = find_tasks([str(suite)]).tasks
    marker = f"plait-node-test-{time.monotonic_ns()}"
    parent = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import subprocess, sys, time\n"
            "p = subprocess.Popen([sys.executable, '-m', 'plait.bench.cluster.node', sys.argv[1]], stdin=subprocess.PIPE)\n"
            "p.stdin.write(sys.stdin.buffer.readline()); p.stdin.flush(); time.sleep(600)",
            marker,
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )
    assert parent.stdin is not None
    parent.stdin.write(pack(Job(task, "orders"), Terms({"timeout": 300.0, "jobs": 1})) + "\n")
    parent.stdin.close()
    # The parent, the node, its keeper, the worker, the engine.
    assert wait_until(lambda: len(processes_with(marker)) >= 5, 60)
    parent.kill()
    parent.wait()
    assert wait_until(lambda: processes_with(marker) == [], 30)


# --- who does what ---------------------------------------------------------------------------

Answer = Callable[[str, int], str | None]  # node and job to what happens: "lost", None for nothing


class FakeFleet:
    """Nodes by name. What is known of their end lags behind, as with Ray."""

    def __init__(self, cpus: dict[str, int], answer: Answer = lambda node, job: "true") -> None:
        self.cpus = dict(cpus)
        self.versions: dict[str, str] = defaultdict(lambda: "v1")
        self.refusals: dict[str, str] = {}
        self.workers: dict[int, str] = {}
        self.started: list[tuple[str, int]] = []
        self.given: list[tuple[str, int]] = []
        self.dead: set[str] = set()
        self._answer = answer
        self._events: list[Said | Lost] = []

    def nodes(self) -> dict[str, Node]:
        return {name: Node(name, name, cpus) for name, cpus in self.cpus.items()}

    def start(self, node: Node, cpus: int) -> int:
        number = len(self.started) + 1
        self.started.append((node.name, cpus))
        self.workers[number] = node.name
        if node.name in self.dead:
            self._events.append(Lost(number, "unreachable"))
        elif node.name in self.refusals:
            self._events.append(Said(number, json.dumps({"refused": self.refusals[node.name]})))
        else:
            hello = {"version": self.versions[node.name], "machine": {"cpu": "fast"}}
            self._events.append(Said(number, json.dumps(hello)))
        return number

    def give(self, worker: int, parcel: str) -> None:
        node, number = self.workers[worker], int(parcel.split()[0])
        self.given.append((node, number))
        verdict = "lost" if node in self.dead else self._answer(node, number)
        if verdict == "lost":
            self._events.append(Lost(worker, "it died"))
        elif verdict is not None:
            self._events.append(Said(worker, json.dumps({"result": {"verdict": verdict}})))

    def wait(self, seconds: float) -> list[Said | Lost]:
        if not self._events:
            time.sleep(0.002)
        events, self._events = self._events, []
        return events

    def end(self, worker: int) -> None:
        del self.workers[worker]

    def kill_node(self, name: str) -> None:
        self.dead.add(name)
        for number, node in self.workers.items():
            if node == name:
                self._events.append(Lost(number, "it died"))

    def tell_death(self, name: str) -> None:
        del self.cpus[name]


QUICK = Patience(nodes=0.0, wait=0.0, restart=0.01, news_of_death=0.05, no_worker=0.05, no_node=0.1)


def run_on(
    fleet: FakeFleet,
    jobs: int,
    per_node: int = 1,
    patience: Patience = QUICK,
    heard: Callable[[dict[str, Any]], None] | None = None,
) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = []
    end = time.monotonic() + 20

    def say(message: dict[str, Any]) -> None:
        messages.append(message)
        if heard is not None:
            heard(message)

    Dispatcher(
        fleet,
        jobs,
        lambda number, cpus: f"{number} {cpus}",
        say,
        lambda: time.monotonic() > end,
        version="v1",
        per_node=per_node,
        patience=patience,
    ).run()
    assert sorted(results_of(messages)) == list(range(jobs))
    assert sum("job" in item for item in messages) == jobs
    return messages


def results_of(messages: list[dict[str, Any]]) -> dict[int, dict[str, Any]]:
    return {item["job"]: item["result"] for item in messages if "job" in item}


def notes_of(messages: list[dict[str, Any]]) -> list[str]:
    return [item["note"] for item in messages if "note" in item]


def test_every_job_is_done_once() -> None:
    fleet = FakeFleet({"a": 2, "b": 4, "no-cpus": 0})
    messages = run_on(fleet, 20)
    assert sorted(number for _, number in fleet.given) == list(range(20))
    assert {node for node, _ in fleet.given} == {"a", "b"}
    assert notes_of(messages) == ["node a has joined, 2 CPUs", "node b has joined, 4 CPUs"]
    assert {"node": {"name": "a", "cpus": 2, "cpu": "fast"}} in messages
    assert results_of(messages)[0]["statistics"]["node"] in ("a", "b")


def test_jobs_of_a_node_share_its_cpus() -> None:
    fleet = FakeFleet({"a": 8, "b": 2, "c": 5})
    run_on(fleet, 20, per_node=3)
    assert sorted(fleet.started) == [("a", 2)] * 3 + [("b", 1)] * 2 + [("c", 1)] * 3


def test_a_worker_dies_once() -> None:
    died: set[int] = set()

    def answer(node: str, number: int) -> str:
        if number == 3 and number not in died:
            died.add(number)
            return "lost"
        return "true"

    fleet = FakeFleet({"a": 1, "b": 1}, answer)
    results = results_of(run_on(fleet, 8))
    assert {item["verdict"] for item in results.values()} == {"true"}
    assert sum(number == 3 for _, number in fleet.given) == 2


def test_a_job_that_kills_its_workers_is_an_error() -> None:
    fleet = FakeFleet({"a": 1, "b": 1}, lambda node, number: "lost" if number == 3 else "true")
    results = results_of(run_on(fleet, 8))
    assert results[3]["verdict"] == "error"
    assert results[3]["reason"] == "it died"
    assert sum(number == 3 for _, number in fleet.given) == 2
    assert {item["verdict"] for number, item in results.items() if number != 3} == {"true"}


def test_the_death_of_nodes_is_nothing_of_a_job() -> None:
    """The same job loses two nodes, and news of that come after the second loss."""
    doomed = ["a", "b"]

    def answer(node: str, number: int) -> str:
        if number == 0 and node in doomed:
            fleet.kill_node(node)
            return "lost"
        if number == 0:
            return "true"
        if len(fleet.dead) == 2:
            for name in set(doomed) & fleet.cpus.keys():
                fleet.tell_death(name)
        return "true"

    fleet = FakeFleet({"a": 1, "b": 1, "c": 1}, answer)
    messages = run_on(fleet, 12, patience=Patience(**{**_plain(QUICK), "news_of_death": 10.0}))
    assert {item["verdict"] for item in results_of(messages).values()} == {"true"}
    assert sum("has died" in note for note in notes_of(messages)) == len(fleet.dead)


def _plain(patience: Patience) -> dict[str, Any]:
    return {name: getattr(patience, name) for name in patience.__slots__}


def test_a_job_that_ends_machines_ends() -> None:
    names = iter(f"n{number}" for number in range(100))

    def answer(node: str, number: int) -> str:
        if number == 0:
            fleet.kill_node(node)
            fleet.tell_death(node)
            fleet.cpus[next(names)] = 1
            return "lost"
        return "true"

    fleet = FakeFleet({"a": 1}, answer)
    results = results_of(run_on(fleet, 3))
    assert results[0]["reason"].startswith(f"lost {dispatch.MOST_DEATHS} times")
    assert results[1]["verdict"] == results[2]["verdict"] == "true"


def test_nodes_come_later() -> None:
    def answer(node: str, number: int) -> str:
        if number == 2:
            fleet.cpus["late"] = 1
        return "true"

    fleet = FakeFleet({"a": 1}, answer)
    messages = run_on(fleet, 20)
    assert "node late has joined, 1 CPU" in notes_of(messages)
    assert "late" in {node for node, _ in fleet.given}


def test_a_node_that_hangs() -> None:
    hung: list[str] = []

    def answer(node: str, number: int) -> str | None:
        if number == 1 and not hung:
            hung.append(node)
            return None
        return "true"

    fleet = FakeFleet({"a": 1, "b": 1}, answer)
    messages = run_on(fleet, 4, patience=Patience(**{**_plain(QUICK), "answer": 0.1}))
    assert results_of(messages)[1]["verdict"] == "true"
    assert f"no answer from node {hung[0]} after 0.1 s" in notes_of(messages)


def test_another_version_is_refused() -> None:
    fleet = FakeFleet({"a": 1, "b": 1})
    fleet.versions["b"] = "v2"
    with pytest.raises(Unusable, match="node b cannot be used: it has plait v2, here is v1"):
        run_on(fleet, 3, patience=QUICK)


def test_a_node_without_plait_is_refused() -> None:
    fleet = FakeFleet({"a": 1})
    fleet.refusals["a"] = "No module named plait"
    with pytest.raises(Unusable, match="No module named plait; install the same"):
        run_on(fleet, 3)


def test_another_version_that_comes_later_is_left_out() -> None:
    def answer(node: str, number: int) -> str:
        fleet.cpus["late"] = 1
        return "true"

    fleet = FakeFleet({"a": 1}, answer)
    fleet.versions["late"] = "v2"
    messages = run_on(fleet, 10)
    assert {node for node, _ in fleet.given} == {"a"}
    assert any("late cannot be used" in note for note in notes_of(messages))


def test_a_node_whose_workers_die_is_left_out() -> None:
    fleet = FakeFleet({"a": 1, "b": 1})
    fleet.dead.add("b")
    messages = run_on(fleet, 5, heard=lambda item: time.sleep(0.05))
    assert {node for node, _ in fleet.given} == {"a"}
    assert "node b is not used any more: unreachable" in notes_of(messages)


def test_nobody_is_left() -> None:
    fleet = FakeFleet({"a": 1}, lambda node, number: fleet.tell_death("a") or "lost")
    with pytest.raises(NobodyLeft, match="no node with CPUs is left"):
        run_on(fleet, 3)
    fleet = FakeFleet({"a": 1})
    fleet.dead.add("a")
    with pytest.raises(NobodyLeft, match="can be used"):
        run_on(fleet, 3)


# --- the command, on a Ray that is none ------------------------------------------------------


def start_command(*arguments: str, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "plait", "bench", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(FAKE_RAY)]),
            **environment,
        },
    )


def verdicts(out: Path) -> list[tuple[str, str]]:
    lines = (out / NAME).read_text().splitlines()[1:]
    return sorted((row["task"], row["verdict"]) for row in map(json.loads, lines))


def expected_verdicts(fast: int, slow: int = 0) -> list[tuple[str, str]]:
    rows = [(f"small/fast-{n:02}.yml", "false" if n % 2 else "true") for n in range(fast)]
    return rows + [(f"small/slow-{n:02}.yml", "unknown") for n in range(slow)]


def test_the_whole_way(tmp_path: Path) -> None:
    suite, out = write_suite(tmp_path, 4), tmp_path / "out"
    arguments = [str(suite), "--timeout", "60", "--out", str(out), "--cluster"]
    command = start_command(*arguments, FAKE_RAY_NODES="2")
    text, errors = command.communicate(timeout=120)
    assert (command.returncode, errors) == (0, "")
    # One of them may have done everything before the other was there.
    assert re.search(r"node fake-000[01] has joined, 2 CPUs", text)
    assert verdicts(out) == expected_verdicts(4)
    data = json.loads((out / "results.json").read_text())
    assert data["settings"]["options"] == {"jobs": 1, "cluster": True}
    assert {node["name"] for node in data["machine"]["nodes"]} <= {"fake-0000", "fake-0001"}
    assert re.search(r"fake-000[01] \(2 CPUs\)", (out / "summary.html").read_text())
    assert "noise" not in text
    local = start_command(*arguments[:-1])
    _, errors = local.communicate(timeout=60)
    assert local.returncode == 2
    assert "results of another kind" in errors


def test_interrupted_on_a_cluster(tmp_path: Path) -> None:
    suite, out = write_suite(tmp_path, 1, 1), tmp_path / "out"
    command = start_command(
        str(suite), "--timeout", "300", "--engines", "orders", "--out", str(out), "--cluster"
    )
    assert wait_until(lambda: (out / NAME).exists() and len(verdicts(out)) == 1, 120)
    command.send_signal(signal.SIGINT)
    _, errors = command.communicate(timeout=60)
    assert command.returncode == 3
    assert "interrupted: 1 of 2 done and kept" in errors


def test_no_cluster_at_the_address(tmp_path: Path) -> None:
    suite = write_suite(tmp_path, 1)
    command = start_command(
        str(suite),
        "--out",
        str(tmp_path / "out"),
        "--cluster",
        "10.0.0.1:6379",
        FAKE_RAY_REFUSES="1",
    )
    _, errors = command.communicate(timeout=60)
    assert command.returncode == 2
    assert "cannot join the cluster 10.0.0.1:6379: nobody at 10.0.0.1:6379" in errors


def test_the_driver_dies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from plait.bench.records import ExecutorFailed

    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    (tmp_path / "ray.py").write_text("import os\nos.write(2, b'lost it')\nos._exit(1)\n")
    with pytest.raises(ExecutorFailed, match="the connection to the cluster is lost: lost it"):
        list(ClusterExecutor(Cluster(None, {})).run([job("a")]))
    assert list(ClusterExecutor(Cluster(None, {})).run([])) == []


def test_a_cluster_that_does_not_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr("plait.bench.cluster.executor._LONGEST_CONNECTING", 0.5)
    (tmp_path / "ray.py").write_text("import time\ndef init(**options): time.sleep(3)\n")
    with pytest.raises(InputError, match=r"no answer from the cluster after 0.5 s"):
        list(ClusterExecutor(Cluster(None, {})).run([job("a")]))


def test_folders_of_killed_processes_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    names = [f"plait-node-{ended.pid}-x", f"plait-node-{os.getpid()}-x", "plait-node-x", "other"]
    for name in names:
        (tmp_path / name).mkdir()
    remove_stale_folders()
    assert {path.name for path in tmp_path.iterdir()} == set(names[1:])


# --- options ---------------------------------------------------------------------------------


def test_without_ray(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("plait.bench.cluster.executor.find_spec", lambda name: None)
    suite = write_suite(tmp_path, 1)
    assert main(["bench", str(suite), "--out", str(tmp_path / "out"), "--cluster"]) == 2
    assert "pip install 'plait[cluster]'" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("text", ["tasks/", "ray://head:10001", "10.0.0.1", ""])
def test_no_address(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    parser = argparse.ArgumentParser()
    bench_options(parser)
    with pytest.raises(SystemExit):
        bench(parser.parse_args(["x", "--cluster", text]), Console())
    assert "is no address of a cluster" in capsys.readouterr().err


def test_a_job_has_time_for_its_second_try() -> None:
    plan = Cluster("auto", {}, seconds=76.0).plan([job("a")], "/folder")
    assert plan["longest_answer"] == 212.0
    assert Cluster("auto", {}).plan([], "")["longest_answer"] is None
