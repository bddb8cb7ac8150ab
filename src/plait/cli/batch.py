"""`plait verify DIR` and `plait verify TASK.yml TASK.yml ...`: one task after the other, a line for
each. For limits of a whole night, scores and plots there is `plait bench`."""

from __future__ import annotations

import argparse
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from plait.cli import exits
from plait.cli.forms import forms_wanted
from plait.cli.output import Console
from plait.cli.progress import progress
from plait.errors import InputError
from plait.portfolio.options import Options
from plait.portfolio.tasks import SUFFIXES
from plait.report.characters import one_line

if TYPE_CHECKING:
    from plait.api import Result

_INTERRUPTED = "interrupted"


def is_batch(options: Options) -> bool:
    """Whether these are tasks of their own, and not the sources of one program."""
    tasks = [path for path in options.programs if path.endswith(SUFFIXES) or Path(path).is_dir()]
    return len(tasks) > 1 or any(Path(path).is_dir() for path in tasks)


def verify_batch(options: argparse.Namespace, chosen: Options, console: Console) -> int:
    """The last line is the verdict on all tasks together, the worst one first."""
    from plait.bench.suite import find_tasks
    from plait.bench.verifying import warm_up

    for name in (*forms_wanted(options), *(["certificate"] if chosen.certificate else [])):
        raise InputError(f"--{name} is for one program; `plait bench --out DIR` records many tasks")
    suite = find_tasks(chosen.programs)
    for flaw in suite.flaws:
        console.error(flaw.reason.split("\n")[0])
    names = dict.fromkeys(task.path for task in suite.tasks)
    if not names and not suite.flaws:
        raise InputError(f"no task definitions (.yml) in {', '.join(chosen.programs)}")
    warm_up()
    tally = _Tally(len(suite.flaws))
    for number, task in enumerate(suite.tasks, start=1):
        about = replace(
            chosen, programs=task.files, prp=task.property_file, data_model=task.data_model
        )
        if chosen.property or chosen.prp is not None or chosen.error_function:
            about = replace(about, prp=chosen.prp)
        head = f"[{number}/{len(suite.tasks)}] {one_line(task.path)}"
        if tally.add(console, head, _verify(options, about)):
            break
    return tally.report(console, len(suite.tasks))


def _verify(options: argparse.Namespace, chosen: Options) -> Result | InputError:
    from plait.api import verify_with

    try:
        with progress(options.progress) as shown:
            result = verify_with(chosen, shown.show)
            shown.done(result.verdict)
            return result
    except InputError as error:
        return error


class _Tally:
    def __init__(self, flaws: int) -> None:
        self._verdicts: Counter[str] = Counter({"error": flaws} if flaws else {})
        self._violated: set[str] = set()
        self._is_interrupted = False

    def add(self, console: Console, head: str, found: Result | InputError) -> bool:
        """Show it; whether the user wants no more."""
        if isinstance(found, InputError):
            self._verdicts["error"] += 1
            console.line(f"{head}: error: {one_line(str(found).splitlines()[0])}")
            return False
        self._verdicts[found.verdict] += 1
        detail = "" if found.verdict == "true" else f" ({one_line(found.violated or found.reason)})"
        seconds = found.statistics["wall_seconds"]
        console.line(f"{head}: {found.verdict}{detail}, {seconds:.2f} s, {found.engine}")
        console.flush()
        if found.violated is not None:
            self._violated.add(found.violated)
        self._is_interrupted = found.verdict == "unknown" and found.reason.startswith(_INTERRUPTED)
        return self._is_interrupted

    def report(self, console: Console, total: int) -> int:
        counts = ", ".join(f"{count} {verdict}" for verdict, count in self._verdicts.items())
        console.line(f"{counts} of {total} tasks")
        undecided = self._verdicts["unknown"]
        if self._violated:
            console.verdict("false", ", ".join(sorted(self._violated)), "")
            return exits.VIOLATED
        if self._is_interrupted:
            console.verdict("unknown", None, _INTERRUPTED)
            return exits.UNKNOWN
        if self._verdicts["error"]:
            console.verdict("unknown", None, f"{self._verdicts['error']} tasks cannot be used")
            return exits.UNUSABLE_INPUT
        if undecided:
            console.verdict("unknown", None, f"{undecided} of {total} tasks")
            return exits.UNKNOWN
        console.verdict("true", None, "")
        return exits.HOLDS
