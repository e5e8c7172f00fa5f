"""Compares what a kernel of benchmarks/unseen wrote with its reference."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from unseen_kernels.references import DOUBLE, FLOAT, HALF, ROUNDED, SECOND, Reference

from goptx.launch.sample_data import sample
from goptx.launch.specification import Launch, read_specification

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from unseen import SECOND_SPECIFICATIONS, SPECIFICATIONS

EXACT: Mapping[str, Any] = {"rtol": 0}
BY_TYPE = {"float16": HALF, "float32": FLOAT, "float64": DOUBLE}


def launch_of(reference: Reference) -> Launch:
    """The launch of the kernel of that name, in the sizes for checks."""
    paths = SECOND_SPECIFICATIONS if reference in SECOND else SPECIFICATIONS
    return read_specification(paths[reference.__name__])[0].small()


def compare(launch: Launch, values: Sequence[Any], reference: Reference) -> None:
    """`values` are the arguments after the launch, whose arrays were fresh samples before it."""
    given = {a.name: sample(a) for a in launch.arguments}
    expected = reference(**{name: value for name, value in given.items() if not name.endswith("scratch")})
    written = [a.name for a in launch.arguments if a.is_array and a.role != "in"]
    assert sorted(expected) == sorted(written)
    for argument, left in zip(launch.arguments, values, strict=True):
        if argument.name in expected:
            of_kernel = ROUNDED.get(reference.__name__, BY_TYPE.get(argument.dtype, EXACT))
            allowed = ROUNDED.get(f"{reference.__name__}.{argument.name}", of_kernel)
            wanted = np.asarray(expected[argument.name])
            np.testing.assert_allclose(left, wanted, err_msg=argument.name, **allowed)
