"""Check that imports inside plait point one way, that no modules import each other in a circle, and
that the table of who may import whom allows nothing that nobody uses.

Imports inside functions count for the direction too: a lazy import is still a dependency. Only
imports under `if TYPE_CHECKING:` and inside functions are left out when looking for circles,
because those do no harm when modules are loaded.

    python tools/check_imports.py [--layers tools/layers.toml] [--source src/plait]
"""

from __future__ import annotations

import argparse
import ast
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True, slots=True)
class Import:
    importer: str
    imported: str
    path: Path
    line: int
    at_load_time: bool


def modules(source: Path) -> dict[str, Path]:
    """Every module of the package by its dotted name."""
    found: dict[str, Path] = {}
    for path in sorted(source.rglob("*.py")):
        parts = list(path.relative_to(source.parent).with_suffix("").parts)
        if parts[-1] == "__init__":
            parts.pop()
        found[".".join(parts)] = path
    return found


def imports_of(name: str, path: Path, known: dict[str, Path]) -> Iterator[Import]:
    root = name.partition(".")[0]
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node, at_load_time in _import_nodes(ast.parse(path.read_text("utf-8"), str(path))):
        for target in _targets(node, package, known):
            if target == root or target.startswith(root + "."):
                yield Import(name, target, path, node.lineno, at_load_time)


def _import_nodes(tree: ast.Module) -> Iterator[tuple[ast.Import | ast.ImportFrom, bool]]:
    pending: list[tuple[ast.AST, bool]] = [(tree, True)]
    while pending:
        node, at_load_time = pending.pop()
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node, at_load_time
            continue
        lazy = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        if isinstance(node, ast.If) and _is_type_checking(node.test):
            pending += [(child, False) for child in node.body]
            pending += [(child, at_load_time) for child in node.orelse]
            continue
        pending += [(child, at_load_time and not lazy) for child in ast.iter_child_nodes(node)]


def _is_type_checking(test: ast.expr) -> bool:
    name = test.attr if isinstance(test, ast.Attribute) else getattr(test, "id", "")
    return name == "TYPE_CHECKING"


def _targets(
    node: ast.Import | ast.ImportFrom, package: str, known: dict[str, Path]
) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
        return
    base = node.module or ""
    if node.level:
        anchor = package.split(".")[: len(package.split(".")) - node.level + 1]
        base = ".".join([*anchor, base] if base else anchor)
    for alias in node.names:
        # `from plait import model` imports the module plait.model, not a name of plait.
        inner = f"{base}.{alias.name}"
        yield inner if inner in known else base


def layer_of(module: str, layers: dict[str, list[str]]) -> str | None:
    """The layer a module belongs to: '' for the package's root module, None if there is none."""
    parts = module.split(".")[1:]
    if not parts:
        return ""
    for length in range(len(parts), 0, -1):
        name = ".".join(parts[:length])
        if name in layers:
            return name
    return None


def wrong_directions(imports: list[Import], layers: dict[str, list[str]]) -> Iterator[str]:
    for item in imports:
        importer, imported = layer_of(item.importer, layers), layer_of(item.imported, layers)
        place = f"{item.path}:{item.line}"
        if importer is None or importer == imported or imported == "":
            continue
        if imported is None:
            yield f"{place}: {item.imported} belongs to no layer of layers.toml"
        elif importer == "":
            # The package's __init__ may offer a facade, but only lazily: it is loaded by everyone.
            if item.at_load_time:
                yield f"{place}: the package's root imports {item.imported} when it is loaded"
        elif imported not in layers[importer]:
            yield f"{place}: {importer} may not import {imported} ({item.imported})"


def unused_permissions(imports: list[Import], layers: dict[str, list[str]]) -> Iterator[str]:
    used = {(layer_of(item.importer, layers), layer_of(item.imported, layers)) for item in imports}
    for importer, allowed in layers.items():
        for imported in allowed:
            if (importer, imported) not in used:
                yield f"layers.toml lets {importer} import {imported}, which it does not do"


def circles(imports: list[Import]) -> Iterator[str]:
    """One message for each group of modules that need each other to be loaded."""
    graph: dict[str, dict[str, Import]] = {}
    for item in imports:
        if item.at_load_time and item.importer != item.imported:
            graph.setdefault(item.importer, {}).setdefault(item.imported, item)
    done: set[str] = set()
    for start in sorted(graph):
        path: list[str] = []
        circle = _circle_from(start, graph, done, path)
        done.update(path)
        if circle:
            first = graph[circle[0]][circle[1]]
            yield f"{first.path}:{first.line}: modules import each other: {' -> '.join(circle)}"


def _circle_from(
    module: str, graph: dict[str, dict[str, Import]], done: set[str], path: list[str]
) -> list[str] | None:
    if module in path:
        return [*path[path.index(module) :], module]
    if module in done:
        return None
    path.append(module)
    for target in sorted(graph.get(module, {})):
        circle = _circle_from(target, graph, done, path)
        if circle:
            return circle
    path.pop()
    done.add(module)
    return None


def check(source: Path, layers: dict[str, list[str]]) -> list[str]:
    known = modules(source)
    unknown = {name for allowed in layers.values() for name in allowed} - layers.keys()
    problems = [f"layers.toml names {name}, which has no line of its own" for name in unknown]
    for name, path in known.items():
        if layer_of(name, layers) is None and not name.endswith(".__main__"):
            problems.append(f"{path}:1: {name} belongs to no layer of layers.toml")
    imports = [item for name, path in known.items() for item in imports_of(name, path, known)]
    problems += wrong_directions(imports, layers)
    problems += unused_permissions(imports, layers)
    return [*problems, *circles(imports)]


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Check the import directions inside plait.")
    parser.add_argument("--layers", type=Path, default=HERE / "layers.toml")
    parser.add_argument("--source", type=Path, default=HERE.parent / "src" / "plait")
    options = parser.parse_args(arguments)
    layers: dict[str, list[str]] = tomllib.loads(options.layers.read_text("utf-8"))["layers"]
    problems = check(options.source, layers)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
