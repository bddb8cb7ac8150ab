"""plait.data against the standard library's dataclasses, class by class."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from plait import data

SOURCES = Path(data.__file__).parent


class _Kinds:
    """The same classes by both decorators."""

    def __init__(self, library: Any) -> None:
        dataclass, field = library.dataclass, library.field

        @dataclass(slots=True)
        class Open:
            a: int
            b: list[int] = field(default_factory=list)
            c: str = "c"

            def twice(self) -> int:
                return 2 * self.a

        @dataclass(slots=True, frozen=True)
        class Frozen:
            a: int
            b: tuple[int, ...] = field(default_factory=tuple)
            c: str = field(default="c", compare=False, repr=False, metadata={"is_stored": False})

        @dataclass(slots=True, frozen=True)
        class Derived(Frozen):
            d: int = 4

        @dataclass(slots=True, frozen=True, kw_only=True)
        class Named:
            a: int
            b: int = 2

        @dataclass(slots=True, eq=False)
        class Identical:
            a: int

        @dataclass(slots=True, eq=False, repr=False)
        class Silent:
            a: int

        @dataclass(slots=True, frozen=True)
        class Computed:
            a: int
            b: int = field(init=False, compare=False)
            c: int = field(init=False, default=7)
            d: list[int] = field(init=False, default_factory=list)

            def __post_init__(self) -> None:
                object.__setattr__(self, "b", 2 * self.a)

        @dataclass(slots=True, frozen=True)
        class OwnMethods:
            a: int

            def __repr__(self) -> str:
                return "own"

            def __eq__(self, other: object) -> bool:
                return True

        @dataclass(slots=True, frozen=True)
        class OwnHash:
            a: int

            def __hash__(self) -> int:
                return 5

        @dataclass(slots=True)
        class Empty:
            pass

        self.kinds = {
            kind.__name__: kind
            for kind in (
                Open, Frozen, Derived, Named, Identical, Silent, Computed, OwnMethods, OwnHash,
                Empty,
            )
        }  # fmt: skip
        for kind in self.kinds.values():
            kind.__qualname__ = kind.__name__


OURS, STANDARD = _Kinds(data).kinds, _Kinds(dataclasses).kinds

CALLS: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("Open", (1,), {}),
    ("Open", (1, [2], "x"), {}),
    ("Open", (), {"c": "x", "a": 3}),
    ("Frozen", (1,), {}),
    ("Frozen", (1, (2, 3)), {"c": "other"}),
    ("Derived", (1, (2,), "c", 5), {}),
    ("Derived", (1,), {}),
    ("Named", (), {"a": 1}),
    ("Computed", (4,), {}),
    ("OwnMethods", (1,), {}),
    ("OwnHash", (1,), {}),
    ("Empty", (), {}),
]


def outcome(function: Any, *given: Any, **named: Any) -> Any:
    try:
        return function(*given, **named)
    except (TypeError, AttributeError) as error:
        return type(error)


@pytest.mark.parametrize(("name", "given", "named"), CALLS)
def test_values_are_made_shown_and_compared_alike(
    name: str, given: tuple[Any, ...], named: dict[str, Any]
) -> None:
    ours, standard = OURS[name](*given, **named), STANDARD[name](*given, **named)
    assert repr(ours) == repr(standard)
    assert outcome(hash, ours) == outcome(hash, standard)
    assert dataclasses.asdict(ours) == dataclasses.asdict(standard) == data.asdict(ours)
    assert ours == OURS[name](*given, **named)
    assert ours.__eq__(standard) is standard.__eq__(ours)
    assert OURS[name].__match_args__ == STANDARD[name].__match_args__
    assert OURS[name].__slots__ == STANDARD[name].__slots__
    assert not hasattr(ours, "__dict__")


@pytest.mark.parametrize("name", OURS)
def test_fields_are_alike(name: str) -> None:
    def rows(found: Any, missing: Any) -> list[Any]:
        return [
            (
                item.name, item.type, item.init, item.repr, item.compare, item.kw_only,
                dict(item.metadata), item.default is missing or item.default,
                item.default_factory is missing or item.default_factory,
            )
            for item in found
        ]  # fmt: skip

    expected = rows(dataclasses.fields(STANDARD[name]), dataclasses.MISSING)
    assert rows(data.fields(OURS[name]), data.MISSING) == expected
    assert rows(dataclasses.fields(OURS[name]), dataclasses.MISSING) == expected
    assert data.is_dataclass(OURS[name]) and dataclasses.is_dataclass(OURS[name])
    assert not data.is_dataclass(STANDARD[name])


@pytest.mark.parametrize(
    ("name", "given", "named"),
    [
        ("Open", (), {}),
        ("Open", (1, [], "", 4), {}),
        ("Open", (1,), {"unknown": 2}),
        ("Named", (1,), {}),
        ("Computed", (1, 2), {}),
        ("Empty", (1,), {}),
    ],
)
def test_wrong_arguments_are_an_error(
    name: str, given: tuple[Any, ...], named: dict[str, Any]
) -> None:
    for kinds in (OURS, STANDARD):
        with pytest.raises(TypeError):
            kinds[name](*given, **named)


@pytest.mark.parametrize("name", OURS)
def test_signatures_are_alike_before_first_use(name: str) -> None:
    fresh = _Kinds(data).kinds[name]
    ours, standard = inspect.signature(fresh), inspect.signature(STANDARD[name])
    assert [(p.name, p.kind, p.annotation) for p in ours.parameters.values()] == [
        (p.name, p.kind, p.annotation) for p in standard.parameters.values()
    ]


def test_values_of_several_fields_differ() -> None:
    frozen = OURS["Frozen"]
    assert frozen(1) != frozen(2)
    assert frozen(1, (1,)) != frozen(1)
    assert frozen(1, c="x") == frozen(1, c="y")
    assert hash(frozen(1, c="x")) == hash(frozen(1, c="y"))
    assert OURS["Derived"](1) != frozen(1) != OURS["Derived"](1)


def test_what_is_compared_by_identity_has_a_hash() -> None:
    one, other = OURS["Identical"](1), OURS["Identical"](1)
    assert one != other
    assert len({one, other, one}) == 2
    assert repr(OURS["Silent"](1)).startswith("<")


def test_default_factories_make_a_value_for_each() -> None:
    one, other = OURS["Open"](1), OURS["Open"](1)
    assert one.b is not other.b
    assert OURS["Computed"](1).d is not OURS["Computed"](1).d


@pytest.mark.parametrize("name", ["Frozen", "Derived"])
def test_frozen_values_stay(name: str) -> None:
    value = OURS[name](1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        value.a = 2
    with pytest.raises(dataclasses.FrozenInstanceError):
        del value.a
    assert value.a == 1


def test_open_values_change_but_have_no_other_attributes() -> None:
    value = OURS["Open"](1)
    value.a = 2
    assert value.twice() == 4
    with pytest.raises(AttributeError):
        value.other = 1


def test_replace() -> None:
    value = OURS["Frozen"](1, (2,), "x")
    for replace in (data.replace, dataclasses.replace):
        changed = replace(value, a=5)
        assert (changed.a, changed.b, changed.c) == (5, (2,), "x")
    assert data.replace(OURS["Computed"](4), a=5).b == 10
    with pytest.raises(TypeError):
        data.replace(value, unknown=1)


def test_positional_and_keyword_patterns() -> None:
    match OURS["Frozen"](1, (2,)):
        case object(a=1, b=(other,)):
            assert other == 2
        case _:
            pytest.fail("no match")
    frozen = OURS["Frozen"]
    match frozen(1, (2,)):
        case frozen(first, (second,)):
            assert (first, second) == (1, 2)
        case _:
            pytest.fail("no match")


@data.dataclass(slots=True, frozen=True)
class Kept:
    a: int
    b: list[int] = data.field(default_factory=list)


@pytest.mark.parametrize(
    "again", [copy.copy, copy.deepcopy, lambda v: pickle.loads(pickle.dumps(v))]
)
def test_copies_and_pickles(again: Any) -> None:
    value = Kept(1, [2])
    assert again(value) == value
    assert type(again(value)) is Kept


def test_a_value_in_itself_is_shown_once() -> None:
    value = OURS["Open"](1)
    value.b.append(value)
    assert repr(value) == "Open(a=1, b=[...], c='c')"


def test_a_subclass_without_decorator_shares_the_methods() -> None:
    kind = _Kinds(data).kinds["Frozen"]

    class Sub(kind):  # type: ignore[misc, valid-type]
        __slots__ = ()

    assert Sub(1) == Sub(1) != kind(1)
    assert len({Sub(1), Sub(1)}) == 1


def test_what_is_not_offered_is_an_error() -> None:
    with pytest.raises(TypeError, match="slots"):

        @data.dataclass(slots=False)
        class WithDictionary:
            a: int

    with pytest.raises(ValueError, match="mutable default"):

        @data.dataclass(slots=True)
        class Shared:
            a: list[int] = []

    with pytest.raises(TypeError, match="class variable"):

        @data.dataclass(slots=True)
        class Variable:
            a: ClassVar[int] = 1  # type: ignore[name-defined]  # noqa: F821


def test_it_is_the_only_way_in_plait() -> None:
    found = [
        str(path.relative_to(SOURCES))
        for path in sorted(SOURCES.rglob("*.py"))
        if path != Path(data.__file__)
        and any(
            line.split()[:2] in (["from", "dataclasses"], ["import", "dataclasses"])
            for line in path.read_text(encoding="utf-8").splitlines()
        )
    ]
    assert found == [], "import from plait.data instead"


def test_importing_the_engines_does_not_import_the_standard_one() -> None:
    modules = "plait.portfolio.worker, plait.engines.orders.engine, plait.evidence.counterexample"
    program = f"import {modules}, sys; print('dataclasses' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ran.stdout == "False\n", ran.stderr
