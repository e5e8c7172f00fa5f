"""Which blocks of the kernels stand in which block of W, and which kernels wait there.

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
        """The kernel's block with where it stands in W."""
        trace = kernel.trace
        assert trace
        lines = dict.fromkeys(line for n in trace.numbers(block.name) if (line := trace.instructions[n].line))
        places = {line: self._places.get((kernel.letter, line), {}) for line in lines}
        only = [places[line] for line in lines if len(kernel.blocks(line)) == 1]
        return replace(
            block,
            stands_in=tuple(dict.fromkeys(name for several in places.values() for name in several)),
            copies=max(map(len, only)) if only else None,
        )

    def of_entry(self, entry: Entry, block: Block) -> Block:
        """The block of W with whose code it is, and who waits."""
        held = [o for o in entry.of(block.name) if o]
        inserted = Counter(o.kernel for o in held if not o.line)
        counts = Counter(o.kernel for o in held)
        letters = [letter for letter in self.found.kernels if counts[letter]]
        waits: tuple[str, ...] = ()
        own = any(o and o.line for o in entry.of_code(block.name))  # else it is a gate, a vote, or a branch of several
        if own and len(letters) == 1:
            ahead = self._ahead[entry.name][block.name]
            waits = tuple(letter for letter in self.found.kernels if letter in ahead and letter not in letters)
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
    def _places(self) -> Mapping[tuple[str, int], Mapping[str, None]]:
        """By kernel and line, the blocks of W, in order."""
        places: dict[tuple[str, int], dict[str, None]] = {}
        for entry in self.found.entries:
            for name in entry.trace.order:
                for origin in entry.of(name):
                    if origin and origin.line:
                        places.setdefault((origin.kernel, origin.line), {})[self.found.told(entry, name)] = None
        return places

    @cached_property
    def _ahead(self) -> Mapping[str, Mapping[str, frozenset[str]]]:
        """By entry and block, the kernels that have code behind it, on some way."""
        return {entry.name: _ahead(entry) for entry in self.found.entries}


def _ahead(entry: Entry) -> Mapping[str, frozenset[str]]:
    graph = entry.trace.flow.graph()
    outline = nx.condensation(graph)
    own = {name: frozenset(o.kernel for o in entry.of(name) if o) for name in entry.trace.order}
    found: dict[str, frozenset[str]] = {}
    for part in reversed(list(nx.topological_sort(outline))):
        members = outline.nodes[part]["members"]
        steps = [t for n in members for t in graph.succ[n]]  # of a loop its own blocks among them
        ahead = frozenset[str]().union(*(own[t] | found.get(t, frozenset()) for t in steps))
        found |= dict.fromkeys(members, ahead)
    return found
