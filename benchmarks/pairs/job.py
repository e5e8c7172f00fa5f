"""Kernels as a GPU gets them: assembled alone and made one, their arguments, and what the emulator makes of them.

Requires ptxas, no GPU. Contraction is off, so that kernels have the same bits alone and woven.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass, field, replace
from itertools import chain, count
from pathlib import Path
from typing import Any

import numpy as np
from random_kernels.case import NAMES, Case, read, regressions
from random_kernels.pairs import reason_of, within
from random_kernels.search import drawn
from random_kernels.trial import LETTERS, Array, Data, Trial
from random_kernels.ways import trial

import goptx
from goptx.device.assemble import assemble
from goptx.errors import CannotWeave, GoptxError, InputError
from goptx.launch.arguments import pack_arguments
from goptx.launch.parameter import Parameter
from goptx.launch.sample_data import sample
from goptx.launch.shape import Shape
from goptx.launch.specification import read_specification
from goptx.options import Strategy

ARCH = "sm_90"
SECONDS = 60.0  # for weaving one pair
EACH = 25  # random cases of one seed
MOST_DRAWN = 12  # times as many as are wanted
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
    """`parts`: the kernels, then what is made of them, usually one. `data`: the arguments. `together`: of each launch
    of what is made of them the part and its arguments. `emulated`: what the kernels leave of `data.compared`, each
    alone, on the emulator. `refused` is a reason why there is nothing to run, `problem` one why something went wrong.
    `case` is the random one."""

    name: str
    way: str
    data: Data
    parts: list[Part] = field(default_factory=list)
    together: list[tuple[int, list[object]]] = field(default_factory=list)
    emulated: dict[str, Array] = field(default_factory=dict)
    approximate: bool = False
    refused: str = ""
    problem: str = ""
    case: Case | None = None


def random_jobs(way: str, seed: int, step: int, wanted: int, generator: str) -> Iterator[Job]:
    """As many as are wanted and not declined, unless too many are, and those; of `seed`, `seed + step` and so on.
    Entries of each case have a number of their own, by which reports distinguish them."""
    found = seen = 0
    for number in count(seed, step):
        for i, case in enumerate(drawn(number, EACH, way, generator)):
            if found == wanted or seen == MOST_DRAWN * wanted:
                return
            kind = "random" if case.stated is None else "shaped"
            texts = tuple(re.sub(rf"\b({'|'.join(NAMES)})", rf"\1_{number}_{i}", text) for text in case.texts)
            own = trial(replace(case, texts=texts))
            job = made(_job(f"{kind} {way} {number}_{i}", case, own), own)
            seen += 1
            found += not job.refused
            yield job


def regression_jobs(way: str) -> Iterator[Job]:
    """The cases of that way that failed once."""
    for path in regressions():
        case = read(path)
        if case.way == way:
            own = trial(case)
            yield made(_job(f"kept {path.stem}", case, own), own)  # word: kept, a name in stored results


def _job(name: str, case: Case, own: Trial) -> Job:
    approximate = any(re.search(r"\.(approx|full)\b", text) for text in case.texts)
    return Job(name, case.way, own.data(), approximate=approximate, case=case)


def example_jobs(first: str, strategy: Strategy = "weave") -> Iterator[Job]:
    """The kernel with each of examples/kernels, in the sizes for checks, in shapes of their own if these differ."""
    for second in EXAMPLE_NAMES:
        launches = [read_specification(EXAMPLES / f"{name}.toml")[0].small() for name in (first, second)]
        shapes = tuple(Shape(launch.grid, launch.block, launch.shared) for launch in launches)
        alike = shapes[0] == shapes[1] and not shapes[0].shared and strategy in ("weave", "vertical")
        modules = [goptx.read(launch.file) for launch in launches]

        def woven(modules: Any = modules, stated: Any = None if alike else shapes) -> goptx.Woven:
            return goptx.fuse(*modules, strategy=strategy, shapes=stated)

        def data(launches: Any = launches) -> Data:
            values: list[list[object]] = [[sample(a, i) for a in launch.arguments] for i, launch in enumerate(launches)]
            arrays = {
                f"{letter}:{i}": value
                for letter, own in zip(LETTERS, values, strict=False)
                for i, value in enumerate(own)
                if isinstance(value, np.ndarray)
            }
            return Data(list(enumerate(values)), values, arrays)

        launch = {"grid": shapes[0].grid, "block": shapes[0].block} if alike else {"shapes": shapes}
        own = Trial(modules, shapes, launch, woven, data)
        yield made(Job(f"{first}+{second}", strategy, own.data(), approximate=True), own)


def made(job: Job, own: Trial) -> Job:
    """The job with its kernels made one, assembled and emulated."""
    try:
        with within(SECONDS):
            woven = own.woven()
    except (CannotWeave, InputError) as error:
        reason = reason_of(error)
        return replace(job, refused=reason, problem="" if reason else f"{type(error).__name__}: {error}")
    except Exception as error:  # a fault of goptx, which is one of this pair
        return replace(job, problem=f"{type(error).__name__}: {error}")
    try:
        for module, letter, shape in zip(own.modules, LETTERS, own.shapes, strict=False):
            entry = module.entries[0]
            cubin = assemble(str(module), entry=entry.name, arch=ARCH, fmad=False).cubin
            params = tuple(Parameter(letter, p.name, p.name, p.type, p.size) for p in entry.parameters)
            job.parts.append(Part(entry.name, cubin, params, shape))
        left = deepcopy(job.data)
        for k, values in left.separate:
            shape, letter = own.shapes[k], LETTERS[k]
            grid, block = shape.sizes("grid"), shape.sizes("block")
            goptx.emulate(own.modules[k], grid, block, values, shared=shape.shared or 0, letter=letter)
        job.emulated = left.compared
        given = chain.from_iterable(job.data.together)
        for start in woven.starts(**{"grid": None, "block": None, **own.launch}):
            cubin = assemble(woven.ptx, entry=start.entry, arch=ARCH, fmad=False).cubin
            arguments = [next(given) for p in start.params if p.kernel is not None]
            hidden = [np.frombuffer(value, np.uint32)[0] for value in start.hidden]
            job.together.append((len(job.parts), arguments + hidden))
            job.parts.append(Part(start.entry, cubin, start.params, start.shape))
    except GoptxError as error:
        return replace(job, problem=f"{type(error).__name__}: {error}"[:2000])
    return job


def packed(part: Part, values: list[object], address: Callable[[Array], np.uint64]) -> list[Any]:
    """The arguments of a launch, arrays by their addresses; without those that the kernel lacks."""
    numbers = [address(v) if isinstance(v, np.ndarray) and v.ndim else v for v in values]
    pairs = [(p, n) for p, n in zip(part.params, numbers, strict=True) if p.instead is None]
    return pack_arguments([p for p, _ in pairs], [n for _, n in pairs])
