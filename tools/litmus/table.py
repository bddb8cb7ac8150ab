"""The table of litmus tests: programs, and which outcomes weak models add to those of SC.

A program is a list of threads, a thread a list of operations:

    x=1 rlx        store            a=x acq        load
    F sc           fence            a=x<1 rlx      exchange with 1
    a=x+1 rlx      fetch_add        a=x?0:1 ar/acq compare-exchange of 0 with 1 (a is what it read)
    a? ...         only if a is not 0

Memory orders: na (a plain variable), rlx, con, acq, rel, ar, sc. What is observed are registers
and, in capitals, last values of variables; a register that was not assigned is 7.

`weak` has the outcomes that no SC execution has, each with the models that allow it. They are from
the literature, or from the axioms by hand, as the remark says:
  AMT14    Alglave, Maranget, Tautschnig, "Herding cats" (TOPLAS 2014), tests and their names
  x86-TSO  Owens, Sarkar, Sewell, "A better x86 memory model" (TPHOLs 2009): n4b, n5, n6, SB+rfi
  RC11     Lahav et al., "Repairing sequential consistency in C/C++11" (PLDI 2017)
  C23      release sequences go on through updates only (P0982R1)
TSO and PSO know fences and updates, and no memory orders of accesses.
"""

from __future__ import annotations

from typing import NamedTuple


class Litmus(NamedTuple):
    name: str
    threads: tuple[str, ...]
    observed: str
    weak: dict[str, str]
    remark: str = ""
    is_race: bool = False  # under C11


def _tests(
    shape: str, threads: tuple[str, ...], observed: str, rows: dict[str, tuple[str, dict[str, str]]]
) -> list[Litmus]:
    """One test for each row: the memory orders and fences that fill the gaps of the shape, and what
    is weak then. A gap `-` is empty."""
    found = []
    for name, (filling, weak) in rows.items():
        words = iter(filling.split())
        filled = []
        for thread in threads:
            parts = []
            for part in thread.split("; "):
                if part == "_":
                    fence = next(words)
                    if fence != "-":
                        parts.append(f"F {fence}")
                else:
                    order = next(words)
                    parts.append(f"{part} {order}")
            filled.append("; ".join(parts))
        assert next(words, None) is None, (shape, name)
        found.append(Litmus(f"{shape}+{name}", tuple(filled), observed, weak))
    return found


ALL3 = "tso pso c11"

