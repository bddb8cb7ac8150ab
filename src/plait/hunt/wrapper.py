"""What a build of the program's own runs as its compiler: `-m plait.hunt.wrapper FOLDER CC ...`.

It adds the hooks where something is compiled, and links with the runtime. What it does not
understand (`-E`, `--version`, `-print-...`) it passes on.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from plait.data import dataclass, field
from plait.errors import InputError
from plait.hunt.build import UNSEEN, link, rename

_SOURCES = (".c", ".i", ".C", ".cc", ".cpp", ".cxx", ".S", ".s")
_INPUTS = (".o", ".a", ".lo", ".obj")
_WITH_VALUE = frozenset(
    ("-o", "-I", "-L", "-l", "-D", "-U", "-include", "-isystem", "-idirafter", "-iquote", "-x")
    + ("-MF", "-MT", "-MQ", "-Xlinker", "-Xassembler", "-T", "-u", "-z", "-imacros", "-iprefix")
)
# Of what would contradict the hooks.
_DROPPED = ("-pie", "-fpie", "-fPIE", "-s", "-flto", "-static", "-fsanitize=", "-D_FORTIFY_SOURCE")
_NO_LINK = (
    "-c",
    "-S",
    "-E",
    "-M",
    "-MM",
    "-fsyntax-only",
    "--version",
    "-dumpversion",
    "-v",
    "-###",
)


@dataclass(slots=True, eq=False)
class Call:
    sources: list[str] = field(default_factory=list)
    inputs: list[str] = field(default_factory=list)
    flags: list[str] = field(default_factory=list)
    target: str | None = None
    is_link: bool = True
    is_shared: bool = False


def parse(arguments: Sequence[str]) -> Call:
    call, rest = Call(), list(arguments)
    while rest:
        word = rest.pop(0)
        if word == "-o" and rest:
            call.target = rest.pop(0)
        elif word in _WITH_VALUE and rest:
            call.flags += [word, rest.pop(0)]
        elif word.startswith(_DROPPED) and not word.startswith("-shared"):
            continue
        elif word.startswith("-"):
            call.is_link &= word not in _NO_LINK and not word.startswith(("-print", "-dump"))
            call.is_shared |= word == "-shared"
            call.flags.append(word)
        elif word.endswith(_SOURCES):
            call.sources.append(word)
        elif word.endswith(_INPUTS):
            call.inputs.append(word)
        else:
            call.flags.append(word)
    return call


def main(arguments: Sequence[str]) -> int:
    folder, compiler, *words = arguments
    call = parse(words)
    hooks = (Path(folder) / "hooks.txt").read_text().split("\n")
    is_nothing = not call.sources and not call.inputs
    if is_nothing or (not call.is_link and not call.sources):
        return subprocess.call([*compiler.split(), *words])
    if not call.is_link:
        target = ["-o", call.target] if call.target is not None else []
        return subprocess.call([*compiler.split(), *call.flags, *hooks, *call.sources, *target])
    with tempfile.TemporaryDirectory(prefix="plait-link-") as name:
        return _link(call, compiler, hooks, Path(folder), Path(name))


def _link(call: Call, compiler: str, hooks: list[str], folder: Path, work: Path) -> int:
    objects: list[str] = []
    compiling = [flag for flag in call.flags if not flag.startswith(("-l", "-Wl,", "-shared"))]
    for number, source in enumerate(call.sources):
        target = str(work / f"{number}.o")
        command = [*compiler.split(), *compiling, *hooks, "-c", source, "-o", target]
        if subprocess.call(command) != 0:
            return 1
        objects.append(target)
    for name in ("runtime.txt", "hooks.txt"):
        (work / name).write_text((folder / name).read_text())
    try:
        if call.is_shared:
            return _link_shared(call, compiler, objects, work)
        link([*objects, *call.inputs], call.flags, Path(call.target or "a.out"), work, compiler)
        _keep_unseen(work, folder)
    except InputError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _keep_unseen(work: Path, folder: Path) -> None:
    """A build may link several programs; whatever one of them calls counts."""
    with open(folder / UNSEEN, "a") as file:
        file.write((work / UNSEEN).read_text() + "\n")


def _link_shared(call: Call, compiler: str, objects: list[str], work: Path) -> int:
    renamed = rename([*objects, *call.inputs], work)
    target = call.target or "a.out"
    return subprocess.call([*compiler.split(), *renamed, *call.flags, "-o", target])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
