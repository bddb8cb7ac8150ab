"""Compile a program with hooks, and link it with the runtime.

The same commands are in the Makefile of an emitted test (`emit`).
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

from plait.data import dataclass, replace
from plait.errors import Diagnostic
from plait.model.program import Program
from plait.model.types import Scalar
from plait.native.errors import CannotBuild
from plait.native.plan import Plan, given_names, inputs_of
from plait.native.stubs import GIVEN, entry_stub, stubs
from plait.native.unset import HEAD, script

RUNTIME = Path(__file__).parent / "runtime"
PROGRAM = "program"
NAMES = "names.txt"

# What older C allows, and newer compilers take for errors.
_TOLERANT = tuple(
    f"-Wno-error={name}"
    for name in (
        "return-type",
        "implicit-function-declaration",
        "implicit-int",
        "int-conversion",
        "incompatible-pointer-types",
    )
)
_HOOKS = ("-fsanitize=thread", "-finstrument-functions")
# addr2line of binutils 2.40 mistakes the files of line markers in DWARF 5.
_DEBUG = ("-g", "-gdwarf-4")
_COMPILE = (*_DEBUG, "-O0", "-fno-pie", "-fno-inline", "-w", *_TOLERANT, *_HOOKS)
# A hunt takes the program as it is: its own options of optimisation, and warnings.
HUNT_FLAGS = (*_DEBUG, "-fno-pie", "-fsanitize=thread")
# clang leaves out a read before a write to the same place, unless told otherwise.
_CLANG_HOOKS = ("-mllvm", "-tsan-instrument-read-before-write=1")
# The compiler's own checks, by the property that they show.
_CHECKS = {
    "no-overflow": "-fsanitize=signed-integer-overflow",
    "no-undefined": "-fsanitize=integer-divide-by-zero,shift-exponent",
}
# For gcov. One thread runs at a time, so that counters need no atomic updates.
_COUNTING = ("--coverage", "-fprofile-update=single")
# What is not initialised is 0: a run must not depend on what was there before.
_INITIALISE = ("-ftrivial-auto-var-init=zero",)
OPTIONAL = (_INITIALISE, _CLANG_HOOKS)  # those of these that the compiler knows
RUNTIME_FLAGS = ("-g", "-O1", "-fno-pie", "-std=gnu17", "-w")
_MOST_SECONDS = 300
_LIBRARIES = ("-pthread", "-lm")
# The address behind each call and the address of the call.
SITES_AWK = """\
/^ *[0-9a-f]+:/ {
  address = $1
  sub(/:$/, "", address)
  if (call != "") print address, call
  call = $2 ~ /^(call|bl)/ ? address : ""
}
"""
# Bytes are bytes: sources need not be in the encoding of the user's terminal.
SED = ("env", "LC_ALL=C", "sed", "-e")
_STAND_IN = re.compile(r"\bstand_in_(\w+)\(")
_OUTSIDE = re.compile(r"\boutside_(\w+)\(|^WAITING\(\w+, (\w+),", re.MULTILINE)
_UNRESOLVED = re.compile(r"undefined (?:reference to|symbol:?) [`'\"]?(\w+)")


@dataclass(slots=True, frozen=True)
class Source:
    """A file of the program, and the options that change what it means."""

    path: str
    flags: tuple[str, ...] = ()


def line_marker(path: str) -> str:
    """What makes the next line the first one of a file."""
    escaped = path.replace("\\", "\\\\").replace('"', '\\"')
    return f'# 1 "{escaped}"'


def from_text(path: str) -> list[str]:
    """To compile what is read from standard input as if it stood in a file."""
    language = "cpp-output" if path.endswith(".i") else "c"
    return ["-iquote", os.path.dirname(path) or ".", "-x", language, "-c", "-"]


@dataclass(slots=True, frozen=True)
class Commands:
    """The compiler's options for a plan."""

    compiler: str
    compile: tuple[str, ...]
    runtime: tuple[str, ...]
    link: tuple[str, ...]
    libraries: tuple[str, ...] = _LIBRARIES


@cache
def stand_ins() -> frozenset[str]:
    """What the runtime stands in for: it defines stand_in_NAME."""
    texts = (path.read_text(encoding="utf-8") for path in runtime_files() if path.suffix == ".c")
    return frozenset(name for text in texts for name in _STAND_IN.findall(text))


@cache
def hunted_names() -> dict[str, str]:
    """What stands in for a function in a hunt, by the function's name."""
    texts = (path.read_text(encoding="utf-8") for path in runtime_files() if path.suffix == ".c")
    found = {name: f"stand_in_{name}" for name in stand_ins()}
    for text in texts:
        for outside, waiting in _OUTSIDE.findall(text):
            found[outside or waiting] = f"outside_{outside or waiting}"
    return found


def runtime_files() -> list[Path]:
    return sorted(path for path in RUNTIME.iterdir() if path.suffix in (".c", ".h"))


