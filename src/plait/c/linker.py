"""Linking: from parsed files to one program.

Functions and objects become part of the program when something that is part of it refers to them,
starting from the library's `__plait_start`. What turns out to be unreachable is dropped again.
"""

from __future__ import annotations

import os
import re
import shlex
from functools import cached_property
from typing import TYPE_CHECKING

from plait.c import syntax as s
from plait.c import toolchain
from plait.c.adapters import adapter, fits
from plait.c.catalogue import index_library, read_cancellation_points, read_list
from plait.c.effects import read_effects, read_plain_results
from plait.c.jumps import HELPERS, Kept, has_jumps, lower_jumps
from plait.c.libclang import Cursor, Library, Message, TranslationUnit
from plait.c.options import FrontEndOptions
from plait.c.reach import keep_reachable, refers_to
from plait.c.reached_lines import check_lines
from plait.c.reducible import make_reducible
from plait.c.statements import FunctionLowering
from plait.c.statics import StaticContents
from plait.c.syntax import Node
from plait.c.system_calls import FAILURE_NOTES, has_callback
from plait.c.tidy import prepend, tidy
from plait.c.types import CType, Shape, layout_of
from plait.c.unit import Unit
from plait.errors import Diagnostic, InputError, UnsupportedCode
from plait.files import read_regular
from plait.model.actions import (
    NOWHERE,
    Call,
    Check,
    CheckKind,
    EndThread,
    Guard,
    Input,
    Origin,
    Return,
    Skip,
    Unsupported,
    expressions_of,
)
from plait.model.expressions import (
    FALSE,
    TRUE,
    Const,
    Register,
)
from plait.model.layout import ArrayLayout, OpaqueLayout, RecordLayout, ScalarLayout
from plait.model.machine import FIRST_PAGE
from plait.model.main_arguments import VECTOR
from plait.model.memory_model import MemoryModel
from plait.model.program import (
    Edge,
    Function,
    Program,
    RegisterDecl,
    Relocation,
    SourceFile,
    StaticObject,
)
from plait.model.properties import Property, Specification
from plait.model.types import DataModel, Kind, Scalar

if TYPE_CHECKING:
    from plait.c.watching import Watching

_LIBRARY = -1
_ASM_LABEL = 407
_BEFORE_CALLS = ("return", "else", "do")
START = "__plait_start"


