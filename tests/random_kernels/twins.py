"""A random kernel beside itself, on one input: equal loads stand in all kinds of control flow."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from random import Random
from typing import Any

import numpy as np
from random_kernels.case import NAMES, Case
from random_kernels.composed import COMPARED
from random_kernels.data import arguments
from random_kernels.tree import Pair
from random_kernels.trial import LETTERS, Array, Data, Trial
from random_kernels.written import case_of

import goptx
from goptx.analysis.values.pointer_effects import pointer_accesses
from goptx.ptx.parse import parse

NUMBERS = (3, 4)  # n and scale, among the parameters; the input is the first


def case(pair: Pair, generator: str) -> tuple[Case, set[str]]:
    """The first kernel twice; mostly its numbers are one too."""
    found, seen = case_of(pair)
    choose = Random(f"{found.seed} {found.n}")
    texts = (found.texts[0],) * 2
    shapes = (found.shapes[0],) * 2
    n = (found.n[0], found.n[0] if choose.random() < 0.8 else found.n[1])
    stated = shapes if found.stated is not None or shapes[0].shared else None  # arrays of both must not overlap
    return replace(found, texts=texts, shapes=shapes, n=n, scale=(found.scale[0],) * 2, stated=stated), seen


def woven(case: Case) -> Trial:
    modules = [parse(text, f"{name}.ptx") for text, name in zip(case.texts, NAMES, strict=False)]
    numbers = [i for i, given in zip(NUMBERS, (case.n, case.scale), strict=True) if len(set(given)) == 1]
    pairs = [(f"A:{i}", f"B:{i}") for i in (0, *numbers)]
    if not _is_only_read(case):
        del pairs[0]
    launch: dict[str, Any] = {"shapes": case.shapes}
    if case.stated is None:
        shape = case.shapes[0]
        launch = {"grid": shape.grid, "block": shape.block, "shared": shape.shared}
    make = partial(
        goptx.weave, *modules, same=pairs, policy=case.policy,
        slicing=case.slicing, divergence=case.divergence, shapes=case.stated,
    )  # fmt: skip
    return Trial(modules, case.shapes, launch, make, partial(_data, case), counted=False)


def _is_only_read(case: Case) -> bool:
    """Whether that is known of the input. Copies count as writes of both places."""
    module = goptx.read(case.texts[0])
    known = pointer_accesses(module.entries[0], module.address_size)
    return next(iter(known.values())) == "read" and "cp.async" not in case.texts[0]


def _data(case: Case) -> Data:
    values = [
        arguments(shape, n, scale, case.seed + k, text=text)
        for k, (shape, n, scale, text) in enumerate(zip(case.shapes, case.n, case.scale, case.texts, strict=True))
    ]
    if _is_only_read(case):
        values[1][0] = values[0][0]
    left: dict[str, Array] = {}
    for letter, own in zip(LETTERS, values, strict=False):
        arrays = ((name, own[i]) for i, name in COMPARED.items() if i < len(own))
        left |= {f"{letter}:{name}": array for name, array in arrays if isinstance(array, np.ndarray)}
    return Data(list(enumerate(values)), values, left)
