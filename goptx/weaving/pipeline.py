"""weave(): from PTX of several kernels to PTX of one, pass by pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from goptx.analysis.cfg import Code, Flow, instructions_in
from goptx.errors import InputError
from goptx.latency.table import LatencyTable, load_table
from goptx.ptx.aliases import without_aliases
from goptx.ptx.ir import Scope
from goptx.ptx.verify import verify
from goptx.shape import Shape
from goptx.weaving.barriers import prepare_barriers
from goptx.weaving.bounds import launch_bounds
from goptx.weaving.clusters import in_clusters
from goptx.weaving.coarse import AXES, Coarse
from goptx.weaving.copies import copies_joined
from goptx.weaving.divergence.converge import converge
from goptx.weaving.divergence.converged import CHOICES, Choice, Converged
from goptx.weaving.divergence.predicates import free_prefix
from goptx.weaving.emit import woven_module
from goptx.weaving.fold import Folded, fold
from goptx.weaving.gate import gated
from goptx.weaving.grids import between_grids
from goptx.weaving.growth import Limits, check_limits, limits
from goptx.weaving.inline import inlined
from goptx.weaving.launching import PLACEMENTS, Placement
from goptx.weaving.lines import with_locations
from goptx.weaving.link import Chosen, Kernel, Linked, choose_entry, link
from goptx.weaving.locations import common_files
from goptx.weaving.merged import Merged, merged
from goptx.weaving.origins import origins
from goptx.weaving.own_shared import own_shared
from goptx.weaving.report import Report, count, divergences, woven_fraction
from goptx.weaving.result import Woven, parameters, symbols
from goptx.weaving.schedule import POLICIES, schedule
from goptx.weaving.shapes import Layout, with_shapes
from goptx.weaving.shared import check_shared
from goptx.weaving.side import Side
from goptx.weaving.slice import slice_flow
from goptx.weaving.sources import Source, kernels_of, shapes_of
from goptx.weaving.split import split, split_as_it_is


def weave(
    *sources: Source,
    entries: Sequence[str | None] | None = None,
    arch: str | None = None,
    name: str | None = None,
    policy: str = "latency",
    slicing: str | int | None = "adaptive",
    divergence: Choice | None = None,
    latency: str | Path | LatencyTable | None = None,
    shapes: Sequence[Shape] | None = None,
    placement: Placement = "spread",
    max_blocks: int | None = None,
    max_growth: float | None = None,
) -> Woven:
    """One kernel in which every thread runs a thread of each kernel, instructions interleaved.

    sources: PTX text, its bytes, paths, parsed modules or woven kernels; two or more of them, one of them as often as
        you like, launched with the same grid and block unless `shapes` says otherwise. Kernels of one module have its
        variables in common, and so has a kernel that is given twice. A woven kernel counts as its kernels.
    entries: which entry of each module; may be left out where a module has only one.
    arch: for example "sm_90"; the highest `.target` of the inputs by default.
    name: of the woven entry.
    policy: "latency" (default), "paper" (the greedy of the GoPTX paper) or "concat" (no interleaving).
    slicing: "adaptive" (default; the mean block latency), a threshold in cycles, or None. Policy "latency" leaves
        adaptive slicing out where it would make the woven kernel longer.
    divergence: what to do where the lanes of a warp go different ways: "park" (the other kernel waits meanwhile),
        "predicate" (all sides run, under predicates) or "duplicate" (the other kernel's code stands on each side);
        None (default) chooses by cost for each place.
    latency: a latency table, its name or path; that of `arch` by default.
    shapes: in what shape each kernel would be launched alone: grid, block, bytes of dynamic shared memory, None for
        what is known at launch only. `Woven.shape` then says how to launch the woven kernel.
    placement: where the CTAs of a smaller grid lie among those of the larger: "spread" (default; evenly) or "front"
        (with the first ones).
    max_blocks: the most blocks that the woven kernel may have; by default 4 for each block of the kernels.
    max_growth: how many times the instructions of all kernels it may have; by default 3. Within these bounds the
        kernels are merged as closely as possible: if need be, loop beside loop only, or one after the other.

    Raises `PtxSyntaxError`, `CannotLink`, `CannotWeave` or `InputError`.
    """
    check_request(policy, slicing, divergence, placement)
    check_limits(max_blocks, max_growth)
    kernels = kernels_of(sources, entries)
    linked = read_and_link(kernels, arch, name, shapes_of(sources, shapes, len(kernels)), placement)
    choices = Choices(policy, slicing, load_table(latency, linked.target[0]))
    # Copies of code that were asked for are no fault.
    tried = choices.alternatives() if divergence is None else (choices,)
    joining = Joining(linked, tried, max_blocks, max_growth)
    converged, sides = sides_of(linked, choices, divergence, joining.all_limits)
    whole = joining.join(joining.kernels(sides))
    own = [side.flow for side in sides]
    return finish(kernels, linked, own, merged(whole), joining.chosen, converged, joining.notes)


@dataclass(frozen=True, slots=True)
class Choices:
    """How long instructions last, how blocks are sliced by that, and in which order they are woven."""

    policy: str
    slicing: str | int | None
    table: LatencyTable

    def cycles(self, code: Code) -> int:
        """The latency of an instruction, or of all those in a call's braces."""
        return sum(map(self.table.cycles_of, instructions_in(code) if isinstance(code, Scope) else (code,)))

    def alternatives(self) -> tuple[Choices, ...]:
        """What is tried, the smallest result to be kept. Where the slices of two loops do not line up, one kernel's
        loop begins in the middle of the other's: that takes a copy of both for each way they may stand to each
        other, and values that live across. Published policies slice as they are told."""
        if self.policy == "latency" and self.slicing == "adaptive":
            return self, replace(self, slicing=None)
        return (self,)

    def sliced(self, flow: Flow, original: Flow) -> Flow:
        return slice_flow(flow, original, self.slicing, self.cycles)


@dataclass(slots=True)
class Joining:
    """Merges the kernels of `linked`, copies first, slicing as `tried` says, and keeps in `found` how."""

    linked: Linked
    tried: Sequence[Choices]
    max_blocks: int | None = None
    max_growth: float | None = None
    found: list[Folded] = field(default_factory=list)

    def kernels(self, sides: Sequence[Side]) -> list[Side]:
        """One side for each kernel, of one for each copy."""
        return copies_joined(self.linked.kernels, sides, self.linked.together, self.join)

    def join(self, several: Sequence[Side]) -> Side:
        flows = [k.flow for k in self.linked.kernels]
        slicings = [lambda k, flow, c=c: c.sliced(flow, flows[k]) for c in self.tried]
        self.found.append(fold(several, slicings, self._limits, [k.at(k.entry.line) for k in self.linked.kernels]))
        return self.found[-1].side

    @property
    def all_limits(self) -> Limits:
        """Those of all kernels together."""
        return self._limits(range(len(self.linked.kernels)))

    @property
    def chosen(self) -> Choices:
        """What was taken where the most kernels were merged."""
        most = max(self.found, key=lambda f: len(f.side.kernels), default=None)
        return self.tried[most.chosen if most else 0]

    @property
    def notes(self) -> list[str]:
        return [note for folded in self.found for note in folded.notes]

    def _limits(self, numbers: Sequence[int]) -> Limits:
        kernels = self.linked.kernels
        share = (len(numbers) - 1) / max(len(kernels) - 1, 1)
        if any(k.copy for k in kernels):  # they are merged first; each kernel may take its part of the growth
            share = len({kernels[n].letter for n in numbers}) / len(self.linked.given)
        return limits([kernels[n].flow for n in numbers], self.max_blocks, self.max_growth, share)


def read_and_link(
    kernels: Sequence[Chosen],
    arch: str | None = None,
    name: str | None = None,
    shapes: Sequence[Shape] | None = None,
    placement: Placement = "spread",
    layout: Layout | None = None,
) -> Linked:
    """The first passes; arguments and errors are those of `weave`, `layout` is that of `with_shapes`."""
    modules = common_files([without_aliases(kernel.module) for kernel in kernels])
    modules = [inlined(module) for module in modules]
    entries = [choose_entry(m, kernel.entry) for m, kernel in zip(modules, kernels, strict=True)]
    coarse = [k.coarse if shapes is None else k.coarse.within(shapes[i]) for i, k in enumerate(kernels)]
    linked = own_shared(between_grids(link(modules, entries, arch, name, coarse)))
    linked = replace(linked, notes=(*linked.notes, *_small_grids(linked, [k.coarse for k in kernels])))
    alike = shapes is None and all(k.coarse.factor == 1 for k in kernels)
    return in_clusters(check_shared(linked) if alike else with_shapes(linked, shapes, placement, layout))


def _small_grids(linked: Linked, asked: Sequence[Coarse]) -> list[str]:
    """Says which kernels have fewer CTAs than were to be one."""
    return [
        f"{k.at(k.entry.line)} has a grid of {own.factor} along {AXES[wanted.axis]}, fewer than the {wanted.factor} "
        "CTAs that were to be one"
        for k, wanted, own in zip(linked.given, asked, linked.coarse, strict=True)
        if own != wanted
    ]


def sides_of(
    linked: Linked,
    choices: Choices,
    divergence: Choice | None,
    most: Limits,
    alone: Callable[[Kernel], Converged] | None = None,
    prepare: Callable[[Sequence[Kernel], Sequence[Converged]], list[Flow]] = prepare_barriers,
) -> tuple[list[Converged], list[Side]]:
    """The passes that take each kernel by itself, up to where kernels are merged.

    Where copies alone are merged, `alone` has what the others take in place of convergence; `prepare` is that of
    barriers."""

    def made(k: Kernel) -> Converged:
        if alone and not linked.is_copy(k):
            return gated(split_as_it_is(alone(k), most), k.gate)
        prefix = free_prefix(k.prefix, k.register_names())
        return split(
            gated(converge(k.flow, prefix, k.at, choices.cycles, divergence), k.gate), most, k.at(k.entry.line)
        )

    converged = [made(k) for k in linked.kernels]
    sides = [
        Side(
            flow, c.warp_branches, c.lanes_wait_apart, () if c.threads is None else (c.threads,),
            kernels=(k,), cycles=choices.cycles, last=c.last, duplicate=divergence == "duplicate",
        )
        for k, (flow, c) in enumerate(zip(prepare(linked.kernels, converged), converged, strict=True))
    ]  # fmt: skip
    return converged, sides


def finish(
    kernels: Sequence[Chosen],
    linked: Linked,
    flows: Sequence[Flow],
    whole: Merged,
    choices: Choices,
    converged: Sequence[Converged] = (),
    notes: Sequence[str] = (),
    strategy: str = "weave",
    depends: bool = False,
    along_x: bool = False,
) -> Woven:
    """The last passes, from the merged kernels, whose flows were `flows`, to the woven kernel and what is said of it.

    `converged` says what became of divergence, if the kernels went that way. Raises `CannotWeave` where launch bounds
    contradict.
    """
    fresh = [r for c in converged for r in c.registers]
    bounds, dropped = launch_bounds(linked.given, linked.plan)
    woven = {n: schedule(b.parts, b.turns, choices.policy, choices.cycles) for n, b in whole.blocks.items()}
    flow = Flow(whole.flow.entry, {n: replace(b, code=woven[n]) for n, b in whole.flow.blocks.items()}).pruned()
    module = woven_module(linked, flow, fresh, (*bounds, *linked.clusters))
    whence = origins(linked.kernels, flows, module.entries[0])
    module = verify(
        with_locations(module, linked.name, whence, {k.letter: k.lines for k in linked.given}, linked.tables)
    )
    dummies = sum(b.dummy for b in whole.blocks.values())
    report = Report(
        kernels={k.letter: count(k.entry.name, k.flow, choices.cycles) for k in linked.given},
        merged=count(linked.name, flow, choices.cycles, dummies),
        woven_fraction=woven_fraction(linked.kernels, flows, list(whole.blocks.values())),
        policy=choices.policy,
        slicing=choices.slicing,
        latency=choices.table.arch,
        divergences=divergences(
            [(k.letter, c) for k, c in zip(linked.kernels, converged, strict=False)], whole.blocks.values()
        ),
        notes=tuple(dict.fromkeys((*linked.notes, *dropped, *notes, *(n for c in converged for n in c.notes)))),
    )
    names = symbols(linked, module)
    found = parameters(linked)
    return Woven(
        module, linked.name, found, report, whence, names, linked.plan, strategy, tuple(kernels), depends, along_x
    )


def check_request(policy: str, slicing: str | int | None, divergence: str | None, placement: str) -> None:
    """Raises `InputError` for arguments of `weave` that make no sense, whatever the kernels are."""
    if policy not in POLICIES:
        raise InputError(f"policy `{policy}` is unknown; expected one of {', '.join(POLICIES)}.")
    if divergence not in (None, *CHOICES):
        raise InputError(f"divergence `{divergence}` is unknown; expected one of {', '.join(CHOICES)}, or None.")
    number = isinstance(slicing, int) and not isinstance(slicing, bool)
    if slicing not in ("adaptive", None) and not (number and int(slicing or 0) > 0):
        raise InputError(f'slicing `{slicing}` is unknown; expected "adaptive", a number of cycles above 0, or None.')
    if placement not in PLACEMENTS:
        raise InputError(f"placement `{placement}` is unknown; expected one of {', '.join(PLACEMENTS)}.")
