"""Lanes of launch shapes: threads that are not a kernel's, threads that end, and barriers that count the rest."""

from __future__ import annotations

import re

import pytest

import goptx
from goptx.proof.certificate import digest
from goptx.proof.code.read_steps import program_of
from goptx.proof.prove import prove_text
from goptx.proof.sync.varying import varying_branches
from goptx.ptx.opcodes import Scope
from goptx.ptx.parse import parse

HEAD = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry NAME(.param .u64 p, .param .u32 n)
{
    .reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [p];
    ld.param.u32 %r2, [n];
    mov.u32 %r1, %tid.x;
    mad.wide.u32 %rd2, %r1, 4, %rd1;
"""
PLAIN = HEAD + "st.global.u32 [%rd2], %r2;\nret;\n}\n"
AXES = HEAD + (
    "mov.u32 %r3, %tid.y;\nmov.u32 %r4, %tid.z;\nmov.u32 %r5, %ntid.x;\nmad.lo.u32 %r1, %r3, %r5, %r1;\n"
    "mov.u32 %r6, %ntid.y;\nmul.lo.u32 %r6, %r5, %r6;\nmad.lo.u32 %r1, %r4, %r6, %r1;\n"
    "mad.wide.u32 %rd2, %r1, 4, %rd1;\nst.global.u32 [%rd2], %r3;\nbar.sync 0;\nst.global.u32 [%rd2+4], %r2;\nret;\n}\n"
)
SIDES = HEAD + (  # threads take one side or the other by what they load, and all come to one barrier each
    "ld.global.u32 %r3, [%rd2];\nsetp.ne.u32 %p1, %r3, 0;\nvote.sync.any.pred %p1, %p1, 0xffffffff;\n"
    "@%p1 bra L;\nbar.sync 1;\nst.global.u32 [%rd2], 1;\nbra E;\n"
    "L:\nbar.sync 1;\nst.global.u32 [%rd2], 2;\nE:\nret;\n}\n"
)
TWICE = HEAD + (  # some threads end after a barrier, while others come to it once more
    "mov.u32 %r3, 0;\nL:\nbar.sync 0;\nst.global.u32 [%rd2], %r3;\nadd.u32 %r3, %r3, 1;\n"
    "setp.ge.u32 %p1, %r1, 32;\n@%p1 bra E;\nsetp.lt.u32 %p2, %r3, 2;\n@%p2 bra L;\nE:\nret;\n}\n"
)


def text_of(strategy: str, kernels: list[str], shapes: str) -> str:
    parsed = [goptx.Shape.parse(s) for s in shapes.split()]
    return goptx.fuse(*kernels, strategy=strategy, shapes=parsed).text()  # type: ignore[call-overload, no-any-return]


def named(*kernels: str) -> list[str]:
    return [kernel.replace("NAME", f"k{i}") for i, kernel in enumerate(kernels)]


def outcome(text: str, kernels: list[str]) -> str:
    made = prove_text(text, [parse(k) for k in kernels])
    return "proved" if made else str(made)


@pytest.mark.parametrize("strategy", ["horizontal", "interleave"])
@pytest.mark.parametrize("block", ["5x5x2", "33", "16x3", "7x3"])
def test_blocks_that_do_not_fill_their_warps(strategy: str, block: str) -> None:
    kernels = named(PLAIN, AXES)
    text = text_of(strategy, kernels, f"2:64 3:{block}")
    assert outcome(text, kernels) == "proved"
    edits = [("858993460", "858993450"), ("171798692", "171798690"), ("64;", "96;"), ("setp.ge", "setp.gt")]
    edits += [(", 64;\n    mul.hi", ", 32;\n    mul.hi"), ("613566757", "613566700")]
    for old, new in edits:
        at = text.find("$B0:")
        if (place := text.rfind(old) if old == "setp.ge" else text.find(old, at)) >= 0:
            wrong = text[:place] + new + text[place + len(old) :]
            assert outcome(wrong, kernels) != "proved", (old, new)


def test_barriers_on_both_sides_of_a_branch_count_the_threads_of_both() -> None:
    kernels = named(PLAIN, SIDES)
    text = text_of("horizontal", kernels, "2:64 2:64")
    assert outcome(text, kernels) == "proved"
    number, count = re.findall(r"\bbar(?:rier)?\.sync (\d+), (\d+);", text)[0]
    for new in (f"{int(number) + 1}, {count}", f"{number}, {int(count) + 32}", f"{number}, {int(count) - 32}"):
        assert outcome(text.replace(f"sync {number}, {count};", f"sync {new};", 1), kernels) != "proved"


def test_threads_that_end_while_others_come_to_a_barrier_once_more() -> None:
    """In the kernel, those that have ended are not waited for; a barrier that counts them would wait for ever."""
    alike = TWICE.replace("%p1, %r1, 32", "%p1, %r2, 32")
    kernels = named(PLAIN, alike)
    text = text_of("horizontal", kernels, "2:32 2:64")
    assert outcome(text, kernels) == "proved"
    wrong = text.replace("_p1, %b_r2, 32", "_p1, %b_r1, 32")
    for one, other in zip(kernels, named(PLAIN, TWICE), strict=True):
        wrong = wrong.replace(digest(str(parse(one))), digest(str(parse(other))))
    assert "counts threads that may have ended" in outcome(wrong, named(PLAIN, TWICE))


NUMBERED = HEAD + (  # the numbers of its barriers are in registers
    "mov.u32 %r3, 9;\nmin.u32 %r3, %r3, 5;\nst.global.u32 [%rd2], 1;\nbar.sync %r3;\nst.global.u32 [%rd2], 2;\n"
    "bar.sync 6;\nst.global.u32 [%rd2], 3;\nret;\n}\n"
)


@pytest.mark.parametrize("shapes", ["2:32 3:64", "2:96 3:33"])
def test_numbers_of_barriers_that_registers_hold(shapes: str) -> None:
    kernels = named(PLAIN, NUMBERED)
    text = text_of("interleave", kernels, shapes)
    assert outcome(text, kernels) == "proved"
    for old, new in (("_r3, 5;", "_r3, 6;"), ("bar.sync 6;", "bar.sync 5;"), ("bar.sync 6;", "bar.sync 6, 32;")):
        assert old in text
        assert outcome(text.replace(old, new), kernels) != "proved", new


def test_interleaved_kernels_may_have_one_shared_array_and_others_may_not() -> None:
    own = ".extern .shared .align 16 .b8 tile[];\n.visible"
    stores = PLAIN.replace("ret;", "mov.u32 %r3, tile;\nst.shared.u32 [%r3], %r2;\nret;").replace(".visible", own)
    kernels = named(stores, stores)
    text = text_of("interleave", kernels, "2:32:64 3:32:128")
    assert outcome(text, kernels) == "proved"
    assert outcome(text.replace('"interleaved": true', '"interleaved": false'), kernels) != "proved"


READ = HEAD + (  # the number of the warp, as all its lanes read it of the first one
    "shr.u32 %r3, %r1, 5;\nshfl.sync.idx.b32 %r4, %r3, LANE, CLAMP, 0xffffffff;\nsetp.ge.u32 %p1, %r4, 1;\n"
    "@%p1 bra L;\nbar.sync 5, 32;\nL:\nst.global.u32 [%rd2], %r4;\nbar.sync 1;\nsetp.lt.u32 %p2, %r4, 1;\n"
    "@%p2 bra M;\nbar.sync 2;\nbra E;\nM:\nbar.sync 2;\nst.global.u32 [%rd2+4], 1;\nE:\nret;\n}\n"
)


@pytest.mark.parametrize(("lane", "clamp"), [("0", "31"), ("%r2", "31"), ("%r1", "31"), ("0", "7967"), ("0", "15")])
def test_what_all_lanes_read_of_one_lane_is_one_value(lane: str, clamp: str) -> None:
    code = parse(READ.replace("LANE", lane).replace("CLAMP", clamp).replace("NAME", "k"))
    program = program_of(code.entries[0])
    assert (not varying_branches(program, Scope.WARP)) == (lane != "%r1" and clamp == "31")
    assert varying_branches(program, Scope.CTA)


AWAY = HEAD + (  # lanes end on two ways; the second is taken by all that are left, as ranges of numbers say
    "ld.global.u32 %r3, [%rd2];\nmul.lo.u32 %r4, %r1, 7;\nsetp.ne.u32 %p1, %r3, 0;\n@%p1 bra L;\n"
    "vote.sync.ballot.b32 %r5, %p1, -1;\nbra M;\nL:\nprmt.b32 %r4, %r4, %r3, 1;\nst.global.u32 [%rd2+512], %r4;\nret;\n"
    "M:\nand.b32 %r6, %r4, 2147483648;\nsetp.eq.u32 %p2, %r6, 0;\n@%p2 bra N;\n"
    "vote.sync.ballot.b32 %r5, %p2, -1;\nbra E;\nN:\nst.global.u32 [%rd2+1024], %r4;\nret;\n"
    "E:\nst.global.u32 [%rd2+2048], %r5;\nret;\n}\n"
)


@pytest.mark.parametrize("strategy", ["weave", "vertical"])
def test_ranges_of_numbers_say_which_side_the_lanes_take_that_are_left(strategy: str) -> None:
    kernels = named(AWAY, AWAY)
    text = text_of(strategy, kernels, "2:64 2:64")
    assert outcome(text, kernels) == "proved"
    for old, new in (
        ("%b_r6, 0;", "%b_r6, 1;"),
        ("%b_r1, 7;", "%b_r1, 9;"),
        ("setp.eq.u32 %b_p2", "setp.ne.u32 %b_p2"),
    ):
        assert old in text
        assert outcome(text.replace(old, new, 1), kernels) != "proved", new


ALL_LEAVE = HEAD + (  # all threads leave, as the numbers of threads say; the text asks whether one stays
    "bar.sync 0;\nsetp.lt.u32 %p1, %r1, 64;\n@%p1 bra AWAY;\nvote.sync.ballot.b32 %r3, %p2, -1;\nbar.sync 0;\n"
    "st.global.u32 [%rd2], %r3;\nbar.sync 0;\nret;\nAWAY:\nst.global.u32 [%rd2], 7;\nret;\n}\n"
)


def test_barriers_that_only_threads_come_to_whose_kernel_has_ended() -> None:
    kernels = named(ALL_LEAVE, PLAIN)
    text = text_of("horizontal", kernels, "2:64 2:64")
    assert outcome(text, kernels) == "proved"
    *_, last = [line for line in text.splitlines() if "bar.sync 0, 64" in line]
    for new in ("0, 32", "0, 128", "5, 32", "5, 128"):
        wrong = text.replace(last, last.replace("0, 64", new))
        assert "for which the kernel has ended, and its count is not known" in outcome(wrong, kernels), new


def test_warpgroups_stay_warpgroups(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four warps that are one in the kernel have to be one in the fused kernel, which begins at a multiple of 128."""
    kernels = named(PLAIN, PLAIN.replace("ret;", "wgmma.fence.sync.aligned;\nret;").replace("sm_90", "sm_90a"))
    kernels[0] = kernels[0].replace("sm_90", "sm_90a")
    assert outcome(text_of("horizontal", kernels, "2:128 2:128"), kernels) == "proved"
    monkeypatch.setattr("goptx.weaving.shapes.launch_demands.WARPGROUP", 32)
    made = outcome(text_of("horizontal", kernels, "2:64 2:128"), kernels)
    assert "needs whole warpgroups, and the kernel begins at thread 64" in made
