"""The options of every command, and help that teaches by example."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import NoReturn

import plait
from plait.cli import exits
from plait.cli.bench import BENCH_HELP, bench_options
from plait.cli.chosen import subject_of
from plait.cli.help import (
    CHECK_HELP,
    COVER_HELP,
    EXPLORE_HELP,
    HUNT_HELP,
    MAIN_HELP,
    REPLAY_HELP,
    REPORT_HELP,
    RUN_HELP,
    SHOW_HELP,
    VALIDATE_HELP,
    verify_help,
)
from plait.cli.targets import FORCE_HELP, Target, target, target_or_output
from plait.cli.values import dialect, gibibytes, interval, positive, seconds
from plait.engines import registry
from plait.engines.description import EngineOption
from plait.model.main_arguments import LARGEST, SMALLEST
from plait.model.property_names import ALL_NAME, DEFAULT_NAMES, PROPERTY_NAMES
from plait.portfolio.subject import DATA_MODELS, MEMORY_MODELS, Subject
from plait.report.characters import clean

WITNESS_FORMATS = ("graphml", "2.0", "2.1", "2.2")


class Parser(argparse.ArgumentParser):
    """argparse prints its whole usage on a mistake; a mistake should take one or two lines."""

    def error(self, message: str) -> NoReturn:
        hint = "" if "--help" in message else f"\nsee `{self.prog} --help`"
        self.exit(exits.UNUSABLE_INPUT, f"{self.prog}: {clean(message)}{hint}\n")


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    arguments, program_arguments = _split(arguments)
    parser = build_parser(arguments[0] if arguments else "")
    # argparse takes only the sources before the first option or those after the last one.
    options, rest = parser.parse_known_args(_attach(arguments))
    for argument in rest:
        if argument.startswith("-"):
            parser.error(f"unrecognized argument: {argument}")
    if "programs" not in options:
        if rest:
            parser.error(f"unrecognized argument: {rest[0]}")
        return options
    options.programs += rest
    options.program_arguments = program_arguments
    if options.command in ("replay", "hunt"):
        return options
    if not options.programs and getattr(options, "compile_commands", None) is None:
        what = "task" if options.command == "bench" else "source file"
        written = next((item for item in vars(options).values() if isinstance(item, Target)), None)
        why = "" if written is None else f" ({written} is named as a file to write)"
        parser.error(f"no {what} given{why}: see `plait {options.command} --help`")
    return options


def parse_question(arguments: Sequence[str], programs: Sequence[str]) -> Subject:
    """The options of properties and of the front end that a result was made with."""
    parser = Parser(prog="plait", allow_abbrev=False, add_help=False)
    _program_options(parser)
    options = parser.parse_args(list(arguments))
    options.programs = list(programs)
    return subject_of(options)


def _split(arguments: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """What comes after `--` is for the program that a hunt executes."""
    if not arguments or arguments[0] != "hunt" or "--" not in arguments:
        return arguments, ()
    at = list(arguments).index("--")
    return arguments[:at], arguments[at + 1 :]


def _attach(arguments: Sequence[str]) -> list[str]:
    """Join `--inputs -3..3` to one word, or argparse takes the negative bound for an option."""
    joined: list[str] = []
    for argument in arguments:
        if joined and joined[-1] == "--inputs":
            joined[-1] = f"--inputs={argument}"
        else:
            joined.append(argument)
    return joined


def build_parser(asked: str = "") -> argparse.ArgumentParser:
    """If one command is asked for, the others are left out: there are 150 options."""
    parser = Parser(
        prog="plait",
        description="Verify every way the threads of a C program can interleave.",
        epilog=MAIN_HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"plait {plait.__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    chosen = [row for row in _commands() if row[0] == asked] or _commands()
    for name, summary, epilog, add_options in chosen:
        command = commands.add_parser(
            name,
            help=summary,
            description=f"{summary[0].upper()}{summary[1:]}.",
            epilog=epilog,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        add_options(command)
        if any(action.type in (target, target_or_output) for action in command._actions):
            command.add_argument("--force", action="store_true", help=FORCE_HELP)
    return parser


def _commands() -> list[tuple[str, str, str, Callable[[Parser], None]]]:
    """The name, what it is for, the end of its help, its options."""
    return [
        ("show", "print or draw the program model", SHOW_HELP, _show_options),
        ("run", "interpret one schedule and show it", RUN_HELP, _run_options),
        ("explore", "check a property in all schedules", EXPLORE_HELP, _explore_options),
        ("verify", "prove a property or refute it", verify_help(), _verify_options),
        (
            "cover",
            "find a test for each line, or prove that there is none",
            COVER_HELP,
            _cover_options,
        ),
        ("check", "check the certificate of a proof", CHECK_HELP, _check_options),
        (
            "validate",
            "look for an execution that follows a violation witness",
            VALIDATE_HELP,
            _validate_options,
        ),
        ("report", "show a saved result, or write it in other forms", REPORT_HELP, _report_options),
        ("replay", "show a counterexample in the compiled program", REPLAY_HELP, _replay_options),
        (
            "hunt",
            "run the real program under plait's scheduler until it fails",
            HUNT_HELP,
            _hunt_options,
        ),
        ("bench", "verify all tasks of a suite", BENCH_HELP, bench_options),
    ]


def _program_options(parser: Parser) -> None:
    """What a verdict is about."""
    parser.add_argument(
        "programs",
        nargs="*",
        metavar="PROG",
        help=".c or .i files, linked into one program (with --compile-commands: default all);"
        " verify and explore also take a BenchExec task definition (.yml), verify also several or"
        " folders of them, with or without expected verdicts",
    )
    parser.add_argument("-v", "--verbose", action="store_true", help="show more")
    _property_options(parser)
    _front_end_options(parser)


def _property_options(parser: Parser) -> None:
    group = parser.add_argument_group("properties")
    group.add_argument(
        "--property",
        action="append",
        default=[],
        metavar="P",
        help=f"what to check, repeatable: {', '.join(PROPERTY_NAMES)}, or {ALL_NAME} for everything"
        f" (default: what is wrong in any program, {', '.join(DEFAULT_NAMES)}); or an SV-COMP file,"
        " FILE.prp",
    )
    group.add_argument(
        "--assume-defined",
        action="store_true",
        help="verdicts under the assumption that no execution does anything undefined; undefined"
        " functions that return a pointer then return null or a new object of its type",
    )
    group.add_argument(
        "--monitor",
        action=_Monitor,
        metavar="M",
        help="check an automaton that watches the program's events (docs/monitors.md): a file, or"
        " one of those that plait has (`--monitor list` names them)",
    )
    group.add_argument(
        "--reach",
        action="append",
        default=[],
        metavar="FILE:LINE",
        help="check that no execution comes to this line, repeatable (all of them: `plait cover`)",
    )
    group.add_argument("--prp", metavar="FILE", help="such a file, whatever its name ends with")
    group.add_argument(
        "--error-function",
        action="append",
        default=[],
        metavar="F",
        help="a function that unreach-call forbids to call "
        "(default: reach_error and __VERIFIER_error)",
    )


class _Monitor(argparse.Action):
    """One monitor; `list` shows those that plait has."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        if values == "list":
            from plait.cli.output import Console
            from plait.monitors.library import described

            console = Console()
            console.lines(f"{name:<22} {what}" for name, what in described())
            console.close()
            parser.exit(exits.HOLDS)
        if getattr(namespace, self.dest, None) is not None:
            parser.error("--monitor: one at a time")
        setattr(namespace, self.dest, values)


