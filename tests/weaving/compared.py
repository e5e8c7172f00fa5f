"""Kernels of shaped_kernels.py, or like them, woven and compared with what each does alone."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np
from weaving.shaped_kernels import KERNELS, WORDS

import goptx
from goptx import Shape
from goptx.emulator.instructions.lanewise import Array
from goptx.options import Axis
from goptx.results.fused_kernel import Woven
from goptx.results.given_kernels import Source, chosen_from

LIMIT = 150  # n: the threads of the grid from there on end at once


def with_memory(shape: Shape, name: str) -> Shape:
    """What the kernel has to be launched in."""
    return Shape(shape.grid, shape.block, 4100) if name in ("dynamic", "calling") else shape


def coarse(text: str, factor: int, axis: Axis = "x") -> Source:
    """A kernel to be woven with copies of itself, as `goptx.coarsen` weaves it, which is spared here."""
    kernel = chosen_from(text, None, "coarse()")
    return replace(kernel, coarse=kernel.coarse.times(factor, axis)) if factor > 1 else kernel


def outputs(shape: Shape) -> Array:
    return np.zeros((shape.ctas or 0) * (shape.threads or 0) * WORDS, np.uint32)


@cache
def alone(text: str, shape: Shape) -> Array:
    out = outputs(shape)
    goptx.emulate(text, shape.sizes("grid"), shape.sizes("block"), [out, LIMIT], shared=shape.shared or 0, races=True)
    return out


def differences(got: Array, expected: Array) -> list[tuple[int, int, int, int]]:
    """(thread, word, as woven, alone)"""
    return [(i // WORDS, i % WORDS, int(got[i]), int(expected[i])) for i in np.flatnonzero(got != expected).tolist()]


def same(names: Sequence[str], launched: Sequence[Shape], woven: Woven) -> None:
    """`woven` does in these shapes what its kernels, by their names or texts, do alone, in two orders of the warps."""
    for seed in (0, 5):
        outs = [outputs(s) for s in launched]
        goptx.emulate(woven, args=[[out, LIMIT] for out in outs], shapes=launched, races=True, seed=seed)
        for out, name, shape in zip(outs, names, launched, strict=True):
            assert differences(out, alone(KERNELS.get(name, name), shape))[:20] == []


def lines(woven: Woven, *words: str) -> list[str]:
    """The lines of the woven PTX that hold all the words, without indentation."""
    return [text.strip() for text in woven.ptx.splitlines() if all(w in text for w in words)]
