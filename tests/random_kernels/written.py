"""Makes a case of a drawn pair: the text of the kernels, and the shapes that the weaver gets."""

from __future__ import annotations

from random_kernels.case import Case
from random_kernels.frame import text
from random_kernels.functions import names
from random_kernels.tree import Pair

from goptx.launch.shape import Shape


def case_of(pair: Pair) -> tuple[Case, set[str]]:
    """The kernels as text, and what constructs they have."""
    texts, seen = zip(*map(text, pair.kernels), strict=True)
    shapes = tuple(k.shape for k in pair.kernels)
    stated = None
    if pair.unknown is not None:
        stated = tuple(_less(shape, unknown) for shape, unknown in zip(shapes, pair.unknown, strict=True))
    n, scale = (tuple(getattr(k, f) for k in pair.kernels) for f in ("n", "scale"))
    case = Case(
        texts, shapes, n, scale, pair.policy, pair.slicing, pair.seed, pair.divergence, stated, pair.placement
    )  # fmt: skip
    return case, set().union(*seen, _seen(pair))


def _less(shape: Shape, unknown: str) -> Shape:
    """With what is not known left out."""
    first = (None, *shape.grid[1:])
    grid = {"grid": None, "all": None, "axis": first}.get(unknown, shape.grid)
    block = None if unknown in ("block", "all") else shape.block
    return Shape(grid, block, None if unknown in ("shared", "all") else shape.shared)


def _seen(pair: Pair) -> set[str]:
    """What the kernels have together."""
    found = {f"{len(pair.kernels)} kernels"}
    if pair.unknown is None:
        found.add("one launch shape")
    else:
        found |= {f"own launch shapes, {u} not known" if u else "own launch shapes" for u in pair.unknown}
        found |= {
            f"{what}s that differ" for what in ("grid", "block") if len({getattr(k, what) for k in pair.kernels}) > 1
        }
    if len([k for k in pair.kernels if k.dynamic is not None]) > 1:
        found.add("dynamic shared memory of several kernels")
    own = [{n for n, f in zip(names(k.functions), k.functions, strict=True) if not f.common} for k in pair.kernels]
    if any(a & b for i, a in enumerate(own) for b in own[:i]):
        found.add("functions of one name")
    return found
