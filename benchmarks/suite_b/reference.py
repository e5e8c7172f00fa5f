"""What the kernels of the pair should leave, found by CuPy in double precision, and how far they are from it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

TOLERANCE = 1e-5  # of the statistics
Arrays = Mapping[str, Any]


def reference(batchnorm: Arrays, hist: Arrays) -> dict[str, Any]:
    """From the kernels' arguments by name."""
    import cupy as cp

    images = batchnorm["in"].reshape(int(batchnorm["images"]), -1, int(batchnorm["pixels"]))
    variance = images.var(axis=(0, 2), dtype=cp.float64)
    position = (hist["x"] - hist["low"]) * hist["scale"]
    inside = position[(position >= 0) & (position < int(hist["bins"]))]
    return {
        "mean": images.mean(axis=(0, 2), dtype=cp.float64),
        "inverse_deviation": 1 / cp.sqrt(variance + float(batchnorm["epsilon"])),
        "counts": cp.bincount(inside.astype(cp.int32), minlength=int(hist["bins"])),
    }


def errors(found: Arrays, expected: Arrays) -> dict[str, float]:
    """The largest: of means in standard deviations, of inverse deviations relative, of counts absolute."""
    import cupy as cp

    inverse = expected["inverse_deviation"]
    return {
        "mean": float(cp.max(cp.abs(found["mean"] - expected["mean"]) * inverse)),
        "inverse_deviation": float(cp.max(cp.abs(found["inverse_deviation"] / inverse - 1))),
        "counts": float(cp.max(cp.abs(found["counts"].astype(cp.int64) - expected["counts"]))),
    }


def tolerable(found: Mapping[str, float]) -> bool:
    """Whether counts are exact, and the statistics rounded as sums of that length are. False for NaN."""
    return found["counts"] == 0 and all(error <= TOLERANCE for error in found.values())
