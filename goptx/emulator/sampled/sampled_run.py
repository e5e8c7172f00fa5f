"""What a few CTAs of a launch do: they run on data as its launch specification describes it.

Requires: a kernel whose CTAs do not wait for each other. Ensures: the counts of CTAs spread over the grid, each with
its neighbours along the axes; the same on every machine, with bounded work. Instructions that the emulator lacks are
passed over, for what follows from their results seldom decides where a kernel goes.
"""

from __future__ import annotations

from collections import Counter
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
from goptx.emulator.memory.traffic import Traffic, wavefronts
from goptx.emulator.sampled.described_memory import PAGE, DescribedBuffers
from goptx.emulator.sampled.sample_counts import (
    L1,
    LINE,
    LOADS,
    MOST_WORK,
    SECTOR,
    STORES,
    UPDATES,
    SampledRun,
    Touched,
)
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
SECTORS = LINE // SECTOR  # of a line
KINDS = range(3)  # of accesses
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
        tuple(accesses.touched(ctas)), tuple(n / ctas for n in accesses.requested), accesses.passes / ctas,
        not launch.skipped, accesses.missed(),
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
        self.requested = [0, 0, 0]
        self.passes = 0.0
        self._warps = warps
        self._held = L1 // SECTOR // max(min(THREADS // (warps * WARP), CTAS), 1)  # sectors of a CTA in the L1
        self._starts = np.array([page * (PAGE // SECTOR) for page, _ in buffers.described], np.int64)
        self._sizes = [a.length * np.dtype(a.dtype).itemsize / SECTOR for _, a in buffers.described]
        # by kind: sectors, each with the number of its CTA above SHIFT; those of a CTA, those in common, lines that are
        # not beside others of the CTA, the sectors in them, and those of these in lines of a neighbour; of loads, the
        # sectors that are asked of the L2
        self._sectors: tuple[list[Array], ...] = tuple([] for _ in KINDS)
        self._own, self._common, self._lines, self._in_lines, self._beside = np.zeros((5, len(KINDS), len(self._sizes)))
        self._asked = np.zeros(len(self._sizes))
        # of each access that loads, its line and the warps of its sectors; by line the warps that load, and those that
        # do not find the elements of each array in the L1
        self._loads: list[tuple[int, Array]] = []
        self._loading: Counter[int] = Counter()
        self._missing: Counter[tuple[int, int]] = Counter()

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
        lines = _distinct(sectors // SECTORS)
        self.passes += max(len(lines), len(within) * min(width, SECTOR) / LINE)
        assert self.machine
        instruction, warps = self.machine.operation.instruction, sectors >> SHIFT
        facts = facts_of(instruction.opcode)
        kind = UPDATES if facts.is_atomic else LOADS if facts.row.access == "l" else STORES
        self._sectors[kind].append(sectors & NUMBER | warps // self._warps << SHIFT)
        if kind == LOADS:
            self._loads.append((instruction.line, warps))

    def end(self, groups: Sequence[int]) -> None:
        """The CTAs of the machine have ended: groups of so many, of which all but the first are its neighbours."""
        for kind, accesses in enumerate(self._sectors):
            every = _joined(accesses)
            accesses.clear()
            self.requested[kind] += self._count_missed(every) if kind == LOADS else len(every)
            found = np.unique(every)
            whose = np.searchsorted(found >> SHIFT, np.arange(sum(groups) + 1))
            each = [found[begin:end] & NUMBER for begin, end in pairwise(whose)]
            first = 0
            for size in groups:
                own, *others = each[first : first + size]
                for one in (own, *others):
                    self._own[kind] += self._by_array(one)
                for other in others:
                    common = np.intersect1d(own, other, assume_unique=True)
                    self._common[kind] += size * self._by_array(common)
                self._count_lines(kind, own, others, size)
                first += size

    def _count_lines(self, kind: int, own: Array, others: Sequence[Array], size: int) -> None:
        """Counts the lines of a CTA that are not beside others of it, and their sectors, for a group of so many."""
        lines = own // SECTORS
        firsts = _is_first(lines)
        every = lines[firsts]
        distant = np.diff(every, prepend=-2, append=1 << SHIFT) > 1
        single = np.isin(lines, every[distant[:-1] & distant[1:]])
        beside = single & np.isin(lines, _joined(others) // SECTORS)
        self._lines[kind] += size * self._by_array(own[single & firsts])
        self._in_lines[kind] += size * self._by_array(own[single])
        self._beside[kind] += size * self._by_array(own[beside])

    def touched(self, ctas: int) -> Iterator[Touched]:
        """The means of so many CTAs. The neighbours in the other direction of each axis are taken to access as much of
        its lines as those in the one that was looked at."""
        for kind, number in self._accessed():
            own, common, lines, sectors, beside = (
                float(each[kind][number]) / ctas
                for each in (self._own, self._common, self._lines, self._in_lines, self._beside)
            )
            alone = max(1.0 - 2.0 * beside / sectors, 0.0) if sectors else 0.0
            asked = float(self._asked[number]) / ctas if kind == LOADS else 0.0
            yield Touched(own, common, self._sizes[number], kind, alone * lines, alone * sectors, asked)

    def missed(self) -> dict[int, dict[int, float]]:
        """By line, the shares of the warps that do not find elements of arrays, by their numbers in `touched`."""
        places = {number: place for place, (kind, number) in enumerate(self._accessed()) if kind == LOADS}
        found: dict[int, dict[int, float]] = {line: {} for line in self._loading}
        for (line, number), warps in self._missing.items():
            found[line][places[number]] = warps / self._loading[line]
        return found

    def _accessed(self) -> list[tuple[int, int]]:
        """The kind, and the number of an array, for all that is accessed."""
        return [(kind, int(number)) for kind in KINDS for number in np.flatnonzero(self._own[kind])]

    def _by_array(self, sectors: Array) -> Array:
        """How many of the sectors, which are in order, are in each array."""
        return np.diff(np.append(np.searchsorted(sectors, self._starts), len(sectors)))

    def _count_missed(self, sectors: Array) -> int:
        """Of the sectors, in the order in which they are loaded, how many the L1 does not hold. Counts the warps that
        wait for them."""
        lines = [line for line, _ in self._loads]
        access = np.repeat(np.arange(len(lines)), [len(warps) for _, warps in self._loads])
        whose = _joined([warps for _, warps in self._loads]) | access << SHIFT
        self._loads.clear()
        missing, waiting = self._missing_and_waiting(sectors, access)
        arrays = np.searchsorted(self._starts, sectors & NUMBER, side="right") - 1
        self._asked += np.bincount(arrays[missing], minlength=len(self._sizes))
        for number in _distinct(whose) >> SHIFT:
            self._loading[lines[number]] += 1
        for number, array in np.unique(np.stack((whose[waiting], arrays[waiting])), axis=1).T:
            self._missing[lines[number >> SHIFT], int(array)] += 1
        return int(np.count_nonzero(missing))

    def _missing_and_waiting(self, sectors: Array, access: Array) -> tuple[Array, Array]:
        """For each sector that is loaded whether the L1 does not hold it, of a CTA the sectors that were loaded last;
        and whether a warp waits for it: where several load a sector in one access, all do."""
        by_cta = np.argsort(sectors >> SHIFT, kind="stable")
        order = by_cta[np.argsort(sectors[by_cta], kind="stable")]
        place = np.empty(len(sectors), np.int64)  # among those of all CTAs, one CTA after the other
        place[by_cta] = np.arange(len(sectors))
        fresh = _is_first(sectors[order])
        missing, waiting = np.empty((2, len(sectors)), bool)
        missing[order] = fresh | (np.diff(place[order], prepend=0) > self._held)
        begins = fresh | _is_first(access[order])
        waiting[order] = missing[order[np.maximum.accumulate(np.where(begins, np.arange(len(order)), 0))]]
        return missing, waiting


def _joined(arrays: Sequence[Array]) -> Array:
    """One after the other; there may be none."""
    return np.concatenate([np.zeros(0, np.int64), *arrays])


def _is_first(keys: Array) -> Array:
    """Where a key is another one than the key before it."""
    return np.append(np.ones(min(len(keys), 1), bool), keys[1:] != keys[:-1])


def _distinct(keys: Array) -> Array:
    """The different ones of the keys, in order. Most are in order already."""
    if len(keys) > 1 and int(np.diff(keys).min()) < 0:
        return np.unique(keys)
    found: Array = keys[_is_first(keys)]
    return found
