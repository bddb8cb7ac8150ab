"""`plait replay`: a counterexample, shown in the compiled program.

This executes the user's program, as `plait hunt` and `plait cover --run` do.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plait.cli import exits
from plait.cli.interrupts import ended_by_signals
from plait.cli.output import Console
from plait.cli.parser import parse_question
from plait.data import dataclass
from plait.errors import Diagnostic, InputError
from plait.files import read_regular
from plait.portfolio.subject import (
    Subject,
    arguments_of_main,
    load_program,
    parts,
    read_text,
    specification,
)
from plait.report.characters import one_line

if TYPE_CHECKING:
    from plait.model.program import Program
    from plait.model.properties import Specification
    from plait.native.build import Builder, Source
    from plait.native.execute import Run
    from plait.native.plan import Plan
    from plait.semantics.run import Execution

_GIB = 1 << 30
_LARGEST_SOURCE = 20_000_000


@dataclass(slots=True, eq=False)
class _Counterexample:
    """What a result says about a failure."""

    question: Subject
    violated: str
    message: str
    thread: int
    schedule: str
    changed: list[str]


def replay(options: argparse.Namespace, console: Console) -> int:
    return ended_by_signals(lambda: _replay(options, console))


def _replay(options: argparse.Namespace, console: Console) -> int:
    from plait.native.build import Builder, find_compiler

    check_emit_folder(options.emit)
    found = _read_result(options)
    compiler = find_compiler(options.cc)
    whole, entry = specification(found.question)
    sources = sources_of(found.question, entry)
    program, plan = _plan(found, whole, entry, [item.path for item in sources], options.result)
    builder = Builder(program, entry, {"plan.txt": plan}, sources, compiler)
    console.line(f"the failure: {found.message}")
    with tempfile.TemporaryDirectory(prefix="plait-replay-") as folder:
        executable = builder.build(Path(folder))
        runs = [_run(executable, options) for _ in range(options.times)]
    _report(options, console, [*found.changed, *plan.notes, *builder.notes()], runs)
    is_written = options.emit is None or _emit(options, console, builder, found)
    good = sum(run.is_reproduced for run in runs)
    console.line(f"REPLAY: {good} of {len(runs)} runs of the compiled program show the failure")
    if not is_written:
        return exits.UNUSABLE_INPUT
    return exits.HOLDS if good == len(runs) else exits.VIOLATED


def _run(executable: Path, options: argparse.Namespace) -> Run:
    from plait.native.execute import execute

    return execute(executable, options.timeout, int(options.memory_limit * _GIB))


def _report(
    options: argparse.Namespace, console: Console, notes: list[str], runs: list[Run]
) -> None:
    """What the runs did; those that went the same way once."""
    console.block("notes", notes)
    kinds = Counter((run.outcome, run.detail, run.notes) for run in runs)
    for (outcome, detail, differences), count in kinds.most_common():
        times = "once" if count == 1 else f"{count} times"
        head = "" if outcome == "failed" else f"({outcome}) "
        console.line(f"{times}: {head}{detail}")
        if outcome != "failed":
            console.lines(f"  {text}" for text in differences)
    if options.verbose and runs:
        console.line("the program printed in the first run:")
        console.lines(f"  {line}" for line in runs[0].output.splitlines())


def _emit(
    options: argparse.Namespace, console: Console, builder: Builder, found: _Counterexample
) -> bool:
    """Whether the test could be written."""
    from plait.native.emit import emit

    try:
        emit(Path(options.emit), builder, found.message)
    except OSError as error:
        console.error(f"--emit {options.emit}: cannot write: {error.strerror or error}")
        return False
    except InputError as error:
        console.error(str(error))
        return False
    console.line(f"written: {options.emit} (make test fails as long as the error is there)")
    return True


def check_emit_folder(path: str | None) -> None:
    """Complain about a folder that cannot work before the time is spent, not after."""
    from plait.native.emit import is_foreign

    if path is None:
        return
    if not path or (os.path.lexists(path) and not os.path.isdir(path)):
        raise InputError(f"--emit {path}: name a folder")
    try:
        is_taken = is_foreign(Path(path))
    except OSError as error:
        raise InputError(f"--emit {path}: {error.strerror or error}") from error
    if is_taken:
        raise InputError(f"--emit {path}: has files that are not of such a test; name a new folder")


# --- what the result says


def _read_result(options: argparse.Namespace) -> _Counterexample:
    path = options.result

    def wrong(what: str) -> InputError:
        return InputError(Diagnostic(what, path))

    try:
        data: Any = json.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        raise wrong(f"not a result of plait: {error}") from None
    if not isinstance(data, dict) or "plait-result" not in data:
        raise wrong("not a result of plait: no 'plait-result' in it")
    if data.get("verdict") != "false":
        raise wrong(f"nothing to replay: the verdict is {data.get('verdict')!r}, not 'false'")
    violation, schedule = data.get("violation"), data.get("schedule")
    if not isinstance(violation, dict) or not isinstance(schedule, dict):
        raise wrong("nothing to replay: the result has no schedule")
    files = _strings(options.programs or data.get("files"))
    arguments = _strings(data.get("arguments") or _older_arguments(data))
    if files is None or arguments is None:
        raise wrong("not a result of plait: 'files' or 'arguments' are no lists of strings")
    for file in files:
        if not os.path.exists(file):
            raise InputError(
                f"{file}: there is no such file; go to the folder in which the result was made, or"
                " name the sources: plait replay RESULT PROG..."
            )
    if "--memory-model" in arguments:
        raise wrong(
            "a counterexample under a weak memory model: when a store becomes visible cannot be"
            " forced on a processor, the trace of the interpreter is the evidence"
        )
    question = parse_question(arguments, files)
    thread = violation.get("thread")
    return _Counterexample(
        question,
        str(violation.get("property")),
        one_line(str(violation.get("message"))),
        thread if isinstance(thread, int) else 0,
        json.dumps(schedule),
        _changed(data.get("sources")),
    )


def _changed(sources: Any) -> list[str]:
    """The files that are not what they were, if the result says what they were."""
    found: list[str] = []
    for row in sources if isinstance(sources, list) else []:
        if not isinstance(row, dict) or not isinstance(row.get("path"), str):
            continue
        path = Path(row["path"])
        try:
            is_known = path.is_file() and path.stat().st_size <= _LARGEST_SOURCE
            digest = hashlib.sha256(read_regular(path)).hexdigest() if is_known else None
        except (OSError, ValueError):
            continue
        if is_known and digest != row.get("sha256"):
            found.append(f"{path} has changed since the result was made")
    return found


def _older_arguments(data: dict[str, Any]) -> list[str]:
    """For a result that does not say its options: what it says about the question."""
    arguments: list[str] = []
    properties = data.get("properties")
    for name in properties if isinstance(properties, list) else []:
        arguments += ["--property", str(name)]
    for key, option in (("data_model", "--data-model"), ("entry", "--entry")):
        if data.get(key) is not None:
            arguments += [option, str(data[key])]
    return arguments


def _strings(value: Any) -> list[str] | None:
    is_fine = isinstance(value, list) and all(map(_is_argument, value))
    return value if is_fine else None


def _is_argument(value: Any) -> bool:
    """Whether a value can be handed to another program."""
    if not isinstance(value, str) or "\0" in value:
        return False
    try:
        os.fsencode(value)
    except UnicodeEncodeError:
        return False
    return True


def _plan(
    found: _Counterexample, whole: Specification, entry: str, compiled: list[str], path: str
) -> tuple[Program, Plan]:
    """Interpret the counterexample again, and derive the plan from its trace."""
    from plait.native.build import stand_ins
    from plait.native.plan import make_plan
    from plait.semantics.run import run
    from plait.semantics.schedule import from_text

    chosen = _part(whole, found.violated)
    program = load_program(found.question, chosen, entry)
    try:
        schedule = from_text(found.schedule, path)
        execution = run(program, chosen, schedule=schedule, trace=True)
    except InputError as error:
        raise InputError(Diagnostic(f"{_CHANGED} ({error})", path)) from None
    _check_same(found, chosen, execution, path)
    thread = found.thread
    if found.violated not in _OF_STATES:
        thread = execution.outcome.thread
    spurious = found.question.spurious_wakeups and found.violated != "no-deadlock"
    plan = make_plan(
        program,
        chosen,
        execution,
        found.violated,
        thread,
        stands_in_for=stand_ins(),
        spurious_wakeups=spurious,
        fixed_arguments=arguments_of_main(found.question.args),
        compiled=compiled,
    )
    return program, plan


_OF_STATES = ("no-data-race", "no-deadlock")
_CHANGED = (
    "the counterexample is not one of these sources: they have changed since, or the options differ"
)


def _check_same(
    found: _Counterexample, chosen: Specification, execution: Execution, path: str
) -> None:
    if found.violated in _OF_STATES:
        if all(item.value != found.violated for item in chosen.properties):
            raise InputError(Diagnostic(f"'{found.violated}' was not asked for", path))
        return  # properties of the state that the schedule leads to, not of a step
    if execution.ending != "violation" or execution.outcome.kind != found.violated:
        raise InputError(Diagnostic(_CHANGED, path))


def _part(whole: Specification, violated: str) -> Specification:
    """The specification whose model the counterexample is one of."""
    for part in parts(whole):
        if (violated == "no-deadlock") == any(
            item.value == "no-deadlock" for item in part.properties
        ):
            return part
    return whole


def sources_of(question: Subject, entry: str) -> list[Source]:
    from plait.native.build import Source
    from plait.portfolio.subject import front_end_options

    front_end = front_end_options(question, entry)
    chosen = [(path, front_end) for path in question.programs]
    if front_end.compile_commands is not None:
        from plait.c.toolchain import from_compile_commands

        files = question.programs
        chosen = from_compile_commands(front_end.compile_commands, files, front_end)
    sources: list[Source] = []
    for path, its in chosen:
        flags = [f"-std={its.std}"]
        flags += [f"-I{os.path.abspath(item)}" for item in its.include_dirs]
        flags += [f"-D{item}" for item in its.defines] + [f"-U{item}" for item in its.undefines]
        for item in its.force_includes:
            flags += [f"-include{os.path.abspath(item) if os.path.exists(item) else item}"]
        sources.append(Source(os.path.abspath(path), (*flags, *its.compiler_flags)))
    return sources
