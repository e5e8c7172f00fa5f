"""Which blocks of the kernels each block of the fused kernel holds, and which kernels wait there.

Requires: a result's instructions matched with those of its kernels.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property

import networkx as nx

from goptx.anatomy.blocks import Block, Pair, Share
from goptx.anatomy.matched import Entry, Kernel, Matched


class Standing:
    def __init__(self, found: Matched) -> None:
        self.found = found

    def of_kernel(self, kernel: Kernel, block: Block) -> Block:
        """The kernel's block, with the blocks of the fused kernel that hold its code."""
        trace = kernel.trace
        assert trace
        lines = dict.fromkeys(line for n in trace.numbers(block.name) if (line := trace.instructions[n].line))
        blocks_of = {line: self._blocks_of.get((kernel.letter, line), {}) for line in lines}
        only = [blocks_of[line] for line in lines if len(kernel.blocks(line)) == 1]
        return replace(
            block,
            stands_in=tuple(dict.fromkeys(name for several in blocks_of.values() for name in several)),
            copies=max(map(len, only)) if only else None,
        )

    def of_entry(self, entry: Entry, block: Block) -> Block:
        """The block of the fused kernel, with the origins of its code and the kernels that wait."""
        held = [o for o in entry.of(block.name) if o]
        inserted = Counter(o.kernel for o in held if not o.line)
        counts = Counter(o.kernel for o in held)
        letters = [letter for letter in self.found.kernels if counts[letter]]
        waits: tuple[str, ...] = ()
        # Without lines of a kernel it is a range guard, a vote, or a branch of several kernels.
        own = any(o and o.line for o in entry.of_code(block.name))
        if own and len(letters) == 1:
            later = self._later[entry.name][block.name]
            waits = tuple(letter for letter in self.found.kernels if letter in later and letter not in letters)
        return replace(
            block,
            shares=tuple(Share(letter, counts[letter], inserted[letter]) for letter in letters),
            pairs=tuple(self._pairs(entry, block.name)),
            waits=waits,
        )

    def _pairs(self, entry: Entry, name: str) -> list[Pair]:
        found: Counter[tuple[str, tuple[str, ...]]] = Counter()
        for origin in entry.of(name):
            if origin and origin.line and (blocks := self.found.kernels[origin.kernel].blocks(origin.line)):
                found[origin.kernel, blocks] += 1
        rank = {letter: i for i, letter in enumerate(self.found.kernels)}
        return [Pair(*key, found[key]) for key in sorted(found, key=lambda key: rank[key[0]])]

    @cached_property
    def _blocks_of(self) -> Mapping[tuple[str, int], Mapping[str, None]]:
        """By kernel and line, the blocks of the fused kernel, in order."""
        blocks_of: dict[tuple[str, int], dict[str, None]] = {}
        for entry in self.found.entries:
            for name in entry.trace.order:
                for origin in entry.of(name):
                    if origin and origin.line:
                        blocks_of.setdefault((origin.kernel, origin.line), {})[self.found.title(entry, name)] = None
        return blocks_of

    @cached_property
    def _later(self) -> Mapping[str, Mapping[str, frozenset[str]]]:
        """By entry and block, the kernels that have code after it on some path."""
        return {entry.name: _reachable_kernels(entry) for entry in self.found.entries}


def _reachable_kernels(entry: Entry) -> Mapping[str, frozenset[str]]:
    graph = entry.trace.flow.graph()
    outline = nx.condensation(graph)
    own = {name: frozenset(o.kernel for o in entry.of(name) if o) for name in entry.trace.order}
    found: dict[str, frozenset[str]] = {}
    for part in reversed(list(nx.topological_sort(outline))):
        members = outline.nodes[part]["members"]
        successors = [t for n in members for t in graph.succ[n]]  # for a loop with its own blocks
        later = frozenset[str]().union(*(own[t] | found.get(t, frozenset()) for t in successors))
        found |= dict.fromkeys(members, later)
    return found
