"""A kernel's flow on its way to warp-uniform branches, with what is known of the lanes that run each block."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

from goptx.analysis.cfg import Block, Code, Flow, controls, loops, marked_uniform
from goptx.analysis.changed_flow import entered_through, leads_only_to, parked, sides_in_turn, straightened
from goptx.analysis.dataflow import extend_live_in, live_in, live_within
from goptx.analysis.sync.sync_spans import is_warp_wide
from goptx.analysis.terminators import Branch, Switch
from goptx.analysis.uniformity import Uniform, Uniformity, uniformity
from goptx.errors import CannotWeave
from goptx.latency.cost import Cycles
from goptx.launch.shape import Shape
from goptx.options import Choice
from goptx.ptx.flatten import as_written
from goptx.ptx.ir import Instruction
from goptx.weaving.converge.guards import Guards
from goptx.weaving.converge.predicate_code import Fresh, ballot, is_ours, set_true
from goptx.weaving.model import Divergence


@dataclass(slots=True)
class Lanes:
    """What the methods for divergence (leave, vote, predicate, park) change one after the other.

    masks: block to predicate of the lanes that really run it; blocks that all lanes run are left out.
    preserved: block to registers that the other lanes still need.
    shape: the launch of the fused kernel, as far as it is known.
    presume: whether loaded data that decides about barriers may be taken as CTA-uniform.
    presumed: blocks whose branch on loaded data is taken as CTA-uniform.
    promised: blocks whose branch whole warps take together because the kernel says so, and how alike it is otherwise.
    wait_separately: whether lanes of a warp may come to a wait for other threads one by one (spin_regions.py). Votes
    would then hold up lanes that others wait for.
    reads_strongly: whether instructions may read what other threads write meanwhile. Those that goptx adds do not.
    running: predicate of the lanes that have not ended, "" while none can have; `running_lanes` the same as a lane
    mask, "" where no warp instruction needs it.
    after_ends: the blocks where the others go on after lanes have ended, each with the block where they end.
    other_sides: those of them that are the other side of a branch, with code on the side that ends the kernel.
    skipped: whether warps pass over the rest of the kernel once all their threads have ended.
    reached: the block up to which no branch is left that lanes of a warp take differently.
    for_all: blocks of goptx that all lanes run, whatever their mask.
    """

    flow: Flow
    fresh: Fresh
    at: Callable[[int], str]  # file, line and kernel, for messages
    cycles: Cycles
    forced: Choice | None = None
    presume: bool = True
    parameters: Mapping[str, int] = field(default_factory=dict)  # of the kernel, by name: their bytes
    shape: Shape | None = None
    notes: list[str] = field(default_factory=list)
    divergences: list[Divergence] = field(default_factory=list)
    masks: dict[str, str] = field(default_factory=dict)
    preserved: dict[str, frozenset[str]] = field(default_factory=dict)
    presumed: set[str] = field(default_factory=set)
    promised: dict[str, Uniformity] = field(default_factory=dict)
    wait_separately: bool = False
    reads_strongly: bool = True
    running: str = ""
    running_lanes: str = ""
    after_ends: dict[str, str] = field(default_factory=dict)
    other_sides: set[str] = field(default_factory=set)
    skipped: bool = False
    regions: int = 0  # so far, those within others too
    reached: str = ""
    for_all: set[str] = field(default_factory=set)
    _found: tuple[Flow, tuple[object, ...], Uniform] | None = field(default=None, init=False, repr=False)
    _guarded: dict[str, tuple[Block, tuple[object, ...], Block]] = field(default_factory=dict, init=False, repr=False)
    _live: dict[str, _Live] = field(default_factory=dict, init=False, repr=False)  # by mask
    _known: dict[str, tuple[_Decision, bool]] = field(default_factory=dict, init=False, repr=False)
    _by_data: dict[str, _Decision] | None = field(default=None, init=False, repr=False)

    def guards(self) -> Guards:
        return Guards(
            self.masks, self.preserved, self.running, self.running_lanes, self.fresh, self.at, self.parameters
        )

    def guarded(self) -> Flow:
        """The flow with its guards. Raises `CannotWeave` for a warp instruction that ended lanes would spoil."""
        guards, blocks = self.guards(), dict(self.flow.blocks)
        for name in [n for n in blocks if n in self.masks]:  # in their order, in which fresh registers get their names
            block = blocks[name]
            state = self.masks[name], self.preserved.get(name), self.running, self.running_lanes
            cached = self._guarded.get(name)
            if cached is None or cached[0] is not block or cached[1] != state:
                cached = self._guarded[name] = block, state, guards.applied(name, block)
            blocks[name] = cached[2]
        return Flow(self.flow.entry, blocks)

    def uniformity(self) -> Uniform:
        state = dict(self.masks), dict(self.preserved), self.running
        if self._found is None or self._found[0] is not self.flow or self._found[1] != state:
            # Guards leave the branches as they are.
            self._found = self.flow, state, uniformity(self.guarded(), controls(self.flow), self.shape)
        return self._found[2]

    def diverges(self, name: str) -> bool:
        """Whether lanes of one warp may take the branch of a block differently, as far as is known without another
        look at the whole flow.

        The methods for divergence add guards and predicates but no dependence on other values, so what has been the
        same for a warp stays so. They leave the data dependences of what is not converted yet, so a branch that
        differs by these alone, whatever decides which instructions run, does so until it is converted itself.
        Only `uniformity` finds other changes: ask it before relying on there being no divergent branch.
        """
        now = _decision(self.flow.blocks[name])
        if not now:
            return False
        decision, divergent = self._known.get(name, ((), False))
        if decision == now and not divergent:
            return False
        changed = self._found is not None and self._found[0] is not self.flow
        if decision == now and changed and self._differing_by_data().get(name) == now:
            return True
        branches = self.uniformity().branches
        self._known = {n: (_decision(b), branches[n] > Uniformity.WARP) for n, b in self.flow.blocks.items()}
        return self._known[name][1]

    def _differing_by_data(self) -> dict[str, _Decision]:
        """What the branches are decided by that lanes of one warp take differently whatever else decides."""
        if self._by_data is None:
            branches = uniformity(self.flow, {}, self.shape).branches
            self._by_data = {n: _decision(self.flow.blocks[n]) for n, u in branches.items() if u > Uniformity.WARP}
        return self._by_data

    def voted(self, names: Collection[str]) -> None:
        """The branches at the ends of these blocks are now decided by votes, which are the same for a warp."""
        self._known |= {n: (_decision(self.flow.blocks[n]), False) for n in names}

    def promise(self, branches: Collection[str]) -> None:
        """Whole warps take these branches together, as long as none of their lanes has ended."""
        if not branches:
            return
        alike = self.uniformity().branches
        self.promised = {n: alike[n] for n in self.flow.blocks if n in branches}
        self.flow = marked_uniform(self.flow, branches)

    def line(self, name: str) -> int:
        """Of the branch at the end of a block, or of its first instruction; 0 where goptx made all of it."""
        block = self.flow.blocks[name]
        if isinstance(block.end, Branch | Switch) and block.end.line:
            return block.end.line
        return next((i.line for i in block.instructions() if i.line), 0)

    def chose(self, name: str, choice: Choice) -> None:
        """Notes for the report which method the branch of a block gets."""
        self.divergences.append(Divergence(self.line(name), choice))

    def some_end(self) -> None:
        """From here on lanes may have ended while others of their warp run."""
        if self.running:
            return
        self.running = self.fresh.predicate("run")
        begin: list[Code] = [set_true(self.running)]
        if any(is_warp_wide(i) and not is_ours(i) for i in self.flow.instructions()):
            self.running_lanes = self.fresh.register("b32", "lanes")
            begin.append(ballot(self.running_lanes, self.running))
        self.prepend(self.flow.entry, begin)

    def running_changed(self) -> list[Code]:
        """What keeps the mask of running lanes true, for all lanes of a warp together."""
        return [ballot(self.running_lanes, self.running)] if self.running_lanes else []

    def missing(self, instruction: Instruction) -> CannotWeave:
        """The refusal of a warp instruction that may name lanes which do not come to it."""
        other = 'use divergence="predicate" or' if self.forced in ("park", "duplicate") else "use"
        return CannotWeave(
            f"{self.at(instruction.line)}: `{as_written(instruction, self.fresh.prefix)}` would wait for lanes that "
            f"may have ended the kernel before it and live on in the woven one; {other} separate launches.",
            rule="warp-instruction-after-exit",
        )

    def live_in(self, name: str) -> dict[str, frozenset[str]]:
        """Registers that lanes which run the block `name` may still need at the start of each block that these lanes
        may come to."""
        mask = self.masks.get(name, "")
        return self._live_of_all(mask) if mask in ("", self.running) else self._live_under(mask)

    def _live_under(self, mask: str) -> dict[str, frozenset[str]]:
        """`live_in` for the lanes of a mask. What blocks under it overwrite is overwritten for them: that differs from
        what all lanes need only in these blocks, and where threads come to them again."""
        rest = self._live_of_all("")
        own = {n for n, other in self.masks.items() if other == mask and n in self.flow.blocks}
        around = own.union(*(body for body in loops(self.flow).values() if not body.isdisjoint(own)))
        theirs = ("", self.running, mask)
        partly = {n for n in around if self.masks.get(n, "") not in theirs} - self.for_all
        return rest | live_within(self.flow, around, partly, rest)

    def _live_of_all(self, mask: str) -> dict[str, frozenset[str]]:
        """`live_in` for all lanes, or all that have not ended."""
        partly = {n for n, other in self.masks.items() if other not in ("", self.running)} - self.for_all
        known = self._live.get(mask)
        if known is None or known.flow is not self.flow or not known.partly <= partly <= known.partly | known.changed:
            known = self._live[mask] = _Live(self.flow, live_in(self.flow, partly))
        elif known.changed:
            extend_live_in(known.registers, self.flow, partly, known.changed)
        known.partly, known.changed = partly, set()
        return known.registers

    def straighten(self, source: str, order: Sequence[str], join: str, changed: Mapping[str, Block]) -> None:
        """Replaces the flow by what `straightened` makes of it."""
        more_live = leads_only_to(self.flow, [source, *order], join)
        self._change(straightened(self.flow, source, order, join, changed), changed if more_live else None)

    def enter_through(self, header: str, before: str, block: Block, changed: Mapping[str, Block]) -> None:
        """Replaces the flow by what `entered_through` makes of it. `changed` reads what it read before, and overwrites
        nothing else for sure."""
        self._change(entered_through(self.flow, header, before, block, changed), {before, *changed})

    def park(self, head: str, region: str, inside: Set[str], before: Block, block: Block) -> None:
        """Replaces the flow by what `parked` makes of it. All that the region reads counts as read, and nothing is
        overwritten for sure."""
        self._change(parked(self.flow, head, region, inside, before, block), {head, region})

    def take_in_turn(
        self, source: str, arms: Mapping[str, Collection[str]], join: str, changed: Mapping[str, Block]
    ) -> None:
        """Replaces the flow by what `sides_in_turn` makes of it. Paths past an arm are new, and none has gone."""
        self._change(sides_in_turn(self.flow, source, arms, join, changed), changed)

    def _change(self, flow: Flow, changed: Iterable[str] | None) -> None:
        """Replaces the flow. What is live is extended for the blocks in `changed`; if None, less may be live."""
        before, self.flow = self.flow, flow
        for known in self._live.values():
            if known.flow is before and changed is not None:
                known.flow = flow
                known.changed.update(changed)

    def preserve(self, name: str, registers: frozenset[str]) -> None:
        self.preserved[name] = self.preserved.get(name, frozenset()) | registers

    def replace(self, name: str, block: Block) -> None:
        self.flow = Flow(self.flow.entry, {**self.flow.blocks, name: block})

    def prepend(self, name: str, code: list[Code]) -> None:
        block = self.flow.blocks[name]
        self.replace(name, replace(block, code=(*code, *block.code)))

    def append(self, name: str, code: list[Code]) -> None:
        block = self.flow.blocks[name]
        self.replace(name, replace(block, code=(*block.code, *code)))


@dataclass(slots=True)
class _Live:
    """The registers live at the start of each block of a flow; `partly` as `live_in` takes it. It does not hold yet for
    the blocks that were `changed` since."""

    flow: Flow
    registers: dict[str, frozenset[str]]
    partly: set[str] = field(default_factory=set)
    changed: set[str] = field(default_factory=set)


_Decision = tuple[object, ...]


def _decision(block: Block) -> _Decision:
    """What the end of a block decides by."""
    match block.end:
        case Branch(guard=guard, others=others):
            return (guard, *others)
        case Switch(index):
            return (index,)
    return ()
