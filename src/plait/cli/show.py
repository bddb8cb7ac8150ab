"""`plait show`: the program model as text or as a drawing."""

from __future__ import annotations

import argparse

from plait.cli import exits
from plait.cli.chosen import subject_of
from plait.cli.output import Console, save
from plait.report.characters import clean


def show(options: argparse.Namespace, console: Console) -> int:
    from plait.api import load_with

    program = load_with(subject_of(options))
    if options.dot is None and options.svg is None:
        from plait.model.show import show as as_text

        console.lines(as_text(program, options.verbose).splitlines())
        for title, items in (
            ("unsupported", list(map(str, program.unsupported))),
            ("assumptions", program.assumptions),
        ):
            if items:
                console.line()
                console.block(title, items)
        return exits.HOLDS
    from plait.model.dot import to_dot, to_svg

    drawings = [("--dot", options.dot, to_dot), ("--svg", options.svg, to_svg)]
    written = [
        save(console, option, path, clean(draw(program, options.verbose)))
        for option, path, draw in drawings
        if path is not None
    ]
    return exits.HOLDS if all(written) else exits.UNUSABLE_INPUT
