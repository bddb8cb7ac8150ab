"""Answers from the cache: the same as without it, and never one of something else."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import plait
from plait.api import Result
from plait.portfolio import store as store_module
from plait.portfolio.cache import Cache
from plait.portfolio.identity import identity, tokens
from plait.portfolio.job import Job
from plait.portfolio.messages import Result as Message
from plait.portfolio.options import Options
from plait.portfolio.store import Store
from plait.portfolio.subject import load_program, specification

EXAMPLES = Path(__file__).parents[2] / "examples"

LOST_UPDATE = """
#include <assert.h>
#include <pthread.h>
#include "step.h"
int counter;
void *add(void *unused) { counter = counter + STEP; return 0; }
int main(void) {
  pthread_t one;
  pthread_create(&one, 0, add, 0);
  add(0);
  pthread_join(one, 0);
  assert(counter == 2 * STEP);
  return 0;
}
"""
LOCKED = """
#include <assert.h>
#include <pthread.h>
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int counter;
void *add(void *unused) {
  pthread_mutex_lock(&lock);
  counter = counter + 1;
  pthread_mutex_unlock(&lock);
  return 0;
}
int main(void) {
  pthread_t one;
  pthread_create(&one, 0, add, 0);
  add(0);
  pthread_join(one, 0);
  assert(counter == 2);
  return 0;
}
"""


@pytest.fixture
def lost(tmp_path: Path) -> Path:
    folder = tmp_path / "program"
    folder.mkdir()
    (folder / "step.h").write_text("#define STEP 1\n")
    path = folder / "lost.c"
    path.write_text(LOST_UPDATE)
    return path


@pytest.fixture
def locked(tmp_path: Path) -> Path:
    path = tmp_path / "locked.c"
    path.write_text(LOCKED)
    return path


def verify(path: Path, **choices: Any) -> Result:
    return plait.verify(path, timeout=60, **choices)


def entries(folder: Path) -> list[Path]:
    return sorted(set(folder.glob("*.json")) - set(folder.glob("edit-*.json")))


def is_known(result: Result) -> bool:
    """It is the answer of an earlier run, not one that was found with its help."""
    return result.cached is not None and "edited" not in result.cached


def same_but_for_the_run(one: Result, other: Result) -> bool:
    def kept(result: Result) -> dict[str, Any]:
        data = json.loads(result.to_json())
        for key in ("cached", "history", "words"):
            del data[key]
        for key in ("wall_seconds", "cpu_seconds", "peak_memory_bytes"):
            del data["statistics"][key]
        return data

    return kept(one) == kept(other) and one.certificate == other.certificate


# --- hits


@pytest.mark.parametrize(
    ("example", "choices"),
    [
        ("counter_race.c", {}),
        ("counter_race.c", {"property": "no-data-race"}),
        ("deadlock.c", {"property": "no-deadlock"}),
        ("deadlock.c", {"property": ("no-deadlock", "assertions")}),
        ("locked_counter.c", {}),
        ("peterson.c", {"engine": "impact", "certificate": True, "proof": True}),
    ],
)
def test_the_second_answer_is_the_first_one(example: str, choices: dict[str, Any]) -> None:
    first = verify(EXAMPLES / example, **choices)
    second = verify(EXAMPLES / example, **choices)
    assert first.cached is None
    assert second.cached is not None
    assert second.cached.keys() == {"found", "seconds"}
    assert same_but_for_the_run(first, second)
    assert any("answered from the cache" in line for line in second.words)
    assert not any("from the cache" in line for line in first.words)


def test_limits_and_jobs_change_nothing(locked: Path) -> None:
    plait.verify(locked)
    for choices in ({"timeout": 30}, {"memory_limit": 4}, {"jobs": 1}):
        assert plait.verify(locked, **choices).cached is not None  # type: ignore[arg-type]


def test_touching_a_file_changes_nothing(locked: Path) -> None:
    verify(locked)
    os.utime(locked, (1, 1))
    assert verify(locked).cached is not None


def test_reports_of_an_answer_that_is_known(
    locked: Path, lost: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from plait.cli.main import main

    for path, code in ((locked, 0), (lost, 1)):
        assert main(["verify", str(path)]) == code
        assert "answered from the cache" not in capsys.readouterr().out
        for form in ("json", "html", "sarif"):
            report = str(tmp_path / f"r.{form}")
            assert main(["verify", f"--{form}", report, str(path)]) == code
            assert "answered from the cache" in capsys.readouterr().out


def test_parts_of_a_proof_that_are_missing_are_found(locked: Path) -> None:
    def run(**choices: bool) -> Result:
        return verify(locked, engine="impact", **choices)

    assert not is_known(run())
    proved = run(proof=True)
    assert proved.tree and not is_known(proved)
    again = run(proof=True)
    assert is_known(again) and again.tree == proved.tree
    plain = run()
    assert is_known(plain) and not plain.tree and not plain.invariants
    certified = run(certificate=True, proof=True)
    assert certified.certificate and not is_known(certified)
    again = run(certificate=True)
    assert is_known(again) and again.certificate == certified.certificate and not again.tree
    plain = run()
    assert is_known(plain) and plain.certificate is None
    assert not is_known(run(invariants=True))


def test_a_violation_needs_no_parts(lost: Path) -> None:
    assert verify(lost, engine="impact").verdict == "false"
    for name in ("certificate", "proof", "invariants"):
        assert is_known(verify(lost, engine="impact", **{name: True}))


def test_an_answer_with_more_to_show_stays(locked: Path) -> None:
    from plait.portfolio.cache import Cache
    from plait.portfolio.job import Job
    from plait.portfolio.messages import Result as Message
    from plait.portfolio.options import Options
    from plait.portfolio.subject import load_program, specification

    def cache_for(**choices: bool) -> Cache:
        options = Options(programs=(str(locked),), **choices)  # type: ignore[arg-type]
        chosen, entry = specification(options)
        return Cache.of(options, [(chosen, load_program(options, chosen, entry))], entry)

    job = Job("impact")
    whole = Message("true", "proved", certificate="C", evidence={"tree": [], "invariants": []})
    cache_for(certificate=True, proof=True).keep(whole, 0, {}, job)
    cache_for().keep(Message("true", "proved again"), 0, {}, job)
    recalled = cache_for(certificate=True).recall()
    assert recalled is not None and recalled.certificate == "C"
    assert cache_for(invariants=True).recall() is None
    cache = cache_for()
    assert cache._store is not None
    cache._store.put(cache.key, {"verdict": "false"})
    cache.keep(Message("true", "another verdict"), 0, {}, job)
    assert (entry := cache._store.get(cache.key)) and entry["reason"] == "another verdict"
    cache_for().keep(Message("true", "by orders"), 0, {}, Job("orders"))
    assert cache_for(invariants=True, proof=True).recall() is not None


def test_the_engine_that_has_found_it_is_named(locked: Path) -> None:
    first = verify(locked, engine="portfolio")
    second = verify(locked, engine="portfolio")
    assert (second.engine, second.settings) == (first.engine, first.settings)


def test_no_answer_is_not_kept(locked: Path, cache_folder: Path) -> None:
    assert plait.verify(locked, timeout=0.001).verdict == "unknown"
    assert verify(locked, max_nodes=1, engine="impact").verdict == "unknown"
    assert entries(cache_folder) == []


def test_without_the_cache_nothing_is_kept_and_nothing_read(
    locked: Path, cache_folder: Path
) -> None:
    verify(locked, cache=False)
    assert not cache_folder.exists()
    verify(locked)
    assert verify(locked, cache=False).cached is None


def test_the_command(locked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from plait.cli.main import main

    for _ in range(2):
        assert main(["verify", str(locked)]) == 0
    assert "answered from the cache" in capsys.readouterr().out
    assert main(["verify", "--no-cache", str(locked)]) == 0
    assert "answered from the cache" not in capsys.readouterr().out


# --- misses


def test_a_changed_header_is_a_miss(lost: Path) -> None:
    verify(lost)
    (lost.parent / "step.h").write_text("#define STEP 0\n")
    result = verify(lost)
    assert (result.verdict, result.cached) == ("true", None)


def test_a_header_that_shadows_another_one_is_a_miss(lost: Path, tmp_path: Path) -> None:
    early, late = tmp_path / "early", tmp_path / "late"
    early.mkdir()
    late.mkdir()
    (lost.parent / "step.h").rename(late / "step.h")
    folders = (str(early), str(late))
    assert verify(lost, include_dirs=folders).verdict == "false"
    assert verify(lost, include_dirs=folders).cached is not None
    (early / "step.h").write_text("#define STEP 0\n")
    result = verify(lost, include_dirs=folders)
    assert (result.verdict, result.cached) == ("true", None)


@pytest.mark.parametrize(
    "choices",
    [
        {"defines": ("ANY=1",)},
        {"data_model": "ILP32"},
        {"property": "no-data-race"},
        {"property": "unreach-call"},
        {"property": "unreach-call", "error_function": "add"},
        {"engine": "impact"},
        {"engine": "orders"},
        {"unwind": 3},
        {"std": "c11"},
        {"entry": "start"},
        {"spurious_wakeups": False},
        {"engine": "impact", "certificate": True},
        {"engine": "impact", "por": "static"},
        {"engine": "impact", "explicit": "pointers"},
        {"engine": "impact", "force_cover": False},
        {"order_encoding": "monolithic"},
        {"refinement": "graph"},
    ],
    ids=str,
)
def test_other_options_are_a_miss(locked: Path, choices: dict[str, Any]) -> None:
    locked.write_text(LOCKED + "int start(void) { return 0; }\n")
    verify(locked)
    assert verify(locked, **choices).cached is None
    again = verify(locked, **choices)
    assert (again.cached is None) == (again.verdict == "unknown")


def test_every_option_counts_unless_it_is_listed() -> None:
    from plait.portfolio.identity import identity
    from plait.portfolio.options import Options

    others: dict[str, Any] = {
        "engine": "orders",
        "std": "c11",
        "data_model": "ILP32",
        "order_encoding": "monolithic",
        "refinement": "graph",
        "por": "none",
        "explicit": "few",
    }
    plain = Options(programs=("a.c",))
    known = identity(plain, [])
    without_effect = {
        "timeout",
        "memory_limit",
        "jobs",
        "cache",
        "certificate",
        "proof",
        "invariants",
    }
    from dataclasses import fields, replace

    for item in fields(plain):
        before = getattr(plain, item.name)
        if item.name in others:
            value = others[item.name]
        elif isinstance(before, bool):
            value = not before
        elif isinstance(before, tuple):
            value = (*before, "x")
        else:
            value = 7 if "int" in str(item.type) or "float" in str(item.type) else "x"
        changed = identity(replace(plain, **{item.name: value}), [])
        assert (changed == known) == (item.name in without_effect), item.name


# Each of these is another program, or looks different in a report.
EDITS = [
    ("counter = counter + 1", "counter = counter + 2"),
    ("counter = counter + 1", "counter = counter  + 1"),
    ("counter == 2", "counter == 3"),
    ("counter == 2", "counter >= 2"),
    ("int counter;", "unsigned counter;"),
    ("int counter;", "int counter = 1;"),
    ("int counter;", "int counter;\n"),
    ("int counter;", "_Thread_local int counter;"),
    ("int counter;", "volatile int counter;"),
    ("int counter;", "int other; int counter;"),
    ("void *unused", "void *ignored"),
    ("pthread_mutex_lock(&lock);", ";"),
    ("return 0;\n}\nint", "return &counter;\n}\nint"),
]


@settings(deadline=None, max_examples=25, suppress_health_check=list(HealthCheck))
@given(st.lists(st.sampled_from(EDITS), unique=True, max_size=3))
def test_the_identity_is_that_of_the_model(tmp_path: Path, edits: list[tuple[str, str]]) -> None:
    """What it leaves alone are only texts that no report shows: here, none."""
    text = LOCKED
    for old, new in edits:
        text = text.replace(old, new, 1)
    path = tmp_path / "edited.c"
    path.write_text(LOCKED)
    known = identity_of(path)
    path.write_text(text)
    assert (identity_of(path) == known) == (text == LOCKED)


def test_values_that_differ_have_texts_that_differ() -> None:
    values: list[Any] = [[[1], 2], [[1, 2]], [[], 1, 2], [1, 2], [{1: 2}], [{}, 1, 2], [{1, 2}]]
    assert len({tuple(tokens(value)) for value in values}) == len(values)


def identity_of(path: Path) -> str:
    options = Options(programs=(str(path),))
    chosen, entry = specification(options)
    return identity(options, [(chosen, load_program(options, chosen, entry))])


def test_the_identity_is_the_same_in_every_process(locked: Path) -> None:
    source = Path(plait.__file__).parents[1]
    code = (
        f"import sys; sys.path[:0] = [{str(source)!r}, {str(Path(__file__).parents[2])!r}]\n"
        "from pathlib import Path\nfrom tests.portfolio.test_cache import identity_of\n"
        f"print(identity_of(Path({str(locked)!r})))"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for seed in ("1", "2")
    }
    assert found == {identity_of(locked)}


def test_another_plait_is_a_miss(locked: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known = identity_of(locked)
    monkeypatch.setattr("plait.__version__", "0.0.0")
    assert identity_of(locked) != known
    monkeypatch.undo()
    monkeypatch.setenv("PLAIT_SECOND_OPINION", "1")
    assert identity_of(locked) != known


def test_an_edited_plait_is_a_miss(tmp_path: Path) -> None:
    from plait.portfolio.identity import _files

    (tmp_path / "inner").mkdir()
    module = tmp_path / "inner" / "module.py"
    module.write_text("a = 1\n")
    before = list(_files(str(tmp_path), ""))
    module.write_text("a = 2\n")
    os.utime(module, ns=(5, 5))
    assert list(_files(str(tmp_path), "")) != before


# --- what has happened to the files


@pytest.mark.parametrize("example", ["locked_counter.c", "counter_race.c"])
def test_a_file_with_any_change_is_a_miss_and_removed(example: str, cache_folder: Path) -> None:
    verify(EXAMPLES / example)
    (entry,) = entries(cache_folder)
    good = entry.read_bytes()
    bad = [b"", good[:-1], good[: len(good) // 2], good + b" ", b"\0" * len(good)]
    bad += [good.replace(b'"verdict":"', b'"verdict":"x', 1)]
    for position in range(0, len(good), max(1, len(good) // 12)):
        bad.append(good[:position] + bytes([good[position] ^ 1]) + good[position + 1 :])
    store = Store.open(cache_folder)
    assert store is not None
    for data in bad:
        entry.write_bytes(data)
        assert store.get(entry.stem) is None
        assert not entry.exists()
    entry.write_bytes(bad[-1])
    assert not is_known(verify(EXAMPLES / example))
    assert store.get(entry.stem) is not None


def test_a_file_under_another_name_is_a_miss(locked: Path, lost: Path, cache_folder: Path) -> None:
    verify(locked)
    (proved,) = entries(cache_folder)
    assert verify(lost).verdict == "false"
    (violated,) = set(entries(cache_folder)) - {proved}
    violated.write_bytes(proved.read_bytes())
    result = verify(lost)
    assert (result.verdict, is_known(result)) == ("false", False)


# A counterexample in which nothing is violated.
ENTRY: dict[str, Any] = {
    "verdict": "false",
    "reason": "",
    "bound": 1,
    "statistics": {},
    "cached": {"found": "", "seconds": 0, "engine": "orders", "settings": {}},
    "question": 0,
    "schedule": {"plait-schedule": 1, "steps": [{"thread": 1, "count": 40}]},
    "racing": None,
}
HOSTILE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.floats(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)


@settings(deadline=None, max_examples=40, suppress_health_check=list(HealthCheck))
@given(st.sampled_from(["schedule", "racing", "question", "bound", "verdict"]), HOSTILE)
def test_a_counterexample_with_a_good_checksum_is_still_not_believed(
    locked: Path, cache_folder: Path, name: str, value: Any
) -> None:
    """Whoever can write the file can write `true` into it; but a violation has to happen."""
    cache = cache_of(locked)
    assert cache._store is not None
    cache._store.put(cache.key, ENTRY | {name: value})
    assert cache.recall() is None


def test_a_counterexample_that_is_none_any_more_is_forgotten(locked: Path) -> None:
    cache = cache_of(locked)
    assert cache._store is not None
    cache._store.put(cache.key, ENTRY)
    assert cache.recall() is None
    assert cache._store.get(cache.key) is None


def test_what_has_no_verdict_is_not_kept_whatever_it_shows(locked: Path) -> None:
    cache = cache_of(locked)
    assert cache._store is not None
    for verdict in ("unknown", "false"):
        evidence = {"schedule": ENTRY["schedule"], "violation": {"accesses": []}}
        found = Message(verdict, "because", evidence=evidence)
        cache.keep(found, 0, {}, Job("orders", started=time.monotonic()))
        assert (cache._store.get(cache.key) is not None) == (verdict == "false")


def cache_of(path: Path) -> Cache:
    options = Options(programs=(str(path),))
    chosen, entry = specification(options)
    return Cache.of(options, [(chosen, load_program(options, chosen, entry))], entry)


def test_a_counterexample_that_does_not_replay_is_verified_anew(
    lost: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = verify(lost)

    def fails(*arguments: Any, **options: Any) -> Any:
        from plait.evidence.counterexample import NotShown

        raise NotShown("the interpreter has changed its mind")

    monkeypatch.setattr("plait.evidence.reexecution.evidence_of_schedule", fails)
    second = verify(lost)
    assert second.cached is None
    assert same_but_for_the_run(first, second) or second.verdict == "false"


def test_an_answer_that_was_kept_is_taken_back_when_there_is_doubt(
    lost: Path, cache_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One engine keeps its answer, then a counterexample of another one does not replay."""
    verify(lost)
    assert len(entries(cache_folder)) == 1

    def fails(*arguments: Any, **options: Any) -> Any:
        from plait.evidence.replay import ReplayFailed

        raise ReplayFailed("thread 7 is never started")

    monkeypatch.setattr("plait.evidence.confirm.replay", fails)
    monkeypatch.setattr("plait.portfolio.cache.Cache.recall", lambda self: None)
    monkeypatch.setattr("plait.portfolio.cache.Cache.follow_previous", lambda self, end: None)
    assert "does not replay" in verify(lost).reason
    assert entries(cache_folder) == []


