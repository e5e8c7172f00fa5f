"""What is known of kernels: what the caller says, and what the launch specifications beside their files say.

Requires: the shapes in which the kernels are launched. Ensures: a specification counts only where it describes that
launch. It changes estimates and the choices made by them, never what a kernel computes.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from goptx.cost.assumptions import Known, known_of, with_arguments
from goptx.errors import InputError
from goptx.launch.shape import Shape
from goptx.launch.specification import Launch, find_specification, specification_beside
from goptx.options import Assume
from goptx.sources.kernel_text import Chosen, choose_entry

LOG = logging.getLogger("goptx")


def known_launches(
    assume: Assume | None, kernels: Sequence[Chosen], shapes: Sequence[Shape | None] | None
) -> list[Known]:
    """What is known of each kernel in its shape. What `assume=` says goes before. Raises `InputError` where that is
    wrong."""
    given = shapes or [None] * len(kernels)
    known = known_of(assume, len(kernels))
    return [_with_arguments(*each) for each in zip(known, kernels, given, strict=True)]


def _with_arguments(known: Known, kernel: Chosen, shape: Shape | None) -> Known:
    if known.specification or known.arguments is not None or shape is None or not shape.known:
        return known
    launch = _beside(kernel.path, kernel.entry) if kernel.path else None
    parameters = choose_entry(kernel.module, kernel.entry).parameters
    if launch is None or kernel.path is None or not _is_of(launch, shape) or len(launch.arguments) != len(parameters):
        return known
    return replace(with_arguments(known, launch.arguments), beside=specification_beside(kernel.path).name)


def _is_of(launch: Launch, shape: Shape) -> bool:
    """Whether it is launched so."""
    described = Shape(launch.grid, launch.block, launch.shared)
    return all(described.axes(what) == shape.axes(what) for what in ("grid", "block"))


def _beside(ptx: Path, entry: str) -> Launch | None:
    """The launch in the specification beside a kernel's file. A file of another kind may lie there by chance."""
    try:
        return find_specification(ptx, entry)
    except InputError as error:
        LOG.warning("%s tells nothing about loops: %s", specification_beside(ptx), error)
        return None
