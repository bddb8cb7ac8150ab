"""The front end: C sources to a program model."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from plait.c.options import FrontEndOptions
from plait.errors import Diagnostic, InputError
from plait.files import open_regular, read_regular
from plait.model.program import Program
from plait.model.properties import Property, Specification

if TYPE_CHECKING:
    from plait.c.libclang import Library
    from plait.c.linker import Linker

_OF_CPLUSPLUS = (".cc", ".cpp", ".cxx", ".c++", ".C", ".ii", ".hh", ".hpp", ".hxx")
_OTHER_KIND = re.compile(r"redefinition of '(\w+)' as different kind of symbol")
_DEEPEST = 100_000
_STACK = 512 << 20


def load(files: Sequence[str], options: FrontEndOptions, specification: Specification) -> Program:
    """Read, check and link C files into one program."""
    import threading

    # Long chains of operators or of `else if` are deep trees. Python's own frames are cheap;
    # libclang's parser recurses on the stack, so it gets a large one (and no thread of its own).
    sys.setrecursionlimit(max(sys.getrecursionlimit(), _DEEPEST))
    os.environ.setdefault("LIBCLANG_NOTHREADS", "1")
    results: list[Program] = []
    failures: list[BaseException] = []

    def work() -> None:
        try:
            results.append(_load(files, options, specification))
        except BaseException as error:  # handed over to the caller
            failures.append(error)

    outer = threading.stack_size(_STACK)
    try:
        worker = threading.Thread(target=work, daemon=True)
        worker.start()
    except RuntimeError:  # there is no room for its stack
        raise MemoryError from None
    finally:
        threading.stack_size(outer)
    worker.join()
    if failures:
        raise failures[0]
    return results[0]


def _load(files: Sequence[str], options: FrontEndOptions, specification: Specification) -> Program:
    from plait.c import toolchain
    from plait.c.libclang import library
    from plait.c.linker import Linker

    if Property.NO_DEADLOCK in specification and len(specification.properties) > 1:
        # Its model has no spurious wake-ups, so the other properties need a model of their own.
        raise ValueError("no-deadlock needs a program of its own")
    chosen: list[tuple[str, FrontEndOptions]]
    if options.compile_commands is not None:
        chosen = toolchain.from_compile_commands(options.compile_commands, tuple(files), options)
    else:
        if not files:
            raise InputError("no source file given")
        chosen = [(path, options) for path in files]
    for path, own in chosen:
        _check_readable(path)
        for header in own.force_includes:
            if os.path.exists(header) and not os.path.isfile(header):
                raise InputError(f"-include {header}: not a regular file")
    clang = library()
    linker = Linker(clang, options, specification)
    try:
        return _link(linker, chosen, options, clang)
    finally:
        linker.close()


def _link(
    linker: Linker,
    chosen: list[tuple[str, FrontEndOptions]],
    options: FrontEndOptions,
    clang: Library,
) -> Program:
    from plait.c import toolchain
    from plait.c.undeclared import DECLARATIONS, called_undeclared, missing_declarations
    from plait.c.unit import Unit

    for number, (path, own) in enumerate(chosen):
        flags = toolchain.flags(path, own, clang.resource_dir)
        texts = toolchain.adapted_text(path)
        parsed = clang.parse(path, flags, texts)
        linker.keep(parsed)
        errors = parsed.errors()
        undeclared = called_undeclared(parsed)
        builtins = _hidden_builtins(errors)
        missing = missing_declarations(clang, parsed, errors, options.data_model)
        if builtins or missing:
            flags += [f"-fno-builtin-{name}" for name in builtins]
            if missing:
                flags += ["-include", DECLARATIONS]
                texts[DECLARATIONS] = missing
            again = clang.parse(path, flags, texts)
            linker.keep(again)
            remaining = again.errors()
            if builtins or not remaining:
                parsed, errors = again, remaining
        if errors:
            raise InputError(_compiler_error(errors, path))
        linker.add(path, Unit(linker, clang, parsed, path, number))
        linker.note_undeclared(undeclared)
    if not any(options.entry in unit.functions for unit in linker.units):
        where = ", ".join(path for path, _ in chosen)
        raise InputError(f"{where}: no function '{options.entry}' is defined (see --entry)")
    if options.monitor is not None:
        from plait.c.watching import Watching

        linker.watching = Watching(linker, clang, options.monitor)
    return linker.link()


def _hidden_builtins(errors: list[tuple[str, str, int, int]]) -> list[str]:
    """Functions of the library whose names a file gives to something else, as gcc allows it."""
    found = (_OTHER_KIND.fullmatch(message) for message, *_ in errors)
    return sorted({match[1] for match in found if match is not None})


def _check_readable(path: str) -> None:
    try:
        with open_regular(path) as stream:
            head = stream.read(65536)
    except IsADirectoryError:
        raise InputError(f"{path}: is a directory, not a C source") from None
    except FileNotFoundError as error:
        what = "standard input is not read, name a file" if path == "-" else error.strerror
        raise InputError(f"{path}: {what}") from None
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from error
    if path.endswith(_OF_CPLUSPLUS):
        raise InputError(f"{path}: a C++ source; plait verifies C")
    if not head.strip():
        raise InputError(f"{path}: the file is empty")
    if b"\0" in head:
        raise InputError(f"{path}: a binary file, not a C source")


def _compiler_error(errors: list[tuple[str, str, int, int]], path: str) -> Diagnostic:
    message, file, line, column = errors[0]
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    source = text = ""
    try:
        text = read_regular(file).decode("utf-8", "replace")
        lines = text.splitlines()
        source = lines[line - 1] if 0 < line <= len(lines) else ""
    except OSError:
        pass
    if _is_cplusplus(text):
        more += "; this looks like C++, and plait verifies C"
    return Diagnostic(f"error: {message}{more}", file or path, line, column, source)


def _is_cplusplus(text: str) -> bool:
    """Of a text that is not C."""
    import re

    marks = (
        r"#\s*include\s*<(?:iostream|string|vector|map|memory|thread|mutex|atomic|c[a-z]+)>",
        r"(?:using\s+)?namespace\s+\w+\s*[;{]",
        r"template\s*<",
        r"class\s+\w+\s*(?:final\s*)?(?::[^;]*)?\{",
    )
    if "__cplusplus" in text:  # a header for both
        return False
    return re.search(rf"^\s*(?:{'|'.join(marks)})", text, re.MULTILINE) is not None


__all__ = ["FrontEndOptions", "load"]
