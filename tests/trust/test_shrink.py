"""The shrinker keeps what a predicate needs and little else."""

from __future__ import annotations

from functools import partial

import pytest

from trust import agreement, concurrent, native, sequential
from trust.compare import Comparison, Subject, report
from trust.shrink import parse, render, shrink

PROGRAM = """
#include <stdio.h>
struct point { int x, y; };
static int unused(int a) { return a * 2; }
static int used(int a) {
    int b = a + 1;
    if (b > 3) { b = b << 2; } else { b--; }
    for (int i = 0; i < 3; i++) { b += i; }
    return b;
}
int main(void) {
    struct point p = { 1, 2 };
    int x = used(((p.x + 4) * 2) - -1);
    switch (x) { case 1: x = 2; break; default: x--; }
    printf("%d\\n", x);
    return 0;
}
"""


def test_rendering_keeps_the_tokens() -> None:
    def tokens(text: str) -> str:
        return "".join(text.split())

    for source in (PROGRAM, sequential.generate(1, 6), concurrent.generate(1)):
        again = render(parse(source))
        assert tokens(again) == tokens(source)
        assert render(parse(again)) == again


@pytest.mark.skipif(native.compiler() is None, reason="gcc is not installed")
@pytest.mark.parametrize("seed", range(3))
def test_rendering_keeps_the_meaning(seed: int) -> None:
    source = sequential.generate(seed, 6)
    assert native.compile_and_run(render(parse(source))) == native.compile_and_run(source)


def test_shrinks_to_what_matters() -> None:
    small = shrink(PROGRAM, lambda text: "<< 2" in text and "main" in text)
    assert len(small) < 60
    assert "<< 2" in small and "unused" not in small


@pytest.mark.skipif(native.compiler() is None, reason="gcc is not installed")
def test_shrinks_a_program_that_must_compile() -> None:
    def still_fails(text: str) -> bool:
        try:
            return "<<" in text and native.compile_and_run(text, timeout=1).output == "36\n"
        except native.NativeError:
            return False

    assert native.compile_and_run(PROGRAM.replace("x--", "x -= 15")).output == "36\n"
    small = shrink(PROGRAM.replace("x--", "x -= 15"), still_fails, seconds=30, attempts=100)
    assert still_fails(small)
    assert "unused" not in small and len(small) < len(PROGRAM)


def test_a_program_that_does_not_fail_stays() -> None:
    assert shrink(PROGRAM, lambda text: False) == PROGRAM


def test_attempts_are_bounded() -> None:
    calls: list[str] = []

    def still_fails(text: str) -> bool:
        calls.append(text)
        return True

    shrink(sequential.generate(0, 8), still_fails, attempts=25)
    assert len(calls) <= 25


@pytest.mark.skipif(native.compiler() is None, reason="gcc is not installed")
def test_a_disagreement_is_shrunk_and_written(
    tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    from trust import compare

    real = compare.interpret

    def wrong_about_loops(source: str, **options: object) -> native.Run:
        run = real(source, **options)  # type: ignore[arg-type]
        return native.Run(run.output.replace("=", "!") if "while" in source else run.output, 0)

    monkeypatch.setattr(compare, "interpret", wrong_about_loops)
    # Few attempts, however long they take.
    monkeypatch.setattr(compare, "shrink", partial(shrink, attempts=30))
    subject = next(
        item for item in (Subject(seed, 1) for seed in range(50)) if "while" in item.source()
    )
    text = report(Comparison(subject, "prints"), str(tmp_path), seconds=60)
    path = text.split("smallest program: ")[1]
    with open(path, encoding="utf-8") as file:
        small = file.read()
    assert "while" in small and len(small) < len(subject.source())


def test_a_wrong_reduction_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    from plait.semantics.outcome import Footprint

    monkeypatch.setattr(Footprint, "commutes_with", lambda self, other: True)
    sources = (concurrent.generate(seed, 2, 3, {"assertions", "print"}) for seed in range(40))
    source = next(source for source in sources if agreement.disagrees(source))
    small = shrink(source, agreement.disagrees, seconds=10, attempts=80)
    assert len(small) < len(source) and agreement.disagrees(small)
