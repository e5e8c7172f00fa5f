"""How much machine code a warp runs through, and how many bytes of it the instruction cache does not hold.

Requires: a flow without regions, how often each of its instructions is run, and the path that warps take. A loop whose
code fits the cache is fetched once; of a larger loop, the bytes beyond the cache are fetched anew in every pass. Warps
drift: each executes a different part of the code, so that no warp fetches for another ("Improving GPU Performance by
Reducing Instruction Cache Misses", NVIDIA technical blog, 2024, of an H100). Code that fits is never counted.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest

from goptx.analysis.cfg import Flow, loops
from goptx.latency.slots import FRAME

BYTES = 16  # of a machine instruction since Volta (Jia et al. 2018, arXiv 1804.06826)
# Machine instructions for each slot: ptxas 13.0 makes 1.1 of them in the median of 70 kernels of 100 PTX instructions
# and more in tests/corpus, 0.86 to 2.5 in four of five; kernels with slow paths and unrolled loops exceed it.
PER_SLOT = 1.1


@dataclass(frozen=True, slots=True)
class Stretch:
    """A loop, or all code of a kernel: its bytes, and how often a warp passes it. For a loop within another, the first
    pass in each pass of the outer loop is not counted: the outer loop has the inner loop's bytes, too."""

    size: float
    passes: float = 1.0

    def times(self, copies: float) -> Stretch:
        return Stretch(self.size * copies, self.passes)


@dataclass(frozen=True, slots=True)
class CodeSize:
    """The code that a warp runs: all code of its kernel, and the loops, the largest first."""

    whole: float = 0.0
    loops: tuple[Stretch, ...] = ()

    def missed(self, cache: float) -> float:
        """Bytes that a warp fetches because a cache of `cache` bytes does not hold them."""
        return sum(stretch.passes * max(stretch.size - cache, 0.0) for stretch in (Stretch(self.whole), *self.loops))

    @property
    def passed(self) -> float:
        """Bytes that a warp passes."""
        return self.whole + sum(stretch.size * stretch.passes for stretch in self.loops)

    @property
    def rounds(self) -> float:
        """How often a warp passes a part of the code, in the mean of all parts."""
        return self.passed / self.whole if self.whole else 1.0

    def beside(self, other: CodeSize) -> CodeSize:
        """Both in one kernel, woven or one after the other. Warps drift, so that while some are in a loop of one,
        others are in a loop of the other (measured, see `MACHINES`). Loops are paired by size; a pair iterates side by
        side until the shorter one ends."""
        return CodeSize(self.whole + other.whole, _ordered(_side_by_side(self, other)))

    def copies(self, number: int) -> CodeSize:
        """So many copies of it in one kernel."""
        return CodeSize(self.whole * number, tuple(loop.times(number) for loop in self.loops))


NO_CODE = CodeSize()


def _side_by_side(one: CodeSize, other: CodeSize) -> Iterator[Stretch]:
    for mine, its in zip_longest(one.loops, other.loops, fillvalue=Stretch(0.0, 0.0)):
        common = min(mine.passes, its.passes)
        yield Stretch(mine.size + its.size, common)
        longer = max(mine, its, key=lambda loop: loop.passes)
        yield Stretch(longer.size, longer.passes - common)


def _ordered(stretches: Iterator[Stretch] | tuple[Stretch, ...]) -> tuple[Stretch, ...]:
    found = (stretch for stretch in stretches if stretch.size and stretch.passes)
    return tuple(sorted(found, key=lambda stretch: (-stretch.size, -stretch.passes)))


def code_size(flow: Flow, run: Mapping[str, float], often: Mapping[str, float], path: Collection[str]) -> CodeSize:
    """The code of the blocks on `path`, which a warp passes. For each block, `run` are the slots of the instructions
    that it executes there, `often` how often it does."""
    sizes = dict.fromkeys(flow.blocks, 0.0)
    sizes |= {name: (run[name] + bool(flow.blocks[name].end.reads())) * BYTES * PER_SLOT for name in path}
    bodies = loops(flow)
    own = {header: _own(bodies, header) for header in bodies}
    rounds = {header: max((often[name] for name in own[header]), default=0.0) for header in bodies}
    found = []
    for header, body in bodies.items():
        around = [outer for outer, its in bodies.items() if body < its]
        before = rounds[min(around, key=lambda outer: len(bodies[outer]))] if around else 1.0
        found.append(Stretch(sum(sizes[name] for name in body), max(rounds[header] - before, 0.0)))
    return CodeSize(FRAME * BYTES * PER_SLOT + sum(sizes.values()), _ordered(tuple(found)))


def _own(bodies: Mapping[str, frozenset[str]], header: str) -> frozenset[str]:
    """The blocks of a loop that are in no loop within it."""
    body = bodies[header]
    return body.difference(*(inner for inner in bodies.values() if inner < body))
