"""Steps taken from states, with memory: the same step is not executed twice.

A step is a function of its thread, its inputs and the contents of the objects it touches. Where
it does nothing but load and store in objects that are fully initialised, what it did is kept, and
done again without executing it in each state in which these are the same. Every other step (one
that creates or ends an object or a thread, say) is executed each time.
"""

from __future__ import annotations

from typing import Any

from plait.data import dataclass
from plait.semantics.compile import Site
from plait.semantics.indeterminate import Indeterminate
from plait.semantics.machine import Machine
from plait.semantics.outcome import Ending, Footprint, StepOutcome
from plait.semantics.scalars import Number, Reader, Writer
from plait.semantics.state import State, Thread


@dataclass(slots=True, eq=False)
class Effect:
    """What a step comes to: its thread afterwards, and the new contents of what it wrote; `touched`
    are the objects that it looked at."""

    outcome: StepOutcome
    footprint: Footprint | None
    touched: tuple[int, ...]
    thread: Thread | None = None
    written: tuple[tuple[int, bytes], ...] = ()


@dataclass(slots=True, eq=False)
class Taken:
    """A step that was taken; `state` is the one after it, if there is one. `touched` are the pages
    of all that it depends on, if that is no more than the contents of these objects."""

    outcome: StepOutcome
    footprint: Footprint | None
    state: State | None
    touched: tuple[int, ...] | None = None


_Key = tuple[int, Thread, tuple[Number, ...]]
_Effects = dict[tuple[bytes | None, ...], Effect]


class NotingMachine(Machine):
    """Notes what a step touches: the contents that it found, or None if it did more than that."""

    touched: dict[int, bytes] | None = None

    def load(self, address: int, read: Reader, size: int, site: Site) -> Any:
        self._touch(address >> self.page_bits)
        return super().load(address, read, size, site)

    def store(self, address: int, write: Writer, size: int, value: Any, site: Site) -> None:
        self._touch(address >> self.page_bits)
        if value.__class__ is Indeterminate:
            self.touched = None
        super().store(address, write, size, value, site)

    def _touch(self, page: int) -> None:
        if self.touched is not None:
            data = self.memory.get(page)
            if data is None or page in self.undefined:
                self.touched = None
            elif type(data) is bytes and page not in self.touched:
                self.touched[page] = data

    def first_page(self, page: int) -> int:
        # Its answer depends on which objects there are.
        self.touched = None
        return super().first_page(page)

    def create(self, page: int, size: int, *, is_defined: bool, contents: bytes = b"") -> None:
        self.touched = None
        super().create(page, size, is_defined=is_defined, contents=contents)

    def destroy(self, page: int) -> None:
        self.touched = None
        super().destroy(page)

    def object_size(self, address: int, storage: str, site: Site) -> int:
        self.touched = None
        return super().object_size(address, storage, site)

    def spawn(self, function: int, argument: Number, site: Site) -> int:
        self.touched = None
        return super().spawn(function, argument, site)

    def end_process(self, r: list[Any], status: int, how: str, site: Site) -> int:
        self.touched = None
        return super().end_process(r, status, how, site)


class StepTaker:
    """Takes steps from states; `records` says whether footprints are wanted."""

    def __init__(self, machine: NotingMachine, *, records: bool, remembers: bool) -> None:
        self.machine = machine
        self._records = records
        # Whether the end of a thread loses memory depends on all other threads.
        self._remembers = remembers and not machine.finds_leaks
        self._effects: dict[_Key, list[tuple[tuple[int, ...], _Effects]]] = {}
        self._places: dict[tuple[int, ...], dict[int, int]] = {}
        self._restored: State | None = None

    def take(self, state: State, number: int, choices: tuple[Number, ...]) -> Taken:
        key = (number, state.threads[number - 1], choices)
        if self._remembers:
            effect = self._remembered(state, key)
            if effect is not None:
                return self._done_again(state, number, effect)
        return self._execute(state, key)

    def restore(self, state: State) -> Machine:
        if self._restored is not state:
            self.machine.restore(state)
            self._restored = state
        return self.machine

    def _remembered(self, state: State, key: _Key) -> Effect | None:
        known = self._effects.get(key)
        if known is None:
            return None
        places = self._places_of(state.pages)
        contents = state.contents
        for pages, effects in known:
            found = tuple([contents[places[p]] if p in places else None for p in pages])
            effect = effects.get(found)
            if effect is not None:
                if state.undefined and not {p for p, _ in state.undefined}.isdisjoint(pages):
                    return None
                return effect
        return None

    def _done_again(self, state: State, number: int, effect: Effect) -> Taken:
        thread = effect.thread
        if thread is None:
            return Taken(effect.outcome, effect.footprint, None, effect.touched)
        contents = state.contents
        if effect.written:
            places = self._places_of(state.pages)
            changed = list(contents)
            for page, data in effect.written:
                changed[places[page]] = data
            contents = tuple(changed)
        threads = (*state.threads[: number - 1], thread, *state.threads[number:])
        following = State(state.pages, contents, state.undefined, state.heap, threads, state.exit)
        return Taken(effect.outcome, effect.footprint, following, effect.touched)

    def _execute(self, state: State, key: _Key) -> Taken:
        number, _, choices = key
        machine = self.machine
        self.restore(state)
        machine.touched = {}
        machine.accesses = [] if self._records else None
        outcome = machine.step(number, choices)
        touched = machine.touched
        footprint = machine.footprint() if self._records else None
        following = None
        ending = outcome.ending
        if ending is not Ending.BLOCKED and ending is not Ending.NEEDS_INPUT:
            if ending is not Ending.VIOLATION and not outcome.in_section:
                following = machine.state()
        if touched is not None and self._remembers and ending is not Ending.VIOLATION:
            effect = Effect(outcome, footprint, tuple(touched))
            if following is not None:
                effect.thread = following.threads[number - 1]
                effect.written = tuple(
                    [(page, machine.memory[page]) for page in machine.memory_before]  # type: ignore[misc]
                )
            self._remember(key, touched, effect)
        machine.undo()
        return Taken(outcome, footprint, following, None if touched is None else tuple(touched))

    def _remember(self, key: _Key, touched: dict[int, bytes], effect: Effect) -> None:
        pages = tuple(touched)
        found: tuple[bytes | None, ...] = tuple(touched.values())
        known = self._effects.setdefault(key, [])
        for others, effects in known:
            if others == pages:
                effects[found] = effect
                return
        known.append((pages, {found: effect}))

    def _places_of(self, pages: tuple[int, ...]) -> dict[int, int]:
        places = self._places.get(pages)
        if places is None:
            places = {page: place for place, page in enumerate(pages)}
            self._places[pages] = places
        return places
