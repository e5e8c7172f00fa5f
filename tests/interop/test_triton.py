"""Triton's compiled kernels are woven unchanged, and launched with only the user's arguments."""

from typing import Any

import numpy as np
import pytest
from bodies import HEAD, kernel
from interop.objects import CompiledKernel, JITFunction, layer_norm, softmax

import goptx
from goptx import InputError, Shape
from goptx.options import Strategy
from goptx.region.recorded import recorded

ROWS, COLUMNS = 4, 300
INCREASE = """
    ld.param.u64 %rd1, [k_out]; ld.param.u32 %r5, [k_n];
    mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r1, %r1, %r2, %r3;
    mul.wide.u32 %rd3, %r1, 4; add.s64 %rd2, %rd1, %rd3;
    ld.global.u32 %r2, [%rd2]; add.u32 %r3, %r2, %r5; st.global.u32 [%rd2], %r3;
"""


def increase(num_warps: int) -> CompiledKernel:
    """As if compiled by an old version, without scratch memory: all parameters are the user's."""
    made = CompiledKernel("k", kernel(INCREASE), num_warps=num_warps)
    del made.metadata.global_scratch_size, made.metadata.profile_scratch_size
    return made


def arguments(seed: int = 0) -> list[list[Any]]:
    generator = np.random.default_rng(seed)
    x, y, weight, bias = (generator.standard_normal(n, np.float32) for n in [(ROWS, COLUMNS)] * 2 + [COLUMNS] * 2)
    out, normal, mean, deviation = (np.zeros(n, np.float32) for n in [x.shape] * 2 + [ROWS] * 2)
    return [[out, x, COLUMNS, COLUMNS], [y, normal, weight, bias, mean, deviation, COLUMNS, COLUMNS, 1e-5]]


def alone(grids: tuple[int, int] = (ROWS, ROWS)) -> list[list[Any]]:
    args = arguments()
    for made, grid, own in zip((softmax(), layer_norm()), grids, args, strict=True):
        goptx.emulate(made, grid, args=own)
    return args


def same(found: list[list[Any]], expected: list[list[Any]]) -> bool:
    pairs = [(a, b) for f, e in zip(found, expected, strict=True) for a, b in zip(f, e, strict=True)]
    return all(np.array_equal(a, b) for a, b in pairs) and bool(found[0][0].any() and found[1][1].any())


def test_the_block_and_shared_memory_are_known() -> None:
    woven = goptx.weave(softmax(), layer_norm())
    assert woven.name == "softmax_layer_norm_woven"
    assert [p.kernel for p in woven.params] == ["A"] * 4 + ["B"] * 9  # no scratch pointers, nothing hidden
    assert woven.launched(grid=ROWS, block=None)[0] == Shape(ROWS, 128, 1024 + 32)
    args = arguments()
    goptx.emulate(woven, grid=ROWS, args=args)
    assert same(args, alone())


@pytest.mark.parametrize("strategy", ["weave", "vertical", "horizontal", "interleave", "separate", "auto"])
def test_the_grid_is_enough_of_a_shape(strategy: Strategy) -> None:
    woven = goptx.fuse(softmax(), layer_norm(), strategy=strategy, shapes=[Shape(ROWS), Shape(2)])
    args = arguments()
    goptx.emulate(woven, args=args)
    assert same(args, alone((ROWS, 2)))


def test_grids_may_come_at_the_launch() -> None:
    woven = goptx.weave(softmax(), layer_norm(), shapes=[Shape(None), Shape(None)])
    args = arguments()
    goptx.emulate(woven, args=args, shapes=[Shape(ROWS), Shape(2)])
    assert same(args, alone((ROWS, 2)))


def test_separate_launches_know_the_kernels_shapes() -> None:
    args = arguments()
    goptx.emulate(goptx.fuse(softmax(), layer_norm(), strategy="separate"), grid=ROWS, args=args)
    assert same(args, alone())


def test_a_coarsened_kernel_retains_its_shape() -> None:
    args, expected = arguments(), alone()
    goptx.emulate(goptx.coarsen(softmax(), 2), grid=ROWS, args=args[:1])
    assert np.array_equal(args[0][0], expected[0][0])


