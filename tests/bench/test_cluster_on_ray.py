"""The suite on a real Ray cluster of two nodes on this machine, one of which is killed."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.bench.fakes import wait_until
from tests.bench.test_cluster import expected_verdicts, verdicts, write_suite

pytestmark = [
    pytest.mark.skipif(find_spec("ray") is None, reason="needs Ray: make test-cluster"),
    pytest.mark.skipif(sys.platform != "linux", reason="needs /proc"),
]

ROOT = Path(__file__).parents[2]
TwoNodes = tuple[str, subprocess.Popen[bytes], subprocess.Popen[bytes]]
NODE = "plait.bench.cluster.node"
SLOW_SECONDS = 6
TOKEN = secrets.token_hex(32)
PATIENCE = 240.0  # Ray takes its time on a machine that is busy


class Command:
    """`plait bench` as a user runs it, with what it has said so far."""

    def __init__(self, *arguments: str) -> None:
        self.lines: list[str] = []
        self._process = subprocess.Popen(
            [sys.executable, "-m", "plait", "bench", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        )
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.lines.append(line.rstrip("\n"))

    def has_said(self, text: str, times: int = 1) -> bool:
        return sum(text in line for line in self.lines) >= times

    def signal(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    def end(self) -> int:
        try:
            code = self._process.wait(PATIENCE)
        finally:
            self._process.kill()
            self._reader.join()
        print("\n".join(self.lines))
        return code


def processes() -> dict[int, tuple[int, str]]:
    """Parent and command of each one that lives."""
    found = {}
    for path in Path("/proc").iterdir():
        if path.name.isdigit():
            try:
                command = (
                    (path / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                )
                state, parent = (path / "stat").read_bytes().rpartition(b")")[2].split()[:2]
            except (OSError, ValueError):
                continue
            if state != b"Z":
                found[int(path.name)] = (int(parent), command)
    return found


def below(ancestor: int, text: str) -> list[int]:
    """Descendants of a process with `text` in their commands."""
    table = processes()

    def is_below(pid: int) -> bool:
        while pid in table:
            pid = table[pid][0]
            if pid == ancestor:
                return True
        return False

    return [pid for pid, (_, command) in table.items() if text in command and is_below(pid)]


def of_ray() -> set[int]:
    marks = ("ray::", "raylet", "gcs_server", "/ray/", "plait.bench.cluster")
    return {
        pid
        for pid, (_, command) in processes().items()
        if pid != os.getpid() and any(mark in command for mark in marks)
    }


def is_busy(raylet: int) -> bool:
    """A node's process with a keeper, a worker and an engine below it."""
    return len(below(raylet, NODE)) >= 4


def raylet_of(node: Any) -> subprocess.Popen[bytes]:
    process: subprocess.Popen[bytes] = node.all_processes["raylet"][0].process
    return process


def nodes_of_slow_jobs(out: Path) -> set[str]:
    rows = json.loads((out / "results.json").read_text())["results"]
    return {row["statistics"]["node"] for row in rows if "slow" in row["task"]}


@pytest.fixture
def no_process_left() -> Iterator[None]:
    before = of_ray()
    yield
    assert wait_until(lambda: of_ray() <= before, 30), [
        processes().get(pid) for pid in of_ray() - before
    ]


@pytest.fixture(scope="module")
def folder_of_ray() -> Iterator[str]:
    folder = tempfile.mkdtemp(dir="/tmp")  # short: the names of sockets have a limit
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def two_nodes(
    no_process_left: None, folder_of_ray: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[TwoNodes]:
    """The address, and the raylets of the first node and of the second."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "src"))
    monkeypatch.setenv("RAY_TMPDIR", folder_of_ray)
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    monkeypatch.setenv("RAY_AUTH_MODE", "token")
    monkeypatch.setenv("RAY_AUTH_TOKEN", TOKEN)
    from ray.cluster_utils import Cluster

    small = {"num_cpus": 1, "object_store_memory": 80 << 20}
    cluster = Cluster(initialize_head=True, head_node_args={**small, "include_dashboard": False})
    try:
        second = cluster.add_node(**small)
        yield cluster.address, raylet_of(cluster.head_node), raylet_of(second)
    finally:
        cluster.shutdown()


def run_on(address: str, suite: Path, out: Path) -> Command:
    return Command(
        str(suite),
        "--timeout",
        str(SLOW_SECONDS),
        "--engines",
        "orders",
        "--out",
        str(out),
        "--cluster",
        address,
    )


def test_a_node_dies_and_no_task_is_lost(two_nodes: TwoNodes, tmp_path: Path) -> None:
    address, _, second = two_nodes
    suite, out = write_suite(tmp_path, 6, 6), tmp_path / "out"
    command = run_on(address, suite, out)
    try:
        assert wait_until(lambda: command.has_said("has joined", 2), PATIENCE), command.lines
        assert wait_until(lambda: command.has_said("] small/fast", 6), PATIENCE), command.lines
        assert wait_until(lambda: is_busy(second.pid), PATIENCE), command.lines
        second.kill()
        second.wait()  # a zombie is alive for its children
    finally:
        code = command.end()
    assert code == 0
    assert verdicts(out) == expected_verdicts(6, 6)
    assert command.has_said("has died; what it was doing is done again")
    assert len(nodes_of_slow_jobs(out)) == 1


def test_a_worker_dies_and_no_task_is_lost(two_nodes: TwoNodes, tmp_path: Path) -> None:
    """First Ray's process of a worker, then plait's own on the other node."""
    address, first, second = two_nodes
    suite, out = write_suite(tmp_path, 6, 5), tmp_path / "out"
    command = run_on(address, suite, out)
    try:
        assert wait_until(lambda: is_busy(first.pid) and is_busy(second.pid), PATIENCE), (
            command.lines
        )
        for pid in below(second.pid, "ray::Line"):
            os.kill(pid, signal.SIGKILL)
        os.kill(min(below(first.pid, NODE)), signal.SIGKILL)
    finally:
        code = command.end()
    assert code == 0
    assert verdicts(out) == expected_verdicts(6, 5)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_cluster_of_our_own_ends_with_the_run(
    no_process_left: None, tmp_path: Path, number: signal.Signals
) -> None:
    suite, out = write_suite(tmp_path, 2, 2), tmp_path / "out"
    before = of_ray()
    command = Command(
        str(suite), "--timeout", "300", "--engines", "orders", "--out", str(out), "--cluster"
    )
    try:
        assert wait_until(lambda: command.has_said("[2/4]"), PATIENCE), command.lines
        command.signal(number)
    finally:
        code = command.end()
    assert code == 3
    assert verdicts(out) == expected_verdicts(2)
    assert of_ray() <= before


def test_nothing_outlives_the_user_s_process(no_process_left: None, tmp_path: Path) -> None:
    suite, out = write_suite(tmp_path, 1, 1), tmp_path / "out"
    command = Command(
        str(suite), "--timeout", "300", "--engines", "orders", "--out", str(out), "--cluster"
    )
    try:
        assert wait_until(lambda: command.has_said("[1/2]"), PATIENCE), command.lines
    finally:
        command.signal(signal.SIGKILL)
        command.end()


def test_nobody_at_the_address(no_process_left: None, tmp_path: Path) -> None:
    suite = write_suite(tmp_path, 1)
    command = Command(str(suite), "--out", str(tmp_path / "out"), "--cluster", "127.0.0.1:1")
    assert command.end() == 2
    assert command.has_said("cannot join the cluster 127.0.0.1:1")
