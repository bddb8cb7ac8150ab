"""The call of the user's entry function, and the arguments that `main` gets.

Any number of arguments of any content is possible. What the model has of them ends somewhere: a
longer vector has no end in it, and a longer argument no final zero, so that an access to what is
missing lies outside of an object that "ends early". No such execution has a verdict: with larger
sizes (plait.model.main_arguments) it may get one. Where memory safety is asked for, longer ones are
unsupported from the start: no `true` may rely on that nobody looks behind the end of an argument.
"""

from __future__ import annotations

from plait.c.atomics import Atomics
from plait.c.terms import binary, constant, convert
from plait.c.types import CType
from plait.model.actions import Assign, Call, Input, Prune, Store, Unsupported
from plait.model.expressions import BinaryOp, Const, Expr, StaticAddress
from plait.model.main_arguments import CHUNK, COUNT, LARGE_COUNT, input_name
from plait.model.types import I32, U8, U64, Kind, Scalar


class EntryCalls(Atomics):
    """`__plait_entry()`: the call of the user's entry function."""

    def _intrinsic_entry(self, arguments: object) -> Expr:
        linker = self.unit.linker
        for function in linker.start_functions():
            self.emit(Call(self.origin, None, function, ()))
        name, function_type = linker.entry_function()
        parameters = [item.require_scalar() for item in function_type.parameters]
        if name == "main" and parameters and parameters[0].kind is Kind.INT:
            values = self._arguments_of_main(parameters)
        else:
            values = [
                self._any_argument(position, name, scalar)
                for position, scalar in enumerate(parameters)
            ]
        return self._call_entry(function_type, values)

    def _call_entry(self, function_type: CType, values: list[Expr]) -> Expr:
        linker = self.unit.linker
        result = function_type.result
        if result is None or result.scalar is None:
            self.emit(Call(self.origin, None, linker.entry_name(), tuple(values)))
            return Const(I32, 0)
        target = self.register(result.scalar)
        self.emit(Call(self.origin, target, linker.entry_name(), tuple(values)))
        return convert(I32, target)

    def _any_argument(self, position: int, name: str, scalar: Scalar) -> Expr:
        target = self.register(scalar)
        self.emit(Input(self.origin, target, f"argument {position + 1} of {name}()"))
        return target

    def _arguments_of_main(self, parameters: list[Scalar]) -> list[Expr]:
        linker = self.unit.linker
        uses = linker.used_parameters()
        fixed = linker.options.arguments
        found: list[Expr]
        if fixed is not None:
            vector = linker.argument_vector(fixed)
            found = [constant(parameters[0], len(fixed)), StaticAddress(self.pointer, vector)]
        elif any(uses[:2]):
            found = self._any_arguments(parameters[0], any(uses[1:2]))
        else:  # what nobody looks at
            found = [constant(parameters[0], 1), Const(self.pointer, 0)]
        if len(parameters) > 2:
            found.append(StaticAddress(self.pointer, linker.environment()))
        found += [
            self._any_argument(position, "main", scalar)
            for position, scalar in enumerate(parameters[3:], 3)
        ]
        return found[: len(parameters)]

    def _any_arguments(self, scalar: Scalar, uses_vector: bool) -> list[Expr]:
        """Each number of arguments has a vector of its own, with a null pointer at the end."""
        linker = self.unit.linker
        sizes = linker.options.argument_sizes
        if uses_vector:
            linker.assume(
                f"of main's arguments the first {sizes.count}, and of each the first"
                f" {sizes.bytes} bytes, can be any; to look at more has no verdict"
                " (--args fixes them)"
            )
            linker.assume(
                f"no argument of main is accessed behind its end within these {sizes.bytes} bytes"
            )
        count, vector = self.register(scalar), self.register(self.pointer)
        chosen = self.register(I32)
        self.emit(Input(self.origin, chosen, COUNT, Const(I32, sizes.count + 2)))
        if uses_vector:
            self._fill_strings(chosen)
        after = self.location()
        for number in range(sizes.count + 1):
            this, others = self.location(), self.location()
            self.branch(binary(BinaryOp.EQ, chosen, Const(I32, number)), this, others)
            self.at = this
            self.emit(Assign(self.origin, count, constant(scalar, number)))
            if uses_vector:
                address = StaticAddress(self.pointer, linker.modelled_vector(number))
                self.emit(Assign(self.origin, vector, address))
            self.connect(after)
            self.at = others
        if uses_vector and self.checks_lifetimes:
            self._refuse(f"more than {sizes.count} arguments of the program (see --args)")
        self.emit(Input(self.origin, count, LARGE_COUNT))
        least = constant(scalar, sizes.count)
        self.emit(Prune(self.origin, binary(BinaryOp.LT, least, count)))
        if uses_vector:
            address = StaticAddress(self.pointer, linker.modelled_vector(None))
            self.emit(Assign(self.origin, vector, address))
        self.connect(after)
        self.at = after
        return [count, vector if uses_vector else Const(self.pointer, 0)]

    def _fill_strings(self, chosen: Expr) -> None:
        size = self.unit.linker.options.argument_sizes.bytes
        ends = self.checks_lifetimes
        if ends:
            longer = self.register(I32)
            self.emit(Input(self.origin, longer, "longer argument", Const(I32, 2)))
            refused, others = self.location(), self.location()
            self.branch(longer, refused, others)
            self.at = refused
            self._refuse(f"an argument of {size} or more characters (see --args)")
            self.connect(others)
            self.at = others
        after = self.location()
        for number, string in enumerate(self.unit.linker.argument_strings()):
            there = self.location()
            self.branch(binary(BinaryOp.LT, Const(I32, number), chosen), there, after)
            self.at = there
            for chunk in range(0, size, CHUNK):
                text = self.register(U64)  # many bytes in one input: one choice, not many
                self.emit(Input(self.origin, text, input_name(number, chunk)))
                for offset in range(CHUNK):
                    where = StaticAddress(self.pointer, string, chunk + offset)
                    shifted = binary(BinaryOp.SHR, text, constant(U64, 8 * offset))
                    is_end = ends and chunk + offset == size - 1
                    value = Const(U8, 0) if is_end else convert(U8, shifted)
                    self.emit(Store(self.origin, where, value))
        self.start(after)

    def _refuse(self, what: str) -> None:
        origin = self.unit.linker.entry_origin()
        self.emit(Unsupported(origin, f"not examined: {what}"))