def _front_end_options(parser: Parser) -> None:
    group = parser.add_argument_group("C front end")
    group.add_argument(
        "-I", dest="include_dirs", action="append", default=[], metavar="DIR", help="header folder"
    )
    group.add_argument(
        "-D", dest="defines", action="append", default=[], metavar="NAME[=VALUE]", help="macro"
    )
    group.add_argument(
        "-U", dest="undefines", action="append", default=[], metavar="NAME", help="undefine a macro"
    )
    group.add_argument(
        "-include",
        dest="force_includes",
        action="append",
        default=[],
        metavar="FILE",
        help="read this header first",
    )
    group.add_argument(
        "--std", type=dialect, default="gnu17", metavar="STD", help="C dialect (default: gnu17)"
    )
    group.add_argument(
        "--data-model",
        choices=DATA_MODELS,
        default="LP64",
        help="sizes of the integer types and pointers (default: LP64)",
    )
    group.add_argument(
        "--entry", metavar="FUNCTION", help="where the program starts (default: main)"
    )
    group.add_argument(
        "--compile-commands",
        metavar="DIR",
        help="take the options of each PROG from DIR/compile_commands.json",
    )
    group.add_argument(
        "--failing-calls",
        action="store_true",
        help="memory allocation and the creation of threads may fail, as their documentation says",
    )
    group.add_argument(
        "--no-signals",
        dest="signals",
        action="store_false",
        help="assume that no signal with a handler arrives but those the program sends itself",
    )
    group.add_argument(
        "--no-spurious-wakeups",
        dest="spurious_wakeups",
        action="store_false",
        help="assume that condition variables wake only when signalled",
    )
    group.add_argument(
        "--args",
        metavar="'ARG ...'",
        help="what main gets after the program's name ('' for nothing; default: anything)",
    )
    group.add_argument(
        "--argument-count",
        type=positive,
        default=SMALLEST.count,
        metavar="N",
        help="without --args: so many arguments can be any, with the program's name; a verification"
        f" goes on with more, up to {LARGEST.count}, where an execution looks at more"
        f" (default: {SMALLEST.count})",
    )
    group.add_argument(
        "--argument-bytes",
        type=positive,
        default=SMALLEST.bytes,
        metavar="N",
        help=f"the same for the bytes of each, up to {LARGEST.bytes} (default: {SMALLEST.bytes})",
    )


