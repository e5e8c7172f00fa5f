"""The laws of kernels that are sliced and merged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from goptx.analysis.cfg import EXIT, Code, Flow
from goptx.weaving.laws.flow_laws import Problem, Problems, problems_of
from goptx.weaving.merging.merge_input import MergeInput
from goptx.weaving.merging.merged_blocks import Merged
from goptx.weaving.merging.nesting import BEFORE_DEEPER
from goptx.weaving.merging.slice import SlicingThresholds, terminator
from goptx.weaving.schedule.schedule import units


def slices_are_the_block(
    sliced: Sequence[MergeInput], before: Sequence[MergeInput], slicing: SlicingThresholds | None = None
) -> Problems:
    """The pieces of a block follow each other and have its code in its order."""
    for side, whole in zip(sliced, before, strict=True):
        for name, block in whole.flow.blocks.items():
            code: list[Code] = []
            last = name
            for piece in _pieces(side.flow, whole.flow, name):
                code += side.flow.blocks[piece].code
                last = piece
            if tuple(code) != block.code or side.flow.blocks[last].end != block.end:
                yield Problem("the pieces are not the block", name, side.label)


def slices_are_short(
    sliced: Sequence[MergeInput], before: Sequence[MergeInput], slicing: SlicingThresholds | None = None
) -> Problems:
    """A slice of several instructions lasts no longer than the threshold."""
    for side in sliced:
        most = slicing.thresholds[side.kernels[0]] if slicing and side.states is None else None
        if most is None:
            continue
        for name, block in side.flow.blocks.items():
            length = sum(map(side.cycles, (*block.code, *terminator(block.end))))
            if sum(any(map(side.cycles, unit)) for unit in units(block.code)) > 1 and length > most:
                yield Problem(f"it lasts {length} cycles, and the threshold is {most}", name, side.label)


def merged_has_a_flow(whole: MergeInput, pair: Sequence[MergeInput]) -> Problems:
    """The merged flow is well formed."""
    yield from problems_of(whole.flow)


def states_are_known(whole: MergeInput, *_: object) -> Problems:
    """Each merged block with code has the state of the kernels that run there, and all of its code is of these kernels.
    A kernel at a branch has no place."""
    for name, block in whole.flow.blocks.items():
        state = whole.state(name)
        if (block.code or block.region) and not (state.runs and state.runs <= state.stands.keys() <= {*whole.kernels}):
            yield Problem(f"kernels stand at {dict(state.stands)}, and {set(state.runs)} run", name)
        for code in block.code:
            if code.kernel not in state.runs:
                yield Problem(f"`{str(code).strip()}` is of a kernel that does not run there", name)


def paths_are_of_each(whole: MergeInput, pair: Sequence[MergeInput]) -> Problems:
    """Every path of the merged flow is a path of each kernel that has gone into this merge."""
    states = whole.states or {}
    for side in (side for side in pair if side.states is None):
        (k,) = side.kernels
        for name in whole.flow.blocks:
            if name not in states:
                continue  # it only branches
            here = states[name].stands[k]
            may = _onward(side.flow, here, k in states[name].runs)
            for target in _next_states(whole.flow, name, states):
                there = EXIT if target == EXIT else states[target].stands[k]
                if there.removesuffix(BEFORE_DEEPER) not in may:
                    yield Problem(f"from `{here}` it goes to `{there}` in `{target}`", name, side.label)


def merged_ends_are_reached(whole: MergeInput, pair: Sequence[MergeInput]) -> Problems:
    """Where both kernels can end, so can the merged one."""
    if all(EXIT in side.flow.reverse_postorder() for side in pair) and EXIT not in whole.flow.reverse_postorder():
        yield Problem("no path leads to the end", EXIT)


def parts_are_the_code(merged: Merged, *_: object) -> Problems:
    """The parts of a merged block are its code, each part of one kernel."""
    if merged.flow.blocks.keys() != merged.blocks.keys():
        yield Problem(f"{sorted(merged.flow.blocks.keys() ^ merged.blocks.keys())} are in one of both only")
        return
    for name, block in merged.blocks.items():
        code = merged.flow.blocks[name].code
        if Counter(code) != Counter(c for part in block.parts for c in part):
            yield Problem(f"{len(code)} instructions, and {sum(map(len, block.parts))} in parts", name)


def sync_groups_are_of_the_block(merged: Merged, *_: object) -> Problems:
    """Each place of a sync group is a place of its block, in the part of its kernel."""
    for name, block in merged.blocks.items():
        for k, i in (place for group in block.sync_groups for place in group):
            if i >= len(block.parts[k]):
                yield Problem(f"kernel {k} has no instruction {i} there", name)


def _pieces(flow: Flow, before: Flow, name: str) -> Iterator[str]:
    """The block of that name and the blocks that were cut from it, in their order."""
    seen = set[str]()
    while name in flow.blocks and name not in seen:
        yield name
        seen.add(name)
        following = flow.blocks[name].end.successors()
        name = following[0] if len(following) == 1 and following[0] not in before.blocks else ""


def _onward(flow: Flow, name: str, runs: bool) -> set[str]:
    """Where a kernel may stand next: empty blocks may be skipped, and the end of a block may be a block of its own."""
    found: set[str] = set()
    work = [name.removesuffix(BEFORE_DEEPER)]
    if runs or name.endswith(BEFORE_DEEPER):  # such a block is empty
        work += flow.blocks[work[0]].end.successors() or (EXIT,)
    while work:
        here = work.pop()
        if here in found:
            continue
        found.add(here)
        block = flow.blocks[here]
        if not block.code and not block.region:
            work += block.end.successors()
    return found


def _next_states(flow: Flow, name: str, states: Collection[str]) -> Iterator[str]:
    """The blocks with a state that a block leads to, through blocks that only branch."""
    work, seen = list(flow.blocks[name].end.successors()), set[str]()
    while work:
        here = work.pop()
        if here in seen:
            continue
        seen.add(here)
        if here == EXIT or here in states:
            yield here
        else:
            work += flow.blocks[here].end.successors()
