"""The tool-info module for BenchExec: `tool="plait.bench.tool_info"` in a benchmark definition,
with plait installed beside BenchExec. Nothing else of plait needs BenchExec."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    BaseTool2: Any = object
    UnsupportedFeatureException: Any = Exception
else:
    from benchexec.tools.template import BaseTool2, UnsupportedFeatureException

_VERDICT = re.compile(r"VERDICT: (true|false|unknown)(?: \((.*)\))?")
# What plait calls a property, in the words of SV-COMP's results.
_RESULTS = {
    "assertions": "false(assert)",
    "unreach-call": "false(unreach-call)",
    "no-data-race": "false(no-data-race)",
    "no-deadlock": "false(no-deadlock)",
    "no-overflow": "false(no-overflow)",
    "valid-deref": "false(valid-deref)",
    "valid-free": "false(valid-free)",
    "valid-memtrack": "false(valid-memtrack)",
    "lock-misuse": "false(lock-misuse)",
    "no-undefined": "false(no-undefined)",
    "monitor": "false(monitor)",
}
_LIMITS = {
    "time limit": "TIMEOUT",
    "memory limit": "OUT OF MEMORY",
    "out of memory": "OUT OF MEMORY",
}
_UNUSABLE_INPUT = 2
_SHARE_OF_MEMORY = 0.95  # the rest is for the supervisor and for what the system counts besides


class Tool(BaseTool2):  # type: ignore[misc]
    """Data model and property come from the task, limits from the benchmark definition."""

    def executable(self, tool_locator: Any) -> str:
        return str(tool_locator.find_executable("plait", subdir="bin"))

    def name(self) -> str:
        return "plait"

    def version(self, executable: str) -> str:
        return str(self._version_from_tool(executable, line_prefix="plait "))

    def cmdline(self, executable: str, options: list[str], task: Any, rlimits: Any) -> list[str]:
        arguments = [executable, "verify", "--no-cache", *options]
        if task.property_file:
            arguments += ["--prp", task.property_file]
        data_model = (task.options or {}).get("data_model")
        if data_model not in (None, "ILP32", "LP64"):
            raise UnsupportedFeatureException(f"data model {data_model}")
        if data_model is not None and "--data-model" not in options:
            arguments += ["--data-model", data_model]
        if rlimits.cputime and "--timeout" not in options:
            arguments += ["--timeout", str(rlimits.cputime)]
        if rlimits.memory and "--memory-limit" not in options:
            arguments += ["--memory-limit", f"{_SHARE_OF_MEMORY * rlimits.memory / 2**30:.3f}"]
        return [*arguments, *task.input_files_or_identifier]

    def determine_result(self, run: Any) -> str:
        for line in reversed(list(run.output)):
            match = _VERDICT.fullmatch(line.strip())
            if match is not None:
                return _result(match[1], match[2] or "")
        if run.exit_code.value == _UNUSABLE_INPUT:
            return "ERROR(unusable input)"
        return "ERROR"


def _result(verdict: str, detail: str) -> str:
    if verdict == "true":
        return "true"
    if verdict == "false":
        return _RESULTS.get(detail, "ERROR(unknown property)")
    for begin, name in _LIMITS.items():
        if detail.startswith(begin):
            return name
    return "unknown"
