"""Strings that functions of the system return, and the environment and text that they make."""

from __future__ import annotations

from pathlib import Path

import pytest

from plait.c import FrontEndOptions, load
from plait.engines.interface import Answer
from plait.model.properties import from_names
from plait.portfolio.assumptions import assumptions_of
from tests.engines.asking import outcome_of

HEAD = """#define _GNU_SOURCE
#include <assert.h>
#include <langinfo.h>
#include <libintl.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static char *form(const char *how, ...) {
  char *made;
  va_list arguments;
  va_start(arguments, how);
  if (vasprintf(&made, how, arguments) < 0) abort();
  va_end(arguments);
  return made;
}
int main(int argc, char **argv) { BODY return 0; }
"""


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("setlocale(LC_ALL, argv[0] == 0 ? \"\" : \"C\");", Answer.HOLDS),
        ("char *p = setlocale(LC_ALL, NULL); assert(p[0] || 1);", Answer.VIOLATED),  # null
        ("char *p = setlocale(LC_ALL, NULL); if (p) assert(p[1] != 'x');", Answer.VIOLATED),
        ("char *p = setlocale(LC_ALL, NULL); if (p) assert(strlen(p) < 8);", Answer.UNKNOWN),
        ("char *p = getlogin(); if (p) free(p);", Answer.VIOLATED),
        ("char *p = nl_langinfo(CODESET); assert(p);", Answer.UNKNOWN),  # it may be longer
        ("assert(strcmp(strerror(3), \"error\"));", Answer.VIOLATED),
        ("assert(strcmp(strerror(3), \"xyz\"));", Answer.VIOLATED),
        ("assert(strerror(argc)[7] == 0);", Answer.HOLDS),
        ("puts(gettext(\"a\")); assert(dcgettext(\"a\", \"b\", 5)[0] == 'b');", Answer.HOLDS),
        ("assert(ngettext(\"a\", \"b\", argc)[0] == 'a');", Answer.VIOLATED),
        ("char *p; assert(asprintf(&p, \"%d-%s\", 12, \"x\") == 4); assert(!strcmp(p, \"12-x\"));"
         " free(p);", Answer.HOLDS),
        ("char *p = form(\"%c\", 'y'); assert(p[0] == 'y' && !p[1]); free(p);", Answer.HOLDS),
        ("char *p = form(\"%c\", 'y'); p[2] = 0;", Answer.VIOLATED),
        ("assert(!getenv(\"A\")); setenv(\"A\", \"b\", 1);", Answer.HOLDS),
        ("assert(setenv(\"A=\", \"b\", 1) == 0);", Answer.VIOLATED),
        ("putenv(\"A=b\"); assert(!getenv(\"A\"));", Answer.UNKNOWN),
        ("unsetenv(\"A\"); assert(!getenv(\"A\"));", Answer.HOLDS),
        ("extern char **environ; int n = 0; while (environ[n]) n++; assert(n == 0);", Answer.HOLDS),
        ("extern char **environ; setenv(\"A\", \"b\", 1); assert(environ == 0);", Answer.UNKNOWN),
    ],
)  # fmt: skip
def test_strings(body: str, expected: Answer, tmp_path: Path) -> None:
    outcome = outcome_of("orders", HEAD.replace("BODY", body), tmp_path, "assertions,valid-access")
    assert outcome.answer is expected, outcome.reason


def test_messages_are_assumptions(tmp_path: Path) -> None:
    path = tmp_path / "main.c"
    path.write_text(HEAD.replace("BODY", "puts(gettext(strerror(argc)));"))
    specification = from_names([])
    program = load([str(path)], FrontEndOptions(), specification)
    found = assumptions_of(program, specification, spurious_wakeups=True)
    assert "messages are not translated" in found
    assert "messages of the system (strerror, ...) have at most 7 characters" in found
