from __future__ import annotations

from tests.analysis.builder import FunctionBuilder, address, at, program, static

from plait.analysis.blocks import Blocks
from plait.analysis.dependence import ANYTHING, NOTHING, Dependence, Footprint
from plait.analysis.objects import members
from plait.analysis.points_to import PointsTo
from plait.analysis.sharing import Sharing
from plait.model.expressions import Const
from plait.model.types import I64, POINTER_64


def test_conflicts_are_about_overlapping_places_with_a_write() -> None:
    x, a = static("x"), static("a", 16)
    worker = FunctionBuilder("worker", [POINTER_64])
    write_x = worker.store(address(x), 1)
    write_a0 = worker.store(address(a), 1)
    index = worker.register("i", I64)
    worker.assign(index, 8)
    write_ai = worker.store(at(address(a), index), 1)
    wild = worker.store(Const(POINTER_64, 77), 1)
    worker.ret()
    main = FunctionBuilder("main")
    spawn = main.spawn("worker")
    read_x = main.load(main.register(), address(x))
    read_a4 = main.load(main.register(), address(a, 4))
    main.ret()
    made = program(main, worker, objects=[x, a])
    dependence = Dependence(Sharing(PointsTo(made)))
    assert dependence.may_conflict(write_x, read_x)
    assert not dependence.may_conflict(read_x, read_x)
    assert not dependence.may_conflict(write_a0, read_a4)
    assert dependence.may_conflict(write_ai, read_a4)
    assert dependence.may_conflict(wild, read_a4)
    assert dependence.may_conflict(spawn, spawn)
    assert not dependence.may_conflict(spawn, write_x)
    access = dependence.symbolic_access(write_ai)
    assert access is not None and access.is_write and not access.is_atomic
    assert [offset for _, offset in access.places] == [None]


def test_footprints_conflict_in_both_directions() -> None:
    reading, writing = Footprint(reads=0b01), Footprint(writes=0b11)
    starting, ending = Footprint(spawns=True), Footprint(ends_process=True)
    conflicting = {(0, 1), (1, 1), (2, 2), (0, 3), (1, 3), (2, 3), (3, 3), (4, 3)}
    footprints = [reading, writing, starting, ending, NOTHING]
    for first, one in enumerate(footprints):
        for second, other in enumerate(footprints):
            expected = (first, second) in conflicting or (second, first) in conflicting
            assert one.conflicts(other) is expected
    assert not Footprint(reads=0b10).conflicts(Footprint(writes=0b01))


def test_effects_of_functions_threads_and_the_future() -> None:
    x, y = static("x"), static("y")
    inner = FunctionBuilder("inner")
    inner.store(address(y), 1)
    inner.ret()
    worker = FunctionBuilder("worker", [POINTER_64])
    worker.load(worker.register(), address(x))
    later = worker.here
    worker.call(None, "inner")
    end = worker.here
    worker.ret()
    main = FunctionBuilder("main")
    main.store(address(x), 1)
    main.spawn("worker")
    main.ret()
    points_to = PointsTo(program(main, inner, worker, objects=[x, y]))
    sharing = Sharing(points_to)
    dependence = Dependence(sharing)

    def names(mask: int) -> list[str]:
        return [repr(points_to.objects[item]) for item in members(mask)]

    effect = dependence.of_function("worker")
    assert names(effect.reads) == ["x"] and names(effect.writes) == ["y"]
    assert names(dependence.of_thread(sharing.threads[0]).writes) == []
    (instance,) = points_to.instances_of["worker"]
    assert names(dependence.future(instance, later).writes) == ["y"]
    assert dependence.future(instance, later).reads == 0
    assert dependence.future(instance, end).writes == 0


def test_sections() -> None:
    x, y, z = static("x"), static("y"), static("z")
    main = FunctionBuilder("main")
    begin = main.atomic_begin()
    main.store(address(x), 1)
    main.atomic_begin()
    main.atomic_end()
    main.store(address(z), 2)
    main.atomic_end()
    main.store(address(y), 1)
    unclosed = main.atomic_begin()
    main.ret()
    points_to = PointsTo(program(main, objects=[x, y, z]))
    dependence = Dependence(Sharing(points_to))
    (instance,) = points_to.instances_of["main"]
    written = dependence.section(instance, begin).writes
    assert [repr(points_to.objects[item]) for item in members(written)] == ["x", "z"]
    assert dependence.section(instance, unclosed) is ANYTHING


def test_blocks_end_at_visible_edges_and_loop_heads() -> None:
    x = static("x")
    quiet = FunctionBuilder("quiet")
    quiet.skip()
    quiet.ret()
    worker = FunctionBuilder("worker", [POINTER_64])
    a = worker.register("a")
    first = worker.assign(a, 1)
    second = worker.call(None, "quiet")
    store = worker.store(address(x), a)
    behind = worker.here
    third = worker.assign(a, 2)
    head = worker.here
    stay, leave = worker.location(), worker.location()
    guards = worker.branch(a, stay, leave)
    worker.here = stay
    back = worker.skip(head)
    worker.here = leave
    end = worker.ret()
    main = FunctionBuilder("main")
    main.spawn("worker")
    main.load(main.register(), address(x))
    main.ret()
    made = program(main, worker, quiet, objects=[x])
    blocks = Blocks(Sharing(PointsTo(made))).of(worker.function)
    assert set(blocks) == {0, behind, head}
    assert blocks[0].edges == (first, second) and blocks[0].exits == (store,)
    assert blocks[behind].edges == (third,) and blocks[behind].heads == (head,)
    assert set(blocks[head].edges) == {*guards, back, end} and blocks[head].heads == (head,)
