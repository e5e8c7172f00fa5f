"""Tensor kernels are woven, not parked: WMMA's main loop and its partners."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import goptx
from goptx.analysis.build_cfg import control_flow
from goptx.analysis.cfg import loops
from goptx.device.assemble import find_ptxas
from goptx.options import Policy, Slicing
from goptx.ptx.flatten import flatten

FOLDER = Path(__file__).parents[2] / "examples" / "kernels"
STRAIGHT = ("harris", "lud", "micnd", "stms")
LOOPING = ("gelu", "sort")


def woven(first: str, second: str, policy: Policy = "latency", slicing: Slicing = "adaptive") -> goptx.Woven:
    files = [FOLDER / f"{name}.sm_90.ptx" for name in (first, second)]
    return goptx.weave(*files, policy=policy, slicing=slicing)


def both_orders(*partners: str) -> list[tuple[str, str]]:
    return [pair for name in partners for pair in ((name, "wmma"), ("wmma", name))]


def products(result: goptx.Woven, partner: str, pieces: tuple[str, ...] = ("wmma.mma",)) -> Iterator[tuple[bool, int]]:
    """Of each block with WMMA's product, or other pieces of an iteration, whether it lies in a loop and how many of the
    partner's instructions it holds."""
    flow = control_flow(flatten(result.module.entries[0].body or (), lambda n: n))
    in_loops = frozenset[str]().union(*loops(flow).values())
    for name, block in flow.blocks.items():
        if any(piece in str(c) for c in block.code for piece in pieces):
            yield name in in_loops, sum(partner in str(c) for c in block.code)


# None of the six can split a warp, guards and grid-stride loops being predicated: so each has to be woven there.
@pytest.mark.parametrize(("first", "second"), both_orders(*STRAIGHT))
def test_first_iterations_hold_a_straight_partner(first: str, second: str) -> None:
    pieces = ("wmma.load.a", "wmma.load.b", "wmma.mma")
    found = list(products(woven(first, second), "%a_" if second == "wmma" else "%b_", pieces))
    assert any(count > 10 for _, count in found)
    assert (True, 0) in found, "WMMA's loop goes on alone when the partner has ended"


@pytest.mark.parametrize(("first", "second"), both_orders(*LOOPING))
def test_main_loop_holds_the_loop_of_its_partner(first: str, second: str) -> None:
    found = list(products(woven(first, second), "%a_" if second == "wmma" else "%b_"))
    assert any(looping and count > 10 for looping, count in found)


@pytest.mark.slow
@pytest.mark.skipif(find_ptxas() is None, reason="needs ptxas")
@pytest.mark.parametrize(("first", "second"), both_orders(*STRAIGHT, *LOOPING))
def test_registers_leave_every_warp_its_place(first: str, second: str) -> None:
    """65,536 registers of an SM for 2,048 threads: 32 each, which is what WMMA takes by itself."""
    resources = woven(first, second).resources(block=256)
    assert resources.registers <= 32
    assert resources.spill_bytes == 0


def test_slices_that_would_only_make_copies_are_left_out() -> None:
    sliced, whole = (woven("lud", "wmma", "paper", slicing) for slicing in ("adaptive", None))
    chosen = woven("lud", "wmma")
    assert chosen.report.merged.instructions == whole.report.merged.instructions < sliced.report.merged.instructions
    assert chosen.report.slicing is None
    assert sliced.report.slicing == "adaptive"


def test_slices_that_save_copies_stay() -> None:
    whole = woven("lud", "micnd", slicing=None)
    chosen = woven("lud", "micnd")
    assert chosen.report.merged.instructions < whole.report.merged.instructions
    assert chosen.report.slicing == "adaptive"
