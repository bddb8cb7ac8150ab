"""Mistakes of plait itself: one line for people, and a file with what is needed to find them."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import plait
from plait.cli.output import Console
from plait.files import read_regular

REPORT_VERSION = 1


def tell_failure(
    options: argparse.Namespace, console: Console, failure: dict[str, Any]
) -> str | None:
    """Say that plait itself has failed, for a `reason`; the path of the report, if there is one."""
    details = dict(failure)
    reason = details.pop("reason")
    report = write_report(options, reason, details)
    what = "the program" if report is None else f"the program and {report}"
    console.error(f"{reason}\nplease report this, with {what}")
    return None if report is None else str(report)


def write_report(options: argparse.Namespace, message: str, details: dict[str, Any]) -> Path | None:
    """Write `plait-report-HASH.json` into the current directory, or where temporary files go."""
    import json
    from hashlib import sha256
    from tempfile import gettempdir

    data = {
        "plait-report": REPORT_VERSION,
        "version": plait.__version__,
        "python": sys.version,
        "platform": sys.platform,
        "message": message,
        "options": vars(options),
        "files": {path: _digest(path) for path in options.programs},
        **details,
    }
    text = json.dumps(data, indent=1, default=str) + "\n"
    name = f"plait-report-{sha256(text.encode('ascii')).hexdigest()[:12]}.json"
    for folder in (Path(), Path(gettempdir())):
        try:
            (folder / name).write_text(text, encoding="ascii")
            return folder / name
        except OSError:
            continue
    return None


def _digest(path: str) -> str | None:
    from hashlib import sha256

    try:
        return sha256(read_regular(path)).hexdigest()
    except OSError:
        return None
