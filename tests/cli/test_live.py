"""The live view of `plait verify`: its frames, and what they do to a terminal."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cli.terminal import Terminal
from tests.work.processes import children, state

from plait.cli.live import fitted, frame, seconds, size
from plait.portfolio.status import EngineStatus, Status

needs_terminal = pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs a terminal")
needs_proc = pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="needs /proc")

# Nobody decides this in a minute.
HARD = """
#include <pthread.h>
#include <assert.h>
extern _Bool __VERIFIER_nondet_bool(void);
int x = 1, y = 1;
void *f(void *a) { while (__VERIFIER_nondet_bool()) { x = x + y; y = y + x; } return 0; }
int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); f(0); assert(x != 1000003); }
"""

# Long enough for frames.
SHORT = ("verify", "--timeout", "2", "--jobs", "1")

ORDERS = EngineStatus("orders", "running", "loop bound 8: solving, 1,234 events", 12.4, 200 << 20)
IMPACT = EngineStatus("impact", "waiting", "1,204 nodes, 311 covered, 87 open", 9.1, 112 << 20)
BOTH = Status(12.4, 47.6, 312 << 20, 3784 << 20, "side by side", (ORDERS, IMPACT))


@pytest.fixture
def hard(tmp_path: Path) -> str:
    path = tmp_path / "hard.c"
    path.write_text(HARD)
    return str(path)


class TestFrames:
    def test_all(self) -> None:
        assert frame(BOTH, 79) == [
            "plait: 12.4 s, 47.6 s left, 312 MiB (of 4 GiB), side by side",
            "  orders  loop bound 8: solving, 1,234 events",
            "  impact  waiting for its turn; 1,204 nodes, 311 covered, 87 open",
        ]

    def test_little_room(self) -> None:
        assert frame(BOTH, 39) == [
            "plait: 12.4 s, 47.6 s left",
            "  orders  loop bound 8: solving, 1,2...",
            "  impact  waiting for its turn; 1,20...",
        ]
        assert frame(BOTH, 12)[0] == "plait: 12..."

    def test_without_limits(self) -> None:
        status = Status(754.0, None, 5 << 30, None, "alone", (ORDERS,))
        assert frame(status, 79)[0] == "plait: 12 min 34 s, 5 GiB"
        assert frame(Status(0.5, None, 0, None, "alone", ()), 79) == ["plait: 0.5 s"]

    def test_which_task_it_is(self) -> None:
        lines = frame(Status(0.5, None, 0, None, "alone", ()), 23, "a\x1bb.yml no-data-race")
        assert lines == ["a\\x1bb.yml no-data-race", "plait: 0.5 s"]

    @pytest.mark.parametrize(
        ("number", "text"),
        [(0.04, "0.0 s"), (99.94, "99.9 s"), (100.0, "1 min 40 s"), (7260.0, "2 h 1 min")],
    )
    def test_seconds(self, number: float, text: str) -> None:
        assert seconds(number) == text

    def test_size(self) -> None:
        assert [size(item << 20) for item in (0, 312, 1536)] == ["0 MiB", "312 MiB", "1.5 GiB"]

    def test_what_programs_say_moves_no_cursor(self) -> None:
        assert fitted("a\x1b[2Jb\nc\x07", 40) == "a\\x1b[2Jb\\nc\\x07"

    def test_wide_characters(self) -> None:
        assert fitted("名前名前", 8) == "名前名前"
        assert fitted("名前名前", 7) == "名前..."

    @given(st.text(max_size=60), st.integers(0, 50))
    def test_nothing_wraps(self, text: str, width: int) -> None:
        shown = fitted(text, width)
        assert shown.isprintable() or not shown
        if shown.isascii():
            assert len(shown) <= width


@needs_terminal
class TestTerminal:
    @pytest.mark.parametrize("columns", [40, 80, 200])
    def test_frames_come_and_go(self, columns: int, hard: str) -> None:
        with Terminal("verify", "--engine", "portfolio", hard, columns=columns) as terminal:
            terminal.read_until(
                lambda screen: (
                    len(screen.text) == 5
                    and "loop bound" in "".join(screen.text)
                    and (screen.row, screen.column) == (0, 0)
                )
            )
            shown = terminal.screen.text
            assert not terminal.screen.has_wrapped
            terminal.type(b"\x03")
            assert terminal.finish() == 3
        assert shown[0].startswith("plait: ")
        assert [line[:8] for line in shown[1:]] == ["  orders", "  impact", "  contex", "  explic"]
        text = terminal.screen.text
        assert text[0].startswith("assumptions:")
        assert not any(line.startswith(("plait: ", "  orders")) for line in text)
        assert "VERDICT: unknown (interrupted; " in "".join(text)

    def test_the_end_of_time(self, hard: str) -> None:
        with Terminal("verify", "--timeout", "3", "--jobs", "1", hard) as terminal:
            terminal.read_until(lambda screen: " s left" in "".join(screen.text))
            assert terminal.finish() == 3
        text = terminal.screen.text
        assert not any(line.startswith(("plait: ", "  orders")) for line in text)
        assert "VERDICT: unknown (time limit of 3 s; " in "".join(text)

    def test_at_the_bottom_of_a_small_terminal(self, hard: str) -> None:
        with Terminal("verify", "--jobs", "1", hard, columns=60, rows=3) as terminal:
            terminal.read_until(lambda screen: len(screen.text) == 2)
            assert not terminal.screen.history
            terminal.type(b"\x03")
            terminal.finish()
        text = terminal.screen.text
        assert text[0].startswith(("assumptions:", "not decided: "))  # the machine may be slow
        assert not any(line.startswith(("plait: ", "  orders")) for line in text)
        assert "VERDICT: unknown (interrupted; " in "".join(text)

    def test_resize(self, hard: str) -> None:
        with Terminal("verify", "--timeout", "30", "--jobs", "1", hard, columns=120) as terminal:
            terminal.read_until(lambda screen: "MiB" in "".join(screen.text))
            terminal.resize(25, 24)
            terminal.screen.columns = 25
            terminal.read_until(lambda screen: "MiB" not in "".join(screen.text))
            terminal.read(0.5)
            assert all(len(line) < 25 for line in terminal.screen.text)
            assert not terminal.screen.has_wrapped

    def test_none(self, hard: str) -> None:
        with Terminal(*SHORT, "--progress", "none", hard) as terminal:
            assert terminal.finish() == 3
        assert "\x1b" not in terminal.raw
        assert terminal.raw.startswith("assumptions:")

    @pytest.mark.parametrize("term", ["dumb", ""])
    def test_terminals_that_cannot(self, term: str, hard: str) -> None:
        with Terminal(*SHORT, hard, TERM=term, NO_COLOR="1") as terminal:
            terminal.finish()
        assert "\x1b" not in terminal.raw
        assert terminal.raw.startswith("assumptions:")

    def test_json_on_a_terminal(self, hard: str) -> None:
        with Terminal(*SHORT, "--progress", "json", hard) as terminal:
            terminal.finish()
        assert terminal.raw.startswith('{"plait-progress":1,"seconds":')
        assert "\x1b" not in terminal.raw

    def test_interrupt(self, hard: str, tmp_path: Path) -> None:
        saved = tmp_path / "result.json"
        with Terminal("verify", "--jobs", "1", "--json", str(saved), hard) as terminal:
            terminal.read_until(lambda screen: "impact" in "".join(screen.text))
            terminal.type(b"\x03\x03")
            assert terminal.finish() == 3
        assert saved.exists()
        assert "Traceback" not in terminal.raw
        text = "".join(terminal.screen.text)
        assert "VERDICT: unknown (interrupted; orders: " in text
        assert "impact: " in text

    @pytest.mark.parametrize(
        "arguments", [("explore",), ("verify", "--jobs", "1", "--progress", "none")]
    )
    def test_an_interrupt_leaves_no_trace(self, arguments: tuple[str, ...], hard: str) -> None:
        """The terminal itself shows it as ^C, which would stand before the first line."""
        with Terminal(*arguments, hard) as terminal:
            end = time.monotonic() + 1.5
            while time.monotonic() < end:
                terminal.read()
            terminal.type(b"\x03")
            assert terminal.finish() == 3
        assert "^C" in terminal.raw
        assert not any("^C" in row for row in terminal.screen.text)

    @needs_proc
    def test_hang_up(self, hard: str, tmp_path: Path) -> None:
        saved = tmp_path / "result.json"
        with Terminal("verify", "--jobs", "1", "--json", str(saved), hard) as terminal:
            terminal.read_until(lambda screen: "impact" in "".join(screen.text))
            workers = children(terminal.plait)
            assert len(workers) >= 2
            terminal.hang_up()
            assert terminal.process.wait(timeout=20) == 3
            assert not any(map(state, workers))
        assert saved.exists()

    @needs_proc
    def test_stop_and_go_on(self, hard: str) -> None:
        """Ctrl-Z stops all; with `fg` those go on that were not waiting."""
        with Terminal("verify", "--jobs", "1", hard) as terminal:
            terminal.read_until(lambda screen: "impact" in "".join(screen.text))
            plait = terminal.plait
            workers = children(plait)
            terminal.type(b"\x1a")
            end = time.monotonic() + 20
            while {state(pid) for pid in (plait, *workers)} != {"T"}:
                assert time.monotonic() < end, [(state(pid)) for pid in (plait, *workers)]
                terminal.read(0.02)
            terminal.read_until(
                lambda screen: not any(line.startswith("  ") for line in screen.text)
            )
            os.killpg(os.getpgid(plait), signal.SIGCONT)
            terminal.read_until(lambda screen: "impact" in "".join(screen.text))
            assert one_waits(workers)
            terminal.type(b"\x03")
            assert terminal.finish() == 3


def one_waits(workers: list[int]) -> bool:
    """Soon, one of them is stopped and another one is not."""
    end = time.monotonic() + 20
    while not {"T"} < {state(pid) for pid in workers}:
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True
