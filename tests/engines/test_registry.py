"""The registry is the only place outside of the engines' folders that names an engine."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from plait.engines import registry
from plait.engines.context.description import Method
from plait.engines.explicit.settings import Settings as ExplicitSettings
from plait.engines.impact.settings import Explicit, Reduction
from plait.engines.impact.settings import Settings as ImpactSettings
from plait.engines.orders.settings import OrderEncoding, Refinement
from plait.engines.orders.settings import Settings as OrdersSettings
from plait.engines.predicates.settings import Abstraction
from plait.engines.predicates.settings import Explicit as PredicatesExplicit
from plait.engines.predicates.settings import Settings as PredicatesSettings
from plait.engines.traces.settings import Claims, Commutativity
from plait.engines.traces.settings import Explicit as TracesExplicit
from plait.engines.traces.settings import Settings as TracesSettings
from plait.model.properties import Property
from plait.model.property_names import CHECKED_NAMES

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "plait"


def strings(path: Path) -> Iterator[tuple[int, str]]:
    """Without the docstrings."""
    tree = ast.parse(path.read_text("utf-8"))
    documents = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if id(node) not in documents:
                yield node.lineno, node.value


def test_nothing_else_names_an_engine() -> None:
    names = {item.name for item in registry.engines()}
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        if path.is_relative_to(PACKAGE / "engines"):
            continue
        for line, text in strings(path):
            if text in names or any(f"--engine {name}" in text for name in names):
                found.append(f"{path.relative_to(ROOT)}:{line}: {text}")
    assert found == []


def test_the_search_for_names_finds_them() -> None:
    described = PACKAGE / "engines" / "orders" / "description.py"
    assert "orders" in [text for _, text in strings(described)]


def test_property_names() -> None:
    assert tuple(item.value for item in Property) == CHECKED_NAMES
    for item in registry.engines():
        assert item.checks <= set(CHECKED_NAMES)


@pytest.mark.parametrize("engine", registry.engines(), ids=lambda item: item.name)
def test_the_document_has_its_row(engine: registry.EngineDescription) -> None:
    text = (ROOT / "docs" / "portfolio.md").read_text("utf-8")
    name = engine.name
    assert f"| [`{name}`]({name}.md) | {engine.strength} | {engine.weakness} |" in text
    assert (ROOT / "docs" / f"{name}.md").is_file()


def test_options_have_the_values_of_the_settings() -> None:
    known = {option.name: option for _, option in registry.options()}
    kinds = {
        "refinement": Refinement,
        "order_encoding": OrderEncoding,
        "por": Reduction,
        "explicit": Explicit,
        "context": Method,
        "claims": Claims,
        "commutativity": Commutativity,
        "locations": TracesExplicit,
        "abstraction": Abstraction,
        "by_location": PredicatesExplicit,
    }
    for name, kind in kinds.items():
        assert known[name].choices == tuple(item.value for item in kind)
    orders, impact, explicit = OrdersSettings(), ImpactSettings(), ExplicitSettings()
    traces, predicates = TracesSettings(), PredicatesSettings()
    assert {name: option.default for name, option in known.items()} == {
        "refinement": orders.refinement.value,
        "order_encoding": orders.encoding.value,
        "por": impact.reduction.value,
        "explicit": impact.explicit.value,
        "force_cover": impact.force_cover,
        "max_nodes": impact.max_nodes,
        "context": Method.TEMPLATES.value,
        "persistent_sets": explicit.persistent_sets,
        "sections": explicit.sections,
        "commuting": explicit.commuting,
        "values": explicit.values,
        "max_states": explicit.max_states,
        "claims": traces.claims.value,
        "weakening": traces.weakening,
        "commutativity": traces.commutativity.value,
        "locations": traces.explicit.value,
        "whole_sections": traces.whole_sections,
        "ahead": traces.persistent,
        "most_states": traces.most_states,
        "abstraction": predicates.abstraction.value,
        "monolithic": predicates.monolithic,
        "by_location": predicates.explicit.value,
        "reduced": predicates.reduced,
        "most_tree_nodes": predicates.most_nodes,
    }


def test_the_types_of_options_are_complete() -> None:
    hints = set(registry.EngineOptions.__annotations__)
    assert hints == {option.name for _, option in registry.options()}
