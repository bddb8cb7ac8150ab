"""What a verdict is about: the program, how its sources are read, and the properties."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plait.data import dataclass, replace
from plait.errors import Diagnostic, InputError
from plait.files import read_regular
from plait.model.main_arguments import LARGEST, SMALLEST, ArgumentSizes, in_chunks
from plait.portfolio.values import check_choice, check_kinds, check_positive, is_dialect

if TYPE_CHECKING:
    from plait.c.options import FrontEndOptions
    from plait.model.program import Program
    from plait.model.properties import Specification


DATA_MODELS = ("ILP32", "LP64")
MEMORY_MODELS = ("sc", "tso", "pso", "c11")
PROGRAM_NAME = "./program"  # argv[0] where --args says the rest


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """`programs` are .c and .i files that are linked, or one BenchExec task definition. The
    options are those of the command line, in the same words."""

    programs: tuple[str, ...] = ()
    property: tuple[str, ...] = ()
    prp: str | None = None
    error_function: tuple[str, ...] = ()
    include_dirs: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    undefines: tuple[str, ...] = ()
    force_includes: tuple[str, ...] = ()
    std: str = "gnu17"
    data_model: str = "LP64"
    entry: str | None = None
    compile_commands: str | None = None
    spurious_wakeups: bool = True
    args: str | None = None
    argument_count: int = SMALLEST.count
    argument_bytes: int = SMALLEST.bytes
    assume_defined: bool = False
    failing_calls: bool = False
    signals: bool = True  # that have a handler may arrive from outside
    monitor: str | None = None
    reach: tuple[str, ...] = ()
    memory_model: str | None = None  # None: what the program asks for
    strengthened: tuple[str, ...] = ()  # see plait.model.strengthening

    def check(self) -> None:
        """InputError for values that no command line would let pass."""
        if not self.programs and self.compile_commands is None:
            raise InputError("no program: name at least one source file")
        check_kinds(self)
        check_choice("data_model", self.data_model, DATA_MODELS)
        if self.memory_model is not None:
            check_choice("memory_model", self.memory_model, MEMORY_MODELS)
        if not is_dialect(self.std):
            raise InputError(f"std '{self.std}': not a C dialect such as c11 or gnu17")
        arguments_of_main(self.args)
        check_positive("argument_count", self.argument_count, LARGEST.count + 1)
        check_positive("argument_bytes", self.argument_bytes, LARGEST.bytes + 1)


def specification(subject: Subject) -> tuple[Specification, str]:
    """The properties that are named, and the entry function that goes with them."""
    from plait.model.properties import assuming_defined

    chosen, entry = _named(subject)
    if subject.assume_defined:
        is_default = not (subject.property or subject.prp or subject.error_function)
        chosen = assuming_defined(chosen, is_default=is_default)
    if subject.memory_model is not None:
        from plait.model.memory_model import MemoryModel

        if subject.memory_model != "sc" and subject.monitor is not None:
            what = "what a monitor does would make stores visible"
            raise InputError(f"--memory-model {subject.memory_model} excludes --monitor: {what}")
        chosen = replace(chosen, memory_model=MemoryModel(subject.memory_model))
    return chosen, entry


def _named(subject: Subject) -> tuple[Specification, str]:
    from plait.model.properties import Property, Specification, from_names, from_prp

    files = [value for value in subject.property if value.endswith(".prp")]
    if subject.monitor is not None:
        if subject.property or subject.prp or subject.error_function:
            raise InputError(
                "--monitor excludes other properties: what a monitor does may change what they say"
            )
        if subject.reach:
            raise InputError("--monitor and --reach are two questions")
        return Specification(frozenset({Property.MONITOR})), subject.entry or "main"
    if subject.reach:
        if subject.property or subject.prp or subject.error_function:
            raise InputError("--reach excludes other properties: reached lines end executions")
        return Specification(frozenset({Property.UNREACH_CALL})), subject.entry or "main"
    values = [value for value in subject.property if not value.endswith(".prp")]
    names = [name for value in values for name in value.split(",") if name]
    if subject.prp is not None:
        files.append(subject.prp)
    if files:
        if names or subject.error_function or len(files) > 1:
            raise InputError(
                f"{files[0]} excludes other properties and --error-function: it names them itself"
            )
        chosen, entry = from_prp(read_text(files[0]), files[0])
        return chosen, subject.entry or entry
    if subject.error_function and "unreach-call" not in names:
        names.append("unreach-call")
    return from_names(names, list(subject.error_function)), subject.entry or "main"


def parts(whole: Specification) -> list[Specification]:
    """What is checked separately. A thread that may wake up at any moment never waits for ever, so
    deadlocks are looked for without spurious wake-ups, all else with them."""
    from plait.model.properties import Property

    deadlock = frozenset({Property.NO_DEADLOCK})
    others = whole.properties - deadlock
    if Property.NO_DEADLOCK not in whole or not others:
        return [whole]
    return [
        replace(whole, properties=others),
        replace(whole, properties=deadlock, error_functions=frozenset()),
    ]


def arguments_of_main(args: str | None) -> tuple[str, ...] | None:
    """`--args`, taken apart as a shell does, after the name that the program then has."""
    if args is None:
        return None
    import shlex

    try:
        found = shlex.split(args)
    except ValueError as error:
        raise InputError(f"--args {args}: {error}") from error
    if any("\0" in item for item in found):
        raise InputError("--args: an argument cannot have a zero byte in it")
    return (PROGRAM_NAME, *found)


def read_text(path: str) -> str:
    """A small text file that an option names."""
    try:
        text = read_regular(path).decode("utf-8", "surrogateescape")
    except (OSError, ValueError) as error:  # the latter for a zero byte in the name
        what = getattr(error, "strerror", None) or str(error)
        raise InputError(Diagnostic(what, path)) from error
    return text.replace("\r\n", "\n").replace("\r", "\n")


def load_program(subject: Subject, chosen: Specification, entry: str) -> Program:
    from plait.analysis.narrowed_addresses import stop_at_narrowed_addresses
    from plait.c import load

    program = load(list(subject.programs), front_end_options(subject, entry), chosen)
    if subject.strengthened:
        from plait.model.strengthening import from_text, strengthen

        strengthen(program, tuple(from_text(item) for item in subject.strengthened))
    stop_at_narrowed_addresses(program)
    return program


def for_exploring(program: Program, chosen: Specification) -> Specification:
    """The specification with what lets an exploration have fewer states."""
    from plait.analysis.lifetimes import with_lifetimes
    from plait.analysis.sharing import sharing_of

    return with_lifetimes(sharing_of(program), chosen)


def front_end_options(subject: Subject, entry: str) -> FrontEndOptions:
    from plait.c.options import FrontEndOptions
    from plait.model.types import DataModel

    return FrontEndOptions(
        include_dirs=subject.include_dirs,
        defines=subject.defines,
        undefines=subject.undefines,
        force_includes=subject.force_includes,
        std=subject.std,
        data_model=DataModel(subject.data_model),
        entry=entry,
        compile_commands=subject.compile_commands,
        spurious_wakeups=subject.spurious_wakeups,
        arguments=arguments_of_main(subject.args),
        argument_sizes=ArgumentSizes(subject.argument_count, in_chunks(subject.argument_bytes)),
        assume_defined=subject.assume_defined,
        failing_calls=subject.failing_calls,
        signals=subject.signals,
        monitor=subject.monitor,
        reach=subject.reach,
    )
