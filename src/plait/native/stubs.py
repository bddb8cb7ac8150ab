"""Definitions of what a program only declares: functions that return the plan's inputs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from plait.model.program import Program
from plait.model.types import Kind, Scalar

# The model takes what these return for inputs; their real output is worth more than that.
PRINTING = frozenset(
    "printf fprintf vprintf vfprintf puts fputs putchar putc fputc perror fflush fwrite write"
    " __printf_chk __fprintf_chk".split()
)

GIVEN = "given_"  # before the name of a function whose calls the plan answers

_HEAD = """\
/* What the program declares and nothing defines. */
#include <stdint.h>
#include <string.h>
uint64_t plait_input(const char *name);
uint64_t plait_call(const char *name, const void *pc, const uint64_t *arguments);
void plait_error_function(const char *name, const void *pc);
"""


def stubs(
    program: Program,
    inputs: Mapping[str, Scalar],
    undefined: Iterable[str],
    unresolved: Iterable[str],
    error_functions: Iterable[str],
) -> str:
    """C code that defines those of the `undefined` symbols that the model takes for inputs, and all
    `unresolved` ones, which no library has."""
    lacking = set(unresolved)
    objects = {item.name: item.size for item in program.objects if item.indeterminate}
    forbidden = set(error_functions)
    lines = [_HEAD]
    for name in sorted(lacking | {item for item in undefined if item not in PRINTING}):
        if name in forbidden:
            if name in lacking:
                call = f'plait_error_function("{name}", __builtin_return_address(0));'
                lines.append(f"void {name}() {{ {call} }}")
        elif name in objects:
            if name in lacking:
                lines.append(f"_Alignas(16) char {name}[{max(objects[name], 1)}];")
        elif name.removeprefix(GIVEN) in inputs:
            lines.append(_input_function(name, inputs[name.removeprefix(GIVEN)]))
        elif name in lacking:
            lines.append(f'uint64_t {name}() {{ return plait_input("{name}()"); }}')
    return "\n".join(lines) + "\n"


def _input_function(name: str, scalar: Scalar) -> str:
    parameters, given, get = "", "", f'plait_input("{name}()")'
    if name.startswith(GIVEN):
        # Pointers and integers; it does not matter how many there are.
        parameters = ", ".join(f"uint64_t a{number}" for number in range(1, 7))
        given = "const uint64_t arguments[] = {a1, a2, a3, a4, a5, a6};"
        asked = name.removeprefix(GIVEN)
        get = f'plait_call("{asked}", __builtin_return_address(0), arguments)'
    if scalar.kind is not Kind.FLOAT:
        return f"uint64_t {name}({parameters}) {{ {given} return {get}; }}"
    ctype = "float" if scalar.bits == 32 else "double"
    copy = "memcpy(&value, &bits, sizeof value); return value;"
    return (
        f"{ctype} {name}({parameters}) {{ {given} {ctype} value; uint64_t bits = {get}; {copy} }}"
    )


def entry_stub(entry: str, parameters: int) -> str:
    """The start of a program that does not start in main."""
    values = ", ".join(
        f'plait_input("argument {number} of {entry}()")' for number in range(1, parameters + 1)
    )
    return (
        f"uint64_t {entry}();\n"
        "int plait_entry(int count, char **arguments, char **environment) {\n"
        "  (void)count, (void)arguments, (void)environment;\n"
        f"  {entry}({values});\n  return 0;\n}}\n"
    )
