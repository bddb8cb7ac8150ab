"""Steps taken from states, with memory: the same step is not executed twice.

A step is a function of its thread, its inputs and the bytes that it reads. Where it does nothing
but load and store bytes that have a value in objects that live already, what it did is kept, and
done again without executing it in each state in which it would read the same. Every other step
(one that creates or ends an object or a thread, say) is executed each time. Several steps of a
thread in a row can be kept in the same way, as a sequence.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from plait.data import dataclass
from plait.semantics.compile import Site
from plait.semantics.indeterminate import Indeterminate
from plait.semantics.machine import Machine
from plait.semantics.outcome import Ending, Footprint, StepOutcome
from plait.semantics.scalars import Number, Reader, Writer
from plait.semantics.state import State, Thread


class Span(NamedTuple):
    """Bytes of the object that begins at a page."""

    page: int
    start: int
    end: int


@dataclass(slots=True, eq=False)
class Effect:
    """What a step comes to: what it found, its thread afterwards, and the new contents of what it
    wrote; `touched` are the objects that it looked at. `what` is kept for whoever asks."""

    outcome: StepOutcome
    footprint: Footprint | None
    touched: tuple[int, ...]
    found: dict[Span, bytes]
    thread: Thread | None = None
    written: tuple[tuple[Span, bytes], ...] = ()
    what: object = None


class Values(NamedTuple):
    """Some of what a step has found, before it wrote there, and all that it has written; but for
    the objects that it has made, or of which it is not known what they hold now."""

    found: dict[Span, bytes]
    written: tuple[tuple[Span, bytes], ...]
    unknown: frozenset[int] = frozenset()


@dataclass(slots=True, eq=False)
class Taken:
    """A step that was taken; `state` is the one after it, if there is one. `touched` are the pages
    of all that it depends on, if that is no more than the contents of these objects; if it is more,
    `values` may be known all the same."""

    outcome: StepOutcome
    footprint: Footprint | None
    state: State | None
    touched: tuple[int, ...] | None = None
    effect: Effect | None = None  # if it is remembered
    values: Values | None = None


# The inputs are None for a sequence of steps.
_Key = tuple[int, Thread, tuple[Number, ...] | None]


@dataclass(slots=True, eq=False)
class _Effects:
    """Of executions that read the same bytes, by what these are. `sizes` are those of the objects
    that are accessed at all and need not be there in each state."""

    reads: tuple[Span, ...]
    accesses: frozenset[Span]
    sizes: tuple[tuple[int, int], ...]
    by_contents: dict[tuple[bytes, ...], Effect]


class NotingMachine(Machine):
    """Notes what a step reads with what it finds, and what it writes; `reads` is None if it does
    more than that. What it loads and stores is noted even so, unless `loads` is None."""

    reads: dict[Span, bytes] | None = None
    writes: dict[Span, None]
    loads: dict[Span, bytes] | None = None
    stores: dict[Span, None]
    made: set[int]
    blurred: set[int]  # objects with bytes that are not defined

    def begin_noting(self, *, notes_values: bool) -> None:
        self.reads, self.writes = {}, {}
        self.loads, self.stores = {} if notes_values else None, {}
        self.made, self.blurred = set(), set()

    def load(self, address: int, read: Reader, size: int, site: Site) -> Any:
        if self.reads is not None:
            span = self._span(address, size)
            if span is not None and span not in self.reads:
                data = self.memory[span.page]
                if type(data) is not bytes:
                    # It depends on what was there before, unless that was overwritten.
                    data = self.memory_before[span.page] or b""
                self.reads[span] = bytes(data[span.start : span.end])
        if self.loads is not None:
            self._note_load(address, size, self.loads)
        return super().load(address, read, size, site)

    def _note_load(self, address: int, size: int, loads: dict[Span, bytes]) -> None:
        page, start = address >> self.page_bits, address & self.page_mask
        data = self.memory.get(page)
        if data is None or start + size > len(data):
            if page not in self.constants:
                self.loads = None
            return
        if page in self.undefined and any(self.undefined[page][start : start + size]):
            self.blurred.add(page)  # the load may define it
            return
        span = Span(page, start, start + size)
        if page in self.made or page in self.blurred:
            return  # it may be the step itself that has given it this value
        if not any(_overlap(span, item) for item in self.stores):
            loads.setdefault(span, bytes(data[start : start + size]))

    def store(self, address: int, write: Writer, size: int, value: Any, site: Site) -> None:
        if self.reads is not None:
            span = self._span(address, size)
            if span is not None:
                self.writes[span] = None
        if value.__class__ is Indeterminate:
            self.reads = None
        if self.loads is not None:
            page, start = address >> self.page_bits, address & self.page_mask
            held = self.memory.get(page)
            if held is None or start + size > len(held):
                self.loads = None
            elif value.__class__ is Indeterminate:
                self.blurred.add(page)
            else:
                self.stores[Span(page, start, start + size)] = None
        super().store(address, write, size, value, site)

    def noted_values(self) -> Values | None:
        """Of the step that was made."""
        if self.loads is None:
            return None
        memory = self.memory
        unknown = frozenset((self.made | self.blurred) & memory.keys())
        written = tuple(
            [
                (span, bytes(memory[span.page][span.start : span.end]))
                for span in self.stores
                if span.page in memory and span.page not in unknown
            ]
        )
        return Values(self.loads, written, unknown)

    def _span(self, address: int, size: int) -> Span | None:
        """Bytes of a live object; None for a constant, or with `reads` for all else."""
        page = address >> self.page_bits
        data = self.memory.get(page)
        start = address & self.page_mask
        if data is None or start + size > len(data):
            if data is not None or page not in self.constants:
                self.reads = None
            return None
        if page in self.undefined and any(self.undefined[page][start : start + size]):
            self.reads = None
            return None
        return Span(page, start, start + size)

    def first_page(self, page: int) -> int:
        # Its answer depends on which objects there are.
        self.reads = None
        return super().first_page(page)

    def create(self, page: int, size: int, *, is_defined: bool, contents: bytes = b"") -> None:
        self.reads = None
        if self.loads is not None:
            self.made.add(page)
        super().create(page, size, is_defined=is_defined, contents=contents)

    def destroy(self, page: int) -> None:
        self.reads = None
        super().destroy(page)

    def object_size(self, address: int, storage: str, site: Site) -> int:
        self.reads = None
        return super().object_size(address, storage, site)

    def spawn(self, function: int, argument: Number, site: Site) -> int:
        self.reads = None
        return super().spawn(function, argument, site)

    def end_process(self, r: list[Any], status: int, how: str, site: Site) -> int:
        self.reads = None
        return super().end_process(r, status, how, site)


class StepTaker:
    """Takes steps from states; `records` says whether footprints are wanted, `notes_values` whether
    it matters what steps find and write that do more than that."""

    def __init__(
        self,
        machine: NotingMachine,
        *,
        records: bool,
        remembers: bool,
        notes_values: bool = False,
    ) -> None:
        self.machine = machine
        self._notes_values = notes_values
        self._records = records
        # Whether the end of a thread loses memory depends on all other threads, and what a thread
        # reads under a weak memory model on more than the contents of objects.
        self._remembers = remembers and not machine.finds_leaks and machine.weak is None
        self._effects: dict[_Key, list[_Effects]] = {}
        self._places: dict[tuple[int, ...], dict[int, int]] = {}
        self._contents: dict[bytes, bytes] = {}
        self._restored: State | None = None

    def take(self, state: State, number: int, choices: tuple[Number, ...]) -> Taken:
        if self._remembers:
            effect = self._remembered(state, (number, state.threads[number - 1], choices))
            if effect is not None:
                return self._done_again(state, number, effect)
        return self._execute(state, number, choices)

    def take_sequence(self, state: State, number: int) -> tuple[State, object] | None:
        """The state behind a sequence of a thread that is remembered, and what was kept with it."""
        effect = self._remembered(state, (number, state.threads[number - 1], None))
        if effect is None:
            return None
        following = self._done_again(state, number, effect).state
        assert following is not None
        return following, effect.what

    def remember_sequence(
        self, state: State, number: int, steps: Sequence[Taken], what: object
    ) -> None:
        """Steps that a thread has taken one after the other; `what` is kept with it."""
        found: dict[Span, bytes] = {}
        written: dict[Span, bytes] = {}
        for taken in steps:
            effect = taken.effect
            if effect is None:
                return
            for span, data in effect.found.items():
                if span not in written:
                    if any(_overlap(span, other) for other in written):
                        return
                    found.setdefault(span, data)
            for span, data in effect.written:
                if any(span != other and _overlap(span, other) for other in written):
                    return
                written[span] = data
        last = steps[-1]
        assert last.effect is not None
        touched = tuple({span.page: None for span in (*found, *written)})
        sequence = Effect(last.outcome, None, touched, found)
        sequence.thread, sequence.written = last.effect.thread, tuple(written.items())
        sequence.what = what
        self._remember((number, state.threads[number - 1], None), state, written, sequence)

    def forget_sequences(self) -> None:
        for key in [key for key in self._effects if key[2] is None]:
            del self._effects[key]

    def restore(self, state: State) -> Machine:
        if self._restored is not state:
            self.machine.restore(state)
            self._restored = state
        return self.machine

    def _remembered(self, state: State, key: _Key) -> Effect | None:
        known = self._effects.get(key)
        if known is None:
            return None
        places = self.places_of(state.pages)
        contents = state.contents
        for effects in known:
            if any(page not in places for page, _ in effects.sizes):
                continue
            found = tuple([contents[places[page]][start:end] for page, start, end in effects.reads])
            effect = effects.by_contents.get(found)
            if effect is not None:
                if any(len(contents[places[page]]) != size for page, size in effects.sizes):
                    return None
                if state.undefined and not _are_defined(state, effects.accesses):
                    return None
                return effect
        return None

    def _done_again(self, state: State, number: int, effect: Effect) -> Taken:
        thread = effect.thread
        if thread is None:
            return Taken(effect.outcome, effect.footprint, None, effect.touched, effect)
        contents = state.contents
        if effect.written:
            places = self.places_of(state.pages)
            changed = list(contents)
            for (page, start, end), data in effect.written:
                place = places[page]
                before = changed[place]
                if len(before) != end - start:
                    data = before[:start] + data + before[end:]
                changed[place] = self._contents.setdefault(data, data)
            contents = tuple(changed)
        threads = (*state.threads[: number - 1], thread, *state.threads[number:])
        following = State(state.pages, contents, state.undefined, state.heap, threads, state.exit)
        return Taken(effect.outcome, effect.footprint, following, effect.touched, effect)

    def _execute(self, state: State, number: int, choices: tuple[Number, ...]) -> Taken:
        machine = self.machine
        self.restore(state)
        machine.begin_noting(notes_values=self._notes_values)
        machine.accesses = [] if self._records else None
        outcome = machine.step(number, choices)
        reads, writes = machine.reads, machine.writes
        footprint = machine.footprint() if self._records else None
        following = None
        ending = outcome.ending
        if ending is not Ending.BLOCKED and ending is not Ending.NEEDS_INPUT:
            if ending is not Ending.VIOLATION and not outcome.in_section:
                following = machine.state()
        touched = effect = values = None
        if reads is None:
            if self._remembers and following is not None:
                values = machine.noted_values()
        else:
            touched = tuple({span.page: None for span in (*reads, *writes)})
            if self._remembers and ending is not Ending.VIOLATION:
                effect = Effect(outcome, footprint, touched, reads)
                if following is not None:
                    effect.thread = following.threads[number - 1]
                    memory = machine.memory
                    effect.written = tuple(
                        [(span, bytes(memory[span.page][span.start : span.end])) for span in writes]
                    )
                key = number, state.threads[number - 1], choices
                self._remember(key, state, writes, effect)
        machine.undo()
        return Taken(outcome, footprint, following, touched, effect, values)

    def _remember(self, key: _Key, state: State, writes: Iterable[Span], effect: Effect) -> None:
        spans, contents = tuple(effect.found), tuple(effect.found.values())
        accesses = frozenset((*spans, *writes))
        known = self._effects.setdefault(key, [])
        for effects in known:
            if effects.reads == spans and effects.accesses == accesses:
                effects.by_contents[contents] = effect
                return
        places = self.places_of(state.pages)
        sizes = tuple(
            [
                (page, len(state.contents[places[page]]))
                for page in effect.touched
                if page not in self.machine.static_pages
            ]
        )
        known.append(_Effects(spans, accesses, sizes, {contents: effect}))

    def places_of(self, pages: tuple[int, ...]) -> dict[int, int]:
        places = self._places.get(pages)
        if places is None:
            places = {page: place for place, page in enumerate(pages)}
            self._places[pages] = places
        return places


def values_of(steps: Iterable[Taken]) -> Values | None:
    """Of steps that a thread has taken one after the other."""
    found: dict[Span, bytes] = {}
    written: dict[Span, bytes] = {}
    unknown: set[int] = set()
    for taken in steps:
        values = taken.values
        if taken.effect is not None:
            values = Values(taken.effect.found, taken.effect.written)
        if values is None:
            return None
        for span, data in values.found.items():
            if span.page not in unknown and not any(_overlap(span, other) for other in written):
                found.setdefault(span, data)
        for span, data in values.written:
            if any(span != other and _overlap(span, other) for other in written):
                unknown.add(span.page)
            written[span] = data
        unknown |= values.unknown
    return Values(found, tuple(written.items()), frozenset(unknown))


def _are_defined(state: State, accesses: frozenset[Span]) -> bool:
    masks = dict(state.undefined)
    return not any(page in masks and any(masks[page][start:end]) for page, start, end in accesses)


def _overlap(one: Span, other: Span) -> bool:
    return one.page == other.page and one.start < other.end and other.start < one.end
