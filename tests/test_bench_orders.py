"""The benchmark of the ways to deal with orders: tasks, measurements and what it makes of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench_orders import CONFIGURATIONS, ROOT, Report, Result, Task, main, measure, tasks_in
from plait.model.properties import Property
from plait.model.types import DataModel
from plait.work.limits import Limits


def test_a_task_definition_is_read(tmp_path: Path) -> None:
    (tmp_path / "p.prp").write_text("CHECK( init(main()), LTL(G ! call(reach_error())) )")
    (tmp_path / "t.yml").write_text(
        "format_version: '2.0'\ninput_files: 't.i'\nproperties:\n  - property_file: p.prp\n"
        "    expected_verdict: false\noptions:\n  language: C\n  data_model: ILP32\n"
    )
    (task,) = tasks_in([tmp_path])
    assert task.source == tmp_path / "t.i"
    assert (task.expected, task.data_model) == ("false", DataModel.ILP32)
    assert Property.UNREACH_CALL in task.specification


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_a_task_is_measured(name: str) -> None:
    task = Task("race", ROOT / "examples" / "counter_race.c")
    result = measure(task, CONFIGURATIONS[name], Limits(20.0, 1 << 31))
    assert result.answer == "false"
    assert 0 < result.cpu < 20
    assert result.sizes


def test_a_task_that_takes_too_long_counts_with_the_limit() -> None:
    task = Task("queue", ROOT / "examples" / "bounded_queue.c")
    result = measure(task, CONFIGURATIONS["cores"], Limits(0.1, 1 << 31))
    assert (result.answer, result.cpu) == ("unknown", 0.1)


def test_ratios(capsys: pytest.CaptureFixture[str]) -> None:
    report = Report(["graph", "cores", "monolithic"], 5.0)
    report.add(
        Task("a", Path("a.c")),
        {
            "graph": Result("true", 1.0, 10, 40, 80, {1: 100, 2: 200}),
            "cores": Result("true", 20.0, 90, 90, 900, {1: 100, 2: 200}),
            "monolithic": Result("unknown", 5.0, sizes={1: 1000}),
        },
    )
    report.show()
    shown = capsys.readouterr().out
    assert "median 0.100 (1/10.0)" in shown
    assert "time of cores / of graph: total 20.00" in shown
    assert not report.wrong
    report.add(Task("b", Path("b.c")), {"graph": Result("true"), "cores": Result("false")})
    assert report.wrong


def test_wrong_answers_make_it_fail(tmp_path: Path) -> None:
    (tmp_path / "p.prp").write_text("CHECK( init(main()), LTL(G ! call(reach_error())) )")
    (tmp_path / "t.c").write_text("int main(void) { return 0; }")
    (tmp_path / "t.yml").write_text(
        "input_files: 't.c'\nproperties:\n  - property_file: p.prp\n    expected_verdict: false\n"
    )
    assert main([str(tmp_path), "--configurations", "graph", "--seconds", "20"]) == 1
