"""Kernels with instructions that the opcode table lacks run last, as written."""

import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from bodies import GUARD, kernel

import goptx
from goptx.errors import CannotWeave, UnknownInstruction
from goptx.ptx.ir import Instruction, Module

CONSTRUCTS = goptx.read(Path(__file__).parents[1] / "constructs" / "constructs.sm_80.ptx")
NAMES = [entry.name for entry in CONSTRUCTS.entries]
PARTNERS = ["guard", "choose", "barriers_in_loop", "guard_before_barrier_vote", "warp_uniform_loop", "call"]
CTAS, BLOCK = 2, 256
DATA = np.random.default_rng(1).integers(0, 1024, 300).astype(np.int32)
NOVEL = kernel(GUARD.replace("{body}", "novel.op.b32 %r3, [%rd1], %r2; st.global.u32 [%rd2], %r3; bar.sync 0;"))
PLAIN = kernel(GUARD.replace("{body}", "ld.global.u32 %r3, [%rd1]; bar.sync 0; st.global.u32 [%rd2], %r3;"), "other")
pytestmark = pytest.mark.filterwarnings("ignore::goptx.errors.UnknownInstruction")


@pytest.mark.parametrize("order", [(NOVEL, PLAIN), (PLAIN, NOVEL)], ids=["first", "second"])
def test_it_stands_once_and_after_the_other_kernel(order: tuple[str, str]) -> None:
    woven = goptx.weave(*order)
    code = [s for s in woven.module.entries[0].body or () if isinstance(s, Instruction)]
    (novel,) = [i for i, instruction in enumerate(code) if instruction.opcode == "novel.op.b32"]
    letter = "AB"[order.index(NOVEL)]
    assert {origin.kernel for origin in woven.origins[novel:] if origin} == {letter}
    assert re.search(rf"kernel {letter} .*`novel.op.b32 .*` is not an instruction that goptx knows", str(woven.report))


def test_it_is_named_in_a_warning() -> None:
    with pytest.warns(UnknownInstruction, match=r"<ptx>:\d+: goptx does not know `novel.op.b32`"):
        goptx.weave(NOVEL, PLAIN)


def test_multiple_entry_loops_are_refused() -> None:
    body = """
        ld.param.u32 %r1, [k_n]; setp.eq.u32 %p1, %r1, 0; @%p1 bra MIDDLE;
        TOP: novel.op %r1;
        MIDDLE: setp.eq.u32 %p2, %r1, 1; @%p2 bra TOP; ret;
    """
    with pytest.raises(CannotWeave, match=r"`novel\.op %r1;` is not an instruction that goptx knows, and a loop"):
        goptx.weave(kernel(body), PLAIN)


@cache
def strange() -> Module:
    return goptx.read(re.sub(r"\b(ld\.global|add\.s64)", r"novel.\1", str(CONSTRUCTS)))


@cache
def alone(name: str) -> list[int]:
    out = np.full(CTAS * BLOCK, -1, np.int32)
    goptx.emulate(CONSTRUCTS, CTAS, BLOCK, [DATA, out, len(DATA)], entry=name)
    return [int(value) for value in out]


@pytest.mark.slow
@pytest.mark.parametrize("partner", PARTNERS)
@pytest.mark.parametrize("name", NAMES)
def test_it_runs_right_beside_the_other(name: str, partner: str) -> None:
    """Loads and address additions of one kernel have names that goptx does not know, until the woven kernel runs."""
    woven = goptx.weave(strange(), CONSTRUCTS, entries=[name, partner]).ptx
    assert "novel." in woven
    together = [np.full(CTAS * BLOCK, -1, np.int32) for _ in range(2)]
    arguments = [a for out in together for a in (DATA, out, len(DATA))]
    goptx.emulate(woven.replace("novel.", ""), CTAS, BLOCK, arguments, races=True)
    assert [out.tolist() for out in together] == [alone(name), alone(partner)]
