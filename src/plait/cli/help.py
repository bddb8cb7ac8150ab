"""Help that teaches by example: what stands below the options of each command."""

from __future__ import annotations

from textwrap import fill

from plait.engines import registry
from plait.engines.description import EngineDescription, Start
from plait.model.property_names import PROPERTY_NAMES

EXIT_CODES = """\
exit codes:
  0  the property holds          1  the property is violated
  2  unusable options or input   3  no verdict (limits, unsupported code)
"""

MAIN_HELP = f"""\
examples:
  plait verify examples/locked_counter.c
      prove or refute the assertions of a program for all schedules and inputs
  plait cover --timeout 60 --html lines.html queue.c
      find an execution for each line of a program, or prove that there is none
  plait check proof.json examples/peterson.c
      check a proof that `plait verify --certificate proof.json` has saved
  plait validate witness.yml examples/counter_race.c
      look for an execution that follows a witness of a violation, by any verifier
  plait explore examples/counter_race.c
      check the assertions of a program in every interleaving of its threads
  plait explore --property no-data-race --property no-deadlock queue.c main.c
      check two other properties of a program of two files
  plait run --seed 7 examples/counter_race.c
      interpret one interleaving and show it, one column for each thread
  plait replay result.json
      show a failure that `plait verify --json result.json` has found in the compiled program
  plait hunt --time 60 prog.c -- ARGS
      run the real program under many schedules until it fails
  plait bench --timeout 60 tasks/
      verify all tasks of a suite, with scores, plots and a page
  plait show examples/counter_race.c
      print the program model that verdicts are about

{EXIT_CODES}
`plait COMMAND --help` explains a command. Only `plait replay`,
`plait hunt` and `plait cover --run` execute the program.
"""

SHOW_HELP = """\
examples:
  plait show examples/peterson.c              threads, locations and actions as text
  plait show --dot - examples/peterson.c      the control flow as a Graphviz graph
  plait show --svg peterson.svg examples/peterson.c   the same as a picture
"""

RUN_HELP = f"""\
The program is interpreted on plait's model of C and pthreads; no native code is executed.
Without --seed and --schedule the schedule is that of seed 0, so a run can always be repeated.

examples:
  plait run examples/counter_race.c                     one schedule
  plait run --seed 3 --save-schedule s.txt prog.c       another one, kept in a file
  plait run --schedule s.txt prog.c                     the same one again

{EXIT_CODES}
"""

_STARTS = {
    Start.CHECKS: "checks first",
    Start.FIRST: "starts first",
    Start.SOON: "joins after a few seconds",
    Start.LATER: "joins where loops have no bound, or when time passes",
    Start.ON_REQUEST: "runs on request",
}


def verify_help() -> str:
    engines = "\n".join(map(_engine_lines, registry.engines()))
    return f"{_VERIFY_BEGINNING}\n{engines}\n\n{_VERIFY_END}"


def _engine_lines(engine: EngineDescription) -> str:
    words = [f"{engine.summary}. With auto it {_STARTS[engine.start]}."]
    if not engine.checks >= frozenset(PROPERTY_NAMES):
        words.append(f"Properties: {', '.join(sorted(engine.checks))}.")
    if engine.runs_program:
        words.append("It EXECUTES the program.")
    return fill(
        " ".join(words), 98, initial_indent=f"  {engine.name:<10} ", subsequent_indent=" " * 13
    )


_VERIFY_BEGINNING = """\
Engines verify in different ways; the first sound answer counts.

engines:"""

_VERIFY_END = f"""\
examples:
  plait verify examples/counter_race.c
  plait verify --prp unreach-call.prp --data-model ILP32 --timeout 60 task.i
  plait verify --timeout 60 task.yml
  plait verify --timeout 60 tasks/                    every task of a folder, a line for each
  plait verify --certificate proof.json examples/peterson.c
  plait verify --timeout 900 --memory-limit 4 --json result.json prog.c

{EXIT_CODES}
The last line is `VERDICT: true`, `VERDICT: false (PROPERTY)` or `VERDICT: unknown (REASON)`. Of
several tasks it is `false` if one is violated, and `true` only if every single one is: broken ones
(exit code 2), and those left out because plait does not know the property, make it `unknown`. A
limit or Ctrl-C ends in `unknown`; the reason says how far plait came: "time limit of 5 s; no
violation with up to 4 loop rounds". All reports are written then, too. Verdicts are kept in
~/.cache/plait: if nothing has changed, the next run answers at once; after an edit the last
counterexample and proof are tried first.
"""

CHECK_HELP = """\
The sources are parsed again. Every step of every thread is executed again, by other code than the
engine's, and every claim is proved again by another solver. Properties, macros and the like are
those of the options, as for `plait verify`: a certificate of something else is rejected, and the
reason says with which options it was made.

examples:
  plait verify --certificate proof.json examples/peterson.c
  plait check proof.json examples/peterson.c
  plait check --property no-overflow -D SIZE=4 overflow.json queue.c

exit codes:
  0  accepted                    1  rejected: the first step that fails is named
  2  unusable options or input   3  not decided (limits)

The last line is `CERTIFICATE: accepted`, `CERTIFICATE: rejected (REASON)` or
`CERTIFICATE: unknown (REASON)`.
"""

