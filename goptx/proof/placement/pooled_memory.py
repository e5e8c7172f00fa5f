"""Shared arrays of kernels that are parts of one dynamic array of the fused kernel.

Requires: the witness' claim at which byte each begins. Ensures: no two arrays of one CTA have a byte in common, except
the dynamic ones of one kernel, which begin at one place in the kernel, too.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from itertools import combinations

from goptx.proof.code.kernel_code import NotProved, Program, Source
from goptx.proof.witness import FusedLaunch
from goptx.ptx.ir import Variable

POOL = "the pool"  # what is not a name in PTX
_TAIL = re.compile(r"\{\}(\+[0-9]+)?$")


@dataclass(frozen=True, slots=True)
class Part:
    """The bytes of the pool from `first` on; `size` is None where it is not known."""

    first: int
    size: int | None
    dynamic: bool

    def overlaps(self, other: Part) -> bool:
        one, two = sorted((self, other), key=lambda p: p.first)
        return one.size is None or two.first < one.first + one.size


def part_of(first: object, variable: Variable, pool: Variable | None, shared: int | None) -> Part:
    """Where a variable of a kernel is, which has `shared` bytes of dynamic memory. Raises `NotProved`."""
    dynamic = variable.dims[:1] == ("",)
    if pool is None or pool.space != ".shared" or pool.dims[:1] != ("",) or ".extern" not in pool.linkage:
        raise NotProved(1, f"the witness says that `{variable.name}` is in a dynamic array, which is not declared")
    if variable.space != ".shared" or variable.init or type(first) is not int or first < 0:
        raise NotProved(pool.line, f"`{variable.name}` cannot be in the dynamic array `{pool.name}`")
    if first % variable.alignment or pool.alignment % variable.alignment:
        raise NotProved(pool.line, f"`{variable.name}` would not be aligned in the dynamic array `{pool.name}`")
    return Part(first, shared if dynamic else variable.size, dynamic)


def check_parts(parts: Mapping[tuple[str, str], Part], pools: Collection[str], launch: FusedLaunch | None) -> None:
    """That parts do not overlap; kernels whose CTAs are interleaved have all to themselves. Raises `NotProved`."""
    if len(pools) > 1:
        raise NotProved(1, "shared arrays of the kernels are in several dynamic arrays, which begin at one place")
    for ((one, name), first), ((two, other), second) in combinations(parts.items(), 2):
        same = one == two and first.dynamic and second.dynamic
        separate = launch is not None and launch.interleaved and one[0] != two[0]
        if not separate and (first.first != second.first if same else first.overlaps(second)):
            raise NotProved(1, f"the shared arrays `{name}` of {one} and `{other}` of {two} may overlap")


def in_pool(kernel: Program, places: Mapping[str, int]) -> Program:
    """The kernel with offsets in `POOL` in place of these variables."""
    steps = tuple(replace(s, sources=tuple(_moved(o, places) for o in s.sources)) for s in kernel.steps)
    return replace(kernel, steps=steps) if places else kernel


def _moved(source: Source, places: Mapping[str, int]) -> Source:
    if len(source.names) != 1 or source.names[0] not in places:
        return source
    place = places[source.names[0]]
    if source.offset is not None:
        return replace(source, names=(POOL,), offset=source.offset + place)
    found = _TAIL.match(source.text)
    if found is None or source.negated:
        return source
    return replace(source, text=f"{{}}+{place + int(found[1] or 0)}", names=(POOL,))
