"""The arguments of random kernels, and what lies where in their arrays."""

from __future__ import annotations

import numpy as np
from random_kernels import more

from goptx.launch.shape import Shape

WORDS = 48  # of `out` that belong to each thread
PLAY, LEFT = 32, 40  # the first of those to write and read amid the kernel, and of those for who ends early
FLOATS, ALIKE, OWN = 64, 128, 160  # where in `in` floats begin, words for uniform values, and two words for each thread
TOTALS = 16  # words of `totals`
SPECIAL = (0, 1, 2, 31, 32, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x00FF00FF, 0x3C003C00)


def arguments(shape: Shape, n: int, scale: int, seed: int, rows: int = 1, text: str = "") -> list[object]:
    """In the order of the parameters: in, out, totals, n, scale, and those of `more.py` if the kernel's text has them.
    `rows`: for so many launches, `out` of one after that of the other."""
    rng = np.random.default_rng(seed)
    threads = (shape.ctas or 0) * (shape.threads or 0)
    given = rng.integers(0, 1 << 32, OWN + 2 * threads, np.uint32)
    few = rng.random(len(given))
    given = np.where(few < 0.3, given & 15, np.where(few < 0.45, np.resize(SPECIAL, len(given)), given)).astype(
        np.uint32
    )
    given[FLOATS:ALIKE] = rng.normal(0, 100, ALIKE - FLOATS).astype(np.float32).view(np.uint32)
    given[FLOATS : FLOATS + 4] = np.array([0, -0.0, np.inf, 1e-40], np.float32).view(np.uint32)
    given.setflags(write=False)
    out = np.full(WORDS * threads * rows, 0xA5A5A5A5, np.uint32)
    totals = rng.integers(0, 1 << 32, TOTALS, np.uint32)
    totals[12:14] = 0  # of floats
    beyond = more.arguments(shape, seed, rows) if more.has_more(text) else []
    return [given, out, totals, np.uint32(n), np.uint32(scale), *beyond]
