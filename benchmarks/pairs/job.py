"""One pair as a GPU gets it: kernels assembled alone and woven, their arguments, and what the emulator makes of them.

Requires ptxas, no GPU. Contraction is off, so that kernels have the same bits alone and woven (methods.md, M19).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
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
from goptx.specification import read_specification
from goptx.weaving.result import Parameter

ARCH = "sm_90"
LETTERS = "AB"
SECONDS = 60.0  # for weaving one pair
EXAMPLES = Path(__file__).parents[2] / "examples" / "kernels"
EXAMPLE_NAMES = ("gelu", "harris", "lud", "micnd", "sort", "stms", "wmma")


@dataclass(slots=True)
class Part:
    """A kernel ready to launch."""

    entry: str
    cubin: bytes
    params: tuple[Parameter, ...]


@dataclass(slots=True)
class Job:
    """`parts` are the two kernels and the woven one. `emulated`: what the kernels leave of their arguments, each alone,
    on the emulator. `refused` is a reason why there is nothing to run, `problem` one why something went wrong.
    `case` is the random pair."""

    name: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    shared: int
    arguments: list[list[Any]]
    parts: list[Part]
    emulated: list[list[Any]]
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
        number = f"{seed}_{i}"
        texts = tuple(re.sub(r"\b(first|second)", rf"\1_{number}", text) for text in case.texts)
        modules = [goptx.parse(text, name) for text, name in zip(texts, ("first.ptx", "second.ptx"), strict=True)]
        job = Job(f"random {number}", case.grid, case.block, 0, case.arguments(), [], [], case=case)
        job.approximate = any(".approx" in text for text in texts)
        yield made(job, modules, **case.options)


def example_jobs(first: str) -> Iterator[Job]:
    """The kernel with each of examples/kernels, in the sizes for checks."""
    for second in EXAMPLE_NAMES:
        launches = [read_specification(EXAMPLES / f"{name}.toml")[0].small() for name in (first, second)]
        arguments = [[sample(a, i) for a in launch.arguments] for i, launch in enumerate(launches)]
        one = launches[0]
        job = Job(f"{first}+{second}", one.grid, one.block, one.shared, arguments, [], [], approximate=True)
        yield made(job, [goptx.read(launch.file) for launch in launches])


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
        for module, values, letter in zip(modules, job.arguments, LETTERS, strict=True):
            entry = module.entries[0]
            cubin = assemble(str(module), entry=entry.name, arch=ARCH, fmad=False).cubin
            params = tuple(Parameter(letter, p.name, p.name, p.type, p.size) for p in entry.parameters)
            job.parts.append(Part(entry.name, cubin, params))
            left = deepcopy(values)
            goptx.emulate(module, job.grid, job.block, left, entry.name, job.shared, letter=letter)
            job.emulated.append([value for value in left if isinstance(value, np.ndarray)])
        job.parts.append(
            Part(woven.name, assemble(woven.ptx, entry=woven.name, arch=ARCH, fmad=False).cubin, woven.params)
        )
    except GoptxError as error:
        return replace(job, problem=f"{type(error).__name__}: {error}"[:2000])
    return job
