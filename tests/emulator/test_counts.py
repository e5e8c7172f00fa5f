"""Counts of small kernels, worked out by hand."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
from emulator.faulty import LOW
from emulator.threads import module, run

import goptx
from goptx.emulator.emulation import Emulation
from goptx.emulator.memory.traffic import SECTOR, Traffic, wavefronts

# What `threads.BEGIN` and `END` cost a warp: instructions, and sectors of global memory (input and output).
FRAME_INSTRUCTIONS = 13
FRAME_SECTORS = 8


def counted(body: str, block: int = 32, **options: Any) -> Emulation:
    return run(body, block=block, **options)[1]


def test_instructions_by_block_and_opcode() -> None:
    body = f"""
        {LOW} @%p1 bra LOWER;
        add.u32 %r5, %r5, 1; add.u32 %r5, %r5, 2; bra JOIN;
    LOWER: mul.lo.u32 %r5, %r5, 3;
    JOIN: mov.u32 %r6, 4;
    """
    counts = counted(body, block=48)  # the second warp has only a lower half
    assert counts.instructions["A", "entry", "setp.lt.u32"] == 2
    assert counts.instructions["A", "entry", "bra"] == 2
    assert counts.instructions["A", "after_1", "add.u32"] == 2
    assert counts.instructions["A", "LOWER", "mul.lo.u32"] == 2
    assert counts.instructions["A", "JOIN", "mov.u32"] == 2
    assert sum(counts.instructions.values()) == 2 * FRAME_INSTRUCTIONS + 2 + 2 + 2 + 2 + 2
    both = FRAME_INSTRUCTIONS + 3  # instructions of all lanes
    assert counts.lane_instructions == both * 48 + 2 * 16 + 1 * 32
    assert counts.lanes_per_instruction == pytest.approx(counts.lane_instructions / 36)
    assert counts.kernels["A"].instructions == counts.instructions


def test_guards_take_lanes_out() -> None:
    counts = counted(f"{LOW} @%p1 add.u32 %r5, %r5, 1; @!%p1 add.u32 %r5, %r5, 1; @%p1 sub.u32 %r5, %r5, 1;")
    assert counts.instructions["A", "entry", "add.u32"] == 2
    assert counts.lane_instructions == (FRAME_INSTRUCTIONS + 1) * 32 + 3 * 16


@pytest.mark.parametrize("instruction", [
    "@%p1 shfl.sync.bfly.b32 %r5, %r3, 1, 31, 0xffff;", "@%p1 vote.sync.ballot.b32 %r5, %p1, 0xffff;",
    "@%p1 bar.warp.sync 0xffff;",
])  # fmt: skip
def test_guarded_convergent_instructions_count_once(instruction: str) -> None:
    counts = counted(LOW + instruction)
    assert sum(counts.instructions.values()) == FRAME_INSTRUCTIONS + 2
    assert counts.lane_instructions == (FRAME_INSTRUCTIONS + 1) * 32 + 16


def test_loops_count_each_iteration_of_a_warp() -> None:
    """As many as the lane with the most takes; lanes that have left are no longer counted."""
    counts = counted("mov.u32 %r6, 0; L: add.u32 %r6, %r6, 1; setp.lt.u32 %p1, %r6, %r2; @%p1 bra L;")
    assert counts.instructions["A", "L", "add.u32"] == 31
    assert counts.lane_instructions == (FRAME_INSTRUCTIONS + 1) * 32 + 3 * (1 + sum(range(1, 32)))


def test_barriers_count_each_completion() -> None:
    body = "mov.u32 %r6, 0; L: bar.sync 0; add.u32 %r6, %r6, 1; setp.lt.u32 %p1, %r6, 5; @%p1 bra L;"
    assert counted(body, block=96, grid=3).barriers == 15
    pairs = "shr.u32 %r6, %r0, 6; bar.sync %r6, 64;"
    assert counted(pairs, block=128).barriers == 2
    assert counted("bar.warp.sync -1;").barriers == 0


# element i of a warp's access lies at byte i * stride
@pytest.mark.parametrize(("opcode", "stride", "want"), [
    ("u32", 4, 4), ("u32", 0, 1), ("u32", 8, 8), ("u32", 32, 32), ("u32", 128, 32), ("u8", 1, 1), ("u16", 2, 2),
    ("u64", 8, 8), ("v2.u32", 8, 8), ("v4.u32", 16, 16), ("v2.u64", 16, 16), ("u8", 33, 32), ("v4.u32", 32, 32),
    ("v4.u32", 0, 1),
])  # fmt: skip
@pytest.mark.parametrize("word", ["ld", "st"])
def test_sectors_of_global_memory(opcode: str, stride: int, want: int, word: str) -> None:
    body = f"mul.wide.u32 %rd3, %r0, {stride}; add.u64 %rd3, %rd3, %rd7;\n{access(word, 'global', opcode, '[%rd3]')}"
    assert large(body).global_transactions == want + FRAME_SECTORS


def access(word: str, space: str, opcode: str, address: str) -> str:
    registers = {"v2.u32": "{%r6, %r7}", "v4.u32": "{%r6, %r7, %r8, %r9}", "v2.u64": "{%rd4, %rd5}", "u64": "%rd4"}
    register = registers.get(opcode, "%r6")
    zero = "mov.u32 %r6, 0; mov.u32 %r7, 0; mov.u32 %r8, 0; mov.u32 %r9, 0; mov.u64 %rd4, 0; mov.u64 %rd5, 0;"
    pair = f"{address}, {register}" if word == "st" else f"{register}, {address}"
    return f"{zero} {word}.{space}.{opcode} {pair};"


def large(body: str) -> Emulation:
    """One warp, with a buffer of 8 KiB to read and write."""
    given, out = np.zeros(2048, np.uint32), np.zeros(32, np.uint32)
    return goptx.emulate(module(body), 1, 32, [given, out, 0])


def test_a_misplaced_row_costs_one_more_sector() -> None:
    assert large("ld.global.u32 %r6, [%rd1+4];").global_transactions == 5 + FRAME_SECTORS


def test_only_lanes_that_access_cost() -> None:
    assert large(f"{LOW} @%p1 ld.global.u32 %r6, [%rd1];").global_transactions == 2 + FRAME_SECTORS
    assert large("setp.eq.u32 %p1, %r0, 99; @%p1 ld.global.u32 %r6, [%rd1];").global_transactions == FRAME_SECTORS


def test_warps_do_not_share_transactions() -> None:
    assert counted("ld.global.u32 %r6, [%rd7];", block=96).global_transactions == 3 + 3 * FRAME_SECTORS


@pytest.mark.parametrize(("opcode", "stride", "want"), [
    ("u32", 4, 1), ("u32", 0, 1), ("u32", 8, 2), ("u32", 16, 4), ("u32", 32 * 4, 32), ("u32", 33 * 4, 1),
    ("u32", 12, 1), ("u8", 1, 1), ("u16", 2, 1), ("u8", 4, 1), ("u64", 8, 2), ("u64", 0, 1),
    ("v4.u32", 0, 2), ("v4.u32", 16, 4),
    ("v2.u32", 8, 2), ("u64", 256, 32), ("u16", 130, 2),
])  # fmt: skip
@pytest.mark.parametrize("word", ["ld", "st"])
def test_wavefronts_of_shared_memory(opcode: str, stride: int, want: int, word: str) -> None:
    """Lanes that touch one word share it; those that touch words of one bank go one after the other."""
    source = module(
        f"mov.u32 %r10, big; mad.lo.u32 %r10, %r0, {stride}, %r10; {access(word, 'shared', opcode, '[%r10]')}"
    ).replace(".shared .align 4 .b8 tile[1024];", ".shared .align 16 .b8 big[16384];")
    assert counted(source, strict=False).shared_transactions == want


def test_atomics_cost_what_other_accesses_cost() -> None:
    counts = counted("st.shared.u32 [tile], 0; bar.sync 0; atom.shared.add.u32 %r6, [tile], 1;")
    assert counts.shared_transactions == 2
    assert large("red.global.add.u32 [%rd7], 1;").global_transactions == 1 + FRAME_SECTORS


@pytest.mark.parametrize("seed", [0, 1, 9])
def test_a_seed_determines_everything(seed: int) -> None:
    body = """
        and.b32 %r6, %r3, 7;
    L:  atom.global.add.u32 %r7, [%rd7], 1; add.u32 %r5, %r5, %r7; sub.u32 %r6, %r6, 1;
        setp.gt.s32 %p1, %r6, 0; @%p1 bra L;
        bar.sync 0;
    """
    first, second = (run(body, block=100, grid=3, seed=seed) for _ in range(2))
    assert first == second


def test_other_seeds_give_other_orders() -> None:
    body = "atom.global.add.u32 %r5, [%rd8], 1;"
    orders = {tuple(run(body, block=100, grid=3, seed=seed)[0]) for seed in range(6)}
    assert len(orders) > 3


def test_lanes_by_line_of_the_file() -> None:
    """A line counts each time that it is executed, whichever instructions stand in it."""
    text = module(
        f"{LOW}\nmov.u32 %r6, 3;\nL: @%p1 add.u32 %r5, %r5, 1;\n"
        "sub.u32 %r6, %r6, 1; setp.ne.u32 %p2, %r6, 0;\n@%p2 bra L;\n"
    )
    given = np.zeros(48, np.uint32)
    counts = goptx.emulate(text, 1, 48, [given, given.copy(), np.uint32(48)])
    first = text.splitlines().index("mov.u32 %r6, 3;") + 1
    assert [counts.executed["A", first + i] for i in range(4)] == [48, 3 * 32, 2 * 3 * 48, 3 * 48]
    assert sum(counts.executed.values()) == counts.lane_instructions


def test_lanes_by_line_of_each_kernel_of_a_woven_one() -> None:
    """Lanes that have ended do not execute a store, and inserted instructions are counted separately."""
    text = module(f"{LOW} @%p1 ret;\n st.global.u32 [%rd2], %r0;\n bar.sync 0;\n")
    line = text.splitlines().index(" st.global.u32 [%rd2], %r0;") + 1
    arrays = [np.zeros(48, np.uint32) for _ in range(4)]
    values = [[*arrays[:2], np.uint32(48)], [*arrays[2:], np.uint32(48)]]
    counts = goptx.emulate(goptx.weave(text, text), 1, 48, values)
    for letter in "AB":
        assert counts.executed[letter, line] == counts.kernels[letter].executed[letter, line] == 16
        assert counts.executed[letter, 0] > 0


def test_in_a_terminal_it_is_a_table() -> None:
    lines = str(counted("add.u32 %r5, %r5, 1;", block=48)).splitlines()
    assert [line.split() for line in lines[1:]] == [
        ["A", "28", "24.0", "0", "0", "12"],
        ["together", "28", "24.0", "0", "0", "12"],
    ]
    assert lines[0].split("  ")[-1] == "global sectors" and len(set(map(len, lines))) == 1


@pytest.mark.parametrize("seed", range(20))
def test_accesses_are_counted_together_as_each_alone(seed: int) -> None:
    """Of any addresses, lanes, widths and kernels, also of allocations that lie far from each other."""
    draw = np.random.default_rng(seed)
    traffic = Traffic()
    sectors, rounds = Counter[str](), Counter[str]()
    for _ in range(int(draw.integers(1, 60))):
        lanes = np.flatnonzero(draw.random(32 * int(draw.integers(1, 5))) < draw.choice([0, 0.3, 1]))
        space, width = str(draw.choice(["global", "shared", "local"])), int(draw.choice([1, 2, 4, 8, 16, 64]))
        reach = 1 << int(draw.choice([6, 12] if space == "shared" else [6, 12, 40, 61]))
        addresses = (lanes if draw.random() < 0.5 else draw.integers(0, reach // width, len(lanes))) * width
        traffic.kernel = str(draw.choice(["A", "B"]))
        traffic.count(space, addresses, lanes, width)
        if space == "shared":
            rounds[traffic.kernel] += wavefronts(addresses, lanes, width)
        elif space == "global":
            touched = {(lane // 32, at // SECTOR) for lane, at in zip(lanes.tolist(), addresses.tolist(), strict=True)}
            sectors[traffic.kernel] += len(touched) * max(1, width // SECTOR)
        if draw.random() < 0.1:
            assert traffic.globals["A"] == sectors["A"]
    for kernel in "AB":
        assert traffic.globals[kernel] == sectors[kernel]
        assert traffic.shared[kernel] == rounds[kernel]
