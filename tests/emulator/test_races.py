"""Data races: kernels in which nothing orders two accesses, and the same kernels with synchronisation."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from emulator.faulty import FIRST, TILE
from emulator.faulty_accesses import COPY
from emulator.threads import fault, line_of, run

import goptx
from goptx.launch.sample_data import sample
from goptx.launch.specification import read_specification

SEEDS = (0, 1, 2, 3)
TREE = """
    {tile} st.shared.u32 [%r6], %r3; bar.sync 0;
    mov.u32 %r7, 32;
L:  setp.ge.u32 %p1, %r0, %r7; @%p1 bra NEXT;
    mad.lo.u32 %r8, %r7, 4, %r6; ld.shared.u32 %r10, [%r8]; ld.shared.u32 %r11, [%r6]; add.u32 %r10, %r10, %r11;
    st.shared.u32 [%r6], %r10;
NEXT: {between}
    shr.u32 %r7, %r7, 1; setp.ne.u32 %p2, %r7, 0; @%p2 bra L;
    ld.shared.u32 %r5, [tile];
"""
NEIGHBOUR = "xor.b32 %r7, %r0, {}; mad.lo.u32 %r7, %r7, 4, %r9;"  # %r7: where the word of another thread is
ACROSS = TILE + NEIGHBOUR.format(32)  # of another warp
BESIDE = TILE + NEIGHBOUR.format(1)


@dataclass(frozen=True)
class Racy:
    """`broken` races, at the line `at` (for seed 0); with `ordered` in place of it, it does not."""

    name: str
    body: str
    broken: str
    ordered: str
    at: str
    options: dict[str, Any] = field(default_factory=dict)


RACY = [
    Racy(
        "read after a write", f"{ACROSS} st.shared.u32 [%r6], %r3; <>\n ld.shared.u32 %r5, [%r7];\n",
        "", "bar.sync 0;", "ld.shared.u32 %r5, [%r7];",
    ),
    Racy(
        "read after a write in one warp",
        f"{BESIDE} st.shared.u32 [%r6], %r3; <>\n ld.shared.u32 %r5, [%r7];\n",
        "", "bar.warp.sync 0xffffffff;", "ld.shared.u32 %r5, [%r7];",
    ),
    Racy(
        "a warp barrier is not enough for two",
        f"{ACROSS} st.shared.u32 [%r6], %r3; <>\n ld.shared.u32 %r5, [%r7];\n",
        "bar.warp.sync 0xffffffff;", "barrier.sync 0;", "ld.shared.u32 %r5, [%r7];",
    ),
    Racy(
        "a vote is no warp barrier",
        f"{BESIDE} st.shared.u32 [%r6], %r3; setp.eq.u32 %p1, %r0, 0; <>\n ld.shared.u32 %r5, [%r7];\n",
        "vote.sync.any.pred %p2, %p1, -1;", "vote.sync.any.pred %p2, %p1, -1; bar.warp.sync -1;",
        "ld.shared.u32 %r5, [%r7];",
    ),
    Racy(
        "warp barriers of other lanes",
        f"{BESIDE} st.shared.u32 [%r6], %r3; and.b32 %r8, %r2, 1; setp.eq.u32 %p1, %r8, 0; <>\n"
        "ld.shared.u32 %r5, [%r7];\n",
        "selp.u32 %r8, 0x55555555, 0xaaaaaaaa, %p1; bar.warp.sync %r8;",
        "setp.lt.u32 %p1, %r2, 16; selp.u32 %r8, 0xffff, 0xffff0000, %p1; bar.warp.sync %r8;",
        "ld.shared.u32 %r5, [%r7];",
    ),
    Racy(
        "write after a read", f"{ACROSS} st.shared.u32 [%r6], %r3; bar.sync 0;"
        "ld.shared.u32 %r5, [%r7]; <>\n st.shared.u32 [%r6], %r0;\n",
        "", "bar.sync 0;", "st.shared.u32 [%r6], %r0;",
    ),
    Racy(
        "write after a read by all", f"{TILE} st.shared.u32 [%r6], %r3; bar.sync 0; setp.eq.u32 %p1, %r0, 31;"
        "ld.shared.u32 %r5, [tile]; <>\n @%p1 st.shared.u32 [tile], %r0;\n",
        "", "bar.sync 0;", "@%p1 st.shared.u32 [tile], %r0;", {"block": 32},
    ),
    Racy(
        "write after a write", f"{ACROSS} st.shared.u32 [%r6], %r3; <>\n st.shared.u32 [%r7], %r0;\n",
        "", "bar.sync 0;", "st.shared.u32 [%r7], %r0;",
    ),
    Racy(
        "two values at one place", f"{TILE} <>\n st.shared.u32 [tile], %r8;\n",
        "mov.u32 %r8, %r0;", "mov.u32 %r8, 7;", "st.shared.u32 [tile], %r8;",
    ),
    Racy(
        "bytes of one word", f"{TILE} st.shared.u8 [%r6], %r3; <>\n st.shared.u8 [%r7+1], %r3;\n",
        NEIGHBOUR.format(32) + "sub.u32 %r7, %r7, 1;", NEIGHBOUR.format(32), "st.shared.u8 [%r7+1], %r3;",
    ),
    Racy(
        "global memory in place", "xor.b32 %r7, %r1, 1; mul.wide.u32 %rd3, %r7, 4; add.u64 %rd3, %rd3, %rd7;"
        "ld.global.u32 %r5, [%rd3]; add.u32 %r5, %r5, 1; <>\n st.global.u32 [%rd1], %r5;\n",
        "", "bar.sync 0;", "st.global.u32 [%rd1], %r5;", {"grid": 2},
    ),
    Racy("reduction", TREE, "", "bar.sync 0;", "mad.lo.u32 %r8, %r7, 4, %r6; ld.shared.u32 %r10, [%r8]; "
         "ld.shared.u32 %r11, [%r6]; add.u32 %r10, %r10, %r11;"),
    Racy(
        "an arrival does not wait", f"{ACROSS}{FIRST} @!%p1 bra E;\n"
        "st.shared.u32 [%r6], %r3; bar.arrive 1, 64; <>\n st.shared.u32 [%r6], %r0;\n bra J;\n"
        "E: bar.sync 1, 64;\n ld.shared.u32 %r5, [%r7];\n bar.arrive 2, 64; J:",
        "", "bar.sync 2, 64;", "ld.shared.u32 %r5, [%r7];",
    ),
    Racy(
        "named barrier of another pair", f"{ACROSS} shr.u32 %r8, %r0, 5; <>\n add.u32 %r8, %r8, 1;"
        "st.shared.u32 [%r6], %r3; bar.sync %r8, 64;\n ld.shared.u32 %r5, [%r7];\n",
        "and.b32 %r8, %r8, 1;", "shr.u32 %r8, %r8, 1;", "ld.shared.u32 %r5, [%r7];", {"block": 128},
    ),
    Racy(
        "atomic beside a plain read", "setp.eq.u32 %p1, %r0, 0; @%p1 st.shared.u32 [tile], 0; bar.sync 0;"
        "atom.shared.add.u32 %r6, [tile], 1; <>\n ld.shared.u32 %r5, [tile];\n",
        "setp.lt.u32 %p1, %r0, 0;", "bar.sync 0;", "ld.shared.u32 %r5, [tile];",
    ),
    Racy(
        "plain write beside an atomic", "setp.eq.u32 %p1, %r0, 63; @%p1 st.shared.u32 [tile], 7; <>\n"
        "atom.shared.add.u32 %r6, [tile], 1;\n",
        "", "bar.sync 0;", "atom.shared.add.u32 %r6, [tile], 1;",
    ),
    Racy(
        "flag without a release",
        f"{FIRST} setp.eq.u32 %p2, %r0, 0; @%p2 st.shared.u32 [tile], 0; bar.sync 0; @!%p1 bra E;\n"
        "setp.ne.u32 %p3, %r0, 7; @%p3 bra J; st.shared.u32 [tile+4], %r3; <>\n bra J;\n"
        "E: ld.volatile.shared.u32 %r8, [tile]; setp.eq.u32 %p4, %r8, 0; @%p4 bra E;\n"
        "ld.shared.u32 %r5, [tile+4];\n J:",
        "st.shared.u32 [tile], 1;", "membar.cta; st.volatile.shared.u32 [tile], 1;",
        "E: ld.volatile.shared.u32 %r8, [tile]; setp.eq.u32 %p4, %r8, 0; @%p4 bra E;",
    ),
    Racy(
        "copy that others read", f"{COPY} xor.b32 %r7, %r0, 32; mad.lo.u32 %r7, %r7, 16, %r9;"
        "cp.async.wait_group 0; <>\n ld.shared.u32 %r5, [%r7];\n",
        "", "bar.sync 0;", "ld.shared.u32 %r5, [%r7];",
    ),
    Racy(
        "barrier before the wait for a copy", f"{COPY} xor.b32 %r7, %r0, 32; mad.lo.u32 %r7, %r7, 16, %r9;"
        "<>\n ld.shared.u32 %r5, [%r7];\n",
        "bar.sync 0; cp.async.wait_all;", "cp.async.wait_all; bar.sync 0;", "ld.shared.u32 %r5, [%r7];",
    ),
    Racy(
        "copy over what others still read", f"{COPY} xor.b32 %r7, %r0, 32; mad.lo.u32 %r7, %r7, 16, %r9;"
        "cp.async.wait_all; bar.sync 0; ld.shared.u32 %r5, [%r7]; add.u64 %rd3, %rd7, 16; <>\n"
        "cp.async.ca.shared.global [%r6], [%rd3], 16;\n cp.async.wait_all;",
        "", "bar.sync 0;", "cp.async.ca.shared.global [%r6], [%rd3], 16;",
    ),
]  # fmt: skip


@pytest.mark.parametrize("case", RACY, ids=[c.name for c in RACY])
def test_race(case: Racy) -> None:
    broken, ordered = (
        case.body.format(tile=TILE, between=text) if case.name == "reduction" else case.body.replace("<>", text)
        for text in (case.broken, case.ordered)
    )
    for seed in SEEDS:
        found = fault(broken, races=True, seed=seed, **case.options)
        assert found.kind in ("race", "uninitialised") if seed else found.kind == "race"
        if seed == 0:
            assert line_of(broken, found.line) == case.at
        run(ordered, races=True, seed=seed, **case.options)
    if case.name != "flag without a release":
        run(broken, **case.options)  # nothing else is wrong with it


def test_message_names_both_threads_and_the_memory() -> None:
    found = fault(f"{TILE} st.shared.u32 [%r6], %r3; ld.shared.u32 %r5, [tile];", races=True, block=2)
    assert found.threads == (1,)
    assert "thread 1 reads shared memory that thread 0 wrote with no barrier in between" in str(found)


@pytest.mark.parametrize("body", [
    # the thread with the last number sees what all wrote before
    "{tile} st.shared.u32 [%r6], %r3; setp.eq.u32 %p1, %r0, 0; @%p1 st.shared.u32 [tile+512], 0; bar.sync 0;"
    "add.u32 %r3, %r3, 1; st.shared.u32 [%r6], %r3; membar.cta; atom.shared.add.u32 %r7, [tile+512], 1;"
    "setp.ne.u32 %p2, %r7, 63; @%p2 bra J; membar.cta; ld.shared.u32 %r5, [tile]; ld.shared.u32 %r5, [tile+128]; J:",
    # reads do not race, nor do accesses to one's own
    "ld.global.u32 %r5, [%rd7]; ld.global.u32 %r6, [%rd7+4]; st.global.u32 [%rd2], %r5; ld.global.u32 %r6, [%rd2];",
    # writes of what is there already
    "st.shared.u32 [tile], 0; bar.sync 0; ld.shared.u32 %r5, [tile]; st.shared.u32 [tile], 0;",
    # strong accesses, as old warp reductions have
    "{tile} st.volatile.shared.u32 [%r6], %r3; ld.volatile.shared.u32 %r7, [%r6];"
    "st.volatile.shared.u32 [tile], %r7; ld.volatile.shared.u32 %r5, [tile];",
    # different CTAs are not judged
    "mov.u32 %r6, %ctaid.x; setp.eq.u32 %p1, %r0, 0; @%p1 st.global.u32 [%rd7], %r6;",
    # local memory is each thread's own
    ".local .align 4 .b8 own[4]; st.local.u32 [own], %r3; ld.local.u32 %r5, [own];",
])  # fmt: skip
def test_no_race(body: str) -> None:
    for seed in SEEDS:
        run(body.replace("{tile}", TILE), races=True, seed=seed, grid=2)


@pytest.mark.parametrize("access", [
    "st.global.u32 [%rd3], %r3;", "red.global.add.u32 [%rd3], %r3;", "ld.global.u32 %r5, [%rd3];",
    "st.shared.v4.u32 [tile+2048], {%r3, %r3, %r3, %r3};", "cp.async.ca.shared.global [tile], [%rd3], 4;",
])  # fmt: skip
def test_out_of_bounds_is_not_a_race(access: str) -> None:
    assert fault(f"mov.u64 %rd3, 0;\n{access}\n", races=True).kind == "out of bounds"


# real kernels -----------------------------------------------------------------------------------------

KERNELS = Path(__file__).parents[2] / "examples" / "kernels"


@pytest.mark.parametrize("name", ["gelu", "harris", "lud", "micnd", "sort", "stms", "wmma"])
def test_examples_do_not_race(name: str) -> None:
    (launch,) = read_specification(KERNELS / f"{name}.toml")
    launch = launch.small()
    results = []
    for seed in (0, 1):
        values = [sample(argument) for argument in launch.arguments]
        goptx.emulate(launch.file, launch.grid, launch.block, values, shared=launch.shared, seed=seed, races=True)
        results.append([v.tobytes() for v in values])
    assert results[0] == results[1]
