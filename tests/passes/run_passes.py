"""The passes of `weave`, one after the other, on the entries of one file, with what each of them gives.

A file is PTX. Its comments before `.version` tell what it shows; a line `// with: NAME=VALUE ...` among them has
options of `weave`: policy, slicing, divergence, merge; `shapes=GRIDxBLOCK,...` (or GRIDxBLOCKxSHARED; ? is known at
launch only) and `copies=N,...` are of its entries in order. Latencies are those of `TABLE`, so that sums are easy to
follow.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import get_args

from goptx.analysis.cfg import Flow
from goptx.latency.table import Entry, LatencyTable
from goptx.launch.coarsening import Coarse
from goptx.launch.shape import Shape
from goptx.options import POLICIES, Choice, Slicing
from goptx.ptx.parse import parse
from goptx.results.fused_kernel import Woven
from goptx.sources.kernel_text import Chosen
from goptx.weaving.converge.converge import converge
from goptx.weaving.converge.split_loops import split_loops
from goptx.weaving.emit.emit import emit
from goptx.weaving.emit.reconverge import reconverge
from goptx.weaving.link.link import link
from goptx.weaving.merging.barrier_ids import prepare_barriers
from goptx.weaving.merging.copies import merge_copies
from goptx.weaving.merging.merge import Pair, cut_at_waits, merge, merge_order
from goptx.weaving.merging.merge_input import MergeInput, merge_inputs
from goptx.weaving.merging.merged_blocks import Merged, merged_blocks
from goptx.weaving.merging.paper_merge import Published, merge_as_published
from goptx.weaving.merging.size_limits import MergeLimits
from goptx.weaving.merging.slice import SlicingThresholds, slice, slicings_of
from goptx.weaving.model import Choices, Converged, Linked
from goptx.weaving.schedule.schedule import schedule
from goptx.weaving.shapes.launch_demands import known_shape
from goptx.weaving.shapes.range_guard import guard_ranges
from goptx.weaving.shapes.shape_kernels import shape
from goptx.weaving.simplify.simplify import simplify

KINDS = {
    "arithmetic": 4, "conversion": 4, "special": 20, "memory": 290, "fence": 4, "warp": 20, "barrier": 20,
    "control": 4, "unknown": 4,
}  # fmt: skip
TABLE = LatencyTable("sm_90", "cycles of tests/passes", Path("passes"), {"ld.param": Entry(4, "tests")}, KINDS, {})
OPTIONS = ("policy", "slicing", "divergence", "merge", "shapes", "copies")


@dataclass(frozen=True, slots=True)
class Step:
    """One merge of two: what goes in, what they become where they may wait for each other, sliced, and merged."""

    inputs: Pair
    cut: Pair
    candidates: list[Pair]
    merged: MergeInput


@dataclass(frozen=True)
class Run:
    """The passes on the entries of a text; each runs when it is first asked for."""

    text: str
    options: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, text: str) -> Run:
        found = re.search(r"^// with: (.*)$", text, re.MULTILINE)
        options = dict(word.split("=", 1) for word in found[1].split()) if found else {}
        assert set(options) <= set(OPTIONS), f"options are {', '.join(OPTIONS)}"
        return cls(text, options)

    @cached_property
    def chosen(self) -> list[Chosen]:
        module = parse(self.text)
        factors = [int(n) for n in self.options.get("copies", "").split(",") if n] or [1] * len(module.entries)
        return [Chosen(module, e.name, coarse=Coarse(n)) for e, n in zip(module.entries, factors, strict=True)]

    @cached_property
    def shapes(self) -> Sequence[Shape] | None:
        given = [text.split("x") for text in self.options.get("shapes", "").split(",") if text]
        sizes = [[None if n == "?" else int(n) for n in one] for one in given]
        return [Shape(grid, block, *shared) for grid, block, *shared in sizes] or None

    @cached_property
    def choices(self) -> Choices:
        text = self.options.get("slicing", "adaptive")
        slicing: Slicing = int(text) if text.isdigit() else None if text == "none" else "adaptive"
        policy = self.options.get("policy", "paper" if self.published else "latency")
        return Choices(next(p for p in POLICIES if p == policy), slicing, TABLE)

    @cached_property
    def divergence(self) -> Choice | None:
        return next((choice for choice in get_args(Choice) if choice == self.options.get("divergence")), None)

    @property
    def published(self) -> bool:
        return self.options.get("merge") == "paper"

    @cached_property
    def linked(self) -> Linked:
        return link(self.chosen, name="w", shapes=self.shapes)

    @cached_property
    def shaped(self) -> Linked:
        return shape(self.linked, self.chosen, self.shapes)

    @cached_property
    def simplified(self) -> Linked:
        return self.shaped if self.published else simplify(self.shaped, self.shapes)

    @cached_property
    def converged(self) -> list[Converged]:
        return converge(self.simplified, self.choices, self.divergence)

    @cached_property
    def limits(self) -> MergeLimits:
        return MergeLimits(self.simplified)

    @cached_property
    def looped(self) -> list[Converged]:
        return split_loops(self.simplified, guard_ranges(self.simplified, self.converged), self.limits.all)

    @cached_property
    def inputs(self) -> list[MergeInput]:
        prepared = prepare_barriers(self.simplified.kernels, self.looped, known_shape(self.simplified))
        return merge_inputs(self.simplified, prepared, self.looped, self.choices, self.divergence == "duplicate")

    @cached_property
    def merged_copies(self) -> list[MergeInput]:
        return merge_copies(self.simplified, self.inputs, self.slicings, self.limits)

    @cached_property
    def slicings(self) -> list[SlicingThresholds]:
        return slicings_of(self.simplified, self.choices, self.divergence is None)

    @cached_property
    def steps(self) -> list[Step]:
        whole, *others = merge_order(self.simplified, self.merged_copies)
        steps = []
        for other in others:
            pair = cut_at_waits(whole, other)
            candidates = [slice(pair, thresholds) for thresholds in self.slicings]
            steps.append(Step((whole, other), pair, candidates, merge(candidates, self.limits)))
            whole = steps[-1].merged
        return steps

    @cached_property
    def whole(self) -> MergeInput:
        return self.steps[-1].merged if self.steps else self.merged_copies[0]

    @cached_property
    def as_published(self) -> Published:
        return merge_as_published(self.simplified, self.choices)

    @cached_property
    def merged(self) -> Merged:
        if self.published:
            return self.as_published.merged
        return merged_blocks(self.whole, join=self.choices.policy == "latency")

    @cached_property
    def scheduled(self) -> Flow:
        return schedule(self.simplified, () if self.published else self.looped, self.merged, self.choices)

    @cached_property
    def final(self) -> Flow:
        return self.scheduled if self.published else reconverge(self.scheduled, self.looped, self.merged)

    @cached_property
    def woven(self) -> Woven:
        flows = self.as_published.flows if self.published else [each.flow for each in self.inputs]
        converged = () if self.published else self.looped
        taken = self.choices if self.published else replace(self.choices, slicing=self.whole.slicing)
        return emit(self.chosen, self.simplified, flows, converged, self.merged, self.final, taken)
