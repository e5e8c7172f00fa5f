"""What kernels of the new generator have beyond the others: an array of words for each CTA, and a structure by value.

The words begin with flags, which are 0, then come data of messages, and words that several threads store alike.
"""

from __future__ import annotations

import numpy as np

from goptx.launch.shape import Shape

WORDS = 64  # of `more` that belong to each CTA
FLAGS = 16  # the first of these; there are as many in shared memory
DATA, ALIKE = 16, 32  # the first of the others
FIELDS = 16  # words of the structure


def arguments(shape: Shape, seed: int, rows: int = 1) -> list[object]:
    """`more` and the structure; see `data.arguments`."""
    rng = np.random.default_rng([seed, 22])
    more = np.zeros((shape.ctas or 0) * rows * WORDS, np.uint32)
    words = more.reshape(-1, WORDS)
    words[:, ALIKE:] = rng.integers(0, 1 << 32, (len(words), WORDS - ALIKE), np.uint32)
    fields = rng.integers(0, 1 << 32, FIELDS, np.uint32)
    fields[::3] &= 15
    return [more, fields.tobytes()]


def has_more(text: str) -> bool:
    """Whether a kernel has these parameters."""
    return "_more_s[" in text
