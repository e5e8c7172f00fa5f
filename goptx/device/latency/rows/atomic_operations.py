"""Atomic operations, and barriers and copies in shared memory."""

from __future__ import annotations

from typing import Any

from goptx.device.latency.row import Row, issued
from goptx.device.latency.rows.memory_levels import COLD, GLOBAL, ROOM, SHARED

FEW: dict[str, Any] = {"short": 8, "long": 32}
ON_GLOBAL: dict[str, Any] = {**GLOBAL, **FEW}
ON_SHARED: dict[str, Any] = {**SHARED, "start": "st.shared.u32 [%at+$line], %zero;", **FEW}
VALUE, COMPARED = "$x, [%at+$line], $x", "$x, [%at+$line], $x, $a"

COPIED: dict[str, Any] = {
    "x": "u64", "chains": 0, **FEW, "ring": COLD, "shared": 128, "start": "mov.u64 $x, $buffer;",
    "then": "ld.shared.u64 $x, [$shared]", "why": "a copy from DRAM and the wait for it",
}  # fmt: skip
COPY = "cp.async.ca.shared.global [$shared], [$x], 8;"

BARRIER: dict[str, Any] = {"shared": 1024}
ARRIVALS = 1023  # more than the arrivals
INIT = "@%first mbarrier.init.shared.b64 [$shared], {count}; bar.warp.sync -1;"
WAITING: dict[str, Any] = {**BARRIER, "setup": INIT.format(count=ARRIVALS), "arch": 90}
PHASES: dict[str, Any] = {**BARRIER, "setup": INIT.format(count=32)}
PARITY: dict[str, Any] = {**WAITING, "x": "b32", "values": (1, 1, 1), "then": "selp.b32 $x, $a0, $b0, $q", "chains": 0}
TX = "mbarrier.{op}_tx.relaxed.cta.shared::cta.b64"

ROWS = (
    Row("atom.global.add.u32", VALUE, "ATOM", **ON_GLOBAL),
    Row("atom.global.cas.b32", COMPARED, "ATOM", name="atom.global.cas", **ON_GLOBAL),
    Row("atom.global.add.f32", VALUE, "ATOM", name="atom.global.add.f32", **ON_GLOBAL),
    Row("atom.add.u32", VALUE, "ATOM", **ON_GLOBAL),
    Row("atom.shared.add.u32", VALUE, "ATOMS", **ON_SHARED),
    Row("atom.shared.cas.b32", COMPARED, "ATOMS", name="atom.shared.cas", **ON_SHARED),
    Row("atom.shared.add.f32", VALUE, "ATOMS", name="atom.shared.add.f32", **{**ON_SHARED, "short": 2, "long": 6}),
    issued("red.global.add.u32", "[%at+$offset], $a", "RED|ATOM", **GLOBAL),
    issued("red.add.u32", "[%at+$offset], $a", "RED|ATOM", **GLOBAL),
    issued("red.shared.add.u32", "[%at+$line], $a", "ATOMS", **{**ON_SHARED, "chains": 8}),
    # asynchronous copies
    issued("cp.async.cg.shared.global", "[$shared+$k*16], [$buffer+$k*16], 16", "LDGSTS", ring=ROOM, shared=4096,
           between="cp.async.wait_all;"),
    issued("cp.async.commit_group", "", "LDGDEPBAR", why="nothing under way"),
    Row("cp.async.wait_group", "0", "DEPBAR", before=COPY + "cp.async.commit_group;", **COPIED),
    Row("cp.async.wait_all", "", "DEPBAR", before=COPY, **COPIED),
    issued("cp.async.mbarrier.arrive.noinc.shared.b64", "[$shared]", "ARRIVES", why="nothing under way", **PHASES),
    # barriers in shared memory
    issued("mbarrier.init.shared.b64", "[$shared+$k*8], 32", "SYNCS|STS", before="@%first", **BARRIER),
    issued("mbarrier.inval.shared.b64", "[$shared+$k*8]", r"SYNCS\.CCTL|NOP", **BARRIER, minus=("mbarrier.init",),
           before="@%first mbarrier.init.shared.b64 [$shared+$k*8], 32; @%first"),
    issued("mbarrier.arrive.shared.b64", "%state, [$shared]", "SYNCS|ATOMS", **PHASES, declares=".reg .b64 %state;"),
    Row("mbarrier.test_wait.parity.shared.b64", "$q, [$shared], $x", "SYNCS", **PARITY),
    Row("mbarrier.try_wait.parity.shared.b64", "$q, [$shared], $x", "SYNCS", **PARITY, why="without having to wait"),
    issued(TX.format(op="expect"), "[$shared], 1", r"SYNCS\S*A0T[R1]", **WAITING,
           then=f"{TX.format(op='complete')} [$shared], 1"),
    issued(TX.format(op="complete"), "[$shared], 1", "SYNCS", **WAITING),
)  # fmt: skip
