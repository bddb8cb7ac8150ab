"""Values of options: from text, or a mistake that says what is expected."""

from __future__ import annotations

import argparse
import re

from plait.engines.description import LARGEST_NUMBER
from plait.portfolio.values import is_dialect

LOCAL = "local"  # the address of a cluster that is started for one run


def dialect(text: str) -> str:
    if not is_dialect(text):
        raise argparse.ArgumentTypeError(f"'{text}' is not a C dialect such as c11 or gnu17")
    return text


def positive(text: str) -> int:
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value <= 0:
        raise argparse.ArgumentTypeError(f"'{text}' is not a positive number")
    if value > LARGEST_NUMBER:
        raise argparse.ArgumentTypeError(f"'{text}' is more than {LARGEST_NUMBER}")
    return value


def seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"'{text}' is not a positive number of seconds")
    return value


def gibibytes(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.0 < value < 2**32:
        raise argparse.ArgumentTypeError(f"'{text}' is not a positive number of GiB")
    return value


def interval(text: str) -> tuple[int, int]:
    low, dots, high = text.partition("..")
    try:
        interval = int(low), int(high)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not of the form LO..HI") from None
    if not dots or interval[0] > interval[1]:
        raise argparse.ArgumentTypeError(f"'{text}' is an empty interval")
    return interval


def cluster_address(text: str) -> str:
    if text in (LOCAL, "auto") or re.fullmatch(r"[\w.-]+:\d+|\[[0-9a-fA-F:]+\]:\d+", text):
        return text
    raise argparse.ArgumentTypeError(
        f"'{text}' is no address of a cluster (HOST:PORT or auto); without one, put --cluster last"
    )
