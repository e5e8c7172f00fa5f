"""The pairs and groups of suite C as what goptx measures and tunes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from goptx.launch.parameter_names import letter_of
from goptx.launch.shape import Shape
from goptx.launch.specification import read_specification
from goptx.tuning.measured import Measured, measured
from suite_c import PAIRS, specifications_of
from suite_c.sizes import (
    HEADS,
    KEY_HEADS,
    NARROW,
    SIZED,
    WIDTH,
    Sized,
    adam_step,
    embedding_bag,
    gemv,
    head_norm,
    narrow_product,
    rotary,
)

NORM_TOKENS = (1, 8, 32, 128, 256, 2048)
ROTARY_TOKENS = (1, 32, 256)
BAGS, PER_BAG = (256, 2048), (20, 20, 40, 8, 1, 60)
STEPS = (1 << 22, 1 << 20, 1 << 20, 1 << 16)  # elements of the optimizer's tensors
PRODUCT_TOKENS = (128, 256)
GROUPS: Mapping[str, tuple[Sized, ...]] = {
    **{f"query and key norms, {n} tokens": (head_norm(n, HEADS), head_norm(n, KEY_HEADS)) for n in NORM_TOKENS},
    **{f"query and key rotary embedding, {n} tokens": (rotary(n, HEADS), rotary(n, KEY_HEADS)) for n in ROTARY_TOKENS},
    "three GEMVs, 1 token": (gemv(WIDTH), gemv(NARROW), gemv(NARROW)),
    **{f"six embedding bags, {n} samples": tuple(embedding_bag(n, most) for most in PER_BAG) for n in BAGS},
    "four optimizer steps": tuple(map(adam_step, STEPS)),
    **{f"two small GEMMs, {n} tokens": (narrow_product(n), narrow_product(n)) for n in PRODUCT_TOKENS},
    "GEMM with 64 rows and GEMV": (narrow_product(64, WIDTH), gemv(WIDTH)),
}
BARS: Mapping[str, float] = {
    "product+adam_step": 1.17,
    "product+embedding": 1.15,
    "attention+adam_step": 1.25,
    "attention+embedding": 1.15,
    "attention+decode_attention": 1.12,
}
LEAST = 0.99  # the bar of all others
AUTO_LEAST = 0.97  # of what `auto` chooses
PAIR_MEAN, GROUP_MEAN = 1.09, 1.08  # of the geometric means, tuned
NAMED = 4  # of the five pairs with a bar of their own that have to reach it
SHARE = 0.95  # of what tuning finds, which auto should reach on half of the pairs


def bar_of(name: str) -> float:
    return BARS.get(name, LEAST)


def kernels_of(name: str) -> tuple[Sized, ...]:
    """Of a pair such as "product+softmax", or of a group."""
    if name in GROUPS:
        return GROUPS[name]
    return tuple(SIZED.get(kernel, Sized(kernel)) for kernel in name.split("+"))


def is_known(name: str) -> bool:
    return name in GROUPS or name in PAIRS


def given(name: str, small: bool = False) -> dict[str, Any]:
    """The arguments of `goptx.tune` and `measured` that describe the case; `small`: in the sizes for checks."""
    kernels = kernels_of(name)
    specifications = specifications_of("+".join(kernel.name for kernel in kernels))
    if small:
        return {"spec": specifications}
    shapes, args = [], {}
    for number, (kernel, path) in enumerate(zip(kernels, specifications, strict=True)):
        launch, (usual,) = kernel.launch(), read_specification(path)
        shapes.append(Shape(launch.grid, launch.block, launch.shared))
        for i, (argument, own) in enumerate(zip(launch.arguments, usual.arguments, strict=True)):
            if argument != own:
                args[f"{letter_of(number)}:{i}"] = argument
    return {"spec": specifications, "shapes": shapes, "args": args or None}


@cache
def measured_of(name: str, small: bool = False) -> Measured:
    """`small`: in the sizes for checks."""
    return measured([], **given(name, small), small=small)
