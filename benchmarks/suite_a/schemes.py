"""The schemes in which suite A runs its pairs and its single kernels, made without a GPU.

A scheme may have several forms, such as a kernel under several register caps, of which the fastest counts.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import goptx
from goptx.errors import ConvergenceWarning
from goptx.latency.table import load_table
from goptx.measuring.bench.workload import Workload
from goptx.options import Strategy
from goptx.strategies.candidate import Candidate
from goptx.tuning.best import capped
from goptx.tuning.making import Job, fused, make
from goptx.tuning.measured import Measured, measured
from goptx.weaving.converge.converge import converge
from goptx.weaving.converge.split_loops import split_loops
from goptx.weaving.emit.emit import emit
from goptx.weaving.emit.reconverge import reconverge
from goptx.weaving.link.link import link
from goptx.weaving.merging.barrier_ids import prepare_barriers
from goptx.weaving.merging.merge import cut_at_waits, merge, merge_order
from goptx.weaving.merging.merge_input import merge_inputs
from goptx.weaving.merging.merged_blocks import merged_blocks
from goptx.weaving.merging.size_limits import MergeLimits
from goptx.weaving.merging.slice import adaptive_threshold, slice, slicings_of
from goptx.weaving.model import Choices, Linked
from goptx.weaving.schedule.schedule import schedule
from goptx.weaving.shapes.launch_demands import known_shape
from goptx.weaving.shapes.range_guard import guard_ranges
from goptx.weaving.shapes.shape_kernels import shape
from suite_a import specifications_of
from suite_a.best import tuned

CAPS = (32, 40, 48, 64, 80, 128)  # of the paper
FACTORS = (2, 4, 8)  # of single kernels


@dataclass(frozen=True, slots=True)
class Form:
    """A kernel under a register cap; `common` is the shape of a kernel that was made without one."""

    woven: goptx.Woven
    cap: int | None = None
    common: goptx.Shape | None = None
    chosen: str = ""


@dataclass(frozen=True, slots=True)
class Subject:
    """A pair such as "gelu+harris", or a single kernel, in one of the two shapes, or in the sizes for checks."""

    name: str
    shape: str
    small: bool = False


@dataclass(frozen=True, slots=True)
class Task:
    subject: Subject
    scheme: str


@dataclass(frozen=True, slots=True)
class Done:
    """The forms of a scheme by name; or why it was refused."""

    task: Task
    forms: Mapping[str, Form]
    refused: str = ""


@cache
def measured_of(subject: Subject) -> Measured:
    return measured([], spec=specifications_of(subject.name, subject.shape), small=subject.small)


def workload(subject: Subject) -> Workload:
    return measured_of(subject).workload


def _fused(measured: Measured, strategy: Strategy, **options: Any) -> Iterator[Form]:
    yield Form(goptx.fuse(*measured.kernels, strategy=strategy, shapes=measured.shapes, **options))


def _horizontal(measured: Measured) -> Iterator[Form]:
    """No kernel of the suite takes another block: the search of the HFUSE paper has one partition, and its cap."""
    yield from _made(measured, Candidate("horizontal", (1, 1)))


def _made(measured: Measured, candidate: Candidate) -> Iterator[Form]:
    """With the register caps that are worth a trial."""
    made = make(Job(measured.kernels, measured.shapes, measured.tunable, candidate, None))
    for trial in made.trials:
        if trial.status == "timed" and made.woven:
            yield Form(made.woven, trial.candidate.cap)


def _capped(measured: Measured) -> Iterator[Form]:
    """What the paper does, under each of its caps."""
    (free,) = _fused(measured, "weave", policy="paper", slicing="adaptive")
    return under_caps(free)


def under_caps(free: Form) -> Iterator[Form]:
    """The kernel without a cap, and under those of the paper's caps that are below its registers."""
    yield free
    registers = free.woven.resources().registers
    for cap in CAPS:
        if cap < registers:
            yield replace(free, cap=cap)


