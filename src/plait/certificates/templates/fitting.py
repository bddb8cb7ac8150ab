"""Whether the templates of a certificate are such that the program could have: what executing from
their places relies on."""

from __future__ import annotations

from collections.abc import Iterator

from plait.certificates.document import Cell, RegisterName, Status
from plait.certificates.fitting import misfit
from plait.certificates.templates.blocks import check_blocks, shared_blocks
from plait.certificates.templates.document import (
    AddressName,
    Ghost,
    GhostKind,
    Place,
    Template,
    TemplateCertificate,
)
from plait.certificates.verdicts import Rejected
from plait.certificates.world import World
from plait.logic.substitute import Vocabulary


def check_fit(world: World, certificate: TemplateCertificate) -> None:
    templates = certificate.templates
    numbers = [item.number for item in templates]
    if numbers[0] != 1 or templates[0].is_multiple:
        raise Rejected("the first template is not that of the initial thread")
    is_number = range(1, world.space.most_threads + 1)
    if len(set(numbers)) != len(numbers) or any(item not in is_number for item in numbers):
        raise Rejected("templates have the numbers of different threads")
    check_blocks(world, certificate)
    for counter in certificate.counters:
        if not 0 < counter.template < len(templates):
            raise Rejected("a counter of a template that is never started")
    vocabulary = Vocabulary(certificate.terms)
    for template in templates:
        for number, place in enumerate(template.places):
            what = _misfit(world, certificate, template, place)
            if not what and place.is_alone and template is not templates[0]:
                what = "who was started is not alone"
            for variable in vocabulary.of(place.label):
                what = what or _bad_variable(world, certificate, template, place, variable)
            for cell in place.cells:
                what = what or _bad_cell(world, certificate, template, place, cell)
            if what:
                raise Rejected(f"place {number} of {template.name[:80]}: {what}")


def _misfit(
    world: World, certificate: TemplateCertificate, template: Template, place: Place
) -> str:
    thread, space = place.thread, world.space
    if thread.status is not Status.RUNNING or thread.lock is not None:
        return "a place is that of a thread that runs"
    for depth, frame in enumerate(thread.frames):
        what = misfit(world.program, frame, is_suspended=depth + 1 < len(thread.frames))
        if what:
            return f"frame {depth}: {what}"
    _, last = space.arena(template.number)
    if not space.heap_start(template.number) <= thread.heap_page <= thread.stack_page <= last:
        return "its stack and its heap are somewhere else"
    # The page in front of an object belongs to it: objects are where the machine could have them.
    if any((page - space.heap_start(1)) % 2 for page in (thread.heap_page, *place.heap)):
        return "no object begins there"
    taken: list[tuple[int, int]] = []
    for page, (size, _) in place.heap.items():
        end = page + world.pages_taken(size)
        if page not in certificate.blocks:
            if not space.heap_start(template.number) <= page < end <= thread.stack_page:
                return f"the object at page {page} is not where its objects are"
        taken.append((page, end))
    if any(one[1] > other[0] for one, other in _neighbours(sorted(taken))):
        return "two objects overlap"
    return ""


def _neighbours(rows: list[tuple[int, int]]) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    return zip(rows, rows[1:], strict=False)


def _bad_variable(
    world: World,
    certificate: TemplateCertificate,
    template: Template,
    place: Place,
    variable: int,
) -> str:
    meaning = certificate.meanings[variable]
    if isinstance(meaning, Ghost):
        if meaning.template >= len(certificate.templates):
            return "its label mentions a template that there is not"
        counted = {item.ghost for item in certificate.counters}
        if meaning.kind is GhostKind.LEFT and meaning not in counted:
            return "its label mentions a counter that there is not"
        return ""
    if isinstance(meaning, AddressName):
        return ""
    if isinstance(meaning, Cell):
        return _bad_cell(world, certificate, template, place, meaning)
    return _bad_register(world, certificate, template, place, variable, meaning)


def _bad_register(
    world: World,
    certificate: TemplateCertificate,
    template: Template,
    place: Place,
    variable: int,
    name: RegisterName,
) -> str:
    frames = place.thread.frames
    if name.thread != template.number or name.frame >= len(frames):
        return "its label mentions a frame of nobody"
    registers = world.program.functions[frames[name.frame].function].registers
    if name.register >= len(registers):
        return "its label mentions a register that there is not"
    if registers[name.register].type.bits != certificate.terms.width[variable]:
        return "its label mentions a register of another width"
    return ""


def _bad_cell(
    world: World,
    certificate: TemplateCertificate,
    template: Template,
    place: Place,
    cell: Cell,
) -> str:
    """A cell is one of a static object, of an object of the place, or of the part of the thread's
    address space that has no objects from malloc."""
    bits = world.page_bits
    first, last = world.space.arena(template.number)
    start, end = cell.address, cell.address + cell.size
    if end <= world.space.arena(1)[0] << bits:
        return ""
    for page, (size, _) in {**place.heap, **shared_blocks(certificate)}.items():
        if page << bits <= start and end <= (page << bits) + size:
            return ""
    heap = world.space.heap_start(template.number) << bits
    if first << bits <= start and (end <= heap or place.thread.stack_page << bits <= start):
        if end <= last << bits:
            return ""
    return f"it mentions the cell {cell.address}.{cell.size}, which is nobody's"
