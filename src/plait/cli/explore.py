"""`plait explore`: a verdict over all schedules, with a shortest counterexample."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from plait.cli import exits
from plait.cli.chosen import subject_of
from plait.cli.forms import are_wanted, save_forms
from plait.cli.output import Console, save
from plait.cli.printing import print_conditions, print_trace, print_warning
from plait.data import dataclass, field
from plait.portfolio.assumptions import assumptions_of
from plait.portfolio.subject import (
    Subject,
    for_exploring,
    load_program,
    parts,
    specification,
)
from plait.portfolio.tasks import expand_task
from plait.portfolio.without_checks import properties_without_checks

if TYPE_CHECKING:
    from plait.evidence.result import Result
    from plait.model.program import Program
    from plait.model.properties import Specification
    from plait.semantics.explore import Exploration


@dataclass(slots=True, eq=False)
class Explored:
    """A verdict on one program and specification, with its evidence as JSON has it.

    `verdict` is "true", "false" or "unknown".
    """

    program: Program
    specification: Specification
    exploration: Exploration
    verdict: str
    reason: str
    assumptions: list[str]
    evidence: dict[str, Any] = field(default_factory=dict)

    @property
    def violated(self) -> str | None:
        violation = self.exploration.violation
        return None if self.verdict != "false" or violation is None else violation.kind


def explore(options: argparse.Namespace, console: Console) -> int:
    subject = expand_task(subject_of(options))
    whole, entry = specification(subject)
    answers: list[Explored] = []
    for part in parts(whole):
        spent = sum(answer.exploration.seconds for answer in answers)
        answers.append(_answer(options, subject, part, entry, spent))
        if answers[-1].verdict == "false" or answers[-1].reason == "interrupted":
            break
    answer = worst(answers)
    if any(item.reason == "interrupted" for item in answers):
        console.wipe_interrupt()
    console.found = answer.verdict, answer.violated, answer.reason
    result = _composed(subject, whole, entry, answers, answer)
    print_warning(console, result)
    if result.trace:
        print_trace(console, result, verbose=options.verbose)
    print_conditions(console, result)
    numbers = result.statistics
    console.line(
        f"engine explore: {numbers['states']} states, {numbers['transitions']} steps,"
        f" {numbers['seconds']:.2f} s"
    )
    is_written = _write_files(options, console, answer, result)
    console.verdict(result.verdict, result.violated, result.reason)
    return exits.OF_VERDICTS[answer.verdict] if is_written else exits.UNUSABLE_INPUT


def worst(answers: list[Explored]) -> Explored:
    """The answer to several questions together; its assumptions are those of all."""
    rank = {"false": 0, "unknown": 1, "true": 2}
    chosen = min(answers, key=lambda answer: rank[answer.verdict])
    if chosen.verdict == "true":
        chosen.assumptions = list(
            dict.fromkeys(text for answer in answers for text in answer.assumptions)
        )
    return chosen


def _answer(
    options: argparse.Namespace, subject: Subject, part: Specification, entry: str, spent: float
) -> Explored:
    from plait.semantics.explore import ExploreOptions
    from plait.semantics.explore import explore as explore_all

    program = load_program(subject, part, entry)
    assumptions = assumptions_of(
        program,
        part,
        spurious_wakeups=options.spurious_wakeups,
        failing_calls=options.failing_calls,
    )
    part = for_exploring(program, part)
    exploration = explore_all(
        program,
        part,
        ExploreOptions(
            max_states=options.max_states,
            max_seconds=None if options.timeout is None else max(options.timeout - spent, 0.0),
            inputs=options.inputs,
            reduction=options.reduction == "sleep",
        ),
    )
    answer = Explored(
        program, part, exploration, exploration.verdict.value, exploration.reason, assumptions
    )
    if exploration.schedule is not None:
        _show(answer)
    return answer


def _show(answer: Explored) -> None:
    """Execute the counterexample again; one that does not show the violation proves nothing."""
    from plait.evidence.counterexample import Found, NotShown, evidence_of
    from plait.portfolio.evidence_rows import row_of

    violation, schedule = answer.exploration.violation, answer.exploration.schedule
    assert violation is not None and schedule is not None
    found = Found(
        violation.kind, violation.message, violation.thread, violation.origin, violation.other
    )
    if violation.other_thread:
        found.threads = violation.thread, violation.other_thread
    try:
        evidence = evidence_of(answer.program, answer.specification, schedule, found)
    except NotShown as error:
        answer.verdict = "unknown"
        why = f"the counterexample of {violation.kind} does not replay ({error})"
        answer.reason = f"internal error: {why}"
        return
    answer.exploration.schedule = evidence.schedule
    answer.reason = evidence.violation.message
    answer.evidence = row_of(evidence)


def _composed(
    subject: Subject,
    whole: Specification,
    entry: str,
    answers: list[Explored],
    answer: Explored,
) -> Result:
    from plait.portfolio.compose import composed
    from plait.portfolio.messages import Loaded, Question
    from plait.portfolio.messages import Result as Answered
    from plait.portfolio.rows import diagnostic_row

    properties = sorted(item.value for item in whole.properties)
    question = Question(entry, properties, sorted(whole.error_functions), {})
    rows = [diagnostic_row(item) for each in answers for item in each.program.unsupported]
    unsupported = [row for index, row in enumerate(rows) if row not in rows[:index]]
    unchecked = [
        name
        for each in answers
        for name in properties_without_checks(each.program, each.specification)
    ]
    loaded = Loaded(answer.assumptions, unsupported, sorted(unchecked))
    message = Answered(
        answer.verdict,
        answer.reason,
        answer.violated,
        statistics=_statistics(answers),
        evidence=answer.evidence,
    )
    return composed(subject, "explore", question, loaded, message, {}, [])


def _statistics(answers: list[Explored]) -> dict[str, float]:
    explorations = [answer.exploration for answer in answers]
    return {
        "states": sum(item.states for item in explorations),
        "transitions": sum(item.transitions for item in explorations),
        "expansions": sum(item.expansions for item in explorations),
        "seconds": round(sum(item.seconds for item in explorations), 6),
    }


def _write_files(
    options: argparse.Namespace, console: Console, answer: Explored, result: Result
) -> bool:
    """Whether all files that were asked for could be written."""
    from plait.portfolio.compose import add_sources

    written = []
    schedule = answer.exploration.schedule
    if options.save_schedule is not None and schedule is not None:
        from plait.semantics.schedule import to_text

        text = to_text(schedule)
        written.append(save(console, "--save-schedule", options.save_schedule, text))
    if are_wanted(options):
        add_sources(result)
        written.append(save_forms(options, console, result))
    return all(written)
