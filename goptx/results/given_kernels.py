"""What is to be woven: PTX in one form or another, or a fused kernel, which counts as the kernels that it is of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from goptx.errors import InputError
from goptx.launch.shape import Shape
from goptx.options import is_whole
from goptx.ptx.ir import Module
from goptx.results.fused_kernel import Woven
from goptx.sources.kernel_text import MOST_INLINED, Chosen, Compiled, choose_entry
from goptx.sources.read import read, taken
from goptx.sources.scratch_parameters import without_scratch_parameters

# An object of a framework may have any type; goptx.sources finds out whether it has PTX.
Source = str | bytes | Path | Compiled | Module | Woven | Chosen | Any
MOST_KERNELS = 26  # there are as many letters


def kernels_of(
    sources: Sequence[Source],
    entries: Sequence[str | None] | None = None,
    least: int = 2,
    what: str = "weave()",
    max_inlined: int | None = None,
) -> list[Chosen]:
    """The kernels of all sources in order; `entries` names one for each source, and `max_inlined` is their limit, if it
    is given. Raises `PtxSyntaxError`, and `InputError` for entries that do not fit, a limit that is not a number, and
    for fewer kernels than the `least` that `what` takes."""
    if isinstance(entries, str) or not isinstance(entries, Sequence | None):
        raise InputError(f'entries= takes one name for each kernel, for example entries=["{entries}", None].')
    if entries is not None and len(entries) != len(sources):
        raise InputError(f"entries= names {len(entries)} entries for {len(sources)} kernels; give one each or None.")
    found: list[Chosen] = []
    for source, entry in zip(sources, entries or [None] * len(sources), strict=True):
        if not isinstance(source, Woven):
            found.append(chosen_from(source, entry, what))
        elif not source.is_separate and (source.depends or any(p.instead is not None for p in source.params)):
            raise InputError(
                f"the kernels of `{source.name}` depend on each other, which is lost if they are separated; give "
                "its `.ptx`, which is one kernel."
            )
        elif entry in (None, source.name):
            found += source.chosen
        else:
            raise InputError(f"entries= names `{entry}` of the woven kernel `{source.name}`; give None there.")
    if sum(kernel.coarse.factor for kernel in found) < least or len(found) > MOST_KERNELS:
        few = {1: "one", 2: "two"}[least]
        raise InputError(f"{what} takes {few} to {MOST_KERNELS} kernels, got {len(found)}.")
    return found if max_inlined is None else [replace(k, max_inlined=_checked_limit(max_inlined)) for k in found]


def _checked_limit(max_inlined: int) -> int:
    if not is_whole(max_inlined) or max_inlined < 1:
        raise InputError(
            f"max_inlined `{max_inlined}` is not a number of instructions; give one above 0, such as {MOST_INLINED}, "
            "or None."
        )
    return max_inlined


def chosen_from(source: Source, entry: str | None, what: str) -> Chosen:
    """The one kernel of a source. Raises `InputError` where it has several; `what` takes one."""
    if isinstance(source, Chosen):
        return source
    if not isinstance(source, Woven):
        return _chosen(taken(source), entry)
    if entry not in (None, source.name):
        raise InputError(f"`{entry}` is not an entry of the woven kernel `{source.name}`; give None there.")
    if len(source.chosen) != 1:
        letters = ", ".join(source.report.kernels)
        raise InputError(
            f"{what} takes one kernel, and `{source.name}` is woven of {letters}; do so with each of them."
        )
    return source.chosen[0]


def _chosen(source: str | bytes | Path | Compiled | Module, entry: str | None) -> Chosen:
    module = read(source)
    if isinstance(source, Compiled):
        function = choose_entry(module, source.entry if entry is None else entry)
        module = without_scratch_parameters(module, function, source.scratch) if source.scratch else module
        native = source.native if function.name == source.entry else None
        return Chosen(module, function.name, shape=source.shape, native=native)
    return Chosen(module, choose_entry(module, entry).name, source if isinstance(source, Path) else None)


def shapes_of(
    sources: Sequence[Source], shapes: Sequence[Shape] | None, kernels: Sequence[Chosen]
) -> Sequence[Shape] | None:
    """The shape of each kernel, completed by what the kernel was compiled for; None where all have one common launch
    shape. Raises `InputError`."""
    plans = [s.plan for s in sources if isinstance(s, Woven) and s.plan and not s.plan.common]
    if shapes is None:
        if len(plans) == len(sources):
            return [shape for plan in plans for shape in plan.shapes]
        if plans:
            raise InputError(
                "kernels that were woven for shapes of their own are woven again by shapes= for each of the "
                f"{len(kernels)} kernels."
            )
        if len({k.shape.block for k in kernels if k.shape}) < 2:
            return None
        shapes = [Shape(None, None, None)] * len(kernels)  # they have no block in common
    if not isinstance(shapes, Sequence) or not all(isinstance(s, Shape) for s in shapes) or len(shapes) != len(kernels):
        raise InputError(
            f"shapes= takes a goptx.Shape for each of the {len(kernels)} kernels, as in "
            "shapes=[goptx.Shape(grid=1024, block=256), goptx.Shape(grid=(33, 7), block=(16, 16))]."
        )
    return [in_own_shape(k, s) for k, s in zip(kernels, shapes, strict=True)]


def in_own_shape(kernel: Chosen, given: Shape) -> Shape:
    """The shape with the block and the bytes of shared memory that the kernel was compiled for. A shape with 0 bytes
    does not give any. Raises `InputError` where the given shape contradicts the kernel's own."""
    own = kernel.shape
    if own is None:
        return given
    block = tuple(o if g is None else g for g, o in zip(given.axes("block"), own.axes("block"), strict=True))
    shared = own.shared if own.shared is not None and not given.shared else given.shared
    made = replace(given, block=block, shared=shared)
    if made.axes("block") != own.axes("block") or made.shared != own.shared:
        raise InputError(
            f"{kernel.module.source}: `{kernel.entry}` was compiled for a block of {own.threads} threads and "
            f"{own.shared} bytes of dynamic shared memory, which the shape {given} contradicts; give its grid only: "
            "goptx.Shape(grid)."
        )
    return made


def own_shapes_of(
    sources: Sequence[Source], shapes: Sequence[Shape] | None, kernels: Sequence[Chosen], strategy: str
) -> Sequence[Shape]:
    """As `shapes_of`, for a strategy that needs the shapes, and that divides threads or CTAs among several kernels."""
    if len(kernels) < 2:
        raise InputError(
            f"strategy {strategy} takes two or more kernels, got {len(kernels)}; a coarsened one alone is made by "
            "goptx.coarsen."
        )
    found = shapes_of(sources, shapes, kernels)
    if found is None:
        raise InputError(
            f"strategy {strategy} needs the shape of each kernel: shapes=[goptx.Shape(grid=1024, block=256), ...], "
            "--shape A=1024:256; sizes that are known only at launch may be left out."
        )
    return found
