"""The merged flow as the scheduler takes it: tidied, and the code of each kernel apart.

Requires: kernels that are merged to one. Ensures: the same paths; where that is asked for, blocks that always follow
each other are one, whose code is then woven as a whole.
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

Place = tuple[int, int]  # the number of a part, and of what stands there
Turn = tuple[Place, ...]  # what may wait or be waited for; several at once


@dataclass(frozen=True, slots=True)
class MergedBlock:
    """`parts` has the code of each kernel, in their order; `turns` where what stands that must keep its order across
    kernels. `apart`: whether the lanes of a warp may have parted at its end, within the region of a kernel.
    `handed_on`: where what stands that writes or reads registers that one kernel hands on to others, in the order in
    which it stood. `lists`: what is woven, where that is not the code of each kernel, but of several that are in one
    order already."""

    parts: tuple[tuple[Code, ...], ...]
    turns: tuple[Turn, ...]
    cells: tuple[ProductState, ...]
    apart: bool = False
    handed_on: tuple[Place, ...] = ()
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
    kernels = sorted(side.kernels)
    cells = {**(side.cells or {}), **{name: side.cell(region) for name, region in inside.items()}}
    chains = flow.chains() if join else _single_pairs(side, flow)
    blocks = {}
    for head, members in chains.items():
        pieces = [flow.blocks[m].code for m in members]
        code = [c for piece in pieces for c in piece]
        places = _places(code, kernels)
        blocks[head] = MergedBlock(
            parts_of(code, kernels),
            tuple(_turns(side, pieces, places)),
            tuple(cells[m] for m in members if m in cells),
            members[-1] in inside,
            tuple(p for p, c in zip(places, code, strict=True) if not (read(c) | written(c)).isdisjoint(side.handed_on))
            if side.handed_on
            else (),
        )
    return ensured("merged blocks", Merged(flow.pruned() if join else flow.joined(chains), blocks))


def _single_pairs(side: MergeInput, flow: Flow) -> dict[str, tuple[str, ...]]:
    """Each block, with those that follow it as long as a carry chain goes on from one to the next."""
    found: dict[str, tuple[str, ...]] = {}
    for members in flow.chains().values():
        parts = [parts_of(flow.blocks[m].code, sorted(side.kernels)) for m in members]
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


def parts_of(code: Iterable[Code], kernels: Sequence[int]) -> tuple[tuple[Code, ...], ...]:
    """The code of each of the kernels, to which it all belongs."""
    parts: dict[int | None, list[Code]] = {k: [] for k in kernels}
    for c in code:
        parts[c.kernel].append(c)
    return tuple(map(tuple, parts.values()))


def _places(code: Iterable[Code], kernels: Sequence[int]) -> list[Place]:
    """Where each piece of the code stands in the parts."""
    parts: dict[int | None, tuple[int, Iterator[int]]] = {k: (i, count()) for i, k in enumerate(kernels)}
    return [(i, next(positions)) for i, positions in (parts[c.kernel] for c in code)]


def _turns(side: MergeInput, pieces: Iterable[Sequence[Code]], places: Sequence[Place]) -> Iterator[Turn]:
    """What of the code at each pair has its place in the order of waiting; `places` are those of all. What is one
    barrier of some kernels is so wherever it stands: behind the code of others too, which some warps may have passed
    by."""
    begin = 0
    for code in pieces:
        position = 0
        while position < len(code):
            together = common(code, position)
            behind = position + max(together, 1)
            if together or code[position].provenance in side.placed:
                yield tuple(places[begin + position : begin + behind])
            position = behind
        begin += len(code)


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
