"""The child's side: it says what it has found, line by line, hears what it is told, and never
outlives its parent."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable
from typing import Any, NoReturn

from plait.work.garbage import collect_rarely
from plait.work.limits import limit_address_space
from plait.work.signals import STOPPING

Message = dict[str, Any]
Send = Callable[[Message], None]


class Channel:
    """How work talks with its parent: call it to say something."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.inbox: deque[Message] = deque()

    def __call__(self, message: Message) -> None:
        self._send(message)

    def news(self) -> list[Message]:
        """What the parent has told since the last time."""
        found: list[Message] = []
        while self.inbox:
            found.append(self.inbox.popleft())
        return found


Work = Callable[[Channel], None]

# Address space is not memory: libraries, thread stacks and arenas reserve it without using it. The
# limit on it only catches what grows faster than the parent looks at the resident memory.
_ADDRESS_SPACE_BESIDE_MEMORY = 1 << 30

# The first line of every child: from now on it ends with its parent, so that it may be paused.
READY = b"\n"

# Exit codes that nothing else uses.
_OUT_OF_MEMORY = 86
_UNCAUGHT = 87

_PR_SET_PDEATHSIG = 1


class Pipes:
    """Made before the fork. The child writes results and noise; it reads from the lifeline what it
    is told, and notices there that the parent's end is closed."""

    def __init__(self) -> None:
        self.parent = os.getpid()
        made: list[int] = []
        try:
            for _ in range(3):
                made += os.pipe()
        except OSError:
            for pipe in made:
                os.close(pipe)
            raise
        self.results, self.to_results, self.noise, self.to_noise, *lifeline = made
        self.lifeline, self.to_child = lifeline
        os.set_blocking(self.to_child, False)

    def close_ends_of_parent(self) -> None:
        for pipe in (self.results, self.noise, self.to_child):
            os.close(pipe)

    def close_ends_of_child(self) -> None:
        for pipe in (self.to_results, self.to_noise, self.lifeline):
            os.close(pipe)


def run_child(work: Work, pipes: Pipes, memory: int | None) -> NoReturn:
    """Work, and end the process without going back into the code of the parent."""
    code = _UNCAUGHT
    try:
        collect_rarely()
        _stay_quiet()
        pipes.close_ends_of_parent()
        os.dup2(pipes.to_noise, 1)
        os.dup2(pipes.to_noise, 2)
        channel = Channel(lambda message: _write(pipes.to_results, message))
        _die_with_parent(pipes, channel)
        os.write(pipes.to_results, READY)
        if memory is not None:
            limit_address_space(memory + _ADDRESS_SPACE_BESIDE_MEMORY)
        work(channel)
        code = 0
    except MemoryError:
        code = _OUT_OF_MEMORY
    except BaseException as error:
        os.write(2, f"{type(error).__name__}: {error}\n".encode(errors="replace"))
    finally:
        os._exit(code)


def is_out_of_memory(code: int, noise: str) -> bool:
    """Whether a child that ended with this code (negative: by a signal) had no memory left."""
    return code == _OUT_OF_MEMORY or (code == -signal.SIGABRT and "bad_alloc" in noise)


def _stay_quiet() -> None:
    """The parent decides what an interrupt means; a terminal sends it to both. Only Ctrl-Z stops
    each of them by itself, and at once, whatever the parent does about it."""
    for number in STOPPING:
        signal.signal(number, signal.SIG_IGN)
    for number in (signal.SIGTSTP, signal.SIGCONT):
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTSTP])
    signal.set_wakeup_fd(-1)


def _die_with_parent(pipes: Pipes, channel: Channel) -> None:
    """Linux kills the child when the parent dies, whatever the child is doing. Elsewhere a thread
    sees the end of the lifeline; it has to wait for solvers that do not let other threads run."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != pipes.parent:
        os._exit(_UNCAUGHT)

    def listen() -> None:
        rest = b""
        while chunk := os.read(pipes.lifeline, 1 << 16):
            *lines, rest = (rest + chunk).split(b"\n")
            channel.inbox.extend(json.loads(line) for line in lines)
        os._exit(_UNCAUGHT)

    threading.Thread(target=listen, daemon=True).start()


def _write(results: int, message: Message) -> None:
    rest = memoryview(json.dumps(message).encode("ascii") + b"\n")
    while rest:
        rest = rest[os.write(results, rest) :]