class Linker:
    """Collects the functions and objects of one program."""

    def __init__(
        self, library: Library, options: FrontEndOptions, specification: Specification
    ) -> None:
        self._libclang = library
        self.options = options
        self.data_model = options.data_model
        self.checks = specification.checks
        self.error_functions = specification.error_functions
        self.finds_races = Property.NO_DATA_RACE in specification
        self._specification = specification
        self.units: list[Unit] = []
        self._parsed: list[TranslationUnit] = []
        self._library_units: dict[str, Unit] = {}
        self._library_index, self._library_variables = index_library()
        self.unsupported_functions = read_list("unsupported.txt")
        self.no_effect_functions = read_plain_results()
        self._not_thread_safe = read_list("not_thread_safe.txt")
        self._called_unsafely: set[str] = set()
        self.system_functions = read_effects()
        self._sources: list[SourceFile] = []
        self._source_numbers: dict[str, int] = {}
        self._functions: dict[str, Function] = {}
        self._names: dict[tuple[int, str], str] = {}
        self._pending: list[tuple[str, Unit, Cursor]] = []
        self._requested: dict[str, tuple[str, Unit, Cursor]] = {}
        self._objects: dict[object, StaticObject] = {}
        self._undefined: dict[str, str] = {}
        self._system: dict[str, list[str]] = {}  # functions by what is assumed of them
        self._undeclared: dict[str, str] = {}  # functions that are called so, and where
        self._volatile: dict[str, Kept] = {}  # locals, by the linked names of functions
        self._failed: dict[StaticObject, str] = {}  # objects that could not be made
        self._definitions: dict[str, Unit] = {}
        self._variable_definitions: dict[str, Unit] = {}
        self._argument_vector: StaticObject | None = None
        self._strings: list[StaticObject] = []
        self._assumptions: dict[str, None] = {}
        self.watching: Watching | None = None
        # Functions lie before all objects; where they end is known when there are no more of them.
        self.end_of_functions = Const(Scalar(Kind.INT, self.data_model.pointer.bits), 0)
        self._callback_guards: set[int] = set()
        self.has_functions_as_data = False  # the address of one is converted to something else

    # Units

    def keep(self, parsed: TranslationUnit) -> None:
        """Note what `close` has to give back: cursors and types are valid until then."""
        self._parsed.append(parsed)

    def close(self) -> None:
        for parsed in self._parsed:
            parsed.close()
        self._parsed.clear()

    def add(self, path: str, parsed_unit: Unit) -> None:
        self.units.append(parsed_unit)
        self._look_at_sizes(parsed_unit)
        for name, cursor in list(parsed_unit.functions.items()):
            if not parsed_unit.is_internal(cursor):
                self._define_function(name, cursor, parsed_unit)
        for name, cursor in parsed_unit.variables.items():
            if parsed_unit.is_internal(cursor) or not parsed_unit.defines_variable(name):
                continue
            self._define_variable(name, cursor, parsed_unit)

    def note_undeclared(self, called: dict[str, Message]) -> None:
        for name, (_, file, line, column) in called.items():
            self._undeclared.setdefault(name, f"{file}:{line}:{column}")

    def _look_at_sizes(self, unit: Unit) -> None:
        """A source that was preprocessed for another data model tells by its `size_t`."""
        if unit.size_typedef is None:
            return
        bits = 8 * unit.types.of(unit.size_typedef).size
        if bits == self.data_model.pointer.bits:
            return
        other = DataModel.ILP32 if self.data_model is DataModel.LP64 else DataModel.LP64
        what = f"size_t has {bits} bits here, which is not so in {self.data_model.value}"
        if unit.is_of_system(unit.size_typedef):
            origin = unit.origin(unit.size_typedef)
            message = f"{what}: the source was preprocessed for --data-model {other.value}"
            raise InputError(self._program_view().diagnostic(origin, message))
        self.assume(f"{unit.path}: {what} (say --data-model {other.value} if it was meant)")

    def _define_function(self, name: str, cursor: Cursor, unit: Unit) -> None:
        other = self._definitions.setdefault(name, unit)
        if other is unit or unit.is_inline(cursor):
            return
        if other.is_inline(other.functions[name]):
            self._definitions[name] = unit
        elif unit.is_weak(cursor):
            del unit.functions[name]
        elif other.is_weak(other.functions[name]):
            del other.functions[name]
            self._definitions[name] = unit
        else:
            raise InputError(self._conflict("function", name, cursor, unit, other))

    def _define_variable(self, name: str, cursor: Cursor, unit: Unit) -> None:
        """Definitions without a value are one variable, as compilers had it for decades, and as
        `gcc -fcommon` still has it."""
        other = self._variable_definitions.setdefault(name, unit)
        if other is unit:
            return
        if not (unit.is_tentative(name) or other.is_tentative(name)):
            raise InputError(self._conflict("variable", name, cursor, unit, other))
        self.assume(f"variable '{name}', defined in several files, is one variable (-fcommon)")
        if not unit.is_tentative(name):
            self._variable_definitions[name] = unit

    def _conflict(
        self, what: str, name: str, cursor: Cursor, unit: Unit, other: Unit
    ) -> Diagnostic:
        origin = unit.origin(cursor)
        source = self._sources[origin.file]
        message = f"{what} '{name}' is also defined in {other.path}"
        return Diagnostic(
            message, source.path, origin.line, origin.column, source.lines[origin.line - 1]
        )

    def define(self, name: str, unit: Unit) -> None:
        """A function that is there beside the program and the library."""
        self._definitions[name] = unit

    def defines_function(self, name: str) -> bool:
        return name in self._definitions

    def has_library_function(self, name: str) -> bool:
        return name in self._library_index

    def _library_unit(self, file: str) -> Unit:
        unit = self._library_units.get(file)
        if unit is None:
            path = os.path.join(toolchain.LIBRARY_SOURCES, file)
            flags = toolchain.library_flags(
                self.data_model, self._libclang.resource_dir, self._library_defines()
            )
            parsed = self._libclang.parse(path, flags)
            self.keep(parsed)
            errors = parsed.errors()
            if errors:
                raise InputError(f"plait's own library does not compile: {errors[0]}")
            unit = self._library_units[file] = Unit(self, self._libclang, parsed, path, _LIBRARY)
        return unit

    def _library_defines(self) -> dict[str, int]:
        # A thread that may wake spuriously never waits for ever: deadlocks need exact wake-ups.
        deadlock = Property.NO_DEADLOCK in self._specification
        spurious = self.options.spurious_wakeups and not deadlock
        return {
            "PLAIT_SPURIOUS_WAKEUPS": int(spurious),
            "PLAIT_C11": int(self._specification.memory_model is MemoryModel.C11),
            "PLAIT_CHECK_LOCKS": int(CheckKind.LOCK_MISUSE in self.checks),
            "PLAIT_CHECK_WAITS": int(self._checks_waits()),
            "PLAIT_FAILING_CALLS": int(self.options.failing_calls),
            "PLAIT_CANCEL": int(self._cancels),
            "PLAIT_SIGNALS": int(self._knows_masks),
            "PLAIT_ARRIVING_SIGNALS": int(self.options.signals),
            "PLAIT_MAPPINGS": int(self._maps_memory),
            **(self.watching.defines if self.watching is not None else {}),
        }

    @cached_property
    def _cancels(self) -> bool:
        """Whether threads can be cancelled: else cancellation points would only be in the way."""
        return self._uses("pthread_cancel")

    @cached_property
    def _knows_masks(self) -> bool:
        """Whether the program can tell which signals are blocked."""
        return self._uses("pthread_kill", "kill", "raise", "pthread_sigmask", "sigprocmask")

    @cached_property
    def _maps_memory(self) -> bool:
        return self._uses("mmap")

    @cached_property
    def cancellation_points(self) -> dict[str, str]:
        """Functions of the library at which a thread ends that was cancelled, and what of the
        library is called there."""
        return read_cancellation_points() if self._cancels else {}

    def _checks_waits(self) -> bool:
        """Whether condition variables keep the set of waiting threads, to tell some kinds of misuse
        from what is allowed. That is expensive, so where all that is wrong in any program is looked
        for, only programs that destroy condition variables do it."""
        if CheckKind.LOCK_MISUSE not in self.checks:
            return False
        if Property.VALID_ACCESS not in self._specification:
            return True
        return self._uses("pthread_cond_destroy", "cnd_destroy")

    def _uses(self, *names: str) -> bool:
        """Whether a source file names one of these functions of the library, otherwise than in a
        declaration (as sources have it that are preprocessed). Where only a header does so, their
        models refuse what they need to know before."""
        pattern = re.compile(rf"(?:\b(\w+)\s+)?\b(?:{'|'.join(names)})\b")
        return any(
            found[1] is None or found[1] in _BEFORE_CALLS or line.lstrip().startswith("#")
            for line in self._source_lines
            if any(name in line for name in names)
            for found in pattern.finditer(line)
        )

    @cached_property
    def _source_lines(self) -> list[str]:
        return [line for unit in self.units for line in _lines(unit.path)]

    # Functions

    def function(self, unit: Unit, name: str, declaration: Cursor) -> str:
        """The linked name of the function that `name` means in `unit`."""
        if name in self.error_functions:
            return self._error_function(name)
        if self.watching is not None and self.watching.is_observed(unit, name):
            return self.library_function(self.watching.function_in_place_of(name))
        if name in unit.functions:
            owner = unit
        elif name in self._definitions:
            owner = self._definitions[name]
        elif self.has_library_function(name):
            return self.library_function(name)
        else:
            return self._undefined_stub(unit, name, declaration)
        return self._request(owner, name)

    def library_function(self, name: str) -> str:
        if name in self._definitions:
            return self._request(self._definitions[name], name)
        return self._request(self._library_unit(self._library_index[name]), name)

    def library_type(self, name: str) -> CType:
        """The type of a function as its definition has it."""
        owner = self._definitions.get(name) or self._library_unit(self._library_index[name])
        return owner.types.of(owner.functions[name])

    def is_library_function(self, linked: str) -> bool:
        return self._names.get((_LIBRARY, linked)) == linked and linked in self._library_index

    def defined_type(self, unit: Unit, name: str) -> CType | None:
        """The type of a function as its definition or model has it, if there is one."""
        if name in self.error_functions:
            return None
        owner = unit if name in unit.functions else self._definitions.get(name)
        if owner is None and self.has_library_function(name):
            owner = self._library_unit(self._library_index[name])
        return None if owner is None else owner.types.of(owner.functions[name])

    def adapted(self, linked: str, defined: CType, wanted: CType) -> str | None:
        """A function that can be called as `wanted` and calls another one of another type; None
        where that one can be called itself."""
        if fits(defined, wanted):
            return None
        name = f"{linked} as {wanted.spelling}"
        if name not in self._functions:
            _, owner, cursor = self._requested[linked]
            made = adapter(name, linked, defined, wanted, owner.origin(cursor))
            if made is None:
                raise UnsupportedCode(f"'{linked}' is called as a function of another type")
            self._functions[name] = made
        return name

    def _request(self, owner: Unit, name: str) -> str:
        key = (owner.number, name)
        linked = self._names.get(key)
        if linked is None:
            linked = name
            if linked in self._functions or linked in self._names.values():
                linked = f"{name}@{os.path.basename(owner.path)}"
                if linked in self._names.values():
                    linked = f"{name}@{owner.path}"
            self._names[key] = linked
            self._pending.append((linked, owner, owner.functions[name]))
            self._requested[linked] = self._pending[-1]
        return linked

    def _error_function(self, name: str) -> str:
        key = (_LIBRARY, name)
        if key not in self._names:
            self._names[key] = name
            message = f"{name}() is called"
            check = Check(NOWHERE, FALSE, CheckKind.UNREACH_CALL, message)
            edges = [[Edge(0, check, 1)], [Edge(1, EndThread(NOWHERE), -1)]]
            self._functions[name] = Function(
                name, name, NOWHERE, [], 0, [], edges, None, library=True
            )
        return name

    def _undefined_stub(self, unit: Unit, name: str, declaration: Cursor) -> str:
        """A function without a definition or model: any result, no effect."""
        key = (_LIBRARY, name)
        if key in self._names:
            return self._names[key]
        self._names[key] = name
        origin = unit.origin(declaration)
        why = self.unsupported_functions.get(name) or _why_special(unit, declaration)
        result = unit.types.of(declaration).result
        parameters = unit.types.of(declaration).parameters
        if why is None and any(has_callback(item) for item in parameters):
            why = "it takes a callback and is not defined"
        is_system = name in self.system_functions or unit.is_of_system(declaration)
        if why is None and is_system and any(item.is_pointer for item in parameters):
            if name not in self.no_effect_functions:
                why = "it is called through a pointer and has no model"
        if why is None and unit.is_noreturn(declaration):
            why = "it is declared not to return and is not defined"
        if why is not None:
            stop = Unsupported(origin, f"'{name}' is not supported: {why}")
            edges = [[Edge(0, stop, -1)]]
            function = Function(name, name, origin, [], 0, [], edges, None, library=True)
        elif result is not None and result.scalar is not None:
            target = Register(result.scalar, 0, "")
            edges = [
                [Edge(0, Input(origin, target, f"{name}()"), 1)],
                [Edge(1, Return(origin, target), -1)],
            ]
            registers = [RegisterDecl("", result.scalar)]
            function = Function(
                name, name, origin, registers, 0, [], edges, result.scalar, library=True
            )
        else:
            edges = [[Edge(0, Return(origin, None), -1)]]
            function = Function(name, name, origin, [], 0, [], edges, None, library=True)
        if why is None and name not in self.no_effect_functions:
            self.assume_undefined(name)
        self._functions[name] = function
        return name

    def why_unsupported(self, unit: Unit, name: str, declaration: Cursor) -> str | None:
        if self.has_library_function(name):
            return self.unsupported_functions.get(name)
        return self.unsupported_functions.get(name) or _why_special(unit, declaration)

    def start_functions(self) -> list[str]:
        """Functions with the attribute `constructor`, by their linked names."""
        return [self._request(unit, name) for unit in self.units for name in unit.constructors]

    def _unsupported_attributes(self) -> list[Unsupported]:
        """Of functions that run before or behind the entry function otherwise than is modelled.
        (The C library of GNU calls constructors with the arguments of main.)"""
        found: list[Unsupported] = []
        for unit in self.units:
            rows = [(name, f"the attribute 'destructor' of '{name}'") for name in unit.destructors]
            rows += [
                (name, f"the attribute 'constructor' of '{name}', which has parameters")
                for name in unit.constructors
                if unit.types.of(unit.functions[name]).parameters
            ]
            for name, what in rows:
                origin = unit.origin(unit.functions[name])
                found.append(Unsupported(origin, f"not supported: {what}"))
        return found

    def assume_undefined(
        self, name: str, what: str = "it may return any value and touches no memory"
    ) -> None:
        self._undefined.setdefault(name, what)

    def assume_effects(self, name: str, what: str) -> None:
        """What is assumed of a function of the system that has no model."""
        names = self._system.setdefault(what, [])
        if name not in names:
            names.append(name)

    def note_call(self, name: str) -> None:
        """A call of a function that the program does not define."""
        if self.finds_races and name in self._not_thread_safe:
            self._called_unsafely.add(name)

    def assume(self, what: str) -> None:
        self._assumptions.setdefault(what)

    def entry_name(self) -> str:
        name = self.options.entry
        owner = self._definitions.get(name)
        if owner is None:
            owner = next((unit for unit in self.units if name in unit.functions), None)
        assert owner is not None
        return self._request(owner, name)

    def entry_function(self) -> tuple[str, CType]:
        owner, cursor = self._entry()
        return self.options.entry, owner.types.of(cursor)

    def _entry(self) -> tuple[Unit, Cursor]:
        name = self.options.entry
        owner = self._definitions.get(name) or next(
            unit for unit in self.units if name in unit.functions
        )
        return owner, owner.functions[name]

    def entry_origin(self) -> Origin:
        owner, cursor = self._entry()
        return owner.origin(cursor)

    def used_parameters(self) -> list[bool]:
        """Of the entry function: which parameters its body looks at. `(void)argc` does not."""
        owner, cursor = self._entry()
        root = owner.tree.read(cursor)
        parameters = [child for child in root.children if child.kind == s.PARAMETER]
        seen: set[int | None] = set()
        pending = [child for child in root.children if child.kind != s.PARAMETER]
        while pending:
            node = pending.pop()
            if node.kind == s.DECL_REF:
                seen.add(self._libclang.getCursorReferenced(node.cursor).data[0])
            is_void = node.kind == s.CAST and owner.type_of(node).shape is Shape.VOID
            if not (is_void and s.strip(node.children[-1]).kind == s.DECL_REF):
                pending += node.children
        return [item.cursor.data[0] in seen for item in parameters]

    def argument_vector(self, arguments: tuple[str, ...]) -> StaticObject:
        """`argv` of main, where the arguments are fixed."""
        if self._argument_vector is None:
            strings = []
            for number, text in enumerate(arguments):
                data = text.encode("utf-8", "surrogateescape") + b"\0"
                strings.append(self._argument(number, data))
            self._argument_vector = self._vector("argv", strings, is_whole=True)
            self._assumptions.setdefault(fixed_arguments(arguments))
        return self._argument_vector

    def argument_strings(self) -> list[StaticObject]:
        """The first arguments of main, where they can be any."""
        if not self._strings:
            sizes = self.options.argument_sizes
            self._strings = [
                self._argument(number, bytes(sizes.bytes)) for number in range(sizes.count)
            ]
            for string in self._strings:
                string.ends_early = True
        return self._strings

    def modelled_vector(self, count: int | None) -> StaticObject:
        """`argv` of main for one number of arguments; None: more than the model has."""
        name = "argv" if count is not None else VECTOR.format(len(self.argument_strings()) - 1)
        made = self._vector(name, self.argument_strings()[:count], is_whole=count is not None)
        made.ends_early = count is None
        return made

    def environment(self) -> StaticObject:
        """`envp` of main: nothing."""
        self._assumptions.setdefault("the environment is empty")
        return self._vector("envp", [], is_whole=True)

    def _argument(self, number: int, data: bytes) -> StaticObject:
        character = Scalar(Kind.INT, 8, signed=True)
        layout = ArrayLayout(len(data), ScalarLayout(1, character, "char"), len(data))
        spelling = f"char [{len(data)}]"
        return self._new_object(f"*argv[{number}]", layout, data, [], NOWHERE, spelling)

    def _vector(self, name: str, strings: list[StaticObject], *, is_whole: bool) -> StaticObject:
        pointer = self.data_model.pointer
        count = len(strings) + is_whole
        element = ScalarLayout(pointer.size, pointer, "char *")
        layout = ArrayLayout(count * pointer.size, element, count)
        relocations = [
            Relocation(number * pointer.size, item, 0) for number, item in enumerate(strings)
        ]
        spelling = f"char *[{count}]"
        return self._new_object(name, layout, bytes(layout.size), relocations, NOWHERE, spelling)

    def _lower(self, linked: str, unit: Unit, cursor: Cursor) -> None:
        node = unit.tree.read(cursor)
        function_type = unit.types.of(cursor)
        display = unit.library.spelling(cursor)
        lowering = FunctionLowering(unit, display, cursor)
        unit.root = node
        unit.label_values = {}
        try:
            parameters = lowering.lower(node, function_type)
            edges = lowering.edges
        except UnsupportedCode as error:
            message = f"not supported: {error.diagnostic.message}"
            edges = [[Edge(0, Unsupported(unit.origin(cursor), message), -1)]]
            parameters = 0
            lowering.registers.clear()
            lowering.slots.clear()
        result = function_type.result
        function = Function(
            linked,
            display,
            unit.origin(cursor),
            lowering.registers,
            parameters,
            lowering.slots,
            edges,
            None if result is None else result.scalar,
            unit.is_library,
        )
        if self.watching is not None:
            self.watching.watch_body(function, display, unit, cursor)
        tidy(function)
        make_reducible(function)
        self._functions[linked] = function
        self._volatile[linked] = lowering.kept_by_jumps()

    # Objects

    def variable(self, unit: Unit, declaration: Cursor) -> StaticObject:
        library = self._libclang
        name = library.spelling(declaration)
        linkage = library.getCursorLinkage(declaration)
        if linkage == 1 or linkage == 0:  # a static local
            return self._object((unit.number, declaration.data[0]), unit, declaration, name)
        if linkage == 2:
            return self._object(
                (unit.path, name), unit, unit.variables.get(name, declaration), name
            )
        owner = self._variable_definitions.get(name)
        if owner is None and name in self._library_variables:
            owner = self._library_unit(self._library_variables[name])
        if owner is not None:
            found = self._object(name, owner, owner.variables[name], name)
            declared = unit.types.of(declaration)
            if owner is not unit and declared.size not in (0, found.size):
                raise InputError(self._conflict_of_types(name, declaration, unit, owner))
            return found
        return self._undefined_variable(unit, declaration, name)

    def _conflict_of_types(
        self, name: str, declaration: Cursor, unit: Unit, owner: Unit
    ) -> Diagnostic:
        diagnostic = self._conflict("variable", name, declaration, unit, owner)
        diagnostic.message = f"variable '{name}' has another type where {owner.path} defines it"
        return diagnostic

    def _undefined_variable(self, unit: Unit, declaration: Cursor, name: str) -> StaticObject:
        known = self._objects.get(name)
        if known is None:
            special = _why_special(unit, declaration)
            if special is not None:
                message = f"not supported: variable '{name}' has {special}"
            ctype = unit.types.of(declaration)
            known = self._objects[name] = self._new_object(
                name, layout_of(ctype), bytes(ctype.size), [], unit.origin(declaration),
                ctype.spelling,
            )  # fmt: skip
            known.indeterminate = True
            if special is not None:
                self._failed[known] = message
            self._assumptions.setdefault(
                f"variable '{name}' is not defined: it may hold any value at the start"
            )
        return known

    def _object(self, key: object, unit: Unit, declaration: Cursor, name: str) -> StaticObject:
        known = self._objects.get(key)
        if known is not None:
            return known
        ctype = unit.types.of(declaration)
        made = self._new_object(
            name, layout_of(ctype), b"", [], unit.origin(declaration), ctype.spelling
        )
        made.thread_local = bool(self._libclang.getCursorTLSKind(declaration))
        made.read_only = ctype.const
        made.library = unit.is_library
        self._objects[key] = made  # before its initialiser, which may refer to itself
        node = unit.tree.read(declaration)
        self._fill(made, unit, declaration, unit.initialiser(node), ctype, node)
        return made

    def anonymous_object(self, unit: Unit, node: Node, ctype: CType) -> StaticObject:
        origin = unit.origin(node.cursor)
        made = self._new_object("(compound literal)", layout_of(ctype), b"", [], origin,
                                ctype.spelling)  # fmt: skip
        self._objects[made] = made
        self._fill(made, unit, node.cursor, node.children[-1], ctype, unit.root)
        return made

    def _fill(
        self,
        made: StaticObject,
        unit: Unit,
        cursor: Cursor,
        initial: Node | None,
        ctype: CType,
        root: Node | None,
    ) -> None:
        contents = StaticContents(unit, cursor)
        outer, unit.root = unit.root, root
        try:
            contents.evaluate(initial, ctype)
        except UnsupportedCode as error:
            self._failed[made] = f"not supported: {error.diagnostic.message}"
        unit.root = outer
        made.initial = bytes(contents.data)
        made.relocations = tuple(contents.relocations)
        if len(made.initial) > made.size:  # an array without size, or a flexible member
            made.layout = _stretched(made.layout, len(made.initial))

    def string_object(self, data: bytes, ctype: CType, origin: Origin) -> StaticObject:
        key = ("string", data, ctype.size)
        known = self._objects.get(key)
        if known is None:
            shown = data.rstrip(b"\0").decode("utf-8", "replace")
            known = self._new_object(
                f'"{shown[:40]}"', layout_of(ctype), data, [], origin, ctype.spelling
            )
            known.read_only = True
            self._objects[key] = known
        return known

    def _new_object(
        self,
        name: str,
        layout: ScalarLayout | ArrayLayout | RecordLayout | OpaqueLayout,
        initial: bytes,
        relocations: list[Relocation],
        origin: Origin,
        spelling: str,
    ) -> StaticObject:
        return StaticObject(name, layout, initial, tuple(relocations), origin, spelling)

    # Sources

    def source_number(self, path: str) -> int:
        known = self._source_numbers.get(path)
        if known is None:
            known = self._source_numbers[path] = len(self._sources)
            self._sources.append(SourceFile(path, _lines(path)))
        return known

    def text(self, origin: Origin) -> str:
        return self._program_view().text(origin)

    def place(self, origin: Origin) -> str:
        return self._program_view().place(origin)

    def _program_view(self) -> Program:
        return Program(self.data_model, {}, [], "", self._sources)

    # The whole

    def link(self) -> Program:
        start = self.library_function(START)
        if self.watching is not None:
            self.watching.prepare()
        if self.options.every_line:
            self._request_all()
        while self._pending:
            self._lower(*self._pending.pop())
        if self.watching is not None:
            self.watching.watch_accesses(list(self._functions.values()), self._objects)
        self._lower_jumps()
        if self.options.reach:
            check_lines(self._functions.values(), self._sources, self.options.reach)
        self._drop_unseen_errors()
        self._drop_needless_guards()
        program = Program(self.data_model, {}, [], start, self._sources)
        program.memory_model = self._specification.memory_model
        if self.options.every_line:
            program.unused = [item for item in self._functions.values() if not item.library]
        keep_reachable(program, self._functions)
        program.unused = [item for item in program.unused if item.name not in program.functions]
        self._assign_pages(program)
        stops = self._unsupported_attributes() + [
            Unsupported(item.origin, self._failed[item])
            for item in program.objects
            if item in self._failed
        ]
        for stop in stops:  # no execution has a verdict
            prepend(program.functions[start], stop)
        program.unsupported = [program.diagnostic(stop.origin, stop.message) for stop in stops] + [
            program.diagnostic(edge.action.origin, edge.action.message)
            for function in program.functions.values()
            if not function.library
            for edge in function.all_edges()
            if isinstance(edge.action, Unsupported)
        ]
        program.assumptions = [
            f"function '{name}' is not defined: {what}" for name, what in self._undefined.items()
        ]
        program.assumptions += [
            f"functions of the system without a model ({', '.join(names)}): {what}"
            for what, names in self._system.items()
        ]
        if self._undeclared:
            called = ", ".join(f"{name} ({place})" for name, place in self._undeclared.items())
            program.assumptions.append(
                f"functions without a declaration are called as C90 has it: {called}"
            )
        handling = [item for item in ("signal", "sigaction") if item in program.functions]
        if not self.options.signals and any(map(self.is_library_function, handling)):
            program.assumptions.append(
                "no signal that has a handler arrives but those the program sends itself"
                " (--no-signals)"
            )
        if self._called_unsafely:
            names = ", ".join(sorted(self._called_unsafely))
            program.assumptions.append(
                f"calls of functions that need not be thread-safe do not race: {names}"
            )
        program.assumptions += list(self._assumptions)
        return program

    def _lower_jumps(self) -> None:
        if has_jumps(name for name in self._functions if self.is_library_function(name)):
            for name in HELPERS:
                self.library_function(name)
            while self._pending:
                self._lower(*self._pending.pop())
            objects = self._objects.values()
            lower_jumps(self._functions, objects, self._volatile, self.data_model.pointer)

    def _request_all(self) -> None:
        """Also the user's functions that nobody refers to; the reachable ones are kept all the
        same. Headers of the system define some that most programs do not use."""
        for unit in self.units:
            for name, declaration in unit.functions.items():
                if not unit.is_of_system(declaration):
                    self._request(unit, name)

    def _drop_unseen_errors(self) -> None:
        """Where the program never looks at errno, nobody needs to set it."""
        location = "__errno_location"
        own = [item for item in self._functions.values() if not item.library]
        for function in own:
            for edge in function.all_edges():
                action = edge.action
                if isinstance(action, Call) and action.callee == location:
                    return
                if any(refers_to(expr, location) for expr in expressions_of(action)):
                    return
        for function in self._functions.values():
            changed = False
            for edge in function.all_edges():
                action = edge.action
                if isinstance(action, Call) and action.callee in FAILURE_NOTES:
                    if self.options.every_line:
                        edge.action = Guard(action.origin, TRUE)
                    else:
                        edge.action = Skip(action.origin)
                        changed = True
            if changed:
                tidy(function)

    def note_callback_guard(self, leaving: list[Edge]) -> None:
        """Of a branch that asks whether something may be a function's address, and goes on by its
        last edge where it is not."""
        self._callback_guards.update(id(edge.action) for edge in leaving)

    def _drop_needless_guards(self) -> None:
        """Where no function's address becomes data, none is passed as such: what is any value at
        all would be one by chance."""
        if self.has_functions_as_data or not self._callback_guards:
            return
        for function in self._functions.values():
            found = False
            for leaving in function.edges:
                if id(leaving[0].action) in self._callback_guards:
                    found = True
                    leaving[:] = leaving[-1:]
                    leaving[0].action = Skip(leaving[0].action.origin)
            if found:
                tidy(function)

    def _assign_pages(self, program: Program) -> None:
        page = FIRST_PAGE
        everything: list[Function | StaticObject] = [*program.functions.values()]
        everything += program.objects
        for item in everything:
            item.page = page
            size = 1 if isinstance(item, Function) else item.size
            page += self.data_model.pages_taken(size)
            if isinstance(item, Function):
                self.end_of_functions.value = page << self.data_model.page_bits
        program.first_free_page = page
        for item in program.objects:
            if item.relocations:
                data = bytearray(item.initial)
                size = self.data_model.pointer.size
                for relocation in item.relocations:
                    target = relocation.target
                    owner = program.functions[target] if isinstance(target, str) else target
                    address = program.address_of(owner) + relocation.addend
                    data[relocation.offset : relocation.offset + size] = (
                        address % (1 << self.data_model.pointer.bits)
                    ).to_bytes(size, "little")
                item.initial = bytes(data)


def _stretched(
    layout: ScalarLayout | ArrayLayout | RecordLayout | OpaqueLayout, size: int
) -> ScalarLayout | ArrayLayout | RecordLayout | OpaqueLayout:
    if isinstance(layout, ArrayLayout) and layout.element.size:
        return ArrayLayout(size, layout.element, size // layout.element.size)
    if isinstance(layout, RecordLayout):
        return RecordLayout(size, layout.name, layout.fields, layout.is_union)
    return OpaqueLayout(size)


def _why_special(unit: Unit, declaration: Cursor) -> str | None:
    # System headers use assembler names to choose between versions of a function.
    location = unit.library.getCursorLocation(declaration)
    if not unit.library.Location_isInSystemHeader(location):
        if any(child.kind == _ASM_LABEL for child in unit.library.children(declaration)):
            return "an assembler name"
    names = unit.attributes(declaration, unit.library.children(declaration)) - {"noreturn"}
    return f"the attribute '{min(names)}'" if names else None


def fixed_arguments(arguments: tuple[str, ...]) -> str:
    return f"the program is called as: {shlex.join(arguments)}"


def _lines(path: str) -> list[str]:
    try:
        return read_regular(path).decode("utf-8", "replace").splitlines()
    except OSError:
        return []
