"""plait for programs: `plait.verify` and `plait.load`. Commands that verify or show a program, one
or many, use nothing else for that.

    import plait

    result = plait.verify("counter.c", property="no-data-race", timeout=60)
    print(result.verdict, result.reason)

Engines run in child processes, as for `plait verify`; the limits are kept, and Ctrl-C ends in a
result with the verdict `unknown` that says how far the engines came. Input that cannot be used
raises `plait.InputError`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from plait.data import fields
from plait.engines import registry
from plait.engines.registry import EngineOptions
from plait.errors import InputError
from plait.evidence import result as evidence
from plait.portfolio.options import Options
from plait.portfolio.status import EngineStatus, Status, Watch
from plait.portfolio.subject import Subject

if TYPE_CHECKING:
    from plait.model.program import Program

__all__ = [
    "Choices",
    "EngineStatus",
    "Options",
    "Result",
    "Sources",
    "Status",
    "Subject",
    "Watch",
    "load",
    "load_with",
    "verify",
    "verify_with",
]

Path = str | os.PathLike[str]
Sources = Path | Iterable[Path]
Names = str | Iterable[str]


class About(TypedDict, total=False):
    """What a verdict is about, beside the sources; see `plait.portfolio.subject.Subject`."""

    property: Names
    prp: Path | None
    error_function: Names
    include_dirs: Iterable[Path]
    defines: Iterable[str]
    undefines: Iterable[str]
    force_includes: Iterable[Path]
    std: str
    data_model: str
    entry: str | None
    compile_commands: Path | None
    spurious_wakeups: bool
    assume_defined: bool
    failing_calls: bool
    signals: bool
    args: str | None
    argument_count: int
    argument_bytes: int
    monitor: str | None
    reach: Iterable[str]
    memory_model: str | None


class Choices(About, EngineOptions, total=False):
    """What `verify` can be asked for; see `plait.portfolio.options.Options`. Options of single
    engines stand beside the others, as on the command line."""

    engine: str
    timeout: float | None
    memory_limit: float | None
    jobs: int | None
    cache: bool
    certificate: bool
    proof: bool
    invariants: bool
    unwind: int | None
    suggest_fences: bool


class Result(evidence.Result):
    """A verdict with its evidence. In a notebook it is shown as the page that `--html` writes."""

    __slots__ = ()

    @property
    def holds(self) -> bool:
        return self.verdict == "true"

    @property
    def is_violated(self) -> bool:
        return self.verdict == "false"

    def to_json(self) -> str:
        """As `--json` writes it; `plait report` and `plait replay` read it."""
        from plait.evidence.stored import to_text

        return to_text(self)

    def to_html(self) -> str:
        """A page to step through the evidence, as `--html` writes it."""
        from plait.report.html import to_html

        return to_html(self)

    def to_sarif(self) -> str:
        from plait.report.sarif import to_sarif

        return to_sarif(self)

    def to_junit(self) -> str:
        from plait.report.junit import to_junit

        return to_junit(self)

    def to_witness(self, form: str = "2.2") -> str:
        """A witness for other verifiers; InputError if this result has none."""
        from plait.evidence.witness.write import to_witness

        return to_witness(self, form)

    def __str__(self) -> str:
        from plait.report.characters import clean_line
        from plait.report.text import explanation_lines, trace_lines

        lines: list[str] = []
        if self.trace:
            lines += [*trace_lines(self, 100, verbose=False, colour=False)]
            lines += explanation_lines(self)
        detail = "" if self.verdict == "true" else f" ({self.violated or self.reason})"
        lines += [*self.words, f"VERDICT: {self.verdict}{detail}"]
        return "\n".join(map(clean_line, lines))

    def _repr_html_(self) -> str:
        """A frame of its own, so that the styles of the notebook and of the page stay apart."""
        from html import escape

        page = escape(self.to_html(), quote=True)
        height = 640 if self.trace or self.tree else 320
        return (
            f'<iframe srcdoc="{page}" width="100%" height="{height}"'
            ' sandbox="allow-scripts" style="border:1px solid #8884"></iframe>'
        )


def verify(programs: Sources, *, watch: Watch | None = None, **choices: Unpack[Choices]) -> Result:
    """Verify .c and .i files that are linked to one program, or one BenchExec task definition.
    `watch` is called a few times per second with the status of the engines."""
    return verify_with(Options(**_plain(programs, choices)), watch)


def verify_with(options: Options, watch: Watch | None = None) -> Result:
    """`verify`, with everything that it can be asked for as one value."""
    from plait.portfolio.compose import add_sources
    from plait.portfolio.run import verify as run

    options.check()
    found = run(options, watch)
    if options.suggest_fences and found.verdict == "false":
        from plait.portfolio.fences import suggested

        found.fences = suggested(options, found, run)
    result = Result(**{item.name: getattr(found, item.name) for item in fields(found)})
    add_sources(result)
    return result


def load(programs: Sources, **about: Unpack[About]) -> Program:
    """The program model that verdicts are about, as `plait show` prints it. Properties select the
    checks that it has."""
    return load_with(Subject(**_plain(programs, about)))


def load_with(subject: Subject) -> Program:
    """`load`, with everything that it can be told as one value."""
    from plait.portfolio.subject import load_program, specification
    from plait.portfolio.tasks import expand_task

    subject.check()
    subject = expand_task(subject)
    return load_program(subject, *specification(subject))


def _plain(programs: Sources, choices: About) -> dict[str, Any]:
    """Texts and tuples of texts in the place of paths, single names and lists."""
    plain: dict[str, Any] = {"programs": _texts("programs", programs)}
    of_engines = {option.name for _, option in registry.options()}
    chosen: dict[str, Any] = {}
    for name, value in choices.items():
        if name in of_engines:
            if value is not None:  # as much as the default
                chosen[name] = value
        elif name in _LISTS:
            plain[name] = _texts(name, value)
        else:
            plain[name] = os.fspath(value) if isinstance(value, os.PathLike) else value
    return plain | {"engine_options": chosen} if chosen else plain


_LISTS = frozenset(item.name for item in fields(Subject) if "tuple" in str(item.type))


def _texts(name: str, values: Any) -> tuple[str, ...]:
    if isinstance(values, str | os.PathLike):
        return (os.fspath(values),)
    try:
        return tuple(os.fspath(item) for item in values)
    except TypeError:
        raise InputError(f"{name} {values!r}: texts expected") from None