SB = _tests(
    "SB",
    ("x=1; _; a=y", "y=1; _; b=x"),
    "a b",
    {
        "rlx": ("rlx - rlx rlx - rlx", {"00": ALL3}),
        "ra": ("rel - acq rel - acq", {"00": ALL3}),
        "sc": ("sc - sc sc - sc", {"00": "tso pso"}),
        "Fsc": ("rlx sc rlx rlx sc rlx", {}),
        "Fsc-one": ("rlx sc rlx rlx - rlx", {"00": ALL3}),
        "Far": ("rlx ar rlx rlx ar rlx", {"00": ALL3}),
        "Frel": ("rlx rel rlx rlx rel rlx", {"00": ALL3}),
        "Facq": ("rlx acq rlx rlx acq rlx", {"00": ALL3}),
        "sc-stores": ("sc - rlx sc - rlx", {"00": ALL3}),
        "sc-loads": ("rlx - sc rlx - sc", {"00": ALL3}),
        "sc-one": ("sc - sc rlx - rlx", {"00": ALL3}),
        "sc-ra": ("sc - sc rel - acq", {"00": ALL3}),
        # An SC fence between relaxed accesses is as good as SC accesses (psc_base).
        "sc-Fsc": ("sc - sc rlx sc rlx", {"00": "tso pso"}),
        "ra-Fsc": ("rel - acq rlx sc rlx", {"00": ALL3}),
        "Fsc-Far": ("rlx sc rlx rlx ar rlx", {"00": ALL3}),
    },
)
SB_XCHG = _tests(
    "SB+xchg",
    ("c=x<1; a=y", "d=y<1; b=x"),
    "a b",
    {
        "rlx": ("rlx rlx rlx rlx", {"00": "c11"}),
        "ra": ("ar acq ar acq", {"00": "c11"}),
        "sc": ("sc sc sc sc", {}),
    },
)
SB_XCHG_ONE = _tests(
    "SB+xchg-one",
    ("c=x<1; a=y", "y=1; b=x"),
    "a b",
    {"rlx": ("rlx rlx rlx rlx", {"00": ALL3}), "sc": ("sc sc sc sc", {"00": "tso pso"})},
)
MP = _tests(
    "MP",
    ("x=1; _; y=1", "a=y; _; b=x"),
    "a b",
    {
        "rlx": ("rlx - rlx rlx - rlx", {"10": "pso c11"}),
        "ra": ("rlx - rel acq - rlx", {"10": "pso"}),
        "sc": ("sc - sc sc - sc", {"10": "pso"}),
        "rel-rlx": ("rlx - rel rlx - rlx", {"10": "pso c11"}),
        "rlx-acq": ("rlx - rlx acq - rlx", {"10": "pso c11"}),
        "con": ("rlx - rel con - rlx", {"10": "pso"}),
        "Fsc": ("rlx sc rlx rlx sc rlx", {}),
        "Frel-Facq": ("rlx rel rlx rlx acq rlx", {}),
        "Far-Far": ("rlx ar rlx rlx ar rlx", {}),
        "Frel-acq": ("rlx rel rlx acq - rlx", {}),
        "rel-Facq": ("rlx - rel rlx acq rlx", {"10": "pso"}),
        "Frel-rlx": ("rlx rel rlx rlx - rlx", {"10": "c11"}),
        "rlx-Facq": ("rlx - rlx rlx acq rlx", {"10": "pso c11"}),
        "Facq-acq": ("rlx acq rlx acq - rlx", {"10": "pso c11"}),
        "rel-Frel": ("rlx - rel rlx rel rlx", {"10": "pso c11"}),
        "sc-rlx": ("sc - sc rlx - rlx", {"10": "pso c11"}),
        "Fsc-rlx": ("rlx sc rlx rlx - rlx", {"10": "c11"}),
        "rlx-Fsc": ("rlx - rlx rlx sc rlx", {"10": "pso c11"}),
        "data-rel": ("rel - rlx acq - acq", {"10": "pso c11"}),
        "sc-acq": ("rlx - sc acq - rlx", {"10": "pso"}),
    },
)
MP_XCHG = _tests(
    "MP+xchg",
    ("x=1; c=y<1", "a=y; b=x"),
    "a b",
    {
        "rlx": ("rlx rlx rlx rlx", {"10": "c11"}),
        "ra": ("rlx rel acq rlx", {}),
        "acq": ("rlx acq acq rlx", {"10": "c11"}),
    },
)
MP_RMW_READER = _tests(
    "MP+fadd-reader",
    ("x=1; y=1", "a=y+0; b=x"),
    "a b",
    {
        "ra": ("rlx rel acq rlx", {"10": "pso"}),
        "rlx": ("rlx rel rlx rlx", {"10": "pso c11"}),
        "rel": ("rlx rel rel rlx", {"10": "pso c11"}),
    },
)
LB = _tests(
    "LB",
    ("a=x; _; y=1", "b=y; _; x=1"),
    "a b",
    {
        "rlx": ("rlx - rlx rlx - rlx", {}),
        "ra": ("acq - rel acq - rel", {}),
        "sc": ("sc - sc sc - sc", {}),
        "Fsc": ("rlx sc rlx rlx sc rlx", {}),
    },
)
S = _tests(
    "S",
    ("x=2; _; y=1", "a=y; _; x=1"),
    "a X",
    {
        "rlx": ("rlx - rlx rlx - rlx", {"12": "pso c11"}),
        "ra": ("rlx - rel acq - rlx", {"12": "pso"}),
        "sc": ("sc - sc sc - sc", {"12": "pso"}),
        "Fsc": ("rlx sc rlx rlx sc rlx", {}),
        "Frel-Facq": ("rlx rel rlx rlx acq rlx", {}),
        "rel-rlx": ("rlx - rel rlx - rlx", {"12": "pso c11"}),
        "rlx-acq": ("rlx - rlx acq - rlx", {"12": "pso c11"}),
        "Frel-rlx": ("rlx rel rlx rlx - rlx", {"12": "c11"}),
    },
)
R = _tests(
    "R",
    ("x=1; _; y=1", "y=2; _; a=x"),
    "Y a",
    {
        "rlx": ("rlx - rlx rlx - rlx", {"20": ALL3}),
        "ra": ("rlx - rel rel - acq", {"20": ALL3}),
        "sc": ("sc - sc sc - sc", {"20": "tso pso"}),
        "Fsc": ("rlx sc rlx rlx sc rlx", {}),
        "Fsc-first": ("rlx sc rlx rlx - rlx", {"20": ALL3}),
        "Fsc-second": ("rlx - rlx rlx sc rlx", {"20": "pso c11"}),
        "sc-stores": ("sc - sc sc - rlx", {"20": ALL3}),
        "sc-Fsc": ("sc - sc rlx sc rlx", {"20": "pso"}),
        "Frel-Fsc": ("rlx rel rlx rlx sc rlx", {"20": "c11"}),
    },
)
W22 = _tests(
    "2+2W",
    ("x=1; _; y=2", "y=1; _; x=2"),
    "X Y",
    {
        "rlx": ("rlx - rlx rlx - rlx", {"11": "pso c11"}),
        "rel": ("rel - rel rel - rel", {"11": "pso c11"}),
        "sc": ("sc - sc sc - sc", {"11": "pso"}),
        "Fsc": ("rlx sc rlx rlx sc rlx", {}),
        "Frel": ("rlx rel rlx rlx rel rlx", {"11": "c11"}),
        "Fsc-one": ("rlx sc rlx rlx - rlx", {"11": "pso c11"}),
        "sc-one": ("sc - sc rlx - rlx", {"11": "pso c11"}),
        "Facq": ("rlx acq rlx rlx acq rlx", {"11": "pso c11"}),
    },
)
WRC = _tests(
    "WRC",
    ("x=1", "a=x; _; y=1", "b=y; _; c=x"),
    "a b c",
    {
        "rlx": ("rlx rlx - rlx rlx - rlx", {"110": "c11"}),
        "ra": ("rel acq - rel acq - acq", {}),
        "sc": ("sc sc - sc sc - sc", {}),
        "Fsc": ("rlx rlx sc rlx rlx sc rlx", {}),
        "Frel-Facq": ("rlx rlx rel rlx rlx acq rlx", {}),
        # What a thread has read is seen by whom it synchronises with (coherence), whoever wrote it.
        "rel-acq": ("rlx rlx - rel acq - rlx", {}),
        "Fsc-second": ("rlx rlx sc rlx rlx - rlx", {"110": "c11"}),
        "Fsc-third": ("rlx rlx - rlx rlx sc rlx", {"110": "c11"}),
        "rlx-second": ("rel rlx - rlx acq - acq", {"110": "c11"}),
    },
)
RWC = _tests(
    "RWC",
    ("x=1", "a=x; _; b=y", "y=1; _; c=x"),
    "a b c",
    {
        "rlx": ("rlx rlx - rlx rlx - rlx", {"100": ALL3}),
        "ra": ("rel acq - acq rel - acq", {"100": ALL3}),
        "sc": ("sc sc - sc sc - sc", {"100": "tso pso"}),
        "Fsc": ("rlx rlx sc rlx rlx sc rlx", {}),
        "Fsc-second": ("rlx rlx sc rlx rlx - rlx", {"100": ALL3}),
        "Fsc-third": ("rlx rlx - rlx rlx sc rlx", {"100": "c11"}),
        "ra-Fsc-third": ("rel acq - acq rlx sc rlx", {"100": "c11"}),
    },
)
ISA2 = _tests(
    "ISA2",
    ("x=1; _; y=1", "a=y; _; z=1", "b=z; _; c=x"),
    "a b c",
    {
        "rlx": ("rlx - rlx rlx - rlx rlx - rlx", {"110": "pso c11"}),
        "ra": ("rlx - rel acq - rel acq - rlx", {"110": "pso"}),
        "sc": ("sc - sc sc - sc sc - sc", {"110": "pso"}),
        "Fsc": ("rlx sc rlx rlx sc rlx rlx sc rlx", {}),
        "F": ("rlx rel rlx rlx ar rlx rlx acq rlx", {}),
        "rlx-second": ("rlx - rel rlx - rlx acq - rlx", {"110": "pso c11"}),
        "Frel-first": ("rlx rel rlx rlx - rlx rlx - rlx", {"110": "c11"}),
    },
)
IRIW = _tests(
    "IRIW",
    ("x=1", "y=1", "a=x; _; b=y", "c=y; _; d=x"),
    "a b c d",
    {
        "rlx": ("rlx rlx rlx - rlx rlx - rlx", {"1010": "c11"}),
        "ra": ("rel rel acq - acq acq - acq", {"1010": "c11"}),
        "sc": ("sc sc sc - sc sc - sc", {}),
        "Fsc": ("rlx rlx rlx sc rlx rlx sc rlx", {}),
        "Far": ("rlx rlx rlx ar rlx rlx ar rlx", {"1010": "c11"}),
        "Fsc-one": ("rlx rlx rlx sc rlx rlx - rlx", {"1010": "c11"}),
        "sc-stores": ("sc sc acq - acq acq - acq", {"1010": "c11"}),
        "sc-loads": ("rlx rlx sc - sc sc - sc", {"1010": "c11"}),
    },
)
W_RWC = _tests(
    "W+RWC",
    ("x=1; _; y=1", "a=y; _; b=z", "z=1; _; c=x"),
    "a b c",
    {
        "rlx": ("rlx - rlx rlx - rlx rlx - rlx", {"100": ALL3}),
        "ra": ("rlx - rel acq - acq rel - acq", {"100": ALL3}),
        "sc": ("sc - sc sc - sc sc - sc", {"100": "tso pso"}),
        "Fsc": ("rlx sc rlx rlx sc rlx rlx sc rlx", {}),
        "Fsc-third": ("rlx - rlx rlx - rlx rlx sc rlx", {"100": "pso c11"}),
    },
)
Z6 = _tests(
    "Z6.0",
    ("x=1; _; y=1", "y=2; _; z=1", "a=z; _; b=x"),
    "Y a b",
    {
        "rlx": ("rlx - rlx rlx - rlx rlx - rlx", {"210": "pso c11"}),
        "ra": ("rlx - rel rlx - rel acq - rlx", {"210": "pso c11"}),
        "sc": ("sc - sc sc - sc sc - sc", {"210": "pso"}),
        "Fsc": ("rlx sc rlx rlx sc rlx rlx sc rlx", {}),
    },
)
SB3 = _tests(
    "3.SB",
    ("x=1; _; a=y", "y=1; _; b=z", "z=1; _; c=x"),
    "a b c",
    {
        "rlx": ("rlx - rlx rlx - rlx rlx - rlx", {"000": ALL3}),
        "sc": ("sc - sc sc - sc sc - sc", {"000": "tso pso"}),
        "Fsc": ("rlx sc rlx rlx sc rlx rlx sc rlx", {}),
        "Fsc-two": ("rlx sc rlx rlx sc rlx rlx - rlx", {"000": ALL3}),
    },
)
LB3 = _tests(
    "3.LB",
    ("a=x; y=1", "b=y; z=1", "c=z; x=1"),
    "a b c",
    {"rlx": ("rlx rlx rlx rlx rlx rlx", {}), "ra": ("acq rel acq rel acq rel", {})},
)
SB_RFI = _tests(
    "SB+rfi",
    ("x=1; a=x; b=y", "y=1; c=y; d=x"),
    "a b c d",
    {
        "rlx": ("rlx rlx rlx rlx rlx rlx", {"1010": ALL3}),
        "ra": ("rel acq acq rel acq acq", {"1010": ALL3}),
        "sc": ("sc sc sc sc sc sc", {"1010": "tso pso"}),
    },
)
N6 = _tests(
    "n6",
    ("x=1; _; a=x; b=y", "y=2; _; x=2"),
    "X a b",
    {
        "rlx": ("rlx - rlx rlx rlx - rlx", {"110": ALL3, "220": "pso c11"}),
        # 110: the fences come one after the other by b=0 (rb) and by x=2, x=1 (mo), in a circle.
        "Fsc": ("rlx sc rlx rlx rlx sc rlx", {"220": "c11"}),
        "sc": ("sc - sc sc sc - sc", {"110": "tso pso", "220": "pso"}),
    },
)
ONE_LOCATION = [
    *_tests(
        "CoRR", ("x=1", "a=x; b=x"), "a b", {"rlx": ("rlx " * 3, {}), "sc": ("sc " * 3, {})}
    ),
    *_tests("CoRR2", ("x=1", "x=2", "a=x; b=x", "c=x; d=x"), "a b c d", {"rlx": ("rlx " * 6, {})}),
    *_tests("CoWW", ("x=1; x=2", "a=x"), "a X", {"rlx": ("rlx rlx rlx", {})}),
    *_tests("CoRW1", ("a=x; x=1",), "a X", {"rlx": ("rlx rlx", {}), "sc": ("sc sc", {})}),
    *_tests(
        "CoRW2",
        ("a=x; x=2", "x=1"),
        "a X",
        {"rlx": ("rlx " * 3, {}), "ra": ("acq rel rel", {})},
    ),
    *_tests("CoWR", ("x=1; a=x", "x=2"), "a X", {"rlx": ("rlx " * 3, {}), "sc": ("sc " * 3, {})}),
    *_tests("CoWRR", ("x=1; a=x; b=x", "x=2"), "a b X", {"rlx": ("rlx " * 4, {})}),
    *_tests(
        "n5",
        ("x=1; a=x", "x=2; b=x"),
        "a b X",
        {"rlx": ("rlx " * 4, {}), "ra": ("rel acq " * 2, {})},
    ),
    *_tests("n4b", ("a=x; x=1", "b=x; x=2"), "a b X", {"rlx": ("rlx " * 4, {})}),
    *_tests("CoWWRR", ("x=1; x=2", "a=x; b=x"), "a b X", {"rlx": ("rlx " * 4, {})}),
]
UPDATES = [
    *_tests("fadd2", ("a=x+1", "b=x+1"), "a b X", {"rlx": ("rlx rlx", {}), "sc": ("sc sc", {})}),
    *_tests("fadd3", ("a=x+1", "b=x+1", "c=x+1"), "a b c X", {"rlx": ("rlx " * 3, {})}),
    *_tests("xchg2", ("a=x<1", "b=x<2"), "a b X", {"rlx": ("rlx rlx", {})}),
    *_tests(
        "cas2",
        ("a=x?0:1", "b=x?0:2"),
        "a b X",
        {"rlx": ("rlx/rlx rlx/rlx", {}), "sc": ("sc/sc sc/sc", {})},
    ),
    *_tests("fadd+store", ("a=x+1", "x=2"), "a X", {"rlx": ("rlx rlx", {})}),
    *_tests("fadd+stores", ("a=x+1", "x=2; x=4"), "a X", {"rlx": ("rlx " * 3, {})}),
    *_tests("cas+fadd", ("a=x?1:5", "b=x+1"), "a b X", {"rlx": ("rlx/rlx rlx", {})}),
    *_tests("fadd+reads", ("a=x+1", "b=x+1", "c=x; d=x"), "a b c d", {"rlx": ("rlx " * 4, {})}),
]
MP_CAS = _tests(
    "MP+cas-fails",
    ("x=1; y=1", "a=y?5:6; b=x"),
    "a b",
    {
        "acq": ("rlx rel acq/acq rlx", {"10": "pso"}),
        "rlx": ("rlx rel acq/rlx rlx", {"10": "pso c11"}),
        "sc": ("rlx rel sc/sc rlx", {"10": "pso"}),
    },
)
MP_CAS_WORKS = _tests(
    "MP+cas",
    ("x=1; y=1", "a=y?1:2; b=x"),
    "a b",
    {
        "acq": ("rlx rel acq/rlx rlx", {"10": "pso"}),
        "rlx": ("rlx rel rlx/rlx rlx", {"10": "pso c11"}),
        "rel": ("rlx rel rel/rlx rlx", {"10": "pso c11"}),
    },
)
RELEASE_SEQUENCES = [
    # C11 as published orders (2, 0) too; since C++20 and C23 a later store of the thread does not.
    *_tests(
        "RS-store",
        ("x=1; y=1; y=2", "a=y; b=x"),
        "a b",
        {
            "ra": ("rlx rel rlx acq rlx", {"10": "pso", "20": "pso c11"}),
            "Frel": ("rlx rel rel acq rlx", {"10": "pso", "20": "pso"}),
        },
    ),
    *_tests(
        "RS-update",
        ("x=1; y=1", "c=y+1", "a=y; b=x"),
        "a b",
        {
            "rlx": ("rlx rel rlx acq rlx", {"20": "pso"}),
            "none": ("rlx rlx rlx acq rlx", {"20": "pso c11"}),
            "late-rel": ("rlx rlx rel acq rlx", {"20": "pso c11"}),
        },
    ),
    *_tests(
        "RS-other-store",
        ("x=1; y=1", "c=y; y=2", "a=y; b=x"),
        "c a b",
        {
            "rlx": (
                "rlx rel rlx rlx acq rlx",
                {"110": "pso", "120": "pso c11", "010": "pso"},
            ),
        },
    ),
    *_tests(
        "RS-two-updates",
        ("x=1; y=1", "c=y+1; d=y+1", "a=y; b=x"),
        "a b",
        {"rlx": ("rlx rel rlx rlx acq rlx", {"30": "pso"})},
    ),
]
PPOCA = _tests(
    "PPOCA",
    ("x=1; _; y=1", "a=y; a? z=1; b=z; b? c=x"),
    "a b c",
    {
        "rlx": ("rlx - rlx rlx rlx rlx rlx", {"110": "pso c11"}),
        "Frel": ("rlx rel rlx rlx rlx rlx rlx", {"110": "c11"}),
        "ra": ("rlx - rel acq rlx rlx rlx", {"110": "pso"}),
        "Fsc": ("rlx sc rlx rlx rlx rlx rlx", {"110": "c11"}),
    },
)
# Plain data: where nothing orders the two accesses, C11 gives no meaning to the program.
_PLAIN = ("x=1; _; y=1", "a=y; _; a? b=x")
PLAIN = [
    *_tests(
        "MP+na",
        _PLAIN,
        "a b",
        {
            "ra": ("na - rel acq - na", {"10": "pso"}),
            "sc": ("na - sc sc - na", {"10": "pso"}),
            "Frel-Facq": ("na rel rlx rlx acq na", {}),
            "Frel-acq": ("na rel rlx acq - na", {}),
        },
    ),
    *[
        item._replace(is_race=True)
        for item in _tests(
            "MP+na",
            _PLAIN,
            "a b",
            {
                "rlx": ("na - rlx rlx - na", {"10": "pso"}),
                "rel-rlx": ("na - rel rlx - na", {"10": "pso"}),
                "rlx-acq": ("na - rlx acq - na", {"10": "pso"}),
                "Frel-rlx": ("na rel rlx rlx - na", {}),
            },
        )
        + _tests("na", ("x=1", "a=x"), "a", {"plain": ("na na", {})})
        + _tests("na+ww", ("x=1", "x=2"), "X", {"plain": ("na na", {})})
    ],
]
# On a lock-free list of one element: what is published by a compare-and-exchange.
PUBLISH = _tests(
    "publish",
    ("x=1; c=y?0:1", "a=y; a? b=x"),
    "a b",
    {
        "ra": ("na rel/rlx acq na", {}),
        "ar": ("na ar/acq con na", {}),
    },
)

TESTS = [
    *(SB + SB_XCHG + SB_XCHG_ONE + MP + MP_XCHG + MP_RMW_READER + LB + S + R + W22 + WRC + RWC),
    *(ISA2 + IRIW + W_RWC),
    *(Z6 + SB3 + LB3 + SB_RFI + N6 + ONE_LOCATION + UPDATES + MP_CAS + MP_CAS_WORKS),
    *(RELEASE_SEQUENCES + PPOCA + PLAIN + PUBLISH),
]
