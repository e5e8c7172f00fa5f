"""Each kernel of benchmarks/unseen gives, alone on a GPU, what a few lines of numpy give; with those for tensor cores,
which the emulator lacks."""

from typing import Any

import numpy as np
import pytest
from unseen_kernels.comparing import compare, launch_of
from unseen_kernels.references import SECOND, UNSEEN, Reference

from goptx.device.load import current_device
from goptx.errors import DeviceError
from goptx.launch.sample_data import sample
from goptx.launch.shape import Shape
from goptx.results.given_kernels import kernels_of
from goptx.strategies.separate import separate

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("reference", [*SECOND, *UNSEEN], ids=lambda r: r.__name__)
def test_kernel_gives_what_its_reference_gives(reference: Reference) -> None:
    cupy = pytest.importorskip("cupy")
    try:
        device = current_device()
    except DeviceError as error:
        pytest.skip(str(error))
    if device.arch != "90":
        pytest.skip("kernels of Triton are for sm_90a")
    launch = launch_of(reference)
    values: list[Any] = [sample(a) for a in launch.arguments]
    arrays = {i: cupy.array(value) for i, value in enumerate(values) if isinstance(value, np.ndarray)}
    cupy.cuda.Device().synchronize()
    (kernel,) = kernels_of([launch.file], [launch.entry], least=1, what="the test")
    stream = device.create_stream()
    alone = separate(kernel, shapes=[Shape(launch.grid, launch.block, launch.shared)])
    alone.launch(stream, [arrays.get(i, value) for i, value in enumerate(values)])
    stream.sync()
    compare(launch, [cupy.asnumpy(arrays[i]) if i in arrays else value for i, value in enumerate(values)], reference)
