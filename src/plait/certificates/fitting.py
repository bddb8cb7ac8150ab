"""Whether the locations of a certificate are locations of the program.

Executing from a location relies on this: functions exist, suspended frames wait for a call, values
fit their registers, and the variables of a label stand for registers that are there.
"""

from __future__ import annotations

from plait.certificates.document import Certificate, Frame, Node, RegisterName
from plait.certificates.verdicts import Rejected
from plait.logic.substitute import Vocabulary
from plait.model.actions import Call
from plait.model.program import Program


def check_fit(program: Program, certificate: Certificate) -> None:
    vocabulary = Vocabulary(certificate.terms)
    for node in certificate.nodes:
        for number in node.location.running:
            frames = node.location.threads[number - 1].frames
            for depth, frame in enumerate(frames):
                what = misfit(program, frame, is_suspended=depth + 1 < len(frames))
                if what:
                    raise Rejected(f"thread {number}, frame {depth}: {what}", node.number)
        for variable in vocabulary.of(node.label):
            _check_variable(program, certificate, node, variable)


def misfit(program: Program, frame: Frame, *, is_suspended: bool) -> str:
    function = program.functions.get(frame.function)
    if function is None:
        return f"the program has no function '{frame.function[:80]}'"
    if frame.location >= len(function.edges):
        return f"{frame.function} has no location {frame.location}"
    if is_suspended:
        edges = function.edges[frame.location]
        if len(edges) != 1 or not isinstance(edges[0].action, Call):
            return f"there is no call at location {frame.location} of {frame.function}"
    for index, value in frame.registers.items():
        if index >= len(function.registers):
            return f"{frame.function} has no register {index}"
        if value >> function.registers[index].type.bits:
            return f"register {index} of {frame.function} cannot have the value {value:#x}"
    for index in frame.slots:
        if index >= len(function.slots):
            return f"{frame.function} has no local {index} in memory"
    return ""


def _check_variable(program: Program, certificate: Certificate, node: Node, variable: int) -> None:
    meaning = certificate.meanings[variable]
    if not isinstance(meaning, RegisterName):
        return
    thread, depth, index = meaning
    name = f"t{thread}.{depth}.{index}"
    if not node.location.is_running(thread):
        raise Rejected(f"the label mentions {name}, but thread {thread} does not run", node.number)
    frames = node.location.threads[thread - 1].frames
    if depth >= len(frames):
        raise Rejected(f"the label mentions {name}, but there is no such frame", node.number)
    registers = program.functions[frames[depth].function].registers
    if index >= len(registers):
        raise Rejected(f"the label mentions {name}, but there is no such register", node.number)
    bits, width = registers[index].type.bits, certificate.terms.width[variable]
    if bits != width:
        raise Rejected(f"the label's {name} has {width} bits, the register {bits}", node.number)
