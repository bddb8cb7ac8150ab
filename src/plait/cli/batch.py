"""`plait verify DIR` and `plait verify TASK.yml TASK.yml ...`: one task after the other, a line for
each. For limits of a whole night, scores and plots there is `plait bench`."""

from __future__ import annotations

import argparse
import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from plait.cli import exits
from plait.cli.forms import forms_wanted
from plait.cli.internal_error import tell_failure
from plait.cli.interrupts import Interrupts
from plait.cli.output import Console
from plait.cli.progress import progress
from plait.data import dataclass, replace
from plait.errors import InputError, PlaitError, describe
from plait.portfolio.options import Options
from plait.portfolio.subject import specification
from plait.portfolio.tasks import SUFFIXES
from plait.report.characters import one_line

if TYPE_CHECKING:
    from plait.api import Result, Status

_INTERRUPTED = "interrupted"


def is_batch(options: Options) -> bool:
    """Whether these are tasks of their own, and not the sources of one program. InputError for a
    task that cannot be used."""
    if any(Path(path).is_dir() for path in options.programs):
        return True
    tasks = [path for path in options.programs if path.endswith(SUFFIXES)]
    if len(tasks) == len(options.programs) == 1:
        return _has_several_properties(tasks[0]) and not _is_chosen(options)
    return len(tasks) > 1


def _is_chosen(options: Options) -> bool:
    """Whether the property is not that of the task."""
    return bool(options.property or options.prp is not None or options.error_function)


def _has_several_properties(path: str) -> bool:
    from plait.bench.suite import find_definitions

    definitions, flaws = find_definitions([path])
    for flaw in flaws:
        raise InputError(flaw.reason)
    return any(len(item.properties) > 1 for item in definitions)


def verify_batch(
    options: argparse.Namespace, chosen: Options, console: Console, interrupts: Interrupts
) -> int:
    """The last line is the verdict on all tasks together, the worst one first."""
    from plait.bench.verifying import warm_up

    for name in (*forms_wanted(options), *(["certificate"] if chosen.certificate else [])):
        raise InputError(
            f"--{name} is for one program and one property, which --property chooses;"
            " `plait bench --out DIR` records many tasks"
        )
    chosen.check()
    plan = _plan(chosen)
    if not (plan.questions or plan.unusable or plan.left_out):
        raise InputError(f"no task definitions (.yml) in {', '.join(chosen.programs)}")
    console.errors(plan.unusable, in_full=options.verbose)
    console.errors([f"left out: {reason}" for reason in plan.left_out], in_full=options.verbose)
    warm_up()
    tally = _Tally(console, plan)
    try:
        for number, question in enumerate(plan.questions, start=1):
            interrupts.again()
            _answer(options, question, tally, interrupts, f"{number}/{len(plan.questions)}")
        interrupts.begun()
    except KeyboardInterrupt:
        console.wipe_interrupt()
        tally.is_interrupted = True
    return tally.report()


@dataclass(frozen=True, slots=True)
class _Question:
    path: str
    about: str
    options: Options


@dataclass(frozen=True, slots=True)
class _Plan:
    """What is to be verified, and the reasons why other tasks are not."""

    questions: list[_Question]
    unusable: list[str]
    left_out: list[str]


def _plan(chosen: Options) -> _Plan:
    from plait.bench.suite import find_definitions, find_tasks

    if _is_chosen(chosen):
        about = str(specification(chosen)[0])
        definitions, flaws = find_definitions(chosen.programs, chosen.data_model)
        questions = [
            _Question(
                item.path,
                about,
                replace(chosen, programs=item.files, data_model=item.data_model),
            )
            for item in definitions
        ]
        return _Plan(questions, [flaw.reason for flaw in flaws], [])
    suite = find_tasks(chosen.programs, data_model=chosen.data_model)
    questions = [
        _Question(
            task.path,
            task.property_name,
            replace(
                chosen, programs=task.files, prp=task.property_file, data_model=task.data_model
            ),
        )
        for task in suite.all_tasks
    ]
    unusable = [flaw.reason for flaw in suite.flaws]
    unusable += [item.reason for item in suite.left_out if item.is_named]
    return _Plan(questions, unusable, [i.reason for i in suite.left_out if not i.is_named])


