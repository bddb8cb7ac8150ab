"""`plait explore`: a verdict over all schedules, with a shortest counterexample."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from plait.cli import exits
from plait.cli.arguments import as_arguments
from plait.cli.assumptions import assumptions_of
from plait.cli.inputs import load_program, parts, specification
from plait.cli.output import Console, check_can_write, save, width
from plait.cli.verdict import Answer, Result

if TYPE_CHECKING:
    from plait.model.properties import Specification


def explore(options: argparse.Namespace, console: Console) -> int:
    for option, path in (("--save-schedule", options.save_schedule), ("--json", options.json)):
        if path is not None:
            check_can_write(option, path)
    whole, entry = specification(options)
    answers: list[Answer] = []
    for part in parts(whole):
        spent = sum(answer.exploration.seconds for answer in answers)
        answers.append(_answer(options, part, entry, spent))
        if answers[-1].verdict == "false" or answers[-1].reason == "interrupted":
            break
    answer = worst(answers)
    statistics = _statistics(answers)
    _print_evidence(options, console, answers, answer)
    console.line(
        f"{statistics['states']} states, {statistics['transitions']} steps,"
        f" {statistics['seconds']:.2f} s"
    )
    result = Result(answer, options.programs, entry, [], statistics, as_arguments(options))
    is_written = _write_files(options, console, result, whole)
    console.line(answer.verdict_line())
    return answer.exit_code if is_written else exits.UNUSABLE_INPUT


def worst(answers: list[Answer]) -> Answer:
    """The answer to several questions together; its assumptions are those of all."""
    rank = {"false": 0, "unknown": 1, "true": 2}
    chosen = min(answers, key=lambda answer: rank[answer.verdict])
    if chosen.verdict == "true":
        chosen.assumptions = list(
            dict.fromkeys(text for answer in answers for text in answer.assumptions)
        )
    return chosen


def _answer(options: argparse.Namespace, part: Specification, entry: str, spent: float) -> Answer:
    from plait.semantics.explore import explore as explore_all

    program = load_program(options, part, entry)
    assumptions = assumptions_of(program, part, spurious_wakeups=options.spurious_wakeups)
    exploration = explore_all(
        program,
        part,
        max_states=options.max_states,
        max_seconds=None if options.timeout is None else max(options.timeout - spent, 0.0),
        inputs=options.inputs,
        reduction=options.reduction == "sleep",
    )
    answer = Answer(
        program, part, exploration, exploration.verdict.value, exploration.reason, assumptions
    )
    if exploration.schedule is not None:
        _replay(answer)
    return answer


def _replay(answer: Answer) -> None:
    """Execute the counterexample again; one that does not show the violation proves nothing."""
    from plait.semantics.run import run

    exploration = answer.exploration
    assert exploration.violation is not None
    answer.replay = run(
        answer.program, answer.specification, schedule=exploration.schedule, trace=True
    )
    kind = exploration.violation.kind
    if kind in ("no-data-race", "no-deadlock"):
        return  # properties of the state that the schedule leads to, not of a step
    if answer.replay.ending != "violation" or answer.replay.outcome.kind != kind:
        answer.verdict = "unknown"
        answer.reason = f"internal error: the counterexample of {kind} does not replay"


def _print_evidence(
    options: argparse.Namespace, console: Console, answers: list[Answer], answer: Answer
) -> None:
    program, violation = answer.program, answer.exploration.violation
    if violation is not None and answer.replay is not None:
        from plait.semantics.render import render

        text = render(program, answer.replay, width(), verbose=options.verbose)
        console.lines(text.splitlines())
        if answer.replay.ending not in ("violation", "deadlock"):
            # A race, or a deadlock of some threads, is not how an execution ends.
            message = f"{violation.kind} violated: {violation.message}"
            console.line(str(program.diagnostic(violation.origin, message)))
        console.line()
    unsupported = {str(item): None for each in answers for item in each.program.unsupported}
    console.block("unsupported constructs", unsupported)
    console.block("assumptions", answer.assumptions)


def _statistics(answers: list[Answer]) -> dict[str, float]:
    explorations = [answer.exploration for answer in answers]
    return {
        "states": sum(item.states for item in explorations),
        "transitions": sum(item.transitions for item in explorations),
        "expansions": sum(item.expansions for item in explorations),
        "seconds": round(sum(item.seconds for item in explorations), 6),
    }


def _write_files(
    options: argparse.Namespace, console: Console, result: Result, whole: Specification
) -> bool:
    """Whether all files that were asked for could be written."""
    written = []
    schedule = result.answer.exploration.schedule
    if options.save_schedule is not None and schedule is not None:
        from plait.semantics.schedule import to_text

        text = to_text(schedule)
        written.append(save(console, "--save-schedule", options.save_schedule, text))
    if options.json is not None:
        result.properties = sorted(item.value for item in whole.properties)
        written.append(save(console, "--json", options.json, result.to_json()))
    return all(written)
