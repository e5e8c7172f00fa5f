"""What a few CTAs of a launch do: they run on data as its launch specification describes it.

Requires: a kernel whose CTAs do not wait for each other. Ensures: the counts of CTAs spread over the grid, each with
its neighbours along the axes; the same on every machine, with bounded work. Instructions that the emulator lacks are
passed over, for what follows from their results seldom decides where a kernel goes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain, islice, pairwise

import numpy as np

from goptx.emulator.emulate import parameter_bytes, program_of
from goptx.emulator.emulated_launch import CTAS, THREADS, Launch
from goptx.emulator.instructions.lanewise import Array
from goptx.emulator.lanes import WARP
from goptx.emulator.machine import Machine
from goptx.emulator.memory.address_spaces import WINDOWS
from goptx.emulator.memory.traffic import SECTOR, Traffic, wavefronts
from goptx.emulator.sampled.described_memory import PAGE, DescribedBuffers
from goptx.emulator.sampled.sample_counts import L1, MOST_WORK, SampledRun, Touched
from goptx.errors import GoptxError
from goptx.launch.parameter import Parameter
from goptx.launch.shape import Shape
from goptx.launch.specification import Argument
from goptx.log import LOG
from goptx.memo import Same
from goptx.ptx.ir import Module
from goptx.ptx.opcodes import facts_of

GROUPS = 64  # CTAs with their neighbours, at most
IRRATIONAL = (0.7549, 0.5698, 0.4302)  # by which their places differ along each axis, of the grid: evenly spread
ENOUGH = 10_000  # the same of all groups, after which no other is begun
LINE = 128  # bytes that the L1 looks up at once
SHIFT = 40  # bits of the number of a sector
NUMBER = (1 << SHIFT) - 1


@lru_cache(maxsize=64)
def sampled_run(module: Same[Module], entry: str, arguments: tuple[Argument, ...], shape: Shape) -> SampledRun | None:
    """The counts for a kernel in a launch with these arguments. None where its CTAs cannot be run so."""
    try:
        return _sampled(module, entry, arguments, shape)
    except (GoptxError, TypeError, ValueError, OverflowError, MemoryError) as error:  # the last four of numpy
        LOG.info("%s: estimated without running `%s` on the described data: %s", module.held.source, entry, error)
        return None


def _sampled(module: Same[Module], entry: str, arguments: Sequence[Argument], shape: Shape) -> SampledRun:
    program = program_of(module, entry, shape.shared or 0, "A")
    function, layout = program.entry, program.layout
    buffers = DescribedBuffers(arguments, layout.sizes["global"])
    params = [Parameter("A", p.name, p.name, p.type, p.size) for p in function.parameters]
    content = parameter_bytes(layout.own[function.name], function, params, buffers.values)
    launch = Launch(
        program, shape.sizes("grid"), shape.sizes("block"), shape.shared or 0, content, buffers, strict=False,
        find_races=False, seed=0, max_steps=None, max_work=MOST_WORK, skipped=set(),
    )  # fmt: skip
    warps = -(-launch.threads // WARP)
    launch.traffic = accesses = _Accesses(buffers, warps)
    steps: list[int] = []
    work, together, groups = 0, 1, islice(_groups(launch.grid), GROUPS)
    while work <= ENOUGH and (batch := list(islice(groups, together))):
        machine = accesses.machine = Machine(launch, tuple(chain.from_iterable(batch)))
        if not machine.run():
            raise machine.no_progress_fault()
        accesses.end([len(group) for group in batch])
        steps += machine.steps.reshape(-1, warps).max(axis=1).tolist()
        work += machine.work
        together *= 2  # few instructions cost about the same for many CTAs
    ctas = len(steps)
    issued: dict[int, list[int]] = {}
    for operation in program.operations:
        issued.setdefault(operation.instruction.line, []).append(launch.counts.issued[operation.number])
    return SampledRun(
        {line: sum(counts) / len(counts) for line, counts in issued.items()}, tuple(steps), warps,
        tuple(accesses.touched(ctas)), accesses.requested / ctas, accesses.passes / ctas, not launch.skipped,
    )  # fmt: skip


def _groups(grid: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """CTAs spread over the grid, each with the next one along each axis."""
    x, y, _ = grid
    seen = set[int]()
    for number in range(1, 2 * GROUPS):
        at = [int(number * step % 1 * max(size - 1, 1)) for step, size in zip(IRRATIONAL, grid, strict=True)]
        first = at[0] + x * (at[1] + y * at[2])
        if first not in seen:
            seen.add(first)
            yield first, *(first + stride for size, stride in zip(grid, (1, x, x * y), strict=True) if size > 1)


class _Accesses(Traffic):
    """The accesses of the CTAs that `machine` runs, and what was counted of those before."""

    def __init__(self, buffers: DescribedBuffers, warps: int) -> None:
        super().__init__()
        self.machine: Machine | None = None
        self.requested = self.passes = 0.0
        self._warps = warps
        self._held = L1 // SECTOR // max(min(THREADS // (warps * WARP), CTAS), 1)  # sectors of a CTA in the L1
        self._starts = np.array([page * (PAGE // SECTOR) for page, _ in buffers.described], np.int64)
        self._sizes = [a.length * np.dtype(a.dtype).itemsize / SECTOR for _, a in buffers.described]
        # of loads and of stores: sectors, each with the number of its CTA above SHIFT; those of a CTA and in common
        self._sectors: tuple[list[Array], list[Array]] = ([], [])
        self._own, self._common = np.zeros((2, 2, len(self._sizes)))

    def count(self, space: str, addresses: Array, lanes: Array, width: int) -> None:
        if not len(addresses) or space not in ("shared", "global"):
            return
        if space == "shared":
            self.passes += wavefronts(addresses, lanes, width)
            return
        within = addresses - WINDOWS["global"]
        if width > SECTOR:  # a copy: each lane accesses several
            parts = np.arange(0, width, SECTOR)
            within, lanes = (within[:, None] + parts).ravel(), np.repeat(lanes, len(parts))
        sectors = _distinct(within // SECTOR | lanes // WARP << SHIFT)
        lines = _distinct(sectors // (LINE // SECTOR))
        self.passes += max(len(lines), len(within) * min(width, SECTOR) / LINE)
        assert self.machine
        stores = facts_of(self.machine.operation.instruction.opcode).row.access != "l"
        self._sectors[stores].append(sectors & NUMBER | (sectors >> SHIFT) // self._warps << SHIFT)

    def end(self, groups: Sequence[int]) -> None:
        """The CTAs of the machine have ended: groups of so many, of which all but the first are its neighbours."""
        for stores, accesses in enumerate(self._sectors):
            every = np.concatenate([*accesses, np.zeros(0, np.int64)])
            accesses.clear()
            self.requested += len(every) if stores else self._missed(every)
            found = np.unique(every)
            whose = np.searchsorted(found >> SHIFT, np.arange(sum(groups) + 1))
            each = [found[begin:end] & NUMBER for begin, end in pairwise(whose)]
            first = 0
            for size in groups:
                for own in each[first : first + size]:
                    self._own[stores] += self._by_array(own)
                for other in each[first + 1 : first + size]:
                    common = np.intersect1d(each[first], other, assume_unique=True)
                    self._common[stores] += size * self._by_array(common)
                first += size

    def touched(self, ctas: int) -> Iterator[Touched]:
        """The means of so many CTAs."""
        for stores in (0, 1):
            for own, common, size in zip(self._own[stores], self._common[stores], self._sizes, strict=True):
                if own:
                    yield Touched(float(own) / ctas, float(common) / ctas, size)

    def _by_array(self, sectors: Array) -> Array:
        """How many of the sectors, which are in order, are in each array."""
        return np.diff(np.append(np.searchsorted(sectors, self._starts), len(sectors)))

    def _missed(self, sectors: Array) -> int:
        """Of the sectors, in the order in which they are loaded, how many the L1 does not hold: of a CTA it holds those
        that were loaded last."""
        by_cta = sectors[np.argsort(sectors >> SHIFT, kind="stable")]
        order = np.argsort(by_cta, kind="stable")
        again = by_cta[order][1:] == by_cta[order][:-1]
        return len(sectors) - int(np.count_nonzero(again & (np.diff(order) <= self._held)))


def _distinct(keys: Array) -> Array:
    """The different ones of the keys, in order. Most are in order already."""
    steps = keys[1:] - keys[:-1]
    return np.unique(keys) if len(steps) and int(steps.min()) < 0 else keys[np.concatenate(([True], steps > 0))]
