"""Compile C with gcc and run it, within limits."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from plait.errors import PlaitError
from plait.model.types import DataModel

REFERENCE = ("-O0", "-fwrapv", "-w")
OPTIMISED = ("-O2", "-fwrapv", "-w")
# What is wrong with a program, apart from overflow, gcc should say at compile time or at run time.
STRICT = (
    "-O1",
    "-fwrapv",
    "-fsanitize=address,undefined,float-cast-overflow",
    "-fno-sanitize=signed-integer-overflow",
    "-fno-sanitize-recover=all",
    *(
        f"-Werror={name}"
        for name in (
            "format",
            "format-extra-args",
            "implicit-function-declaration",
            "implicit-int",
            "incompatible-pointer-types",
            "int-conversion",
            "maybe-uninitialized",
            "return-type",
            "uninitialized",
        )
    ),
)
_ALWAYS = ("-std=gnu17", "-ffp-contract=off")
_MACHINE = {DataModel.LP64: ("-m64",), DataModel.ILP32: ("-m32", "-msse2", "-mfpmath=sse")}
_LIMITS = 'ulimit -t 20; ulimit -c 0; ulimit -f 100000; exec "$0" "$@"'
# What programs with __VERIFIER functions need: sections as one recursive lock, random inputs.
VERIFIER_SHIM = """\
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t shim_lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
void __VERIFIER_atomic_begin(void) { pthread_mutex_lock(&shim_lock); }
void __VERIFIER_atomic_end(void) { pthread_mutex_unlock(&shim_lock); }
void __VERIFIER_assume(int condition) { if (!condition) exit(0); }
_Bool __VERIFIER_nondet_bool(void) { return rand() & 1; }
int __VERIFIER_nondet_int(void) { return rand(); }
unsigned __VERIFIER_nondet_uint(void) { return rand(); }
char __VERIFIER_nondet_char(void) { return rand(); }
void reach_error(void) { abort(); }
"""


class NativeError(PlaitError):
    """gcc is missing or rejects a program, or a program does not end in time."""


@dataclass(slots=True, frozen=True)
class Run:
    """What a program printed and how it ended (a negative status is a signal's number)."""

    output: str
    status: int
    errors: str = ""


@cache
def compiler() -> str | None:
    return shutil.which("gcc")


@cache
def supports(data_model: DataModel) -> bool:
    """Can gcc build and run programs of this data model here?"""
    if compiler() is None:
        return False
    try:
        source = '#include <stdio.h>\nint main(void) { puts("yes"); return 0; }\n'
        return compile_and_run(source, data_model=data_model).output == "yes\n"
    except NativeError:
        return False


def build(
    source: str,
    directory: str,
    *,
    data_model: DataModel = DataModel.LP64,
    options: Sequence[str] = REFERENCE,
    timeout: float = 60,
) -> str:
    """Compile a program into `directory`; the path of the executable."""
    gcc = compiler()
    if gcc is None:
        raise NativeError("gcc is not installed")
    path = os.path.join(directory, "program.c")
    executable = os.path.join(directory, "program")
    with open(path, "w", encoding="utf-8") as file:
        file.write(source)
    command = [gcc, *_ALWAYS, *_MACHINE[data_model], *options, path, "-o", executable, "-pthread"]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=timeout, check=False
        )
    except subprocess.TimeoutExpired:
        raise NativeError(f"gcc takes more than {timeout:g} s") from None
    if done.returncode != 0:
        raise NativeError(f"gcc rejects the program:\n{done.stderr}")
    return executable


def execute(executable: str, arguments: Sequence[str] = (), timeout: float = 10) -> Run:
    try:
        done = subprocess.run(
            ["sh", "-c", _LIMITS, executable, *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=timeout,
            check=False,
            env={**os.environ, "LC_ALL": "C"},
        )
    except subprocess.TimeoutExpired:
        raise NativeError(f"the program runs for more than {timeout:g} s") from None
    # Bytes as they are: programs may print any.
    return Run(
        done.stdout.decode("latin-1"), done.returncode, done.stderr.decode("latin-1", "replace")
    )


def compile_and_run(
    source: str,
    *,
    data_model: DataModel = DataModel.LP64,
    options: Sequence[str] = REFERENCE,
    timeout: float = 10,
) -> Run:
    with tempfile.TemporaryDirectory(prefix="plait-trust-") as directory:
        executable = build(source, directory, data_model=data_model, options=options)
        return execute(executable, timeout=timeout)


def complaint(source: str, extra: Sequence[str] = ()) -> str | None:
    """What is undefined in a run of the program, as far as gcc can tell; None if nothing is."""
    fills = ("-ftrivial-auto-var-init=zero", "-ftrivial-auto-var-init=pattern")
    try:
        zero, pattern = (compile_and_run(source, options=(*REFERENCE, *extra, f)) for f in fills)
        if zero != pattern:
            return "the output depends on uninitialised variables"
        run = compile_and_run(source, options=(*STRICT, *extra), timeout=30)
    except NativeError as error:
        return str(error)
    return None if run.status == 0 else f"status {run.status}\n{run.errors[:2000]}"
