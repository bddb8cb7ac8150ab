"""getopt and getopt_long: the same as the C library of this machine."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from plait.c import FrontEndOptions, load
from plait.model.properties import Specification
from plait.semantics.run import run

PROGRAM = r"""#include <getopt.h>
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv) {
    static int flag;
    struct option options[] = {
        {"verbose", no_argument, &flag, 7}, {"version", no_argument, 0, 'V'},
        {"file", required_argument, 0, 'f'}, {"level", optional_argument, 0, 'l'}, {0, 0, 0, 0},
    };
    int c, index = -1;
    opterr = 0;
    while ((c = CALL) != -1) {
        printf("[%d %d %d %d:%s]", c, optind, index, flag, optarg ? optarg : "-");
        if (c == '?' || c == ':') printf("(%d)", optopt);
    }
    printf(" %d", optind);
    for (int i = 0; i < argc; i++) printf(" %s", i ? argv[i] : "");
    printf("\n");
    return 0;
}
"""
SHORT = 'getopt(argc, argv, "ab:c::")'
COLON = 'getopt(argc, argv, ":ab:")'
PLUS = 'getopt(argc, argv, "+ab:")'
LONG = 'getopt_long(argc, argv, "ab:", options, &index)'
VECTORS = {
    SHORT: [
        "", "-a", "x -a y -b z w", "-ab x", "-bx -- -a", "-b", "-q", "-aqa x", "x y", "-c -cx y",
        "x -- -a y", "- -a", "-a x y -a z -b 1 2", "x y -- z", "-aa -a x", "--ver",
    ],
    COLON: ["-b", "-q", "x -a -b", "-ab x"],
    PLUS: ["x -a y -b z w", "-a x y -a", "-b x -- -a"],
    LONG: [
        "x -ab y", "-b", "--verbose x --file=a --version", "--file a -a", "--ver", "--verb", "--f",
        "--level --level=3", "--version=1", "--unknown x", "x --file y -a z -- -b", "--file",
    ],
}  # fmt: skip


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs a C compiler")
@pytest.mark.parametrize("call", VECTORS)
def test_agreement_with_the_c_library(call: str, tmp_path: Path) -> None:
    source, binary = tmp_path / "main.c", tmp_path / "binary"
    source.write_text(PROGRAM.replace("CALL", call))
    subprocess.run(["gcc", "-w", str(source), "-o", str(binary)], check=True)
    for vector in VECTORS[call]:
        arguments = ("./program", *vector.split())
        real = subprocess.run(arguments, executable=binary, capture_output=True, check=True)
        options = FrontEndOptions(arguments=arguments)
        execution = run(load([str(source)], options, Specification()), Specification(), seed=1)
        assert execution.ending == "exit", (vector, execution.outcome)
        assert execution.output == real.stdout, vector