def test_a_folder_that_others_may_write_to_is_not_used(locked: Path, cache_folder: Path) -> None:
    verify(locked)
    cache_folder.chmod(0o777)
    assert verify(locked).cached is None
    cache_folder.chmod(0o770)
    assert verify(locked).cached is None
    cache_folder.chmod(0o755)
    assert verify(locked).cached is not None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_what_belongs_to_others_is_not_used(locked: Path, cache_folder: Path) -> None:
    verify(locked)
    (entry,) = entries(cache_folder)
    os.chown(entry, 12345, 12345)
    assert verify(locked).cached is None
    os.chown(cache_folder, 12345, 12345)
    assert verify(locked).cached is None
    assert Store.open(cache_folder) is None


def test_an_entry_that_others_may_write_to_is_not_used(locked: Path, cache_folder: Path) -> None:
    verify(locked)
    (entry,) = entries(cache_folder)
    entry.chmod(0o666)
    assert verify(locked).cached is None


def test_links_and_pipes_are_not_followed(locked: Path, cache_folder: Path) -> None:
    verify(locked)
    (entry,) = entries(cache_folder)
    elsewhere = cache_folder.parent / "elsewhere"
    entry.rename(elsewhere)
    entry.symlink_to(elsewhere)
    assert verify(locked).cached is None
    entry.unlink()
    os.mkfifo(entry)
    assert verify(locked).cached is None
    entry.unlink()
    entry.mkdir()
    assert verify(locked).verdict == "true"


