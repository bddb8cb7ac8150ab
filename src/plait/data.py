"""`dataclass`, as in the standard library, for classes with slots, made when they are first used.

The standard decorator compiles six functions for each class and imports `inspect`: with the three
hundred classes of plait that was half of the time to import them. Here a class gets methods that
replace themselves with compiled ones when they are first looked at, so that it costs next to
nothing until then. For type checkers these are the functions of the standard library, and the
functions of `dataclasses` work on the classes too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

_FIELDS = "__plait_fields__"
_WITHOUT_METADATA: Mapping[str, Any] = {}


class _Missing:
    pass


_MISSING = _Missing()


class _Field:
    """Attributes as in `dataclasses.Field`."""

    __slots__ = (
        "compare", "default", "default_factory", "init", "kw_only", "metadata", "name", "repr",
        "type",
    )  # fmt: skip

    def __init__(
        self,
        *,
        default: Any = _MISSING,
        default_factory: Any = _MISSING,
        init: bool = True,
        repr: bool = True,
        compare: bool = True,
        metadata: Mapping[str, Any] = _WITHOUT_METADATA,
    ) -> None:
        self.default = default
        self.default_factory = default_factory
        self.init = init
        self.repr = repr
        self.compare = compare
        self.metadata = metadata
        self.kw_only = False
        self.name = ""
        self.type = ""


def _dataclass(
    *,
    slots: bool,
    frozen: bool = False,
    eq: bool = True,
    repr: bool = True,
    kw_only: bool = False,
) -> Callable[[type], type]:
    if not slots:
        raise TypeError("only classes with slots")

    def decorate(plain: type) -> type:
        inherited: dict[str, _Field] = {}
        for base in reversed(plain.__mro__[1:]):
            inherited |= base.__dict__.get(_FIELDS, {})
        own = _own_fields(plain, kw_only)
        content = {
            name: value
            for name, value in plain.__dict__.items()
            if name not in own and name not in ("__dict__", "__weakref__")
        }
        content["__qualname__"] = plain.__qualname__
        content["__slots__"] = tuple(name for name in own if name not in inherited)
        content[_FIELDS] = all_fields = inherited | own
        content["__dataclass_fields__"] = _STANDARD_FIELDS
        content.setdefault(
            "__match_args__",
            tuple(item.name for item in all_fields.values() if item.init and not item.kw_only),
        )
        if "__init__" not in content:
            content["__init__"] = _Lazy("__init__", _frozen_init if frozen else _open_init)
        if repr:
            content.setdefault("__repr__", _represent)
        if eq:
            has_hash = content.get("__hash__") is not None
            if "__eq__" not in content:
                content["__eq__"] = _Lazy("__eq__", _eq)
            if not has_hash:
                content["__hash__"] = _Lazy("__hash__", _hash) if frozen else None
        if frozen:
            content |= _FROZEN
        return type(plain)(plain.__name__, plain.__bases__, content)

    return decorate


def _own_fields(plain: type, kw_only: bool) -> dict[str, _Field]:
    found = {}
    for name, kind in plain.__annotations__.items():
        if "ClassVar" in str(kind):
            raise TypeError(f"{plain.__name__}.{name}: a class variable belongs outside")
        item = plain.__dict__.get(name, _MISSING)
        if not isinstance(item, _Field):
            if item.__class__.__hash__ is None:
                raise ValueError(f"{plain.__name__}.{name}: a mutable default needs a factory")
            item = _Field(default=item)
        item.name, item.type, item.kw_only = name, kind, kw_only
        found[name] = item
    return found


# Methods that are compiled when they are first looked at

_Maker = Callable[[type], Callable[..., Any]]


class _Lazy:
    """A method that replaces itself with a compiled one when it is looked at."""

    __slots__ = ("_make", "_name")

    def __init__(self, name: str, make: _Maker) -> None:
        self._name = name
        self._make = make

    def __get__(self, instance: object, kind: type) -> Any:
        for owner in kind.__mro__:
            if owner.__dict__.get(self._name) is self:
                made = self._make(owner)
                made.__qualname__ = f"{owner.__qualname__}.{self._name}"
                made.__module__ = owner.__module__
                setattr(owner, self._name, made)
                break
        return getattr(kind if instance is None else instance, self._name)


def _compiled(text: str, known: dict[str, Any]) -> Callable[..., Any]:
    made: dict[str, Callable[..., Any]] = {}
    exec(text, known, made)
    (function,) = made.values()
    return function


def _open_init(owner: type) -> Callable[..., Any]:
    return _init(owner, lambda name, value: f"self.{name} = {value}", {})


def _frozen_init(owner: type) -> Callable[..., Any]:
    # Past __setattr__: the slot's own descriptor writes.
    setters = {f"_set_{name}": getattr(owner, name).__set__ for name in _fields_of(owner)}
    return _init(owner, lambda name, value: f"_set_{name}(self, {value})", setters)


def _init(
    owner: type, store: Callable[[str, str], str], known: dict[str, Any]
) -> Callable[..., Any]:
    known["_MISSING"] = _MISSING
    positional: list[str] = []
    named: list[str] = []
    body: list[str] = []
    for name, item in _fields_of(owner).items():
        value = name
        if item.default_factory is not _MISSING:
            known[f"_make_{name}"] = item.default_factory
            value = f"_make_{name}() if {name} is _MISSING else {name}" if item.init else (
                f"_make_{name}()"
            )  # fmt: skip
        elif item.default is not _MISSING:
            known[f"_default_{name}"] = item.default
            value = name if item.init else f"_default_{name}"
        elif not item.init:
            continue
        body.append(store(name, value))
        if item.init:
            default = ""
            if item.default_factory is not _MISSING:
                default = "=_MISSING"
            elif item.default is not _MISSING:
                default = f"=_default_{name}"
            (named if item.kw_only else positional).append(name + default)
    if hasattr(owner, "__post_init__"):
        body.append("self.__post_init__()")
    if named:
        positional += ["*", *named]
    lines = [f"def __init__({', '.join(['self', *positional])}):", *(body or ["pass"])]
    made = _compiled("\n ".join(lines), known)
    made.__annotations__ = {
        name: item.type for name, item in _fields_of(owner).items() if item.init
    } | {"return": None}
    return made


def _eq(owner: type) -> Callable[..., Any]:
    one, other = _values(owner, "self"), _values(owner, "other")
    lines = [
        "def __eq__(self, other):",
        f"if other.__class__ is self.__class__: return {one} == {other}",
        "return NotImplemented",
    ]
    return _compiled("\n ".join(lines), {})


def _hash(owner: type) -> Callable[..., Any]:
    return _compiled(f"def __hash__(self): return hash({_values(owner, 'self')})", {})


def _values(owner: type, of: str) -> str:
    names = [name for name, item in _fields_of(owner).items() if item.compare]
    return "(" + "".join(f"{of}.{name}, " for name in names) + ")"


# Methods that all classes share

_being_shown: set[int] = set()


def _represent(self: Any) -> str:
    if id(self) in _being_shown:
        return "..."
    _being_shown.add(id(self))
    try:
        shown = [item.name for item in _fields_of(type(self)).values() if item.repr]
        values = ", ".join(f"{name}={getattr(self, name)!r}" for name in shown)
        return f"{type(self).__qualname__}({values})"
    finally:
        _being_shown.discard(id(self))


def _refuse_set(self: Any, name: str, value: object) -> None:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_delete(self: Any, name: str) -> None:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _get_state(self: Any) -> list[Any]:
    return [getattr(self, name) for name in _fields_of(type(self))]


def _set_state(self: Any, state: list[Any]) -> None:
    for name, value in zip(_fields_of(type(self)), state, strict=True):
        object.__setattr__(self, name, value)


_FROZEN = {
    "__setattr__": _refuse_set,
    "__delattr__": _refuse_delete,
    "__getstate__": _get_state,  # copies and pickles would use __setattr__
    "__setstate__": _set_state,
}


class _StandardFields:
    """What the functions of the standard library look at, made when they do."""

    def __get__(self, instance: object, owner: type) -> dict[str, Any]:
        known = _standard_fields.get(owner)
        if known is not None:
            return known
        import dataclasses

        rows: list[Any] = []
        for name, item in _fields_of(owner).items():
            values = {
                key: getattr(item, key)
                for key in ("default", "default_factory")
                if getattr(item, key) is not _MISSING
            }
            for key in ("init", "repr", "compare", "metadata", "kw_only"):
                values[key] = getattr(item, key)
            rows.append((name, item.type, dataclasses.field(**values)))
        twin: Any = dataclasses.make_dataclass(owner.__name__, rows)
        found: dict[str, Any] = twin.__dataclass_fields__
        _standard_fields[owner] = found
        return found


_standard_fields: dict[type, dict[str, Any]] = {}
_STANDARD_FIELDS = _StandardFields()


# Functions on the classes and their values


def _fields_of(owner: type) -> dict[str, _Field]:
    found: dict[str, _Field] = getattr(owner, _FIELDS)
    return found


def _fields(of: Any) -> tuple[_Field, ...]:
    return tuple(_fields_of(of).values())


def _is_dataclass(of: Any) -> bool:
    return hasattr(of, _FIELDS)


def _replace(value: Any, /, **changes: Any) -> Any:
    for name, item in _fields_of(type(value)).items():
        if item.init and name not in changes:
            changes[name] = getattr(value, name)
    return type(value)(**changes)


def _asdict(value: Any) -> Any:
    if _is_dataclass(value):
        return {name: _asdict(getattr(value, name)) for name in _fields_of(type(value))}
    if isinstance(value, list | tuple):
        return type(value)(map(_asdict, value))
    if isinstance(value, dict):
        return {key: _asdict(item) for key, item in value.items()}
    return value


if TYPE_CHECKING:
    from dataclasses import MISSING, asdict, dataclass, field, fields, is_dataclass, replace
else:
    MISSING, dataclass, field = _MISSING, _dataclass, _Field
    asdict, fields, is_dataclass, replace = _asdict, _fields, _is_dataclass, _replace

__all__ = ["MISSING", "asdict", "dataclass", "field", "fields", "is_dataclass", "replace"]