def _show_options(parser: Parser) -> None:
    _program_options(parser)
    parser.add_argument(
        "--dot",
        type=target_or_output,
        metavar="FILE",
        help="write a Graphviz graph ('-': print it)",
    )
    _target_option(parser, "--svg", "draw the graph")


def _run_options(parser: Parser) -> None:
    _program_options(parser)
    _memory_model_option(parser)
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--seed", type=int, metavar="N", help="choose the schedule at random")
    choice.add_argument("--schedule", metavar="FILE", help="follow a saved schedule")
    _target_option(parser, "--save-schedule", "keep the schedule in a file")
    parser.add_argument(
        "-q", "--quiet", action="store_true", help="show only how it ends and what it prints"
    )
    parser.add_argument(
        "--raw-output",
        action="store_true",
        help="show what the program prints as it is, with all that moves the cursor",
    )
    parser.add_argument(
        "--max-steps",
        type=positive,
        metavar="N",
        default=100_000,
        help="give up after N steps (default: 100000)",
    )


def _memory_model_option(parser: Parser) -> None:
    parser.add_argument(
        "--memory-model",
        choices=MEMORY_MODELS,
        help="whose executions are meant: sc, sequentially consistent memory (the default); tso and"
        " pso, processors with store buffers (x86, SPARC), which know no memory orders of accesses;"
        " c11, C11 as RC11 has it, where a data race is undefined (docs/weak-memory.md)",
    )


def _explore_options(parser: Parser) -> None:
    _program_options(parser)
    _memory_model_option(parser)
    parser.add_argument(
        "--max-states",
        type=positive,
        metavar="N",
        default=2_000_000,
        help="give up after N states of about 1 kB each (default: 2000000)",
    )
    parser.add_argument("--timeout", type=seconds, metavar="S", help="give up after S seconds")
    parser.add_argument(
        "--inputs",
        type=interval,
        metavar="LO..HI",
        help="explore only these values of every non-deterministic input",
    )
    parser.add_argument(
        "--reduction",
        choices=("sleep", "none"),
        default="sleep",
        help="skip schedules that differ only in the order of independent steps (default: sleep)",
    )
    _target_option(parser, "--save-schedule", "keep the counterexample for `plait run --schedule`")
    _form_options(parser)


def _verify_options(parser: Parser) -> None:
    _program_options(parser)
    _memory_model_option(parser)
    parser.add_argument(
        "--suggest-fences",
        action="store_true",
        help="under a weak memory model, if there is a violation: name the accesses that are out of"
        " order, and look for a smallest set of stronger memory orders and fences that makes the"
        " program right; as long again as --timeout says (300 s if it does not)",
    )
    parser.add_argument(
        "--engine",
        choices=registry.choices(),
        default=registry.AUTO,
        help="how to verify: auto (the default) makes cheap checks and then runs the engines that"
        " fit, the first one that decides ends the others; portfolio starts them all at once; or"
        " one engine alone (see below)",
    )
    parser.add_argument(
        "--unwind", type=positive, metavar="N", help="unroll loops and recursion N times, no more"
    )
    _limit_options(parser)
    parser.add_argument(
        "--jobs",
        type=positive,
        metavar="N",
        help="let N engines work at the same time (default: one on each core)",
    )
    parser.add_argument(
        "--no-cache",
        dest="cache",
        action="store_false",
        help="verify again even if nothing has changed since an earlier run, and keep nothing",
    )
    parser.add_argument(
        "--progress",
        choices=("auto", "json", "none"),
        default="auto",
        help="show what the engines are doing: in a few lines on a terminal (auto, the default), as"
        " lines of JSON on standard error (docs/progress.md), or not at all",
    )
    _form_options(parser)
    _target_option(
        parser,
        "--certificate",
        "save the proof of a true verdict, for `plait check` (engine"
        f" {registry.names(item for item in registry.engines() if item.gives_certificates)})",
    )
    for engine in registry.engines():
        if engine.options:
            group = parser.add_argument_group(
                f"engine {engine.name}",
                "These options change how long the engine takes, not what it finds.",
            )
            for option in engine.options:
                _engine_option(group, option)


