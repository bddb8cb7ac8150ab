"""What plait knows of the engine `toy` before it runs."""

from __future__ import annotations

from plait.engines.description import EngineDescription, EngineOption, Start

TOY = EngineDescription(
    name="toy",
    module="tests.engines.toy.answer",
    start=Start.LATER,
    proves=frozenset({"assertions"}),
    refutes=frozenset({"assertions"}),
    summary="looks for assertions, and lets the initial thread run alone where there are any",
    strength="programs without assertions",
    weakness="everything else",
    beginning="counting assertions",
    nothing_yet="no assertion was counted",
    numbers_line="{assertions} assertions in {functions} functions",
    proof_words="by counting assertions",
    options=(
        EngineOption("toy_scope", "all", "which functions to look at", ("all", "main")),
        EngineOption("toy_guess", True, "do not let the initial thread run"),
        EngineOption("toy_most", 100, "give up with more than N assertions (default: 100)"),
    ),
)
