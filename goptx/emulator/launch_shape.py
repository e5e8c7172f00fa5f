"""The shape in which kernels under check are launched, common to all of them."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from goptx.analysis.ranges import Extent
from goptx.emulator.emulate import extents
from goptx.emulator.subject import Subject
from goptx.errors import InputError
from goptx.ptx.ir import whole_number

CTAS, THREADS = 4, 256  # where nothing says otherwise

Given = int | Sequence[int] | None


def launch_shape(
    subjects: Sequence[Subject], grid: Given, block: Given, shared: int | None
) -> tuple[Extent, Extent, int]:
    """CTAs, threads of one, and bytes of dynamic shared memory: as given, else as the kernels' specifications say,
    else as their entries demand. Raises `InputError` where specifications contradict each other."""
    launches = [subject.launch for subject in subjects if subject.launch]
    dynamic = max((launch.shared for launch in launches), default=0) if shared is None else shared
    if dynamic < 0:
        raise InputError(f"shared={dynamic} is below 0.")
    return (
        _common("grid", grid, subjects) or (CTAS, 1, 1),
        _common("block", block, subjects) or _demanded(subjects),
        dynamic,
    )


def _common(name: str, given: Given, subjects: Sequence[Subject]) -> Extent | None:
    if given is not None:
        return extents(name, given)
    stated = {extents(name, getattr(s.launch, name)): s.specification for s in subjects if s.launch}
    if len(stated) > 1:
        listed = " and ".join(f"{path} says {'x'.join(map(str, extent))}" for extent, path in stated.items())
        raise InputError(
            f"{listed} for {name}, but woven kernels share one; give what suits all of them ({name}=, --{name})."
        )
    return next(iter(stated), None)


def _demanded(subjects: Sequence[Subject]) -> Extent:
    """The block that an entry requires, else the usual one or the most that all entries allow."""
    most = THREADS
    for directive in (d for s in subjects for d in s.entry.directives):
        if directive.name in (".reqntid", ".maxntid"):
            x, y, z = (*map(whole_number, directive.values), 1, 1)[:3]
            if directive.name == ".reqntid":
                return x, y, z
            most = min(most, prod((x, y, z)))
    return most, 1, 1
