"""The rules that a certificate has to satisfy (docs/certificates.md), node by node."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from plait.certificates.claims import AfterStep, AtNode, AtStart, State, claims
from plait.certificates.decide import Decider, Facts, Undecided
from plait.certificates.document import Cell, Certificate, Location, Node, Status, ThreadShape
from plait.certificates.execute import Executor
from plait.certificates.fingerprint import fingerprint
from plait.certificates.fitting import check_fit
from plait.certificates.independence import Footprint, Move, are_apart, are_independent, may_commute
from plait.certificates.locality import Locality
from plait.certificates.memory import Cells
from plait.certificates.outcomes import Ending, Step, StepOutcome
from plait.certificates.persistence import Persistence
from plait.certificates.races import check_races
from plait.certificates.sections import CriticalSections, Taker
from plait.certificates.state import Access, ActiveFrame, Registers, Situation, new_thread_shape
from plait.certificates.verdicts import Rejected, Ruling, Verdict
from plait.certificates.world import World
from plait.logic.substitute import Substitution
from plait.model.program import Program
from plait.model.properties import Property, Specification

# Properties that are checks of the model, and races. Deadlocks and leaks are properties of states
# that no rule here looks at. That an access is valid is shown where memory of locals is
# used again: who asks for it must know that nobody can notice that.
CERTIFIABLE = frozenset(
    {
        Property.ASSERTIONS,
        Property.UNREACH_CALL,
        Property.NO_OVERFLOW,
        Property.VALID_ACCESS,
        Property.LOCK_MISUSE,
        Property.NO_UNDEFINED,
        Property.MONITOR,
        Property.NO_DATA_RACE,
    }
)

Progress = Callable[[int, int], None]


def check(
    program: Program,
    specification: Specification,
    certificate: Certificate,
    deadline: float | None = None,
    progress: Progress | None = None,
) -> Verdict:
    """Whether a certificate shows that no execution of a program, loaded for the properties of the
    specification, violates one of them or meets undefined behaviour. `progress` hears how many
    nodes of how many are done."""

    def checker() -> _Checker:
        check_fit(program, certificate)
        decider = Decider(certificate.terms, deadline)
        return _Checker(program, specification, certificate, decider, progress)

    return verdict_of(program, specification, certificate, checker)


class Claim(Protocol):
    """What certificates of all kinds say of what they prove."""

    @property
    def fingerprint(self) -> str: ...

    @property
    def properties(self) -> tuple[str, ...]: ...

    @property
    def error_functions(self) -> tuple[str, ...]: ...


class Checker(Protocol):
    """`counts`: of nodes or places, of steps, of questions to z3."""

    @property
    def counts(self) -> tuple[int, int, int]: ...

    def run(self) -> None: ...


def verdict_of(
    program: Program,
    specification: Specification,
    certificate: Claim,
    make_checker: Callable[[], Checker],
) -> Verdict:
    checker: Checker | None = None
    try:
        if specification_of(certificate) != specification:
            raise Rejected(f"it claims {_claim(certificate)}, which is not what was asked")
        if fingerprint(program) != certificate.fingerprint:
            raise Rejected("it is about another program, or about other options")
        checker = make_checker()
        checker.run()
        answer, reason = Ruling.ACCEPTED, ""
    except Rejected as rejected:
        answer, reason = Ruling.REJECTED, _described(program, rejected)
    except Undecided as undecided:
        answer, reason = Ruling.UNKNOWN, str(undecided)
    except RecursionError:
        answer, reason = Ruling.UNKNOWN, "terms are nested too deeply"
    nodes, steps, queries = (0, 0, 0) if checker is None else checker.counts
    return Verdict(answer, reason, nodes, steps, queries)


def specification_of(certificate: Claim) -> Specification:
    """What the certificate claims; raises Rejected if that is nothing a certificate can show."""
    known = {item.value: item for item in CERTIFIABLE}
    if not certificate.properties:
        raise Rejected("it claims no property")
    for name in certificate.properties:
        if name not in known:
            raise Rejected(f"'{name[:80]}' is no property that a certificate can show")
    properties = frozenset(known[name] for name in certificate.properties)
    if (Property.UNREACH_CALL in properties) != bool(certificate.error_functions):
        raise Rejected("unreach-call is about certain functions, and needs to name them")
    return Specification(properties, frozenset(certificate.error_functions))


def _claim(certificate: Claim) -> str:
    claim = ", ".join(certificate.properties)
    if certificate.error_functions:
        claim += f" (no call of {', '.join(certificate.error_functions)})"
    return claim


def _described(program: Program, rejected: Rejected) -> str:
    node = "" if rejected.node is None else f"node {rejected.node}: "
    place = "" if rejected.origin.file < 0 else f" at {program.user_place(rejected.origin)}"
    return f"{node}{rejected.what}{place}"


class _Checker:
    def __init__(
        self,
        program: Program,
        specification: Specification,
        certificate: Certificate,
        decider: Decider,
        progress: Progress | None,
    ) -> None:
        self._certificate = certificate
        self._progress = progress
        self._nodes = certificate.nodes
        self._terms = certificate.terms
        self._world = World(program)
        self._decider = decider
        self._executor = Executor(
            self._world,
            specification,
            certificate.switch_points,
            decider,
            locks=certificate.locks,
        )
        self._cells = Cells(certificate.cells)
        self._finds_races = Property.NO_DATA_RACE in specification
        self._locality = Locality(self._world.page_bits)
        self._sections = CriticalSections(self._world.page_bits)
        self._persistence = Persistence(self._nodes)
        # Threads and where they stand: steps ahead of the others, and steps that come to nothing
        # although the thread has done something.
        self._ahead_from: dict[tuple[int, ThreadShape], int] = {}
        self._stopped_at: set[tuple[int, ThreadShape]] = set()
        self._situations: dict[int, Situation] = {}
        self._facts: dict[int, Facts | None] = {}
        self._footprints: dict[tuple[int, int], Footprint] = {}
        self._moves: dict[int, list[Move]] = {}  # by the child that they lead to
        self._children: dict[tuple[int, int], list[Node]] = {}
        self._covered: dict[int, list[Node]] = {}  # by the node that covers them
        self._known_sources: dict[tuple[int, int], list[Node]] = {}
        self._latest: dict[tuple[int, int], Step] = {}  # of one node, which are needed twice
        self._done = 0
        self._steps = 0
        for node in self._nodes:
            if node.parent is not None and node.thread is not None:
                self._children.setdefault((node.parent, node.thread), []).append(node)
            if node.cover is not None:
                self._covered.setdefault(node.cover, []).append(node)

    @property
    def counts(self) -> tuple[int, int, int]:
        return self._done, self._steps, self._decider.queries

    def run(self) -> None:
        """Raises Rejected where a rule fails."""
        self._check_root()
        for node in self._nodes:
            self._decider.check_time()
            self._check_node(node)
            self._done += 1
            if self._progress is not None:
                self._progress(self._done, len(self._nodes))
        self._locality.check()
        self._sections.check()
        self._check_locks()
        self._check_persistence()

    # --- rule I

    def _check_root(self) -> None:
        world, root = self._world, self._nodes[0]
        start = AtStart(world, self._terms, self._certificate)
        frame = ActiveFrame(start.entry(), 0, world.space.arena(1)[1], (), Registers(int), {}, ())
        if root.location.shape != ((new_thread_shape(world, 1, frame),), ()):
            raise Rejected("this is not the location at which the program starts", 0)
        broken = self._broken_claim(root, start, self._decider.nothing())
        if broken is not None:
            raise Rejected(f"not in all initial states {broken}", 0)

    # --- rules II and IV

    def _check_node(self, node: Node) -> None:
        if self._terms.false in node.label or self._facts_of(node) is None:
            return
        if node.cover is not None:
            self._check_cover(node, self._nodes[node.cover])
            return
        if self._finds_races:
            self._check_races(node)
        if node.persistent is not None and node.location.in_section is not None:
            raise Rejected("nobody is ahead of who is in the middle of a section", node.number)
        for thread in node.location.movable:
            if thread in node.expanded:
                self._check_expansion(node, thread)
            elif node.persistent is None and not self._is_skipped(node, thread):
                raise Rejected(f"the step of thread {thread} is missing", node.number)

    def _check_cover(self, node: Node, covering: Node) -> None:
        where = f"covered by node {covering.number}"
        if node.location.shape != covering.location.shape:
            raise Rejected(f"{where}, which is at another location", node.number)
        facts = self._facts_of(node)
        assert facts is not None
        broken = self._broken_claim(covering, AtNode(self._situation(node)), facts)
        if broken is not None:
            raise Rejected(f"{where}, at which {broken}; that does not follow", node.number)
        if covering.persistent is not None:
            return  # the others are expanded behind its step
        for thread in node.location.movable:
            if thread not in covering.expanded and not self._is_skipped(node, thread):
                what = f"{where}, at which the step of thread {thread} is missing"
                raise Rejected(what, node.number)

    # --- rule X

    def _check_races(self, node: Node) -> None:
        if any(thread.is_inside for thread in node.location.threads):
            what = "an atomic section is not one step: its races are unknown"
            raise Rejected(what, node.number)
        steps = [self._step(node, thread) for thread in node.location.movable]
        known: dict[int, list[Access]] = {}
        for step in steps:
            if step.first(Ending.LOST) is not None:
                accesses = self._known_accesses(node, step.thread)
                if accesses is not None:
                    known[step.thread] = accesses
        check_races(node.number, steps, known)

    def _known_accesses(self, node: Node, thread: int) -> list[Access] | None:
        """What a thread can access at a node whose label leaves that open, but at which it is
        skipped: that is the step that it would have taken where it was expanded."""
        if not self._is_skipped(node, thread) or node.parent is None:
            return None
        sources = self._sources(self._nodes[node.parent], thread)
        footprints = [
            self._footprint(source, thread)
            for source in sources
            if self._facts_of(source) is not None
        ]
        if any(item.is_lost for item in footprints):
            return None
        return [access for item in footprints for access in item.accesses]

    # --- rule III

    def _check_expansion(self, node: Node, thread: int) -> None:
        step = self._step(node, thread)
        self._locality.note(node.number, node.location, step)
        self._sections.note(node.number, node.location, step)
        self._persistence.note(node.number, step)
        place = thread, node.location.shape[0][thread - 1]
        if any(
            access.is_local
            for outcome in step.outcomes
            if outcome.ending is Ending.NOTHING
            for access in outcome.path.accesses
        ):
            self._stopped_at.add(place)
        bad = step.first(Ending.VIOLATION, Ending.TROUBLE, Ending.LOST)
        if bad is not None:
            what = f"the step of thread {thread} may end in {bad.ending.value}: {bad.message}"
            raise Rejected(what, node.number, bad.origin)
        if node.persistent is not None:
            self._ahead_from.setdefault(place, node.number)
            self._check_step_ahead(node, step)
        children = self._children.get((node.number, thread), [])
        for outcome in step.moves:
            if outcome.path.is_halted and not any(
                child.location.threads[thread - 1].status is Status.HALTED for child in children
            ):
                self._locality.note_quiet(node.location, step, outcome)
                self._stopped_at.add(place)
                continue
            self._check_move(node, thread, outcome, children)

    def _check_move(
        self, node: Node, thread: int, outcome: StepOutcome, children: list[Node]
    ) -> None:
        """Some child represents all states that the outcome leads to."""
        shape = outcome.path.shape(self._world)
        reason = ""
        for child in children:
            if child.location.shape != shape:
                continue
            state = AfterStep(outcome.path, self._cells)
            broken = self._broken_claim(child, state, outcome.path.facts)
            if broken is None:
                path = outcome.path
                move = Move(path.facts, path.accesses, bool(path.spawned))
                self._moves.setdefault(child.number, []).append(move)
                return
            reason = f"node {child.number} claims that {broken}, which does not follow"
        what = f"the step of thread {thread} leads to no node"
        if reason:
            what = f"behind the step of thread {thread} {reason}"
        raise Rejected(what, node.number, outcome.origin)

    # --- rule VIII

    def _check_locks(self) -> None:
        """Who finds a lock as it is in the middle of a critical section of another thread cannot
        take it, whatever else memory holds."""
        for lock, takers in self._sections.takers.items():
            for holder, value in sorted(self._sections.held[lock]):
                for taker in takers.values():
                    if taker.number != holder and not self._is_kept_out(taker, lock, value):
                        what = (
                            f"thread {taker.number} may go on while thread {holder} holds the"
                            f" lock at {lock.address:#x}"
                        )
                        raise Rejected(what)

    def _is_kept_out(self, taker: Taker, lock: Cell, value: int) -> bool:
        known: dict[Cell, int | None] = {}
        size = 0
        for cell in self._cells.within(lock.address, lock.address + lock.size):
            first = cell.address - lock.address
            if first < 0 or first + cell.size > lock.size:
                return False
            known[cell] = value >> 8 * first & (1 << 8 * cell.size) - 1
            size += cell.size
        if size != lock.size:
            return False
        location = Location(taker.location.threads, taker.location.heap, known)
        situation = Situation(self._world, self._terms, self._cells, location, {})
        facts = self._decider.facts(situation.truths_of_types())
        if facts is None:
            return True
        step = self._executor.step(situation, taker.number, facts)
        return all(outcome.ending is Ending.NOTHING for outcome in step.outcomes)

    # --- rule IX

    def _check_step_ahead(self, node: Node, step: Step) -> None:
        for outcome in step.outcomes:
            path = outcome.path
            if outcome.ending is not Ending.MOVED or path.spawned or path.is_inside:
                what = f"the step of thread {step.thread}, ahead of the others, may not be made"
                raise Rejected(what, node.number, outcome.origin)

    def _check_persistence(self) -> None:
        self._persistence.check(lambda node: self._facts_of(node) is not None)
        for place, number in self._ahead_from.items():
            if place in self._stopped_at:
                what = f"thread {place[0]} may be stopped where it is ahead of the others"
                raise Rejected(what, number)

    # --- rule V

    def _is_skipped(self, node: Node, thread: int) -> bool:
        if node.parent is None or node.thread is None or thread >= node.thread:
            return False
        parent = self._nodes[node.parent]
        if not parent.location.is_running(thread) or parent.persistent is not None:
            return False
        if parent.location.in_section is not None or node.location.in_section is not None:
            return False
        if self._facts_of(parent) is None:
            return True  # the edge starts in no state
        moves = self._moves.get(node.number, [])
        footprint = self._footprint(parent, thread)
        steps = [footprint]
        if not footprint.is_lost:
            is_independent = are_independent(footprint, moves)
        else:
            # The parent's label leaves open what the thread does. If its step was left out there
            # too, it is the step that it would have taken where it was expanded.
            sources = [
                self._footprint(source, thread)
                for source in self._sources(parent, thread)
                if self._facts_of(source) is not None
            ]
            steps += sources
            is_independent = may_commute(footprint, moves) and bool(sources)
            is_independent = is_independent and all(are_apart(step, moves) for step in sources)
        if not is_independent:
            return False
        for step in steps:
            self._locality.note_skipped(node.number, node.location, thread, step.accesses)
            self._sections.note_skipped(node.number, node.location, thread, step.accesses)
        return True

    def _sources(self, node: Node, thread: int) -> list[Node]:
        """The nodes at which the step of a thread is expanded, and from which executions come to
        the node by steps that are independent of it."""
        key = node.number, thread
        if key not in self._known_sources:
            seen = {node.number}
            pending = [node]
            found: list[Node] = []
            while pending:
                item = pending.pop()
                if thread in item.expanded:
                    found.append(item)
                    continue
                arrivals = [item, *self._covered.get(item.number, [])]
                for parent in (arrival.parent for arrival in arrivals):
                    if parent is not None and parent not in seen:
                        seen.add(parent)
                        pending.append(self._nodes[parent])
            self._known_sources[key] = found
        return self._known_sources[key]

    def _footprint(self, node: Node, thread: int) -> Footprint:
        key = node.number, thread
        found = self._footprints.get(key)
        if found is None:
            self._step(node, thread)
            found = self._footprints[key]
        return found

    # --- states of nodes

    def _step(self, node: Node, thread: int) -> Step:
        facts = self._facts_of(node)
        assert facts is not None
        if (node.number, thread) in self._latest:
            return self._latest[node.number, thread]
        step = self._executor.step(self._situation(node), thread, facts)
        self._steps += 1
        if self._finds_races:
            if any(number != node.number for number, _ in self._latest):
                self._latest = {}
            self._latest[node.number, thread] = step
        self._footprints[node.number, thread] = Footprint.of(step)
        return step

    def _situation(self, node: Node) -> Situation:
        found = self._situations.get(node.number)
        if found is None:
            found = self._situations[node.number] = Situation(
                self._world, self._terms, self._cells, node.location, self._certificate.initial
            )
        return found

    def _facts_of(self, node: Node) -> Facts | None:
        """What the label says, with known values put in; None if no state satisfies it."""
        if node.number not in self._facts:
            situation = self._situation(node)
            state = AtNode(situation)
            meanings = self._certificate.meanings

            def value(variable: int) -> int:
                meaning = meanings[variable]
                if len(meaning) == 3:
                    return state.register(*meaning)
                return state.cell(meaning)

            substitution = Substitution(self._terms, value)
            items = [*map(substitution, node.label), *situation.truths_of_types()]
            self._facts[node.number] = self._decider.facts(items)
        return self._facts[node.number]

    def _broken_claim(self, node: Node, state: State, facts: Facts) -> str | None:
        """The first claim of a node that does not follow from the facts."""
        every = list(claims(self._certificate, node, self._situation(node), state))
        whole = self._terms.all_of(term for term, _ in every)
        if facts.imply(whole):
            return None
        return next((what for term, what in every if not facts.imply(term)), "its claims hold")
