"""The parent's side: start work, hear what it says, stop it at its limits.

A solver cannot be interrupted from Python. In a process of its own it can be killed at any moment,
and a solver that crashes takes nothing with it. Several works can go on side by side, until one of
them has said what decides.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import time
from collections.abc import Callable, Mapping

from plait.work.child import Message, Pipes, Send, Work, is_out_of_memory, run_child
from plait.work.limits import Ending, Finish, Limits
from plait.work.signals import Signals

Receive = Callable[[Message], None]
# Hears which work says what; True if that is all there is to say, so that all others end.
Decide = Callable[[str, Message], bool]
Tick = Callable[[], None]

# Work that knows the time limit itself gets this much longer to say how far it came.
GRACE_SECONDS = 0.5

_MEMORY_PERIOD = 0.1
_TICK_PERIOD = 0.2
_LONGEST_PATIENCE = 3600.0  # poll counts milliseconds in few bits
_LONGEST_FAREWELL = 1.0
_MOST_NOISE = 4000
_CHUNK = 1 << 16
_ONLY = "work"


def supervise(work: Work, limits: Limits, receive: Receive, tick: Tick | None = None) -> Finish:
    """Run `work` in a child process. `receive` gets its messages in order, `tick` is called a few
    times per second. SIGINT and SIGTERM end the work. Afterwards there is no child."""

    def hear(name: str, message: Message) -> bool:
        receive(message)
        return False

    return supervise_all({_ONLY: work}, limits, hear, tick)[_ONLY]


def supervise_all(
    works: Mapping[str, Work], limits: Limits, decide: Decide, tick: Tick | None = None
) -> dict[str, Finish]:
    """Run each work in a child process of its own; how each one ended. The limit of memory is for
    all together: the largest one ends when it is reached. Those that were going on when one of them
    had decided have the ending STOPPED. Afterwards there is no child."""
    if not hasattr(os, "fork"):
        return _run_here(works, decide)
    with Signals() as signals:
        team = _Team(limits, decide, tick, signals)
        try:
            for name, work in works.items():
                team.start(name, work)
        except OSError:  # no process is to be had
            if not team.children:
                return _run_here(works, decide)
        except BaseException:
            team.end_all(Ending.INTERRUPTED)
            raise
        missing = works.keys() - team.children.keys()
        never = Finish(Ending.DIED, "before it began: there was no process for it")
        return dict.fromkeys(missing, never) | team.run()


def _run_here(works: Mapping[str, Work], decide: Decide) -> dict[str, Finish]:
    """Without a second process works go one after the other, and keep the time limit themselves."""
    finishes: dict[str, Finish] = {}
    is_decided = False

    def hear(name: str, message: Message) -> None:
        nonlocal is_decided
        is_decided = decide(name, message) or is_decided

    for name, work in works.items():
        if is_decided:
            finishes[name] = Finish(Ending.STOPPED)
            continue
        try:
            work(lambda message, name=name: hear(name, message))  # type: ignore[misc]
        except KeyboardInterrupt:
            finishes[name] = Finish(Ending.INTERRUPTED)
        except MemoryError:
            finishes[name] = Finish(Ending.MEMORY)
        else:
            finishes[name] = Finish(Ending.FINISHED)
    return finishes


class _Child:
    """A process, its pipes, and what it has not finished to say."""

    def __init__(self, name: str, pid: int, pipes: Pipes) -> None:
        self.name = name
        self.pid = pid
        self.pipes = pipes
        self.open = {pipes.results, pipes.noise}
        self._line = b""
        self._noise = b""

    def read(self, pipe: int) -> list[Message]:
        """What a readable pipe has; a pipe at its end is open no more."""
        chunk = os.read(pipe, _CHUNK)
        if not chunk:
            self.open.remove(pipe)
        elif pipe == self.pipes.results:
            # Only whole lines count: what a dying child could not finish is none.
            *lines, self._line = (self._line + chunk).split(b"\n")
            return [json.loads(line) for line in lines]
        else:
            self._noise = (self._noise + chunk)[-_MOST_NOISE:]
        return []

    def end(self, ending: Ending) -> Finish:
        """Collect a child that has closed its pipes (FINISHED), or kill it."""
        try:
            if ending is not Ending.FINISHED:
                os.kill(self.pid, signal.SIGKILL)
            code, cpu_seconds, peak_memory = self._wait()
        finally:
            self.pipes.close_ends_of_parent()
        noise = self._noise.decode("utf-8", "backslashreplace")
        how = ""
        if ending is Ending.FINISHED and code:
            ending = Ending.MEMORY if is_out_of_memory(code, noise) else Ending.DIED
            how = _describe(code)
        return Finish(ending, how, noise, cpu_seconds, peak_memory)

    def _wait(self) -> tuple[int, float, int]:
        """Exit code, CPU seconds and peak memory of a child that is about to end."""
        end = time.monotonic() + _LONGEST_FAREWELL
        pause = 0.0002
        while True:
            try:
                pid, status, usage = os.wait4(self.pid, os.WNOHANG)
            except ChildProcessError:  # someone else in this process has collected it
                return 0, 0.0, 0
            if pid:
                unit = 1 if sys.platform == "darwin" else 1024
                cpu_seconds = usage.ru_utime + usage.ru_stime
                return os.waitstatus_to_exitcode(status), cpu_seconds, usage.ru_maxrss * unit
            if time.monotonic() > end:
                # The kernel takes its time to free large memory: it needs nobody to watch.
                os.kill(self.pid, signal.SIGKILL)
                return -signal.SIGKILL, 0.0, 0
            time.sleep(pause)
            pause = min(2 * pause, 0.05)


class _Team:
    def __init__(
        self, limits: Limits, decide: Decide, tick: Tick | None, signals: Signals
    ) -> None:
        self.children: dict[str, _Child] = {}
        self._limits = limits
        self._decide = decide
        self._tick = tick
        self._signals = signals
        self._finishes: dict[str, Finish] = {}
        self._started = time.monotonic()

    def start(self, name: str, work: Work) -> None:
        pipes = Pipes()
        try:
            pid = os.fork()
        except OSError:
            pipes.close_ends_of_child()
            pipes.close_ends_of_parent()
            raise
        if pid == 0:
            run_child(self._without_others(work), pipes, self._limits.memory)
        pipes.close_ends_of_child()
        self.children[name] = _Child(name, pid, pipes)

    def _without_others(self, work: Work) -> Work:
        """In a new child: it must not hold on to what its siblings have of the parent."""

        def alone(send: Send) -> None:
            for sibling in self.children.values():
                sibling.pipes.close_ends_of_parent()
            work(send)

        return alone

    def run(self) -> dict[str, Finish]:
        ending = Ending.INTERRUPTED  # by an exception, if by nothing else
        try:
            ending = self._listen()
        finally:
            self.end_all(ending)
        return self._finishes

    def end_all(self, ending: Ending) -> None:
        for name in list(self.children):
            self._end(name, ending)

    def _end(self, name: str, ending: Ending) -> None:
        self._finishes[name] = self.children.pop(name).end(ending)

    def _listen(self) -> Ending:
        """Until all children have closed their pipes, or have to be stopped."""
        signals = self._signals.pipe
        while self.children:
            poll = select.poll()
            poll.register(signals, select.POLLIN)
            for child in self.children.values():
                for pipe in child.open:
                    poll.register(pipe, select.POLLIN)
            ready = {pipe for pipe, _ in poll.poll(self._patience())}
            if self._hear(ready):
                return Ending.STOPPED
            if signals in ready and self._signals.is_stop():
                return Ending.INTERRUPTED
            if self._seconds_left() <= 0:
                return Ending.TIME
            self._keep_memory()
            if self._tick is not None:
                self._tick()
        return Ending.FINISHED

    def _hear(self, ready: set[int]) -> bool:
        """Whether somebody has decided; who has said everything is collected."""
        for name, child in list(self.children.items()):
            is_decided = False
            for pipe in child.open & ready:
                for message in child.read(pipe):
                    is_decided = self._decide(name, message) or is_decided
            if not child.open:
                self._end(name, Ending.FINISHED)
            if is_decided:
                return True
        return False

    def _keep_memory(self) -> None:
        limit = self._limits.memory
        if limit is None:
            return
        used = {name: _resident_memory(child.pid) for name, child in self.children.items()}
        while used and sum(used.values()) > limit:
            largest = max(used, key=lambda name: used[name])
            del used[largest]
            self._end(largest, Ending.MEMORY)

    def _seconds_left(self) -> float:
        if self._limits.seconds is None:
            return float("inf")
        return self._started + self._limits.seconds + GRACE_SECONDS - time.monotonic()

    def _patience(self) -> int:
        """Milliseconds until something has to be looked at."""
        periods = [_LONGEST_PATIENCE, self._seconds_left()]
        if self._limits.memory is not None:
            periods.append(_MEMORY_PERIOD)
        if self._tick is not None:
            periods.append(_TICK_PERIOD)
        return max(0, int(min(periods) * 1000) + 1)


def _resident_memory(pid: int) -> int:
    """Bytes; 0 where the system does not say."""
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:
            pages = int(file.read().split()[1])
    except (OSError, ValueError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def _describe(code: int) -> str:
    if code >= 0:
        return f"with exit code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = "unnamed"
    return f"by signal {-code} ({name})"
