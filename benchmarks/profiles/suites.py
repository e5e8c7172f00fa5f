"""The pairs that are profiled: their kernels, shapes, and the ways to fuse them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import suite_a
import suite_b

A, B = "a", "b"
SUITES = (A, B)
OWN = "own"  # the one shape of suite B
SHAPES: Mapping[str, tuple[str, ...]] = {A: suite_a.SHAPES, B: (OWN,)}
ALONE = "alone"
TUNED = "tuned"
PUBLISHED = "paper's merge"
WAYS: Mapping[str, tuple[str, ...]] = {  # by shape; those of the paper's tables, and what tuning found
    suite_a.PAPER: ("vertical", "horizontal", PUBLISHED, "weave", "auto"),
    suite_a.NATURAL: (TUNED,),
    OWN: ("vertical", "horizontal", "weave", "auto", TUNED),
}


def pairs_of(suite: str) -> tuple[str, ...]:
    """All pairs of a suite."""
    if suite == A:
        return suite_a.PAIRS
    return tuple(getattr(suite_b, "PAIRS", None) or ["+".join(getattr(suite_b, "PAIR", ()))])


def specifications_of(suite: str, name: str, shape: str) -> list[Path]:
    """Of the kernels of a pair, or of a single kernel."""
    if suite == A:
        return suite_a.specifications_of(name, shape)
    return [suite_b.FOLDER / f"{kernel}.toml" for kernel in name.split("+")]
