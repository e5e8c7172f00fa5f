"""Derives the anatomy of a result from its text, the origins of its instructions and the kernels.

So it works for every strategy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from goptx.analysis.cfg import depths
from goptx.analysis.terminators import Branch, End
from goptx.anatomy.blocks import Anatomy, Barrier, Block, Chart, Edge
from goptx.anatomy.matched import matched
from goptx.anatomy.pairs import Standing
from goptx.anatomy.traced import Traced, traced
from goptx.latency.cost import block_cycles, cycles_of
from goptx.latency.table import LatencyTable, load_table
from goptx.ptx.opcodes import facts_of
from goptx.sources.kernel_text import choose_entry

if TYPE_CHECKING:
    from goptx.ptx.ir import Function, Module
    from goptx.results.fused_kernel import Woven


def anatomy_of(module: Module, name: str | None = None, latency: LatencyTable | None = None) -> Chart:
    """The chart of the entry of that name, or of the only one, as in its file. Raises `InputError` if there is no such
    entry, `CannotWeave` if its control flow is unknown."""
    entry = choose_entry(module, name)
    trace = traced(entry, module.source)
    table = latency or load_table(None, module.target[0])
    return Chart("", entry.name, module.source, tuple(_plain(trace, entry, "", table)))


def anatomy(woven: Woven) -> Anatomy:
    """See `Woven.anatomy`."""
    found = matched(woven)
    standing = Standing(found)
    charts = []
    for k in found.kernels.values():
        own = () if k.trace is None else _plain(k.trace, k.entry, k.letter, found.table)
        charts.append(Chart(k.letter, k.entry.name, k.source, tuple(standing.of_kernel(k, b) for b in own), k.trouble))
    made = []
    for e in found.entries:
        blocks = _blocks(e.trace, [o.kernel if o else "" for o in e.origins], [o.line if o else 0 for o in e.origins],
                         found.table)  # fmt: skip
        made.append(Chart("", e.name, woven.name, tuple(standing.of_entry(e, b) for b in blocks)))
    return Anatomy(woven.strategy, found.table.arch, tuple(charts), tuple(made))


def _plain(trace: Traced, entry: Function, letter: str, table: LatencyTable) -> list[Block]:
    """The blocks of a kernel. Lines of inlined functions, which are elsewhere in the file, count only if a block has no
    others."""
    lines = [i.line for i in trace.instructions]
    blocks = []
    for block in _blocks(trace, [letter] * len(lines), lines, table):
        found = [line for number in trace.numbers(block.name) if (line := lines[number])]
        own = [line for line in found if line >= entry.line] or found or [0]
        blocks.append(replace(block, first=min(own), last=max(own)))
    return blocks


def _blocks(trace: Traced, letters: Sequence[str], lines: Sequence[int], table: LatencyTable) -> list[Block]:
    depth = depths(trace.flow)
    return [_block(trace, name, depth[name], letters, lines, table) for name in trace.order]


def _block(
    trace: Traced, name: str, depth: int, letters: Sequence[str], lines: Sequence[int], table: LatencyTable
) -> Block:
    block = trace.flow.blocks[name]
    barriers = [
        Barrier(letters[n], str(trace.instructions[n]), lines[n])
        for n in trace.numbers(name)
        if facts_of(trace.instructions[n].opcode).synchronises
    ]
    cycles = block_cycles(block.code, lambda code: cycles_of(table, code))
    return Block(name, 0, 0, block.size, cycles, depth, tuple(barriers), _edges(block.end))


def _edges(end: End) -> tuple[Edge, ...]:
    guard = str(end.guard) if isinstance(end, Branch) else ""
    labels = {"taken": guard, "case": "case"}
    return tuple(Edge(t, kind, labels.get(kind, "")) for kind, t in zip(end.kinds(), end.successors(), strict=True))
