"""Differences of the bytes or halves of two registers: the video instructions that compilers still emit.

Requires: the contract of `Lanewise`. Operands have no selectors: all parts are used in their own places.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from goptx.emulator.instructions.lanewise import Array, Lanewise


def _differences(parts: int, kind: str, accumulate: bool) -> Callable[[Array, Array, Array], Array]:
    """|a - b| of each part, with the kind ("u" or "s") of its bits: side by side, or all added to c."""
    width = 4 // parts
    taken = np.dtype(f"{'i' if kind == 's' else 'u'}{width}")

    def apply(a: Array, b: Array, c: Array) -> Array:
        left, right = (v[..., None].view(taken) for v in (a, b))
        differences = (np.maximum(left, right) - np.minimum(left, right)).view(f"u{width}")
        result: Array = np.ascontiguousarray(differences).view(np.uint32)[..., 0]
        if accumulate:
            result = differences.sum(axis=-1, dtype=np.uint32) + c
        return result

    return apply


def _instructions() -> Iterator[tuple[str, Lanewise]]:
    for parts in (2, 4):
        for kind in "us":
            for result in ("u32", "s32"):
                for word, accumulate in (("", False), (".add", True)):
                    spelled = f"vabsdiff{parts}{word}.{result}.{kind}32.{kind}32"
                    yield spelled, Lanewise(("u32",) * 3, ("u32",), _differences(parts, kind, accumulate))


VIDEO: dict[str, Lanewise] = dict(_instructions())
