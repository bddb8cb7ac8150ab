"""The recipes in docs/ci.md can be pasted: they are YAML, of the right form, and use options that
exist."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from tests.report import schema_store

from plait.cli import exits, verify_files
from plait.cli.parser import parse

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "ci.md").read_text("utf-8")
HOOKS = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)


GITHUB, GITLAB, PRE_COMMIT, PRE_COMMIT_LOCAL = (yaml.safe_load(block) for block in blocks("yaml"))


@pytest.mark.parametrize(
    ("mark", "recipe"),
    [
        (schema_store.GITHUB_WORKFLOW, GITHUB),
        (schema_store.GITLAB, GITLAB),
        (schema_store.PRE_COMMIT, PRE_COMMIT),
        (schema_store.PRE_COMMIT, PRE_COMMIT_LOCAL),
    ],
)
def test_recipes_have_the_right_form(mark: str, recipe: Any) -> None:
    if recipe is GITHUB:  # YAML 1.1 reads the key `on` as true
        recipe = {("on" if key is True else key): value for key, value in recipe.items()}
    jsonschema.Draft7Validator(schema_store.schema(mark)).validate(recipe)


def commands() -> list[str]:
    """Every command line of plait in the document."""
    lines = [GITHUB["jobs"]["verify"]["steps"][3]["run"], *GITLAB["plait"]["script"]]
    lines.append(PRE_COMMIT_LOCAL["repos"][0]["hooks"][0]["entry"])
    lines += [line.partition(" ||")[0] for block in blocks("sh") for line in block.splitlines()]
    lines += [f"{found} prog.c" for found in re.findall(r"^PLAIT \?= (.*)$", TEXT, re.MULTILINE)]
    lines += [re.sub(r"\s+", " ", item) for item in re.findall(r"`(plait [a-z]+ [^`]*)`", TEXT)]
    return [line for line in lines if line.startswith("plait ")]


@pytest.mark.parametrize("command", commands())
def test_commands_are_understood(command: str) -> None:
    words = shlex.split(re.sub(r"\$\{\{.*?\}\}", "assertions", command))
    options = parse(words[1:])
    assert options.command == words[1]


def test_there_are_commands() -> None:
    assert len(commands()) >= 5


def test_exit_codes_are_those_of_the_program() -> None:
    documented = {int(code) for code in re.findall(r"^\| (\d) \|", TEXT, re.MULTILINE)}
    assert documented == {exits.HOLDS, exits.VIOLATED, exits.UNUSABLE_INPUT, exits.UNKNOWN}
    assert GITLAB["plait"]["allow_failure"]["exit_codes"] == exits.UNKNOWN


def test_the_hook_runs_a_module_that_exists() -> None:
    (hook,) = HOOKS
    assert hook["entry"] == f"python -m {verify_files.__name__}"
    assert hook["language"] == "python"
    assert hook["id"] == PRE_COMMIT["repos"][0]["hooks"][0]["id"]
    parse(["verify", *hook["args"], "prog.c"])


def test_files_that_were_written_are_those_that_are_uploaded() -> None:
    steps = GITHUB["jobs"]["verify"]["steps"]
    assert f"--sarif {steps[4]['with']['sarif_file']} " in steps[3]["run"]
    junit = GITLAB["plait"]["artifacts"]["reports"]["junit"]
    assert f"--junit {junit} " in GITLAB["plait"]["script"][1]
