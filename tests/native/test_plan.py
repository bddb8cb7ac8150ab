"""Plans and line markers, without a compiler."""

from __future__ import annotations

from pathlib import Path

from plait.c import load
from plait.c.options import FrontEndOptions
from plait.model.program import SourceFile
from plait.model.properties import from_names
from plait.native.build import stand_ins
from plait.native.lines import PresumedLines
from plait.native.plan import Plan, inputs_of, make_plan
from plait.semantics.explore import explore
from plait.semantics.run import run
from tests.native.programs import ASSERTIONS, source


def plan_of(text: str, folder: Path) -> Plan:
    path = folder / "prog.c"
    path.write_text(source(text))
    chosen = from_names(["assertions"])
    program = load([str(path)], FrontEndOptions(), chosen)
    found = explore(program, chosen)
    assert found.violation is not None and found.schedule is not None
    execution = run(program, chosen, schedule=found.schedule, trace=True)
    return make_plan(
        program,
        chosen,
        execution,
        found.violation.kind,
        found.violation.thread,
        stands_in_for=stand_ins(),
        spurious_wakeups=True,
    )


def test_calls_and_accesses_in_order(tmp_path: Path) -> None:
    plan = plan_of(ASSERTIONS["mutex"], tmp_path)
    own = [(item.kind, item.name) for item in plan.entries if item.thread == 2]
    section = [("sync", "pthread_mutex_lock"), ("access", "x"), ("sync", "pthread_mutex_unlock")]
    kinds = [("sync", "start"), *section, *section, ("sync", "exit")]
    assert [("sync" if kind == "sync" else "access", name) for kind, name in own] == kinds
    assert plan.entries[-1].name == "failure" and plan.entries[-1].thread == plan.thread == 1


def test_the_parts_of_a_wait(tmp_path: Path) -> None:
    plan = plan_of(ASSERTIONS["condition variable"], tmp_path)
    names = [item.name for item in plan.entries if item.name.startswith("pthread_cond_wait")]
    assert names == ["pthread_cond_wait", "pthread_cond_wait/lock"]


def test_reads_know_how_long_their_value_stays(tmp_path: Path) -> None:
    plan = plan_of(ASSERTIONS["order of operands"], tmp_path)
    for entry in plan.entries:
        if entry.kind == "read" and entry.until >= 0:
            other = plan.entries[entry.until]
            assert (other.kind, other.name) == ("write", entry.name)
            assert other.thread != entry.thread


def test_inputs_have_names_and_bits(tmp_path: Path) -> None:
    plan = plan_of(ASSERTIONS["inputs"], tmp_path)
    assert (2, "__VERIFIER_nondet_uchar()", 99) in plan.inputs
    assert (1, "__VERIFIER_nondet_bool()", 1) in plan.inputs
    assert f"input 2 {99:x} __VERIFIER_nondet_uchar()" in plan.text()


def test_functions_that_are_inputs(tmp_path: Path) -> None:
    path = tmp_path / "prog.c"
    path.write_text("double half(void); int main(void) { return half() > 1; }")
    program = load([str(path)], FrontEndOptions(), from_names([]))
    assert inputs_of(program)["half"].bits == 64


def test_line_markers() -> None:
    lines = ["int a;", '# 10 "x.h" 1 3', "int b;", "int c;", "#line 5", "int d;"]
    presumed = PresumedLines([SourceFile("p.i", lines)])
    assert presumed(0, 1) == ("p.i", 1)
    assert presumed(0, 3) == ("x.h", 10)
    assert presumed(0, 4) == ("x.h", 11)
    assert presumed(0, 6) == ("x.h", 5)
    assert presumed(0, 60) == ("p.i", 60)
