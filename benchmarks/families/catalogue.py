"""The families that are compared, and what of each is left out because the ISA leaves it open.

Requires tests/ on the module path.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from emulator import floating_opcodes
from families import asynchronous, atomics, bulk, control, lanewise, matrices, memory, threads
from families.entry import Case
from families.matrices import INEXACT


@dataclass(frozen=True, slots=True)
class Family:
    """cases: made anew at each call, always the same. open: what is not compared, and other remarks."""

    cases: Callable[[], list[Case]]
    open: str = ""


Types = tuple[str, str, str, str]


def _exact(types: Types) -> bool:
    return not INEXACT & set(types)


def _inexact(types: Types) -> bool:
    return bool(INEXACT & set(types))


def _products(select: Callable[[Types], bool], whole: bool) -> list[Case]:
    return matrices.mma(select, whole) + matrices.wmma(select, whole)


FAMILIES: dict[str, Family] = {
    "integer arithmetic": Family(
        partial(lanewise.integers, "integer arithmetic"), "division by zero, and its remainder, left out"
    ),
    "carries": Family(
        partial(lanewise.integers, "carries"), "the flag set and read by an instruction of the same kind"
    ),
    "bits": Family(
        partial(lanewise.integers, "bits"),
        "`bfe`, `bfi`: positions and lengths up to 255; `fns`: base up to 31, not the offset -2**31",
    ),
    "integer comparison": Family(partial(lanewise.integers, "integer comparison"), "with `selp`, `slct`"),
    "video": Family(
        lanewise.videos, "words below 2**15: of larger ones ptxas 13.0 makes other sums and products than the manual"
    ),
    "float arithmetic": Family(partial(lanewise.floats, floating_opcodes.ARITHMETIC), "some need sm_100"),
    "float min max sign": Family(partial(lanewise.floats, floating_opcodes.UNROUNDED), "some need sm_100"),
    "float comparison": Family(partial(lanewise.floats, floating_opcodes.COMPARING)),
    "approximations": Family(
        lanewise.approximations,
        "within the ISA's bounds and half a unit of the last place; open where it has none: `sin`, `cos` beyond "
        "100 pi, `div.approx` beyond 2**126",
    ),
    "conversions": Family(lanewise.conversions),
    "guarded": Family(
        lanewise.guarded,
        "all of the above under a guard, but `set` and `testp`, of which ptxas keeps none; the flag left out",
    ),
    "moves": Family(lanewise.moves, "`cvta`, `isspacep`, clocks and what depends on the machine left out"),
    "exact matrices": Family(partial(_products, _exact, True), "integers, bits, f64; `wmma` from memory to memory"),
    "whole-number matrices": Family(
        partial(_products, _inexact, True), "f16, bf16, tf32, e4m3, e5m2: sums that any order and precision gives"
    ),
    "random matrices": Family(
        partial(_products, _inexact, False),
        "the ISA has no bound; relative to the sum of magnitudes: f32 2**-20, f16 2**-9, "
        "of e4m3 and e5m2 to f32 2**-12",
    ),
    "matrix transfers": Family(
        matrices.transfers, "`wmma.load` register by register, though the ISA leaves that layout open"
    ),
    "loads and stores": Family(memory.accesses),
    "cp.async": Family(asynchronous.copies),
    "mbarrier": Family(asynchronous.barrier_objects, "the state, which is opaque, left out"),
    "bulk operations": Family(bulk.operations, "with clusters of one CTA"),
    "integer atomics": Family(
        atomics.integers, "where threads meet: final memory, and all returned values of a cell in order of size"
    ),
    "float atomics": Family(atomics.floats, "one thread at a cell"),
    "shuffles": Family(threads.shuffles, "inactive source lanes left out"),
    "votes and reductions": Family(threads.warp_wide, "`vote`, `match`, `redux`, `elect`, `activemask`"),
    "barriers": Family(threads.barriers),
    "control": Family(control.all_kinds, "branches, loops, guards, calls"),
}