def find_compiler(asked: str | None) -> str:
    if sys.platform != "linux":
        raise CannotBuild(f"the runtime needs Linux, this is {sys.platform}")
    names = [asked] if asked else [os.environ.get("CC") or "cc", "gcc", "clang"]
    for name in names:
        words = name.split()
        if words and shutil.which(words[0]) is not None:
            return name
    what = f"--cc {asked}: not found" if asked else "no C compiler (cc, gcc or clang) is installed"
    raise CannotBuild(what)


def commands(compiler: str, violated: Collection[str], *, counting: bool = False) -> Commands:
    compile_flags = [*_COMPILE, *(flag for name, flag in _CHECKS.items() if name in violated)]
    if counting:
        compile_flags += _COUNTING
    # The runtime asks for the counters without needing them: an archive gives only what is needed.
    link = ("-no-pie", *(("--coverage", "-Wl,-u,__gcov_dump") if counting else ()))
    return Commands(compiler, tuple(compile_flags), RUNTIME_FLAGS, link)


def _names(program: Program) -> str:
    """For objcopy: old and new names. What a program defines itself is its own."""
    own = {function.name for function in program.functions.values() if not function.library}
    rows = [f"{name} stand_in_{name}" for name in sorted(stand_ins() - own)]
    # The runtime itself needs some of those that the plan answers for the program.
    rows += [f"{name} {GIVEN}{name}" for name in sorted(given_names(program, stand_ins()))]
    return "\n".join(["main users_main", *rows]) + "\n"


def accepted(compiler: str) -> list[str]:
    """Those of the optional flags that the compiler knows."""
    return [flag for flags in OPTIONAL if _accepts(compiler, flags) for flag in flags]


def _accepts(compiler: str, flags: Sequence[str]) -> bool:
    command = [*compiler.split(), "-Werror", *flags, "-x", "c", "-S", "-o", "-", os.devnull]
    return run_tool(command).returncode == 0


