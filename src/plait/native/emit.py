"""A counterexample as a C test that stands alone: plan, runtime, Makefile, gdb script.

The sources of the program are referred to, not copied: the test is about them as they are.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

from plait.native.build import (
    NAMES,
    OPTIONAL,
    PROGRAM,
    SITES_AWK,
    Builder,
    Source,
    from_text,
    line_marker,
    runtime_files,
)
from plait.native.errors import CannotBuild
from plait.native.unset import HEAD

_PLAIN = re.compile(r"[\w ./+,@-]*", re.ASCII)

_FAILURE = """\
# A failure of a program with threads, replayed: the runtime forces the schedule and the inputs.
#
#   make test        fails as long as the program fails: keep it as a regression test
#   make reproduce   succeeds if the failure shows
#   make debug       stops in gdb right before the failing step
#   make random      runs the program under other schedules: SEED=1, 2, ...
"""
_TESTS = """\
# Executions that reach the lines of a program: the runtime forces their schedules and inputs.
#
#   make coverage    makes all of them, and counts how often each line is executed: *.gcov
#   make test-1      makes one of them
#   make random      runs the program under other schedules: SEED=1, 2, ...
"""
_BUILD = """
CC = {compiler}
try = $(shell $(CC) -Werror $(1) -x c -S -o - /dev/null > /dev/null 2>&1 && echo '$(1)')
CFLAGS := {compile}{optional}
RUNTIME_CFLAGS = {runtime}
LDFLAGS = {link}
LDLIBS = {libraries}
SEED = 1

OBJECTS = {objects}
RUNTIME = {runtime_objects}

all: {program} sites.txt symbols.txt

{rules}
runtime-%.o: runtime/%.c runtime/runtime.h
\t$(CC) $(RUNTIME_CFLAGS) -c $< -o $@
stubs.o: stubs.c
\t$(CC) $(RUNTIME_CFLAGS) -c $< -o $@

{program}: $(OBJECTS) $(RUNTIME) stubs.o
\t$(CC) $(LDFLAGS) $^ -o $@ $(LDLIBS)

# Which source line each call belongs to, and where the variables are.
sites.txt: {program}
\tobjdump -d --no-show-raw-insn {program} | awk -f sites.awk > calls.txt
\tcut -d' ' -f2 calls.txt | addr2line -e {program} | sed 's/ (di.*//' | paste -d' ' calls.txt - > $@
symbols.txt: {program}
\tnm -S --defined-only {program} > $@

"""
_TARGETS_OF_FAILURE = """\
run: all
\t@rm -f report.txt
\t@-PLAIT_REPORT=report.txt ./{program} < /dev/null
test: run
\t@if grep -q '^outcome failed' report.txt; then echo 'FAIL: the failure shows'; exit 1; \\
\telse echo 'PASS: the failure does not show'; fi
reproduce: run
\t@grep -q '^outcome failed' report.txt
debug: all
\tgdb -q -x replay.gdb ./{program}

.PHONY: run test reproduce debug
"""
_TARGETS_OF_TESTS = """\
TESTS = {tests}
$(TESTS): all
\t-PLAIT_PLAN=$@.plan ./{program} < /dev/null
coverage: all
\t@rm -f *.gcda *.gcov
\t$(MAKE) $(TESTS)
\tgcov $(OBJECTS:.o=.gcda)

.PHONY: coverage $(TESTS)
"""
_OTHER_TARGETS = """\
random: all
\t-PLAIT_STRATEGY=random PLAIT_SEED=$(SEED) ./{program} < /dev/null
clean:
\trm -f *.o *.gcno *.gcda *.gcov {program} sites.txt symbols.txt calls.txt report.txt

.PHONY: always all random clean
"""

_GDB = """\
# Runs the test up to the step before the failure, in the thread that fails. `continue` fails.
set pagination off
set breakpoint pending on
set environment PLAIT_SECONDS 1000000
break plait_before_failing_step
run < /dev/null
set $frames = 0
while $pc != plait_user_pc && $frames < 20
  up-silently
  set $frames = $frames + 1
end
frame
info threads
"""

_README_OF_TESTS = """\
The tests of this folder are executions of a program, which plait has found: together they reach all
of its lines that are known to be reached by any.

`make coverage` compiles the program (untouched, from where it is) with hooks before every access to
memory and counters for gcov, links it with the small runtime in `runtime/`, and runs it once for
each test. The runtime lets one thread run at a time, in the order that `test-1.plan` and the others
say, and hands out the inputs of the plan. Behind its plan a test goes on by itself. What gcov
writes beside the tests, `*.gcov`, says how often each line was executed.

Needed are make, gcc with gcov, and binutils. The plans know source lines: when you have changed the
program, what a plan cannot find any more is left out, and the runtime says so.
"""
_README = """\
This folder replays a failure that plait has found in a program with threads:

    {message}

`make test` compiles the program (untouched, from where it is) with hooks before every access to
memory, links it with the small runtime in `runtime/`, and runs it. The runtime lets one thread run
at a time, in the order that `plan.txt` says, and hands out the inputs of the plan. The failure is
one of the compiled program itself. `make test` fails as long as it shows and passes when it does
not; `make reproduce` is the other way round. `make debug` stops in gdb right before the failing
step. `make random SEED=7` runs the program under another schedule.

