"""The special registers, as values over all lanes of a launch or as one value for all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import TYPE_CHECKING

import numpy as np

from goptx.emulator.instructions.lanewise import Array
from goptx.launch.shape import shared_unit

if TYPE_CHECKING:
    from goptx.emulator.machine import Machine


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """The numbers of all lanes of some CTAs of a launch, those of their CTAs among them and in the grid, and those of
    their threads in the CTA; and the values of special registers that depend on these alone. They are never changed."""

    lanes: Array
    own: Array
    cta: Array
    thread: Array
    special: dict[str, Array] = field(default_factory=dict)


@lru_cache(maxsize=4)
def numbers_of(ctas: Sequence[int], warps: int, grid: tuple[int, int, int], block: tuple[int, int, int]) -> Numbers:
    """Of CTAs of so many warps. Cached, because kernels are often launched in one shape several times. `grid` and
    `block` decide about the special registers."""
    lanes = np.arange(len(ctas) * warps * 32)
    own = lanes // (warps * 32)
    made = Numbers(lanes, own, np.asarray(ctas, np.int64)[own], lanes % (warps * 32))
    for numbers in (made.lanes, made.own, made.cta, made.thread):
        numbers.flags.writeable = False
    return made


OF_POSITION = ("%tid", "%ntid", "%ctaid", "%nctaid", "%laneid", "%warpid", "%lanemask")  # depend on `Numbers` alone
Value = Callable[["Machine"], "Array | int"]


def _along(number: Array, sizes: tuple[int, int, int], axis: int) -> Array:
    """The coordinate along an axis of items that are numbered with x first."""
    below = int(np.prod(sizes[:axis], dtype=np.int64))
    return number // below % sizes[axis]


def _axes(name: str, value: Callable[..., Array | int]) -> dict[str, Value]:
    named: dict[str, Value] = {f"{name}.{c}": partial(value, axis=axis % 3) for axis, c in enumerate("xyzrgb")}
    return named | dict.fromkeys((f"{name}.w", f"{name}.a"), lambda m: 0)


def _mask(m: Machine, compare: Callable[[Array, Array], Array]) -> Array:
    """For each lane the mask of the lanes of its warp whose position compares so with its own."""
    own, other = np.arange(32)[:, None], np.arange(32)[None, :]
    masks = (compare(other, own) << other).sum(axis=1)
    return np.tile(masks, m.warps)


def _allocated(m: Machine) -> int:
    """The allocated shared memory of a CTA, in whole units."""
    unit = shared_unit(m.launch.program.module.target[0])
    return -(-int(m.spaces["shared"].size) // unit) * unit


SPECIAL: dict[str, Value] = {
    **_axes("%tid", lambda m, axis: _along(m.thread, m.block, axis)),
    **_axes("%ntid", lambda m, axis: m.block[axis]),
    **_axes("%ctaid", lambda m, axis: _along(m.cta, m.grid, axis)),
    **_axes("%nctaid", lambda m, axis: m.grid[axis]),
    # a launch without clusters: each CTA is a cluster of its own
    **_axes("%clusterid", lambda m, axis: _along(m.cta, m.grid, axis)),
    **_axes("%nclusterid", lambda m, axis: m.grid[axis]),
    **_axes("%cluster_ctaid", lambda m, axis: 0),
    **_axes("%cluster_nctaid", lambda m, axis: 1),
    "%cluster_ctarank": lambda m: 0,
    "%cluster_nctarank": lambda m: 1,
    "%is_explicit_cluster": lambda m: 0,
    "WARP_SZ": lambda m: 32,  # a constant of the language, spelled without %
    "%laneid": lambda m: m.every_lane % 32,
    "%warpid": lambda m: m.thread // 32,
    "%nwarpid": lambda m: 64,  # the number of warp identifiers of an SM, not of those in use
    "%smid": lambda m: m.launch.sm_of(m.cta),
    "%nsmid": lambda m: m.SMS,
    "%gridid": lambda m: 1,
    "%lanemask_eq": lambda m: _mask(m, np.equal),
    "%lanemask_le": lambda m: _mask(m, np.less_equal),
    "%lanemask_lt": lambda m: _mask(m, np.less),
    "%lanemask_ge": lambda m: _mask(m, np.greater_equal),
    "%lanemask_gt": lambda m: _mask(m, np.greater),
    "%dynamic_smem_size": lambda m: m.dynamic_shared,
    "%total_smem_size": _allocated,
    "%aggr_smem_size": _allocated,
    "%reserved_smem_offset_begin": lambda m: 0,
    "%reserved_smem_offset_end": lambda m: 0,
    "%reserved_smem_offset_cap": lambda m: 0,
    "%reserved_smem_offset_0": lambda m: 0,
    "%reserved_smem_offset_1": lambda m: 0,
    "%current_graph_exec": lambda m: 0,
}

# Time: one tick for each block of instructions that the machine has run.
CLOCKS: dict[str, Value] = {
    "%clock": lambda m: m.ticks,
    "%clock64": lambda m: m.ticks,
    "%clock_hi": lambda m: m.ticks >> 32,
    "%globaltimer": lambda m: m.ticks,
    "%globaltimer_lo": lambda m: m.ticks,
    "%globaltimer_hi": lambda m: m.ticks >> 32,
}
SPECIAL |= CLOCKS
SPECIAL |= dict.fromkeys((f"%pm{i}{wide}" for i in range(8) for wide in ("", "_64")), lambda m: 0)  # nothing is counted


def special(machine: Machine, name: str) -> Array:
    """The register's value, 64 bits wide: for all lanes, or 0-dimensional where all have the same.

    `%envreg` registers, which drivers set, are zero.
    """
    return np.asarray(SPECIAL[name](machine) if name in SPECIAL else 0, np.int64)
