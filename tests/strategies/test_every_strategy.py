"""Every strategy: fused, kernels do what they do alone, on the strict emulator."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from weaving.compared import same, with_memory
from weaving.shaped_kernels import KERNELS, kernel
from weaving.test_shapes import MIXES
from weaving.test_waiting import BLOCK, CTAS, DATA, alone
from weaving.waiting_kernels import KERNELS as WAITING
from weaving.waiting_kernels import text

import goptx
from goptx import CannotWeave, Shape
from goptx.launch.shape import MOST_THREADS
from goptx.options import Placement, Strategy
from goptx.results.fused_kernel import Woven
from goptx.strategies.fuse import STRATEGIES

Assembles = Callable[[Woven], None]
EXAMPLES = Path(__file__).parents[2] / "examples" / "kernels"
OWN_SHAPES = ("horizontal", "interleave")
OTHERS = [s for s in STRATEGIES if s not in ("weave", "auto")]  # auto is mostly weave

PAIRED = [
    ("registers", "registers"), ("tiled", "leaving"), ("leaving", "tiled"), ("looping", "dynamic"),
    ("calling", "registers"), ("dynamic", "tiled"),
]  # fmt: skip


def fuse(strategy: Strategy, names: tuple[str, ...], shapes: list[Shape], **options: Any) -> Woven:
    return goptx.fuse(*(KERNELS[name] for name in names), strategy=strategy, shapes=shapes, **options)


@pytest.mark.slow
@pytest.mark.parametrize("strategy", OWN_SHAPES)
@pytest.mark.parametrize("names", PAIRED, ids="-".join)
def test_each_kernel_does_what_it_does_alone(strategy: Strategy, names: tuple[str, str], assembles: Assembles) -> None:
    for number, mix in enumerate(MIXES):
        launched = [with_memory(shape, name) for shape, name in zip(mix, names, strict=True)]
        if names[0] == "dynamic" and launched[0].threads == 1:
            continue  # two threads write what one kernel reads
        woven = fuse(strategy, names, launched, placement=("spread", "front")[number % 2])
        assert woven.strategy == strategy
        same(names, launched, woven)
        assembles(woven)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_three_kernels(strategy: Strategy, assembles: Assembles) -> None:
    names, launched = ("leaving", "dynamic", "tiled"), [Shape(5, 96), Shape((2, 2), (8, 9), 5000), Shape(3, 40)]
    woven = fuse(strategy, names, launched)
    same(names, launched, woven)
    assembles(woven)
    assert list(woven.report.kernels) == ["A", "B", "C"]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_what_was_fused_counts_as_its_kernels(strategy: Strategy) -> None:
    shapes = [Shape(4, 64), Shape(6, 32), Shape(2, 96)]
    names = ("leaving", "tiled", "looping")
    pair = fuse("horizontal", names[:2], shapes[:2])
    same(names, shapes, goptx.fuse(pair, KERNELS[names[2]], strategy=strategy, shapes=shapes))


@pytest.mark.parametrize("strategy", OWN_SHAPES)
@pytest.mark.parametrize("placement", ["spread", "front"])
def test_sizes_known_at_launch_only(strategy: Strategy, placement: Placement) -> None:
    names, launched = ("dynamic", "tiled", "dynamic"), [Shape(7, 64, 4096), Shape((3, 4), 40), Shape(5, (8, 8), 5000)]
    known = [
        Shape(None, s.block if strategy == "horizontal" or k == 1 else None, None if s.shared else 0)
        for k, s in enumerate(launched)
    ]
    woven = fuse(strategy, names, known, placement=placement)
    assert woven.shape is not None and woven.shape.ctas is None
    roles = [p.role for p in woven.params if p.kernel is None]
    last = strategy == "horizontal" or None
    assert ("A.spread" in roles, "C.spread" in roles) == (placement == "spread", bool(placement == "spread" and last))
    same(names, launched, woven)


@pytest.mark.slow
@pytest.mark.parametrize("strategy", OTHERS)
@pytest.mark.parametrize(
    "pair", ["reduce+scan", "histogram+gelu", "transpose+lud", "wmma+sha256", "pipeline+softmax", "layernorm+gemm"]
)
def test_examples(strategy: Strategy, pair: str) -> None:
    check = goptx.check(*(EXAMPLES / f"{name}.sm_90.ptx" for name in pair.split("+")), strategy=strategy)
    assert check, str(check)


# Kernels that wait differently ------------------------------------------------------------------------


def waiting(strategy: Strategy, module: str, names: tuple[str, str]) -> Woven:
    read = goptx.read(module)
    return goptx.fuse(read, read, entries=list(names), strategy=strategy, shapes=[Shape(CTAS, BLOCK)] * 2)


def together(woven: Woven, seed: int) -> list[list[int]]:
    outs = [np.full(CTAS * BLOCK, -1, np.int32) for _ in range(2)]
    goptx.emulate(woven, args=[[DATA, out, len(DATA)] for out in outs], races=True, seed=seed)
    return [out.tolist() for out in outs]


@pytest.mark.slow
@pytest.mark.parametrize("strategy", OWN_SHAPES)
@pytest.mark.parametrize("name", WAITING)
def test_kernels_that_wait(strategy: Strategy, name: str, assembles: Assembles) -> None:
    """Unchanged, except that threads which ended before a barrier live on."""
    for seed, names in enumerate([(name, "tiled"), ("producers_and_consumers", name)]):
        if (strategy, name) == ("horizontal", "register_ids"):
            with pytest.raises(CannotWeave, match="takes its barrier id from a register"):
                waiting(strategy, text(names=names), names)
            continue
        woven = waiting(strategy, text(names=names), names)
        assert together(woven, seed) == [alone(n) for n in names]
        assembles(woven)


@pytest.mark.parametrize("strategy", OWN_SHAPES)
def test_a_kernel_that_cannot_be_woven(strategy: Strategy, assembles: Assembles) -> None:
    """Its lanes wait one by one, and others end meanwhile."""
    names = ("ends_amid_waits", "tiled")
    module = text(names=names).replace("DONE: add.u32 %r4, %r4, %r9;", "DONE: add.u32 %r4, %r4, %r2;")
    read = goptx.read(module)
    with pytest.raises(CannotWeave, match="one by one, and amid such waits"):
        goptx.weave(read, read, entries=list(names))
    woven = waiting(strategy, module, names)
    out = np.full(CTAS * BLOCK, -1, np.int32)
    goptx.emulate(read, CTAS, BLOCK, [DATA, out, len(DATA)], entry=names[0], races=True)
    assert together(woven, 0) == together(woven, 4) == [out.tolist(), alone("tiled")]
    assembles(woven)


@pytest.mark.parametrize("strategy", OWN_SHAPES)
@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("setmaxnreg.inc.sync.aligned.u32 64;", "kernels that share a CTA share its pool"),
        (
            "SPIN: ld.acquire.gpu.global.u32 %r30, [%rd1]; setp.eq.u32 %p1, %r30, 0; @%p1 bra SPIN;",
            "wait for other CTAs",
        ),
        (
            "mov.u32 %r30, %smid; mul.wide.u32 %rd5, %r30, 4; add.s64 %rd5, %rd5, %rd1; st.global.u32 [%rd5], %r30;",
            "%smid",
        ),
    ],
)
def test_what_no_strategy_keeps(strategy: Strategy, word: str, message: str) -> None:
    with pytest.raises(CannotWeave, match=message):
        goptx.fuse(kernel("k", word), KERNELS["tiled"], strategy=strategy, shapes=[Shape(3, 32), Shape(5, 32)])


def test_blocks_of_the_most_threads() -> None:
    shapes = [Shape(2, MOST_THREADS // 2)] * 2
    same(("tiled", "leaving"), shapes, fuse("horizontal", ("tiled", "leaving"), shapes))
