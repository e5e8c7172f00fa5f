"""Suite C: kernels that language models run at the same time, none of which needs what another one computes.

Pairs put a kernel that multiplies matrices beside one that moves memory, or two that move memory; groups are of a few
small kernels. README.md says which they are.
"""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent
BEST = FOLDER / "best.json"  # what tuning found, which a run with `--best` makes anew
FITTED = ("product+adam_step", "product+embedding", "attention+adam_step", "attention+embedding")
"""The pairs on which rules may be fitted; all others, and the groups, are only ever measured."""
PAIRS = (
    *FITTED,
    "attention+decode_attention",
    "product+softmax",
    "product+dropout",
    "product+decode_attention",
    "softmax+dropout",
    "softmax+cross_entropy",
    "layer_norm+swiglu",
    "cross_entropy+adam_step",
    "decode_attention+dropout",
    "small_product+dropout",
    "small_product+small_product",
    "product+rms_norm",
    "product+dequantise",
    "attention+rotary",
)


def specifications_of(kernels: str) -> list[Path]:
    """Of kernels such as "product+embedding", or of one, in this suite or, where it is the same kernel, in `unseen`. A
    kernel that neither has gets a path where no file is."""
    return [_specification_of(kernel) for kernel in kernels.split("+")]


def _specification_of(kernel: str) -> Path:
    own = FOLDER / "kernels" / f"{kernel}.toml"
    elsewhere = (FOLDER.parent / "unseen" / "kernels").glob(f"*/{kernel}.toml")
    return own if own.is_file() else next(elsewhere, own)