def run_tool(
    command: Sequence[str], text: str = "", folder: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a tool that reads `text`."""
    try:
        return subprocess.run(
            command,
            input=text,
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="surrogateescape",
            timeout=_MOST_SECONDS,
            check=False,
            cwd=folder,
        )
    except subprocess.TimeoutExpired:
        raise CannotBuild(f"{command[0]} takes too long") from None
    except (OSError, ValueError) as error:  # an argument may have a null byte
        what = f"{command[0]}: {getattr(error, 'strerror', None) or error}"
        raise CannotBuild(what) from None


class Builder:
    """Builds a program in a folder, step by step. `plans` are the executions that it is to make, by
    the names of their files; `counting`: gcov counts how often each line is executed."""

    def __init__(
        self,
        program: Program,
        entry: str,
        plans: Mapping[str, Plan],
        sources: Sequence[Source],
        compiler: str,
        *,
        counting: bool = False,
    ) -> None:
        violated = {plan.violated for plan in plans.values()}
        self.commands = commands(compiler, violated, counting=counting)
        self._optional = accepted(compiler)
        self.sources = list(sources)
        self._plans = plans
        rows = (item for plan in plans.values() for item in plan.declarations())
        self._declarations = list(dict.fromkeys(rows))
        self.scripts = self._scripts()  # for sed, by the number of the source
        self.stubs = ""
        self.names = _names(program)
        self._own = {item.name for item in program.functions.values() if not item.library}
        self._program = program
        self._entry = entry
        self._inputs: Mapping[str, Scalar] = inputs_of(program)
        self._unresolved: list[str] = []
        self._notes: list[str] = []

    def build(self, folder: Path) -> Path:
        """The executable, with the tables that its runtime reads beside it."""
        (folder / NAMES).write_text(self.names, encoding="utf-8")
        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            runtime = compile_runtime(self.commands, folder, pool)
            objects = self._compile_sources(pool, folder)
        self.stubs = self._stubs(objects)
        executable = folder / PROGRAM
        errors = self._link([*objects, *runtime], executable, folder)
        if errors:
            missing = set(_UNRESOLVED.findall(errors))
            if any(name in self._own for name in missing):
                # Functions that are only `inline` exist nowhere in C99, but everywhere in GNU C.
                self.commands = replace(
                    self.commands, compile=(*self.commands.compile, "-fgnu89-inline")
                )
                with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
                    objects = self._compile_sources(pool, folder)
            self._unresolved = sorted(missing - self._own)
            self.stubs = self._stubs(objects)
            errors = self._link([*objects, *runtime], executable, folder)
        if errors:
            what = f"it cannot be linked\n{first_message(errors)}"
            raise CannotBuild(f"cannot be replayed natively: {what}")
        for name, text in self.plan_texts().items():
            (folder / name).write_bytes(text.encode("utf-8", "surrogateescape"))
        write_tables(executable)
        return executable

    def plan_texts(self) -> dict[str, str]:
        return {name: plan.text(self._declarations) for name, plan in self._plans.items()}

    def notes(self) -> list[str]:
        return self._notes + [
            f"'{name}' is not defined anywhere: it returns what the plan says, or 0"
            for name in self._unresolved
            if name not in self._inputs
        ]

    def _compile_sources(self, pool: ThreadPoolExecutor, folder: Path) -> list[str]:
        numbers = range(len(self.sources))
        return list(pool.map(lambda i: self._compile(self.sources[i], folder, i), numbers))

    def _scripts(self) -> dict[int, str]:
        numbered = list(enumerate(self._declarations))
        scripts: dict[int, str] = {}
        for number, source in enumerate(self.sources):
            own = [item for item in numbered if os.path.abspath(item[1].path) == source.path]
            if own:
                scripts[number] = script(own)
        return scripts

    def _compile(self, source: Source, folder: Path, number: int) -> str:
        target = str(folder / f"source{number}.o")
        command = self.commands
        compile_it = [*command.compiler.split(), *command.compile, *self._optional, *source.flags]
        if number in self.scripts:
            edited = run_tool([*SED, self.scripts[number], source.path])
            text = f"{HEAD}\n{line_marker(source.path)}\n{edited.stdout}"
            # Headers are not looked for where the user happens to be.
            done = run_tool([*compile_it, *from_text(source.path), "-o", target], text, folder)
            if edited.returncode != 0 or done.returncode != 0:
                what = "values of locals that nobody has set are not forced: with initialisers"
                self._notes.append(f"{source.path}: {what} it does not compile")
                del self.scripts[number]
        if number not in self.scripts:
            done = run_tool([*compile_it, "-c", source.path, "-o", target])
        if done.returncode != 0:
            what = f"it does not compile\n{first_message(done.stderr)}"
            raise CannotBuild(Diagnostic(f"cannot be replayed natively: {what}"))
        done = run_tool(["objcopy", f"--redefine-syms={folder / NAMES}", target])
        if done.returncode != 0:
            raise CannotBuild(f"cannot be replayed natively: {first_message(done.stderr)}")
        return target

    def _stubs(self, objects: Sequence[str]) -> str:
        undefined = set(run_tool(["nm", "-u", *objects]).stdout.split())
        text = stubs(
            self._program,
            self._inputs,
            undefined,
            self._unresolved,
            [name for plan in self._plans.values() for name in plan.error_functions],
        )
        function = self._program.functions.get(self._entry)
        if self._entry != "main" and function is not None:
            text += entry_stub(self._entry, function.parameters)
        return text

    def _link(self, objects: Sequence[str], executable: Path, folder: Path) -> str:
        """What the linker complains about."""
        path = folder / "stubs.c"
        path.write_text(self.stubs, encoding="utf-8")
        target = str(folder / "stubs.o")
        _compile_plain(self.commands, str(path), target)
        command = self.commands
        done = run_tool(
            [
                *command.compiler.split(),
                *command.link,
                *objects,
                target,
                "-o",
                str(executable),
                *command.libraries,
            ]
        )
        return done.stderr if done.returncode != 0 else ""


def compile_runtime(commands: Commands, folder: Path, pool: ThreadPoolExecutor) -> list[str]:
    """The object files of the runtime."""

    def compile_one(path: Path) -> str:
        target = str(folder / f"runtime-{path.stem}.o")
        _compile_plain(commands, str(path), target)
        return target

    return list(pool.map(compile_one, (path for path in runtime_files() if path.suffix == ".c")))


def _compile_plain(commands: Commands, path: str, target: str) -> None:
    """Code of ours, without hooks."""
    done = run_tool([*commands.compiler.split(), *commands.runtime, "-c", path, "-o", target])
    if done.returncode != 0:
        what = f"plait's runtime does not compile\n{first_message(done.stderr)}"
        raise CannotBuild(f"cannot be replayed natively: {what}")


def write_tables(executable: Path) -> None:
    """What the runtime looks up: the line of each call, the name of each address."""
    for name, text in (("sites.txt", _sites(executable)), ("symbols.txt", _symbols(executable))):
        (executable.parent / name).write_bytes(text.encode("utf-8", "surrogateescape"))


def _sites(executable: Path) -> str:
    """Return address, call address, file:line of every call."""
    calls: list[tuple[str, str]] = []
    pending = ""
    listing = run_tool(["objdump", "-d", "--no-show-raw-insn", str(executable)]).stdout
    for line in listing.splitlines():
        address, colon, rest = line.strip().partition(":")
        if not colon or not line.startswith(" "):
            continue
        if pending:
            calls.append((address, pending))
        pending = address if rest.lstrip().startswith(("call", "bl")) else ""
    text = "\n".join(call for _, call in calls) + "\n"
    places = run_tool(["addr2line", "-e", str(executable)], text).stdout.splitlines()
    rows = (
        f"{after} {call} {place.partition(' (di')[0]}"
        for (after, call), place in zip(calls, places, strict=False)
    )
    return "\n".join(rows) + "\n"


def _symbols(executable: Path) -> str:
    return run_tool(["nm", "-S", "--defined-only", str(executable)]).stdout


def first_message(errors: str) -> str:
    """The first message of a compiler or linker that is one."""
    lines = [line for line in errors.splitlines() if line.strip()]
    for number, line in enumerate(lines):
        if "error" in line or "undefined" in line or "multiple definition" in line:
            return "\n".join(lines[number : number + 3])
    return "\n".join(lines[:3])
