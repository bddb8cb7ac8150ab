"""One engine at work on one question: what it tells is passed on, what it finds is replayed, and
its answer becomes a result."""

from __future__ import annotations

import time
from importlib import import_module
from typing import TYPE_CHECKING, Any

from plait.engines.description import EngineDescription
from plait.engines.interface import (
    AccessOrder,
    Answer,
    Counterexample,
    Outcome,
    Proof,
    Question,
    WeakOrder,
)
from plait.engines.interface import Progress as EngineProgress
from plait.errors import InputError
from plait.portfolio.evidence_rows import row_of
from plait.portfolio.facts import Known
from plait.portfolio.messages import OutOfTime, Progress, Proved, Result, encode
from plait.portfolio.options import Options
from plait.portfolio.partial_proofs import names_of
from plait.work.child import Channel

if TYPE_CHECKING:
    from plait.evidence.counterexample import Found
    from plait.evidence.replay import Undecided
    from plait.model.facts import Fact
    from plait.model.program import Program
    from plait.model.properties import Specification
    from plait.semantics.schedule import Schedule

_LEAST_REDUCTION = 0.2
# How long a proof may be looked for once more, for the sake of its invariants.
_MORE_SECONDS = 2.0
_MORE_TIMES = 3.0


class EngineRun:
    """Listens to the engine. Facts are about one program: others hear of them only if the program
    `is_whole_question`, and not one of several that are verified together."""

    def __init__(
        self,
        engine: EngineDescription,
        options: Options,
        specification: Specification,
        program: Program,
        send: Channel,
        known: Known,
        *,
        is_whole_question: bool,
    ) -> None:
        self._engine = engine
        self._options = options
        self._specification = specification
        self._program = program
        self._send = send
        self._known = known
        self._is_whole_question = is_whole_question
        self._deadline: float | None = None
        self._began = time.monotonic()
        self._confirmed: Result | None = None  # what the last counterexample has shown
        self._doubt: Result | None = None  # that some counterexample does not replay
        self._finding: dict[str, Any] | None = None  # undefined behaviour nobody has asked for
        self._limit: Undecided | None = None  # an execution that needs more than the model has

    def result(self, deadline: float | None, previous: dict[str, Any] | None) -> Result | OutOfTime:
        """`previous` is what a proof before an edit has left."""
        model = self._specification.memory_model.value
        if model not in self._engine.memory_models:
            return Result("unknown", f"{self._engine.name} does not know the memory model {model}")
        beyond = sorted(names_of(self._specification) - self._engine.checks)
        if beyond:
            name = self._engine.name
            return Result("unknown", f"the engine {name} does not check {', '.join(beyond)}")
        self._deadline = deadline
        question = Question(
            self._program,
            self._specification,
            deadline,
            self._options.unwind,
            self._engine.settings(self._options.engine_options),
            self._known,
            previous,
        )
        outcome: Outcome = import_module(self._engine.module).answer(question, self)
        numbers = outcome.statistics.numbers()
        if outcome.is_out_of_time:
            return OutOfTime(numbers, outcome.so_far)
        result = self._concluded(outcome)
        if isinstance(result, OutOfTime):
            result.statistics = numbers
            return result
        if result.verdict != "unknown" or outcome.answer is Answer.UNKNOWN:
            result.bound = outcome.bound  # else it belongs to an answer that does not count
        result.statistics = numbers
        if self._limit is not None and outcome.answer is Answer.UNKNOWN and self._doubt is None:
            result.reason, result.beyond = str(self._limit), self._limit.beyond
        if self._finding is not None and result.verdict != "true":
            result.evidence["findings"] = [self._finding]
        return result

    def _concluded(self, outcome: Outcome) -> Result | OutOfTime:
        confirmed = self._confirmed
        if outcome.answer is Answer.VIOLATED:
            if confirmed is None or confirmed.verdict != "false":
                return Result("unknown", "internal error: a violation that was not replayed")
            return confirmed
        if self._doubt is not None:
            return self._doubt
        if outcome.answer is not Answer.HOLDS:
            return Result("unknown", outcome.reason)
        if self._finding is not None:
            return Result("unknown", "internal error: a proof in spite of undefined behaviour")
        if beyond := names_of(self._specification) - self._engine.proves:
            return Result("unknown", f"a proof of {', '.join(sorted(beyond))} is not relied on")
        return self._proved(outcome)

    # --- events

    def progress(self, progress: EngineProgress) -> None:
        properties = sorted(names_of(self._specification))
        self._send(
            encode(
                Progress(
                    progress.doing, progress.numbers, progress.so_far, progress.bound, properties
                )
            )
        )

    def facts(self, facts: tuple[Fact, ...]) -> None:
        from plait.model.facts import encode as rows_of

        self._known.add(facts)
        if facts and self._is_whole_question:
            self._send(encode(Proved(rows_of(facts))))

    def confirm(self, found: Counterexample) -> str:
        """A violation counts only if the reference interpreter shows it."""
        self.progress(EngineProgress("executing a counterexample"))
        self._confirmed = self._replayed(found)
        if self._confirmed.raises_doubt:
            self._doubt = self._confirmed
        return "" if self._confirmed.verdict == "false" else self._confirmed.reason

    # --- counterexamples

    def _replayed(self, found: Counterexample) -> Result:
        from plait.evidence.confirm import confirmed
        from plait.evidence.counterexample import NotShown
        from plait.evidence.replay import ReplayFailed, Undecided

        if found.is_undefined:
            return self._undefined(found)
        try:
            schedule, shown = confirmed(self._program, self._specification, found)
            return self._shown(self._specification, schedule, shown)
        except Undecided as error:
            self._note_limit(error)
            return Result("unknown", str(error))
        except (ReplayFailed, NotShown, InputError) as error:
            excuse = found.excuse()
            if excuse:
                return Result("unknown", excuse)
            reason = f"internal error: the counterexample does not replay ({error})"
            return Result("unknown", reason, failure={"plan": _plan(found)})

    def _undefined(self, found: Counterexample) -> Result:
        """What has no verdict for the engine may be undefined behaviour: a violation if that is
        asked for, else something that people want to know of."""
        from plait.evidence.confirm import confirmed
        from plait.evidence.counterexample import NotShown
        from plait.evidence.replay import ReplayFailed, Undecided

        place = self._program.user_place(found.origin)
        open_question = Result("unknown", f"undefined behaviour: {found.message} ({place})")
        if self._specification.assumes_defined:
            return open_question
        wide = self._specification.with_undefined()
        try:
            schedule, shown = confirmed(self._program, wide, found)
            result = self._shown(wide, schedule, shown)
        except Undecided as error:
            self._note_limit(error)
            return open_question
        except (ReplayFailed, NotShown, InputError):
            return open_question
        if self._specification.has_part(shown.kind):
            return result
        self._finding = self._finding or result.evidence
        return open_question

    def _note_limit(self, error: Undecided) -> None:
        if error.beyond and self._limit is None:
            self._limit = error

    def _shown(self, specification: Specification, schedule: Schedule, found: Found) -> Result:
        """Raises NotShown for a schedule that does not show it."""
        from plait.evidence.counterexample import evidence_of

        end = self._end_of_reduction()
        evidence = evidence_of(self._program, specification, schedule, found, end)
        reason = evidence.violation.message
        return Result("false", reason, found.kind, evidence=row_of(evidence))

    def _end_of_reduction(self) -> float:
        """A smaller counterexample is worth a tenth of the time that it took to find one."""
        now = time.monotonic()
        end = now + max(_LEAST_REDUCTION, (now - self._began) / 10)
        return end if self._deadline is None else min(end, self._deadline)

    # --- proofs

    def _proved(self, outcome: Outcome) -> Result | OutOfTime:
        options, proof = self._options, outcome.proof
        result = Result("true", outcome.reason)
        # Nothing is checked under an assumption that no certificate makes.
        is_checked = self._engine.needs_checking and not self._specification.assumes_defined
        document = certificate = None
        if proof is not None:
            if options.cache:
                result.predicates = proof.predicates()
            if is_checked or options.certificate or options.proof or options.invariants:
                document = proof.certificate()
        if document is not None and (is_checked or options.certificate):
            certificate = self._certificate(dict(document))
        if is_checked:
            rejection = self._rejection(certificate)
            if rejection is not None:
                return rejection
        if options.certificate:
            result.certificate = certificate
        if document is not None and proof is not None and (options.proof or options.invariants):
            result.evidence = self._tree_and_invariants(document, proof)
        return result

    def _rejection(self, certificate: str | None) -> Result | OutOfTime | None:
        """Why a proof does not count; None if the checker accepts it."""
        from plait.certificates.json_values import CertificateError
        from plait.certificates.templates.check import check_any
        from plait.certificates.templates.reading import read_any
        from plait.certificates.verdicts import Ruling

        if certificate is None:
            return Result("unknown", "a proof was found that no certificate can state")
        self.progress(EngineProgress("checking the proof"))
        try:
            document = read_any(certificate)
        except CertificateError as error:
            return Result("unknown", f"a proof was found, but its certificate is not read: {error}")
        verdict = check_any(self._program, self._specification, document, self._deadline)
        if verdict.answer is Ruling.ACCEPTED:
            return None
        if self._deadline is not None and time.monotonic() >= self._deadline:
            return OutOfTime({}, "a proof was found, but there was no time to check it")
        if verdict.answer is Ruling.UNKNOWN:
            return Result("unknown", f"a proof was found, but not checked: {verdict.reason}")
        return Result("unknown", f"a proof was found, but the checker rejects it: {verdict.reason}")

    def _certificate(self, document: dict[str, Any]) -> str:
        import json

        from plait.certificates.fingerprint import fingerprint
        from plait.portfolio.arguments import as_arguments

        document["options"] = as_arguments(self._options)
        document["fingerprint"] = fingerprint(self._program)
        return json.dumps(document, separators=(",", ":"))

    def _tree_and_invariants(self, document: dict[str, Any], proof: Proof) -> dict[str, Any]:
        from plait.evidence.proof import proof_of
        from plait.evidence.stored import plain

        found = proof_of(self._program, document, is_reduced=proof.is_reduced)
        if proof.is_reduced and self._options.invariants:
            whole = self._in_all_interleavings(proof)
            if whole is not None:
                found.invariants = proof_of(self._program, whole, is_reduced=False).invariants
        return {"invariants": plain(found.invariants), "tree": plain(found.tree)}

    def _in_all_interleavings(self, proof: Proof) -> dict[str, Any] | None:
        """The proof without partial-order reduction, if it does not take much longer: only that
        has invariants about shared variables."""
        self.progress(EngineProgress("looking for invariants of shared variables"))
        now = time.monotonic()
        end = now + max(_MORE_SECONDS, _MORE_TIMES * (now - self._began))
        return proof.unreduced(end if self._deadline is None else min(end, self._deadline))


def _plan(found: Counterexample) -> dict[str, Any]:
    """For a report of a mistake."""
    plan: dict[str, Any] = {
        "inputs": {str(thread): rows for thread, rows in found.inputs.items()},
        "unset": found.unset.rows(),
        "violator": found.violator,
    }
    if found.steps:
        return plan | {"steps": [[thread, list(inputs)] for thread, inputs in found.steps]}
    if isinstance(found.order, AccessOrder):
        return plan | {"order": found.order.threads, "children": found.order.children}
    if isinstance(found.order, WeakOrder):
        moves = [[item.thread, item.store, item.reads] for item in found.order.moves]
        return plan | {"moves": moves, "children": found.order.children}
    return plan | {"blocks": [[item.thread, item.function, item.location] for item in found.order]}
