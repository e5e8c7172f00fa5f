"""Kernels whose threads wait for each other are proved where no thread is held up before it does what ends a wait."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from weaving.waiting_kernels import text

import goptx
from goptx.checking.certify import prove
from goptx.proof.certificate import Certificate, digest
from goptx.proof.prove import prove_text
from goptx.proof.witness import Named, Witness
from goptx.ptx.parse import parse

HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"
EXAMPLES = Path(__file__).parents[2] / "examples" / "kernels"
FIRST = 7  # the line of a kernel at which its code begins
REGISTERS = ".reg .pred {p}p<4>; .reg .b32 {p}r<9>; .reg .b64 {p}rd<2>; .shared .align 4 .b8 {s}flag[4];"


def kernel(name: str, code: str) -> str:
    return f"{HEAD}.visible .entry {name}()\n{{\n{REGISTERS.format(p='%', s='')}\n{code}\n}}\n"


def fused_text(kernels: Sequence[str], code: str) -> str:
    """A fused kernel of handwritten code, in which `A3: ` claims line 3 of the code of kernel A."""
    names = [chr(ord("a") + i) for i in range(len(kernels))]
    registers = [REGISTERS.format(p=f"%{name}_", s=f"{name}_") for name in names]
    lines = [re.sub(r"^([A-Z]):?([0-9]+): (.*)", claimed, line) for line in code.splitlines()]
    named = [
        Named(name.upper(), name, digest(str(parse(k))), (name,), ()) for name, k in zip(names, kernels, strict=True)
    ]
    head = Witness("weave", "both", tuple(named)).header()
    return "\n".join([head, HEAD, ".visible .entry both()\n{", *registers, *lines, "}\n"])


def claimed(line: re.Match[str]) -> str:
    return f"{line[3]} // {line[1]}:{FIRST + int(line[2])}"


def proved(kernels: Sequence[str], code: str) -> Certificate:
    return prove_text(fused_text(kernels, code), [parse(k) for k in kernels])


def waiting(first: str, second: str) -> str:
    module = goptx.read(text(names=(first, second)))
    return goptx.weave(module, module, entries=[first, second]).text()


def certificate(fused: str, first: str, second: str) -> Certificate:
    return prove_text(fused, [goptx.read(text(names=(first, second)))] * 2)


PAIRS = [
    ("producers_and_consumers", "tiled"), ("producers_and_consumers", "producers_and_consumers"),
    ("one_loop_for_both", "shuffles"), ("producers_return", "tiled"), ("producers_by_data", "shuffles"),
    ("counted_for_all", "tiled"), ("counted_after_return", "producers_and_consumers"), ("guarded_counted", "tiled"),
    ("unaligned_halves", "shuffles"), ("reductions", "tiled"), ("reductions_after_return", "tiled"),
    ("mbarrier_for_all", "tiled"), ("mbarrier_pipeline", "producers_and_consumers"), ("lane_by_lane", "shuffles"),
    ("lock", "tiled"), ("flag", "producers_and_consumers"), ("released_by_a_later_lane", "shuffles"),
    ("copies_that_arrive", "tiled"), ("one_lane_copies", "producers_and_consumers"), ("flag_in_global", "shuffles"),
]  # fmt: skip


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_kernels_that_wait_are_proved(first: str, second: str) -> None:
    module = goptx.read(text(names=(first, second)))
    made = prove(goptx.weave(module, module, entries=[first, second]))
    assert made, str(made)


def test_a_kernel_that_waits_for_other_ctas_is_not_proved() -> None:
    own = kernel("a", "\n".join([
        "mov.u64 %rd1, 0;", "SPIN: ld.volatile{space}.u32 %r1, [%rd1];", "setp.eq.u32 %p1, %r1, 0;", "@%p1 bra SPIN;",
        "ret;",
    ]))  # fmt: skip
    code = """A0: mov.u64 %a_rd1, 0;
