"""Paths to explain: worked examples, and random ones of few bits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

from hypothesis import strategies as st

from plait.logic.interpolation.path import Step
from plait.logic.terms import Terms

WIDTH = 32


class Maker:
    """Steps over variables that are made when they are first named."""

    def __init__(self, terms: Terms, width: int = WIDTH) -> None:
        self.terms = terms
        self.width = width
        self.steps: list[Step] = []

    def variable(self, name: str) -> int:
        return self.terms.variable(name, self.width)

    def flag(self, name: str) -> int:
        return self.terms.variable(name, 1)

    def number(self, value: int) -> int:
        return self.terms.constant(value, self.width)

    def plus(self, term: int, value: int) -> int:
        return self.terms.add(term, self.number(value))

    def less(self, term: int, value: int) -> int:
        return self.terms.slt(term, self.number(value))

    def is_(self, term: int, value: int) -> int:
        return self.terms.eq(term, self.number(value))

    def step(self, *assumes: int, inputs: tuple[int, ...] = (), **updates: int) -> None:
        changed = {
            self.terms.variable(name, self.terms.width[value]): value
            for name, value in updates.items()
        }
        self.steps.append(Step(assumes, changed, frozenset(inputs)))


def count_to_ten(terms: Terms, rounds: int = 10) -> list[Step]:
    """i = 0; while (i < 10) i++; assert(i == 10), with all rounds unrolled."""
    make = Maker(terms)
    i, not_ = make.variable("i"), terms.not_
    make.step(i=make.number(0))
    for _ in range(rounds):
        make.step(make.less(i, 10))
        make.step(i=make.plus(i, 1))
    make.step(not_(make.less(i, 10)))
    make.step(not_(make.is_(i, 10)))
    return make.steps


def doubled(terms: Terms, rounds: int = 5) -> list[Step]:
    """x = y = 0; loop { x += 1; y += 2 }; assert(y == 2 * x)."""
    make = Maker(terms)
    x, y = make.variable("x"), make.variable("y")
    make.step(x=make.number(0), y=make.number(0))
    for _ in range(rounds):
        make.step(x=make.plus(x, 1))
        make.step(y=make.plus(y, 2))
    make.step(terms.ne(y, terms.mul(x, make.number(2))))
    return make.steps


def peterson(terms: Terms) -> list[Step]:
    """Both threads in the critical section at once, by one of the interleavings."""
    make = Maker(terms)
    first, second, inside = make.variable("flag1"), make.variable("flag2"), make.variable("inside")
    turn = make.variable("turn")
    zero, one, two = map(make.number, (0, 1, 2))
    make.step(flag1=zero, flag2=zero, turn=zero, inside=zero)
    make.step(flag1=one)
    make.step(turn=two)
    make.step(flag2=one)
    make.step(terms.or_(make.is_(second, 0), terms.ne(turn, two)), r1=second)
    make.step(inside=one)
    make.step(turn=one)
    make.step(terms.ne(turn, two))
    make.step(terms.or_(make.is_(first, 0), terms.ne(turn, one)))
    make.step(terms.ne(inside, zero))
    return make.steps


def cells(terms: Terms, size: int = 4) -> list[Step]:
    """An array is filled with its indices; then a[k], for an unknown k < size, is more than k."""
    make = Maker(terms)
    i, k, known = make.variable("i"), make.variable("k"), make.variable("known")
    names = [f"a{index}" for index in range(size)]
    make.step(i=make.number(0), **{name: make.number(0) for name in names})
    for _ in range(size):
        make.step(make.less(i, size))
        make.step(
            **{
                name: terms.ite(make.is_(i, index), i, make.variable(name))
                for index, name in enumerate(names)
            }
        )
        make.step(i=make.plus(i, 1))
    make.step(terms.not_(make.less(i, size)))
    make.step(terms.ult(known, make.number(size)), inputs=(known,), k=known)
    read = make.variable(names[0])
    for index in range(1, size):
        read = terms.ite(make.is_(k, index), make.variable(names[index]), read)
    make.step(r=read)
    make.step(terms.slt(k, make.variable("r")))
    return make.steps


def bounded_input(terms: Terms) -> list[Step]:
    """An input below 10 is copied, increased by at most 5, and found to be 20."""
    make = Maker(terms)
    one, two, x = make.variable("in1"), make.variable("in2"), make.variable("x")
    make.step(terms.ult(one, make.number(10)), inputs=(one,), x=one)
    make.step()
    make.step(terms.ule(two, make.number(5)), inputs=(two,), x=terms.add(x, two))
    make.step(make.is_(x, 20))
    return make.steps


def below_unknown(terms: Terms, rounds: int = 4) -> list[Step]:
    """n is an input above 0; i = 0; while (i < n) i++; assert(i <= n)."""
    make = Maker(terms)
    given, i, n = make.variable("given"), make.variable("i"), make.variable("n")
    make.step(terms.slt(make.number(0), given), inputs=(given,), n=given)
    make.step(i=make.number(0))
    for _ in range(rounds):
        make.step(terms.slt(i, n))
        make.step(i=make.plus(i, 1))
    make.step(terms.sle(n, i))
    make.step(terms.slt(n, i))
    return make.steps


def two_counters(terms: Terms, rounds: int = 5) -> list[Step]:
    """x = 0; y = 0; loop { x++; if (*) y++ }; assert(y <= x), with x below 100."""
    make = Maker(terms)
    x, y = make.variable("x"), make.variable("y")
    make.step(x=make.number(0), y=make.number(0))
    for round_ in range(rounds):
        make.step(make.less(x, 100))
        make.step(x=make.plus(x, 1))
        if round_ % 3 != 2:
            make.step(y=make.plus(y, 1))
    make.step(terms.slt(x, y))
    return make.steps


def lock(terms: Terms, noise: int = 20) -> list[Step]:
    """A lock is held by thread 1 while thread 2 takes it; other things happen in between."""
    make = Maker(terms)
    held, z = make.variable("held"), make.variable("z")
    make.step(held=make.number(0), z=make.number(0), count=make.number(0))
    make.step(make.is_(held, 0), held=make.number(1))
    for index in range(noise):
        fresh = make.variable(f"noise{index}")
        make.step(terms.slt(fresh, z), inputs=(fresh,), z=terms.add(z, fresh))
    make.step(count=make.plus(make.variable("count"), 1))
    make.step(make.is_(held, 0), held=make.number(2))
    return make.steps


EXAMPLES: dict[str, Callable[[Terms], list[Step]]] = {
    function.__name__: function
    for function in (
        count_to_ten,
        doubled,
        peterson,
        cells,
        bounded_input,
        below_unknown,
        two_counters,
        lock,
    )
}


# --- random paths over three state variables of two bits and inputs

NAMES = ("a", "b", "c")


@st.composite
def random_paths(draw: st.DrawFn) -> tuple[Terms, list[Step]]:
    terms = Terms()
    width = 2
    state = [terms.variable(name, width) for name in NAMES]
    steps: list[Step] = []
    for index in range(draw(st.integers(1, 5))):
        fresh = terms.variable(f"in{index}", width) if draw(st.integers(0, 2)) == 0 else None
        atoms = state if fresh is None else [*state, fresh, fresh]

        def value(atoms: list[int] = atoms) -> int:
            left = draw(st.sampled_from(atoms))
            kind = draw(st.integers(0, 5))
            if kind == 0:
                return terms.constant(draw(st.integers(0, 3)), width)
            if kind == 1:
                return left
            if kind == 2:
                return terms.add(left, terms.constant(draw(st.integers(1, 3)), width))
            right = draw(st.sampled_from(atoms))
            if kind == 3:
                return terms.add(left, right)
            if kind == 4:
                return terms.ite(terms.ult(left, right), left, right)
            return terms.mul(left, right)

        def truth() -> int:
            one, other = value(), value()
            compare = draw(st.sampled_from([terms.eq, terms.ne, terms.ult, terms.slt, terms.sle]))
            first = compare(one, other)
            if draw(st.integers(0, 3)) == 0:
                return terms.or_(first, terms.eq(value(), value()))
            return first

        assumes = tuple(truth() for _ in range(draw(st.integers(0, 2))))
        targets = draw(st.lists(st.sampled_from(state), unique=True, max_size=2))
        updates = {name: value() for name in targets}
        steps.append(Step(assumes, updates, frozenset(() if fresh is None else (fresh,))))
    return terms, steps


@st.composite
def linear_paths(draw: st.DrawFn) -> tuple[Terms, list[Step]]:
    """Sums and comparisons of two variables of three bits, from constants on."""
    terms = Terms()
    width = 3
    a, b = (terms.variable(name, width) for name in "ab")
    less = draw(st.sampled_from([terms.slt, terms.ult]))
    steps = [Step((), {name: terms.constant(draw(st.integers(-1, 2)), width) for name in (a, b)})]
    for index in range(draw(st.integers(1, 5))):
        fresh = terms.variable(f"in{index}", width)
        has_input = draw(st.integers(0, 3)) == 0
        atoms = [a, b, fresh] if has_input else [a, b]

        def value(atoms: list[int] = atoms) -> int:
            left = draw(st.sampled_from(atoms))
            if draw(st.integers(0, 3)) == 0:
                return terms.add(left, draw(st.sampled_from(atoms)))
            return terms.add(left, terms.constant(draw(st.integers(-1, 2)), width))

        def truth() -> int:
            bound = terms.constant(draw(st.integers(-2, 4)), width)
            compare = draw(st.sampled_from([less, less, less, terms.ne, terms.eq]))
            term = compare(value(), draw(st.sampled_from([bound, a, b])))
            return term if draw(st.booleans()) else terms.not_(term)

        assumes = tuple(truth() for _ in range(draw(st.integers(0, 2))))
        targets = draw(st.lists(st.sampled_from([a, b]), unique=True, max_size=1))
        inputs = frozenset((fresh,)) if has_input else frozenset()
        steps.append(Step(assumes, {name: value() for name in targets}, inputs))
    return terms, steps


def state_variables(terms: Terms) -> list[int]:
    """All variables of the random paths but their inputs."""
    return sorted(term for term, name in terms.name.items() if name in NAMES)


def states(terms: Terms, variables: list[int]) -> Iterator[dict[int, int]]:
    """All assignments to the variables."""
    ranges = [range(1 << terms.width[name]) for name in variables]
    for values in product(*ranges):
        yield dict(zip(variables, values, strict=True))


def successors(terms: Terms, step: Step, state: dict[int, int]) -> list[dict[int, int]]:
    """What the step can make of a state, by trying all values of its inputs."""
    result: list[dict[int, int]] = []
    for chosen in states(terms, sorted(step.inputs)):
        values = {**state, **chosen}
        if all(terms.evaluate(term, values.__getitem__) for term in step.assumes):
            after = {
                name: terms.evaluate(term, values.__getitem__)
                for name, term in step.updates.items()
            }
            result.append({**state, **after})
    return result
