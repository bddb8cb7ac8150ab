"""Create a virtual environment with pip in it, also where Python came without `ensurepip`.

Debian splits `ensurepip` off into python3-venv. Without that package `python3 -m venv` stops half
way, so the environment is then made without pip, and pip is taken from the system's own pip or,
checked against its published hash, from PyPI.

    python3 tools/make_venv.py .venv
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import urllib.parse
import urllib.request
from pathlib import Path

PYPI_PIP = "https://pypi.org/pypi/pip/json"


class Failed(Exception):
    """A way to get pip that did not work here."""


def run(command: list[str], **environment: str) -> None:
    result = subprocess.run(
        command,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if result.returncode != 0:
        last = result.stdout.strip().splitlines()[-1:] or [f"exit code {result.returncode}"]
        raise Failed(f"{' '.join(command)}: {last[0]}")


def with_ensurepip(target: Path) -> None:
    if importlib.util.find_spec("ensurepip") is None:
        raise Failed("this Python has no ensurepip module")
    run([sys.executable, "-m", "venv", "--clear", str(target)])


def with_system_pip(target: Path) -> None:
    if importlib.util.find_spec("pip") is None:
        raise Failed("this Python has no pip module")
    run([sys.executable, "-m", "venv", "--clear", "--without-pip", str(target)])
    python = str(target / "bin" / "python")
    run([sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "pip"])


def with_downloaded_pip(target: Path) -> None:
    run([sys.executable, "-m", "venv", "--clear", "--without-pip", str(target)])
    with tempfile.TemporaryDirectory() as scratch:
        wheel = download_pip(Path(scratch))
        python = str(target / "bin" / "python")
        command = [python, "-m", "pip", "install", "--quiet", "--no-index", str(wheel)]
        run(command, PYTHONPATH=str(wheel))


def download_pip(directory: Path) -> Path:
    try:
        with urllib.request.urlopen(PYPI_PIP, timeout=60) as reply:
            files = json.load(reply)["urls"]
        wheel = next(item for item in files if item["packagetype"] == "bdist_wheel")
        # A mirror that answers for PyPI may name its files relative to itself.
        address = urllib.parse.urljoin(PYPI_PIP, wheel["url"])
        with urllib.request.urlopen(address, timeout=60) as reply:
            content = reply.read()
    except (OSError, ValueError, KeyError, StopIteration) as error:
        raise Failed(f"cannot download pip from PyPI: {error}") from error
    if hashlib.sha256(content).hexdigest() != wheel["digests"]["sha256"]:
        raise Failed("the downloaded pip does not have its published hash")
    path = directory / str(wheel["filename"])
    path.write_bytes(content)
    return path


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print("usage: python3 tools/make_venv.py DIRECTORY", file=sys.stderr)
        return 2
    target = Path(arguments[0])
    reasons: list[str] = []
    for way in (with_ensurepip, with_system_pip, with_downloaded_pip):
        try:
            way(target)
            return 0
        except Failed as failure:
            reasons.append(str(failure))
    shutil.rmtree(target, ignore_errors=True)
    print(f"cannot create a virtual environment in {target}:", file=sys.stderr)
    for reason in reasons:
        print(f"  {reason}", file=sys.stderr)
    print("install the module that is missing: apt-get install python3-venv", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
