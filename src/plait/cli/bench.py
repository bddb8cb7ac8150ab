"""`plait bench`: verify all tasks of a suite, and tell how good that is."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plait.cli import exits
from plait.cli.interrupts import Interrupts
from plait.cli.output import Console
from plait.cli.values import LOCAL, cluster_address, gibibytes, positive, seconds
from plait.engines import registry
from plait.errors import InputError
from plait.report.characters import one_line

if TYPE_CHECKING:
    from plait.api import Choices
    from plait.bench.run import MakeExecutor, Run, Settings
    from plait.bench.suite import Suite

DEFAULT_ENGINES = (registry.AUTO,)
DEFAULT_OUT = "plait-bench"
_MOST_WRONG = 20

BENCH_HELP = """\
Tasks are BenchExec task definitions with an expected verdict; how many are left out, because they
have none or because plait does not know the property, is said. Every result is on disk as soon as
it is there, and a run that was interrupted goes on where it was when it is started again.

examples:
  plait bench --timeout 60 sv-benchmarks/c/pthread
  plait bench --timeout 60 --memory-limit 4 --engines auto,portfolio --out night tasks/
  plait bench --timeout 60 --compare night/results.csv --out today tasks/
  plait bench --timeout 60 tasks/ --cluster 10.0.0.1:6379

files in the folder of --out:
  journal.jsonl   every result, as they came; what a run goes on from
  results.csv     one row for each task and engine
  results.json    the same with statistics, settings and the machine
  summary.html    tables, plots and all tasks, in one page
  summary.md      the table by folder and engine
  tasks/          a page for each task and engine, which summary.html links to (not of a cluster)

exit codes:
  0  all jobs are done and no verdict is wrong    1  some verdict is wrong
  2  unusable options or input; or all jobs are done, but some task definition is broken
  3  not all jobs are done, or not all files are written: interrupted, disk full
