"""The parent's side: start work, hear what it says, stop it at its limits.

A solver cannot be interrupted from Python. In a process of its own it can be killed at any moment,
and a solver that crashes takes nothing with it. Several works can go on side by side: a conductor
says when each of them starts, pauses and goes on, and what decides.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import time
from collections.abc import Callable, Mapping

from plait.work.child import Channel, Message, Pipes, Work, is_out_of_memory, run_child
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


class Conductor:
    """Decides who works when; every method may use the team."""

    def begin(self, team: Team) -> None:
        """Start the first works."""

    def hear(self, team: Team, name: str, message: Message) -> bool:
        """True if that is all there is to say, so that all works end."""
        return False

    def ended(self, team: Team, name: str, finish: Finish) -> None:
        """A work is no more, for whatever reason but the end of all."""

    def look(self, team: Team) -> float:
        """Called after everything that happens; the seconds after which to call it again at the
        latest."""
        return _LONGEST_PATIENCE


class Team:
    """The works that go on, in child processes or, where there are none, one after the other."""

    def start(self, name: str, work: Work) -> None:
        raise NotImplementedError

    def stop(self, name: str) -> None:
        """End a work, which then has the ending STOPPED."""

    def pause(self, name: str) -> None:
        pass

    def resume(self, name: str) -> None:
        pass

    def tell(self, name: str, message: Message) -> None:
        """Something that helps, but is not needed: it may get lost."""

    def memory(self, name: str) -> int:
        """Resident bytes; 0 if not known."""
        return 0

    @property
    def names(self) -> list[str]:
        """Those that go on, paused or not."""
        return []


def conduct(conductor: Conductor, limits: Limits) -> dict[str, Finish]:
    """Run what the conductor starts until nothing goes on any more; how each work ended. SIGINT,
    SIGTERM and SIGHUP end all. The limit of memory is for all together: the largest one ends when
    it is reached. Afterwards there is no child."""
    if not hasattr(os, "fork"):
        return _Alone(conductor).run()
    with Signals() as signals:
        team = _Processes(limits, conductor, signals)
        try:
            conductor.begin(team)
        except _NoProcess:
            team.end_all(Ending.STOPPED)
            return _Alone(conductor).run()
        except BaseException:
            team.end_all(Ending.INTERRUPTED)
            raise
        return team.run()


def supervise(work: Work, limits: Limits, receive: Receive, tick: Tick | None = None) -> Finish:
    """Run `work` in a child process. `receive` gets its messages in order, `tick` is called a few
    times per second. SIGINT, SIGTERM and SIGHUP end the work. Afterwards there is no child."""

    def hear(name: str, message: Message) -> bool:
        receive(message)
        return False

    return supervise_all({_ONLY: work}, limits, hear, tick)[_ONLY]


def supervise_all(
    works: Mapping[str, Work], limits: Limits, decide: Decide, tick: Tick | None = None
) -> dict[str, Finish]:
    """Run all works from the beginning. Those that were going on when one of them had decided have
    the ending STOPPED."""
    return conduct(_AllAtOnce(works, decide, tick), limits)


class _AllAtOnce(Conductor):
    def __init__(self, works: Mapping[str, Work], decide: Decide, tick: Tick | None) -> None:
        self._works = works
        self._decide = decide
        self._tick = tick

    def begin(self, team: Team) -> None:
        for name, work in self._works.items():
            team.start(name, work)

    def hear(self, team: Team, name: str, message: Message) -> bool:
        return self._decide(name, message)

    def look(self, team: Team) -> float:
        if self._tick is None:
            return _LONGEST_PATIENCE
        self._tick()
        return _TICK_PERIOD


class _NoProcess(Exception):
    """The system has no process for the first work."""


class _Alone(Team):
    """Without a second process works go one after the other, and keep the time limit themselves."""

    def __init__(self, conductor: Conductor) -> None:
        self._conductor = conductor
        self._waiting: dict[str, Work] = {}
        self._is_decided = False

    def start(self, name: str, work: Work) -> None:
        self._waiting[name] = work

    @property
    def names(self) -> list[str]:
        return list(self._waiting)

    def run(self) -> dict[str, Finish]:
        self._conductor.begin(self)
        finishes: dict[str, Finish] = {}
        while self._waiting:
            name = next(iter(self._waiting))
            if self._is_decided:
                finishes[name] = Finish(Ending.STOPPED)
                del self._waiting[name]
                continue
            finishes[name] = self._run_one(name, self._waiting[name])
            del self._waiting[name]
            if not self._is_decided:
                self._conductor.ended(self, name, finishes[name])
        return finishes

    def _run_one(self, name: str, work: Work) -> Finish:
        def hear(message: Message) -> None:
            self._is_decided = self._conductor.hear(self, name, message) or self._is_decided

        try:
            work(Channel(hear))
        except KeyboardInterrupt:
            return Finish(Ending.INTERRUPTED)
        except MemoryError:
            return Finish(Ending.MEMORY)
        return Finish(Ending.FINISHED)


class _Child:
    """A process, its pipes, and what it has not finished to say."""

    def __init__(self, name: str, pid: int, pipes: Pipes) -> None:
        self.name = name
        self.pid = pid
        self.pipes = pipes
        self.open = {pipes.results, pipes.noise}
        self.is_ready = False
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
            self.is_ready = True
            return [json.loads(line) for line in lines if line]
        else:
            self._noise = (self._noise + chunk)[-_MOST_NOISE:]
        return []

    def tell(self, message: Message) -> None:
        """One write of a short line is never cut in two; a child that does not read hears less."""
        line = json.dumps(message).encode("ascii") + b"\n"
        if len(line) <= select.PIPE_BUF:
            try:
                os.write(self.pipes.to_child, line)
            except OSError:
                pass

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


class _Processes(Team):
    def __init__(self, limits: Limits, conductor: Conductor, signals: Signals) -> None:
        self.children: dict[str, _Child] = {}
        self._limits = limits
        self._conductor = conductor
        self._signals = signals
        self._finishes: dict[str, Finish] = {}
        self._paused: set[str] = set()
        self._started = time.monotonic()

    def start(self, name: str, work: Work) -> None:
        try:
            pipes = Pipes()
        except OSError:
            self._no_process(name)
            return
        # Python forgets signals that come before a new child has begun; Ctrl-Z has to wait for it.
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTSTP])
        try:
            pid = os.fork()
            if pid == 0:
                run_child(self._without_others(work), pipes, self._limits.memory)
        except OSError:
            pipes.close_ends_of_child()
            pipes.close_ends_of_parent()
            self._no_process(name)
            return
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTSTP])
        pipes.close_ends_of_child()
        self.children[name] = _Child(name, pid, pipes)

    def _no_process(self, name: str) -> None:
        if not self.children and not self._finishes:
            raise _NoProcess from None
        self._finish(name, Finish(Ending.DIED, "before it began: there was no process for it"))

    def _without_others(self, work: Work) -> Work:
        """In a new child: it must not hold on to what its siblings have of the parent."""

        def alone(channel: Channel) -> None:
            for sibling in self.children.values():
                sibling.pipes.close_ends_of_parent()
            work(channel)

        return alone

    @property
    def names(self) -> list[str]:
        return list(self.children)

    def stop(self, name: str) -> None:
        if name in self.children:
            self._end(name, Ending.STOPPED)

    def pause(self, name: str) -> None:
        """A child that is not ready stops as soon as it is: stopped before, it would stay for ever
        if its parent died."""
        if name in self.children and name not in self._paused:
            self._paused.add(name)
            self._stop_now(name)

    def _stop_now(self, name: str) -> None:
        if self.children[name].is_ready:
            os.kill(self.children[name].pid, signal.SIGSTOP)

    def resume(self, name: str) -> None:
        if name in self.children and name in self._paused:
            self._paused.remove(name)
            os.kill(self.children[name].pid, signal.SIGCONT)

    def _pause_again(self) -> None:
        """A shell that lets us go on after Ctrl-Z does the same to all children."""
        for name in self._paused:
            self._stop_now(name)

    def tell(self, name: str, message: Message) -> None:
        if name in self.children:
            self.children[name].tell(message)

    def memory(self, name: str) -> int:
        return _resident_memory(self.children[name].pid) if name in self.children else 0

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
        self._paused.discard(name)
        self._finish(name, self.children.pop(name).end(ending))

    def _finish(self, name: str, finish: Finish) -> None:
        earlier = self._finishes.get(name)
        self._finishes[name] = finish if earlier is None else finish.after(earlier)

    def _listen(self) -> Ending:
        """Until all children have closed their pipes, or have to be stopped."""
        signals = self._signals.pipe
        while self.children:
            period = self._conductor.look(self)
            poll = select.poll()
            poll.register(signals, select.POLLIN)
            for child in self.children.values():
                for pipe in child.open:
                    poll.register(pipe, select.POLLIN)
            ready = {pipe for pipe, _ in poll.poll(self._patience(period))}
            if self._hear(ready):
                return Ending.STOPPED
            if signals in ready:
                came = self._signals.read()
                if came.is_stop:
                    return Ending.INTERRUPTED
                if came.is_going_on:
                    self._pause_again()
            if self._seconds_left() <= 0:
                return Ending.TIME
            self._keep_memory()
        return Ending.FINISHED

    def _hear(self, ready: set[int]) -> bool:
        """Whether somebody has decided; who has said everything is collected."""
        for name, child in list(self.children.items()):
            if name not in self.children:
                continue  # stopped because of what another one has said
            is_decided, was_ready = False, child.is_ready
            for pipe in child.open & ready:
                for message in child.read(pipe):
                    is_decided = self._conductor.hear(self, name, message) or is_decided
            if name in self._paused and not was_ready:
                self._stop_now(name)
            if not child.open and name in self.children:
                self._end(name, Ending.FINISHED)
                if not is_decided:
                    self._conductor.ended(self, name, self._finishes[name])
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
            self._conductor.ended(self, largest, self._finishes[largest])

    def _seconds_left(self) -> float:
        if self._limits.seconds is None:
            return float("inf")
        return self._started + self._limits.seconds + GRACE_SECONDS - time.monotonic()

    def _patience(self, period: float) -> int:
        """Milliseconds until something has to be looked at."""
        periods = [_LONGEST_PATIENCE, self._seconds_left(), period]
        if self._limits.memory is not None:
            periods.append(_MEMORY_PERIOD)
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