def _cover_options(parser: Parser) -> None:
    _program_options(parser)
    parser.add_argument(
        "--engine",
        choices=registry.choices(),
        default=registry.AUTO,
        help="what looks for tests and proofs (default: auto, see `plait verify --help`)",
    )
    _limit_options(parser)
    parser.add_argument(
        "--jobs", type=positive, metavar="N", help="let N engines work at the same time"
    )
    parser.add_argument(
        "--no-cache", dest="cache", action="store_false", help="use no answers of earlier runs"
    )
    parser.add_argument(
        "--tests",
        metavar="DIR",
        help="write the tests into this folder, as schedules for `plait run --schedule`",
    )
    parser.add_argument(
        "--emit",
        metavar="DIR",
        help="write the tests into this folder as a C program (`make coverage` runs them)",
    )
    parser.add_argument(
        "--run",
        action="store_true",
        help="compile and run the tests, and compare what they reach with what is claimed: this"
        " executes the program",
    )
    parser.add_argument("--cc", metavar="CC", help="the compiler (default: $CC, cc or gcc)")
    _target_option(parser, "--json", "the table and the tests")
    _target_option(parser, "--html", "the sources, coloured")
    _target_option(parser, "--lcov", "live lines as executed ones, for tools that read LCOV")
    _target_option(parser, "--sarif", "dead lines as notes, for editors and code scanning")


def _engine_option(group: argparse._ArgumentGroup, option: EngineOption) -> None:
    """Without a value given, the engine's default holds."""
    name, text = option.name, option.help
    if option.choices:
        group.add_argument(option.flag, dest=name, choices=option.choices, help=text)
    elif option.is_switch:
        group.add_argument(
            option.flag, dest=name, action="store_const", const=not option.default, help=text
        )
    else:
        group.add_argument(option.flag, dest=name, type=positive, metavar="N", help=text)


def _form_options(parser: Parser) -> None:
    group = parser.add_argument_group(
        "reports",
        "Files that the result is written to. A file that is there already is replaced only if it"
        " is empty or plait has written it.",
    )
    _target_option(
        group, "--json", "verdict, evidence and statistics, for `plait report` and for tools"
    )
    _target_option(group, "--html", "a page to step through the evidence")
    _target_option(group, "--sarif", "SARIF 2.1.0, for editors and code scanning")
    _target_option(group, "--junit", "JUnit XML, for continuous integration")
    _target_option(group, "--witness", "a witness for other verifiers")
    group.add_argument(
        "--witness-format",
        choices=WITNESS_FORMATS,
        default="2.2",
        help="YAML 2.0, 2.1 or 2.2 (which knows threads), or GraphML 1.0 (default: 2.2)",
    )


def _target_option(group: argparse._ActionsContainer, flag: str, text: str) -> None:
    group.add_argument(flag, type=target, metavar="FILE", help=text)


def _limit_options(parser: Parser) -> None:
    parser.add_argument("--timeout", type=seconds, metavar="S", help="give up after S seconds")
    parser.add_argument(
        "--memory-limit",
        type=gibibytes,
        metavar="G",
        help="give up when more than G GiB of memory are in use, e.g. 0.5",
    )


def _check_options(parser: Parser) -> None:
    parser.add_argument(
        "certificate", metavar="FILE", help="what `plait verify --certificate FILE` has saved"
    )
    _program_options(parser)
    _limit_options(parser)


def _validate_options(parser: Parser) -> None:
    parser.add_argument("witness", metavar="WITNESS", help="a violation witness of any verifier")
    _program_options(parser)
    _limit_options(parser)


def _report_options(parser: Parser) -> None:
    parser.add_argument("result", metavar="RESULT", help="what `plait verify --json` has saved")
    parser.add_argument("-v", "--verbose", action="store_true", help="show all steps")
    _form_options(parser)


