"""The kernels that are measured, with shapes and data from launch specifications, files beside them, and the caller."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from goptx.checking.checked_kernel import Subject
from goptx.checking.inputs import given_to, stated_arguments
from goptx.emulator.memory.caller_buffers import host_extents
from goptx.errors import InputError
from goptx.files_read import content_of
from goptx.launch.coarsening import ALONE
from goptx.launch.device_arrays import Extent
from goptx.launch.independence import Independence
from goptx.launch.native_code import NativeCode
from goptx.launch.parameter_names import letter_of
from goptx.launch.sample_data import check_seed
from goptx.launch.shape import Shape
from goptx.launch.specification import Launch, read_specification
from goptx.measuring.bench.workload import Fetched, Workload, is_array
from goptx.results.given_kernels import Source, in_own_shape, kernels_of
from goptx.sources.kernel_text import Chosen, choose_entry
from goptx.strategies.separate import separate
from goptx.weaving.link.target import ARCHITECTURE

REMEDY = "give each an array of its own; kernels that depend on each other cannot be tuned"
Specification = str | Path | Sequence[str | Path]
Arguments = Mapping[str, object] | Sequence[Sequence[object]]


@dataclass(frozen=True, slots=True)
class Measured:
    """The kernels, the shapes in which they are launched, which of them take other blocks, and the workload to run."""

    kernels: tuple[Chosen, ...]
    shapes: tuple[Shape, ...]
    tunable: tuple[bool, ...]
    workload: Workload

    @property
    def arch(self) -> str:
        """The architecture for which kernels are made."""
        return self.workload.separate.module.target[0]

    @property
    def name(self) -> str:
        """A short name, by those of the kernels' entries."""
        return "+".join("".join(c if c.isalnum() else "_" for c in kernel.entry)[:24] for kernel in self.kernels)

    def raised(self, device: str) -> Measured:
        """The same for the architecture of a device, if all kernels are made for lower ones and may run on it."""
        own = [ARCHITECTURE.match(kernel.module.target[0]) for kernel in self.kernels]
        there = ARCHITECTURE.match(device)
        if not there or not all(found and not found[2] and int(found[1]) < int(there[1]) for found in own):
            return self
        had = self.workload
        made = _workload(self.kernels, self.shapes, had.arguments, device, had.seed, had.tolerance)
        return replace(self, workload=made)


def measured(
    sources: Sequence[Source],
    spec: Specification | None = None,
    entries: Sequence[str | None] | None = None,
    shapes: Sequence[Shape] | None = None,
    args: Arguments | None = None,
    arch: str | None = None,
    seed: int = 0,
    tolerance: float | None = None,
    small: bool = False,
) -> Measured:
    """The kernels with their shapes and data.

    `spec`, launch specifications, describes the launches; without it, those beside the kernels' files do. The kernels
    are `sources`, or those of `spec` if no sources are given. `shapes` and `args`, by name ("A:2") or a sequence for
    each kernel, override the specifications. Arguments without a description are made up if possible. `small`: in the
    sizes for checks.

    Raises `InputError`, `DependentKernels`, and what reading PTX raises.
    """
    check_seed(seed)
    if tolerance is not None and not tolerance >= 0:
        raise InputError(f"tolerance={tolerance} is not the largest allowed difference; give a number from 0 on.")
    launches = _launches(spec)
    if launches and not sources:
        sources, entries = [launch.file for launch in launches], [launch.entry for launch in launches]
    kernels = kernels_of(sources, entries, least=1, what="tune()")
    subjects = [_subject(k, kernel) for k, kernel in enumerate(kernels)]
    stated_launches = _fitting(launches, subjects, spec) if launches else [s.specified for s in subjects]
    if small:
        stated_launches = [launch and launch.small() for launch in stated_launches]
    kernels = [_with_native_code(k, launch) for k, launch in zip(kernels, stated_launches, strict=True)]
    own = _shapes(kernels, subjects, stated_launches, shapes)
    given = _given(subjects, args, stated_launches)
    arguments = stated_arguments(subjects, stated_launches, given, own)
    return Measured(
        tuple(kernels),
        own,
        tuple(bool(launch and launch.tunable) for launch in stated_launches),
        _workload(kernels, own, arguments, arch, seed, tolerance),
    )


