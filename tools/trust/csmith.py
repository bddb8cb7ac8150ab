"""Random programs from csmith, where it is installed."""

from __future__ import annotations

import glob
import shutil
import subprocess
import tempfile
from functools import cache

from trust.native import NativeError

# Small programs: the interpreter is thousands of times slower than the machine. No feature that
# csmith has on by default is switched off; --builtins stays off because it makes __builtin_clz(0).
OPTIONS = (
    "--max-funcs", "3",
    "--max-block-depth", "3",
    "--max-block-size", "3",
    "--max-expr-complexity", "5",
    "--max-array-dim", "2",
    "--max-array-len-per-dim", "4",
    "--max-pointer-depth", "3",
    "--float",
)  # fmt: skip


@cache
def include_dir() -> str | None:
    for path in (*sorted(glob.glob("/usr/include/csmith*")), "/usr/local/include/csmith"):
        if glob.glob(f"{path}/csmith.h"):
            return path
    return None


@cache
def is_installed() -> bool:
    return shutil.which("csmith") is not None and include_dir() is not None


def generate(seed: int) -> str:
    """The program that csmith makes for a seed."""
    command = ["csmith", "--seed", str(seed + 1), *OPTIONS]
    try:
        # It leaves a file behind in the directory that it runs in.
        with tempfile.TemporaryDirectory(prefix="plait-trust-") as directory:
            done = subprocess.run(
                command, cwd=directory, capture_output=True, text=True, timeout=60, check=False
            )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NativeError(f"csmith: {error}") from error
    if done.returncode != 0:
        raise NativeError(f"csmith fails with status {done.returncode}: {done.stderr[:500]}")
    return done.stdout
