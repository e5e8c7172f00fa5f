"""The merged flow as the scheduler takes it: tidied, with the code of each kernel in a part of its own.

Requires: kernels that are merged to one. Ensures: the same paths. If joined, blocks that always follow each other
become one, whose code is then woven as a whole.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count

from goptx.analysis.cfg import Block, Code, Flow, loops
from goptx.analysis.dataflow import read, written
from goptx.analysis.terminators import Jump
from goptx.ptx.ir import Directive, Instruction
from goptx.ptx.opcodes import facts_of
from goptx.weaving.invariants import ensured
from goptx.weaving.merging.merge_input import MergeInput, ProductState
from goptx.weaving.merging.sync_order import common

Place = tuple[int, int]  # the number of a part, and of the code in it
SyncGroup = tuple[Place, ...]  # code that may wait or be waited for; several places for barriers that become one


@dataclass(frozen=True, slots=True)
class MergedBlock:
    """`parts` has the code of each kernel, in their order. `sync_groups` is the synchronization order: the places of
    the
    code that must keep its order across kernels. `diverged`: whether the lanes of a warp may have diverged at its end,
    within the region of a kernel. `forwarded` has, in the original order, the places of the code that uses registers
    which one kernel forwards to others. `lists` is the code to be woven where that is not the code of each kernel, but
    of several that are in one order already."""

    parts: tuple[tuple[Code, ...], ...]
    sync_groups: tuple[SyncGroup, ...]
    states: tuple[ProductState, ...]
    diverged: bool = False
    forwarded: tuple[Place, ...] = ()
    lists: tuple[tuple[Code, ...], ...] | None = None

    @property
    def woven(self) -> bool:
        """Whether it holds code of several kernels."""
        return sum(map(bool, self.parts)) > 1


@dataclass(frozen=True, slots=True)
class Merged:
    """The merged flow, and its blocks by name."""

    flow: Flow
    blocks: Mapping[str, MergedBlock]

    def diverged(self, as_written: Collection[int]) -> set[str]:
        """The blocks where lanes may have diverged; all blocks with code of the kernels `as_written` are among them."""
        return {n for n, b in self.blocks.items() if b.diverged or any(b.parts[k] for k in as_written)}


def merged_blocks(side: MergeInput, join: bool = True) -> Merged:
    """`join` makes one block of blocks that always follow each other. Without it each pair of blocks, or of slices, is
    woven by itself, as published; blocks with one carry chain are joined all the same, for a chain is moved whole."""
    flow, inside = expanded(side.flow)
    flow = pragmas_at_loops(flow.without_empty())
    kernels = sorted(side.kernels)
    states = {**(side.states or {}), **{name: side.state(region) for name, region in inside.items()}}
    chains = flow.chains() if join else _single_pairs(side, flow)
    blocks = {}
    for head, members in chains.items():
        pieces = [flow.blocks[m].code for m in members]
        code = [c for piece in pieces for c in piece]
        places = _places(code, kernels)
        blocks[head] = MergedBlock(
            parts_of(code, kernels),
            tuple(_sync_groups(side, pieces, places)),
            tuple(states[m] for m in members if m in states),
            members[-1] in inside,
            tuple(p for p, c in zip(places, code, strict=True) if not (read(c) | written(c)).isdisjoint(side.forwarded))
            if side.forwarded
            else (),
        )
    return ensured("merged blocks", Merged(flow.pruned() if join else flow.joined(chains), blocks))


def _single_pairs(side: MergeInput, flow: Flow) -> dict[str, tuple[str, ...]]:
    """Each block, with the next ones as long as a carry chain continues into them."""
    found: dict[str, tuple[str, ...]] = {}
    for members in flow.chains().values():
        parts = [parts_of(flow.blocks[m].code, sorted(side.kernels)) for m in members]
        head = ""
        for i, name in enumerate(members):
            head = head if i and any(_takes_flag(code) for code in _from(parts, i)) else name
            found[head] = (*found.get(head, ()), name)
    return found


def _from(parts: Sequence[Sequence[Sequence[Code]]], begin: int) -> Iterator[list[Code]]:
    """The code of each kernel in the blocks from `begin` on."""
    return ([c for piece in pieces for c in piece] for pieces in zip(*parts[begin:], strict=True))


def _takes_flag(code: Iterable[Code]) -> bool:
    """Whether it reads a carry flag that was set before it."""
    for item in code:
        facts = facts_of(item.opcode) if isinstance(item, Instruction) else None
        if facts and (facts.uses_carry or facts.sets_carry):
            return facts.uses_carry
    return False


def tidied(flow: Flow) -> Flow:
    """The flow as `merged_blocks` makes it, to measure its size."""
    return expanded(flow)[0].pruned()


def parts_of(code: Iterable[Code], kernels: Sequence[int]) -> tuple[tuple[Code, ...], ...]:
    """The code of each kernel; all code belongs to these."""
    parts: dict[int | None, list[Code]] = {k: [] for k in kernels}
    for c in code:
        parts[c.kernel].append(c)
    return tuple(map(tuple, parts.values()))


def _places(code: Iterable[Code], kernels: Sequence[int]) -> list[Place]:
    """The places of the code in the parts."""
    parts: dict[int | None, tuple[int, Iterator[int]]] = {k: (i, count()) for i, k in enumerate(kernels)}
    return [(i, next(positions)) for i, positions in (parts[c.kernel] for c in code)]


def _sync_groups(side: MergeInput, pieces: Iterable[Sequence[Code]], places: Sequence[Place]) -> Iterator[SyncGroup]:
    """The synchronization order of the code at each pair; `places` are those of all code. Barriers of several kernels
    that are one barrier stay one wherever they stand: also after code of other kernels, which some warps may have
    skipped."""
    begin = 0
    for code in pieces:
        position = 0
        while position < len(code):
            together = common(code, position)
            end = position + max(together, 1)
            if together or code[position].provenance in side.placed:
                yield tuple(places[begin + position : begin + end])
            position = end
        begin += len(code)


def expanded(flow: Flow) -> tuple[Flow, dict[str, str]]:
    """The flow with the blocks of each region in its place, and the region of each such block."""
    blocks: dict[str, Block] = {}
    inside: dict[str, str] = {}
    for name, block in flow.blocks.items():
        region = block.region
        if region is None:
            blocks[name] = block
            continue
        new = {inner: f"{name}_r{i}" for i, inner in enumerate(region.blocks)}
        after = f"{name}_j"
        blocks[name] = Block((), Jump(new[region.entry]), block.pragmas)
        for inner, within in region.blocks.items():
            blocks[new[inner]] = replace(within, end=within.end.retarget({**new, region.leave: after}))
        blocks[after] = Block((), block.end)
        inside |= dict.fromkeys(new.values(), name)
    return Flow(flow.entry, blocks), inside


def pragmas_at_loops(flow: Flow) -> Flow:
    """The flow with each `.pragma "nounroll"` at the first block of its loop: merging may have made another block of
    the
    loop its first one. Copies outside of loops lose the pragma."""
    bodies = loops(flow)
    pragmas: dict[str, tuple[Directive, ...]] = {}
    for name, block in flow.blocks.items():
        around = (
            [name] if name in bodies else sorted((h for h in bodies if name in bodies[h]), key=lambda h: len(bodies[h]))
        )
        if block.pragmas and around:
            pragmas[around[0]] = tuple(dict.fromkeys((*pragmas.get(around[0], ()), *block.pragmas)))
    return Flow(flow.entry, {n: replace(b, pragmas=pragmas.get(n, ())) for n, b in flow.blocks.items()})
