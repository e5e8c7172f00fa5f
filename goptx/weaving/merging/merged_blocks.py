"""The merged flow as the scheduler takes it: tidied, and the code of each kernel apart.

Requires: kernels that are merged to one. Ensures: the same paths; where that is asked for, blocks that always follow
each other are one, whose code is then woven as a whole.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from goptx.analysis.cfg import Block, Code, Flow, loops
from goptx.analysis.dataflow import read, written
from goptx.analysis.terminators import Jump
from goptx.ptx.ir import Directive, Instruction
from goptx.ptx.opcodes import facts_of
from goptx.weaving.invariants import ensured
from goptx.weaving.merging.merge_input import MergeInput, ProductState
from goptx.weaving.merging.sync_order import common

Turn = tuple[tuple[int, Code], ...]  # what may wait or be waited for, and the number of its kernel; several at once


@dataclass(frozen=True, slots=True)
class MergedBlock:
    """`parts` has the code of each kernel, in their order; `turns` what must keep its order across kernels. `apart`:
    whether the lanes of a warp may have parted at its end, within the region of a kernel. `handed_on`: what writes or
    reads registers that one kernel hands on to others, in the order in which it stands. `lists`: what is woven, where
    that is not the code of each kernel, but of several that are in one order already."""

    parts: tuple[tuple[Code, ...], ...]
    turns: tuple[Turn, ...]
    cells: tuple[ProductState, ...]
    apart: bool = False
    handed_on: tuple[Code, ...] = ()
    lists: tuple[tuple[Code, ...], ...] | None = None

    @property
    def woven(self) -> bool:
        """Whether it holds code of several kernels."""
        return sum(map(bool, self.parts)) > 1


@dataclass(frozen=True, slots=True)
class Merged:
    """The flow, and its blocks by name."""

    flow: Flow
    blocks: Mapping[str, MergedBlock]

    def apart(self, as_written: Collection[int]) -> set[str]:
        """The blocks where lanes may have parted, in any of these kernels too."""
        return {n for n, b in self.blocks.items() if b.apart or any(b.parts[k] for k in as_written)}


def merged_blocks(side: MergeInput, join: bool = True) -> Merged:
    """`join` makes blocks that always follow each other one. Without it each pair of blocks, or of slices, is woven by
    itself, as published, but where a carry chain goes on: that is moved whole."""
    flow, inside = expanded(side.flow)
    flow = pragmas_at_loops(flow.without_empty())
    cells = {**(side.cells or {}), **{name: side.cell(region) for name, region in inside.items()}}
    chains = flow.chains() if join else _single_pairs(side, flow)
    blocks = {}
    for head, members in chains.items():
        pieces = [flow.blocks[m].code for m in members]
        blocks[head] = MergedBlock(
            _parts(side, [c for piece in pieces for c in piece]),
            tuple(turn for piece in pieces for turn in _turns(side, piece)),
            tuple(cells[m] for m in members if m in cells),
            members[-1] in inside,
            tuple(c for piece in pieces for c in piece if not (read(c) | written(c)).isdisjoint(side.handed_on))
            if side.handed_on
            else (),
        )
    return ensured("merged blocks", Merged(flow.pruned() if join else flow.joined(chains), blocks))


def _single_pairs(side: MergeInput, flow: Flow) -> dict[str, tuple[str, ...]]:
    """Each block, with those that follow it as long as a carry chain goes on from one to the next."""
    found: dict[str, tuple[str, ...]] = {}
    for members in flow.chains().values():
        parts = [_parts(side, flow.blocks[m].code) for m in members]
        head = ""
        for i, name in enumerate(members):
            head = head if i and any(_takes_flag(code) for code in _behind(parts, i)) else name
            found[head] = (*found.get(head, ()), name)
    return found


def _behind(parts: Sequence[Sequence[Sequence[Code]]], begin: int) -> Iterator[list[Code]]:
    """Of each kernel, its code in the blocks from there on."""
    return ([c for piece in pieces for c in piece] for pieces in zip(*parts[begin:], strict=True))


def _takes_flag(code: Iterable[Code]) -> bool:
    """Whether it takes a carry flag that was set before it."""
    for item in code:
        facts = facts_of(item.opcode) if isinstance(item, Instruction) else None
        if facts and (facts.uses_carry or facts.sets_carry):
            return facts.uses_carry
    return False


def tidied(flow: Flow) -> Flow:
    """The flow as `merged_blocks` leaves it, to see how large it is."""
    return expanded(flow)[0].pruned()


def _parts(side: MergeInput, code: Collection[Code]) -> tuple[tuple[Code, ...], ...]:
    kernel_of = side.owners()
    return tuple(tuple(c for c in code if kernel_of[id(c)] == k) for k in sorted(side.kernels))


def _turns(side: MergeInput, code: Sequence[Code]) -> list[Turn]:
    """What of the code at one pair has its place in the order of waiting. What is one barrier of some kernels is so
    wherever it stands: behind the code of others too, which some warps may have passed by."""
    kernel_of = side.owners()
    turns: list[Turn] = []
    position = 0
    while position < len(code):
        count = common(code, kernel_of, position)
        behind = position + max(count, 1)
        if count or id(code[position]) in side.placed:
            turns.append(tuple((kernel_of[id(c)], c) for c in code[position:behind]))
        position = behind
    return turns


def expanded(flow: Flow) -> tuple[Flow, dict[str, str]]:
    """With the blocks of each region in place of it, and of which region each is."""
    blocks: dict[str, Block] = {}
    inside: dict[str, str] = {}
    for name, block in flow.blocks.items():
        region = block.region
        if region is None:
            blocks[name] = block
            continue
        new = {inner: f"{name}_r{i}" for i, inner in enumerate(region.blocks)}
        behind = f"{name}_j"
        blocks[name] = Block((), Jump(new[region.entry]), block.pragmas)
        for inner, within in region.blocks.items():
            blocks[new[inner]] = replace(within, end=within.end.retarget({**new, region.leave: behind}))
        blocks[behind] = Block((), block.end)
        inside |= dict.fromkeys(new.values(), name)
    return Flow(flow.entry, blocks), inside


def pragmas_at_loops(flow: Flow) -> Flow:
    """`.pragma "nounroll"` speaks of the loop that its block begins. Where merging has made another block of that loop
    its first one, this has the pragma; copies outside of loops lose it."""
    bodies = loops(flow)
    pragmas: dict[str, tuple[Directive, ...]] = {}
    for name, block in flow.blocks.items():
        around = (
            [name] if name in bodies else sorted((h for h in bodies if name in bodies[h]), key=lambda h: len(bodies[h]))
        )
        if block.pragmas and around:
            pragmas[around[0]] = tuple(dict.fromkeys((*pragmas.get(around[0], ()), *block.pragmas)))
    return Flow(flow.entry, {n: replace(b, pragmas=pragmas.get(n, ())) for n, b in flow.blocks.items()})
