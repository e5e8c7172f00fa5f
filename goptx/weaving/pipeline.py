"""The passes that weave() and the other strategies have in common, from the kernels to link to the woven kernel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

from goptx.analysis.cfg import Code, Flow
from goptx.analysis.numbering import completed
from goptx.errors import InputError
from goptx.latency.cost import cycles_of
from goptx.latency.table import LatencyTable
from goptx.launch.coarsening import AXES, Coarse
from goptx.launch.launch_plan import PLACEMENTS, Placement
from goptx.launch.launching import Launch
from goptx.launch.shape import Shape, tightest
from goptx.ptx.aliases import without_aliases
from goptx.ptx.statics import with_statics_outside
from goptx.ptx.verify import verify
from goptx.results.fused_kernel import Woven
from goptx.results.report import Report
from goptx.sources.kernel_text import Chosen, choose_entry
from goptx.weaving.converge.converge import converge
from goptx.weaving.converge.predicate_code import free_prefix
from goptx.weaving.converge.split_loops import split, split_as_it_is
from goptx.weaving.emit.counts import count, divergences, woven_fraction
from goptx.weaving.emit.debug_lines import with_locations
from goptx.weaving.emit.emit import woven_module
from goptx.weaving.emit.provenance import origins
from goptx.weaving.emit.reconverge import reconverged
from goptx.weaving.emit.witness import witness_of
from goptx.weaving.link.clusters import in_clusters
from goptx.weaving.link.dependent_grids import between_grids
from goptx.weaving.link.inline import inlined
from goptx.weaving.link.interface import parameters, symbols
from goptx.weaving.link.launch_bounds import launch_bounds
from goptx.weaving.link.link import link
from goptx.weaving.link.own_shared_variables import own_shared
from goptx.weaving.link.source_lines import common_files
from goptx.weaving.link.stacks import check_stacks
from goptx.weaving.merging.barrier_ids import prepare_barriers
from goptx.weaving.merging.copies import copies_joined
from goptx.weaving.merging.fold import Folded, fold
from goptx.weaving.merging.merge_input import MergeInput
from goptx.weaving.merging.merged_blocks import Merged
from goptx.weaving.merging.size_limits import Limits, limits
from goptx.weaving.merging.slice import adaptive_threshold, slice_flow
from goptx.weaving.model import CHOICES, Choice, Converged, Kernel, Linked
from goptx.weaving.schedule.carry_flag import refuse_mixed_flags
from goptx.weaving.schedule.schedule import POLICIES, schedule_blocks
from goptx.weaving.shapes.launch_demands import check_shared_sizes, known_shape
from goptx.weaving.shapes.range_guard import with_range_guard
from goptx.weaving.shapes.remap import Layout, with_shapes
from goptx.weaving.shapes.shared_pool import check_shared

Merging = Literal["safe", "paper"]  # by goptx's rules, or as published by the GoPTX paper
MERGES: tuple[Merging, ...] = get_args(Merging)


@dataclass(frozen=True, slots=True)
class Choices:
    """How long instructions last, how blocks are sliced by that, and in which order they are woven. `presume`: whether
    loaded data that decides about barriers may be taken as the same for all threads of a CTA."""

    policy: str
    slicing: str | int | None
    table: LatencyTable
    presume: bool = True

    def cycles(self, code: Code) -> int:
        """The latency of an instruction, or of all those in a call's braces."""
        return cycles_of(self.table, code)

    def alternatives(self) -> tuple[Choices, ...]:
        """What is tried, the smallest result to be kept. Where the slices of two loops do not line up, one kernel's
        loop begins in the middle of the other's: that takes a copy of both for each way they may stand to each
        other, and values that live across. Published policies slice as they are told."""
        if self.policy == "latency" and self.slicing == "adaptive":
            return self, replace(self, slicing=None)
        return (self,)

    def sliced(self, flow: Flow, text: Callable[[], list[tuple[Code, ...]]]) -> Flow:
        """The flow of a kernel in slices. `text` gives the blocks of the kernel's text, which "adaptive" depends on."""
        if self.slicing != "adaptive":
            return slice_flow(flow, None if self.slicing is None else int(self.slicing), self.cycles)
        return slice_flow(flow, adaptive_threshold(text(), self.cycles), self.cycles)


