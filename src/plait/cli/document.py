"""The JSON result of `plait verify`, described in docs/json.md."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import plait
from plait.cli.arguments import as_arguments
from plait.cli.messages import Loaded, Question, Result

RESULT_VERSION = 1
DEFAULT_ENGINE = "orders"  # what `--engine auto` means


def to_json(
    options: argparse.Namespace,
    question: Question | None,
    loaded: Loaded | None,
    result: Result,
    usage: dict[str, Any],
    report: Path | None,
) -> str:
    """`question` and `loaded` are missing if the worker did not come so far."""
    import json

    data: dict[str, Any] = {
        "plait-result": RESULT_VERSION,
        "version": plait.__version__,
        "files": options.programs,
        "arguments": as_arguments(options),
        "entry": options.entry if question is None else question.entry,
        "data_model": options.data_model,
        "properties": [] if question is None else question.properties,
        "engine": DEFAULT_ENGINE if options.engine == "auto" else options.engine,
        "settings": {} if question is None else question.settings,
        "verdict": result.verdict,
        "violated": result.violated,
        "reason": result.reason,
        "bound": result.bound,
        "assumptions": [] if loaded is None else loaded.assumptions,
        "unsupported": [] if loaded is None else loaded.unsupported,
        "statistics": result.statistics | usage,
        "violation": result.violation,
        "schedule": result.schedule,
        "trace": result.trace,
        "report": None if report is None else str(report),
    }
    return json.dumps(data, indent=1, ensure_ascii=True) + "\n"
