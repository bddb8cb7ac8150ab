"""What work may use, and how it ended."""

from __future__ import annotations

from enum import Enum

from plait.data import dataclass, replace


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds of wall time, and bytes of resident memory; None: as much as there is."""

    seconds: float | None = None
    memory: int | None = None


class Ending(Enum):
    FINISHED = "finished"
    TIME = "time"
    MEMORY = "memory"
    INTERRUPTED = "interrupted"
    DIED = "died"
    STOPPED = "stopped"  # because another work has decided


@dataclass(frozen=True, slots=True)
class Finish:
    """How work ended. `how` describes a death; `noise` is the end of what was written to standard
    output and standard error; time and memory are those of the child."""

    ending: Ending
    how: str = ""
    noise: str = ""
    cpu_seconds: float = 0.0
    peak_memory: int = 0

    def after(self, earlier: Finish) -> Finish:
        """How the second of two works in a row ended, with what both have used."""
        return replace(
            self,
            noise=earlier.noise + self.noise,
            cpu_seconds=earlier.cpu_seconds + self.cpu_seconds,
            peak_memory=max(earlier.peak_memory, self.peak_memory),
        )


def limit_address_space(limit: int) -> None:
    """Of this process, as far as the system can: whoever has started it also looks at the memory
    that is used."""
    import resource

    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    if hard != resource.RLIM_INFINITY:
        limit = min(limit, hard)
    try:
        resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
    except (ValueError, OSError):
        pass  # macOS has the name only
