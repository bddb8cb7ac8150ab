"""The program with hooks and the runtime: from sources, or by a build of its own.

A build of its own is given a compiler (`cc` in our folder) that adds the hooks to whatever it
compiles, and the runtime to whatever it links. Functions that the runtime stands in for are renamed
when the program is linked: what the program defines itself is its own.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from plait.data import dataclass
from plait.hunt.unseen import unseen
from plait.native import build as native
from plait.native.build import first_message, run_tool
from plait.native.errors import CannotBuild

_RUNTIME = "runtime"
UNSEEN = "unseen.txt"
_HEAD = "HOOKED_BY_PLAIT"
_MOST_BUILD_SECONDS = 1800


@dataclass(slots=True, frozen=True)
class Built:
    """`unseen`: functions of libraries with effects that the runtime does not see."""

    executable: Path
    unseen: tuple[str, ...] = ()


def build_sources(
    sources: Sequence[str], compiler: str, flags: Sequence[str], folder: Path
) -> Built:
    """Compile and link C files."""
    prepare(compiler, folder)
    objects: list[str] = []
    for number, source in enumerate(sources):
        target = str(folder / f"source{number}.o")
        hooks = [*_hooks(folder), *_sections(source)]
        command = [*compiler.split(), "-O1", *hooks, *flags, "-c", source, "-o", target]
        done = run_tool(command)
        if done.returncode != 0:
            raise CannotBuild(f"it does not compile\n{first_message(done.stderr)}")
        objects.append(target)
    executable = folder / "program"
    links = [flag for flag in flags if flag.startswith(("-l", "-L", "-Wl,"))]
    link(objects, [*links, "-pthread", "-lm"], executable, folder, compiler)
    return finish(executable)


def _sections(source: str) -> tuple[str, ...]:
    """Functions with such names are atomic sections of SV-COMP's programs: their begins and ends
    have to be seen."""
    try:
        text = Path(source).read_bytes()
    except OSError:
        return ()
    return ("-finstrument-functions", "-fno-inline") if b"__VERIFIER_atomic_" in text else ()


def build_with(command: str, program: str, compiler: str, folder: Path) -> Built:
    """Run a build that names %cc and %cflags; the program that it makes is moved to our folder."""
    prepare(compiler, folder)
    wrapper = _write_wrapper(compiler, folder)
    text = command.replace("%cc", shlex.quote(str(wrapper))).replace("%cflags", shlex.quote("-g"))
    if text == command:
        raise CannotBuild("--binary-from: the command names no %cc: 'make CC=%cc CFLAGS=%cflags'")
    with open(folder / "build.txt", "w+b") as output:
        try:
            done = subprocess.run(
                ["sh", "-c", text],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                timeout=_MOST_BUILD_SECONDS,
                start_new_session=True,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise CannotBuild("--binary-from: the build takes too long") from None
        output.seek(0)
        said = output.read().decode("utf-8", "backslashreplace")
    if done.returncode != 0:
        raise CannotBuild(
            f"--binary-from: the build ends with status {done.returncode}\n{first_message(said)}"
        )
    path = Path(program)
    if not path.is_file():
        raise CannotBuild(f"--binary-from: the build makes no {program}")
    if not _is_hooked(path):
        raise CannotBuild(
            f"--binary-from: {program} was not linked with %cc (clean an older one away first)"
        )
    executable = folder / "program"
    shutil.copy2(path, executable)
    return finish(executable)


def _is_hooked(path: Path) -> bool:
    return _HEAD in run_tool(["nm", str(path)]).stdout


def prepare(compiler: str, folder: Path) -> None:
    """Compile the runtime, unless it is there already."""
    if (folder / "hooks.txt").exists():
        return
    commands = native.Commands(compiler, (), native.RUNTIME_FLAGS, ())
    (folder / _RUNTIME).mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        objects = native.compile_runtime(commands, folder / _RUNTIME, pool)
    mark = folder / _RUNTIME / "mark.c"
    mark.write_text(f"int {_HEAD};\n")
    done = run_tool([*compiler.split(), "-c", str(mark), "-o", str(mark.with_suffix(".o"))])
    if done.returncode != 0:
        raise CannotBuild(f"{compiler} does not compile\n{first_message(done.stderr)}")
    rows = [*objects, str(mark.with_suffix(".o"))]
    (folder / "runtime.txt").write_text("\n".join(rows))
    (folder / "hooks.txt").write_text("\n".join([*native.HUNT_FLAGS, *native.accepted(compiler)]))


def _hooks(folder: Path) -> list[str]:
    return (folder / "hooks.txt").read_text().split("\n")


def _write_wrapper(compiler: str, folder: Path) -> Path:
    """An executable file; a build may start it in any folder."""
    path = folder / "cc"
    words = [sys.executable, "-P", "-m", "plait.hunt.wrapper", str(folder), compiler]
    source = str(Path(__file__).parents[2])
    path.write_text(f'#!/bin/sh\nPYTHONPATH={shlex.quote(source)} exec {shlex.join(words)} "$@"\n')
    path.chmod(0o755)
    return path


def finish(executable: Path) -> Built:
    native.write_tables(executable)
    try:
        names = (executable.parent / UNSEEN).read_text().split()
    except FileNotFoundError:
        names = []
    return Built(executable, tuple(names))


def link(
    inputs: Sequence[str], flags: Sequence[str], target: Path, folder: Path, compiler: str
) -> None:
    """Rename what the runtime stands in for, in copies of the objects, and link them with it."""
    renamed = rename(inputs, folder)
    lines = run_tool(["nm", "--undefined-only", *renamed]).stdout.splitlines()
    undefined = {line.split()[-1] for line in lines if line.strip() and not line.endswith(":")}
    (folder / UNSEEN).write_text("\n".join(unseen(undefined - _defined(renamed))))
    runtime = (folder / "runtime.txt").read_text().split("\n")
    command = [*compiler.split(), "-no-pie", *renamed, *runtime, *flags, "-pthread"]
    done = run_tool([*command, "-o", str(target)])
    if done.returncode != 0:
        raise CannotBuild(f"it cannot be linked\n{first_message(done.stderr)}")


def rename(inputs: Sequence[str], folder: Path) -> list[str]:
    """Paths of the copies; what is no object or archive stays as it is."""
    own = _defined(inputs)
    names = {old: new for old, new in native.hunted_names().items() if old not in own}
    copies = folder / "linked"
    copies.mkdir(exist_ok=True)
    table = folder / "names.txt"
    rows = [f"{old} {new}" for old, new in sorted(names.items())]
    table.write_text("\n".join(["main users_main", *rows]) + "\n")
    renamed: list[str] = []
    for number, path in enumerate(inputs):
        copy = copies / f"{number}-{os.path.basename(path)}"
        done = run_tool(["objcopy", f"--redefine-syms={table}", path, str(copy)])
        if done.returncode != 0:
            raise CannotBuild(f"{path}: {first_message(done.stderr)}")
        renamed.append(str(copy))
    return renamed


def _defined(inputs: Iterable[str]) -> set[str]:
    lines = run_tool(["nm", "--defined-only", "--extern-only", *inputs]).stdout.splitlines()
    return {line.split()[-1] for line in lines if line.strip() and not line.endswith(":")}
