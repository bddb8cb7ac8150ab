"""Certificates for any number of threads: what engines write is accepted; of a violated program
nothing is, whatever was done to it."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from plait.certificates.verdicts import Ruling
from plait.engines.context.invariants import Invariants
from plait.model.properties import from_names
from tests.certificates.template_proofs import Document, about, judged, proved
from tests.engines.context.pairs import PAIRS, loaded
from tests.engines.context.test_races import PAIRS as RACES

# Their proofs take long to find.
SLOW = {"no more than were started", "more have entered than have left"}
SMALL = [
    "a flag that is taken and given back",
    "an argument",
    "what each thread has of its own",
    "what happens before the first thread",
    "a section",
    "only one thread",
    "a thread that is not there yet",
]
QUICK = [name for name in PAIRS if name not in SLOW]
_DAMAGES = int(os.environ.get("PLAIT_DAMAGES", "12"))  # of each certificate


@pytest.fixture(scope="module")
def proofs(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], tuple[Any, Document]]:
    known: dict[str, tuple[Any, Document]] = {}

    def proof(name: str) -> tuple[Any, Document]:
        if name not in known:
            known[name] = proved(PAIRS[name].text, tmp_path_factory.mktemp("proved"))
        program, document = known[name]
        return program, json.loads(json.dumps(document))

    return proof


@pytest.mark.parametrize("name", QUICK)
def test_it_is_accepted(name: str, proofs: Callable[[str], tuple[Any, Document]]) -> None:
    verdict = judged(*proofs(name))
    assert verdict.answer is Ruling.ACCEPTED, verdict.reason


@pytest.mark.parametrize("name", RACES)
def test_that_nobody_races_is_accepted(name: str, tmp_path: Path) -> None:
    properties = ["no-data-race"]
    program, document = proved(RACES[name].text, tmp_path, properties)
    verdict = judged(program, document, properties)
    assert verdict.answer is Ruling.ACCEPTED, verdict.reason
    specification = from_names(properties)
    racing = loaded(RACES[name].violated, tmp_path, specification)
    assert judged(racing, about(racing, document), properties).answer is Ruling.REJECTED


def test_locks_are_not_misused(tmp_path: Path) -> None:
    """A new thread does not hold a mutex: its number is new."""
    properties = ["lock-misuse"]
    text = PAIRS["a counter under a mutex"].text
    program, document = proved(text, tmp_path, properties)
    verdict = judged(program, document, properties)
    assert verdict.answer is Ruling.ACCEPTED, verdict.reason
    wrong = text.replace("  x++;", "  pthread_mutex_lock(&mutex);")
    violated = loaded(wrong, tmp_path, from_names(properties))
    assert judged(violated, about(violated, document), properties).answer is Ruling.REJECTED


@pytest.mark.parametrize("name", QUICK)
def test_no_damage_makes_it_a_proof_of_something_wrong(
    name: str, proofs: Callable[[str], tuple[Any, Document]], tmp_path: Path
) -> None:
    """The program with one condition less is violated, so that there is no proof of it."""
    _, document = proofs(name)
    violated = loaded(PAIRS[name].violated, tmp_path, from_names(["assertions"]))
    document = about(violated, document)
    assert judged(violated, document).answer is Ruling.REJECTED
    for damaged in _damaged(document, random.Random(name), _DAMAGES):
        verdict = judged(violated, damaged)
        assert verdict.answer is not Ruling.ACCEPTED


def _damaged(document: Document, choice: random.Random, count: int) -> Iterator[Document]:
    """Copies, each changed in up to four ways."""
    for _ in range(count):
        found: Document = json.loads(json.dumps(document))
        for _ in range(choice.randint(1, 4)):
            choice.choice(_KINDS)(found, choice)
        yield found


def _some_place(document: Document, choice: random.Random) -> Document:
    template = choice.choice(document["templates"])
    found: Document = choice.choice(template["places"])
    return found


def _forget(document: Document, choice: random.Random) -> None:
    place = _some_place(document, choice)
    place["label"] = [item for item in place["label"] if choice.random() < 0.5]


def _forget_all(document: Document, choice: random.Random) -> None:
    for template in document["templates"]:
        for place in template["places"]:
            place["label"] = []


def _claim(document: Document, choice: random.Random) -> None:
    place = _some_place(document, choice)
    truths = [number for number, row in enumerate(document["terms"]) if row[1] == 1]
    if truths:
        place["label"].append(choice.choice(truths))


def _claim_everywhere(document: Document, choice: random.Random) -> None:
    truths = [number for number, row in enumerate(document["terms"]) if row[1] == 1]
    if truths:
        item = choice.choice(truths)
        for template in document["templates"]:
            for place in template["places"]:
                place["label"].append(item)


def _other_constant(document: Document, choice: random.Random) -> None:
    rows = [row for row in document["terms"] if row[0] == "constant" and row[1] > 1]
    if rows:
        row = choice.choice(rows)
        row[3] = choice.choice((0, 1, row[3] ^ 1, (1 << row[1]) - 1))


def _nobody_there(document: Document, choice: random.Random) -> None:
    document["terms"].append(["constant", 1, [], 0, ""])
    _some_place(document, choice)["label"].append(len(document["terms"]) - 1)


def _alone(document: Document, choice: random.Random) -> None:
    place = choice.choice(document["templates"][0]["places"])
    place["alone"] = not place["alone"]


def _only_one(document: Document, choice: random.Random) -> None:
    template = choice.choice(document["templates"])
    template["multiple"] = not template["multiple"]


def _lost_place(document: Document, choice: random.Random) -> None:
    places = choice.choice(document["templates"])["places"]
    if len(places) > 1:
        del places[choice.randrange(1, len(places))]


def _known_value(document: Document, choice: random.Random) -> None:
    frame = choice.choice(_some_place(document, choice)["thread"]["frames"])
    for index in frame["registers"]:
        frame["registers"][index] ^= choice.choice((0, 1, 8))


def _not_known(document: Document, choice: random.Random) -> None:
    frame = choice.choice(_some_place(document, choice)["thread"]["frames"])
    frame["registers"] = {}


def _cells(document: Document, choice: random.Random) -> None:
    cells = _some_place(document, choice)["cells"]
    for name in cells:
        cells[name] = choice.choice((None, 0, 1))


def _heap(document: Document, choice: random.Random) -> None:
    place = _some_place(document, choice)
    pages = [
        page for item in document["templates"] for one in item["places"] for page in one["heap"]
    ]
    if pages:
        place["heap"][choice.choice(pages)] = [48, "library"]


def _no_heap(document: Document, choice: random.Random) -> None:
    _some_place(document, choice)["heap"] = {}


def _fewer_switches(document: Document, choice: random.Random) -> None:
    places = document["switch_points"][choice.choice(sorted(document["switch_points"]))]
    if places:
        del places[choice.randrange(len(places))]


def _initial(document: Document, choice: random.Random) -> None:
    for name in document["initial"]:
        document["initial"][name] ^= choice.choice((0, 0, 1))


def _blocks(document: Document, choice: random.Random) -> None:
    pages = [
        page for item in document["templates"] for one in item["places"] for page in one["heap"]
    ]
    if pages:
        document["blocks"][choice.choice(pages)] = choice.randrange(len(document["templates"]))


_KINDS = (
    _forget,
    _forget_all,
    _claim,
    _claim,
    _claim_everywhere,
    _other_constant,
    _nobody_there,
    _alone,
    _only_one,
    _lost_place,
    _known_value,
    _not_known,
    _cells,
    _heap,
    _no_heap,
    _fewer_switches,
    _initial,
    _blocks,
)


# --- engines that forget something


@pytest.mark.parametrize("forgets", ["_own", "_beginnings", "_disturbances", "_holds_initially"])
def test_wrong_proofs_are_rejected(
    forgets: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if forgets == "_holds_initially":
        monkeypatch.setattr(Invariants, forgets, lambda self, item: True)
    else:
        monkeypatch.setattr(Invariants, forgets, lambda self: [])
    wrong = 0
    for name in SMALL:
        specification = from_names(["assertions"])
        program = loaded(PAIRS[name].violated, tmp_path, specification)
        document = _claimed(program, specification)
        if document is not None:
            wrong += 1
            assert judged(program, about(program, document)).answer is Ruling.REJECTED, name
    assert wrong > 2


def _claimed(program: Any, specification: Any) -> Document | None:
    from plait.engines.context.engine import verify

    outcome = verify(program, specification)
    return None if outcome.proof is None else outcome.proof.certificate()