"""


def bench_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "programs", nargs="*", metavar="TASK", help="task definitions (.yml), or folders with some"
    )
    parser.add_argument(
        "-v",
        "--verbose",
        action="store_true",
        help="name every task that is left out or broken, and every wrong verdict",
    )
    parser.add_argument(
        "-q", "--quiet", action="store_true", help="show neither progress nor what is finished"
    )
    parser.add_argument(
        "--engines",
        type=_engines,
        default=list(DEFAULT_ENGINES),
        metavar="E,...",
        help=f"which engines to run on each task: {', '.join(registry.choices())} (default: auto)",
    )
    parser.add_argument(
        "--property", action="append", default=[], metavar="P", help="only tasks about P"
    )
    parser.add_argument(
        "--timeout", type=seconds, metavar="S", help="seconds for each job (default: no limit)"
    )
    parser.add_argument(
        "--memory-limit", type=gibibytes, metavar="G", help="GiB of memory for each job"
    )
    parser.add_argument(
        "--jobs",
        type=positive,
        default=1,
        metavar="N",
        help="jobs at the same time, on each node of a cluster (default: 1, for numbers that do not"
        " disturb each other)",
    )
    parser.add_argument(
        "--cluster",
        nargs="?",
        type=cluster_address,
        const=LOCAL,
        metavar="ADDRESS",
        help="run on Ray: on a cluster that is started for this run, or on the one at ADDRESS"
        " (HOST:PORT, or auto for the one of this machine)",
    )
    parser.add_argument(
        "--out",
        default=DEFAULT_OUT,
        metavar="DIR",
        help=f"where to write everything (default: {DEFAULT_OUT})",
    )
    parser.add_argument(
        "--fresh", action="store_true", help="throw away what an earlier run has left in --out"
    )
    parser.add_argument(
        "--force",
        action="store_true",
        help="use --out even if it has files of these names that no run has written",
    )
    parser.add_argument(
        "--no-pages",
        dest="pages",
        action="store_false",
        help="write no page for each task, which takes about 150 kB",
    )
    parser.add_argument(
        "--compare", metavar="OLD.csv", help="tell what has changed since the run with this result"
    )


def _engines(text: str) -> list[str]:
    names = list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    unknown = [name for name in names if name not in registry.choices()]
    if unknown or not names:
        what = f"'{unknown[0]}'" if unknown else "nothing"
        raise argparse.ArgumentTypeError(f"{what}: known are {', '.join(registry.choices())}")
    return names


def bench(options: argparse.Namespace, console: Console) -> int:
    """A signal ends the jobs that are running and leads to an answer, or to none if there are no
    jobs yet."""
    with Interrupts() as interrupts:
        return _bench(options, console, interrupts)


def _bench(options: argparse.Namespace, console: Console, interrupts: Interrupts) -> int:
    from plait.bench.files import read_csv
    from plait.bench.run import End, Settings, is_foreign, jobs_of, run_suite

    if not options.force and is_foreign(Path(options.out)):
        raise InputError(
            f"--out {options.out}: has files that no run has written and this one would replace;"
            " name another folder (--force replaces them)"
        )
    old = None if options.compare is None else read_csv(Path(options.compare))
    suite = _suite(options, console)
    place = {} if options.cluster is None else {"cluster": True}
    settings = Settings(options.timeout, options.memory_limit, {"jobs": options.jobs, **place})
    executor, where = _executor(options, settings)

    def say(line: str) -> None:
        console.line(line)
        console.flush()

    run = run_suite(
        jobs_of(suite.tasks, options.engines),
        settings,
        executor,
        Path(options.out),
        say,
        old=old,
        flaws=suite.flaws,
        fresh=options.fresh,
        quiet=options.quiet,
        where=where,
        ended=interrupts.begun,
    )
    if run.end is End.INTERRUPTED:
        console.wipe_interrupt()
    code = _report(options, console, run)
    return exits.UNUSABLE_INPUT if code == exits.HOLDS and suite.flaws else code


def _suite(options: argparse.Namespace, console: Console) -> Suite:
    from plait.bench.suite import find_tasks

    suite = find_tasks(options.programs, options.property)
    console.errors([flaw.reason for flaw in suite.flaws], in_full=options.verbose)
    if not suite.tasks:
        raise InputError(_why_nothing(options, suite))
    for line in _left_out(suite, in_full=options.verbose):
        console.error(line)
    return suite


def _left_out(suite: Suite, *, in_full: bool) -> Iterator[str]:
    if in_full:
        for task in suite.unjudged:
            yield one_line(f"left out: {task.path} {task.property_name}: no expected verdict")
        for item in suite.left_out:
            yield one_line(f"left out: {item.reason}")
        return
    counts = {
        "without an expected verdict": len(suite.unjudged),
        "without a property that plait knows": len(suite.left_out),
    }
    parts = [f"{count} {what}" for what, count in counts.items() if count]
    if parts:
        yield f"left out: {', '.join(parts)} (-v: which)"


def _why_nothing(options: argparse.Namespace, suite: Suite) -> str:
    from plait.bench.suite import find_tasks

    where = ", ".join(options.programs)
    if suite.unjudged:
        return f"no task with an expected verdict in {where}: `plait verify` needs none"
    if options.property:
        others = find_tasks(options.programs).all_tasks
        names = ", ".join(sorted({task.property_name for task in others}))
        about = ", ".join(options.property)
        return f"no task about {about} in {where}" + (f", but about {names}" if names else "")
    if suite.left_out:
        return f"no task about a property that plait knows in {where}"
    return f"no tasks in {where}"


def _executor(
    options: argparse.Namespace, settings: Settings
) -> tuple[MakeExecutor, Callable[[], dict[str, Any]]]:
    """How jobs are done, and what to tell of where they were."""
    from plait.bench.cluster.executor import Cluster, check_ray
    from plait.bench.machine import machine
    from plait.bench.run import PAGES, local_pool, on_cluster, outer_limits
    from plait.bench.verifying import verify_by_plait, warm_up
    from plait.portfolio.run import cores

    choices: Choices = {"timeout": options.timeout, "memory_limit": options.memory_limit}
    if options.cluster is None:
        warm_up()
        choices["jobs"] = max(1, cores() // options.jobs)
        pages = Path(options.out) / PAGES if options.pages else None
        return local_pool(verify_by_plait(choices, pages), settings, options.jobs), machine
    check_ray()
    address = None if options.cluster == LOCAL else options.cluster
    cluster = Cluster(address, choices, options.jobs, *outer_limits(settings), cpus=cores())
    return on_cluster(cluster), cluster.machine


def _report(options: argparse.Namespace, console: Console, run: Run) -> int:
    from plait.bench.records import label
    from plait.bench.run import End
    from plait.bench.table import to_markdown

    if run.records:
        console.lines(["", *to_markdown(run.records).splitlines(), ""])
    wrong = run.wrong
    most = len(wrong) if options.verbose else _MOST_WRONG
    shown = [
        f"{label(record.key)}: {record.verdict}, expected {str(record.expected).lower()}"
        for record in wrong[:most]
    ]
    if len(wrong) > most:
        shown.append(f"and {len(wrong) - most} more (-v: which)")
    console.block("wrong", shown)
    for line in run.trouble:
        console.error(line)
    if run.end is not End.COMPLETE:
        console.error(
            f"{run.end.value}: {len(run.records)} of {run.total} done and kept in {options.out};"
            " the same command goes on from there"
        )
    elif read := [name for name in ("summary.html", "results.csv") if name in run.written]:
        console.line(f"written: {options.out}/{' and '.join(read)}")
    if wrong:
        return exits.VIOLATED
    return exits.HOLDS if run.end is End.COMPLETE and not run.trouble else exits.UNKNOWN
