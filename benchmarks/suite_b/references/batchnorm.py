"""Mean and inverse standard deviation of channels, in double precision."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from suite_b.references import host

TOLERANCE = 1e-5  # of means in standard deviations, of inverse deviations relative
CHANNELS = 32  # of many, so many are compared


def problem(given: Mapping[str, Any], found: Mapping[str, Any]) -> str:
    images, pixels = int(given["images"]), int(given["pixels"])
    numbers = given["in"].reshape(images, -1, pixels)
    channels = np.unique(np.linspace(0, numbers.shape[1] - 1, CHANNELS).astype(int))
    for channel in channels:
        own = host(numbers[:, channel]).astype(np.float64)
        inverse = 1 / np.sqrt(own.var() + float(given["epsilon"]))
        errors = (
            abs(float(found["mean"][channel]) - own.mean()) * inverse,
            abs(float(found["inverse_deviation"][channel]) / inverse - 1),
        )
        if not max(errors) <= TOLERANCE:
            return f"batchnorm, channel {channel}: mean and inverse deviation are off by {errors}"
    return ""
