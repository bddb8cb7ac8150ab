"""Proofs for any number of threads as documents, and what the checker says of them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from plait.certificates.fingerprint import fingerprint
from plait.certificates.json_values import CertificateError
from plait.certificates.templates.check import check_templates
from plait.certificates.templates.document import TemplateCertificate
from plait.certificates.templates.reading import read_any
from plait.certificates.verdicts import Ruling, Verdict
from plait.engines.context.engine import verify
from plait.model.program import Program
from plait.model.properties import Specification, from_names
from tests.engines.context.pairs import loaded

Document = dict[str, Any]


def proved(
    text: str, folder: Path, properties: Iterable[str] = ("assertions",)
) -> tuple[Program, Document]:
    """A program, and the engine's proof of it."""
    specification = from_names(list(properties))
    program = loaded(text, folder, specification)
    outcome = verify(program, specification)
    assert outcome.proof is not None, outcome.reason
    document = outcome.proof.certificate()
    assert document is not None
    return program, about(program, document)


def about(program: Program, document: Document) -> Document:
    """The same document, of another program."""
    found: Document = json.loads(json.dumps(document))
    return found | {"options": [], "fingerprint": fingerprint(program)}


def judged(
    program: Program, document: Document, properties: Iterable[str] = ("assertions",)
) -> Verdict:
    """Rejected also for what is no certificate."""
    specification: Specification = from_names(list(properties))
    try:
        certificate = read_any(json.dumps(document))
    except CertificateError as error:
        return Verdict(Ruling.REJECTED, str(error), 0, 0, 0)
    assert isinstance(certificate, TemplateCertificate)
    return check_templates(program, specification, certificate)
