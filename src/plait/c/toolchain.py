"""Which flags libclang gets: headers, data model, and what old and generated C needs."""

from __future__ import annotations

import json
import os
import re
import shlex

from plait.c.options import FrontEndOptions
from plait.data import replace
from plait.errors import Diagnostic, InputError
from plait.files import read_regular
from plait.model.types import DataModel

_HERE = os.path.dirname(os.path.abspath(__file__))
OVERRIDE_HEADERS = os.path.join(_HERE, "override")
OWN_HEADERS = os.path.join(_HERE, "include")
LIBRARY_SOURCES = os.path.join(_HERE, "library")
_SYSTEM_HEADERS = (
    "/usr/local/include",
    "/usr/include/x86_64-linux-gnu",
    "/usr/include/aarch64-linux-gnu",
    "/usr/include",
)

_TOLERANT = (
    "-Wno-everything",
    "-Wimplicit-function-declaration",  # which is noted
    "-Wno-error=implicit-function-declaration",
    "-Wno-int-conversion",
    "-Wno-return-type",
    "-Wno-incompatible-function-pointer-types",
    "-Wno-incompatible-pointer-types",
    "-Wno-return-mismatch",
    "-Wno-implicit-int",
    "-ferror-limit=0",
    "-Ulinux",
    "-Uunix",
    "-Ui386",
    "-D__malloc__(...)=",
)
_FLOATS_OF_GCC = (
    "-D_Float128=__float128",
    "-D_Float64x=double",
    "-D_Float64=double",
    "-D_Float32x=double",
    "-D_Float32=float",
)


def flags(path: str, options: FrontEndOptions, resource_dir: str | None) -> list[str]:
    """Arguments for one file of the user's."""
    found = _common(options.data_model, resource_dir)
    found += [f"-std={options.std}", *options.compiler_flags, f"-I{OVERRIDE_HEADERS}"]
    found += [f"-I{directory}" for directory in options.include_dirs]
    found += [f"-D{definition}" for definition in options.defines]
    found += [f"-U{name}" for name in options.undefines]
    found += ["-include", os.path.join(OVERRIDE_HEADERS, "plait_builtins.h")]
    for header in options.force_includes:
        found += ["-include", header]
    if options.system_headers:
        for directory in _SYSTEM_HEADERS:
            if os.path.isdir(directory):
                found += ["-isystem", directory]
    found += ["-isystem", OWN_HEADERS]
    if path.endswith(".i"):
        found += _FLOATS_OF_GCC
    return found


_ATOMIC_FLAG = re.compile(rb"(typedef\s+)_Atomic(\s+struct\s*\{[^}]*\}\s*atomic_flag\s*;)")


def adapted_text(path: str) -> dict[str, bytes]:
    """Replacement texts for a preprocessed file that clang would not take as it is.

    gcc's <stdatomic.h> makes `atomic_flag` an atomic struct with a brace initialiser, which clang
    rejects; the macros that plait forces in make its accesses atomic anyway. Columns stay.
    """
    if not path.endswith(".i"):
        return {}
    text = read_regular(path)
    adapted = _ATOMIC_FLAG.sub(rb"\1       \2", text)
    return {} if adapted == text else {path: adapted}


def library_flags(
    data_model: DataModel, resource_dir: str | None, defines: dict[str, int]
) -> list[str]:
    """Arguments for the sources of plait's own library."""
    found = _common(data_model, resource_dir)
    found += ["-std=gnu17", f"-I{OVERRIDE_HEADERS}", f"-I{OWN_HEADERS}"]
    found += ["-include", os.path.join(OVERRIDE_HEADERS, "plait_builtins.h")]
    return found + [f"-D{name}={value}" for name, value in defines.items()]


