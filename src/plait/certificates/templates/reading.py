"""Reading certificates of both kinds."""

from __future__ import annotations

import re

from plait.certificates.document import Certificate
from plait.certificates.json_values import Value, decimal, parse
from plait.certificates.reading import Reader, texts
from plait.certificates.templates.document import (
    KIND,
    WIDTHS,
    AddressName,
    Counter,
    Ghost,
    GhostKind,
    Place,
    Template,
    TemplateCertificate,
)

_MOST_TEMPLATES = 64
_GHOST = re.compile(r"([a-z]{1,10})(?:\.([0-9]{1,20}))?(?:\.([0-9]{1,20}))?", re.ASCII)
_ADDRESS = re.compile(r"a([0-9]{1,20})", re.ASCII)
_PARTS = {
    GhostKind.SELF: 0,
    GhostKind.LAST: 0,
    GhostKind.BEGUN: 1,
    GhostKind.PLACE: 1,
    GhostKind.STARTED: 1,
    GhostKind.LEFT: 2,
    GhostKind.OWNER: 2,
}


def read_any(text: str) -> Certificate | TemplateCertificate:
    """The certificate in a text; raises CertificateError for any other text."""
    document = parse(text)
    if not document.has("kind"):
        return Reader(document).certificate()
    kind = document.field("kind")
    if kind.text() != KIND:
        kind.fail(f"'{KIND}' expected, or nothing for a tree")
    return _TemplateReader(document).templates()


class _TemplateReader(Reader):
    def templates(self) -> TemplateCertificate:
        document = self._document
        self._check_header(
            "kind",
            "switch_points",
            "terms",
            "initial",
            "blocks",
            "counters",
            "threads",
            "templates",
        )
        options = tuple(item.text() for item in document.field("options").items())
        self._read_terms(document.field("terms"))
        initial = self._initial()
        self._threads = [self._thread(item) for item in document.field("threads").items()]
        blocks = {
            page: item.number(_MOST_TEMPLATES) for page, item in document.field("blocks").numbered()
        }
        templates = document.field("templates")
        rows = tuple(self._template(item) for item in templates.items())
        if not 1 <= len(rows) <= _MOST_TEMPLATES:
            templates.fail(f"between 1 and {_MOST_TEMPLATES} templates expected")
        return TemplateCertificate(
            document.field("engine").text(),
            options,
            self._fingerprint(),
            texts(document.field("properties")),
            texts(document.field("error_functions")),
            self._switch_points(document.field("switch_points")),
            self._terms,
            self._meanings,
            initial,
            blocks,
            tuple(self._counter(item) for item in document.field("counters").items()),
            rows,
            self._all_cells(),
        )

    def _template(self, value: Value) -> Template:
        value.only("name", "number", "multiple", "places")
        places = value.field("places")
        rows = tuple(self._place(item) for item in places.items())
        if not rows:
            places.fail("a template has a place where its threads begin")
        return Template(
            value.field("name").text(),
            value.field("number").number(),
            value.field("multiple").truth(),
            rows,
        )

    def _counter(self, value: Value) -> Counter:
        value.only("template", "place", "before", "behind")
        before, behind = (
            frozenset(item.number() for item in value.field(name).items())
            for name in ("before", "behind")
        )
        template, place = value.field("template").number(), value.field("place").number()
        return Counter(template, place, before, behind)

    def _place(self, value: Value) -> Place:
        value.only("thread", "heap", "cells", "label", "alone")
        return Place(
            self._thread_at(value.field("thread")),
            self._heap(value),
            self._known_cells(value),
            self._label(value),
            value.field("alone").truth(),
        )

    def _other_variable(self, value: Value, width: int) -> int:
        address = _ADDRESS.fullmatch(value.text())
        if address is not None:
            variable = self._terms.variable(f"{value.text()}:{width}", width)
            self._meanings[variable] = AddressName(decimal(address[1], value))
            return variable
        match = _GHOST.fullmatch(value.text())
        if match is None or match[1] not in {item.value for item in GhostKind}:
            value.fail("neither the name of a register, nor of a cell, nor of a ghost")
        kind = GhostKind(match[1])
        parts = [decimal(part, value) for part in match.groups()[1:] if part is not None]
        if len(parts) != _PARTS[kind]:
            value.fail("a ghost of another kind")
        if width != WIDTHS[kind]:
            value.fail(f"a ghost of that kind has {WIDTHS[kind]} bits")
        if kind is GhostKind.OWNER:
            ghost = Ghost(kind, 0, self._cell(f"{parts[0]}.{parts[1]}", value))
        else:
            template, place = (*parts, 0, 0)[:2]
            ghost = Ghost(kind, template, None, place)
        variable = self._terms.variable(value.text(), width)
        self._meanings[variable] = ghost
        return variable
