"""Small programs, one for each trap: what is proved holds, and what should be proved is."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.engines.modular.watching import refuted_by_run, refuted_in_states

from plait.c import FrontEndOptions, load
from plait.engines.interface import Answer
from plait.engines.modular.engine import verify
from plait.model.properties import from_names
from plait.semantics.explore import ExploreOptions, Verdict, explore

FILES = sorted((Path(__file__).parent / "programs").glob("*.c"))
PROPERTIES = {
    "a": "assertions",
    "r": "no-data-race",
    "m": "valid-memsafety",
    "o": "no-overflow",
    "d": "no-deadlock",
}
# What must be proved, by the letters above. All other programs have a violation, undefined
# behaviour or something that is too hard, in all properties that are missing.
PROVED = {
    "alias_mutex": "am",
    "atomic_section": "armo",
    "bitfield": "mo",
    "bytes": "rmo",
    "cast": "rmo",
    "cond_release": "rmo",
    "cond_thread_id": "amo",
    "conditional_join": "amo",
    "detach": "amod",
    "fn_pointer": "mo",
    "foreign_unlock": "am",
    "grandchild": "amo",
    "heap_handoff": "od",
    "heap_lock": "r",
    "heap_loop": "arod",
    "heap_loop2": "rod",
    "intermediate_ok": "armo",
    "intermediate_read": "mo",
    "join_other": "amo",
    "join_reuse_id": "amo",
    "join_then_write": "armo",
    "local_shared": "mo",
    "loop_spawn": "amo",
    "memset_lock": "am",
    "mutex_kind": "armo",
    "rd_rd": "am",
    "rd_wr": "arm",
    "recursive_mutex": "am",
    "reinit": "am",
    "section_mixed": "amo",
    "selflock_bad_free": "am",
    "selflock_good": "arm",
    "selflock_toggle": "am",
    "selflock_xchg_alone": "amd",
    "spawn_in_lock": "mo",
    "static_alias_ptr": "rmo",
    "struct_locks": "am",
    "tid_number": "mo",
    "tls": "armo",
    "trylock_good": "rm",
    "trylock_ignored": "am",
    "trylock_inverted": "am",
    "two_threads_one_spawn_site": "amd",
    "union": "rmo",
    "unlock_in_callee": "mo",
    "wrap": "rm",
}


def test_there_are_programs() -> None:
    assert len(FILES) > 50
    assert PROVED.keys() <= {path.stem for path in FILES}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_proofs_and_facts(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plait.engines.modular.outcome._SECONDS", 60)  # on any machine
    proved = ""
    for letter, name in PROPERTIES.items():
        specification = from_names([name])
        program = load([str(path)], FrontEndOptions(), specification)
        outcome = verify(program, specification)
        oracle = explore(program, specification, ExploreOptions(max_states=3_000, keep_states=True))
        if outcome.answer is Answer.HOLDS:
            is_known = not oracle.reason.startswith("more than")
            assert oracle.verdict is Verdict.TRUE or not is_known, (name, oracle.reason)
            proved += letter
        assert not refuted_in_states(program, outcome.facts, oracle.reached)
        for seed in range(2):
            assert not refuted_by_run(program, specification, outcome.facts, seed)
    assert set(PROVED.get(path.stem, "")) <= set(proved)
