"""The merge of the GoPTX paper (DAC 2025) as it was published, which is not safe: Algorithm 1 and its deadlock rule.

Requires: linked kernels of one shape. Ensures: each thread runs the instructions of each kernel in their order. It
ensures nothing about convergence: uniformity of branches is not analysed. Where lanes of a warp diverge in one kernel,
they reach separate copies of the other's code, including aligned barriers, shuffles and tensor instructions, and the
fused kernel may hang or be wrong. This merge is here for readers of the paper: to be judged by the emulator, and to be
timed.

More than two kernels are merged in order: the first two, then the result, woven and sliced like any kernel, with the
third, and so on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from goptx.analysis.cfg import EXIT, Block, Code, Flow, original
from goptx.analysis.numbering import provenance_of
from goptx.analysis.terminators import Branch, Switch
from goptx.errors import CannotWeave
from goptx.launch.parameter_names import letter_of
from goptx.ptx.ir import Instruction
from goptx.weaving.invariants import ensured
from goptx.weaving.link.launch_bounds import launch_bounds
from goptx.weaving.link.stacks import check_stacks
from goptx.weaving.merging.barrier_ids import separate_barrier_ids
from goptx.weaving.merging.dummy_blocks import around_syncs, deadlock_rule, is_sync
from goptx.weaving.merging.fallback import MOST_PAIRS
from goptx.weaving.merging.merge_input import ProductState
from goptx.weaving.merging.merged_blocks import Merged, MergedBlock, parts_of, pragmas_at_loops
from goptx.weaving.merging.product import Pairing, Pairs
from goptx.weaving.merging.slice import blocks_with_ends, slice_flow, threshold
from goptx.weaving.model import Choices, Linked
from goptx.weaving.schedule.schedule import schedule_blocks
from goptx.weaving.shapes.launch_demands import known_shape
from goptx.weaving.shapes.remap import LANES

NOTE = (
    'merge="paper" does not keep convergence: where lanes of a warp diverge in one kernel, they reach separate copies '
    "of the barriers and warp instructions of the others, so the fused kernel may hang or be wrong"
)
REMEDY = 'try it with goptx.check, or use merge="safe"'
MOST_NAMED = 8  # instructions, in a note


@dataclass(frozen=True, slots=True)
class Published:
    """Kernels merged as published. `flows` are the flows of the single kernels; `notes` say what the merge does not
    keep."""

    flows: tuple[Flow, ...]
    merged: Merged
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Joint:
    """One kernel, or several in one order already, as the next merge takes them. `states` has the states of the
    kernels,
    by the names that blocks had before they were cut."""

    kernels: tuple[int, ...]
    flow: Flow
    states: Mapping[str, tuple[ProductState, ...]]

    @property
    def label(self) -> str:
        return "".join(map(letter_of, self.kernels))

    def at(self, name: str, runs: bool) -> tuple[ProductState, ...]:
        """The states of the kernels at a block. `runs`: whether they run there."""
        if name == EXIT:
            return (ProductState(dict.fromkeys(self.kernels, EXIT), frozenset()),)
        return tuple(state if runs else replace(state, runs=frozenset()) for state in self.states[original(name)])


def merge_as_published(linked: Linked, choices: Choices) -> Published:
    """Raises `CannotWeave` for kernels of different shapes, and where there are too many pairs of blocks."""
    _check_shapes(linked)
    check_stacks(linked.kernels)
    flows = separate_barrier_ids(linked.kernels, [_without_uni(k.flow) for k in linked.kernels], known_shape(linked))
    step = _Step(linked, choices)
    alone = [step.alone(k, flow) for k, flow in enumerate(flows)]
    first = reduce(step.woven, alone[1:-1], alone[0])
    whole = ensured("merged blocks", step.merged(first, alone[-1]))
    return Published(tuple(joint.flow for joint in alone), whole, (NOTE, *step.copies_noted(whole)))


@dataclass(frozen=True, slots=True)
class _Step:
    """The values that all merges of two kernels use."""

    linked: Linked
    choices: Choices

    def alone(self, number: int, flow: Flow) -> Joint:
        """A kernel, ready to be merged."""
        states = {name: (ProductState({number: name}, frozenset({number})),) for name in flow.blocks}
        return Joint((number,), self._sliced(flow, self.linked.kernels[number].text_blocks()), states)

    def woven(self, first: Joint, second: Joint) -> Joint:
        """The two as one kernel, ready to be merged with another: its text is the woven code."""
        whole = self.merged(first, second)
        registers = [r for k in self.linked.kernels for r in k.registers]
        bounds, _ = launch_bounds(self.linked.given, self.linked.plan)
        code = schedule_blocks(whole, self.choices.policy, self.choices.cycles, registers, bounds)
        blocks = {name: replace(block, code=code[name]) for name, block in whole.flow.blocks.items()}
        flow = Flow(whole.flow.entry, blocks).without_empty()
        states = {
            head: tuple(c for m in members for c in whole.blocks[m].states) for head, members in flow.chains().items()
        }
        flow = flow.pruned()
        return Joint((*first.kernels, *second.kernels), self._sliced(flow, blocks_with_ends(flow)), states)

    def _sliced(self, flow: Flow, text: Sequence[Sequence[Code]]) -> Flow:
        """Each sync instruction in a block of its own, the rest in slices by the blocks of the text."""
        cycles = self.choices.cycles
        return slice_flow(flow.cut(around_syncs, "sync"), threshold(self.choices.slicing, text, cycles), cycles)

    def merged(self, first: Joint, second: Joint) -> Merged:
        """The merge, in which each pair of blocks is a block, to be woven by itself."""
        self._check_size(first, second)
        pairs = Pairs(first.flow, second.flow, (first.label, second.label))
        product = pairs.product(deadlock_rule(first.flow, second.flow))
        flow = pragmas_at_loops(product.flow.without_empty())
        return Merged(flow, {n: self._block(b, first, second, product.pairings.get(n)) for n, b in flow.blocks.items()})

    def copies_noted(self, whole: Merged) -> list[str]:
        """A note that lists the barriers and warp instructions with several copies."""
        found = [
            c for block in whole.flow.blocks.values() for c in block.code if isinstance(c, Instruction) and is_sync(c)
        ]
        times = Counter(map(provenance_of, found))
        several = {provenance_of(c): c for c in found if times[provenance_of(c)] > 1}
        named = [f"{self.linked.owner(c).letter}:{c.line} ({times[p]})" for p, c in several.items()]
        more = [f"and {len(named) - MOST_NAMED} more"] if len(named) > MOST_NAMED else []
        return (
            [f"barriers and warp instructions in several copies: {', '.join((*named[:MOST_NAMED], *more))}"]
            if named
            else []
        )

    def _block(self, block: Block, first: Joint, second: Joint, pairing: Pairing | None) -> MergedBlock:
        """The merged block of a pairing; without one it only branches."""
        parts = parts_of(block.code, range(len(self.linked.kernels)))
        if pairing is None:
            return MergedBlock(parts, (), ())
        sides = [(joint, pairing.pair[i], pairing.runs(i)) for i, joint in enumerate((first, second))]
        ones, others = (joint.at(name, runs) for joint, name, runs in sides)
        states = tuple(one.joined(other) for one in ones for other in others)
        lists = tuple(joint.flow.blocks[name].code if runs else () for joint, name, runs in sides)
        return MergedBlock(parts, (), states, lists=lists)

    def _check_size(self, first: Joint, second: Joint) -> None:
        found = len(first.flow.blocks) * len(second.flow.blocks)
        if found > MOST_PAIRS:
            kernel = self.linked.kernels[second.kernels[0]]
            raise CannotWeave(
                f"{kernel.at(kernel.entry.line)}: the published merge would go through {found} pairs of blocks, more "
                f'than {MOST_PAIRS}; use slicing=None, merge="safe", or separate launches.',
                rule="published-merge",
            )


def _check_shapes(linked: Linked) -> None:
    """Raises `CannotWeave` where some threads or CTAs would have to skip a kernel."""
    for kernel, coarse in zip(linked.given, linked.coarse, strict=True):
        if coarse.factor > 1:
            raise CannotWeave(
                f"{kernel.at(kernel.entry.line)}: the published merge does not take coarsened kernels; use "
                'merge="safe", or give the kernel as it was.',
                rule="published-merge",
            )
    for kernel in linked.kernels:
        if kernel.range_guard or kernel.flow.entry == LANES:
            shapes = ", ".join(map(str, linked.plan.shapes)) if linked.plan else "unknown"
            raise CannotWeave(
                f"{kernel.at(kernel.entry.line)}: the published merge takes kernels that are launched in one shape, "
                f'and theirs are {shapes}; use merge="safe", or launch them in one shape.',
                rule="published-merge",
            )


def _without_uni(flow: Flow) -> Flow:
    """The flow with branches without `.uni`: the other kernel may bring lanes there at different times."""
    ends = {n: b.end for n, b in flow.blocks.items() if isinstance(b.end, Branch | Switch)}
    plain = {n: replace(flow.blocks[n], end=replace(end, uniform=False)) for n, end in ends.items()}
    return Flow(flow.entry, {**flow.blocks, **plain})