def _replay_options(parser: Parser) -> None:
    parser.add_argument(
        "result",
        metavar="RESULT",
        help="what `plait verify --json` or `plait explore --json` wrote",
    )
    parser.add_argument(
        "programs", nargs="*", metavar="PROG", help="the sources (default: those of the result)"
    )
    parser.add_argument("-v", "--verbose", action="store_true", help="show what the program prints")
    parser.add_argument(
        "--times", type=positive, default=20, metavar="N", help="number of runs (default: 20)"
    )
    parser.add_argument("--emit", metavar="DIR", help="write a stand-alone C test into this folder")
    parser.add_argument(
        "--timeout",
        type=seconds,
        default=20.0,
        metavar="S",
        help="stop a run after S seconds (default: 20)",
    )
    parser.add_argument(
        "--memory-limit",
        type=gibibytes,
        default=2.0,
        metavar="G",
        help="give a run G GiB of memory (default: 2)",
    )
    parser.add_argument("--cc", metavar="CC", help="the compiler (default: $CC, cc, gcc or clang)")


def _hunt_options(parser: Parser) -> None:
    parser.add_argument(
        "programs",
        nargs="*",
        metavar="PROG",
        help=".c or .i files of one program; with --binary-from the program that the build makes",
    )
    parser.add_argument("-v", "--verbose", action="store_true", help="show every operation")
    parser.add_argument(
        "--binary-from",
        metavar="COMMAND",
        help="build the program with this command, where %%cc is the compiler and %%cflags its"
        " options, e.g. 'make CC=%%cc CFLAGS=%%cflags'",
    )
    _hunt_search_options(parser)
    group = parser.add_argument_group("the program")
    group.add_argument(
        "-I", dest="include_dirs", action="append", default=[], metavar="DIR", help="header folder"
    )
    group.add_argument(
        "-D", dest="defines", action="append", default=[], metavar="NAME[=VALUE]", help="macro"
    )
    group.add_argument("--cc", metavar="CC", help="the compiler (default: $CC, cc, gcc or clang)")
    group.add_argument(
        "--cflags", metavar="'FLAG ...'", help="more options of the compiler (default: -O1)"
    )
    group.add_argument("--input", metavar="FILE", help="standard input (default: nothing)")
    group.add_argument(
        "--scratch", action="store_true", help="start each run in an empty folder of its own"
    )
    group.add_argument(
        "--timeout",
        type=seconds,
        default=20.0,
        metavar="S",
        help="stop a run after S seconds (default: 20)",
    )
    group.add_argument(
        "--memory-limit",
        type=gibibytes,
        default=4.0,
        metavar="G",
        help="give a run G GiB of memory (default: 4)",
    )
    group.add_argument(
        "--max-operations",
        type=positive,
        default=2_000_000,
        metavar="N",
        help="stop a run after N visible operations (default: 2000000)",
    )


def _hunt_search_options(parser: Parser) -> None:
    group = parser.add_argument_group("search")
    group.add_argument(
        "--engine",
        choices=("auto", "dpor", "fusion", "pct", "random"),
        default="auto",
        help="which schedules: all of them up to the order of independent operations (dpor); the"
        " same, but all orders of a run's steps are checked at once and what cannot fail is left"
        " out (fusion, for sources that plait has a model of); by priorities (pct), at random, or"
        " dpor, pct and random in turn (default: auto)",
    )
    group.add_argument(
        "--time", type=seconds, default=60.0, metavar="S", help="end after S seconds (default: 60)"
    )
    group.add_argument("--runs", type=positive, metavar="N", help="end after N runs")
    group.add_argument(
        "--seed", type=int, default=0, metavar="N", help="of random and pct (default: 0)"
    )
    group.add_argument("--depth", type=positive, default=3, metavar="N", help="of pct (default: 3)")
    group.add_argument(
        "--property",
        action="append",
        choices=("assertions", "no-data-race", "no-deadlock", "valid-access", "lock-misuse"),
        metavar="P",
        help="what to look for, repeatable: assertions (and aborts and crashes), no-data-race,"
        " no-deadlock, valid-access, lock-misuse (default: all but the last)",
    )
    group.add_argument(
        "--no-predict",
        dest="predict",
        action="store_false",
        help="do not try the races and deadlocks that a run says are possible in another order",
    )
    group.add_argument("--all", action="store_true", help="go on after the first failure")
    group.add_argument(
        "--times",
        type=positive,
        default=20,
        metavar="N",
        help="show a failure N times before it is reported (default: 20)",
    )
    group.add_argument(
        "--minimize", action="store_true", help="look for a schedule with fewer context switches"
    )
    group.add_argument(
        "--corpus", metavar="DIR", help="keep schedules here, and go on from what is there"
    )
    _target_option(group, "--save-schedule", "keep the schedule of the failure in a file")
    group.add_argument("--schedule", metavar="FILE", help="only run this schedule again")
