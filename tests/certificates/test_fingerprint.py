"""The fingerprint of a program changes with the program, and with nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from plait.c import FrontEndOptions, load
from plait.certificates.fingerprint import fingerprint
from plait.model.properties import Property, Specification
from plait.model.types import DataModel

TEXT = """
#include <assert.h>
#include <pthread.h>
struct pair { int a; char b; };
int x = 5, *p = &x; _Thread_local int t; static const char s[] = "text"; extern int e;
float q = 1.5f;
void *f(void *v) { struct pair local = {1, 2}; x += local.a; return v; }
int main(void) { pthread_t id; t = *p; float copy = q; p = (int *)&copy; pthread_create(&id, 0, f, 0); assert(x <= 6); return s[0] == e; }
"""
ROOT = Path(__file__).parents[2]


def fingerprint_of(
    folder: Path,
    text: str,
    name: str = "program.c",
    specification: Specification | None = None,
    options: FrontEndOptions | None = None,
) -> str:
    source = folder / name
    source.write_text(text)
    chosen = specification or Specification()
    return fingerprint(load([str(source)], options or FrontEndOptions(), chosen))


def test_the_place_of_the_source_does_not_matter(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    there = fingerprint_of(tmp_path / "other", TEXT, "another_name.c")
    assert fingerprint_of(tmp_path, TEXT) == there
    assert fingerprint_of(tmp_path, "\n\n" + TEXT.replace("x += ", "x   += ")) == there


def test_hash_seeds_do_not_matter(tmp_path: Path) -> None:
    expected = fingerprint_of(tmp_path, TEXT)
    code = (
        "import sys; from plait.c import FrontEndOptions, load;"
        "from plait.certificates.fingerprint import fingerprint;"
        "from plait.model.properties import Specification;"
        "print(fingerprint(load(sys.argv[1:], FrontEndOptions(), Specification())))"
    )
    for seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", code, str(tmp_path / "program.c")],
            env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT / "src")},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.strip() == expected


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("x = 5", "x = 6"),
        ("x <= 6", "x <= 7"),
        ("x <= 6", "x < 6"),
        ("&x;", "&x + 1;"),
        ("x += local.a", "x -= local.a"),
        ("{1, 2}", "{1, 3}"),
        ("{1, 2}", "{1}"),
        ('"text"', '"next"'),
        ("static const char", "static char"),
        ("_Thread_local int t", "int t"),
        ("1.5f", "1.25f"),
        ("char b", "short b"),
        ("return v", "return 0"),
        ("int x", "unsigned x"),
        ("extern int e", "int e"),
        ("assert(x", "if (x) assert(x"),
    ],
)
def test_the_program_matters(tmp_path: Path, old: str, new: str) -> None:
    assert old in TEXT
    assert fingerprint_of(tmp_path, TEXT) != fingerprint_of(tmp_path, TEXT.replace(old, new, 1))


def test_options_matter(tmp_path: Path) -> None:
    plain = fingerprint_of(tmp_path, TEXT)
    narrow = FrontEndOptions(data_model=DataModel.ILP32)
    assert fingerprint_of(tmp_path, TEXT, options=narrow) != plain
    overflow = Specification(frozenset({Property.ASSERTIONS, Property.NO_OVERFLOW}))
    assert fingerprint_of(tmp_path, TEXT, specification=overflow) != plain