COVER_HELP = """\
For each line of the program that has code: an execution that reaches it (live), a proof that no
execution does, in any schedule and for all inputs (dead), or neither (unknown). Random executions
come first, then the engines. --timeout is for all lines together; what is asked again is answered
from the cache, so that a second run goes on where the first one has stopped. Only --run executes
the program.

examples:
  plait cover --timeout 60 queue.c
  plait cover --html lines.html --lcov lines.info --tests tests queue.c main.c
  plait cover --run --emit tests queue.c main.c              tests as a C program, with gcov
  plait run --schedule tests/test-3.json queue.c main.c      what a test does
  plait verify --reach queue.c:42 queue.c                    only one line

exit codes:
  0  every line is live or dead  3  some line is unknown
  2  unusable options or input

The last line is `COVER: L live, D dead, U unknown of N lines`.
"""

VALIDATE_HELP = """\
The program is executed by plait's reference interpreter as the witness says, and where the witness
leaves something open, in all ways. Properties are those that the witness names; with --property or
--prp only those that are named there too. Formats: GraphML 1.0 and YAML 2.0 to 2.2.

examples:
  plait verify --witness w.yml examples/counter_race.c
  plait validate w.yml examples/counter_race.c
  plait validate --data-model ILP32 --timeout 90 witness.graphml task.i

exit codes:
  0  confirmed: an execution that follows the witness violates the property at its target
  1  rejected: there is none, or the witness is not about this program
  2  unusable options or input   3  not decided (limits, inputs with too many values)

The last line is `WITNESS: confirmed`, `WITNESS: rejected (REASON)` or `WITNESS: unknown (REASON)`.
"""

REPORT_HELP = """\
A result has all that the reports need: neither the sources nor the engines are used again.

examples:
  plait verify --json result.json examples/counter_race.c
  plait report result.json                       the trace and the verdict as they were printed
  plait report -v result.json                    with every step
  plait report result.json --html page.html --sarif result.sarif

exit codes:
  0  written                     2  unusable options or input, or a file that cannot be written
"""

REPLAY_HELP = """\
The sources that the result names are compiled with gcc or clang and linked with a small runtime
that forces the schedule and the inputs of the counterexample. This command EXECUTES the program,
within limits of time and memory; beside it only `plait hunt` does.

examples:
  plait verify --json result.json examples/counter_race.c
  plait replay result.json                   20 runs, each of which should fail
  plait replay --emit bug result.json        write it as a C test into the folder bug
  make -C bug test                           fails as long as the error is there
  make -C bug debug                          gdb, stopped right before the failing step
  plait replay --cc clang --times 1 -v result.json

exit codes:
  0  every run showed the failure    1  some run did not: the first difference is named
  2  unusable options or input, or the program cannot be compiled or linked
"""

EXPLORE_HELP = f"""\
Every reachable state of every interleaving is visited, so `true` means: in all schedules, for all
inputs. Programs with an infinite state space, or with inputs of more than 8 bits, end in `unknown`
unless a violation is found; with --inputs LO..HI the reason says that the property holds for these
inputs.

examples:
  plait explore examples/locked_counter.c
  plait explore --property no-deadlock examples/deadlock.c
  plait explore --prp unreach-call.prp --data-model ILP32 task.i
  plait explore --inputs 0..3 --timeout 60 --json result.json prog.c
  plait explore --save-schedule bug.txt prog.c && echo fine || plait run --schedule bug.txt prog.c

{EXIT_CODES}
The last line is `VERDICT: true`, `VERDICT: false (PROPERTY)` or `VERDICT: unknown (REASON)`.
"""

HUNT_HELP = """\
The program is compiled with hooks (-fsanitize=thread, without its library) and linked with a small
runtime that runs one thread at a time and decides at every access, lock, and the like who goes on.
This command EXECUTES the program, many times, within limits of time and memory for each run.

Looked for in every run: failing assertions, abort, crashes, data races, deadlocks, uses of freed
memory. A failure is reported only after it has shown again in every one of --times runs of its
schedule. Time is a clock of the scheduler: no run sleeps.

examples:
  plait hunt examples/counter_race.c
  plait hunt --time 600 --corpus flaky test.c queue.c -- --size 4
  plait hunt --engine dpor examples/locked_counter.c        every schedule: exit code 0
  plait hunt --schedule flaky/assertions-1f3a5b7c.schedule test.c queue.c -- --size 4
  plait hunt --binary-from 'make clean all CC=%cc CFLAGS=%cflags' ./prog input.txt

exit codes:
  0  no schedule of the program with this input fails (engine dpor; nothing was left out)
  1  a failure was shown         2  unusable options or input, or the program cannot be built
  3  nothing was found, but not every schedule was tried
"""
