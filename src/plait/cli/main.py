"""The `plait` command: dispatch, and errors that reach people as one or two lines.

Only the command that was asked for is imported, so that `plait --help` starts at once.
"""

from __future__ import annotations

import argparse
import errno
import os
import sys
from collections.abc import Sequence

from plait.cli import exits
from plait.cli.interrupts import Ignored
from plait.cli.output import Console
from plait.cli.parser import parse
from plait.cli.streams import flush_standard_streams, open_standard_streams
from plait.cli.targets import check_targets
from plait.errors import InputError, PlaitError, describe
from plait.work.garbage import collect_rarely


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the result is the exit code. Without arguments they are those of the
    process, which ends with the command."""
    if arguments is not None:
        return _main(arguments)
    collect_rarely()
    open_standard_streams()
    try:
        code = _main(sys.argv[1:])
    except SystemExit as stop:  # by argparse, after help or a mistake
        code = stop.code if isinstance(stop.code, int) else exits.UNUSABLE_INPUT
    Ignored().__enter__()  # all is said
    flush_standard_streams()
    os._exit(code)  # to take the interpreter apart costs as much as to start it


def _main(arguments: Sequence[str]) -> int:
    options = parse(arguments)
    console = Console()
    try:
        return _run_command(options, console)
    except KeyboardInterrupt:
        with Ignored():
            console.wipe_interrupt()
            code = _no_answer(options, console, "interrupted", exits.INTERRUPTED)
            console.close()
            return code
    except InputError as error:
        _report(error, console, show_all=options.verbose)
        return exits.UNUSABLE_INPUT
    except MemoryError:
        return _no_answer(options, console, "out of memory", exits.UNKNOWN)
    except PlaitError as error:
        return _no_answer(options, console, str(error), exits.UNKNOWN)
    except Exception as error:
        if os.environ.get("PLAIT_TRACEBACK"):
            raise
        if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
            return _no_answer(options, console, "too many open files", exits.UNKNOWN)
        what = f"internal error: {describe(error)}"
        console.error(f"{what}\nplease report this with the program and the options that cause it")
        return _no_answer(options, console, what, exits.UNKNOWN, said=True)
    finally:
        console.close()


def _run_command(options: argparse.Namespace, console: Console) -> int:
    check_targets(options)
    match options.command:
        case "show":
            from plait.cli.show import show as command
        case "run":
            from plait.cli.run import run as command
        case "check":
            from plait.cli.check import check as command
        case "replay":
            from plait.cli.replay import replay as command
        case "hunt":
            from plait.cli.hunt import hunt as command
        case "cover":
            from plait.cli.cover import cover as command
        case "validate":
            from plait.cli.validate import validate as command
        case "verify":
            from plait.cli.verify import verify as command
        case "bench":
            from plait.cli.bench import bench as command
        case "report":
            from plait.cli.report import report as command
        case _:
            from plait.cli.explore import explore as command
    return command(options, console)


def _report(error: InputError, console: Console, *, show_all: bool) -> None:
    """The first mistake is the one to mend; a compiler's list of the rest is for those who ask."""
    first, *others = error.diagnostics
    if show_all or not others:
        for diagnostic in error.diagnostics:
            console.error(str(diagnostic))
        return
    head, *source_line = str(first).split("\n")
    console.error("\n".join([f"{head} (and {len(others)} more: -v)", *source_line]))


def _no_answer(
    options: argparse.Namespace, console: Console, reason: str, code: int, *, said: bool = False
) -> int:
    """`verify`, `explore`, `check` and `validate` always end in a verdict; the others only have an
    error."""
    if options.command == "check":
        console.line(f"CERTIFICATE: unknown ({' '.join(reason.split())})")
        return exits.UNKNOWN
    if options.command == "validate":
        console.line(f"WITNESS: unknown ({' '.join(reason.split())})")
        return exits.UNKNOWN
    if options.command in ("explore", "verify") and console.found is not None:
        # What was found stays found, whatever goes wrong while it is shown or written.
        if not said:
            console.error(reason)
        verdict = console.found[0]
        console.verdict(*console.found)
        return exits.OF_VERDICTS[verdict]
    if options.command in ("explore", "verify"):
        console.line(f"VERDICT: unknown ({' '.join(reason.split())})")
        return exits.UNKNOWN
    if not said:
        console.error(reason)
    return exits.UNKNOWN if options.command == "bench" else code


if __name__ == "__main__":
    sys.exit(main())
