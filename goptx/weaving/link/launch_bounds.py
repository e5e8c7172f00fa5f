"""Reconciles the launch bounds of kernels that share one launch shape, or states those of the fused kernel's own.
Clusters are done in clusters.py.

Requires: linked kernels, and the plan of their launch where they have shapes of their own, which then agree with their
bounds. Ensures: what the fused kernel states holds for every kernel. What cannot be preserved is refused or noted,
never dropped in silence.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from goptx.errors import CannotWeave
from goptx.launch.launch_plan import Plan
from goptx.ptx.ir import Directive, whole_number
from goptx.weaving.link.clusters import DIRECTIVES
from goptx.weaving.model import Kernel
from goptx.weaving.shapes.folded import Folded
from goptx.weaving.shapes.partitioned import Partitioned

_KNOWN = (".maxntid", ".reqntid", ".minnctapersm", ".maxnreg", ".maxnctapersm")

Found = dict[str, list[tuple[Kernel, tuple[int, ...]]]]  # by directive, the kernels that have it and its values


def launch_bounds(kernels: Sequence[Kernel], plan: Plan | None = None) -> tuple[tuple[Directive, ...], tuple[str, ...]]:
    """The directives of the fused kernel, and notes on what was left out. Raises `CannotWeave` where kernels
    contradict."""
    notes: list[str] = []
    found: Found = {}
    for kernel in kernels:
        for directive in kernel.entry.directives:
            if directive.name in (".pragma", ".language"):
                notes.append(f"{kernel.at(directive.line)}: `{directive}` is left out")
            elif directive.name in _KNOWN:
                values = tuple(whole_number(v) for v in directive.values)
                found.setdefault(directive.name, []).append((kernel, values))
            elif directive.name not in DIRECTIVES:
                raise CannotWeave(
                    f"{kernel.at(directive.line)}: `{directive}` cannot be preserved in a woven kernel; "
                    "use separate launches.",
                    rule="launch-bounds",
                )
    result = _planned(plan, found.get(".maxntid", ())) if plan else _common(found)
    for name in (".minnctapersm", ".maxnctapersm"):
        stated = found.get(name, [])
        if stated and isinstance(plan, Partitioned):
            notes.append(f"{name} speaks of CTAs without the other kernels' warps and is left out")
        elif len(stated) == len(kernels) and result:
            ctas = min(-(-v[0] // (plan.coarse[i].factor if plan else 1)) for i, (_, v) in enumerate(stated))
            result.append(Directive(name, (str(ctas),)))
            if ctas != min(v[0] for _, v in stated):
                notes.append(f"{name} is {ctas}, for a CTA does the work of several")
        elif stated:
            notes.append(f"{name} is stated by {len(stated)} of {len(kernels)} kernels and left out")
    if isinstance(plan, Folded) and plan.registers_at_entry:
        result.append(Directive(".maxnreg", (str(plan.registers_at_entry),)))
    if ".maxnreg" in found:
        notes.append(".maxnreg of one kernel does not fit the woven one and is left out")
    return tuple(result), tuple(notes)


def _common(found: Found) -> list[Directive]:
    """Of the block that all kernels share."""
    required = [(k, _axes(v)) for k, v in found.get(".reqntid", ())]
    if len({v for _, v in required}) > 1:
        described = " and ".join(f"{k.at(k.entry.line)} requires {'x'.join(map(str, v))}" for k, v in required)
        raise CannotWeave(
            f"{described} threads, and kernels share one block unless each is given its shape (shapes=, --shape).",
            rule="launch-bounds",
        )
    most = [(k, _axes(v)) for k, v in found.get(".maxntid", ())]
    for kernel, limit in most:
        for other, shape in required:
            if prod(shape) > prod(limit):
                raise CannotWeave(
                    f"{other.at(other.entry.line)} requires {shape} threads, kernel {kernel.letter} allows {limit}; "
                    "give each its shape (shapes=, --shape) or use separate launches.",
                    rule="launch-bounds",
                )
    if required:
        return [Directive(".reqntid", tuple(map(str, required[0][1])))]
    if most:
        fewest = min((v for _, v in most), key=prod)
        return [Directive(".maxntid", tuple(map(str, fewest)))]
    return []


def _planned(plan: Plan, stated: Sequence[tuple[Kernel, tuple[int, ...]]]) -> list[Directive]:
    """Of the fused kernel's own block; where that is not known, of the most threads that its kernels allow."""
    result: list[Directive] = []
    limits = {k.letter: prod(v) for k, v in stated}
    most = [s.threads or limits.get(k) for k, s in zip(plan.letters, plan.shapes, strict=True)]
    if plan.shape.threads is not None:
        result.append(Directive(".reqntid", tuple(map(str, plan.shape.axes("block")))))
    elif None not in most:
        result.append(Directive(".maxntid", (str(max(n or 0 for n in most)), "1", "1")))
    return result


def _axes(values: tuple[int, ...]) -> tuple[int, int, int]:
    x, y, z = (*values, 1, 1)[:3]
    return x, y, z
