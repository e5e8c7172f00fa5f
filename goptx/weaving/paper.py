"""The merge of the GoPTX paper as it was published, not safe (Algorithm 1 and its deadlock rule; M1, M2, M6).

Requires: what `weave` requires. Ensures nothing: no branch is asked how uniform it is, so where one kernel
diverges within a warp, lanes run separate copies of the other's code, aligned barriers, shuffles and tensor
instructions among it, and W may hang or be wrong. It is there to be judged by the emulator and timed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import networkx as nx

from goptx.analysis.cfg import Code, Flow
from goptx.analysis.ends import Branch, Switch
from goptx.latency.table import load_table
from goptx.ptx.ir import Instruction
from goptx.ptx.opcodes import facts_of
from goptx.weaving.barriers import ids_apart
from goptx.weaving.fits import known_shape
from goptx.weaving.merged import merged
from goptx.weaving.order import Order
from goptx.weaving.pipeline import Choices, finish, read_and_link
from goptx.weaving.product import Move, Pair, Pairs
from goptx.weaving.result import Woven
from goptx.weaving.side import Side, united
from goptx.weaving.sources import Source, kernels_of

NOTE = "the paper's merge: nothing shows that barriers and warp instructions still meet all their threads"


def papers_merge(first: Source, second: Source, entries: tuple[str | None, str | None] = (None, None)) -> Woven:
    """Both kernels merged, sliced (M4) and woven (M3) as published; arguments and errors are those of `weave`."""
    kernels = kernels_of((first, second), entries)
    linked = read_and_link(kernels)
    choices = Choices("paper", "adaptive", load_table(None, linked.target[0]))
    flows = [_without_uni(k.flow).cut(_around_syncs, "sync") for k in linked.kernels]
    flows = ids_apart(linked.kernels, flows, known_shape(linked))
    flows = [choices.sliced(flow, k.text_blocks) for flow, k in zip(flows, linked.kernels, strict=True)]
    one, other = (
        Side(f, frozenset(), lanes_apart=False, kernels=(k,), cycles=choices.cycles) for k, f in enumerate(flows)
    )
    paired = Pairs(one.flow, other.flow).product(deadlock_rule(one.flow, other.flow))
    side = united(one, other, paired, Order([one, other]))
    whole = merged(side, join=False)  # each pair is woven by itself
    return finish(kernels, linked, flows, whole, choices, notes=[NOTE])


def deadlock_rule(first: Flow, second: Flow) -> Callable[[Pair], Move]:
    """The second kernel waits ahead of its sync code while the first can still reach some (M2)."""
    syncs = [frozenset(n for n, b in f.blocks.items() if any(map(is_sync, b.code))) for f in (first, second)]
    graph = first.graph()
    reaches = syncs[0].union(*(nx.ancestors(graph, n) for n in syncs[0]))
    return lambda pair: Move.FIRST if pair[0] in reaches and pair[1] in syncs[1] else Move.BOTH


def is_sync(code: Code) -> bool:
    """Whether the paper counts it as synchronising: barriers, and whatever is spelled `.sync`."""
    if not isinstance(code, Instruction):
        return False
    facts = facts_of(code.opcode)
    return facts.barrier or "sync" in facts.modifiers


def _around_syncs(code: Sequence[Code]) -> list[int]:
    """Each sync instruction in a block of its own."""
    return [i for i in range(1, len(code)) if is_sync(code[i - 1]) or is_sync(code[i])]


def _without_uni(flow: Flow) -> Flow:
    """Branches no longer `.uni`: that spoke of lanes which the other kernel may bring there at different times."""
    ends = {n: b.end for n, b in flow.blocks.items() if isinstance(b.end, Branch | Switch)}
    plain = {n: replace(flow.blocks[n], end=replace(end, uniform=False)) for n, end in ends.items()}
    return Flow(flow.entry, {**flow.blocks, **plain})
