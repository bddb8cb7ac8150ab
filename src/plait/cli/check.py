"""`plait check`: whether a certificate proves what it claims about a program.

What is to be shown, and how the sources are read, is said by the options, as for `plait verify`;
the certificate is not believed in this either. The checker (`plait.certificates`) follows it step
by step.
"""

from __future__ import annotations

import argparse
import shlex

from plait.cli.chosen import subject_of
from plait.cli.judge_file import Worker, judge_file
from plait.cli.output import Console


def check(options: argparse.Namespace, console: Console) -> int:
    return judge_file(options, console, "CERTIFICATE", lambda worker: _check_file(options, worker))


def _check_file(options: argparse.Namespace, worker: Worker) -> None:
    from plait.certificates.document import Certificate
    from plait.certificates.templates.check import check_any
    from plait.certificates.templates.reading import read_any
    from plait.certificates.verdicts import Ruling
    from plait.portfolio.arguments import as_arguments, with_sizes_of
    from plait.portfolio.assumptions import assumptions_of, assumptions_of_certificate
    from plait.portfolio.subject import load_program, read_text, specification

    certificate = read_any(read_text(options.certificate))
    subject = with_sizes_of(subject_of(options), certificate.options)
    chosen, entry = specification(subject)
    program = load_program(subject, chosen, entry)
    assumptions = assumptions_of(
        program,
        chosen,
        spurious_wakeups=options.spurious_wakeups,
        failing_calls=options.failing_calls,
    )
    assumptions += assumptions_of_certificate(program, chosen)
    size = f"{certificate.size}, by the engine {certificate.engine}"
    worker.loaded([f"claim: {chosen}", f"certificate: {size}"], assumptions)

    what = "nodes" if isinstance(certificate, Certificate) else "places"

    def progress(done: int, every: int) -> None:
        worker.progress(f"{done:,} of {every:,} {what} checked")

    verdict = check_any(program, chosen, certificate, worker.deadline, progress)
    reason = verdict.reason
    made_with = list(certificate.options)
    if verdict.answer is Ruling.REJECTED and made_with != as_arguments(subject):
        reason += f"; it was made with {shlex.join(made_with) or 'no options'}"
    if verdict.answer is Ruling.UNKNOWN and worker.is_late:
        reason = f"time limit of {options.timeout:g} s"
    counts = f"{verdict.nodes} {what}, {verdict.steps} steps, {verdict.queries} questions to z3"
    worker.answer(verdict.answer.value, reason, [counts])
