"""The text of a monitor: what is read, and what a mistake says."""

from __future__ import annotations

import pytest

from plait.errors import InputError
from plait.monitors.automaton import ERROR, Event, EventKind, Instance
from plait.monitors.reading import read_monitor

HEAD = "monitor m\n"


def test_all_there_is() -> None:
    monitor = read_monitor(
        """// a comment
        monitor use
        include <stdio.h>
        declare { int f(int); struct s { int x; }; }
        for each FILE *$file up to 7
        variable int depth = (1, 2);
        state first {
          return fopen(_, $mode) = $file if ($file != 0 && ")" != $mode) do { depth++; } -> second;
          create(_, $file) -> first;
        }
        state second { lock $x -> first; write shared -> error "no"; exit -> never "it goes on"; }
        """,
        "use.mon",
    )
    assert monitor.instance == Instance("FILE *", "file", 7)
    assert next(code.text for code in monitor.prelude) == "#include <stdio.h>"
    assert monitor.variables[0].text == "int depth = (1, 2)"
    first, second = monitor.states
    opened = first.transitions[0]
    assert opened.event == Event(EventKind.RETURN, "fopen", (None, "mode"), "file", True)
    assert opened.guard is not None and opened.guard.text == '$file != 0 && ")" != $mode'
    assert opened.action is not None and opened.action.text == "depth++;"
    assert (opened.target, opened.line) == ("second", 8)
    assert [item.event.kind.value for item in second.transitions] == ["lock", "write", "exit"]
    assert second.transitions[1].target == ERROR and second.transitions[1].message == "no"


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        ("", "m.mon:1:1", "expected 'monitor NAME', found the end of the file"),
        (HEAD, "m.mon:2:1", "expected 'state NAME {'"),
        (HEAD + "stat a {}", "m.mon:2:1", "expected 'include'"),
        (HEAD + "state a {\n  lok $m -> a;\n}", "m.mon:3:3", "expected an event ('call', "),
        (HEAD + "state a { lock $m -> b; }", "m.mon:2", "there is no state 'b'"),
        (HEAD + "state a { lock $m a; }", "m.mon:2:19", "expected '->'"),
        (HEAD + "state a { call -> a; }", "m.mon:2:16", "the name of a function behind 'call'"),
        (HEAD + "state a { call f(x) -> a; }", "m.mon:2:18", "'$' and a name"),
        (HEAD + "state a { call f($x, $x) -> a; }", "m.mon:2:11", "the same name"),
        (HEAD + "state a { exit if (1 -> a; }", "m.mon:2:28", "'}' closes nothing"),
        (HEAD + "state a { exit -> error; }", "m.mon:2:24", "a message in quotes"),
        (HEAD + "state a {} state a {}", "m.mon:2:18", "a second state 'a'"),
        (HEAD + "state error {}", "m.mon:2:7", "is no name for a state"),
        (HEAD + "for each int x", "m.mon:2:10", "`FILE *$file`"),
        (HEAD + "for each int $x up to 0", "m.mon:2:23", "a number from 1 to 64"),
        (HEAD + "for each thread for each thread", "m.mon:2:17", "a second 'for each'"),
        (HEAD + "state a { call f($thread) -> a; }", "m.mon:2:18", "$thread is always"),
    ],
)
def test_mistakes(text: str, place: str, said: str) -> None:
    with pytest.raises(InputError) as failure:
        read_monitor(text, "m.mon")
    first = str(failure.value).split("\n")[0]
    assert first.startswith(f"{place}: ")
    assert said in first
