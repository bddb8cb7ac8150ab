"""The parent's side: start work, hear what it says, stop it at its limits.

A solver cannot be interrupted from Python. In a process of its own it can be killed at any moment,
and a solver that crashes takes nothing with it.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import time
from collections.abc import Callable

from plait.work.child import Message, Pipes, Work, is_out_of_memory, run_child
from plait.work.limits import Ending, Finish, Limits
from plait.work.signals import Signals

Receive = Callable[[Message], None]
Tick = Callable[[], None]

# Work that knows the time limit itself gets this much longer to say how far it came.
GRACE_SECONDS = 0.5

_MEMORY_PERIOD = 0.1
_TICK_PERIOD = 0.2
_LONGEST_PATIENCE = 3600.0  # poll counts milliseconds in few bits
_LONGEST_FAREWELL = 1.0
_MOST_NOISE = 4000
_CHUNK = 1 << 16


def supervise(work: Work, limits: Limits, receive: Receive, tick: Tick | None = None) -> Finish:
    """Run `work` in a child process. `receive` gets its messages in order, `tick` is called a few
    times per second. SIGINT and SIGTERM end the work. Afterwards there is no child."""
    if not hasattr(os, "fork"):
        return _run_here(work, receive)
    with Signals() as signals:
        try:
            pipes = Pipes()
            pid = os.fork()
        except OSError:  # no process is to be had
            return _run_here(work, receive)
        if pid == 0:
            run_child(work, pipes, limits.memory)
        pipes.close_ends_of_child()
        return _Supervisor(pid, pipes, limits, receive, tick, signals).run()


def _run_here(work: Work, receive: Receive) -> Finish:
    """Without a second process the work has to keep the time limit itself."""
    try:
        work(receive)
    except KeyboardInterrupt:
        return Finish(Ending.INTERRUPTED)
    except MemoryError:
        return Finish(Ending.MEMORY)
    return Finish(Ending.FINISHED)


class _Supervisor:
    def __init__(
        self,
        pid: int,
        pipes: Pipes,
        limits: Limits,
        receive: Receive,
        tick: Tick | None,
        signals: Signals,
    ) -> None:
        self._pid = pid
        self._pipes = pipes
        self._limits = limits
        self._receive = receive
        self._tick = tick
        self._signals = signals
        self._line = b""
        self._noise = b""
        self._started = time.monotonic()

    def run(self) -> Finish:
        ending = Ending.INTERRUPTED  # by an exception, if by nothing else
        try:
            ending = self._listen()
        finally:
            if ending is not Ending.FINISHED:
                os.kill(self._pid, signal.SIGKILL)
            code, cpu_seconds, peak_memory = self._wait()
            self._pipes.close_ends_of_parent()
        noise = self._noise.decode("utf-8", "backslashreplace")
        how = ""
        if ending is Ending.FINISHED and code:
            ending = Ending.MEMORY if is_out_of_memory(code, noise) else Ending.DIED
            how = _describe(code)
        return Finish(ending, how, noise, cpu_seconds, peak_memory)

    def _listen(self) -> Ending:
        """Until the child closes its ends of both pipes, or has to be stopped."""
        results, noise, signals = self._pipes.results, self._pipes.noise, self._signals.pipe
        poll = select.poll()
        for pipe in (results, noise, signals):
            poll.register(pipe, select.POLLIN)
        is_open = {results, noise}
        while is_open:
            ready = {pipe for pipe, _ in poll.poll(self._patience())}
            for pipe in is_open & ready:
                chunk = os.read(pipe, _CHUNK)
                if not chunk:
                    is_open.remove(pipe)
                    poll.unregister(pipe)
                elif pipe == results:
                    self._take(chunk)
                else:
                    self._noise = (self._noise + chunk)[-_MOST_NOISE:]
            if signals in ready and self._signals.is_stop():
                return Ending.INTERRUPTED
            if self._seconds_left() <= 0:
                return Ending.TIME
            memory = self._limits.memory
            if memory is not None and _resident_memory(self._pid) > memory:
                return Ending.MEMORY
            if self._tick is not None:
                self._tick()
        return Ending.FINISHED

    def _take(self, chunk: bytes) -> None:
        """Hand on whole lines; what a dying child could not finish is none."""
        *lines, self._line = (self._line + chunk).split(b"\n")
        for line in lines:
            self._receive(json.loads(line))

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

    def _wait(self) -> tuple[int, float, int]:
        """Exit code, CPU seconds and peak memory of a child that is about to end."""
        end = time.monotonic() + _LONGEST_FAREWELL
        pause = 0.0002
        while True:
            try:
                pid, status, usage = os.wait4(self._pid, os.WNOHANG)
            except ChildProcessError:  # someone else in this process has collected it
                return 0, 0.0, 0
            if pid:
                unit = 1 if sys.platform == "darwin" else 1024
                cpu_seconds = usage.ru_utime + usage.ru_stime
                return os.waitstatus_to_exitcode(status), cpu_seconds, usage.ru_maxrss * unit
            if time.monotonic() > end:
                # The kernel takes its time to free large memory: it needs nobody to watch.
                os.kill(self._pid, signal.SIGKILL)
                return -signal.SIGKILL, 0.0, 0
            time.sleep(pause)
            pause = min(2 * pause, 0.05)


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
