"""sprintf, snprintf and sscanf: the same as the C library of this machine."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from plait.c import FrontEndOptions, load
from plait.model.properties import from_names
from plait.semantics.explore import ExploreOptions, explore
from plait.semantics.run import run

HEAD = "#include <assert.h>\n#include <limits.h>\n#include <stdio.h>\n#include <string.h>\n"
FORMATS = [
    '"plain"', '"%d %i", 42, -7', '"%5d|%-5d|%05d|%+d|% d", 42, 42, 42, 42, 42',
    '"%.3d|%6.3d|%-6.3d|%.0d|%06.2d", 5, 5, 5, 0, 5', '"%d %d", INT_MIN, INT_MAX',
    '"%u %x %X %o", 4000000000u, 48879, 48879, 8', '"%#x %#o %#X %#x %#o", 255, 8, 255, 0, 0',
    '"%ld %lld %lu %llu", LONG_MIN, LLONG_MAX, ULONG_MAX, ULLONG_MAX', '"%hhd %hd %hhu %hu", 300, 70000, 300, 70000',
    '"%zu %jd %td", sizeof(int), (intmax_t)-1, (ptrdiff_t)-2', '"%c%c|%3c|%-3c|", 65, 66, 67, 68',
    '"%s|%5s|%-5s|%.2s|%5.1s|", "abc", "abc", "abc", "abc", "abc"', '"%%|%5d%%", 3',
    '"%*d|%-*d|%.*d|%*d", 5, 1, 5, 2, 3, 3, -5, 4', '"%s", ""', '"%#.5x|%08x|%-8x|", 31, 31, 31',
]  # fmt: skip
SCANS = [
    ('"12 -7"', '"%d %d", &a, &b'), ('"12,13"', '"%d,%d", &a, &b'), ('"x"', '"%d", &a'),
    ('""', '"%d", &a'), ('"  "', '"%d", &a'), ('"12abc"', '"%d%s", &a, s'),
    ('"abc def"', '"%s %s", s, u'), ('"abcdef"', '"%3s%s", s, u'), ('"0x1f 017 9"', '"%i %i %i", &a, &b, &c'),
    ('"ff FF"', '"%x %x", &a, &b'), ('"k=v w"', '"%[^=]=%[a-z]", s, u'), ('"xyz"', '"%c%c", s, u'),
    ('"12 34"', '"%*d %d", &a'), ('"1234"', '"%2d%2d", &a, &b'), ('"5 apples"', '"%d %n", &a, &b'),
    ('"a%b"', '"a%%%c", s'), ('"12"', '"%d %d", &a, &b'), ('"7"', '"%d,%d", &a, &b'), ('"--1"', '"%d", &a'),
    ('"b"', '"%[a]", s'), ('"]x"', '"%[]]", s'), ('"0x"', '"%d%c", &a, s'), ('"+5 -0"', '"%u %d", &a, &b'),
]  # fmt: skip


def agree(folder: Path, text: str) -> None:
    source, binary = folder / "main.c", folder / "binary"
    source.write_text(HEAD + "#include <stdint.h>\n#include <stddef.h>\n" + text)
    subprocess.run(["gcc", "-w", str(source), "-o", str(binary)], check=True)
    real = subprocess.run([str(binary)], capture_output=True, check=False)
    loaded = load([str(source)], FrontEndOptions(), from_names([]))
    execution = run(loaded, from_names([]), seed=1)
    assert execution.ending == "exit", execution.outcome
    assert execution.output.decode().splitlines() == real.stdout.decode().splitlines()


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs a C compiler")
def test_printing_agrees_with_the_c_library(tmp_path: Path) -> None:
    lines = []
    for arguments in FORMATS:
        lines.append(f'memset(s, 1, 200); n = sprintf(s, {arguments}); printf("%d %s\\n", n, s);')
        lines.append(f'n = snprintf(s, 4, {arguments}); printf("%d %s %d\\n", n, s, s[4]);')
        lines.append(f'n = snprintf(0, 0, {arguments}); printf("%d\\n", n);')
    body = "\n".join(lines)
    agree(tmp_path, f"int main(void) {{ char s[200]; int n;\n{body}\nreturn 0; }}")


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs a C compiler")
def test_scanning_agrees_with_the_c_library(tmp_path: Path) -> None:
    lines = [
        "a = b = c = 99; memset(s, 0, 20); memset(u, 0, 20);"
        f' n = sscanf({text}, {arguments}); printf("%d %d %d %d %s %s\\n", n, a, b, c, s, u);'
        for text, arguments in SCANS
    ]
    body = "\n".join(lines)
    agree(tmp_path, f"int main(void) {{ char s[20], u[20]; int a, b, c, n;\n{body}\nreturn 0; }}")


@pytest.mark.parametrize(
    ("body", "properties", "wanted"),
    [
        ('char s[4]; sprintf(s, "%d", 1000);', ("valid-memsafety",), "false"),
        ('char s[5]; sprintf(s, "%d", 1000);', ("valid-memsafety",), "true"),
        ('char s[2]; snprintf(s, 2, "%s", "abc");', ("valid-memsafety",), "true"),
        ('char s[2]; sscanf("abc", "%s", s);', ("valid-memsafety",), "false"),
        ('char s[2]; sscanf("abc", "%1s", s);', ("valid-memsafety",), "true"),
        ('short h[2] = {0, 7}; sscanf("5", "%hd", h); assert(h[0] == 5 && h[1] == 7);', (), "true"),
        ('int n = 3; if (scanf("%d", &n) == 1) assert(n == 3);', (), "false"),
        ('int n; assert(scanf("%d %d", &n, &n) != 1);', (), "false"),
        ('int n; assert(scanf("%d", &n) >= 0);', (), "false"),
        ('char s[1]; scanf("%1s", s);', ("valid-memsafety",), "false"),
    ],
)
def test_verdicts(body: str, properties: tuple[str, ...], wanted: str, tmp_path: Path) -> None:
    source = tmp_path / "main.c"
    source.write_text(f"{HEAD}int main(void) {{ {body} return 0; }}")
    specification = from_names(list(properties))
    loaded = load([str(source)], FrontEndOptions(), specification)
    found = explore(loaded, specification, ExploreOptions(inputs=(-1, 2), max_seconds=20))
    assert found.verdict.value == wanted, found.reason
