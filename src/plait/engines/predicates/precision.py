"""Which predicates matter where: a map from places of the program to predicates (3.3.1).

A place is a function and a location in it; whichever thread stands there, on whatever stack, in
whatever company, its predicates are tracked. So they are kept in the words of the thread that
stands there: its registers by how many frames further out they are.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from plait.data import dataclass, field
from plait.engines.blocks.relevance import Relevance
from plait.engines.predicates.cubes import Literals
from plait.engines.predicates.settings import Abstraction
from plait.logic.operators import AND, CONSTANT, ITE, NOT, OR, XOR
from plait.logic.substitute import Substitution, Vocabulary
from plait.logic.terms import Terms
from plait.symbolic.locations import Location, Status, Thread
from plait.symbolic.variables import RegisterName, register_of, register_variable

# A place of the program: of the innermost frame of whoever stands there. Predicates that are
# tracked everywhere in a function, or everywhere, have the location -1.
Standing = tuple[str, int]
_ANYWHERE = -1

# Threads have numbers from 1 on: a register of thread 0 and depth n is of the frame n further out
# than the innermost one of the thread that stands at the place.
_OWN = 0


@dataclass(slots=True, eq=False)
class _Tracked:
    """The literals of a location, and how many predicates were looked at for that, by where they
    come from and by the thread whose they are."""

    seen: dict[tuple[Standing, int], int] = field(default_factory=dict)
    literals: int = 0


class Precision:
    def __init__(
        self,
        terms: Terms,
        literals: Literals,
        relevance: Relevance,
        abstraction: Abstraction,
        *,
        monolithic: bool,
    ) -> None:
        self._terms = terms
        self._literals = literals
        self._relevance = relevance
        self._is_boolean = abstraction is Abstraction.BOOLEAN
        self._monolithic = monolithic
        self._vocabulary = Vocabulary(terms)
        self._at: dict[Standing, dict[int, None]] = {}
        self._tracked: dict[Location, _Tracked] = {}

    # --- predicates of places

    def add(self, location: Location, mover: int, conjuncts: Iterable[int]) -> None:
        """Track what a label says where these threads stand. What is about no thread in particular
        belongs to where the thread stands that has come here."""
        for conjunct in conjuncts:
            for predicate in self._predicates(conjunct):
                number = self._owner(location, mover, predicate)
                if not number:
                    continue
                thread = location.threads[number - 1]
                own = self._in_own_words(thread, number, predicate)
                self._at.setdefault(self._scope(thread, own), {})[own] = None

    def count(self) -> int:
        """How many predicates there are, wherever they are tracked."""
        return len({own for known in self._at.values() for own in known})

    def counts(self, threads: Iterable[Thread]) -> list[int]:
        """How many predicates are tracked where threads stand, for each place of the program."""
        places = {
            (thread.frames[-1].function, thread.frames[-1].location): thread
            for thread in threads
            if thread.status is Status.RUNNING
        }
        return [
            len({own for scope in self._scopes(thread) for own in self._at.get(scope, ())})
            for thread in places.values()
        ]

    def _scopes(self, thread: Thread) -> tuple[Standing, ...]:
        frame = thread.frames[-1]
        if self._monolithic:
            return ("", _ANYWHERE), (frame.function, _ANYWHERE)
        return ((frame.function, frame.location),)

    def _scope(self, thread: Thread, own: int) -> Standing:
        scopes = self._scopes(thread)
        names = (register_of(self._terms.name[item]) for item in self._vocabulary(own))
        has_registers = any(name is not None and name.thread == _OWN for name in names)
        return scopes[-1] if has_registers else scopes[0]

    def _predicates(self, conjunct: int) -> list[int]:
        """What is combined, if combinations are told apart; the whole if not."""
        if not self._is_boolean:
            return [self._unsigned(conjunct)]
        terms = self._terms
        found: dict[int, None] = {}
        pending = [conjunct]
        while pending:
            item = pending.pop()
            operator = terms.operator[item]
            if operator in (NOT, AND, OR, XOR) or (operator == ITE and terms.width[item] == 1):
                pending += reversed(terms.operands[item])
            elif operator != CONSTANT:
                found[item] = None
        return list(found)

    def _unsigned(self, predicate: int) -> int:
        terms = self._terms
        return predicate if terms.operator[predicate] != NOT else terms.operands[predicate][0]

    def _owner(self, location: Location, mover: int, predicate: int) -> int:
        """The thread that a predicate is about; 0 if nobody runs."""
        names = (register_of(self._terms.name[item]) for item in self._vocabulary(predicate))
        mentioned = sorted({name.thread for name in names if name is not None})
        first = [mover] if mover in mentioned or not mentioned else []
        running = [
            number
            for number, thread in enumerate(location.threads, 1)
            if thread.status is Status.RUNNING
        ]
        return next((number for number in (*first, *mentioned, *running) if number in running), 0)

    def _in_own_words(self, thread: Thread, number: int, predicate: int) -> int:
        innermost = len(thread.frames) - 1

        def renamed(variable: int) -> int | None:
            name = register_of(self._terms.name[variable])
            if name is None or name.thread != number:
                return None
            return self._register(variable, _OWN, innermost - name.depth, name)

        return Substitution(self._terms, renamed)(predicate)

    def _register(self, variable: int, thread: int, depth: int, name: RegisterName) -> int:
        width = self._terms.width[variable]
        return register_variable(self._terms, thread, depth, name.register, width)

    # --- literals of locations

    def tracked(self, location: Location) -> int:
        """The literals, of both signs, that matter at a location."""
        found = self._tracked.get(location)
        if found is None:
            found = self._tracked[location] = _Tracked()
        for number, thread in enumerate(location.threads, 1):
            if thread.status is not Status.RUNNING:
                continue
            for scope in self._scopes(thread):
                predicates = self._at.get(scope)
                if predicates is not None:
                    self._extend(found, location, number, scope, predicates)
        return found.literals

    def _extend(
        self,
        found: _Tracked,
        location: Location,
        number: int,
        scope: Standing,
        predicates: dict[int, None],
    ) -> None:
        seen = found.seen.get((scope, number), 0)
        for own in islice(predicates, seen, None):
            instance = self._instance(location, number, own)
            if instance is not None:
                found.literals |= 3 << self._literals.of(instance)
        found.seen[scope, number] = len(predicates)

    def _instance(self, location: Location, number: int, own: int) -> int | None:
        """A predicate as that of one thread at a location; none if it is about something that is
        not there. What the location knows by itself is put in."""
        terms = self._terms
        innermost = len(location.threads[number - 1].frames) - 1
        is_there = True

        def named(variable: int) -> int | None:
            nonlocal is_there
            name = register_of(terms.name[variable])
            found = variable
            if name is not None and name.thread == _OWN:
                depth = innermost - name.depth
                if depth < 0:
                    is_there = False
                    return None
                found = self._register(variable, number, depth, name)
            value = self._relevance.known_value(location, found)
            return found if value is None else terms.constant(value, terms.width[variable])

        instance = Substitution(terms, named)(own)
        if not is_there or terms.operator[instance] == CONSTANT:
            return None
        return instance if self._relevance(location, instance) else None
