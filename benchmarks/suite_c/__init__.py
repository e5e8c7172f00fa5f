"""Suite C: kernels that multiply matrices beside kernels that move memory, as language models run them, each pair of
kernels that do not depend on each other."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent
PAIRS = ("product+adam_step", "product+embedding", "attention+adam_step", "attention+embedding")


def specifications_of(pair: str) -> list[Path]:
    """Of the kernels of a pair, such as "product+adam_step"."""
    return [FOLDER / "kernels" / f"{name}.toml" for name in pair.split("+")]
