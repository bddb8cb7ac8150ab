"""The machines of the strategy for questions that every engine checks."""

from __future__ import annotations

from plait.portfolio.strategy import Machine, machine_for


def machine(
    engine: str,
    *,
    has_bound: bool = False,
    needs_certificate: bool = False,
    suits_impact: bool = True,
) -> Machine:
    return machine_for(
        engine,
        has_bound=has_bound,
        needs_certificate=needs_certificate,
        suits=lambda item: item.name != "impact" or suits_impact,
    )


AUTO = machine("auto")
PORTFOLIO = machine("portfolio")
