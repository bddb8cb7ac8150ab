"""The rules that a certificate for any number of threads has to satisfy (docs/certificates.md)."""

from __future__ import annotations

from collections.abc import Callable

from plait.certificates.check import check, verdict_of
from plait.certificates.decide import Assignment, Decider, Facts
from plait.certificates.document import Certificate, FrameShape
from plait.certificates.memory import Cells
from plait.certificates.outcomes import Ending, Step, StepOutcome
from plait.certificates.state import ActiveFrame, Path, Registers, new_thread_shape
from plait.certificates.templates.addresses import Addresses
from plait.certificates.templates.blocks import shared_blocks
from plait.certificates.templates.counting import check_counters, known_counts
from plait.certificates.templates.disturbance import Disturbances
from plait.certificates.templates.document import (
    NUMBER_BITS,
    Ghost,
    GhostKind,
    Place,
    Template,
    TemplateCertificate,
)
from plait.certificates.templates.execute import PlaceSituation, TemplateExecutor
from plait.certificates.templates.fitting import check_fit
from plait.certificates.templates.locality import check_locality
from plait.certificates.templates.pairs import Pairs, Standing
from plait.certificates.templates.races import check_races
from plait.certificates.templates.states import (
    Before,
    Behind,
    BehindBeginning,
    BehindOwn,
    Here,
    State,
    claims,
    ghost_variable,
    meanings,
)
from plait.certificates.verdicts import Rejected, Verdict
from plait.certificates.world import World
from plait.logic.substitute import Substitution
from plait.model.program import Program
from plait.model.properties import Property, Specification

Progress = Callable[[int, int], None]
_MOST_NUMBER = (1 << 31) - 1


def check_any(
    program: Program,
    specification: Specification,
    certificate: Certificate | TemplateCertificate,
    deadline: float | None = None,
    progress: Progress | None = None,
) -> Verdict:
    """Checks a certificate by the rules of its kind."""
    if isinstance(certificate, Certificate):
        return check(program, specification, certificate, deadline, progress)
    return check_templates(program, specification, certificate, deadline, progress)


def check_templates(
    program: Program,
    specification: Specification,
    certificate: TemplateCertificate,
    deadline: float | None = None,
    progress: Progress | None = None,
) -> Verdict:
    """As `plait.certificates.check.check`, of a proof for any number of threads. `progress` hears
    how many places of how many are done."""
    decider = Decider(certificate.terms, deadline)
    return verdict_of(
        program,
        specification,
        certificate,
        lambda: _Checker(program, specification, certificate, decider, progress),
    )


