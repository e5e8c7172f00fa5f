"""The ways to fuse a pair that are measured, and how each is made. Needs no GPU; runs in processes of their own."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from unseen.making import Made, about

import goptx
from goptx.cost.hardware import machine_of
from goptx.device.occupancy import occupancy
from goptx.device.register_bound import register_bound
from goptx.options import Strategy
from goptx.results.expected_gain import unjudged
from suite_b import HASHES, measured_of

TOTAL, STEP = 1024, 128  # threads of a horizontal CTA, and from one partition to the next
CAPS = (80, 128)  # of registers, for hashes: where there is no cap, the assembler takes 64 and spills
WIDE = 2  # CTAs of each kernel that a thread of a coarsened one runs


@dataclass(frozen=True, slots=True)
class Way:
    """A strategy; of horizontal, how many threads each kernel has, whether grids are folded, whether registers are
    bounded as HFUSE bounds them; the coarsening factor of both kernels; another cap of registers."""

    strategy: Strategy
    partition: tuple[int, ...] = ()
    folded: bool = False
    bounded: bool = False
    factor: int = 1
    cap: int | None = None

    def __str__(self) -> str:
        partition = "+".join(map(str, self.partition))
        factor = f"x{self.factor}" if self.factor > 1 else ""
        words = [self.strategy, partition, factor, "folded" if self.folded else "", "bounded" if self.bounded else ""]
        return " ".join(filter(None, [*words, f"capped at {self.cap}" if self.cap else ""]))


PARTITIONS = tuple((d, TOTAL - d) for d in range(STEP, TOTAL, STEP))
PEERS = tuple(Way(strategy) for strategy in ("vertical", "weave", "interleave", "auto"))


def even(pair: str) -> Way:
    """What one would take without a search: equal halves, or the blocks of the hashes."""
    if has_hashes(pair):
        return Way("horizontal", tuple(_own_threads(pair)))
    return Way("horizontal", (TOTAL // 2, TOTAL // 2))


def searched(pair: str) -> list[Way]:
    """HFUSE's search: each partition without a bound of registers and with it; hashes have one partition."""
    middle = even(pair)
    partitions = [middle.partition] if has_hashes(pair) else PARTITIONS
    return [Way("horizontal", p, bounded=bounded) for p in partitions for bounded in (False, True)]


def ways_of(pair: str) -> list[Way]:
    """All of them. Layers are also coarsened: these need more registers than two CTAs of 1,024 threads have, so that
    HFUSE's bound limits them, as it limits hashes."""
    middle = even(pair).partition
    wide = [Way("horizontal", middle, bounded=bounded, factor=WIDE) for bounded in (False, True)]
    found = [*PEERS, Way("horizontal", middle, folded=True), *searched(pair)]
    return [*found, *(Way("horizontal", middle, cap=cap) for cap in CAPS)] if has_hashes(pair) else [*found, *wide]


def has_hashes(pair: str) -> bool:
    """Whether a kernel of the pair has one block only."""
    return not set(pair.split("+")).isdisjoint(HASHES)


def fused(pair: str, way: Way, small: bool = False) -> goptx.Woven:
    """The pair as one kernel, without a bound."""
    found = measured_of(pair, small)
    kernels: Sequence[Any] = found.kernels
    options: dict[str, Any] = {}
    if way.factor > 1:
        kernels = [goptx.coarsen(k, way.factor, shape=s) for k, s in zip(found.kernels, found.shapes, strict=True)]
    elif way.partition and way.partition != tuple(shape.threads for shape in found.shapes):
        options = {"partition": way.partition, "tunable": found.tunable}
    if not way.folded:
        return goptx.fuse(*kernels, strategy=way.strategy, shapes=found.shapes, **options)
    woven = goptx.fuse(*kernels, strategy="horizontal", shapes=found.shapes, fold="static", **options)
    assert woven.shape is not None and woven.shape.threads
    resources, arch = woven.resources(), woven.module.target[0]
    shared = resources.shared_bytes + (woven.shape.shared or 0)
    fitting = occupancy(arch, resources.registers, shared, woven.shape.threads).ctas_per_sm
    ctas = machine_of(arch).sms * fitting  # by its real registers; goptx had to estimate them
    if ctas <= (woven.shape.ctas or 0):
        return woven
    return goptx.fuse(*kernels, strategy="horizontal", shapes=found.shapes, fold="static", ctas=ctas, **options)


def bound_of(pair: str, way: Way, woven: goptx.Woven) -> int | None:
    """HFUSE's cap of registers for a horizontal kernel."""
    if not way.partition or woven.shape is None:
        return None
    shared = woven.resources().shared_bytes + (woven.shape.shared or 0)
    return register_bound(way.partition, _registers(pair, way.factor), woven.module.target[0], shared)


def made(pair: str, way: Way, small: bool = False) -> Made:
    """Made with its machine code. There is no kernel if the bound changes nothing."""
    begin = time.monotonic()
    try:
        with unjudged():  # it is measured
            woven = fused(pair, way, small)
        facts: dict[str, Any] = {"bound": bound_of(pair, way, woven)}
        if way.bounded:
            free = woven.resources().registers
            if facts["bound"] is None or facts["bound"] >= free:
                return Made(str(way), facts={**facts, "free": free})
            woven = woven.capped(facts["bound"])
        if way.cap:
            woven = woven.capped(way.cap)
        facts |= facts_of(woven)
    except goptx.GoptxError as error:
        return Made(str(way), facts={"refused": str(error)})
    return Made(str(way), woven, {**facts, "seconds": round(time.monotonic() - begin, 2)})


def facts_of(woven: goptx.Woven) -> dict[str, Any]:
    """For the record, without notes, which name files of this machine, and estimates, of which there are none."""
    left_out = ("notes", "estimate", "expected")
    return {key: fact for key, fact in about(woven).items() if key not in left_out} | {"shape": str(woven.shape)}


def _own_threads(pair: str) -> list[int]:
    return [shape.threads or 0 for shape in measured_of(pair).shapes]


@cache
def _registers(pair: str, factor: int) -> list[int]:
    """Of a thread of each kernel alone, coarsened if the fused ones are."""
    found = measured_of(pair)
    if factor == 1:
        return [kernel.resources().registers for kernel in found.workload.each]
    with unjudged():
        alone = [goptx.coarsen(k, factor, shape=s) for k, s in zip(found.kernels, found.shapes, strict=True)]
        return [kernel.resources().registers for kernel in alone]
