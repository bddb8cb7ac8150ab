"""The running example of the paper: Peterson's algorithm (Figures 1, 3, 6, 7, 9, 12), and Figures 10
and 11.

The objects of the paper that there are here: weakest preconditions of a trace as claims (the negation
of AMap), triples (edges), and which words the proof accepts, with and without the transformations.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from plait.engines.blocks.bitsets import numbers
from plait.engines.traces.preconditions import preconditions
from plait.engines.traces.proof import FALSE, Proof
from plait.engines.traces.statistics import Statistics
from plait.logic.interpolation.interpolate import Interpolants, Interpolator
from plait.logic.interpolation.path import Step
from plait.logic.terms import Terms


class Peterson:
    """The letters of Figure 3. `i` is 1, `j` is 2; `l1` and `l2` are the locals that read `res`."""

    def __init__(self) -> None:
        self.terms = terms = Terms()
        self.flag1, self.flag2 = terms.variable("flag1", 1), terms.variable("flag2", 1)
        self.t, self.res = terms.variable("t", 8), terms.variable("res", 8)
        self.l1, self.l2 = terms.variable("l1", 8), terms.variable("l2", 8)
        one, two = terms.constant(1, 8), terms.constant(2, 8)
        yes, no = terms.true, terms.false
        # Whoever enters has found the other's flag down, or has not been the last to give way.
        enters1 = terms.or_(terms.not_(self.flag2), terms.eq(self.t, one))
        enters2 = terms.or_(terms.not_(self.flag1), terms.eq(self.t, two))
        self.letters = {
            "a": Step((), {self.flag1: yes}),
            "b": Step((), {self.t: two}),
            "A": Step((enters1,), {}),
            "c": Step((), {self.res: one}),
            "d": Step((), {self.l1: self.res}),
            "p": Step((), {self.flag2: yes}),
            "q": Step((), {self.t: one}),
            "P": Step((enters2,), {}),
            "r": Step((), {self.res: two}),
            "s": Step((), {self.l2: self.res}),
            # The safety formula of the second thread does not hold.
            "!": Step((terms.ne(self.l2, two),), {}),
        }
        self.initially = {self.flag1: no, self.flag2: no, self.t: terms.constant(0, 8)}
        self.value = {term: terms.parameter[value] for term, value in self.initially.items()}

    def word(self, letters: str) -> list[Step]:
        return [self.letters[letter] for letter in letters]

    def begin(self) -> Step:
        return Step((), self.initially)

    def proof(self, *, weakening: bool) -> Proof:
        return Proof(self.terms, Statistics(), None, weakening=weakening)


def accepts(proof: Proof, value: dict[int, int], word: Sequence[Step]) -> bool:
    claims = proof.initially(value.get)
    for step in word:
        if proof.reason(claims, step, FALSE) is not None:
            return True
        claims = proof.after(claims, step)
    return False


def interleavings(one: str, other: str) -> Iterator[str]:
    if not one or not other:
        yield one + other
        return
    for rest in interleavings(one[1:], other):
        yield one[0] + rest
    for rest in interleavings(one, other[1:]):
        yield other[0] + rest


def add_all(proof: Proof, labels: Sequence[Sequence[int]]) -> None:
    for label in labels:
        for claim in label:
            proof.add(claim)


# Figure 7: both threads want to enter, and the second one would be let in behind the first.
TRACE = "abApqPrcs!"
# The same instructions: the first thread is the last to give way.
OTHER = "pqPabrAcs!"
# Harmless: the second thread is alone in its critical section.
CAN_BE_TAKEN = "pqPrcs!"


def test_weakest_preconditions_of_the_trace() -> None:
    """AMap along the trace, Figure 6: s0 is `l2 != 2`, s1 `res != 2`; `c` makes that true, so that
    all before is about `P` and what it needs."""
    paper = Peterson()
    terms = paper.terms
    labels = preconditions(terms, paper.word(TRACE))
    two = terms.constant(2, 8)
    behind = dict(zip([*TRACE, ""], [terms.all_of(label) for label in labels], strict=True))
    # behind[x] is the claim before the letter x
    assert behind["!"] == terms.eq(paper.l2, two)
    assert behind["s"] == terms.eq(paper.res, two)
    assert behind["c"] == terms.false  # whatever is before: `c` sets res to 1
    assert behind["r"] == terms.false
    # not (flag1 == false or t == 2): a compound formula, both parts of which are followed
    assert set(labels[TRACE.index("P")]) == {
        paper.flag1,
        terms.not_(terms.eq(paper.t, two)),
    }
    assert behind["q"] == paper.flag1
    assert behind["a"] == terms.true


@pytest.mark.parametrize("weakening", [True, False])
def test_the_trace_is_accepted(weakening: bool) -> None:
    paper = Peterson()
    proof = paper.proof(weakening=weakening)
    word = paper.word(TRACE)
    add_all(proof, preconditions(paper.terms, [paper.begin(), *word])[1:])
    assert accepts(proof, paper.value, word)


def test_a_word_that_can_be_taken_is_never_accepted() -> None:
    paper = Peterson()
    for weakening in (True, False):
        proof = paper.proof(weakening=weakening)
        for trace in (TRACE, OTHER):
            add_all(proof, preconditions(paper.terms, paper.word(trace)))
        assert not accepts(proof, paper.value, paper.word(CAN_BE_TAKEN))


def test_two_traces_are_enough() -> None:
    """As the introduction says: `lst2` before `lst7`, or behind it. The 126 interleavings have two
    reasons, and each of both traces has many words that it does not accept alone."""
    paper = Peterson()
    words = [paper.word(letters + "!") for letters in interleavings("abAc", "pqPrs")]
    assert len(words) == 126
    for weakening in (True, False):
        accepted = []
        for traces in ([TRACE], [OTHER], [TRACE, OTHER]):
            proof = paper.proof(weakening=weakening)
            for trace in traces:
                add_all(proof, preconditions(paper.terms, paper.word(trace)))
            accepted.append(sum(accepts(proof, paper.value, word) for word in words))
        assert 50 < accepted[0] < 126 and 50 < accepted[1] < 126
        assert accepted[2] == 126


def test_what_is_accepted_cannot_be_taken() -> None:
    """Lemma 4 and Theorem 1, on all interleavings, without the first thread's `c`."""
    paper = Peterson()
    for trace in (TRACE, OTHER):
        proof = paper.proof(weakening=True)
        add_all(proof, preconditions(paper.terms, paper.word(trace)))
        for letters in interleavings("abA", "pqPrs"):
            word = paper.word(letters + "d")
            steps = [paper.begin(), *word]
            if accepts(proof, paper.value, word):
                assert isinstance(Interpolator(paper.terms).interpolate(steps), Interpolants)


