"""Processes that must not be left behind, whoever started them and however their parents ended."""

from __future__ import annotations

import os
import signal
import sys

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


def die_with_parent(parent: int) -> None:
    """Linux kills this process when `parent` dies, whatever this process is doing."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def adopt_orphans() -> None:
    """Descendants whose parents die become children of this process, so that it can end them."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def disown_orphans() -> None:
    """The contrary of `adopt_orphans`, for orphans to come."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 0)


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def close_all_but(*kept: int) -> None:
    """For a forked process: what the parent has open (files and their locks, pipes of others) is
    not its to hold. Standard input and output stay."""
    try:
        files = [int(name) for name in os.listdir("/dev/fd")]
    except OSError:
        files = list(range(os.sysconf("SC_OPEN_MAX")))
    for file in files:
        if file > 2 and file not in kept:
            try:
                os.close(file)
            except OSError:
                pass  # the listing itself


def has_children() -> bool:
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def end_children(spare: frozenset[int] = frozenset()) -> None:
    """Kill all children of this process but `spare`, and what these leave to it, until there are no
    more."""
    while others := children() - spare:
        for pid in others:
            end_process(pid)


def end_process(pid: int) -> tuple[int, float]:
    """Kill a child with its process group and wait for it: exit code (negative: the signal that it
    had died by before) and CPU seconds."""
    for kill in (os.killpg, os.kill):
        try:
            kill(pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass
    try:
        _, status, usage = os.wait4(pid, 0)
    except ChildProcessError:
        return 0, 0.0
    return os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime


def describe(code: int) -> str:
    if code >= 0:
        return f"with exit code {code}"
    try:
        return f"by signal {-code} ({signal.Signals(-code).name})"
    except ValueError:
        return f"by signal {-code}"


def resident_memory(pid: int) -> int:
    """Bytes; 0 where the system does not say."""
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


def children() -> frozenset[int]:
    """Empty where the system does not say: there the process groups have to do."""
    me = str(os.getpid()).encode()
    found = set()
    try:
        names = os.listdir("/proc")
    except OSError:
        return frozenset()
    for name in names:
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    # The name in parentheses may hold anything; then state and parent follow.
                    parent = file.read().rpartition(b")")[2].split()[1]
            except (OSError, IndexError):
                continue
            if parent == me:
                found.add(int(name))
    return frozenset(found)