def test_the_folder_is_private(locked: Path, cache_folder: Path) -> None:
    verify(locked)
    assert stat.S_IMODE(cache_folder.stat().st_mode) == 0o700
    assert all(stat.S_IMODE(entry.stat().st_mode) == 0o600 for entry in entries(cache_folder))


@pytest.mark.parametrize("where", ["/dev/null/plait", "/proc/plait", "a\0b"])
def test_a_folder_that_cannot_be_made(
    locked: Path, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "\0" in where:
        assert Store.open(Path(where)) is None
        return
    monkeypatch.setenv("PLAIT_CACHE_DIR", where)
    for _ in range(2):
        result = verify(locked)
        assert (result.verdict, result.cached) == ("true", None)


def test_where_the_folder_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLAIT_CACHE_DIR", "/a")
    monkeypatch.setenv("XDG_CACHE_HOME", "/b")
    monkeypatch.setenv("HOME", "/c")
    assert store_module.folder() == Path("/a")
    monkeypatch.delenv("PLAIT_CACHE_DIR")
    assert store_module.folder() == Path("/b/plait")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert store_module.folder() == Path("/c/.cache/plait")


def test_a_full_disk_costs_nothing_but_the_entry(locked: Path, cache_folder: Path) -> None:
    """No file may become larger than a few bytes."""
    program = (
        "import resource, sys, plait\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (10, resource.RLIM_INFINITY))\n"
        "print(plait.verify(sys.argv[1]).verdict)"
    )
    found = subprocess.run(
        [sys.executable, "-c", program, str(locked)],
        env={**os.environ, "PYTHONPATH": str(Path(plait.__file__).parents[1])},
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert (found.stdout.strip(), found.stderr) == ("true", "")
    assert list(cache_folder.iterdir()) == []


def test_many_runs_at_once(locked: Path, lost: Path, cache_folder: Path) -> None:
    def run(path: Path) -> str:
        source = str(Path(plait.__file__).parents[1])
        return subprocess.run(
            [
                sys.executable,
                "-c",
                "import plait,sys; print(plait.verify(sys.argv[1]).verdict)",
                path,
            ],
            env={**os.environ, "PYTHONPATH": source},
            capture_output=True,
            text=True,
            timeout=100,
        ).stdout.strip()

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(run, [locked, lost] * 4)) == ["true", "false"] * 4
    assert not list(cache_folder.glob("*.part"))


# --- the size of the folder


def test_what_was_not_used_for_longest_goes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_module, "MOST_ENTRIES", 8)
    store = Store.open(tmp_path / "c")
    assert store is not None
    for number in range(8):
        assert store.put(f"k{number}", {"n": number})
        os.utime(tmp_path / "c" / f"k{number}.json", (number + 1, number + 1))
    assert store.get("k0") == {"n": 0}
    store.put("k8", {"n": 8})
    left = {path.stem for path in entries(tmp_path / "c")}
    assert len(left) == 6
    assert {"k0", "k8", "k7"} <= left
    assert "k1" not in left


