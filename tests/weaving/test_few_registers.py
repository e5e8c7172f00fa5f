"""Kernels that would spill, or leave most of an SM empty, if they were interleaved."""

from typing import Any

import pytest
from weaving.large_kernels import tensor_kernel

import goptx
from goptx import Shape
from goptx.device.assemble import find_ptxas

needs_ptxas = pytest.mark.skipif(find_ptxas() is None, reason="needs ptxas")
SHAPES = [Shape(1000, 128)] * 2


def test_kernels_that_would_spill_stand_one_after_the_other() -> None:
    made = goptx.weave(tensor_kernel(256), tensor_kernel(256))
    (note,) = (n for n in made.report.notes if "interleaved" in n)
    assert note.startswith("the kernels stand one after the other: interleaved, a thread would need about 2")
    assert "registers of 255, so that about" in note and made.report.policy == "concat"


def test_a_policy_that_is_asked_for_is_taken() -> None:
    made = goptx.weave(tensor_kernel(256), tensor_kernel(256), policy="latency")
    assert made.report.policy == "latency" and not any("interleaved" in n for n in made.report.notes)


def test_kernels_with_room_are_interleaved() -> None:
    made = goptx.weave(tensor_kernel(32), tensor_kernel(32))
    assert made.report.policy == "latency" and not any("interleaved" in n for n in made.report.notes)


@needs_ptxas
def test_in_sequence_nothing_spills() -> None:
    interleaved = goptx.weave(tensor_kernel(256), tensor_kernel(256), policy="latency").resources()
    made = goptx.weave(tensor_kernel(256), tensor_kernel(256)).resources()
    assert interleaved.spill_bytes > 1000 and made.spill_bytes == 0 and made.registers < 200


def test_auto_never_weaves_kernels_that_would_spill() -> None:
    made = goptx.fuse(tensor_kernel(256), tensor_kernel(256), strategy="auto", shapes=SHAPES)
    assert made.report.decision and made.strategy != "weave"
    assert not any(c.name.startswith("weave") for c in made.report.decision.candidates)


@needs_ptxas
def test_auto_drops_what_the_assembler_speaks_against(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, Any] = {"strategy": "auto", "shapes": SHAPES}
    for name, value in {"LEAST": 0.0, "STAKE": 0.0, "LOSS": 9.0}.items():  # something is fused
        monkeypatch.setattr(f"goptx.strategies.estimates.prospects.{name}", value)
    free = goptx.fuse(tensor_kernel(64), tensor_kernel(64), **asked)
    assert goptx.fuse(tensor_kernel(64), tensor_kernel(64), **asked, assemble=True).strategy == free.strategy
    monkeypatch.setattr("goptx.strategies.choose_strategy.problem", lambda *_: "its machine code spills")
    made = goptx.fuse(tensor_kernel(64), tensor_kernel(64), **asked, assemble=True)
    assert made.strategy == "separate" and "its machine code spills" in made.report.notes[0]


@needs_ptxas
def test_serialized_tensor_operations_are_noticed() -> None:
    from goptx.cost.assembled import problem
    from goptx.cost.estimate import Estimate
    from goptx.device.assembler_log import read_serialized

    made = goptx.weave(tensor_kernel(256), tensor_kernel(256), policy="latency")
    assert read_serialized(made.assembly().log).startswith("C751")
    assert "spills registers" in problem(made, Estimate(1.0, {}, 255, 0.1), 0, 128)
    made = goptx.weave(tensor_kernel(256), tensor_kernel(256))
    assert problem(made, Estimate(1.0, {}, 255, 0.1), 0, 128) == ""
    assert "registers, with which an SM holds" in problem(made, Estimate(1.0, {}, 64, 0.5), 0, 128)
