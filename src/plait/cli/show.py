"""`plait show`: the program model as text or as a drawing."""

from __future__ import annotations

import argparse

from plait.cli import exits
from plait.cli.chosen import subject_of
from plait.cli.output import Console, save


def show(options: argparse.Namespace, console: Console) -> int:
    from plait.api import load_with

    program = load_with(subject_of(options))
    if options.dot is None and options.svg is None:
        from plait.model.show import show as as_text

        console.lines(as_text(program, options.verbose).splitlines())
        console.block("\nunsupported", map(str, program.unsupported))
        console.block("\nassumptions", program.assumptions)
        return exits.HOLDS
    from plait.model.dot import to_dot, to_svg

    drawings = [("--dot", options.dot, to_dot), ("--svg", options.svg, to_svg)]
    written = [
        save(console, option, path, draw(program, options.verbose))
        for option, path, draw in drawings
        if path is not None
    ]
    return exits.HOLDS if all(written) else exits.UNUSABLE_INPUT
