"""Suite B: the sixteen pairs of HFUSE (CGO 2022), its nine kernels written anew.

Ten pairs are of five kernels of deep learning, which are right with any block of whole warps; so each partition of the
CTA's threads is tried, as in the paper. Six are of four hashes, which have one block each.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import numpy as np

from goptx.launch.specification import Launch, read_specification
from goptx.tuning.measured import Measured, measured

FOLDER = Path(__file__).parent / "kernels"
LAYERS = ("batchnorm", "hist", "maxpool", "upsample", "im2col")
HASHES = ("ethash", "sha256", "blake256", "blake2b")
KERNELS = (*LAYERS, *HASHES)
HFUSE: Mapping[str, float] = {  # speedup over two streams on a V100, the better of capped and uncapped
    "batchnorm+hist": 1.158,
    "batchnorm+maxpool": 1.034,
    "batchnorm+upsample": 0.711,
    "batchnorm+im2col": 0.689,
    "hist+maxpool": 1.571,
    "hist+upsample": 1.057,
    "hist+im2col": 0.999,
    "im2col+maxpool": 0.925,
    "im2col+upsample": 0.892,
    "maxpool+upsample": 1.011,
    "blake2b+ethash": 1.658,
    "blake256+ethash": 1.647,
    "ethash+sha256": 1.441,
    "blake256+blake2b": 0.973,
    "blake256+sha256": 0.990,
    "blake2b+sha256": 1.028,
}
PAIRS = tuple(HFUSE)
SIZES: Mapping[str, str] = {  # the argument that bounds how much a kernel does; Ethash has one hash for each thread
    "batchnorm": "images", "hist": "n", "maxpool": "n", "upsample": "n", "im2col": "n",
    "sha256": "tries", "blake256": "tries", "blake2b": "tries",
}  # fmt: skip
TOLERANCE = 1e-5  # of batch-norm statistics in another block, in which their sums are rounded otherwise


def specifications_of(pair: str) -> list[Path]:
    """Of the kernels of a pair such as "hist+maxpool", or of one kernel."""
    return [FOLDER / f"{name}.toml" for name in pair.split("+")]


def launches_of(pair: str) -> list[Launch]:
    return [read_specification(path)[0] for path in specifications_of(pair)]


def tolerance_of(pair: str) -> float | None:
    """Of results in other blocks than the kernels' own; None: the bits are equal in all blocks."""
    return TOLERANCE if "batchnorm" in pair.split("+") else None


@cache
def measured_of(
    pair: str, small: bool = False, tolerance: float | None = None, shares: tuple[float, ...] = ()
) -> Measured:
    """The kernels with their data; `small`: in the sizes for checks. `shares`: how much of its work each does."""
    args = {}
    for letter, launch, share in zip("AB", launches_of(pair), shares, strict=False):
        names = [argument.name for argument in launch.arguments]
        which = names.index(SIZES[launch.entry])
        size = max(1, round(share * float(launch.arguments[which].value or 0)))
        args[f"{letter}:{which}"] = np.dtype(launch.arguments[which].dtype).type(size)
    return measured([], spec=specifications_of(pair), small=small, tolerance=tolerance, args=args or None)