def test_self_loops_are_claims_about_what_a_letter_leaves_alone() -> None:
    """LITERAL-SELF-ASSN at s0: every letter but `s`, `A`, `P`; the letters that assume may at best
    add something."""
    paper = Peterson()
    proof = paper.proof(weakening=True)
    claim = paper.terms.eq(paper.l2, paper.terms.constant(2, 8))
    proof.add(claim)
    for name, step in paper.letters.items():
        kept = proof.after(1 << 1, step)
        assert bool(kept) == (name != "s"), name


class Independent:
    """Figure 10: abcde, and the formula S < t and z < x, refuted by d alone or by a and e."""

    def __init__(self) -> None:
        self.terms = terms = Terms()
        self.s, self.t, self.z, self.x, self.y = (terms.variable(name, 8) for name in "stzxy")
        zero, five, nine = (terms.constant(number, 8) for number in (0, 5, 9))
        self.letters = {
            "a": Step((), {self.z: five}),
            "b": Step((), {self.y: five}),
            "c": Step((), {self.y: nine}),
            "d": Step((), {self.t: zero}),
            "e": Step((), {self.x: zero}),
            "!": Step((terms.ult(self.s, self.t), terms.ult(self.z, self.x)), {}),
        }

    def word(self, letters: str) -> list[Step]:
        return [self.letters[letter] for letter in letters]


def test_either_half_of_a_conjunction_is_enough() -> None:
    """Transformation I: with the whole conjunction only words that follow both halves are accepted;
    with a core also those in which the other half is disturbed, here by `h`."""
    example = Independent()
    terms = example.terms
    example.letters["h"] = Step((), {example.t: terms.constant(200, 8)})
    whole, cores = (Proof(terms, Statistics(), None, weakening=True) for _ in range(2))
    add_all(whole, preconditions(terms, example.word("abcde!")))
    result = Interpolator(terms).interpolate(example.word("abcde!"), procedures=["weakest"])
    assert isinstance(result, Interpolants)
    add_all(cores, result.sequence)
    for proof in (whole, cores):
        assert accepts(proof, {}, example.word("abcde!"))
        assert not accepts(proof, {}, example.word("abc!"))
    assert accepts(cores, {}, example.word("adebhc!"))
    assert not accepts(whole, {}, example.word("adebhc!"))


def test_claims_that_follow_from_others() -> None:
    """Transformation II: `x == 3` is as good as `x < 5`, if a solver may say so."""
    terms = Terms()
    x = terms.variable("x", 8)
    less, three = terms.ult(x, terms.constant(5, 8)), terms.constant(3, 8)
    guard = Step((terms.eq(x, three),), {})
    last = Step((terms.not_(less),), {})
    for weakening in (True, False):
        proof = Proof(terms, Statistics(), None, weakening=weakening)
        proof.add(less)
        assert accepts(proof, {}, [guard, last]) == weakening
        assert not accepts(proof, {}, [last])


def test_several_claims_before_a_letter_are_all_needed() -> None:
    """Universal branching: the assumption is excluded by two claims together, not by one of them."""
    terms = Terms()
    x, y = terms.variable("x", 8), terms.variable("y", 8)
    three = terms.constant(3, 8)
    letter = Step((terms.ne(x, y),), {})
    proof = Proof(terms, Statistics(), None, weakening=True)
    proof.add(terms.eq(x, three))
    proof.add(terms.eq(y, three))
    assert proof.reason(0b110, letter, FALSE) == 0b110
    assert proof.reason(0b010, letter, FALSE) is None
    assert proof.reason(0b100, letter, FALSE) is None
    assert numbers(0b110) == [1, 2]
