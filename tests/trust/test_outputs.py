"""What the real pthread library does is among what exploration finds."""

from __future__ import annotations

from pathlib import Path

import pytest

from trust import native
from trust.campaign import Scenario, check_scenario
from trust.interpreted import load_source
from trust.native_threads import observe, scenarios
from trust.outputs import DEADLOCK, NotEnumerable, outputs

SCENARIOS = scenarios(str(Path(__file__).parent / "printing"))
RUNS = 400


def test_there_are_scenarios_for_all_primitives() -> None:
    assert len(SCENARIOS) >= 20
    text = "".join(SCENARIOS.values())
    for name in ("mutex", "cond", "barrier", "sem_", "once", "rwlock", "key", "spin", "detach"):
        assert name in text, name


@pytest.mark.skipif(native.compiler() is None, reason="gcc is not installed")
@pytest.mark.parametrize("name", SCENARIOS)
def test_native_outputs_are_found(name: str) -> None:
    _, missing, _ = check_scenario(Scenario(name, SCENARIOS[name], RUNS))
    assert missing == ""


def possible(name: str) -> set[str]:
    return outputs(load_source(SCENARIOS[name]))


def test_known_sets_of_outputs() -> None:
    assert possible("lost_update") == {"x=2\n", "x=3\n", "x=4\n"}
    assert possible("store_buffering") == {"r1=0 r2=1\n", "r1=1 r2=0\n", "r1=1 r2=1\n"}
    assert possible("message_passing") == {
        "flag=0 data=0\n",
        "flag=0 data=42\n",
        "flag=1 data=42\n",
    }
    assert possible("trylock") == {"busy=0,0 x=2\n", "busy=0,1 x=1\n", "busy=1,0 x=1\n"}
    assert possible("peterson") == {"x=4\n", "x=5\n"}
    assert possible("barrier_phases") == {"serial=1,1 seen=1111\n"}


HANGS = """
#include <pthread.h>
#include <stdio.h>
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int main(void) {
    printf("first\\n");
    pthread_mutex_lock(&lock);
    pthread_mutex_lock(&lock);
    printf("second\\n");
    return 0;
}
"""
FAILS = """
#include <assert.h>
#include <stdio.h>
_Bool __VERIFIER_nondet_bool(void);
int main(void) {
    _Bool b = __VERIFIER_nondet_bool();
    printf("b=%d\\n", b);
    assert(!b);
    return 0;
}
"""


def test_deadlocks_and_violations_are_outputs() -> None:
    assert outputs(load_source(HANGS)) == {"first\n" + DEADLOCK}
    assert outputs(load_source(FAILS)) == {"b=0\n", "b=1\n(assertions violated)\n"}


def test_inputs_of_large_types_must_be_declared() -> None:
    source = "int __VERIFIER_nondet_int(void); int main(void) { return __VERIFIER_nondet_int(); }"
    with pytest.raises(NotEnumerable, match="no declared range"):
        outputs(load_source(source))
    assert outputs(load_source(source), inputs=(0, 1)) == {""}


@pytest.mark.skipif(native.compiler() is None, reason="gcc is not installed")
def test_static_memory_is_reset_between_native_runs() -> None:
    source = """
    #include <stdio.h>
    int a = 5, b, *p = &a;
    int main(void) { static int c; a++; b++; c++; p = &b; printf("%d %d %d\\n", a, *p, c); return 0; }
    """
    assert observe(source, 50).counts == {"6 1 1\n": 50}


def test_a_violation_is_no_deadlock() -> None:
    text = '#include <assert.h>\n#include <stdio.h>\nint main(void) { printf("x"); assert(0); }'
    assert outputs(load_source(text)) == {"x(assertions violated)\n"}