def _common(data_model: DataModel, resource_dir: str | None) -> list[str]:
    target = "i386" if data_model is DataModel.ILP32 else "x86_64"
    found = ["-x", "c", f"--target={target}-unknown-linux-gnu", "-nostdinc", *_TOLERANT]
    if resource_dir is not None:
        found += ["-resource-dir", resource_dir]
        found += ["-idirafter", os.path.join(resource_dir, "include")]
    return found


def from_compile_commands(
    directory: str, files: tuple[str, ...], options: FrontEndOptions
) -> list[tuple[str, FrontEndOptions]]:
    """The files to read, each with its own options: those chosen, or all of the data base."""
    path = os.path.join(directory, "compile_commands.json")
    try:
        entries = json.loads(read_regular(path))
        commands = [_entry(entry) for entry in entries]
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path}: not a compilation data base ({error})") from error
    known = dict(commands)
    if not files:
        if not commands:
            raise InputError(f"{path}: no source file in this data base")
        return [(name, _with_arguments(name, arguments, options)) for name, arguments in commands]
    found = []
    for name in files:
        full = os.path.realpath(name)
        matching = [item for item in known if os.path.realpath(item) == full]
        if not matching:
            matching = [item for item in known if item.endswith(os.sep + name)]
        if len(matching) != 1:
            what = "no entry" if not matching else "several entries"
            raise InputError(Diagnostic(f"{what} for '{name}'", path))
        found.append((matching[0], _with_arguments(matching[0], known[matching[0]], options)))
    return found


def _entry(entry: dict[str, object]) -> tuple[str, list[str]]:
    directory = str(entry["directory"])
    name = os.path.normpath(os.path.join(directory, str(entry["file"])))
    raw = entry.get("arguments")
    arguments = (
        [str(item) for item in raw] if isinstance(raw, list) else shlex.split(str(entry["command"]))
    )
    return name, [f"-working-directory={directory}", *arguments[1:]]


_DIRECTORY_FLAGS = ("-isystem", "-iquote", "-idirafter")
_MEANINGFUL_FLAGS = re.compile(
    r"-f(?:un)?signed-(?:char|bitfields)|-fshort-enums|-fpack-struct.*|-fms-extensions|-ansi"
    r"|-fshort-wchar|-fplan9-extensions|-fgnu89-inline"
)


def _with_arguments(name: str, arguments: list[str], options: FrontEndOptions) -> FrontEndOptions:
    """Options extended by those flags of a compiler command that decide what a file means."""
    include_dirs = list(options.include_dirs)
    defines, undefines = list(options.defines), list(options.undefines)
    force_includes, flags = list(options.force_includes), list(options.compiler_flags)
    std = options.std
    directory = arguments[0].split("=", 1)[1]
    pending = iter(arguments[1:])
    for argument in pending:
        if argument.startswith("-I"):
            include_dirs.append(os.path.join(directory, argument[2:] or next(pending, "")))
        elif argument.startswith("-D"):
            defines.append(argument[2:] or next(pending, ""))
        elif argument.startswith("-U"):
            undefines.append(argument[2:] or next(pending, ""))
        elif argument in _DIRECTORY_FLAGS:
            include_dirs.append(os.path.join(directory, next(pending, "")))
        elif argument in ("-include", "-imacros"):
            force_includes.append(os.path.join(directory, next(pending, "")))
        elif argument.startswith("-std="):
            std = argument[5:]
        elif _MEANINGFUL_FLAGS.fullmatch(argument):
            flags.append(argument)
        elif argument in ("-m32", "-m64"):
            model = DataModel.ILP32 if argument == "-m32" else DataModel.LP64
            if model is not options.data_model:
                raise InputError(
                    f"{name} is compiled with {argument}: say --data-model {model.value}"
                )
        elif argument.startswith("@"):
            raise InputError(f"{name}: a compiler command with {argument} is not supported")
    return replace(
        options,
        include_dirs=tuple(include_dirs),
        defines=tuple(defines),
        undefines=tuple(undefines),
        force_includes=tuple(force_includes),
        std=std,
        compile_commands=None,
        compiler_flags=tuple(flags),
    )
