from __future__ import annotations

from tests.analysis.builder import FunctionBuilder, address, less, program, static

from plait.analysis.points_to import PointsTo
from plait.analysis.sharing import Sharing
from plait.model.actions import NOWHERE, Free
from plait.model.expressions import Const
from plait.model.program import Program
from plait.model.types import POINTER_64


def analyse(made: Program) -> Sharing:
    return Sharing(PointsTo(made))


def shared(sharing: Sharing) -> set[str]:
    return {repr(item) for item in sharing.points_to.objects if sharing.is_shared(item)}


def test_what_two_threads_write_is_shared() -> None:
    x, mine, ready = static("x"), static("mine"), static("ready")
    worker = FunctionBuilder("worker", [POINTER_64])
    write = worker.store(address(x), 1)
    private = worker.store(address(mine), 1)
    read = worker.load(worker.register(), address(ready))
    worker.ret()
    main = FunctionBuilder("main")
    before = main.store(address(x), 0)
    main.store(address(ready), 1)
    main.spawn("worker")
    after = main.load(main.register(), address(x))
    main.ret()
    sharing = analyse(program(main, worker, objects=[x, mine, ready]))
    assert shared(sharing) == {"x"}
    assert sharing.is_visible(write) and sharing.is_visible(after)
    assert not sharing.is_visible(before)
    assert not sharing.is_visible(private)
    assert not sharing.is_visible(read)


def test_a_spawn_in_a_loop_makes_several_threads() -> None:
    x = static("x")
    worker = FunctionBuilder("worker", [POINTER_64])
    worker.store(address(x), 1)
    worker.ret()
    main = FunctionBuilder("main")
    i = main.register("i")
    main.assign(i, 0)
    head, body, end = main.here, main.location(), main.location()
    main.branch(less(i, 3), body, end)
    main.here = body
    main.spawn("worker")
    main.skip(head)
    main.here = end
    main.ret()
    sharing = analyse(program(main, worker, objects=[x]))
    assert [item.is_multiple for item in sharing.threads] == [False, True]
    assert shared(sharing) == {"x"}


def test_a_spawner_called_twice_makes_several_threads() -> None:
    x = static("x")
    worker = FunctionBuilder("worker", [POINTER_64])
    worker.store(address(x), 1)
    worker.ret()
    start = FunctionBuilder("start")
    start.spawn("worker")
    start.ret()
    main = FunctionBuilder("main")
    main.call(None, "start")
    main.call(None, "start")
    main.ret()
    sharing = analyse(program(main, start, worker, objects=[x]))
    assert sharing.threads[1].is_multiple
    assert shared(sharing) == {"x"}


def test_library_spawns_are_told_apart_by_their_callers() -> None:
    x, y = static("x"), static("y")
    create = FunctionBuilder("create", [POINTER_64], library=True)
    create.spawn(create.parameters[0])
    create.ret()
    workers = []
    for name, item in (("one", x), ("two", y)):
        worker = FunctionBuilder(name, [POINTER_64])
        worker.store(address(item), 1)
        worker.ret()
        workers.append(worker)
    main = FunctionBuilder("main")
    main.call(None, "create", address("one"))
    main.call(None, "create", address("two"))
    main.ret()
    sharing = analyse(program(main, create, *workers, objects=[x, y]))
    assert [item.function for item in sharing.threads] == ["main", "one", "two"]
    assert not any(item.is_multiple for item in sharing.threads)
    assert shared(sharing) == set()


def test_locals_of_many_threads_are_local_unless_they_escape() -> None:
    place = static("place")
    worker = FunctionBuilder("worker", [POINTER_64])
    kept, given = worker.slot("kept"), worker.slot("given")
    p = worker.pointer()
    worker.enter(kept, given)
    worker.assign(p, address(kept))
    hidden = worker.store(p, 1)
    worker.store(address(place), address(given))
    seen = worker.store(address(given), 1)
    q = worker.pointer()
    worker.load(q, address(place))
    other = worker.store(q, 2)
    end = worker.ret()
    main = FunctionBuilder("main")
    main.spawn("worker")
    main.spawn("worker")
    main.ret()
    sharing = analyse(program(main, worker, objects=[place]))
    assert shared(sharing) == {"place", "worker.given"}
    assert not sharing.is_visible(hidden)
    assert sharing.is_visible(seen) and sharing.is_visible(other)
    # The frame of `given` dies here: others can notice.
    assert sharing.is_visible(end)


def test_thread_local_objects_and_unshared_heap_are_local() -> None:
    own = static("own", thread_local=True)
    worker = FunctionBuilder("worker", [POINTER_64])
    p = worker.pointer()
    worker.allocate(p)
    worker.store(address(own), p)
    heap = worker.store(p, 1)
    worker.add(Free(NOWHERE, p))
    worker.ret()
    main = FunctionBuilder("main")
    main.spawn("worker")
    main.spawn("worker")
    main.ret()
    sharing = analyse(program(main, worker, objects=[own]))
    assert shared(sharing) == set()
    assert not sharing.is_visible(heap)


def test_spawn_arguments_escape() -> None:
    worker = FunctionBuilder("worker", [POINTER_64])
    there = worker.store(worker.parameters[0], 1)
    worker.ret()
    main = FunctionBuilder("main")
    p = main.pointer()
    main.allocate(p)
    main.spawn("worker", p)
    here = main.load(main.register(), p)
    main.ret()
    sharing = analyse(program(main, worker))
    assert sharing.is_visible(there) and sharing.is_visible(here)


def test_an_address_of_unknown_origin_is_visible() -> None:
    worker = FunctionBuilder("worker", [POINTER_64])
    wild = worker.store(Const(POINTER_64, 0x1000), 1)
    worker.ret()
    main = FunctionBuilder("main")
    main.spawn("worker")
    main.ret()
    assert analyse(program(main, worker)).is_visible(wild)


def test_without_threads_no_access_is_visible() -> None:
    x = static("x")
    main = FunctionBuilder("main")
    main.store(address(x), 1)
    main.ret()
    assert analyse(program(main, objects=[x])).visible == frozenset()


def test_a_caller_goes_on_after_a_callee_has_spawned() -> None:
    x = static("x")
    worker = FunctionBuilder("worker", [POINTER_64])
    worker.load(worker.register(), address(x))
    worker.ret()
    start = FunctionBuilder("start")
    early = start.store(address(x), 1)
    start.spawn("worker")
    start.ret()
    main = FunctionBuilder("main")
    main.call(None, "start")
    late = main.store(address(x), 2)
    main.ret()
    sharing = analyse(program(main, start, worker, objects=[x]))
    assert sharing.is_visible(late) and not sharing.is_visible(early)


def test_what_seems_unreachable_is_visible() -> None:
    """In case it is reached after all, through a pointer that was not followed."""
    x = static("x")
    never = FunctionBuilder("never")
    store = never.store(address(x), 1)
    never.ret()
    main = FunctionBuilder("main")
    own = main.store(address(x), 0)
    main.ret()
    sharing = analyse(program(main, never, objects=[x]))
    assert sharing.is_visible(store)
    assert not sharing.is_visible(own)