def test_kernels_of_several_blocks() -> None:
    """They have none in common, so each has its own."""
    woven = goptx.weave(increase(1), increase(2))
    a, b = np.zeros(96, np.uint32), np.zeros(192, np.uint32)
    goptx.emulate(woven, grid=3, args=[[None, a, 5], [None, b, 6]])
    assert (a == 5).all() and (b == 6).all()


def test_beside_a_kernel_of_any_block() -> None:
    woven = goptx.weave(increase(2), kernel(INCREASE))
    a, b = np.zeros(192, np.uint32), np.zeros(192, np.uint32)
    goptx.emulate(woven, grid=3, args=[[None, a, 5], [None, b, 6]])
    assert (a == 5).all() and (b == 6).all()


def test_check() -> None:
    assert goptx.check(increase(1), increase(2), args={"A:2": 7, "B:2": 8, "A:1": "u32[4096]", "B:1": "u32[4096]"})


def test_a_fusion_region_records_it_without_a_block() -> None:
    args = [1 << 20, 1 << 21, COLUMNS, COLUMNS]
    assert recorded(softmax(), None, "A", (ROWS, None, 0), args).shape == Shape(ROWS, 128, 16)


# Scratch memory ----------------------------------------------------------------------------------------


def scratch(load: str, more: str = ".param .u64 k_global, .param .u64 k_profile", **metadata: Any) -> CompiledKernel:
    body = f".reg .b64 %rd<9>; ld.param.u64 %rd1, [k_out]; {load} st.global.u64 [%rd1], %rd2; ret;"
    text = f"{HEAD}.visible .entry k(.param .u64 k_out, {more})\n{{\n{body}\n}}\n"
    return CompiledKernel("k", text, num_warps=1, **metadata)


def test_scratch_pointers_are_null() -> None:
    made = scratch("{ ld.param.b64 %rd2, [k_global]; }")
    out = np.ones(1, np.uint64)
    goptx.emulate(made, 1, args=[out])
    assert not out[0]
    assert "mov.b64 %rd2, 0;" in str(goptx.fuse(made, strategy="separate").module)


def test_scratch_memory_that_is_needed_is_an_argument() -> None:
    made = scratch("ld.param.u64 %rd2, [k_global];", global_scratch_size=64)
    out = np.ones(1, np.uint64)
    goptx.emulate(made, 1, args=[out, 77])
    assert out[0] == 77
    profile = scratch("ld.param.u64 %rd2, [k_profile];", profile_scratch_size=64)
    goptx.emulate(profile, 1, args=[out, 78])
    assert out[0] == 78


# Refused -------------------------------------------------------------------------------------------------

REFUSED = {
    "lacks the scratch pointers that its framework passes after": scratch("", ".param .u32 k_n, .param .u64 k_p"),
    "takes a scratch pointer of the framework in another way": scratch("mov.b64 %rd2, k_global;"),
    "the Triton function `softmax` is not compiled: what its PTX is": JITFunction(),
    "`gfx` has no PTX, but cubin; compile it for CUDA": CompiledKernel("gfx", None),
    "runs in clusters of 2 CTAs, of which its PTX says": CompiledKernel("k", kernel(""), num_ctas=2),
    "is launched as a cooperative grid": CompiledKernel("k", kernel(""), launch_cooperative_grid=True),
}


@pytest.mark.parametrize("message", REFUSED)
def test_refused(message: str) -> None:
    with pytest.raises(InputError, match=message):
        goptx.weave(REFUSED[message], softmax())


@pytest.mark.parametrize("wrong", [Shape(ROWS, 64), Shape(ROWS, 128, 48), Shape(ROWS, (64, 2))])
def test_a_shape_that_the_kernel_was_not_compiled_for(wrong: Shape) -> None:
    with pytest.raises(InputError, match="`softmax` was compiled for a block of 128 threads and 16 bytes of dynamic"):
        goptx.weave(softmax(), layer_norm(), shapes=[wrong, Shape(ROWS)])
    goptx.weave(softmax(), layer_norm(), shapes=[Shape(ROWS, 128), Shape(ROWS, None, 32)])