Needed are make, a C compiler (gcc, or `make CC=clang`), binutils and, for `make debug`, gdb.

The plan knows source lines. When you have changed the program, what the plan cannot find any more
is left out; the runtime then says where the run differs from the plan.
"""


def is_foreign(folder: Path) -> bool:
    """Whether a folder has files of somebody else that an emitted test would replace."""
    makefile = folder / "Makefile"
    if not makefile.exists():
        return (folder / "README").exists() or (folder / "runtime").exists()
    with open(makefile, errors="replace") as file:
        first = file.readline().strip()
    return all(first != head.partition("\n")[0] for head in (_FAILURE, _TESTS))


def emit(folder: Path, builder: Builder, message: str) -> None:
    """Write the test of a program that was built."""
    makefile = _makefile(folder, builder, _FAILURE, _TARGETS_OF_FAILURE)
    _write(folder, builder, makefile, _README.format(message=message), {"replay.gdb": _GDB})


def emit_tests(folder: Path, builder: Builder) -> None:
    """Write the tests of a program that was built: each of its plans is one."""
    names = " ".join(Path(name).stem for name in builder.plan_texts())
    makefile = _makefile(folder, builder, _TESTS, _TARGETS_OF_TESTS, tests=names)
    _write(folder, builder, makefile, _README_OF_TESTS, {})


def _write(
    folder: Path, builder: Builder, makefile: str, readme: str, more: Mapping[str, str]
) -> None:
    (folder / "runtime").mkdir(parents=True, exist_ok=True)
    for path in runtime_files():
        shutil.copyfile(path, folder / "runtime" / path.name)
    files = {
        "Makefile": makefile,
        **builder.plan_texts(),
        "stubs.c": builder.stubs,
        NAMES: builder.names,
        "sites.awk": SITES_AWK,
        "README": readme,
        **more,
        **{_script_name(number): text for number, text in builder.scripts.items()},
    }
    for name, text in files.items():
        # Names of files may have bytes that are no UTF-8.
        (folder / name).write_bytes(text.encode("utf-8", "surrogateescape"))


def _makefile(folder: Path, builder: Builder, head: str, targets: str, tests: str = "") -> str:
    commands = builder.commands
    runtime = [f"runtime-{path.stem}.o" for path in runtime_files() if path.suffix == ".c"]
    objects = [f"source{number}.o" for number in range(len(builder.sources))]
    rules = [
        _rule(folder, source, target, _script_name(i) if i in builder.scripts else "")
        for i, (source, target) in enumerate(zip(builder.sources, objects, strict=True))
    ]
    return head + (_BUILD + targets + _OTHER_TARGETS).format(
        tests=tests,
        compiler=commands.compiler,
        compile=_words(commands.compile),
        optional="".join(f" $(call try,{_words(flags)})" for flags in OPTIONAL),
        runtime=_words(commands.runtime),
        link=_words(commands.link),
        libraries=_words(commands.libraries),
        objects=" ".join(objects),
        runtime_objects=" ".join(runtime),
        rules="\n".join(rules),
        program=PROGRAM,
    )


def _script_name(number: int) -> str:
    return f"source{number}.sed"


def _rule(folder: Path, source: Source, target: str, script: str) -> str:
    path = os.path.relpath(source.path, folder)
    if not path.startswith("."):
        path = f"./{path}"  # no option, whatever its name is
    flags = _in_recipe(_relative(flag, folder) for flag in source.flags)
    # make has no way to name every file: then the test is compiled anew each time.
    needs = path.replace(" ", "\\ ") if _PLAIN.fullmatch(path) else "always"
    compile_it = f"$(CC) $(CFLAGS) {flags} -c {_in_recipe([path])} -o $@"
    if script:
        # Locals that nothing initialises are given the values of the plan.
        needs += f" {script}"
        begin = _in_recipe(["printf", "%s\\n", HEAD, line_marker(path)])
        edit = f"LC_ALL=C sed -f {script} {_in_recipe([path])}"
        read = _in_recipe(from_text(path))
        compile_it = f"{{ {begin}; {edit}; }} | $(CC) $(CFLAGS) {flags} {read} -o $@"
    return f"{target}: {needs}\n\t{compile_it}\n\tobjcopy --redefine-syms={NAMES} $@"


def _relative(flag: str, folder: Path) -> str:
    """Folders of headers stay where they are; the test may move together with them."""
    for option in ("-include", "-I"):
        path = flag.removeprefix(option)
        if path != flag and os.path.isabs(path):
            return option + os.path.relpath(path, folder)
    return flag


def _words(words: Iterable[str]) -> str:
    return " ".join(_escaped(shlex.quote(word)) for word in words)


def _in_recipe(words: Iterable[str]) -> str:
    """For the shell that make starts; a line of a recipe cannot have another line in it."""
    line = " ".join(map(shlex.quote, words))
    if "\n" in line or "\r" in line:
        raise CannotBuild("--emit: a Makefile cannot express names or options of several lines")
    return line.replace("$", "$$")


def _escaped(text: str) -> str:
    return text.replace("$", "$$").replace("#", "\\#")