def _slices_joined(measured: Measured) -> Iterator[Form]:
    """As `_capped`, but blocks and slices that always follow each other are woven as one."""
    linked = _shaped(measured)
    choices = Choices("paper", "adaptive", load_table(None, linked.target[0]))
    limits = MergeLimits(linked)
    converged = split_loops(linked, guard_ranges(linked, converge(linked, choices)), limits.all)
    prepared = prepare_barriers(linked.kernels, converged, known_shape(linked))
    (slicing,) = slicings_of(linked, choices)
    inputs = merge_inputs(linked, prepared, converged, choices)
    flows = [each.flow for each in inputs]
    first, second = merge_order(linked, inputs)
    whole = merge([slice(cut_at_waits(first, second), slicing)], limits)
    merged = merged_blocks(whole, join=True)
    final = reconverge(schedule(linked, converged, merged, choices), converged, merged)
    woven = emit(measured.kernels, linked, flows, converged, merged, final, choices, whole.notes)
    return under_caps(Form(woven))


def _shaped(measured: Measured) -> Linked:
    linked = link(measured.kernels, shapes=measured.shapes)
    return shape(linked, measured.kernels, measured.shapes)


def _one_threshold(measured: Measured) -> Iterator[Form]:
    """As `_capped`, but Equation 1 of the paper is the mean over the blocks of both kernels together."""
    threshold = threshold_of_both(measured)
    (free,) = _fused(measured, "weave", policy="paper", slicing=threshold)
    return under_caps(free)


def threshold_of_both(measured: Measured) -> int:
    linked = _shaped(measured)
    blocks = [block for kernel in linked.kernels for block in kernel.text_blocks()]
    return adaptive_threshold(blocks, Choices("paper", None, load_table(None, linked.target[0])).cycles)


def _papers_merge(measured: Measured) -> Iterator[Form]:
    """As it was published: for kernels of one shape, and it may hang."""
    one, other = measured.shapes
    if one != other:
        raise goptx.CannotWeave("it takes kernels of one shape", rule="published-merge")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield Form(goptx.weave(*measured.kernels, merge="paper"), common=one)


def _auto(measured: Measured) -> Iterator[Form]:
    (form,) = _fused(measured, "auto")
    decision = form.woven.report.decision
    yield Form(form.woven, chosen=decision.chosen.name if decision else "separate")


PAIRED: Mapping[str, Callable[[Measured], Iterator[Form]]] = {
    "vertical": partial(_fused, strategy="vertical"),
    "horizontal": _horizontal,
    "interleave": partial(_fused, strategy="interleave"),
    "merge": partial(_fused, strategy="weave", policy="concat", slicing=None),
    "merge, slicing": partial(_fused, strategy="weave", policy="concat", slicing="adaptive"),
    "merge, weaving": partial(_fused, strategy="weave", policy="paper", slicing=None),
    "merge, slicing, weaving": partial(_fused, strategy="weave", policy="paper", slicing="adaptive"),
    "paper's weave, safe merge": _capped,
    "paper's weave, slices joined": _slices_joined,
    "paper's weave, one threshold": _one_threshold,
    "paper's merge": _papers_merge,
    "weave": partial(_fused, strategy="weave"),
    "auto": _auto,
}
TUNED = "tuned"
SINGLE: Mapping[str, Callable[[Measured], Iterator[Form]]] = {
    f"x{factor}": partial(_made, candidate=Candidate("coarsen", (factor,))) for factor in FACTORS
}


SCHEMES = (*PAIRED, TUNED, *SINGLE)


def tasks_of(subject: Subject, only: Collection[str] = SCHEMES) -> list[Task]:
    """Of these schemes."""
    schemes = (*PAIRED, TUNED) if "+" in subject.name else SINGLE
    return [Task(subject, scheme) for scheme in schemes if scheme in only]


def made(task: Task) -> Done:
    """What a process of a pool does."""
    return done(task, _forms(task))


def done(task: Task, made: Iterable[Form]) -> Done:
    """The forms with their machine code."""
    forms: dict[str, Form] = {}
    try:
        for form in made:
            form.woven.assembly(form.cap)
            forms[task.scheme + (f" capped at {form.cap}" if form.cap else "")] = form
    except goptx.GoptxError as error:
        return Done(task, forms, str(error))
    return Done(task, forms)


def _forms(task: Task) -> Iterator[Form]:
    measured = measured_of(task.subject)
    if task.scheme == TUNED:
        found = tuned(task.subject.name, task.subject.shape)
        job = replace(found.job(measured.kernels), shapes=measured.shapes)
        yield Form(capped(fused(job), found.candidate), chosen=str(found.candidate))
    else:
        yield from (PAIRED if task.scheme in PAIRED else SINGLE)[task.scheme](measured)
