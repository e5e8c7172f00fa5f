"""One pair as a GPU gets it: kernels assembled alone and woven, their arguments, and what the emulator makes of them.

Requires ptxas, no GPU. Contraction is off, so that kernels have the same bits alone and woven (methods.md, M19).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from random_kernels.case import Case
from random_kernels.pairs import REASONS, Outcome, within
from random_kernels.search import search

import goptx
from goptx.device.assemble import assemble
from goptx.errors import CannotWeave, GoptxError
from goptx.ptx.ir import Module
from goptx.sample import sample
from goptx.shape import Shape
from goptx.specification import read_specification
from goptx.weaving.result import Parameter

ARCH = "sm_90"
LETTERS = "AB"
SECONDS = 60.0  # for weaving one pair
EXAMPLES = Path(__file__).parents[2] / "examples" / "kernels"
EXAMPLE_NAMES = tuple(sorted(path.stem for path in EXAMPLES.glob("*.toml")))


@dataclass(slots=True)
class Part:
    """A kernel ready to launch, and in what shape."""

    entry: str
    cubin: bytes
    params: tuple[Parameter, ...]
    shape: Shape


@dataclass(slots=True)
class Job:
    """`shapes` are those of the two kernels, `parts` the two and the woven one. `emulated`: what the kernels leave of
    their arguments, each alone, on the emulator. `refused` is a reason why there is nothing to run, `problem` one why
    something went wrong. `case` is the random pair."""

    name: str
    shapes: list[Shape]
    arguments: list[list[Any]]
    parts: list[Part] = field(default_factory=list)
    emulated: list[list[Any]] = field(default_factory=list)
    approximate: bool = False
    refused: str = ""
    problem: str = ""
    case: Case | None = None


def random_cases(seed: int, count: int) -> list[Case]:
    """What Hypothesis draws by the seed."""
    found: list[Case] = []

    def take(case: Case) -> Outcome:
        found.append(case)
        return Outcome("")

    search(seed, count, judge=take)
    return found


def random_jobs(seed: int, count: int) -> Iterator[Job]:
    """Entries of each pair have a number of their own, by which reports tell them apart."""
    for i, case in enumerate(random_cases(seed, count)):
        job = Job(f"random {seed}_{i}", [Shape(case.grid, case.block)] * 2, case.arguments(), case=case)
        yield _of_random_kernels(job, case.texts, **case.options)


def shaped_jobs(seed: int, count: int) -> Iterator[Job]:
    """The first kernel of one pair with the second of the next, each in its own launch shape."""
    for i, (one, other) in enumerate(pairwise(random_cases(seed, count + 1))):
        arguments = [one.arguments()[0], other.arguments()[1]]
        job = Job(f"shaped {seed}_{i}", [Shape(c.grid, c.block) for c in (one, other)], arguments)
        placement = ("spread", "front")[i % 2]
        texts = (one.texts[0], other.texts[1])
        yield _of_random_kernels(job, texts, shapes=job.shapes, placement=placement, **one.options)


def _of_random_kernels(job: Job, texts: tuple[str, str], **options: Any) -> Job:
    number = job.name.split()[1]
    own = [re.sub(r"\b(first|second)", rf"\1_{number}", text) for text in texts]
    job.approximate = any(".approx" in text for text in own)
    modules = [goptx.parse(text, name) for text, name in zip(own, ("first.ptx", "second.ptx"), strict=True)]
    return made(job, modules, **options)


def example_jobs(first: str) -> Iterator[Job]:
    """The kernel with each of examples/kernels, in the sizes for checks, in shapes of their own if these differ."""
    for second in EXAMPLE_NAMES:
        launches = [read_specification(EXAMPLES / f"{name}.toml")[0].small() for name in (first, second)]
        arguments = [[sample(a, i) for a in launch.arguments] for i, launch in enumerate(launches)]
        shapes = [Shape(launch.grid, launch.block, launch.shared) for launch in launches]
        job = Job(f"{first}+{second}", shapes, arguments, approximate=True)
        alike = shapes[0] == shapes[1] and not shapes[0].shared
        yield made(job, [goptx.read(launch.file) for launch in launches], shapes=None if alike else shapes)


def made(job: Job, modules: Sequence[Module], **options: Any) -> Job:
    """The job with its kernels woven, assembled and emulated."""
    try:
        with within(SECONDS):
            woven = goptx.weave(*modules, **options)
    except CannotWeave as error:
        reason = next((name for name, said in REASONS.items() if re.search(said, str(error))), "")
        return replace(job, refused=reason, problem="" if reason else f"CannotWeave: {error}")
    except Exception as error:  # a fault of goptx, which is one of this pair
        return replace(job, problem=f"{type(error).__name__}: {error}")
    try:
        for module, values, letter, shape in zip(modules, job.arguments, LETTERS, job.shapes, strict=True):
            entry = module.entries[0]
            cubin = assemble(str(module), entry=entry.name, arch=ARCH, fmad=False).cubin
            params = tuple(Parameter(letter, p.name, p.name, p.type, p.size) for p in entry.parameters)
            job.parts.append(Part(entry.name, cubin, params, shape))
            left, grid, block = deepcopy(values), shape.sizes("grid"), shape.sizes("block")
            goptx.emulate(module, grid, block, left, entry.name, shape.shared or 0, letter=letter)
            job.emulated.append([value for value in left if isinstance(value, np.ndarray)])
        cubin = assemble(woven.ptx, entry=woven.name, arch=ARCH, fmad=False).cubin
        job.parts.append(Part(woven.name, cubin, woven.params, woven.shape or job.shapes[0]))
    except GoptxError as error:
        return replace(job, problem=f"{type(error).__name__}: {error}"[:2000])
    return job
