"""Draws random pairs and writes them to files, so that they can be read where Hypothesis is not installed."""

from __future__ import annotations

from itertools import count
from pathlib import Path

from random_kernels.search import drawn

EACH = 25  # pairs of one seed


def draw(folder: Path, wanted: int, seed: int) -> None:
    """`SEED_NUMBER.ptx`; the same pairs for the same seed."""
    folder.mkdir(parents=True, exist_ok=True)
    written = 0
    for number in count(seed):
        for i, case in enumerate(drawn(number, EACH)):
            if written == wanted:
                return
            (folder / f"{number}_{i:02}.ptx").write_text(case.file("random"), encoding="utf-8")
            written += 1
