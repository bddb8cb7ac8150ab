from __future__ import annotations

from tests.analysis.builder import FunctionBuilder, address, at, binary, program, static

from plait.analysis.objects import ObjectKind
from plait.analysis.points_to import PointsTo
from plait.model.actions import NOWHERE, Order, ReadModifyWrite
from plait.model.expressions import (
    Binary,
    BinaryOp,
    Conditional,
    Const,
    Convert,
    PointerAdd,
    Register,
    Unary,
    UnaryOp,
)
from plait.model.program import StaticObject
from plait.model.types import I32, I64, POINTER_64, U32, U64


def names(points_to: PointsTo, function: str, expr) -> set[str]:
    return {repr(item) for item in points_to.targets(function, expr)}


def test_assignments_loads_and_stores() -> None:
    x, y, p = static("x"), static("y"), static("p")
    main = FunctionBuilder("main")
    a, b = main.pointer("a"), main.pointer("b")
    main.assign(a, address(x))
    main.store(address(p), a)
    main.load(b, address(p))
    main.ret()
    points_to = PointsTo(program(main, objects=[x, y, p]))
    assert names(points_to, "main", b) == {"x"}
    assert {offset for _, offset in points_to.locations("main", b)} == {0}


def test_fields_are_kept_apart() -> None:
    x, y, pair = static("x"), static("y"), static("pair", 16)
    main = FunctionBuilder("main")
    base, first, second = main.pointer("base"), main.pointer(), main.pointer()
    main.assign(base, address(pair))
    main.store(base, address(x))
    main.store(at(base, 8), address(y))
    main.load(first, address(pair))
    main.load(second, address(pair, 8))
    main.ret()
    points_to = PointsTo(program(main, objects=[x, y, pair]))
    assert names(points_to, "main", first) == {"x"}
    assert names(points_to, "main", second) == {"y"}


def test_an_unknown_offset_reads_and_writes_all_fields() -> None:
    x, y, z, table = static("x"), static("y"), static("z"), static("table", 32)
    main = FunctionBuilder("main", [I64])
    index = main.parameters[0]
    one, first = main.pointer(), main.pointer()
    main.store(address(table, 8), address(x))
    main.store(at(address(table), index), address(y))
    main.load(one, at(address(table), index))
    main.load(first, address(table, 16))
    main.ret()
    points_to = PointsTo(program(main, objects=[x, y, z, table]))
    assert names(points_to, "main", one) == {"x", "y"}
    assert names(points_to, "main", first) == {"y"}


def element(table: StaticObject, index: Register, size: int, member: int) -> PointerAdd:
    scaled = Binary(I64, BinaryOp.MUL, Convert(I64, index), Const(I64, size))
    return at(at(address(table), scaled), member)


def test_members_of_any_element_are_kept_apart() -> None:
    x, y, z, table = static("x"), static("y"), static("z"), static("table", 96)
    main = FunctionBuilder("main", [I32])
    index = main.parameters[0]
    base, first, second, third = (main.pointer(name) for name in "base first second third".split())
    one, other = main.pointer("one"), main.pointer("other")
    main.store(element(table, index, 24, 0), address(x))
    main.store(address(table, 24 + 8), address(y))
    main.store(address(table, 48 + 8), address(z))
    main.assign(base, element(table, index, 24, 0))
    main.load(first, base)
    main.load(second, at(base, 8))
    main.load(third, at(base, 16))
    main.load(one, address(table, 48))
    main.load(other, address(table, 24 + 8))
    main.ret()
    points_to = PointsTo(program(main, objects=[x, y, z, table]))
    assert names(points_to, "main", first) == {"x"}
    assert names(points_to, "main", second) == {"y", "z"}
    assert names(points_to, "main", third) == set()
    assert names(points_to, "main", one) == {"x"}
    assert names(points_to, "main", other) == {"y"}


def test_steps_of_two_sizes_meet_where_they_have_offsets_in_common() -> None:
    x, y, table = static("x"), static("y"), static("table", 96)
    main = FunctionBuilder("main", [I32])
    index = main.parameters[0]
    apart, met = main.pointer("apart"), main.pointer("met")
    main.store(element(table, index, 16, 8), address(x))
    main.store(element(table, index, 16, 0), address(y))
    main.load(apart, element(table, index, 32, 16))
    main.load(met, element(table, index, 24, 0))
    main.ret()
    points_to = PointsTo(program(main, objects=[x, y, table]))
    assert names(points_to, "main", apart) == {"y"}
    assert names(points_to, "main", met) == {"x", "y"}


