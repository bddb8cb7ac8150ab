"""What the user can say about how sources are read."""

from __future__ import annotations

from plait.data import dataclass
from plait.model.main_arguments import SMALLEST, ArgumentSizes
from plait.model.types import DataModel


@dataclass(slots=True, frozen=True)
class FrontEndOptions:
    include_dirs: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    undefines: tuple[str, ...] = ()
    force_includes: tuple[str, ...] = ()
    std: str = "gnu17"
    data_model: DataModel = DataModel.LP64
    entry: str = "main"
    compile_commands: str | None = None
    system_headers: bool = True
    spurious_wakeups: bool = True
    assume_defined: bool = False  # the environment hands out nothing that is invalid
    failing_calls: bool = False  # allocation and the start of threads may fail
    signals: bool = True  # with a handler may arrive from outside
    arguments: tuple[str, ...] | None = None  # of main, with the program's name; None: any
    argument_sizes: ArgumentSizes = SMALLEST  # of what can be any of them
    reach: tuple[str, ...] = ()  # lines (FILE:LINE) at which an execution is a violation
    # Keep what has no effect, and functions that nobody refers to (Program.unused).
    every_line: bool = False
    monitor: str | None = None  # a file, or the name of one that plait has
    compiler_flags: tuple[str, ...] = ()  # others that change what the source means
