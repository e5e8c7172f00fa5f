"""Suite D: a chain of four element-wise kernels, and the three ways to run it that are compared."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import goptx

FOLDER = Path(__file__).parent
STEPS = ("first", "second", "third", "fourth")  # t1 = a*b; t2 = a-c; t3 = t2*d; out = t1-t3
FORMS = {"element": "", "strided": "_strided"}  # one element a thread, or a grid-stride loop
BLOCK = 256  # threads
LOOP_CTAS = 132 * 16  # of the grid-stride form
A_IS_ONE = (("A:0", "B:0"),)
BOUNDS = (("A:3", "B:3"), ("A:3", "C:3"), ("A:3", "D:3"))
TEMPORARIES = (("A:2", "D:0"), ("B:2", "C:0"), ("C:2", "D:1"))
WAYS: dict[str, dict[str, Any]] = {
    "vertical": {"depends": True, "same": (*A_IS_ONE, *TEMPORARIES, *BOUNDS)},
    "internalised": {"private": TEMPORARIES, "same": (*A_IS_ONE, *BOUNDS)},
}


def chain(form: str) -> list[str]:
    """The entries of the four kernels, in order."""
    return [f"{step}{FORMS[form]}" for step in STEPS]


def fused(form: str, way: str, arch: str = "sm_90") -> goptx.Woven:
    """The chain as one kernel, by one of `WAYS`."""
    source = FOLDER / f"chain.{arch}.ptx"
    entries = chain(form)
    return goptx.fuse(*[source] * len(entries), entries=entries, strategy="vertical", **WAYS[way])


def passes(ptx: str) -> int:
    """How often a thread loads or stores an element of global memory."""
    words = [word for line in ptx.splitlines() for word in line.split()]
    return sum(word.startswith(("ld.global", "st.global")) for word in words)
