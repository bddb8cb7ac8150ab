"""A monitor as C: a function for each kind of event that it watches.

Each function is one atomic section, so that all instances see an event at once. The instances of
`for each TYPE $x` that are not in the first state stand in a table; the first state remembers
nothing, so whoever comes back to it leaves the table. An execution that needs a larger table has no
verdict.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NoReturn

from plait.data import dataclass
from plait.errors import Diagnostic, InputError
from plait.monitors.automaton import (
    ABOUT_FUNCTIONS,
    ERROR,
    NEVER,
    Code,
    Event,
    EventKind,
    Monitor,
    Transition,
)
from plait.monitors.reading import THREAD

PREFIX = "__plait_event_"
_OBSERVED = "__plait_observed_"
_INTRINSICS = (
    "void __plait_atomic_begin(void);",
    "void __plait_atomic_end(void);",
    "int __plait_self(void);",
    "void __plait_assume(int condition);",
    "void __plait_unsupported(const char *message);",
    "void __plait_check(const char *kind, int condition, const char *message);",
)
_VARIABLE = re.compile(r"\$([A-Za-z_]\w*)", re.ASCII)
_DECLARATION = re.compile(r"([A-Za-z_][^=\[\]()]*?[\s*])([A-Za-z_]\w*)\s*(?:=(.*))?", re.S)
_START = "void *(*)(void *)"


@dataclass(slots=True, frozen=True)
class Prototype:
    """The types of a function as C spells them. `is_plain`: of each parameter, whether it is a
    scalar, which a name can stand for; `result` is empty where there is no such result."""

    parameters: tuple[str, ...]
    is_plain: tuple[bool, ...]
    result: str
    is_variadic: bool


@dataclass(slots=True, frozen=True)
class Hook:
    """What is called at one kind of event. `positions` are the arguments that it gets, by their
    numbers; of a return the result may come behind them."""

    name: str
    kind: EventKind
    subject: str
    positions: tuple[int, ...]
    takes_result: bool


@dataclass(slots=True)
class Translation:
    """C text, and for each of its lines the line of the monitor that it comes from (0: none)."""

    hooks: list[Hook]
    lines: list[str]
    origins: list[int]

    @property
    def text(self) -> str:
        return "\n".join(self.lines) + "\n"


@dataclass(slots=True, frozen=True)
class _Variable:
    declaration: str
    name: str
    initial: str | None
    line: int


def _variable(code: Code, monitor: Monitor) -> _Variable:
    found = _DECLARATION.fullmatch(code.text)
    if found is None:
        message = "expected one scalar variable, such as `int count = 0`"
        raise InputError(Diagnostic(message, monitor.path, code.line))
    initial = None if found[3] is None else found[3].strip()
    return _Variable(found[1] + found[2], found[2], initial, code.line)


def observed(function: str) -> str:
    """The name of the function that is called in place of one that has no body to look into."""
    return _OBSERVED + function


def hook_name(kind: EventKind, subject: str = "") -> str:
    return f"{PREFIX}{kind.value}{'_' if subject else ''}{subject}"


def prelude(monitor: Monitor) -> Translation:
    """What the monitor includes and declares: enough to know the types of functions."""
    return _Writer(monitor, {}, frozenset()).prelude()


def translated(
    monitor: Monitor, prototypes: Mapping[str, Prototype], without_body: frozenset[str]
) -> Translation:
    """`prototypes` has all functions that the monitor names; those `without_body` get a function
    that is called in their place."""
    return _Writer(monitor, prototypes, without_body).whole()


class _Writer:
    def __init__(
        self,
        monitor: Monitor,
        prototypes: Mapping[str, Prototype],
        without_body: frozenset[str],
    ) -> None:
        self._monitor = monitor
        self._prototypes = prototypes
        self._without_body = without_body
        self._variables = [_variable(code, monitor) for code in monitor.variables]
        self._result = Translation([], [], [])

    def _put(self, text: str, line: int = 0) -> None:
        self._result.lines.append(text)
        self._result.origins.append(line)

    def _put_code(self, code: Code, before: str = "", behind: str = "") -> None:
        """Code keeps its lines, so that a mistake is found at its line. (What is behind it may not
        become a part of a comment.)"""
        if before:
            self._put(before, code.line)
        for number, piece in enumerate(code.text.split("\n")):
            self._put(piece, code.line + number)
        if behind:
            self._put(behind, code.line)

    def _fail(self, message: str, line: int) -> NoReturn:
        raise InputError(Diagnostic(message, self._monitor.path, line))

    def prelude(self) -> Translation:
        for code in self._monitor.prelude:
            self._put_code(code)
        return self._result

    def whole(self) -> Translation:
        self.prelude()
        for line in _INTRINSICS:
            self._put(line)
        self._declare_state()
        groups: dict[tuple[EventKind, str], list[tuple[int, Transition]]] = {}
        for number, state in enumerate(self._monitor.states):
            for item in state.transitions:
                key = (item.event.kind, item.event.subject)
                groups.setdefault(key, []).append((number, item))
        for (kind, subject), members in groups.items():
            self._hook(kind, subject, members)
        for function in sorted(self._without_body):
            if not self._prototypes[function].is_variadic:
                self._observe(function)
        return self._result

    def _declare_state(self) -> None:
        instance = self._monitor.instance
        if instance is None or instance.is_thread:
            storage = "static" if instance is None else "static _Thread_local"
            self._put(f"{storage} int plait_state;")
            for item in self._variables:
                start = "" if item.initial is None else f" = {item.initial}"
                self._put(f"{storage} {item.declaration}{start};", item.line)
            return
        self._put("struct plait_instance {")
        self._put(f"__typeof__({instance.type}) plait_object;")
        self._put("int plait_state;")
        for item in self._variables:
            self._put(f"{item.declaration};", item.line)
        self._put("};")
        self._put(f"static struct plait_instance plait_table[{instance.most}];")
        for item in self._variables:
            self._put(f"#define {item.name} (plait_table[plait_i].{item.name})", item.line)

    # Events

    def _types(self, event: Event, line: int) -> list[str]:
        """The types of the arguments of an event, and of its result if it has one."""
        if event.kind in ABOUT_FUNCTIONS:
            found = self._prototypes[event.subject]
            if event.has_pattern and len(event.names) != len(found.parameters):
                few = f"has {len(found.parameters)} arguments" + (
                    " before '...'" if found.is_variadic else ""
                )
                self._fail(f"'{event.subject}' {few}, not {len(event.names)}", line)
            for position, name in enumerate(event.names):
                if name is not None and not found.is_plain[position]:
                    self._fail(f"'${name}' is a struct or union, which has no name here", line)
                if name is not None and found.is_variadic and event.subject in self._without_body:
                    self._fail(
                        f"'{event.subject}' takes '...': its result can be named, its"
                        " arguments cannot",
                        line,
                    )
            if event.result is not None and not found.result:
                self._fail(f"'{event.subject}' has no result that could have a name", line)
            return [*found.parameters, found.result]
        if event.kind is EventKind.CREATE:
            return [_START, "void *"]
        if event.kind in (EventKind.LOCK, EventKind.UNLOCK):
            return ["void *"]
        return []

    def _hook(self, kind: EventKind, subject: str, members: list[tuple[int, Transition]]) -> None:
        types = [self._types(item.event, item.line) for _, item in members][-1]
        used = sorted(
            {
                position
                for _, item in members
                for position, name in enumerate(item.event.names)
                if name is not None
            }
        )
        takes_result = any(item.event.result is not None for _, item in members)
        if kind not in ABOUT_FUNCTIONS:
            used = list(range(len(types)))
        hook = Hook(hook_name(kind, subject), kind, subject, tuple(used), takes_result)
        self._result.hooks.append(hook)
        parameters = [f"__typeof__({types[position]}) plait_a{position}" for position in used]
        if takes_result:
            parameters.append(f"__typeof__({types[-1]}) plait_result")
        given = ", ".join(["int plait_i", *parameters])
        self._put(f"static void plait_step_{hook.name}({given}) {{")
        self._put(f"int plait_now = {self._state}, plait_taken = 0;")
        for number, item in members:
            self._transition(number, item, types)
        self._put("}")
        self._put(f"void {hook.name}({', '.join(parameters) or 'void'}) {{")
        self._put("__plait_atomic_begin();")
        names = [item.split()[-1] for item in parameters]
        self._step_all(hook, members, names)
        self._put("__plait_atomic_end();")
        self._put("}")

    @property
    def _state(self) -> str:
        instance = self._monitor.instance
        if instance is None or instance.is_thread:
            return "plait_state"
        return "plait_table[plait_i].plait_state"

    def _step_all(
        self, hook: Hook, members: list[tuple[int, Transition]], names: list[str]
    ) -> None:
        """All instances that are in the table, then the one that the event makes known. Places of
        the table whose instance is in the first state are free."""

        def step(index: str) -> str:
            return f"plait_step_{hook.name}({', '.join([index, *names])});"

        instance = self._monitor.instance
        if instance is None or instance.is_thread:
            self._put(step("0"))
            return
        own = {self._argument_of(item.event, instance.name): item for _, item in members}
        values = {value: item for value, item in own.items() if value is not None}
        type_ = f"__typeof__({instance.type})"
        for number in range(len(values)):
            self._put(f"int plait_known_{number} = 0;")
        for index in range(instance.most):
            self._put(f"if (plait_table[{index}].plait_state != 0) {{")
            for number, value in enumerate(values):
                same = f"plait_table[{index}].plait_object == ({type_}){value}"
                self._put(f"if ({same}) plait_known_{number} = 1;")
            self._put(step(str(index)))
            self._put("}")
        for number, (value, item) in enumerate(values.items()):
            exists = f" && {value} != 0" if "*" in instance.type else ""
            self._put(f"if (!plait_known_{number}{exists}) {{", item.line)
            for index in range(instance.most):
                self._put(f"if (plait_table[{index}].plait_state == 0) {{ int plait_i = {index};")
                self._put(f"plait_table[{index}].plait_object = ({type_}){value};", item.line)
                self._begin_anew()
                self._put(f"{step(str(index))} }} else")
            what = f"monitor {self._monitor.name}: more than {instance.most} at the same time"
            self._put(f'__plait_unsupported("{what}");')
            self._put("}")

    def _begin_anew(self) -> None:
        for item in self._variables:
            self._put(f"{item.name} = {item.initial or '0'};", item.line)

    def _argument_of(self, event: Event, name: str) -> str | None:
        """What a name stands for at an event."""
        if event.result == name:
            return "plait_result"
        if name in event.names:
            return f"plait_a{event.names.index(name)}"
        return None

    def _transition(self, number: int, item: Transition, types: list[str]) -> None:
        event, instance = item.event, self._monitor.instance
        condition = f"plait_now == {number} && !plait_taken"
        known = {name for name in (*event.names, event.result) if name is not None}
        if instance is not None and not instance.is_thread:
            value = self._argument_of(event, instance.name)
            if value is not None:
                type_ = f"__typeof__({instance.type})"
                condition += f" && plait_table[plait_i].plait_object == ({type_}){value}"
            known.add(instance.name)
        self._put(f"if ({condition}) {{", item.line)
        for name in sorted(known):
            value = self._argument_of(event, name)
            if instance is not None and name == instance.name:
                type_, value = instance.type, "plait_table[plait_i].plait_object"
            elif event.result == name:
                type_ = types[-1]
            else:
                type_ = types[event.names.index(name)]
            self._put(f"__typeof__({type_}) plait_of_{name} = {value};", item.line)
        guard = None if item.guard is None else self._resolved(item.guard, known)
        if guard is None:
            self._put("{")
        else:
            self._put_code(guard, "if (", ") {")
        self._put("plait_taken = 1;")
        if item.action is not None:
            self._put_code(self._resolved(item.action, known), "{ ", " }")
        self._put_target(number, item)
        self._put("} }")

    def _put_target(self, number: int, item: Transition) -> None:
        message = f"{self._monitor.name}: {item.message}"
        if item.target == ERROR:
            self._put(f'__plait_check("monitor", 0, "{message}");', item.line)
        elif item.target == NEVER:
            self._put("__plait_assume(0);", item.line)
        else:
            target = [state.name for state in self._monitor.states].index(item.target)
            if target != number:
                self._put(f"{self._state} = {target};")
            if target == 0:
                self._begin_anew()

    def _resolved(self, code: Code, known: set[str]) -> Code:
        def one(found: re.Match[str]) -> str:
            if found[1] == THREAD:
                return "__plait_self()"
            if found[1] not in known:
                line = code.line + code.text.count("\n", 0, found.start())
                self._fail(f"'${found[1]}' is nothing at this event", line)
            return f"plait_of_{found[1]}"

        return Code(_VARIABLE.sub(one, code.text), code.line)

    # Functions without a body

    def _observe(self, function: str) -> None:
        found = self._prototypes[function]
        names = [f"plait_a{number}" for number in range(len(found.parameters))]
        given = [
            f"__typeof__({type_}) {name}"
            for type_, name in zip(found.parameters, names, strict=True)
        ]
        result = f"__typeof__({found.result})" if found.result else "void"
        self._put(f"{result} {observed(function)}({', '.join(given) or 'void'}) {{")
        self._put(self._call_of(EventKind.CALL, function, names))
        called = f"{function}({', '.join(names)});"
        self._put(f"{result} plait_result = {called}" if found.result else called)
        self._put(self._call_of(EventKind.RETURN, function, names))
        self._put("return plait_result;" if found.result else "return;")
        self._put("}")

    def _call_of(self, kind: EventKind, function: str, names: list[str]) -> str:
        for hook in self._result.hooks:
            if hook.kind is kind and hook.subject == function:
                values = [names[position] for position in hook.positions]
                values += ["plait_result"] if hook.takes_result else []
                return f"{hook.name}({', '.join(values)});"
        return ";"
