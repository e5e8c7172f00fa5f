"""Results of every strategy, made once, for the tests of anatomies, timelines and activities."""

from functools import cache
from pathlib import Path
from typing import Any

import goptx
from goptx import Shape
from goptx.results.fused_kernel import Woven

KERNELS = Path(__file__).parents[2] / "examples" / "kernels"
NAMES = (
    "pair", "barriers", "phases", "three", "coarsened", "copies", "left_over", "vertical", "horizontal", "interleave",
    "ratio", "separate", "streams", "shapes", "auto",
)  # fmt: skip


def path(name: str) -> Path:
    return KERNELS / f"{name}.sm_90.ptx"


@cache
def result(name: str) -> Woven:
    gelu, harris, lud, sort = map(path, ("gelu", "harris", "lud", "sort"))
    known = [Shape(1024, 256), Shape(512, 128)]
    match name:
        case "pair":
            return goptx.weave(gelu, harris)
        case "barriers":
            return goptx.weave(lud, sort)
        case "phases":
            return goptx.weave(path("scan"), path("layernorm"), shapes=known)
        case "three":
            return goptx.weave(gelu, harris, lud)
        case "coarsened":
            return goptx.weave(goptx.coarsen(sort, 2), sort)
        case "copies":
            return goptx.coarsen(gelu, 4)
        case "left_over":
            return goptx.coarsen(sort, 4, shape=Shape(1022, 256))
        case "shapes":
            return goptx.weave(harris, sort, shapes=known, placement="front")
        case "interleave":
            return goptx.fuse(harris, sort, strategy="interleave", shapes=[Shape(4, 256), Shape(8, 128)])
        case "ratio":
            return goptx.fuse(harris, sort, strategy="interleave", ratio=(2, 1), shapes=[Shape(4), Shape(8)])
        case "separate" | "streams":
            return goptx.fuse(gelu, sort, strategy="separate", streams=name == "streams", shapes=known)
        case "auto":
            return goptx.fuse(gelu, harris, strategy="auto", shapes=[Shape(1 << 20, 256)] * 2)
        case "vertical":
            return goptx.fuse(gelu, sort, strategy=name)
    strategy: Any = name
    return goptx.fuse(harris, sort, strategy=strategy, shapes=known)
