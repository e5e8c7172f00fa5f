"""Suite A: the seven kernels of the GoPTX paper (DAC 2025, Table I), written anew, in all 28 pairs and coarsened.

There are two shapes of it: the paper's, in which every kernel is launched as 1,048,576 CTAs, and the natural one, what
an expert would write (natural/README.md). An eighth kernel, GELU in half precision, is there in the paper's shape only.
"""

from __future__ import annotations

from pathlib import Path

from goptx.launch.specification import Launch, read_specification

KERNELS = ("gelu", "harris", "lud", "micnd", "sort", "stms", "wmma")
PAIRS = tuple(f"{a}+{b}" for i, a in enumerate(KERNELS) for b in KERNELS[i:])
HALF = "gelu_half"
HALF_PAIRS = tuple(f"{HALF}+{kernel}" for kernel in KERNELS)
PAPER, NATURAL = "paper", "natural"
SHAPES = (PAPER, NATURAL)
FOLDER = Path(__file__).parents[2] / "examples" / "kernels"
_NATURAL = Path(__file__).parent / "natural"
_HALF = Path(__file__).parent / "half"


def specifications_of(pair: str, shape: str = PAPER) -> list[Path]:
    """Of the kernels of a pair such as "gelu+harris", or of a single one; in the paper's shape those of all kernels of
    examples/kernels."""
    own = {HALF: _HALF} if shape == PAPER else {}
    return [own.get(name, _NATURAL if shape == NATURAL else FOLDER) / f"{name}.toml" for name in pair.split("+")]


def launches_of(pair: str, shape: str = PAPER) -> list[Launch]:
    return [read_specification(path)[0] for path in specifications_of(pair, shape)]
