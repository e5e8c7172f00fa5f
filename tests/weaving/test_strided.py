"""A kernel of which most CTAs may end at once has its CTAs taken in strides, beside all of another kernel's."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from bodies import kernel

import goptx
from goptx import Shape
from goptx.launch.launch_plan import STRIDE
from goptx.options import Placement, Strategy
from goptx.proof.certificate import Certificate
from goptx.results.fused_kernel import Woven
from goptx.weaving.shapes import strided

CTAS, THREADS = 3 * STRIDE, 32
LIVE = CTAS * THREADS - 700  # threads that do something
NUMBER = "mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.u32 %r4, %r2, %r3, %r1;"
GUARD = "setp.ge.u32 %p1, %r4, %r9; @%p1 bra DONE;"
LOOP = """
    mov.u32 %r5, 0;
    AGAIN: mad.lo.u32 %r6, %r5, 7, %r6; add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, %r7; @%p2 bra AGAIN;
"""
STORE = "mul.wide.u32 %rd3, %r4, 4; add.s64 %rd4, %rd2, %rd3; st.global.u32 [%rd4], %r6; DONE: ret;"


def made(name: str, *, guard: bool, loop: bool) -> str:
    """Threads below n store a number: the sum of a loop of as many iterations as `in` says, or their own."""
    begin = f"ld.param.u64 %rd1, [{name}_in]; ld.param.u64 %rd2, [{name}_out]; ld.param.u32 %r9, [{name}_n]; {NUMBER}"
    body = f"mov.u32 %r6, %r4; {'ld.global.u32 %r7, [%rd1];' if loop else ''} {LOOP if loop else ''}"
    return kernel(f"{begin} {GUARD if guard else ''} {body} {STORE}", name)


LONG, SHORT = made("long", guard=True, loop=True), made("short", guard=False, loop=False)


def fused(
    *kernels: str, strategy: Any = "vertical", ctas: Sequence[int] = (CTAS, CTAS), factor: int = 1,
    placement: Placement | None = None,
) -> Woven:  # fmt: skip
    shapes = [Shape(n, THREADS) for n in ctas]
    last = goptx.coarsen(kernels[-1], factor, shape=shapes[-1]) if factor > 1 else kernels[-1]
    return goptx.fuse(*kernels[:-1], last, strategy=strategy, shapes=shapes, placement=placement)


@pytest.fixture(autouse=True)
def _few_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strided, "MANY", CTAS)


def in_strides(woven: Woven) -> str:
    found = re.search(rf", CTAs of (\w) in strides of {STRIDE}", " ".join(woven.report.notes))
    return found[1] if found else ""


@pytest.mark.parametrize(
    ("kernels", "letter"),
    [
        ((SHORT, LONG), "B"),
        ((LONG, SHORT), "A"),
        ((SHORT, SHORT), ""),
        ((LONG, made("other", guard=False, loop=True)), ""),  # it may last as long
        ((SHORT, made("never", guard=False, loop=True)), ""),  # none of its CTAs ends at once
        ((SHORT, made("brief", guard=True, loop=False)), ""),
    ],
)
def test_which_kernel(kernels: tuple[str, str], letter: str) -> None:
    assert in_strides(fused(*kernels)) == letter


def test_grids_that_are_left_as_they_are() -> None:
    assert not in_strides(fused(SHORT, LONG, ctas=(CTAS, CTAS + 1)))
    assert not in_strides(fused(SHORT, LONG, ctas=(CTAS, CTAS - STRIDE)))  # not many
    assert not in_strides(fused(SHORT, LONG, placement="spread"))
    assert not in_strides(goptx.fuse(SHORT, LONG, strategy="vertical"))


@pytest.mark.parametrize("strategy", ["weave", "vertical"])
@pytest.mark.parametrize(("ctas", "factor"), [((CTAS, CTAS), 1), ((2 * CTAS, CTAS), 1), ((CTAS, CTAS), 3)])
def test_each_cta_runs_once(strategy: Strategy, ctas: tuple[int, int], factor: int) -> None:
    woven = fused(SHORT, LONG, strategy=strategy, ctas=ctas, factor=factor)
    assert in_strides(woven) == ("B" if CTAS // factor % STRIDE == 0 else "")
    given = [
        [np.ones(1, np.uint32), np.zeros(n * THREADS, np.uint32), live] for n, live in zip(ctas, (0, LIVE), strict=True)
    ]
    given[1][0] = np.full(1, 5, np.uint32)
    goptx.emulate(woven, args=given)
    numbers = np.arange(ctas[0] * THREADS, dtype=np.uint32)
    assert (given[0][1] == numbers).all()
    wanted = np.arange(ctas[1] * THREADS, dtype=np.uint32)
    for i in range(5):
        wanted = (i * 7 + wanted).astype(np.uint32)
    wanted[LIVE:] = 0
    assert (given[1][1] == wanted).all()


def test_it_is_proved() -> None:
    woven = fused(SHORT, LONG)
    proof = goptx.prove(woven)
    assert isinstance(proof, Certificate), proof
