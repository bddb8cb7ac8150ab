"""Tasks are found wherever they are; what is none is left out or reported."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from plait.bench.suite import Task, find_tasks
from plait.errors import InputError

UNREACH = "CHECK( init(main()), LTL(G ! call(reach_error())) )"
RACE = "CHECK( init(main()), LTL(G ! data-race) )"


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    root = tmp_path / "suite"
    (root / "properties").mkdir(parents=True)
    (root / "properties" / "unreach-call.prp").write_text(UNREACH)
    (root / "properties" / "no-data-race.prp").write_text(RACE)
    (root / "properties" / "termination.prp").write_text("CHECK( init(main()), LTL(F end) )")
    define(root / "pthread" / "a.yml", "unreach-call", "true")
    define(root / "pthread" / "b.yml", "unreach-call", "false")
    define(root / "races" / "a.yml", "no-data-race", "false", "    subproperty: x\n")
    return root


def define(path: Path, about: str, expected: str, more: str = "", extra: str = "") -> None:
    path.parent.mkdir(exist_ok=True)
    path.with_suffix(".c").write_text("int main(void) { return 0; }\n")
    path.write_text(
        f"format_version: '2.0'\ninput_files: '{path.stem}.c'\nproperties:\n"
        f"  - property_file: ../properties/{about}.prp\n    expected_verdict: {expected}\n"
        f"{more}{extra}options:\n  data_model: ILP32\n"
    )


def test_a_folder(suite: Path) -> None:
    found = find_tasks([str(suite)])
    assert found.flaws == []
    assert [(task.name, task.property_name, task.expected) for task in found.tasks] == [
        ("pthread/a.yml", "unreach-call", True),
        ("pthread/b.yml", "unreach-call", False),
        ("races/a.yml", "no-data-race", False),
    ]
    first = found.tasks[0]
    assert first.folder == "pthread"
    assert first.data_model == "ILP32"
    assert Path(first.files[0]).read_text().startswith("int main")
    assert found.tasks[2].subproperty == "x"


def test_names_do_not_depend_on_what_was_given(
    suite: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = {task.name for task in find_tasks([str(suite)]).tasks if task.folder == "pthread"}
    assert {task.name for task in find_tasks([str(suite / "pthread")]).tasks} == whole
    files = [str(suite / "pthread" / name) for name in ("b.yml", "a.yml", "b.yml")]
    assert [task.name for task in find_tasks(files).tasks] == sorted(whole)
    monkeypatch.chdir(suite / "pthread")
    assert {task.name for task in find_tasks(["."]).tasks} == whole
    assert {task.name for task in find_tasks(["a.yml", "b.yml"]).tasks} == whole


def test_two_suites_with_equal_names(suite: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    (other / "properties").mkdir(parents=True)
    (other / "properties" / "unreach-call.prp").write_text(UNREACH)
    define(other / "pthread" / "a.yml", "unreach-call", "true")
    names = [task.name for task in find_tasks([str(suite), str(other)]).tasks]
    assert len(names) == len(set(names)) == 4


def test_several_properties(suite: Path) -> None:
    extra = "".join(
        f"  - property_file: ../properties/{name}.prp\n    expected_verdict: true\n"
        for name in ("no-data-race", "termination")
    )
    path = suite / "pthread" / "c.yml"
    define(path, "unreach-call", "false", extra=extra)
    found = find_tasks([str(path)])
    assert [(task.property_name, task.expected) for task in found.tasks] == [
        ("no-data-race", True),
        ("unreach-call", False),
    ]
    (chosen,) = find_tasks([str(path)], ["no-data-race"]).tasks
    assert chosen.property_name == "no-data-race"


def test_what_is_no_task_is_left_out(suite: Path) -> None:
    (suite / "set.yml").write_text("- pthread/*.yml\n")
    (suite / "empty.yml").write_text("")
    (suite / "other.yml").write_text("tool: gcc\n")
    (suite / ".hidden").mkdir()
    (suite / ".hidden" / "x.yml").write_text("{{{")
    define(suite / "pthread" / "unknown.yml", "unreach-call", "")
    define(suite / "pthread" / "ends.yml", "termination", "true")
    found = find_tasks([str(suite)])
    assert len(found.tasks) == 3
    assert [Path(task.path).name for task in found.unjudged] == ["unknown.yml"]
    assert [(item.path, item.is_named) for item in found.left_out] == [
        (str(suite / "pthread" / "ends.yml"), False)
    ]
    assert found.flaws == []
    (named,) = find_tasks([str(suite / "pthread" / "unknown.yml")]).tasks
    assert named.expected is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("input_files: {{{", "broken.yml:1: no task"),
        ("input_files: 5\nproperties: [{property_file: p.prp}]", "names of files"),
        ("input_files: a.c\nproperties: [5]", "property_file"),
        (
            "input_files: a.c\nproperties: [{property_file: no.prp, expected_verdict: true}]",
            "no.prp",
        ),
        ("input_files: a.c\nproperties: [{property_file: p, expected_verdict: maybe}]", "true or"),
        ("input_files: a.c\noptions: {data_model: LLP64}\nproperties: [{}]", "LLP64"),
        ("input_files: a.c\n\x00", "broken.yml:2: no task definition: not a text file"),
    ],
)
def test_what_is_broken_is_reported(suite: Path, text: str, reason: str) -> None:
    (suite / "pthread" / "broken.yml").write_text(text)
    found = find_tasks([str(suite)])
    assert len(found.tasks) == 3
    (flaw,) = found.flaws
    assert flaw.path.endswith("broken.yml")
    assert reason in flaw.reason


@pytest.mark.parametrize("name", ["p.yml", "a.c", "p.prp"])
def test_pipes_are_not_read(suite: Path, name: str) -> None:
    folder = suite / "odd"
    folder.mkdir()
    (folder / "a.yml").write_text("input_files: a.c\nproperties: [{property_file: p.prp}]")
    (folder / "p.prp").write_text(UNREACH)
    (folder / name).unlink(missing_ok=True)
    os.mkfifo(folder / name)
    for place in (folder, folder / "p.yml" if name == "p.yml" else folder / "a.yml"):
        (flaw,) = find_tasks([str(place)]).flaws
        assert "regular file" in flaw.reason and name in flaw.reason


def test_a_link_to_a_definition_is_about_the_files_beside_it(suite: Path) -> None:
    other = suite / "other"
    other.mkdir()
    (other / "a.yml").symlink_to(suite / "pthread" / "a.yml")
    (other / "a.c").write_text("int main(void) { return 3; }\n")
    files = [task.files for task in find_tasks([str(suite)]).tasks]
    assert (str(other / "a.c"),) in files and (str(suite / "pthread" / "a.c"),) in files


def test_folders_behind_links(suite: Path, tmp_path: Path) -> None:
    """Each is searched once, however many links lead there, or round in a circle."""
    outer = tmp_path / "outer"
    outer.mkdir()
    for name in ("one", "two"):
        (outer / name).symlink_to(suite)
    (suite / "pthread" / "round").symlink_to(suite)
    tasks = find_tasks([str(outer)]).tasks
    assert sorted(Path(task.path).name for task in tasks) == ["a.yml", "a.yml", "b.yml"]


def test_folders_that_cannot_be_read(suite: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.scandir

    def scandir(path: str) -> object:
        if str(path).endswith("races"):
            raise PermissionError(13, "Permission denied", path)
        return real(path)

    monkeypatch.setattr("os.scandir", scandir)
    found = find_tasks([str(suite)])
    assert [task.name for task in found.tasks] == ["pthread/a.yml", "pthread/b.yml"]
    (flaw,) = found.flaws
    assert "races" in flaw.reason and "cannot be read" in flaw.reason


def test_properties_of_the_same_name_are_told_apart(suite: Path) -> None:
    (suite / "properties" / "other.prp").write_text(UNREACH.replace("reach_error", "other"))
    rows = "".join(f"  - property_file: ../properties/{name}.prp\n" for name in ("other", "other"))
    define(suite / "pthread" / "c.yml", "unreach-call", "true", extra=rows)
    found = find_tasks([str(suite / "pthread" / "c.yml")], ["unreach-call"])
    assert [task.property_name for task in found.tasks] == [
        "unreach-call",
        "unreach-call (../properties/other.prp)",
    ]


def test_nothing_there() -> None:
    with pytest.raises(InputError, match="no such"):
        find_tasks(["/nowhere/x.yml"])


def test_a_change_of_the_program_is_noticed(suite: Path) -> None:
    def fingerprints() -> list[str]:
        return [task.fingerprint for task in find_tasks([str(suite)]).tasks]

    before = fingerprints()
    assert fingerprints() == before
    (suite / "pthread" / "a.c").write_text("int main(void) { return 1; }\n")
    assert [a == b for a, b in zip(before, fingerprints())] == [False, True, True]


def test_a_change_of_what_a_program_includes_is_noticed(suite: Path) -> None:
    folder = suite / "pthread"
    (folder / "a.c").write_text(
        '#include "../inner.h"\n  # include "missing.h"\nint main(void) {}\n'
    )
    (suite / "inner.h").write_text('#include "inner.h"\n#include "outer.h"\n')
    (suite / "outer.h").write_text("")
    (suite / "data").mkdir()
    for name in ("one.txt", "two.txt"):
        (suite / "data" / name).write_text("")
    definition = folder / "a.yml"
    definition.write_text(definition.read_text() + "required_files: ['../data', '../*.cfg']\n")
    (suite / "some.cfg").write_text("")

    def first() -> Task:
        return find_tasks([str(definition)]).tasks[0]

    required = {Path(name).name for name in first().required}
    assert required == {"inner.h", "outer.h", "one.txt", "two.txt", "some.cfg"}
    for name in ("inner.h", "outer.h", "data/two.txt", "some.cfg"):
        before = first().fingerprint
        assert first().fingerprint == before
        (suite / name).write_text((suite / name).read_text() + "// changed\n")
        assert first().fingerprint != before, name


def test_required_files_that_are_no_names(suite: Path) -> None:
    definition = suite / "pthread" / "a.yml"
    definition.write_text(definition.read_text() + "required_files: 3\n")
    [flaw] = find_tasks([str(suite)]).flaws
    assert "required_files" in flaw.reason