SPIN:
A1: ld.volatile{space}.u32 %a_r1, [%a_rd1];
A2: setp.eq.u32 %a_p1, %a_r1, 0;
A3: @%a_p1 bra SPIN;
ret;"""
    made = {
        space: proved([own.replace("{space}", space), kernel("b", "ret;")], code.replace("{space}", space))
        for space in ("", ".global", ".shared")
    }
    assert made[".shared"], str(made[".shared"])
    assert "may wait for another CTA" in str(made[""]) and "may wait for another CTA" in str(made[".global"])


# A has arrivals of the first 64 threads, for which the others wait.
COUNTED = "\n".join([
    "mov.u32 %r1, %tid.x;", "setp.ge.u32 %p1, %r1, 64;", "@%p1 bra WAIT;", "bar.arrive 1, 128;", "bra OUT;",
    "WAIT: bar.sync 1, 128;", "OUT: ret;",
])  # fmt: skip
# B the other way round.
REVERSE = COUNTED.replace("arrive 1", "sync 1", 1).replace("WAIT: bar.sync", "WAIT: bar.arrive")
PLAIN = "bar.sync 0;\nret;"
START = "A0: mov.u32 %a_r1, %tid.x;\nA1: setp.ge.u32 %a_p1, %a_r1, 64;\n"
SIDES = START + "A2: @%a_p1 bra WAIT;\n{one}\nbra OUT;\nWAIT:\n{two}\nOUT:\n{after}\nret;"
ARRIVE, SYNC, BARRIER = "A3: bar.arrive 1, 128;", "A5: bar.sync 1, 128;", "B0: barrier.sync 0;"


def test_a_barrier_before_or_after_counted_ones_is_proved() -> None:
    kernels = [kernel("a", COUNTED), kernel("b", PLAIN)]
    assert (made := proved(kernels, BARRIER + "\n" + SIDES.format(one=ARRIVE, two=SYNC, after=""))), str(made)
    assert (made := proved(kernels, SIDES.format(one=ARRIVE, two=SYNC, after=BARRIER))), str(made)
    after = SIDES.format(one=f"{ARRIVE}\n{BARRIER}", two=f"{SYNC}\n{BARRIER}", after="")
    before = SIDES.format(one=f"{BARRIER}\n{ARRIVE}", two=f"{BARRIER}\n{SYNC}", after="")
    for code in (after, before):
        assert (made := proved(kernels, code)), str(made)


def test_a_barrier_between_a_wait_and_its_arrival_is_not_proved() -> None:
    kernels = [kernel("a", COUNTED), kernel("b", PLAIN)]
    made = proved(kernels, SIDES.format(one=f"{BARRIER}\n{ARRIVE}", two=f"{SYNC}\n{BARRIER}", after=""))
    assert "a thread may be held up at `barrier.sync 0;` before it does what ends the wait" in str(made)


def test_waits_of_two_kernels_have_one_order() -> None:
    kernels = [kernel("a", COUNTED), kernel("b", REVERSE)]
    begin = "B0: mov.u32 %b_r1, %tid.x;\nB1: setp.ge.u32 %b_p1, %b_r1, 64;\n"
    wait, arrive = "B3: bar.sync 2, 128;", "B5: bar.arrive 2, 128;"
    good = SIDES.format(one=f"{ARRIVE}\n{wait}", two=f"{SYNC}\n{arrive}", after="")
    bad = SIDES.format(one=f"{wait}\n{ARRIVE}", two=f"{SYNC}\n{arrive}", after="")
    assert (made := proved(kernels, begin + good)), str(made)
    assert "a thread may be held up at" in str(proved(kernels, begin + bad))
    assert "kernels share barrier 1" in str(proved(kernels, begin + good.replace(" 2, 128", " 1, 128")))


# Lane 31 raises a flag, for which the others of its warp wait; written so that it comes later in the code.
LATER = "\n".join([
    "mov.u32 %r1, %laneid;", "setp.eq.u32 %p1, %r1, 31;", "@%p1 bra RAISE;",
    "SPIN: ld.volatile.shared.u32 %r2, [flag];", "setp.eq.u32 %p2, %r2, 0;", "@%p2 bra SPIN;",
    "RAISE: @%p1 st.volatile.shared.u32 [flag], 1;", "ret;",
])  # fmt: skip
FLAG = """A0: mov.u32 %a_r1, %laneid;
A1: setp.eq.u32 %a_p1, %a_r1, 31;
{before}
A2: @%a_p1 bra RAISE;
SPIN:
A3: ld.volatile.shared.u32 %a_r2, [a_flag];
A4: setp.eq.u32 %a_p2, %a_r2, 0;
A5: @%a_p2 bra SPIN;
RAISE:
{between}
A6: @%a_p1 st.volatile.shared.u32 [a_flag], 1;
{after}
ret;"""


@pytest.mark.parametrize("own", ["bar.warp.sync -1;", "shfl.sync.bfly.b32 %r1, %r1, 1, 31, -1;"])
def test_lanes_do_not_wait_for_lanes_that_wait_for_them(own: str) -> None:
    kernels = [kernel("a", LATER), kernel("b", f"{own}\nret;")]
    step = "B0: " + own.replace("%", "%b_")
    empty = {"before": "", "between": "", "after": ""}
    assert (made := proved(kernels, FLAG.format(**{**empty, "before": step}))), str(made)
    assert (made := proved(kernels, FLAG.format(**{**empty, "after": step}))), str(made)
    made = proved(kernels, FLAG.format(**{**empty, "between": step}))
    assert "may hold up a lane for another one that waits" in str(made)


def edited(fused: str, part: str, by: str) -> str:
    assert part in fused
    return fused.replace(part, by, 1)


@pytest.mark.parametrize(
    ("pair", "part", "by", "what"),
    [
        (("counted_after_return", "shuffles"), "@%a_any_coming bar.sync 1", "bar.sync 1", "whose kernel has ended"),
        (("counted_after_return", "shuffles"), "vote.sync.any.pred %a_any_coming, %a_run0",
         "vote.sync.any.pred %a_any_coming, %a_p1", "lane whose kernel"),
        (("reductions_after_return", "tiled"), "0, %a_brought", "0, %a_p1", "may change the result"),
        (("reductions_after_return", "tiled"), "0, !%a_brought", "0, %a_p1", "may change the result"),
        (("producers_and_consumers", "tiled"), "bar.arrive 1, 128", "bar.arrive 2, 128", "stands for the barriers"),
        (("counted_for_all", "tiled"), "mov.u32 %a_r18, 5", "mov.u32 %a_r18, 0", "kernels share barrier 0"),
    ],
)  # fmt: skip
def test_edits_of_waits_are_not_proved(pair: tuple[str, str], part: str, by: str, what: str) -> None:
    fused = waiting(*pair)
    assert (made := certificate(fused, *pair)), str(made)
    assert what in str(certificate(edited(fused, part, by), *pair))


def example(name: str) -> Path:
    return EXAMPLES / f"{name}.sm_90.ptx"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "second"),
    [("gelu", "gemm"), ("gemm", "scan"), ("reduce", "reduce"), ("harris", "pipeline"), ("pipeline", "sort"),
     ("histogram", "sha256"), ("pipeline", "pipeline")],
)  # fmt: skip
def test_examples_that_wait_are_proved(first: str, second: str) -> None:
    made = prove(goptx.weave(example(first), example(second)))
    assert made, str(made)
    assert not any("ended" in what for what in made.presumed)


@pytest.mark.slow
def test_a_loop_that_no_thread_asks_for_is_not_proved() -> None:
    fused = goptx.weave(example("gelu"), example("histogram")).text()
    modules = [goptx.read(example(name)) for name in ("gelu", "histogram")]
    skip = re.search(r"    @!%b_any2 bra\.uni .*\n", fused)
    assert skip and prove_text(fused, modules)
    made = prove_text(fused.replace(skip[0], ""), modules)
    assert "may go on when no kernel does" in str(made)


def test_a_lane_is_not_held_up_where_its_kernel_meets_first() -> None:
    """Lanes of A meet between waits and raising: no lane that is past that leaves another one at the wait."""
    loop = "\n".join([
        "mov.u32 %r1, %laneid;", "mov.u32 %r3, 0;", "AGAIN: setp.eq.u32 %p1, %r1, 31;",
        "@%p1 st.volatile.shared.u32 [flag], 1;", "SPIN: ld.volatile.shared.u32 %r2, [flag];",
        "setp.eq.u32 %p2, %r2, 0;", "@%p2 bra SPIN;", "{own}", "add.u32 %r3, %r3, 1;", "setp.lt.u32 %p3, %r3, 2;",
        "@%p3 bra AGAIN;", "ret;",
    ])  # fmt: skip
    code = "\n".join([
        "A0: mov.u32 %a_r1, %laneid;", "A1: mov.u32 %a_r3, 0;", "AGAIN:", "bar.warp.sync -1;",
        "A2: setp.eq.u32 %a_p1, %a_r1, 31;", "A3: @%a_p1 st.volatile.shared.u32 [a_flag], 1;", "SPIN:",
        "A4: ld.volatile.shared.u32 %a_r2, [a_flag];", "A5: setp.eq.u32 %a_p2, %a_r2, 0;", "A6: @%a_p2 bra SPIN;",
        "{own}", "A8: add.u32 %a_r3, %a_r3, 1;", "A9: setp.lt.u32 %a_p3, %a_r3, 2;", "A10: @%a_p3 bra AGAIN;", "ret;",
    ])  # fmt: skip
    for own, right in (("bar.warp.sync -1;", True), ("bar.warp.sync 3;", False), ("mov.u32 %r4, 0;", False)):
        step = "A7: " + own.replace("%", "%a_")
        made = proved([kernel("a", loop.format(own=own)), kernel("b", "ret;")], code.format(own=step))
        assert made.proved == right, f"{own} {made}"


def test_a_wait_in_a_loop_that_is_counted_is_a_wait() -> None:
    """Lane 31 raises the flag after a barrier, to which those that wait for the flag do not come."""
    counted = LATER.replace("%p1, %r1, 31;", "%p1, %r1, 31; mov.u32 %r3, 0;").replace("@%p1 bra RAISE;", "")
    lines = counted.splitlines()
    own = [lines[0], lines[1], "AGAIN: @%p1 bra RAISE;", *lines[3:6], lines[6], "add.u32 %r3, %r3, 1;",
           "setp.lt.u32 %p3, %r3, 2;", "@%p3 bra AGAIN;", "ret;"]  # fmt: skip
    code = "\n".join([
        "A0: mov.u32 %a_r1, %laneid;", "A1: setp.eq.u32 %a_p1, %a_r1, 31;", "A1: mov.u32 %a_r3, 0;", "AGAIN:",
        "A2: @%a_p1 bra RAISE;", "SPIN:", "A3: ld.volatile.shared.u32 %a_r2, [a_flag];",
        "A4: setp.eq.u32 %a_p2, %a_r2, 0;", "A5: @%a_p2 bra SPIN;", "RAISE:", "{between}",
        "A6: @%a_p1 st.volatile.shared.u32 [a_flag], 1;", "A7: add.u32 %a_r3, %a_r3, 1;",
        "A8: setp.lt.u32 %a_p3, %a_r3, 2;", "A9: @%a_p3 bra AGAIN;", "{after}", "ret;",
    ])  # fmt: skip
    kernels = [kernel("a", "\n".join(own)), kernel("b", "ret;")]
    made = proved(kernels, code.format(between="", after="barrier.sync 0;"))
    assert made, str(made)
    made = proved(kernels, code.format(between="barrier.sync 0;", after=""))
    assert "before it does what ends the wait" in str(made)
