"""Kernels as a GPU gets them: kernels assembled alone and woven, their arguments, and what the emulator makes of them.

Requires ptxas, no GPU. Contraction is off, so that kernels have the same bits alone and woven (methods.md, M19).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from random_kernels.case import NAMES, Case
from random_kernels.pairs import LETTERS, REASONS, within
from random_kernels.search import drawn

import goptx
from goptx.device.assemble import assemble
from goptx.errors import CannotWeave, GoptxError, InputError
from goptx.ptx.ir import Module
from goptx.sample import sample
from goptx.shape import Shape
from goptx.specification import read_specification
from goptx.weaving.result import Parameter

ARCH = "sm_90"
RANDOM, SHAPED = "random", "shaped"
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
    """`shapes` are those of the kernels, `parts` the kernels and the woven one. `emulated`: what the kernels leave of
    their arguments, each alone, on the emulator. `refused` is a reason why there is nothing to run, `problem` one why
    something went wrong. `hidden`: the woven kernel's arguments behind those of its kernels. `case` is the
    random one."""

    name: str
    shapes: list[Shape]
    arguments: list[list[Any]]
    parts: list[Part] = field(default_factory=list)
    emulated: list[list[Any]] = field(default_factory=list)
    approximate: bool = False
    refused: str = ""
    problem: str = ""
    case: Case | None = None
    hidden: list[Any] = field(default_factory=list)


def random_jobs(seed: int, count: int, strategy: str = "weave") -> Iterator[Job]:
    """Entries of each case have a number of their own, by which reports tell them apart; `SHAPED` begins the names of
    those whose kernels have launch shapes of their own."""
    for i, case in enumerate(drawn(seed, count, strategy)):
        kind = RANDOM if case.stated is None else SHAPED
        job = Job(f"{kind} {seed}_{i}", list(case.shapes), case.arguments(), case=case)
        own = [re.sub(rf"\b({'|'.join(NAMES)})", rf"\1_{seed}_{i}", text) for text in case.texts]
        job.approximate = any(".approx" in text for text in own)
        modules = [goptx.parse(text, f"{name}.ptx") for text, name in zip(own, NAMES, strict=False)]
        yield made(job, modules, **case.options)


def example_jobs(first: str, strategy: str = "weave") -> Iterator[Job]:
    """The kernel with each of examples/kernels, in the sizes for checks, in shapes of their own if these differ."""
    for second in EXAMPLE_NAMES:
        launches = [read_specification(EXAMPLES / f"{name}.toml")[0].small() for name in (first, second)]
        arguments = [[sample(a, i) for a in launch.arguments] for i, launch in enumerate(launches)]
        shapes = [Shape(launch.grid, launch.block, launch.shared) for launch in launches]
        job = Job(f"{first}+{second}", shapes, arguments, approximate=True)
        alike = shapes[0] == shapes[1] and not shapes[0].shared and strategy in ("weave", "vertical")
        modules = [goptx.read(launch.file) for launch in launches]
        yield made(job, modules, strategy=strategy, shapes=None if alike else shapes)


def made(job: Job, modules: Sequence[Module], **options: Any) -> Job:
    """The job with its kernels woven, assembled and emulated."""
    try:
        with within(SECONDS):
            woven = goptx.fuse(*modules, **options)
    except (CannotWeave, InputError) as error:
        reason = next((name for name, said in REASONS.items() if re.search(said, str(error))), "")
        return replace(job, refused=reason, problem="" if reason else f"{type(error).__name__}: {error}")
    except Exception as error:  # a fault of goptx, which is one of this pair
        return replace(job, problem=f"{type(error).__name__}: {error}")
    try:
        for module, values, letter, shape in zip(modules, job.arguments, LETTERS, job.shapes, strict=False):
            entry = module.entries[0]
            cubin = assemble(str(module), entry=entry.name, arch=ARCH, fmad=False).cubin
            params = tuple(Parameter(letter, p.name, p.name, p.type, p.size) for p in entry.parameters)
            job.parts.append(Part(entry.name, cubin, params, shape))
            left, grid, block = deepcopy(values), shape.sizes("grid"), shape.sizes("block")
            goptx.emulate(module, grid, block, left, entry.name, shape.shared or 0, letter=letter)
            job.emulated.append([value for value in left if isinstance(value, np.ndarray)])
        cubin = assemble(woven.ptx, entry=woven.name, arch=ARCH, fmad=False).cubin
        shape, hidden = _launched(job, woven)
        job.parts.append(Part(woven.name, cubin, woven.params, shape))
        job.hidden = [np.frombuffer(value, np.uint32)[0] for value in hidden]
    except GoptxError as error:
        return replace(job, problem=f"{type(error).__name__}: {error}"[:2000])
    return job


def _launched(job: Job, woven: goptx.Woven) -> tuple[Shape, list[bytes]]:
    """In what shape the woven kernel is launched, and its hidden arguments."""
    if woven.plan is not None:
        return woven.launched(None, None, shapes=job.shapes)
    common = job.shapes[0]
    return woven.launched(common.sizes("grid"), common.sizes("block"), max(s.shared or 0 for s in job.shapes))
