"""`plait.verify` and `plait.load`: what a Python program gets."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import fields
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, get_type_hints

import pytest

import plait
from plait.api import Choices
from plait.cli.main import main
from plait.engines import registry
from plait.evidence.stored import from_text
from plait.portfolio.options import Options
from plait.portfolio.subject import Subject

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"
RACE = EXAMPLES / "counter_race.c"
LOCKED = EXAMPLES / "locked_counter.c"


def test_verdicts() -> None:
    broken = plait.verify(RACE, timeout=60)
    assert (broken.verdict, broken.violated) == ("false", "assertions")
    assert broken.is_violated and not broken.holds
    assert broken.violation is not None and broken.violation.place is not None
    assert broken.violation.place.file == str(RACE)
    assert broken.schedule is not None
    fine = plait.verify([str(LOCKED)], property=["assertions", "no-data-race"])
    assert fine.holds and fine.properties == ["assertions", "no-data-race"]
    assert isinstance(fine, plait.Result)


def test_a_name_is_not_a_list_of_letters() -> None:
    assert plait.verify(RACE, property="no-data-race").violated == "no-data-race"


def test_a_result_can_be_saved(tmp_path: Path) -> None:
    result = plait.verify(RACE)
    saved = from_text(result.to_json(), "r.json")
    assert saved.trace == result.trace and saved.sources == result.sources
    assert "<html" in result.to_html()
    assert json.loads(result.to_sarif())["version"] == "2.1.0"
    assert "<testsuites" in result.to_junit()
    assert "violation_sequence" in result.to_witness()
    assert str(result).endswith("VERDICT: false (assertions)")
    assert "counter" in str(result)


def test_the_command_line_says_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved = tmp_path / "r.json"
    assert main(["verify", "--json", str(saved), str(RACE)]) == 1
    capsys.readouterr()
    from_cli = from_text(saved.read_text(), "r.json")
    from_api = plait.verify(RACE, cache=False)
    assert from_cli.trace == from_api.trace
    assert from_cli.words[:-1] == from_api.words[:-1]


class Frame(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.page = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag == "iframe"
        self.page = dict(attrs)["srcdoc"] or ""


def test_notebooks_show_the_page() -> None:
    result = plait.verify(RACE)
    frame = Frame()
    frame.feed(result._repr_html_())
    assert frame.page == result.to_html()


def test_mistakes_are_exceptions(tmp_path: Path) -> None:
    with pytest.raises(plait.InputError, match="No such file"):
        plait.verify(tmp_path / "none.c")
    with pytest.raises(plait.InputError, match="unknown property 'x'"):
        plait.verify(RACE, property="x")
    with pytest.raises(plait.InputError, match="engine 'y'"):
        plait.verify(RACE, engine="y")
    with pytest.raises(plait.InputError, match="timeout"):
        plait.verify(RACE, timeout=-1)
    with pytest.raises(plait.InputError, match="data_model 'LLP64': known are ILP32, LP64"):
        plait.verify(RACE, data_model="LLP64")
    with pytest.raises(plait.InputError, match="no program"):
        plait.verify([])
    with pytest.raises(TypeError, match="tiemout"):
        plait.verify(RACE, tiemout=3)  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"por": "nonsense"}, "por 'nonsense': known are none, static, dynamic, movers"),
        ({"explicit": "all"}, "explicit 'all': known are pointers, few"),
        ({"refinement": "x"}, "refinement 'x': known are propagator, graph, kernel, cores"),
        ({"order_encoding": "x"}, "order_encoding 'x': known are abstract, monolithic"),
        ({"std": "zzz"}, "std 'zzz': not a C dialect such as c11 or gnu17"),
        ({"std": "iso9899:1"}, "std 'iso9899:1': not a C dialect such as c11 or gnu17"),
        ({"std": None}, "std None: a text expected"),
        ({"timeout": "5"}, "timeout '5': a number expected"),
        ({"timeout": True}, "timeout True: a number expected"),
        ({"timeout": float("nan")}, "timeout nan: must be positive"),
        (
            {"memory_limit": 1e300},
            "memory_limit 1e\\+300: must be positive, less than 4.29497e\\+09",
        ),
        ({"jobs": 1.5}, "jobs 1.5: a whole number expected"),
        ({"unwind": "2"}, "unwind '2': a whole number expected"),
        ({"cache": 0}, "cache 0: True or False expected"),
        ({"property": 5}, "property 5: texts expected"),
        ({"defines": ["A", 1]}, "defines \\['A', 1\\]: texts expected"),
        ({"include_dirs": [b"a"]}, "include_dirs \\(b'a',\\): texts expected"),
        ({"prp": 3}, "prp 3: a text expected"),
    ],
    ids=str,
)
def test_values_that_cannot_be_used(choices: dict[str, Any], message: str) -> None:
    with pytest.raises(plait.InputError, match=f"^{message}$"):
        plait.verify(RACE, **choices)


def test_programs_that_cannot_be_used() -> None:
    for programs in (5, [5], None):
        with pytest.raises(plait.InputError, match=r"^programs .*: texts expected$"):
            plait.verify(programs)  # type: ignore[arg-type]
        with pytest.raises(plait.InputError, match=r"^programs .*: texts expected$"):
            plait.load(programs)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"engine": "impact", "unwind": 2}, "unwind: needs --engine orders, but only impact"),
        ({"engine": "orders", "por": "none"}, "por: needs --engine impact, but only orders"),
        ({"engine": "orders", "force_cover": False}, "force_cover: needs --engine impact"),
        ({"engine": "orders", "certificate": True}, "certificate: needs --engine impact"),
        ({"engine": "modular", "max_nodes": 9}, "max_nodes: needs --engine impact, but only"),
        ({"engine": "modular", "unwind": 2}, "unwind: needs --engine orders, but only modular"),
        (
            {"engine": "portfolio", "certificate": True},
            "certificate: needs --engine impact or context",
        ),
        ({"unwind": 2, "explicit": "few"}, "explicit: needs --engine impact, but only orders"),
        ({"unwind": 2, "certificate": True}, "unwind: needs --engine orders, but only impact"),
    ],
    ids=str,
)
def test_options_of_engines_that_do_not_run(choices: dict[str, Any], message: str) -> None:
    with pytest.raises(plait.InputError, match=f"^{message}"):
        plait.verify(RACE, **choices)


def test_options_of_engines_that_do_not_run_on_the_command_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["verify", "--engine", "impact", "--unwind", "2", str(RACE)]) == 2
    assert "unwind: needs --engine orders" in capsys.readouterr().err
    assert main(["verify", "--engine", "orders", "--por", "none", str(RACE)]) == 2
    assert "por: needs --engine impact" in capsys.readouterr().err


def test_options_of_engines_that_run() -> None:
    def check(engine_options: dict[str, Any], **choices: Any) -> None:
        Options(programs=("a.c",), engine_options=engine_options, **choices).check()

    for engine in ("auto", "portfolio"):
        check({"por": "none", "refinement": "graph"}, engine=engine)
    check({"por": "none"}, engine="impact", certificate=True)
    check({"refinement": "graph"}, engine="orders", unwind=2, timeout=5)
    check({"force_cover": True}, engine="orders")  # as it is anyway


def test_limits_and_watching(tmp_path: Path) -> None:
    source = tmp_path / "hard.c"
    source.write_text(
        "#include <pthread.h>\n#include <assert.h>\n_Bool __VERIFIER_nondet_bool(void);\n"
        "int x = 1, y = 1;\n"
        "void *f(void *a) { while (__VERIFIER_nondet_bool()) { x += y; y += x; } return 0; }\n"
        "int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); f(0); assert(x != 1000003); }"
    )
    seen: list[plait.Status] = []
    started = time.monotonic()
    result = plait.verify(source, watch=seen.append, timeout=1.5)
    assert time.monotonic() - started < 10
    assert result.verdict == "unknown"
    assert result.reason.startswith("time limit of 1.5 s")
    assert seen[0].engines[0].engine == "orders"
    assert [item.seconds for item in seen] == sorted(item.seconds for item in seen)


def test_in_another_thread() -> None:
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(plait.verify, [RACE, LOCKED]))
    assert [item.verdict for item in results] == ["false", "true"]


def test_certificates() -> None:
    result = plait.verify(EXAMPLES / "peterson.c", certificate=True)
    assert result.engine == "impact" and result.certificate is not None
    assert "certificate" not in json.loads(result.to_json())


def test_programs() -> None:
    program = plait.load(RACE)
    assert isinstance(program, plait.Program)
    assert repr(program).startswith(f"<Program {RACE}: 2 functions, ")
    assert "add_one starts in main" in str(program)
    assert program._repr_html_().startswith("<pre>threads")


def test_the_choices_are_the_options() -> None:
    # What is made stronger is for the search for fences alone to say.
    inner = {"programs", "engine_options", "strengthened"}
    names = {item.name for item in fields(Options)} - inner
    of_engines = {option.name for _, option in registry.options()}
    assert set(get_type_hints(Choices)) == names | of_engines
    assert {item.name for item in fields(Subject)} < {item.name for item in fields(Options)}


def test_nothing_heavy_is_imported_before_it_is_used() -> None:
    code = "import sys, plait; plait.__version__; print(len(sys.modules)); import plait.cli.main;"
    code += "print([m for m in ('z3', 'pysat', 'plait.c.unit') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_names() -> None:
    for name in plait.__all__:
        assert getattr(plait, name) is not None
    assert set(plait.__all__) <= set(dir(plait))
    with pytest.raises(AttributeError):
        plait.nothing  # noqa: B018