def test_accesses_in_steps_that_overlap_are_anywhere() -> None:
    x, y, table = static("x"), static("y"), static("table", 96)
    main = FunctionBuilder("main", [I32])
    index = main.parameters[0]
    before, after, part = main.pointer("before"), main.pointer("after"), main.pointer("part")
    half = main.register("half", U32)
    main.load(before, element(table, index, 24, 0))
    main.store(element(table, index, 24, 0), address(x))
    main.load(half, address(table, 4))
    main.store(element(table, index, 24, 8), address(y))
    main.load(part, element(table, index, 24, 12))
    main.load(after, element(table, index, 24, 8))
    main.ret()
    points_to = PointsTo(program(main, objects=[x, y, table]))
    assert names(points_to, "main", half) >= {"x"}
    assert names(points_to, "main", before) >= {"x"}
    assert names(points_to, "main", part) >= {"y"}
    assert names(points_to, "main", after) >= {"y"}


def test_steps_and_cells_meet_whichever_is_first() -> None:
    """Functions are looked at in the order in which they are called, loads before stores; what is
    found through a pointer in memory comes last."""
    x, table, other, link = static("x"), static("table", 96), static("other", 96), static("link")
    later = FunctionBuilder("later", [I32])
    half, known = later.register("half", U32), later.pointer("known")
    found = later.pointer("found")
    later.store(address(link), address(table))
    later.load(found, address(link))
    later.load(half, at(found, 4))
    later.load(known, element(other, later.parameters[0], 24, 8))
    later.ret()
    main = FunctionBuilder("main", [I32])
    one = main.pointer("one")
    main.load(one, address(other, 24))
    main.store(element(table, main.parameters[0], 24, 0), address(x))
    main.store(element(other, main.parameters[0], 24, 0), address(x))
    main.store(address(other, 8), address(x))
    main.call(None, "later", main.parameters[0])
    main.ret()
    points_to = PointsTo(program(main, later, objects=[x, table, other, link]))
    assert names(points_to, "main", one) == {"x"}
    assert names(points_to, "later", half) == {"x"}
    assert names(points_to, "later", known) == {"x"}


def test_accesses_that_overlap_merge_the_object() -> None:
    x, pair = static("x"), static("pair", 16)
    main = FunctionBuilder("main")
    part = main.pointer("part")
    main.store(address(pair), address(x, 4))
    main.load(part, address(pair, 4))
    main.ret()
    points_to = PointsTo(program(main, objects=[x, pair]))
    assert names(points_to, "main", part) == {"x"}


def test_container_of_finds_the_start() -> None:
    node = static("node", 24)
    main = FunctionBuilder("main")
    link, owner = main.pointer(), main.pointer()
    main.assign(link, address(node, 16))
    main.assign(owner, at(link, -16))
    main.ret()
    points_to = PointsTo(program(main, objects=[node]))
    assert {(repr(o), k) for o, k in points_to.locations("main", owner)} == {("node", 0)}


def test_integers_carry_pointers() -> None:
    x = static("x")
    main = FunctionBuilder("main")
    number, back, tagged = main.register("n", U64), main.pointer(), main.register("t", U64)
    main.assign(number, Binary(U64, BinaryOp.ADD, Convert(U64, address(x)), Const(U64, 4)))
    main.assign(back, Convert(POINTER_64, number))
    main.assign(tagged, Binary(U64, BinaryOp.OR, number, Const(U64, 1)))
    main.ret()
    points_to = PointsTo(program(main, objects=[x]))
    assert {k for _, k in points_to.locations("main", back)} == {4}
    assert {k for _, k in points_to.locations("main", tagged)} == {None}
    assert not points_to.targets("main", binary("==", number, Const(U64, 0)))
    assert not points_to.targets("main", Const(POINTER_64, 4096))


def test_a_pointer_that_walks_is_bounded() -> None:
    x = static("x", 100_000)
    main = FunctionBuilder("main")
    p = main.pointer("p")
    main.assign(p, address(x))
    head = main.here
    main.assign(p, at(p, 4), to=head)
    points_to = PointsTo(program(main, objects=[x]))
    assert names(points_to, "main", p) == {"x"}
    assert None in {k for _, k in points_to.locations("main", p)}


