"""Monitors from their text. A mistake says where it is and what was expected.

monitor    := 'monitor' NAME ';'? item* state+
item       := 'include' ('<' FILE '>' | '"' FILE '"') | 'declare' '{' C '}'
            | 'variable' C ';' | 'for' 'each' ('thread' | C-TYPE '$'NAME ['up' 'to' N]) ';'?
state      := 'state' NAME '{' transition* '}'
transition := event ['if' '(' C ')'] ['do' '{' C '}'] '->' (NAME | ('error' | 'never') STRING) ';'
event      := ('call' | 'return') NAME ['(' [name {',' name}] ')'] ['=' name]
            | ('lock' | 'unlock') [name] | ('read' | 'write' | 'access') NAME
            | 'create' ['(' name ',' name ')'] | 'end' | 'join' | 'exit'
name       := '$'NAME | '_'
"""

from __future__ import annotations

import re
from typing import NoReturn

from plait.data import dataclass
from plait.errors import Diagnostic, InputError
from plait.monitors.automaton import (
    ABOUT_FUNCTIONS,
    ABOUT_VARIABLES,
    ERROR,
    NEVER,
    Code,
    Event,
    EventKind,
    Instance,
    Monitor,
    State,
    Transition,
)

THREAD = "thread"  # `$thread` is the number of the thread that the event is of
_MOST, _LARGEST = 4, 64  # instances at the same time
_BLANK = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_WORD = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_NAME = re.compile(r"\$([A-Za-z_]\w*)|_(?!\w)", re.ASCII)
_STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
_FILE = re.compile(r'<[^>\n]+>|"[^"\n]+"')
_C_PIECE = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|.", re.DOTALL)
_PAIRS = {"(": ")", "{": "}", "[": "]"}
_EVENTS = ", ".join(f"'{kind.value}'" for kind in EventKind)


def read_monitor(text: str, path: str) -> Monitor:
    return _Reader(text, path).monitor()


