"""One run of `plait` in a fresh process that notes where its CPU time goes.

    python tools/cold_phases.py FOLDER verify PROGRAM.c ...

Each process of the run writes a file to FOLDER, in JSON: CPU seconds by phase. A worker does so
with each message, because it is killed when it has said enough. A phase counts what is not inside
another one. Functions are wrapped when their module has been imported, and nothing of
plait is changed, so that any checkout can be measured with its own Python; what it does not have
(`PHASES` names functions of this one) counts for the phase around it.
"""

import time

STARTED = time.process_time()

import importlib  # noqa: E402
import os  # noqa: E402
import sys  # noqa: E402
from collections.abc import Callable  # noqa: E402
from typing import Any  # noqa: E402

START, IMPORT, COMMAND, WORKER = "interpreter start", "imports", "command", "worker"
LIBCLANG, PARSE, LOWER = "libclang: load", "libclang: parse", "lowering, linking"
ANALYSIS, CHECKS, UNROLL, ENCODE = "analysis", "static checks", "unrolling", "encoding"
SOLVE, REPLAY, REPORT = "solving", "replay, evidence", "report"

CHILD = "plait.work.child"
# module: function or method -> phase
PHASES = {
    "plait.analysis.points_to": {"PointsTo.__init__": ANALYSIS},
    "plait.analysis.sharing": {"Sharing.__init__": ANALYSIS},
    "plait.c": {"load": LOWER},
    "plait.c.libclang": {"library": LIBCLANG, "Library.parse": PARSE},
    "plait.cli.verify": {"_report": REPORT},
    "plait.engines.modular.engine": {"verify": CHECKS},
    "plait.engines.orders.encode": {"Encoder.encode": ENCODE},
    "plait.engines.orders.graph": {"EventOrderGraph.__init__": ENCODE},
    "plait.engines.orders.learning": {"unroll": UNROLL, "unroll_for_deadlocks": UNROLL},
    "plait.evidence.counterexample": {"evidence_of": REPLAY},
    "plait.evidence.replay": {"replay": REPLAY, "replay_race": REPLAY, "replay_deadlock": REPLAY},
    "plait.evidence.reduce": {"reduced": REPLAY},
    "plait.logic.solver": {"Solver.solve": SOLVE},
    "plait.portfolio.compose": {"composed": REPORT},
    "plait.portfolio.worker": {"work": WORKER},
}


class Clock:
    """CPU seconds by phase; the innermost one pays."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self.seconds = {START: STARTED}
        self._phases = [COMMAND]
        self._since = STARTED

    def _pay(self) -> None:
        now = time.process_time()
        phase = self._phases[-1]
        self.seconds[phase] = self.seconds.get(phase, 0.0) + now - self._since
        self._since = now

    def run(self, phase: str, function: Callable[..., Any], *given: Any, **named: Any) -> Any:
        self._pay()
        self._phases.append(phase)
        try:
            return function(*given, **named)
        finally:
            self._pay()
            self._phases.pop()

    def forked(self) -> None:
        self.seconds = {}
        self._since = 0.0

    def write(self) -> None:
        import json

        self._pay()
        path = f"{self._folder}/{os.getpid()}"
        with open(f"{path}.part", "w", encoding="utf-8") as file:
            file.write(json.dumps(self.seconds))
        os.replace(f"{path}.part", f"{path}.json")


def timed(clock: Clock, phase: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def wrapped(*given: Any, **named: Any) -> Any:
        return clock.run(phase, function, *given, **named)

    return wrapped


def wrap_phases(clock: Clock, module: Any, *, is_strict: bool = False) -> None:
    for path, phase in PHASES.get(module.__name__, {}).items():
        owner, name = module, path
        if "." in path:
            kind, name = path.split(".")
            owner = getattr(module, kind) if is_strict else getattr(module, kind, None)
        if is_strict or hasattr(owner, name):
            setattr(owner, name, timed(clock, phase, getattr(owner, name)))


def write_with_messages(clock: Clock, module: Any) -> None:
    send = module._write

    def written_send(*given: Any) -> None:
        clock.write()
        send(*given)

    module._write = written_send


def watch_imports(clock: Clock) -> None:
    bootstrap: Any = importlib._bootstrap
    find_and_load = bootstrap._find_and_load

    def watched(name: str, import_: Any) -> Any:
        module = clock.run(IMPORT, find_and_load, name, import_)
        wrap_phases(clock, sys.modules[name])
        if name == CHILD:
            write_with_messages(clock, sys.modules[name])
        return module

    bootstrap._find_and_load = watched


def main(folder: str, arguments: list[str]) -> int:
    clock = Clock(folder)
    end = os._exit

    def written_exit(code: int) -> None:
        clock.write()
        end(code)

    os._exit = written_exit  # type: ignore[assignment]
    os.register_at_fork(after_in_child=clock.forked)
    watch_imports(clock)
    from plait.cli.main import main as plait

    sys.argv = ["plait", *arguments]
    code = plait()
    clock.write()
    return code


if __name__ == "__main__":
    del sys.path[0]  # the folder of tools
    sys.exit(main(sys.argv[1], sys.argv[2:]))