def test_function_pointers_extend_the_call_graph() -> None:
    x = static("x")
    table = static("table", 16, [(0, "f", 0), (8, "g", 0)])
    f = FunctionBuilder("f", [POINTER_64])
    f.ret(f.parameters[0])
    g = FunctionBuilder("g", [POINTER_64])
    g.ret(address(x))
    unused = FunctionBuilder("unused")
    unused.ret()
    main = FunctionBuilder("main")
    to, result = main.pointer(), main.pointer()
    main.load(to, address(table, 8))
    call = main.call(result, to, Const(POINTER_64, 0))
    main.ret()
    points_to = PointsTo(program(main, f, g, unused, objects=[x, table]))
    assert points_to.callees("main", call) == {"g"}
    assert points_to.reachable_functions == ["main", "g"]
    assert names(points_to, "main", result) == {"x"}


def test_spawn_passes_its_argument() -> None:
    x = static("x")
    worker = FunctionBuilder("worker", [POINTER_64])
    worker.ret()
    main = FunctionBuilder("main")
    main.spawn("worker", address(x))
    main.ret()
    points_to = PointsTo(program(main, worker, objects=[x]))
    assert names(points_to, "worker", worker.parameters[0]) == {"x"}


def test_library_calls_have_their_own_objects() -> None:
    malloc = FunctionBuilder("malloc", library=True)
    made = malloc.pointer()
    malloc.allocate(made)
    malloc.ret(made)
    main = FunctionBuilder("main")
    a, b = main.pointer("a"), main.pointer("b")
    first = main.call(a, "malloc")
    main.call(b, "malloc")
    main.ret()
    points_to = PointsTo(program(main, malloc))
    (one,) = points_to.targets("main", a)
    (two,) = points_to.targets("main", b)
    assert one is not two and one.kind is ObjectKind.HEAP and one.context is first


def test_dead_branches_do_not_count() -> None:
    x, y = static("x"), static("y")
    main = FunctionBuilder("main")
    p = main.pointer("p")
    then, otherwise = main.location(), main.location()
    main.branch(Const(I64, 0), then, otherwise)
    main.here = then
    main.assign(p, address(x))
    main.ret()
    main.here = otherwise
    main.assign(p, address(y))
    main.ret()
    assert names(PointsTo(program(main, objects=[x, y])), "main", p) == {"y"}


def test_each_part_of_an_expression_counts() -> None:
    x, y = static("x"), static("y")
    main = FunctionBuilder("main")
    number = main.register("n", U64)
    main.assign(number, 3)
    main.ret()
    points_to = PointsTo(program(main, objects=[x, y]))
    one, other = Convert(U64, address(x)), Convert(U64, address(y))
    chosen = Conditional(POINTER_64, binary("<", number, number), address(x), address(y))
    assert names(points_to, "main", chosen) == {"x", "y"}
    for op in (BinaryOp.ADD, BinaryOp.SUB, BinaryOp.XOR, BinaryOp.AND, BinaryOp.SHL):
        assert names(points_to, "main", Binary(U64, op, one, other)) == {"x", "y"}
        assert names(points_to, "main", Binary(U64, op, number, other)) == {"y"}
    assert names(points_to, "main", Unary(U64, UnaryOp.NEG, one)) == {"x"}
    assert names(points_to, "main", at(Const(POINTER_64, 0), other)) == {"y"}


def test_what_an_exchange_writes_can_be_loaded() -> None:
    x, y, p = static("x"), static("y"), static("p")
    main = FunctionBuilder("main")
    old, found = main.pointer("old"), main.pointer("found")
    main.store(address(p), address(x))
    exchange = ReadModifyWrite(NOWHERE, old, address(p), address(y), None, Order.SEQ_CST)
    main.add(exchange)
    main.load(found, address(p))
    main.ret()
    points_to = PointsTo(program(main, objects=[x, y, p]))
    assert names(points_to, "main", old) == {"x", "y"}
    assert names(points_to, "main", found) == {"x", "y"}


def test_objects_that_are_not_told_apart() -> None:
    """One pointer may point to both places: with so few that are kept apart, contents are mixed."""
    x, y, one, two = (static(name) for name in ("x", "y", "one", "two"))
    main = FunctionBuilder("main")
    where, found, direct = main.pointer("where"), main.pointer("found"), main.pointer("direct")
    main.store(address(one), address(x))
    main.assign(where, address(one))
    main.assign(where, address(two))
    main.store(where, address(y))
    main.load(found, where)
    main.load(direct, address(one))
    both, last = main.pointer("both"), main.pointer("last")
    main.assign(both, where)  # they are mixed when it gets to know them
    main.load(last, both)
    main.ret()
    made = program(main, objects=[x, y, one, two])
    for places in (1, 100):
        points_to = PointsTo(made, places_apart=places)
        assert names(points_to, "main", found) == {"x", "y"}
        assert names(points_to, "main", direct) == {"x", "y"}
        assert names(points_to, "main", last) == {"x", "y"}
