"""The shapes in which kernels under check are launched: common to all of them, or each its own."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from goptx.checking.checked_kernel import Subject
from goptx.errors import InputError
from goptx.launch.shape import Axes, Extent, Shape, axes
from goptx.options import is_whole
from goptx.ptx.ir import whole_number

CTAS, THREADS = 4, 256  # the default


def launch_shapes(
    subjects: Sequence[Subject],
    grid: Extent,
    block: Extent,
    shared: int | None,
    shapes: Sequence[Shape] | None,
) -> tuple[tuple[Shape, ...], Sequence[Shape] | None]:
    """The shape in which each kernel is launched, and the shapes to weave the kernels with: the given ones, else the
    kernels' own if these differ, else None.

    Sizes that `shapes` leave open come from grid, block and shared, else from the kernel's specification, the demands
    of its entry, or another kernel's specification. Raises `InputError`.
    """
    if shared is not None and not (is_whole(shared) and shared >= 0):
        raise InputError(f"shared={shared!r} is not a number of bytes.")
    if shapes is not None and len(shapes) != len(subjects):
        raise InputError(f"shapes= takes one for each of the {len(subjects)} kernels.")
    usual = [_usual(subject, subjects, grid, block, shared) for subject in subjects]
    if shapes is not None:
        _check_open(shapes, grid=grid, block=block, shared=shared)
        return tuple(_filled(s, u) for s, u in zip(shapes, usual, strict=True)), shapes
    if len({(u.grid, u.block) for u in usual}) > 1 or (shared is None and all(u.shared for u in usual)):
        return tuple(usual), usual
    most = max(u.shared or 0 for u in usual)
    return tuple(Shape(u.grid, u.block, most) for u in usual), None


def _check_open(shapes: Sequence[Shape], **common: Extent) -> None:
    """Raises `InputError` for a common size that each of the shapes states itself, so that it would have no effect."""
    for what, given in common.items():
        sizes = [size for s in shapes for size in ((s.shared,) if what == "shared" else s.axes(what))]
        if given is not None and None not in sizes:
            raise InputError(f"{what}={given} has no effect: the shape of each kernel states its own; leave it out.")


def _usual(subject: Subject, subjects: Sequence[Subject], grid: Extent, block: Extent, shared: int | None) -> Shape:
    launches = [s.launch for s in subjects if s.launch]
    own, other = subject.launch, next(iter(launches), None)
    stated = own or other
    if subject.shape:
        block, shared = subject.shape.block, subject.shape.shared
    if block is None:
        block = own.block if own else _required([subject]) or (other.block if other else allowed_block(subjects))
    if grid is None:
        grid = stated.grid if stated else CTAS
    return Shape(grid, block, shared if shared is not None else own.shared if own else 0)


def _filled(shape: Shape, usual: Shape) -> Shape:
    """The shape, with the usual sizes for those that are open."""
    grid, block = (
        [u if s is None else s for s, u in zip(shape.axes(what), usual.axes(what), strict=True)]
        for what in ("grid", "block")
    )
    return Shape(grid, block, usual.shared if shape.shared is None else shape.shared, shape.cluster)


def _required(subjects: Sequence[Subject]) -> Axes | None:
    """The block that one of the entries requires."""
    directives = (d for s in subjects for d in s.entry.directives if d.name == ".reqntid")
    return next((axes(tuple(map(whole_number, d.values))) for d in directives), None)


def allowed_block(subjects: Sequence[Subject]) -> Axes:
    """The block that an entry requires, else the usual one or the most that all entries allow."""
    stated = [prod(map(whole_number, d.values)) for s in subjects for d in s.entry.directives if d.name == ".maxntid"]
    return _required(subjects) or (min([THREADS, *stated]), 1, 1)
