"""Suite A: the seven kernels of the GoPTX paper (DAC 2025, Table I), written anew, in all 28 pairs and coarsened."""

from __future__ import annotations

from pathlib import Path

KERNELS = ("gelu", "harris", "lud", "micnd", "sort", "stms", "wmma")
FOLDER = Path(__file__).parent.parent.parent / "examples" / "kernels"
