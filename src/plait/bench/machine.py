"""Where and with what a run was made: numbers mean nothing without."""

from __future__ import annotations

import os
import platform
from hashlib import sha256
from importlib import metadata
from pathlib import Path
from typing import Any

import plait

_PACKAGES = ("z3-solver", "python-sat", "libclang-ng", "libclang")


def version() -> str:
    """With a digest of plait's own files: a change of the code is another version."""
    root = Path(plait.__file__).parent
    digest = sha256()
    for path in sorted(root.rglob("*")):
        if path.is_file() and path.suffix != ".pyc":
            digest.update(path.relative_to(root).as_posix().encode() + b"\0")
            digest.update(path.read_bytes() + b"\0")
    return f"{plait.__version__}+{digest.hexdigest()[:12]}"


def machine() -> dict[str, Any]:
    return {
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "memory_bytes": _memory(),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "packages": {name: found for name in _PACKAGES if (found := _package(name)) is not None},
    }


def _package(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _cpu() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text("utf-8", "replace").splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                return value.strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _memory() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError):
        return None
