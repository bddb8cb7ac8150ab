"""The engine's answer to a question of plait."""

from __future__ import annotations

from plait.engines.explicit import weak
from plait.engines.explicit.attempts import GivesUp
from plait.engines.explicit.counterexample import counterexample
from plait.engines.explicit.search import Search
from plait.engines.explicit.settings import Settings
from plait.engines.explicit.statistics import Statistics
from plait.engines.interface import (
    Answer,
    Listener,
    Outcome,
    OutOfTime,
    Progress,
    Question,
    counted,
)
from plait.model.memory_model import MemoryModel


def settings_of(question: Question) -> Settings:
    chosen = question.settings
    return Settings(
        chosen["persistent_sets"],
        chosen["sections"],
        chosen["commuting"],
        chosen["values"],
        chosen["max_states"],
    )


def answer(question: Question, listener: Listener) -> Outcome:
    def tell(statistics: Statistics) -> None:
        so_far = _so_far(statistics)
        doing = f"{so_far}, {statistics.open_states:,} to be expanded"
        listener.progress(Progress(doing, statistics.numbers(), so_far))

    if question.specification.memory_model is not MemoryModel.SC:
        return weak.answer(question, listener)
    search = Search(
        question.program,
        question.specification,
        settings_of(question),
        question.deadline,
        tell,
    )
    statistics = search.statistics
    try:
        OutOfTime.check(question.deadline)
        result = search.run()
    except OutOfTime:
        so_far = _so_far(statistics)
        return Outcome(Answer.UNKNOWN, "time is up", statistics, is_out_of_time=True, so_far=so_far)
    except GivesUp as reason:
        return Outcome(Answer.UNKNOWN, str(reason), statistics)
    if result.violation is not None:
        found = counterexample(search, result.violation)
        problem = listener.confirm(found)
        if problem:
            return Outcome(Answer.UNKNOWN, problem, statistics)
        return Outcome(Answer.VIOLATED, found.message, statistics, found)
    if result.undefined is not None:
        listener.confirm(counterexample(search, result.undefined, is_undefined=True))
    if result.troubles:
        return Outcome(Answer.UNKNOWN, result.troubles[0], statistics)
    return Outcome(Answer.HOLDS, "all schedules and inputs have been explored", statistics)


def _so_far(statistics: Statistics) -> str:
    return f"no violation in {counted(statistics.states, 'state')}"
