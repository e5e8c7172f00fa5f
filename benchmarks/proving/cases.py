"""The kernels of `benchmarks/proofs.py`: pairs in groups, and the ways in which each is fused.

Requires nothing but goptx and what it needs: random kernels are read from files (`drawing.py` makes them).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any

import suite_a
import suite_b
from random_kernels.case import Case, read, regressions

import goptx
from goptx.launch.shape import Shape
from goptx.launch.specification import Launch, read_specification
from goptx.options import Strategy
from goptx.ptx.ir import Module

ROOT = Path(__file__).parents[2]
KERNELS = ROOT / "examples" / "kernels"
CORPUS = ROOT / "tests" / "corpus" / "ptx"
CONSTRUCTS = ROOT / "tests" / "constructs" / "constructs.sm_80.ptx"
TRITON = ("attention", "layer_norm", "matmul", "matmul_by_descriptors", "matmul_fp8", "scan_and_sort", "softmax")
SHARED = 16_384  # dynamic shared bytes of a Triton kernel; its text does not say how many it takes
BLOCK = 256  # threads of a construct
WITH_SHAPES: tuple[Strategy, ...] = ("interleave", "horizontal")
WAYS: Mapping[str, tuple[Strategy, bool]] = {  # the strategy, and whether the kernels' shapes are stated
    "weave": ("weave", False),
    "vertical": ("vertical", False),
    "interleave": ("interleave", True),
    "horizontal": ("horizontal", True),
    "weave in shapes": ("weave", True),
    "vertical in shapes": ("vertical", True),
}
STRATEGIES = tuple(way for way in WAYS if " " not in way)


@dataclass(frozen=True, slots=True)
class Kernel:
    """`stated`: it has dynamic shared memory, so that of two such kernels the shapes are needed."""

    name: str
    file: Path
    entry: str
    shape: Shape
    stated: bool = False


Pair = tuple[Kernel, Kernel] | Path  # kernels, or the file of a random case


def groups(random: Path | None) -> Iterator[tuple[str, str, Pair]]:
    """All pairs, with their groups and names; `random` is the folder of random cases."""
    yield from _named("examples", examples())
    yield from _named("constructs", constructs())
    for shape in suite_a.SHAPES:
        launches = [suite_a.launches_of(name, shape)[0] for name in suite_a.KERNELS]
        yield from _named(f"suite A, {shape} shape", [_kernel(launch) for launch in launches])
    for name in suite_b.PAIRS:
        first, second = map(_kernel, suite_b.launches_of(name))
        yield "suite B", name, (first, second)
    yield from _named("suite C", [_triton(name) for name in TRITON if (CORPUS / f"{name}.sm_90.triton.ptx").exists()])
    for path in regressions():
        if len(read(path).texts) == 2:
            yield "regressions", path.stem, path
    for path in sorted(random.glob("*.ptx")) if random else ():
        yield "random", path.stem, path


def _named(group: str, kernels: Sequence[Kernel]) -> Iterator[tuple[str, str, Pair]]:
    for pair in combinations_with_replacement(kernels, 2):
        yield group, "+".join(k.name for k in pair), pair


def examples() -> list[Kernel]:
    return [_kernel(read_specification(path)[0]) for path in sorted(KERNELS.glob("*.toml"))]


def constructs() -> list[Kernel]:
    return [Kernel(e.name, CONSTRUCTS, e.name, Shape(None, BLOCK)) for e in _read(CONSTRUCTS).entries]


def _kernel(launch: Launch) -> Kernel:
    return Kernel(
        launch.entry, launch.file, launch.entry, Shape(launch.grid, launch.block, launch.shared), launch.shared > 0
    )  # fmt: skip


def _triton(name: str) -> Kernel:
    """Triton states the block (`.reqntid`), and knows the dynamic shared memory when it launches."""
    file = CORPUS / f"{name}.sm_90.triton.ptx"
    (entry,) = _read(file).entries
    (threads,) = next(d.values for d in entry.directives if d.name == ".reqntid")
    return Kernel(name, file, entry.name, Shape(None, int(str(threads)), SHARED), stated=True)


@cache
def _read(path: Path) -> Module:
    return goptx.read(path)


def fusing(pair: Pair, way: str) -> Callable[[], goptx.Woven]:
    """What makes the fused kernel. Kernels are read before, so that reading them counts as weaving only where a user
    weaves files."""
    strategy, shaped = WAYS[way]
    if isinstance(pair, Path):
        return _random(read(pair), strategy, shaped)
    shapes = [k.shape for k in pair] if shaped or all(k.stated for k in pair) else None
    entries = [k.entry for k in pair]
    return lambda: goptx.fuse(*(k.file for k in pair), strategy=strategy, entries=entries, shapes=shapes)


def _random(case: Case, strategy: Strategy, shaped: bool) -> Callable[[], goptx.Woven]:
    """With the options that were drawn for it."""
    options: dict[str, Any] = {}
    stated = case.stated or (case.shapes if shaped else None)
    if stated is not None:
        options["placement"] = case.placement
        if strategy == "horizontal":  # it needs blocks
            stated = tuple(Shape(s.grid, o.block, s.shared) for s, o in zip(stated, case.shapes, strict=True))
    if strategy in ("weave", "vertical"):
        options["divergence"] = case.divergence
    if strategy == "weave":
        options |= {"policy": case.policy, "slicing": case.slicing}
    return lambda: goptx.fuse(*case.texts, strategy=strategy, shapes=stated, **options)