def _launches(spec: Specification | None) -> list[Launch]:
    paths = [] if spec is None else [spec] if isinstance(spec, str | Path) else list(spec)
    return [launch for path in paths for launch in read_specification(Path(path))]


def _with_native_code(kernel: Chosen, launch: Launch | None) -> Chosen:
    """The kernel with the machine code that its launch specification names, if any."""
    if launch is None or launch.cubin is None:
        return kernel
    code = content_of(launch.cubin, "machine code, or remove `cubin`")
    return replace(kernel, native=NativeCode(code, launch.entry))


def _subject(k: int, kernel: Chosen) -> Subject:
    entry = choose_entry(kernel.module, kernel.entry)
    if kernel.coarse != ALONE:
        raise InputError(
            f"{kernel.module.source}:{entry.line}: `{kernel.entry}` was coarsened; give the kernel without coarsening: "
            "tuning tries whether coarsening makes it faster."
        )
    return Subject(letter_of(k), kernel.module, entry, kernel.path)


def _fitting(launches: Sequence[Launch], subjects: Sequence[Subject], spec: object) -> list[Launch | None]:
    if len(launches) != len(subjects):
        raise InputError(f"{spec}: {len(launches)} [[kernel]] tables for {len(subjects)} kernels.")
    return [s.fitting(launch, Path(str(spec))) for s, launch in zip(subjects, launches, strict=True)]


def _shapes(
    kernels: Sequence[Chosen],
    subjects: Sequence[Subject],
    launches: Sequence[Launch | None],
    shapes: Sequence[Shape] | None,
) -> tuple[Shape, ...]:
    """The shape of each kernel. Raises `InputError` for a shape that is not wholly known."""
    if shapes is not None and (isinstance(shapes, Shape) or len(shapes) != len(subjects)):
        raise InputError(f"shapes= takes a goptx.Shape for each of the {len(subjects)} kernels.")
    found = []
    for k, (kernel, subject, launch) in enumerate(zip(kernels, subjects, launches, strict=True)):
        specified = Shape(launch.grid, launch.block, launch.shared) if launch else None
        shape = shapes[k] if shapes else specified
        shape = shape and in_own_shape(kernel, shape)
        if shape is None or shape.ctas is None or shape.threads is None or shape.shared is None:
            beside = f", or describe the launch in {subject.specification}" if subject.specification else ""
            raise InputError(
                f"{subject.at(subject.entry.line)}: the shape in which {subject} is launched is not known; give it, "
                f"for example shapes=[goptx.Shape(grid=1024, block=256), ...]{beside}."
            )
        found.append(shape)
    return tuple(found)


def _given(
    subjects: Sequence[Subject], args: Arguments | None, launches: Sequence[Launch | None]
) -> list[dict[int, object]]:
    """The given arguments of each kernel, by position; device arrays as their contents."""
    if args is None:
        return [{} for _ in subjects]
    if isinstance(args, Mapping):
        given = given_to(subjects, args, launches)
    else:
        if isinstance(args, str) or len(args) != len(subjects):
            raise InputError(f"args= takes a sequence for each of the {len(subjects)} kernels, or values by name.")
        given = [dict(enumerate(own)) for own in args]
        for subject, own in zip(subjects, given, strict=True):
            if len(own) != len(subject.entry.parameters):
                raise InputError(
                    f"{subject.at(subject.entry.line)}: {len(own)} arguments for {subject}, which has "
                    f"{len(subject.entry.parameters)} parameters."
                )
    fetch = Fetched()
    return [
        {i: value if isinstance(value, str) else fetch(subject.called(i), value) for i, value in own.items()}
        for subject, own in zip(subjects, given, strict=True)
    ]


def _workload(
    kernels: Sequence[Chosen],
    shapes: Sequence[Shape],
    arguments: Sequence[Sequence[object]],
    arch: str | None,
    seed: int,
    tolerance: float | None,
) -> Workload:
    whole = separate(*kernels, arch=arch, shapes=shapes)
    each = tuple(separate(k, arch=arch, shapes=[s]) for k, s in zip(kernels, shapes, strict=True))
    workload = Workload(whole, each, tuple(map(tuple, arguments)), seed, tolerance)
    extents: list[Extent | None] = []
    for param, value in workload.params:
        if isinstance(value, np.ndarray) and not is_array(param, value):
            value = value.tobytes()
        extents += host_extents([value])
    Independence(whole.params[: len(extents)]).check(extents, REMEDY)
    return workload
