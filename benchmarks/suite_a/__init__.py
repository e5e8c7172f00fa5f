"""Suite A: the seven kernels of the GoPTX paper (DAC 2025, Table I), written anew, in all 28 pairs and coarsened."""

from __future__ import annotations

from pathlib import Path

KERNELS = ("gelu", "harris", "lud", "micnd", "sort", "stms", "wmma")
FOLDER = Path(__file__).parent.parent.parent / "examples" / "kernels"


def specification_of(name: str) -> Path:
    """That of a kernel of examples/kernels, or of the one in natural/ where `name` says so: "natural/gelu"."""
    return (Path(__file__).parent if name.startswith("natural/") else FOLDER) / f"{name}.toml"
