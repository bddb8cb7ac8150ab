"""The process that is Ray's driver: `python -m plait.bench.cluster.driver`.

Ray's libraries end a process that loses the cluster, print what they like, and set signal handlers:
nothing for the process that keeps the journal. This one reads a plan, works, and says what happens
line by line. It stops as soon as its input is at its end, by force if Ray does not let it.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from plait.bench.cluster.dispatch import Dispatcher, NobodyLeft, Patience, Unusable
from plait.bench.cluster.fleet import connect
from plait.bench.cluster.shipping import Terms, job_from_plain, pack
from plait.data import replace
from plait.errors import describe

FAREWELL_SECONDS = 15.0


def main() -> int:
    answers = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(2, 1)
    plan = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_by_force, daemon=True).start()

    def say(message: dict[str, Any]) -> None:
        answers.write(json.dumps(message) + "\n")
        answers.flush()

    try:
        _work(plan, say)
    except BrokenPipeError:
        return 1  # nobody listens
    except Unusable as error:
        say({"unusable": str(error)})
    except NobodyLeft as error:
        say({"failed": str(error)})
    except Exception as error:
        say({"failed": f"internal error: {describe(error)}"})
    return 0


def _work(plan: dict[str, Any], say: Callable[[dict[str, Any]], None]) -> None:
    jobs = [job_from_plain(item) for item in plan["jobs"]]
    terms = Terms(**plan["terms"])

    def parcel(job: int, cpus: int) -> str:
        choices = {**terms.choices, "jobs": cpus}
        return pack(jobs[job], replace(terms, choices=choices))

    if plan["address"] is None:
        os.environ["TMPDIR"] = plan["folder"]  # for all processes of the cluster
    fleet = connect(plan["address"], plan["folder"], plan["cpus"])
    say({"connected": True})
    try:
        Dispatcher(
            fleet,
            len(jobs),
            parcel,
            say,
            _is_over,
            version=plan["version"],
            per_node=plan["per_node"],
            patience=Patience(answer=plan["longest_answer"]),
        ).run()
    finally:
        fleet.close()
        if _is_over():
            shutil.rmtree(plan["folder"], ignore_errors=True)  # who made it may be gone


def _is_over() -> bool:
    return bool(select.select([0], [], [], 0)[0])


def _end_by_force() -> None:
    select.select([0], [], [])
    time.sleep(FAREWELL_SECONDS)
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main())
