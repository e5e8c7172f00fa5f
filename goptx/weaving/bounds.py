"""Reconciles the launch bounds of kernels that share one launch shape, clusters apart (clusters.py).

Requires: linked kernels. Ensures: what W states holds for every kernel; what cannot be kept is refused or
noted, never dropped in silence.
"""

from __future__ import annotations

from collections.abc import Sequence

from goptx.errors import CannotWeave
from goptx.ptx.ir import Directive, whole_number
from goptx.weaving.clusters import DIRECTIVES
from goptx.weaving.link import Kernel


def launch_bounds(kernels: Sequence[Kernel]) -> tuple[tuple[Directive, ...], tuple[str, ...]]:
    """The directives of W, and notes on what was left out. Raises `CannotWeave` where kernels contradict."""
    notes: list[str] = []
    found: dict[str, list[tuple[Kernel, tuple[int, ...]]]] = {}
    for kernel in kernels:
        for directive in kernel.entry.directives:
            if directive.name == ".pragma":
                notes.append(f"{kernel.at(directive.line)}: `{directive}` is left out")
            elif directive.name in (".maxntid", ".reqntid", ".minnctapersm", ".maxnreg", ".maxnctapersm"):
                values = tuple(whole_number(v) for v in directive.values)
                found.setdefault(directive.name, []).append((kernel, values))
            elif directive.name not in DIRECTIVES:
                raise CannotWeave(
                    f"{kernel.at(directive.line)}: `{directive}` cannot be kept in a woven kernel; "
                    "use separate launches."
                )
    result: list[Directive] = []
    required = [(k, _axes(v)) for k, v in found.get(".reqntid", ())]
    if len({v for _, v in required}) > 1:
        described = " and ".join(f"{k.at(k.entry.line)} requires {'x'.join(map(str, v))}" for k, v in required)
        raise CannotWeave(f"{described} threads; woven kernels share one block shape.")
    most = [(k, _axes(v)) for k, v in found.get(".maxntid", ())]
    for kernel, limit in most:
        for other, shape in required:
            if shape[0] * shape[1] * shape[2] > limit[0] * limit[1] * limit[2]:
                raise CannotWeave(
                    f"{other.at(other.entry.line)} requires {shape} threads, kernel {kernel.letter} allows {limit}."
                )
    if required:
        result.append(Directive(".reqntid", tuple(map(str, required[0][1]))))
    elif most:
        fewest = min((v for _, v in most), key=lambda v: v[0] * v[1] * v[2])
        result.append(Directive(".maxntid", tuple(map(str, fewest))))
    for name in (".minnctapersm", ".maxnctapersm"):
        stated = found.get(name, [])
        if len(stated) == len(kernels) and result:
            result.append(Directive(name, (str(min(v[0] for _, v in stated)),)))
        elif stated:
            notes.append(f"{name} is stated by {len(stated)} of {len(kernels)} kernels and left out")
    if ".maxnreg" in found:
        notes.append(".maxnreg of one kernel does not fit the woven one and is left out")
    return tuple(result), tuple(notes)


def _axes(values: tuple[int, ...]) -> tuple[int, int, int]:
    x, y, z = (*values, 1, 1)[:3]
    return x, y, z