@dataclass(slots=True)
class _Reader:
    text: str
    path: str
    at: int = 0

    # Text

    def _skip(self) -> None:
        found = _BLANK.match(self.text, self.at)
        assert found is not None
        self.at = found.end()

    def _line(self) -> int:
        return self.text.count("\n", 0, self.at) + 1

    def _fail(self, message: str, at: int | None = None) -> NoReturn:
        at = self.at if at is None else at
        start = self.text.rfind("\n", 0, at) + 1
        line = self.text.count("\n", 0, at)
        lines = self.text.split("\n")
        raise InputError(Diagnostic(message, self.path, line + 1, at - start + 1, lines[line]))

    def _expected(self, what: str) -> NoReturn:
        self._skip()
        rest = self.text[self.at :].split("\n")[0][:20].strip()
        self._fail(
            f"expected {what}, found {f'`{rest}`' if rest else 'the end of the line'}"
            if self.at < len(self.text)
            else f"expected {what}, found the end of the file"
        )

    def _peek(self) -> str:
        """The word that comes next; empty if none does."""
        self._skip()
        found = _WORD.match(self.text, self.at)
        return found[0] if found else ""

    def _word(self, what: str) -> str:
        word = self._peek()
        if not word:
            self._expected(what)
        self.at += len(word)
        return word

    def _keyword(self, *words: str) -> bool:
        start = self.at
        for word in words:
            if self._peek() != word:
                self.at = start
                return False
            self.at += len(word)
        return True

    def _mark(self, mark: str) -> bool:
        self._skip()
        if not self.text.startswith(mark, self.at):
            return False
        self.at += len(mark)
        return True

    def _need(self, mark: str, behind: str = "") -> None:
        if not self._mark(mark):
            self._expected(f"'{mark}'{behind}")

    def _string(self, what: str) -> str:
        self._skip()
        found = _STRING.match(self.text, self.at)
        if found is None:
            self._expected(what)
        self.at = found.end()
        return found[1]

    def _code(self, ends: str, what: str) -> Code:
        """C up to one of the characters `ends`, outside of brackets, comments and strings."""
        self._skip()
        start, line = self.at, self._line()
        open_brackets: list[str] = []
        for found in _C_PIECE.finditer(self.text, start):
            piece = found[0]
            if not open_brackets and piece in ends:
                self.at = found.start()
                if not self.text[start : self.at].strip():
                    self._fail(f"expected {what}, found nothing")
                return Code(self.text[start : self.at].rstrip(), line)
            if piece in _PAIRS:
                open_brackets.append(_PAIRS[piece])
            elif piece in _PAIRS.values() and (not open_brackets or open_brackets.pop() != piece):
                self._fail(f"'{piece}' closes nothing", found.start())
        self._fail(f"{what} has no end: expected {' or '.join(map(repr, ends))}", start)

    # The monitor

    def monitor(self) -> Monitor:
        if not self._keyword("monitor"):
            self._expected("'monitor NAME'")
        name = self._word("the name of the monitor")
        self._mark(";")
        prelude: list[Code] = []
        variables: list[Code] = []
        instance: Instance | None = None
        states: list[State] = []
        while True:
            self._skip()
            if self.at == len(self.text):
                break
            start = self.at
            if self._keyword("state"):
                states.append(self._state(states))
            elif states:
                self._expected("'state NAME {' or the end of the file")
            elif self._keyword("include"):
                prelude.append(self._include())
            elif self._keyword("declare"):
                self._need("{", " and C declarations")
                prelude.append(self._code("}", "a C declaration"))
                self._need("}")
            elif self._keyword("variable"):
                variables.append(self._code(";", "a C declaration, such as `int count = 0`"))
                self._need(";")
            elif self._keyword("for", "each"):
                if instance is not None:
                    self._fail("a second 'for each': a monitor has one", start)
                instance = self._instance()
            else:
                self._expected("'include', 'declare', 'variable', 'for each' or 'state'")
        if not states:
            self._expected("'state NAME {'")
        self._check_targets(states)
        return Monitor(name, self.path, tuple(prelude), tuple(variables), instance, tuple(states))

    def _include(self) -> Code:
        self._skip()
        found = _FILE.match(self.text, self.at)
        if found is None:
            self._expected('a header, <stdio.h> or "own.h"')
        line = self._line()
        self.at = found.end()
        return Code(f"#include {found[0]}", line)

    def _instance(self) -> Instance:
        if self._keyword(THREAD):
            self._mark(";")
            return Instance("", "")
        start = self.at
        end = self.text.find("$", start)
        type_ = "" if end < 0 else self.text[start:end].strip()
        if not type_ or "\n" in type_ or ";" in type_:
            self._expected("'thread', or a C type and a name, such as `FILE *$file`")
        self.at = end
        name = self._name("a name such as $file")
        if name is None:
            self._fail("what the monitor is for needs a name", end)
        most = self._number() if self._keyword("up", "to") else _MOST
        self._mark(";")
        return Instance(type_, name, most)

    def _number(self) -> int:
        self._skip()
        found = re.compile(r"\d+").match(self.text, self.at)
        if found is None or not 1 <= int(found[0][:9]) <= _LARGEST:
            self._expected(f"a number from 1 to {_LARGEST}")
        self.at = found.end()
        return int(found[0])

    def _state(self, before: list[State]) -> State:
        line = self._line()
        name = self._word("the name of the state")
        if name in (ERROR, NEVER):
            self._fail(f"'{name}' is no name for a state", self.at - len(name))
        if any(state.name == name for state in before):
            self._fail(f"a second state '{name}'", self.at - len(name))
        self._need("{")
        transitions = []
        while not self._mark("}"):
            transitions.append(self._transition())
        return State(name, tuple(transitions), line)

    def _transition(self) -> Transition:
        self._skip()
        line = self._line()
        event = self._event()
        guard = action = None
        if self._keyword("if"):
            self._need("(", " and a condition")
            guard = self._code(")", "a condition in C")
            self._need(")")
        if self._keyword("do"):
            self._need("{", " and C statements")
            action = self._code("}", "a statement in C")
            self._need("}")
        if not self._mark("->"):
            self._expected("'->' and a state, 'if (', or 'do {'")
        target = self._word("a state, or 'error' or 'never' and a message")
        message = ""
        if target in (ERROR, NEVER):
            message = self._string("a message in quotes")
        self._need(";")
        return Transition(event, guard, action, target, message, line)

    def _event(self) -> Event:
        start = self.at
        word = self._peek()
        known = {kind.value: kind for kind in EventKind}
        if word not in known:
            self._expected(f"an event ({_EVENTS}) or '}}'")
        kind = known[word]
        self.at += len(word)
        names: tuple[str | None, ...] = ()
        has_pattern = False
        subject = ""
        result = None
        if kind in ABOUT_FUNCTIONS:
            subject = self._word(f"the name of a function behind '{word}'")
        elif kind in ABOUT_VARIABLES:
            subject = self._word(f"the name of a global variable behind '{word}'")
        if (kind in ABOUT_FUNCTIONS or kind is EventKind.CREATE) and self._mark("("):
            has_pattern = True
            names = self._names()
            if kind is EventKind.CREATE and len(names) != 2:
                self._fail("'create' has two arguments: the function and its argument", start)
        if kind in (EventKind.LOCK, EventKind.UNLOCK) and self._peek_name():
            has_pattern = True
            names = (self._name("a name"),)
        if kind is EventKind.RETURN and self._mark("="):
            result = self._name("a name for the result, such as $r")
        given = [name for name in (*names, result) if name is not None]
        if len(set(given)) < len(given):
            self._fail("two arguments with the same name", start)
        return Event(kind, subject, names, result, has_pattern)

    def _names(self) -> tuple[str | None, ...]:
        if self._mark(")"):
            return ()
        names = [self._name("'$' and a name, or '_' for an argument that does not matter")]
        while self._mark(","):
            names.append(self._name("'$' and a name, or '_'"))
        self._need(")")
        return tuple(names)

    def _peek_name(self) -> bool:
        self._skip()
        return _NAME.match(self.text, self.at) is not None

    def _name(self, what: str) -> str | None:
        self._skip()
        found = _NAME.match(self.text, self.at)
        if found is None:
            self._expected(what)
        if found[1] == THREAD:
            self._fail("$thread is always the number of the thread that the event is of")
        self.at = found.end()
        return found[1]

    def _check_targets(self, states: list[State]) -> None:
        known = {state.name for state in states}
        for state in states:
            for item in state.transitions:
                if item.target not in {*known, ERROR, NEVER}:
                    lines = self.text.split("\n")
                    raise InputError(
                        Diagnostic(
                            f"there is no state '{item.target}' (there are: "
                            f"{', '.join(sorted(known))})",
                            self.path,
                            item.line,
                            0,
                            lines[item.line - 1],
                        )
                    )
