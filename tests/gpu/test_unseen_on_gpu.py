"""Each kernel of benchmarks/unseen gives, alone on a GPU, what a few lines of numpy give; with those for tensor cores,
which the emulator lacks."""

from typing import Any

import numpy as np
import pytest
from strategies.products import BYTES, CASES, OTHER, Case, descriptor, kernel
from unseen_kernels.comparing import compare, launch_of
from unseen_kernels.references import SECOND, UNSEEN, Reference

from goptx.device.load import current_device
from goptx.errors import DeviceError
from goptx.launch.sample_data import sample
from goptx.launch.shape import Shape
from goptx.results.given_kernels import kernels_of
from goptx.strategies.horizontal import horizontal
from goptx.strategies.separate import separate

pytestmark = pytest.mark.gpu


def _cupy_and_device() -> tuple[Any, Any]:
    """The test is skipped where there are none."""
    cupy = pytest.importorskip("cupy")
    try:
        device = current_device()
    except DeviceError as error:
        pytest.skip(str(error))
    if device.arch != "90":
        pytest.skip("kernels of Triton are for sm_90a")
    return cupy, device


@pytest.mark.parametrize("reference", [*SECOND, *UNSEEN], ids=lambda r: r.__name__)
def test_kernel_gives_what_its_reference_gives(reference: Reference) -> None:
    cupy, device = _cupy_and_device()
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


FORMS: list[tuple[str, str, dict[str, Any]]] = [
    ("flash_attention", "lower_bound", {"teams": (2, 2), "parts": (1, 2), "role_registers": (232, 24), "assist": True}),
    ("matmul", "black_scholes", {"parts": (1, 2), "role_registers": (200, 104), "assist": True}),
    ("matmul", "gather", {"role_registers": (200, 104), "assist": True}),
    ("matmul", "softmax", {"role_registers": (200, 56), "assist": True}),
    ("matmul", "vm_switch", {"teams": (1, 3), "role_registers": (184, 24), "assist": True}),
    ("decode_attention", "kmeans_assign", {"teams": (1, 2), "role_registers": (112, 32)}),
    ("flash_attention", "spmv_ell", {"teams": (1, 7), "role_registers": (256, 32), "assist": True}),
]


@pytest.mark.parametrize("first, second, options", FORMS, ids=lambda value: value if isinstance(value, str) else "")
def test_kernels_with_registers_of_their_own(first: str, second: str, options: dict[str, Any]) -> None:
    """In parts, with help and tickets, launched twice: each launch leaves the counters as they were."""
    cupy, device = _cupy_and_device()
    references = [next(r for r in UNSEEN if r.__name__ == name) for name in (first, second)]
    launches = [launch_of(reference) for reference in references]
    kernels = [kernels_of([launch.file], [launch.entry], least=1, what="the test")[0] for launch in launches]
    shapes = [Shape(launch.grid, launch.block, launch.shared) for launch in launches]
    fused = horizontal(*kernels, shapes=shapes, fold="ticket", arch="sm_90a", **options)
    stream = device.create_stream()
    for _ in range(2):
        values = [[sample(a) for a in launch.arguments] for launch in launches]
        arrays = [{i: cupy.array(v) for i, v in enumerate(own) if isinstance(v, np.ndarray)} for own in values]
        cupy.cuda.Device().synchronize()
        given = [[held.get(i, v) for i, v in enumerate(own)] for held, own in zip(arrays, values, strict=True)]
        fused.launch(stream, *given)
        stream.sync()
        for launch, held, own, reference in zip(launches, arrays, values, references, strict=True):
            compare(launch, [cupy.asnumpy(held[i]) if i in held else v for i, v in enumerate(own)], reference)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_divided_products(case: Case) -> None:
    """A product by `wgmma` gives, bit for bit, what its pieces give, however the matrices lie in shared memory."""
    cupy, device = _cupy_and_device()
    data = np.random.default_rng(5).integers(0, 1 << 8, BYTES, dtype=np.uint8)
    if case.element in ("f16", "bf16"):  # neither infinite nor no numbers
        data[1::2] &= 0xBB
    elif case.element == "tf32":
        data[3::4] &= 0xBB
    given = [cupy.array(data), cupy.array([descriptor(case)], cupy.uint64)]
    text, stream, found = kernel(case), device.create_stream(), []
    (alone,) = kernels_of([text], least=1, what="the test")
    unchanged = separate(alone, shapes=[Shape(1, 128, BYTES)])
    shapes = [Shape(1, 128, BYTES), Shape(64, 384)]
    for registers in ((), (168, 112), (168, 40)):
        out, other = cupy.zeros(128 * 128, cupy.uint32), cupy.zeros(384, cupy.uint32)
        cupy.cuda.Device().synchronize()
        if registers:
            fused = horizontal(alone, OTHER, shapes=shapes, fold="ticket", role_registers=registers, arch="sm_90a")
            fused.launch(stream, [*given, out], [other])
        else:
            unchanged.launch(stream, [*given, out])
        stream.sync()
        found.append(cupy.asnumpy(out))
    assert len(set(found[0].tolist())) > 1000  # many different sums
    assert all(np.array_equal(one, found[0]) for one in found[1:])
