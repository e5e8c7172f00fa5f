"""The pairs that are profiled: their kernels, shapes, and the ways to fuse them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import suite_a
import suite_b
import suite_c
import unseen
from suite_c.cases import kernels_of

A, B, C, SECOND = SUITES = ("a", "b", "c", unseen.SECOND)
OWN = "own"  # the one shape of suites B and C
SHAPES: Mapping[str, tuple[str, ...]] = {A: suite_a.SHAPES, B: (OWN,), C: (OWN,), SECOND: (suite_a.PAPER,)}
ALONE = "alone"
TUNED = "tuned"
PUBLISHED = "paper's merge"
_EVERY = ("vertical", "horizontal", "weave", "auto", TUNED)
WAYS: Mapping[str, Mapping[str, tuple[str, ...]]] = {  # by suite and shape
    A: {suite_a.PAPER: ("vertical", "horizontal", PUBLISHED, "weave", "auto"), suite_a.NATURAL: (TUNED,)},
    B: {OWN: _EVERY},
    C: {OWN: _EVERY},
    SECOND: {suite_a.PAPER: ("weave", "auto")},
}


def title_of(suite: str) -> str:
    return "the second writing of suite A" if suite == SECOND else f"suite {suite.upper()}"


def pairs_of(suite: str) -> tuple[str, ...]:
    """All pairs of a suite."""
    if suite == A:
        return suite_a.PAIRS
    if suite == C:
        return suite_c.PAIRS
    if suite == SECOND:
        return unseen.PAIRS[SECOND]
    return tuple(getattr(suite_b, "PAIRS", None) or ["+".join(getattr(suite_b, "PAIR", ()))])


def specifications_of(suite: str, name: str, shape: str) -> list[Path]:
    """Of the kernels of a pair, or of a single kernel."""
    if suite == A:
        return suite_a.specifications_of(name, shape)
    if suite == C:
        return suite_c.specifications_of("+".join(kernel.name for kernel in kernels_of(name)))
    folder = unseen.SECOND_FOLDER if suite == SECOND else suite_b.FOLDER
    return [folder / f"{kernel}.toml" for kernel in name.split("+")]