def _answer(
    options: argparse.Namespace,
    question: _Question,
    tally: _Tally,
    interrupts: Interrupts,
    number: str,
) -> None:
    head = f"[{number}] {one_line(f'{question.path} {question.about}')}"
    failure = None
    try:
        result = _verify(options, question, interrupts)
    except InputError as error:
        tally.add_unusable(head, str(error).splitlines()[0])
    except MemoryError:
        tally.add_unknown(head, "out of memory")
    except PlaitError as error:
        tally.add_unknown(head, str(error))
    except Exception as error:
        if os.environ.get("PLAIT_TRACEBACK"):
            raise
        failure = {"reason": f"internal error: {describe(error)}"}
        tally.add_unknown(head, failure["reason"])
    else:
        failure = result.failure
        tally.add(head, result)
    if failure is not None:
        alone = {**vars(options), **_named(question)}
        tell_failure(argparse.Namespace(**alone), tally.console, failure)


def _named(question: _Question) -> dict[str, object]:
    """The options that verify this task alone."""
    chosen = question.options
    return {
        "programs": list(chosen.programs),
        "prp": chosen.prp,
        "data_model": chosen.data_model,
    }


def _verify(options: argparse.Namespace, question: _Question, interrupts: Interrupts) -> Result:
    from plait.api import verify_with

    with progress(options.progress, task=question.path, property=question.about) as shown:

        def watch(status: Status) -> None:
            interrupts.begun()
            shown.show(status)

        try:
            result = verify_with(question.options, watch)
        finally:
            interrupts.begun()  # even if no engine has worked
        shown.done(result.verdict)
        return result


class _Tally:
    """A batch is `true` if every task is: of each one it is known what became of it."""

    def __init__(self, console: Console, plan: _Plan) -> None:
        self.console = console
        self.is_interrupted = False
        self._questions = len(plan.questions)
        self._total = len(plan.questions) + len(plan.unusable) + len(plan.left_out)
        self._verdicts: Counter[str] = Counter()
        self._unusable = len(plan.unusable)
        self._left_out = len(plan.left_out)
        self._violated: set[str] = set()

    def add_unusable(self, head: str, reason: str) -> None:
        self._questions -= 1
        self._unusable += 1
        self._say(f"{head}: error: {one_line(reason)}")

    def add_unknown(self, head: str, reason: str) -> None:
        self._verdicts["unknown"] += 1
        self._say(f"{head}: unknown ({one_line(reason)})")

    def add(self, head: str, found: Result) -> None:
        """Raises KeyboardInterrupt if that has ended it."""
        self._verdicts[found.verdict] += 1
        if found.violated is not None:
            self._violated.add(found.violated)
        detail = "" if found.verdict == "true" else f" ({one_line(found.violated or found.reason)})"
        seconds = found.statistics["wall_seconds"]
        origin = "" if found.cached is None else ", from the cache"
        self._say(f"{head}: {found.verdict}{detail}, {seconds:.2f} s, {found.engine}{origin}")
        if found.is_interrupted:
            raise KeyboardInterrupt

    def _say(self, line: str) -> None:
        self.console.line(line)
        self.console.flush()

    def report(self) -> int:
        not_true = {
            "false": self._verdicts["false"],
            "unknown": self._verdicts["unknown"],
            "unusable": self._unusable,
            "left out": self._left_out,
            "not done": self._questions - sum(self._verdicts.values()),
        }
        tasks = f"{self._total} task" + ("" if self._total == 1 else "s")
        self.console.line(_counted({"true": self._verdicts["true"], **not_true}, tasks))
        if self._verdicts["false"]:
            self.console.verdict("false", ", ".join(sorted(self._violated)), "")
            return exits.VIOLATED
        if self._verdicts["true"] == self._total:
            self.console.verdict("true", None, "")
            return exits.HOLDS
        reason = _counted(not_true, tasks)
        if self.is_interrupted:
            self.console.verdict("unknown", None, f"{_INTERRUPTED}; {reason}")
            return exits.UNKNOWN
        self.console.verdict("unknown", None, reason)
        return exits.UNUSABLE_INPUT if self._unusable else exits.UNKNOWN


def _counted(counts: dict[str, int], tasks: str) -> str:
    return ", ".join(f"{count} {what}" for what, count in counts.items() if count) + f" of {tasks}"