class _Checker:
    def __init__(
        self,
        program: Program,
        specification: Specification,
        certificate: TemplateCertificate,
        decider: Decider,
        progress: Progress | None,
    ) -> None:
        self._certificate = certificate
        self._terms = certificate.terms
        self._world = World(program)
        self._decider = decider
        self._progress = progress
        self._finds_races = Property.NO_DATA_RACE in specification
        check_fit(self._world, certificate)
        sizes = {page: size for page, (size, _) in shared_blocks(certificate).items()}
        self._addresses = Addresses(self._world, self._terms, sizes)
        self._executor = TemplateExecutor(
            self._world, specification, certificate, self._addresses, decider
        )
        self._cells = Cells(certificate.cells)
        self._standing = [
            [self._stand(number, position) for position in range(len(template.places))]
            for number, template in enumerate(certificate.templates)
        ]
        self._pairs = Pairs(certificate, self._addresses)
        every = [item for row in self._standing for item in row]
        self._disturbances = Disturbances(self._pairs, every)
        self._steps = 0
        self._done = 0

    @property
    def counts(self) -> tuple[int, int, int]:
        return self._done, self._steps, self._decider.queries

    def run(self) -> None:
        """Raises Rejected where a rule fails."""
        self._check_start()
        total = sum(map(len, self._standing))
        for row in self._standing:
            for standing in row:
                self._decider.check_time()
                if standing.facts is not None:
                    self._check_place(standing, standing.facts)
                self._done += 1
                if self._progress is not None:
                    self._progress(self._done, total)
        every = [item for row in self._standing for item in row if item.facts is not None]
        moves = [
            (item.number, item.position, behind.target)
            for item in every
            for _, behind in item.outcomes
        ]
        check_counters(self._certificate, moves)
        check_locality(self._pairs, every)
        if self._finds_races:
            check_races(self._pairs, every)

    # --- states of places

    def _stand(self, number: int, position: int) -> Standing:
        template = self._certificate.templates[number]
        place = template.places[position]
        situation = PlaceSituation(
            self._world, self._certificate, self._cells, self._addresses, template, place
        )
        number_of = self._myself(template)
        state = Here(self._terms, situation, number_of)
        substitution = Substitution(self._terms, meanings(self._certificate, state))
        label = tuple(map(substitution, place.label))
        standing = Standing(number, position, template, place, situation, label)
        standing.facts = self._facts(standing)
        return standing

    def _myself(self, template: Template) -> int:
        if template.number == 1:
            return self._terms.constant(1, NUMBER_BITS)
        return self._executor.myself

    def _facts(self, standing: Standing) -> Facts | None:
        """The label, and what is true of numbers and addresses; None if no state is like that."""
        terms, own, number = self._terms, self._addresses, standing.template.number
        bits = self._world.page_bits
        values = {own.arena: self._world.space.arena(number)[0] << bits}
        truths = [*own.truths_of_arena(own.arena)]
        for page, base in {**own.blocks, **standing.situation.bases}.items():
            values[base] = page << bits
            truths += own.truths(base, 1)
        truths += self._different(sorted(values))
        myself = self._myself(standing.template)
        last = ghost_variable(terms, Ghost(GhostKind.LAST))
        values[last] = number
        if number != 1:
            values[myself] = number
        truths += self._truths_of_numbers(myself, last, is_first=number == 1)
        if standing.template.number != 1:
            begun = Ghost(GhostKind.BEGUN, standing.number)
            variable = ghost_variable(terms, begun)
            values[variable] = 1
            truths.append(variable)
        items = tuple(truths)
        model = Assignment(terms, values)
        facts = Facts(self._decider, items, frozenset(items), model)
        counts = known_counts(self._certificate, [(standing.number, standing.position)])
        return facts.with_all([*counts, *standing.label, *standing.situation.truths_of_types()])

    def _different(self, bases: list[int]) -> list[int]:
        """Objects begin at different addresses; one may be where the arena begins."""
        return [
            self._terms.ne(one, other)
            for place, one in enumerate(bases)
            for other in bases[place + 1 :]
            if self._addresses.arena not in (one, other)
        ]

    def _truths_of_numbers(self, myself: int, last: int, *, is_first: bool) -> list[int]:
        """Numbers are given one after the other, and there are not that many."""
        terms = self._terms
        least, most = (terms.constant(value, NUMBER_BITS) for value in (2, _MOST_NUMBER))
        found = [terms.ule(myself, last), terms.ult(last, most)]
        return found if is_first else [*found, terms.ule(least, myself)]

    # --- the start

    def _check_start(self) -> None:
        world, first = self._world, self._standing[0][0]
        function = world.program.functions[world.program.entry]
        frame = ActiveFrame(function, 0, world.space.arena(1)[1], (), Registers(int), {}, ())
        shape = new_thread_shape(world, 1, frame)
        if first.place.thread.shape != shape or self._own_objects(first.place):
            raise Rejected("the first place is not where the program starts")
        state = Before(world, self._certificate, self._addresses)
        own = self._addresses
        bases = [own.arena, *own.blocks.values()]
        truths = [*own.truths_of_arena(own.arena), *self._different(bases)]
        for base in own.blocks.values():
            truths += own.truths(base, 1)
        facts = self._decider.facts(truths)
        assert facts is not None
        broken = self._broken(first, state, facts)
        if broken is not None:
            raise Rejected(f"not in all initial states {broken}")

    def _own_objects(self, place: Place) -> list[int]:
        return [page for page in place.heap if page not in self._certificate.blocks]

    def _broken(self, standing: Standing, state: State, facts: Facts) -> str | None:
        """The first claim of a place that does not follow from the facts."""
        every = list(claims(self._certificate, standing.situation, state))
        if facts.imply(self._terms.all_of(term for term, _ in every)):
            return None
        return next((what for term, what in every if not facts.imply(term)), "its claims hold")

    # --- own steps

    def _check_place(self, standing: Standing, facts: Facts) -> None:
        step = self._executor.step_from(standing.situation, facts)
        self._steps += 1
        standing.step = step
        bad = step.first(Ending.VIOLATION, Ending.TROUBLE, Ending.LOST)
        if bad is not None:
            what = f"{standing.words}: its step may end in {bad.ending.value}: {bad.message}"
            raise Rejected(what, origin=bad.origin)
        self._check_blocks(standing, step)
        for outcome in step.moves:
            self._check_move(standing, outcome)

    def _check_blocks(self, standing: Standing, step: Step) -> None:
        """A shared block is accessed only when it is there."""
        for outcome in step.outcomes:
            path = outcome.path
            for access in path.accesses:
                page = self._addresses.block_at(access.start)
                if page is None or page in self._allocated(standing, path):
                    continue
                template = self._certificate.blocks[page]
                if template == standing.number:
                    continue
                begun = ghost_variable(self._terms, Ghost(GhostKind.BEGUN, template))
                if not access.facts.imply(begun):
                    what = f"{standing.words}: it accesses a block that may not be there"
                    raise Rejected(what, origin=access.origin)

    def _check_move(self, standing: Standing, outcome: StepOutcome) -> None:
        path = outcome.path
        allocated = self._allocated(standing, path)
        if allocated and not path.spawned:
            raise Rejected(f"{standing.words}: a shared block without its thread")
        if path.spawned:
            behind = self._check_creation(standing, outcome, allocated)
        else:
            behind, missed = self._behind(standing, outcome, None)
            if missed is not None:
                raise Rejected(f"{standing.words}: {missed}", origin=outcome.origin)
        standing.outcomes.append((outcome, behind))
        if not standing.place.is_alone:
            self._disturbances.check(standing, outcome, behind)

    def _behind(
        self, standing: Standing, outcome: StepOutcome, started: int | None
    ) -> tuple[Behind, str | None]:
        """What a step leaves behind that has started a thread of some template, and why that is no
        state of a place."""
        path = outcome.path
        where = standing.number, standing.position
        behind = Behind(self._certificate, self._executor, self._cells, path, *where, started)
        if path.is_halted or not path.frames:
            return behind, None
        return behind, self._misses_places(standing, behind)

    def _misses_places(self, standing: Standing, behind: Behind) -> str | None:
        """Why no place represents all states that a step leads to."""
        path = behind.path
        shape = _without_heap_page(path.own_shape())
        suspects = {*standing.place.cells, *behind.written}
        reason = ""
        for target in self._standing[standing.number]:
            if _without_heap_page(target.place.thread.shape) != shape:
                continue
            if target.place.is_alone and not (standing.place.is_alone and not path.spawned):
                continue
            if any(
                path.heap.get(page) != item
                for page, item in target.place.heap.items()
                if page not in self._certificate.blocks or page in path.heap
            ):
                continue
            behind.target = target.position
            state = BehindOwn(behind, target.situation, self._addresses, suspects)
            broken = self._broken(target, state, path.facts)
            if broken is None:
                return None
            reason = f"place {target.position} claims that {broken}, which does not follow"
        return f"behind its step {reason}" if reason else "its step leads to no place"

    # --- threads that begin

    def _check_creation(
        self, standing: Standing, outcome: StepOutcome, allocated: list[int]
    ) -> Behind:
        """The thread that a step starts is one of some template. What that claims can be about
        where the one is that has started it, so that is looked for first."""
        failure = "it starts a thread, and there is no template for it"
        for number, template in enumerate(self._certificate.templates):
            if template.number == 1 or not self._begins_there(outcome.path, number):
                continue
            if any(self._certificate.blocks[page] != number for page in allocated):
                continue
            broken = self._not_startable(outcome.path, number)
            if broken is None:
                behind, missed = self._behind(standing, outcome, number)
                if missed is not None:
                    failure = missed
                    continue
                broken = self._not_born(behind, number)
                if broken is None:
                    return behind
            failure = f"it starts a thread, and {broken}"
        raise Rejected(f"{standing.words}: {failure}", origin=outcome.origin)

    def _allocated(self, standing: Standing, path: Path) -> list[int]:
        """The pages of the shared blocks that a step has allocated."""
        blocks = self._certificate.blocks
        return [page for page in path.bases if page in blocks and page not in standing.place.heap]

    def _begins_there(self, path: Path, number: int) -> bool:
        """Whether threads of a template begin with the function that a step has started."""
        world, template = self._world, self._certificate.templates[number]
        top = world.space.arena(template.number)[1]
        frame = ActiveFrame(path.spawned[0].function, 0, top, (), Registers(int), {}, ())
        shape = new_thread_shape(world, template.number, frame)
        first = template.places[0].thread.shape
        return _without_heap_page(first) == _without_heap_page(shape)

    def _not_startable(self, path: Path, number: int) -> str | None:
        """Why a new thread is not one of a template, whatever that claims."""
        first, template = self._standing[number][0], self._certificate.templates[number]
        own = self._own_objects(first.place)
        if len(own) > 1:
            return f"{template.name[:80]} begins with several objects"
        if own and (path.handed is None or path.handed[1] != first.place.heap[own[0]]):
            return f"{template.name[:80]} begins with an object that it does not get"
        if not template.is_multiple:
            begun = ghost_variable(self._terms, Ghost(GhostKind.BEGUN, number))
            if not path.facts.imply(self._terms.not_(begun)):
                return f"there may be several of {template.name[:80]}"
        return None

    def _not_born(self, behind: Behind, number: int) -> str | None:
        """Which claim of the first place of a template may not hold of a new thread."""
        path, first = behind.path, self._standing[number][0]
        pages = {page: path.handed[0] for page in self._own_objects(first.place) if path.handed}
        state = BehindBeginning(behind, first.situation, self._addresses, self._world, pages)
        facts = path.facts.with_all(self._addresses.truths_of_arena(state.arena))
        assert facts is not None
        broken = self._broken(first, state, facts)
        return None if broken is None else f"{first.template.name[:80]} claims that {broken}"


def _without_heap_page(
    shape: tuple[object, int, object, int, int, tuple[FrameShape, ...]],
) -> tuple[object, ...]:
    """Where the next object goes says nothing about real addresses."""
    status, depth, lock, _, stack_page, frames = shape
    return status, depth, lock, stack_page, frames
