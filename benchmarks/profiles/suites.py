"""The pairs that are profiled: their kernels, shapes, and the ways to fuse them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import suite_a
import suite_b
import suite_c
from suite_c.cases import kernels_of

A, B, C = "a", "b", "c"
SUITES = (A, B, C)
OWN = "own"  # the one shape of suites B and C
SHAPES: Mapping[str, tuple[str, ...]] = {A: suite_a.SHAPES, B: (OWN,), C: (OWN,)}
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
    if suite == C:
        return suite_c.PAIRS
    return tuple(getattr(suite_b, "PAIRS", None) or ["+".join(getattr(suite_b, "PAIR", ()))])


def specifications_of(suite: str, name: str, shape: str) -> list[Path]:
    """Of the kernels of a pair, or of a single kernel."""
    if suite == A:
        return suite_a.specifications_of(name, shape)
    if suite == C:
        return suite_c.specifications_of("+".join(kernel.name for kernel in kernels_of(name)))
    return [suite_b.FOLDER / f"{kernel}.toml" for kernel in name.split("+")]
