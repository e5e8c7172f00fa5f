"""What a kernel costs by its machine code, with the share of an SM that it fills."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from goptx.device.occupancy import occupancy
from goptx.display import brief
from goptx.launch.shape import Shape

if TYPE_CHECKING:
    from goptx.device.assemble import Assembly


@dataclass(frozen=True, slots=True)
class Resources:
    """What a kernel costs, by its machine code.

    registers, spill_bytes: of a thread; bytes are those stored and loaded.
    shared_bytes: static ones of a CTA.
    occupancy: the share of an SM's warps that fit, 0 to 1; None without a block.
    assembler: which one made it, with its version.
    """

    __repr__ = brief

    registers: int
    spill_bytes: int
    shared_bytes: int
    occupancy: float | None
    assembler: str


def resources(
    made: Assembly, shape: Shape | None = None, block: int | Sequence[int] | None = None, shared: int = 0
) -> Resources:
    """The costs of what was assembled. `block` (threads) and `shared` (bytes of dynamic shared memory of a CTA) are
    those of `shape` where no block is given and the shape knows them."""
    share = None
    if block is None and shape:
        block, shared = shape.threads, shape.shared or shared
    if block is not None:
        threads = block if isinstance(block, int) else math.prod(block)
        total = made.shared_bytes + shared
        share = occupancy(made.arch, made.registers, total, threads, barriers=made.barriers).fraction
    spills = made.spill_store_bytes + made.spill_load_bytes
    return Resources(made.registers, spills, made.shared_bytes, share, made.assembler)
