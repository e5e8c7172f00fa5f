"""What tests of launches share: the kernels of plus_and_times.py, woven, and arrays for them."""

from collections.abc import Iterator

import numpy as np
import pytest
from gpu.plus_and_times import PLUS, THREADS, TIMES, Words

import goptx
from goptx.device.load import current_device
from goptx.errors import DeviceError
from goptx.results.fused_kernel import Woven


@pytest.fixture(scope="module")
def woven() -> Woven:
    """A: out = in + n, B: out = in * n, over `THREADS` elements."""
    try:
        device = current_device()
    except DeviceError as error:
        pytest.skip(str(error))
    return goptx.weave(PLUS, TIMES, arch=f"sm_{device.arch}")


@pytest.fixture
def arrays(woven: Woven) -> Iterator[list[Words]]:
    """In and out of A, in and out of B; the inputs count up."""
    made = [Words() for _ in range(4)]
    for inputs in made[::2]:
        inputs.put(np.arange(THREADS, dtype=np.uint32))
    yield made
    for array in made:
        array.free()