def test_all_files_together_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "MOST_BYTES", 10_000)
    store = Store.open(tmp_path / "c")
    assert store is not None
    for number in range(30):
        store.put(f"k{number}", {"text": "x" * 1000})
    size = sum(path.stat().st_size for path in (tmp_path / "c").iterdir())
    assert 5_000 < size <= 10_000


def test_a_large_entry_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "LARGEST_ENTRY", 1000)
    store = Store.open(tmp_path / "c")
    assert store is not None
    assert not store.put("k", {"text": "x" * 1000})
    assert list((tmp_path / "c").iterdir()) == []


def test_what_a_killed_run_has_left_is_removed(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "c")
    assert store is not None
    old, new = tmp_path / "c" / "k.1.aa.part", tmp_path / "c" / "k.2.bb.part"
    for path in (old, new):
        path.write_text("half")
    os.utime(old, (1, 1))
    store.put("k", {})
    assert (old.exists(), new.exists()) == (False, True)


def test_a_full_cache_is_quick(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "c")
    assert store is not None
    for number in range(store_module.MOST_ENTRIES - 2):
        (tmp_path / "c" / f"k{number}.json").write_bytes(b"")
    began = time.perf_counter()
    store.put("key", {})
    assert store.get("key") == {}
    assert time.perf_counter() - began < 0.5
