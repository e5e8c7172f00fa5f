"""The versions of registers that are written in several places: static single assignment, without changing the code.

Requires: a flow. Ensures: a register has a new version where it is written, and where paths meet that lead to different
ones (Cytron et al. 1991); of these, only those are found that are asked for. A register that is written in one place
has no versions: its name stands for its value, also where nothing has been written before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from functools import cached_property
from typing import NamedTuple

from goptx.analysis.cfg import Block, Flow
from goptx.analysis.dataflow import sets
from goptx.analysis.dominators import frontiers

MEETING = -1  # instead of a number of code: where paths meet at the start of the block


class Version(NamedTuple):
    """Made by the code with this number in a block."""

    register: str
    block: str
    number: int


Value = str | Version


class Versions:
    """The versions of all registers in a flow, or of those `wanted`. A region is the only code of its block."""

    def __init__(self, flow: Flow, wanted: Set[str] | None = None) -> None:
        self._flow = flow
        self._written: dict[tuple[str, int], dict[str, Value]] = {}
        self._last: dict[str, dict[str, Value]] = {}  # by register and block
        self._meets: dict[str, Set[str]] = {}  # by register: the blocks where paths meet that lead to different ones
        self._found: dict[tuple[str, str], Value] = {}
        self._asked: list[Version] = []
        places: dict[str, list[tuple[str, int]]] = {}
        for name, block in flow.blocks.items():
            for number, writes in enumerate(_writes(block)):
                for register in writes if wanted is None else writes & wanted:
                    places.setdefault(register, []).append((name, number))
        for register, its in places.items():
            if len(its) > 1:
                last = self._last[register] = {}
                for name, number in its:
                    version = last[name] = Version(register, name, number)
                    self._written.setdefault((name, number), {})[register] = version

    def written(self, block: str, number: int) -> Mapping[str, Value]:
        """The registers that a code of the block writes and that have versions, each with the one that is made."""
        return self._written.get((block, number), {})

    def at_start(self, block: str) -> dict[str, Value]:
        """The values of all registers at the start of a block, found when they are looked up."""
        return _AtStart(self, block)

    def meetings(self) -> Iterator[tuple[Version, Sequence[Value]]]:
        """Each version made where paths meet that was asked for, with the values to which these lead."""
        while self._asked:
            version = self._asked.pop()
            register, above = version.register, self._flow.predecessors()[version.block]
            yield version, [self._last[register].get(name) or self.entering(name, register) for name in above]

    def entering(self, block: str, register: str) -> Value:
        """The value of a register at the start of a block."""
        last = self._last.get(register)
        if last is None:
            return register
        passed: list[str] = []
        above: str | None = block
        found: Value | None = None
        while found is None and above is not None:
            block = above
            found = self._found.get((block, register))
            if found is None:
                passed.append(block)
                if block in self._meeting(register):
                    found = version = Version(register, block, MEETING)
                    self._asked.append(version)
                else:
                    above = self._flow.dominators().get(block)
                    found = last.get(above or "")
        for name in passed:
            self._found[name, register] = found or register
        return found or register

    def _meeting(self, register: str) -> Set[str]:
        """The iterated dominance frontier of the blocks that write the register."""
        found = self._meets.get(register)
        if found is None:
            frontier, waiting = self._frontiers, [*self._last[register]]
            found = self._meets[register] = set()
            while waiting:
                more = frontier.get(waiting.pop(), set()) - found
                found |= more
                waiting += more
        return found

    @cached_property
    def _frontiers(self) -> Mapping[str, Set[str]]:
        return frontiers(self._flow.dominators(), self._flow.predecessors())


class _AtStart(dict[str, Value]):
    def __init__(self, versions: Versions, block: str) -> None:
        self._versions, self._block = versions, block

    def __missing__(self, register: str) -> Value:
        found = self[register] = self._versions.entering(self._block, register)
        return found


def _writes(block: Block) -> list[frozenset[str]]:
    """What each code of the block may write."""
    if block.region:
        return [frozenset().union(*map(sets, block.instructions()))]
    return [sets(code) for code in block.code]
