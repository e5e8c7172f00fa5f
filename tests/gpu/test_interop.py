"""Frameworks' kernels woven and launched within them, beside their own launches, bit for bit."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import goptx
from goptx import DeviceError, Shape
from goptx.device.load import current_device
from goptx.options import Strategy

pytestmark = pytest.mark.gpu

EXAMPLES = Path(__file__).parents[2] / "examples" / "interop"
MISSING = 77


@pytest.fixture(autouse=True)
def device() -> Any:
    try:
        return current_device()
    except DeviceError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("example", sorted(p.name for p in EXAMPLES.glob("*.py")))
def test_example(example: str) -> None:
    done = subprocess.run([sys.executable, str(EXAMPLES / example)], capture_output=True, text=True, timeout=300)
    if done.returncode == MISSING:
        pytest.skip(done.stdout.strip().splitlines()[-1])
    assert done.returncode == 0 and "outputs are equal" in done.stdout, done.stdout + done.stderr


@pytest.fixture
def triton_kernels() -> Any:
    """Module, softmax and GELU, of the example."""
    pytest.importorskip("triton")
    pytest.importorskip("torch")
    sys.path.insert(0, str(EXAMPLES))
    try:
        import triton_torch  # type: ignore[import-not-found]
    finally:
        sys.path.remove(str(EXAMPLES))
    return triton_torch


@pytest.mark.parametrize("strategy", ["weave", "vertical", "horizontal", "interleave", "separate", "auto"])
@pytest.mark.parametrize("warps", [(4, 4), (4, 8)])
def test_triton(triton_kernels: Any, strategy: Strategy, warps: tuple[int, int]) -> None:
    """Of several grids and blocks, as Triton itself launches them."""
    import torch

    rows, n, tile = 300, 100_000, 1024
    x, y = torch.randn(rows, 1000, device="cuda"), torch.randn(n, device="cuda")
    outs = [(torch.zeros_like(x), torch.zeros_like(y)) for _ in range(2)]
    grids, options = (rows, -(-n // tile)), [{"TILE": tile, "num_warps": w} for w in warps]
    a = triton_kernels.softmax[(grids[0],)](outs[0][0], x, 1000, **options[0])
    b = triton_kernels.gelu[(grids[1],)](outs[0][1], y, n, **options[1])
    woven = goptx.fuse(a, b, strategy=strategy, shapes=[Shape(g) for g in grids])
    woven.launch(torch.cuda.current_stream(), [outs[1][0], x, 1000], [outs[1][1], y, n])
    torch.cuda.synchronize()
    assert torch.equal(outs[0][0], outs[1][0]) and torch.equal(outs[0][1], outs[1][1])


def test_triton_of_one_grid_on_a_side_stream(triton_kernels: Any) -> None:
    import torch

    rows = 97
    x, y = torch.randn(rows, 1000, device="cuda"), torch.randn(rows * 1024, device="cuda")
    outs = [(torch.zeros_like(x), torch.zeros_like(y)) for _ in range(2)]
    a = triton_kernels.softmax[(rows,)](outs[0][0], x, 1000, TILE=1024)
    b = triton_kernels.gelu[(rows,)](outs[0][1], y, y.numel(), TILE=1024)
    torch.cuda.synchronize()
    stream = torch.cuda.Stream()
    goptx.weave(a, b).launch(stream, [outs[1][0], x, 1000], [outs[1][1], y, y.numel()], grid=rows)
    stream.synchronize()
    assert torch.equal(outs[0][0], outs[1][0]) and torch.equal(outs[0][1], outs[1][1])


def test_triton_in_a_fusion_region(triton_kernels: Any) -> None:
    import torch

    rows = 64
    x, y = torch.randn(rows, 1000, device="cuda"), torch.randn(50_000, device="cuda")
    outs = [(torch.zeros_like(x), torch.zeros_like(y)) for _ in range(2)]
    a = triton_kernels.softmax[(rows,)](outs[0][0], x, 1000, TILE=1024)
    b = triton_kernels.gelu[(49,)](outs[0][1], y, y.numel(), TILE=1024)
    with goptx.fusion(torch.cuda.current_stream()) as region:
        region.launch(a, rows, None, outs[1][0], x, 1000)
        region.launch(b, 49, None, outs[1][1], y, y.numel())
    torch.cuda.synchronize()
    assert torch.equal(outs[0][0], outs[1][0]) and torch.equal(outs[0][1], outs[1][1])


def test_torchs_own_check_of_operators() -> None:
    torch = pytest.importorskip("torch")
    from goptx.adapters.torch import custom_op

    source = 'extern "C" __global__ void copy(float* out, const float* x) { out[threadIdx.x] = x[threadIdx.x]; }'
    module = goptx.compile_cuda(source)
    woven = goptx.weave(module, module)
    both = custom_op(woven, "goptx_test::copies", grid=1, block=32)
    args = [torch.randn(32, device="cuda") for _ in range(4)]
    torch.library.opcheck(both, tuple(args))
    both(*args)
    torch.cuda.synchronize()
    assert torch.equal(args[0], args[1]) and torch.equal(args[2], args[3])