@dataclass(slots=True)
class Joining:
    """Merges the kernels of `linked`, copies first, slicing as `tried` says, and keeps in `found` how."""

    linked: Linked
    tried: Sequence[Choices]
    max_blocks: int | None = None
    max_growth: float | None = None
    found: list[Folded] = field(default_factory=list)

    def kernels(self, sides: Sequence[MergeInput]) -> list[MergeInput]:
        """One side for each kernel, of one for each copy."""
        return copies_joined(self.linked.kernels, sides, self.linked.together, self.join)

    def join(self, several: Sequence[MergeInput]) -> MergeInput:
        check_stacks([self.linked.kernels[k] for side in several for k in side.kernels])
        kernels = self.linked.kernels
        slicings = [lambda k, flow, c=c: c.sliced(flow, kernels[k].text_blocks) for c in self.tried]
        self.found.append(fold(several, slicings, self._limits, [k.at(k.entry.line) for k in kernels]))
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
    modules = common_files([with_statics_outside(without_aliases(kernel.module)) for kernel in kernels])
    modules = [inlined(module) for module in modules]
    entries = [choose_entry(m, kernel.entry) for m, kernel in zip(modules, kernels, strict=True)]
    coarse = [k.coarse if shapes is None else k.coarse.within(shapes[i]) for i, k in enumerate(kernels)]
    linked = own_shared(between_grids(link(modules, entries, arch, name, coarse)))
    linked = replace(linked, notes=(*linked.notes, *_small_grids(linked, [k.coarse for k in kernels])))
    alike = shapes is None and all(k.coarse.factor == 1 and k.shape is None for k in kernels)
    compiled = [k.shape for k in kernels]
    return in_clusters(
        check_shared_sizes(check_shared(linked)) if alike else with_shapes(linked, shapes, placement, layout, compiled)
    )


def _small_grids(linked: Linked, asked: Sequence[Coarse]) -> list[str]:
    """Says which kernels have fewer CTAs than were to be one."""
    return [
        f"{k.at(k.entry.line)} has a grid of {own.factor} along {AXES[wanted.axis]}, fewer than the {wanted.factor} "
        "CTAs that were to be one"
        for k, wanted, own in zip(linked.given, asked, linked.coarse, strict=True)
        if own != wanted
    ]


Prepare = Callable[[Sequence[Kernel], Sequence[Converged], Shape], list[Flow]]  # see `prepare_barriers`


def sides_of(
    linked: Linked,
    choices: Choices,
    divergence: Choice | None,
    most: Limits,
    alone: Callable[[Kernel], Converged] | None = None,
    prepare: Prepare = prepare_barriers,
) -> tuple[list[Converged], list[MergeInput]]:
    """The passes that take each kernel by itself, up to where kernels are merged.

    Where copies alone are merged, `alone` has what the others take in place of convergence; `prepare` is that of
    barriers."""

    def made(k: Kernel) -> Converged:
        if alone and not linked.is_copy(k):
            return with_range_guard(split_as_it_is(alone(k), most), k.gate)
        prefix = free_prefix(k.prefix, k.register_names())
        made = converge(k.flow, prefix, k.at, choices.cycles, divergence, choices.presume, sizes)
        return split(with_range_guard(made, k.gate), most, k.at(k.entry.line))

    sizes = {name: size for k in linked.kernels for name, size in k.parameter_sizes().items()}
    converged = [made(k) for k in linked.kernels]
    prepared = prepare(linked.kernels, converged, known_shape(linked))
    sides = [
        MergeInput(
            completed(flow, k), c.warp_branches, c.lanes_wait_apart, () if c.threads is None else (c.threads,),
            kernels=(k,), cycles=choices.cycles, last=c.last, duplicate=divergence == "duplicate",
        )
        for k, (flow, c) in enumerate(zip(prepared, converged, strict=True))
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
    registers = (*(r for k in linked.kernels for r in k.registers), *fresh)
    woven = schedule_blocks(
        whole, choices.policy, choices.cycles, registers, bounds, lambda k, line: linked.kernels[k].at(line)
    )
    flow = Flow(whole.flow.entry, {n: replace(b, code=woven[n]) for n, b in whole.flow.blocks.items()})
    refuse_mixed_flags(flow, lambda i: f"{linked.owner(i).at(i.line)}: `{linked.owner(i).quote(i)}`")
    if converged:
        flow = reconverged(flow.without_empty(), whole.apart({k for k, c in enumerate(converged) if c.as_written}))
    flow = flow.pruned()
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
    launch = Launch(linked.name, parameters(linked), linked.plan)
    return Woven(
        module, linked.name, (launch,), report, whence, names, linked.plan, strategy, tuple(kernels), depends, along_x,
        tightest(linked.limits),
        witness=witness_of(linked, {k.letter: c.module for k, c in zip(linked.given, kernels, strict=True)}, module, whence, strategy),
    )  # fmt: skip


def policy_of(merge: str, policy: str | None) -> str:
    """The policy, or that which goes with the merge. Raises `InputError` for an unknown merge."""
    if merge not in MERGES:
        raise InputError(f"merge `{merge}` is unknown; expected one of {', '.join(MERGES)}.")
    return policy or {"safe": "latency", "paper": "paper"}[merge]


def check_published(**given: bool) -> None:
    """Raises `InputError` where an option is given that the published merge does not have."""
    for option in (name for name, is_given in given.items() if is_given):
        raise InputError(
            f'merge="paper" does not take `{option}`: the published merge has no such choice; leave `{option}` out, or '
            'use merge="safe".'
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
