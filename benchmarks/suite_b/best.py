"""The result of tuning for the pair of suite B: best.json, which `--tune` makes anew."""

from __future__ import annotations

from pathlib import Path

import goptx
from suite_b import PAIR
from suite_b.reference import TOLERANCE

FOLDER = Path(__file__).parent
FILE = FOLDER / "best.json"
SIZES = (512, 768, 1024)  # threads of a horizontal CTA
BUDGET = 90  # seconds


def specifications() -> list[Path]:
    return [FOLDER / f"{name}.toml" for name in PAIR]


def tune_pair(workers: int | None = None) -> str:
    """Tunes the pair; gives a summary. Sums of floats may be rounded otherwise in blocks of another size."""
    best = goptx.tune(
        spec=specifications(), d0=SIZES, budget=BUDGET, tolerance=TOLERANCE, workers=workers, progress=False
    )
    best.save(FILE)
    return str(best)
