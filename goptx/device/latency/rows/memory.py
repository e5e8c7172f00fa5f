"""Memory: pointer chases through each level, stores, atomics, copies in the background, fences.

The keys of loads have the latency of what no cache holds; the caches have rows of their own, by name.
"""

from __future__ import annotations

from typing import Any

from goptx.device.latency.row import Ring, Row

KIB, MIB = 1024, 1024 * 1024
HOT, ROOM, NEAR, COLD = Ring(8 * KIB), Ring(64 * KIB), Ring(8 * MIB), Ring(64 * MIB, 2048, cold=True)
FAR = Ring(512 * MIB, 16 * KIB, cold=True)
CHASE = "$x, [$x]"
ALONG = {"start": "add.s64 $x, $buffer, $start;", "x": "u64"}
FEW = {"short": 8, "long": 32}

_LANES = {"declares": ".reg .b64 %at;", "setup": "mul.wide.u32 %at, %lane, 4; add.s64 %at, %at, $buffer;"}
_SHARED = {"declares": ".reg .b32 %at;", "setup": "shl.b32 %at, %lane, 2; add.u32 %at, %at, %shared;", "shared": 16 * KIB}
_LOCAL = {"declares": ".local .align 128 .b8 stack[16384]; .reg .b64 %at, %none;",
          "setup": "mov.u64 %at, stack; cvt.u64.u32 %none, %zero; add.s64 %at, %at, %none;"}  # fmt: skip


def _issued(opcode: str, operands: str, sass: str, **more: Any) -> Row:
    """What no other instruction waits for: only its interval can be seen."""
    return Row(opcode, operands, sass, **{"latency": False, "chains": 1, "x": "b32", **more})


ROWS = (
    Row("ld.global.u64", CHASE, "LDG", ring=COLD, chains=0, interval_of="ld.global L1", why="from DRAM, in 64 MiB",
        **ALONG, **FEW),
    Row("ld.global.u64", CHASE, "LDG", name="ld.global L1", ring=HOT, chains=16, **ALONG),
    Row("ld.global.nc.u64", CHASE, "LDG", name="ld.global.nc L1", ring=HOT, chains=16, **ALONG),
    Row("ld.global.cg.u64", CHASE, "LDG", name="ld.global L2", ring=NEAR, chains=16, why="8 MiB", **ALONG, **FEW),
    Row("ld.global.u64", CHASE, "LDG", name="ld.global DRAM 512 MiB", ring=FAR, chains=0, **ALONG, **FEW),
    Row("ld.u64", CHASE, "LD", ring=COLD, chains=0, interval_of="ld.generic L1", why="from DRAM, in 64 MiB",
        **ALONG, **FEW),
    Row("ld.u64", CHASE, "LD", name="ld.generic L1", ring=HOT, chains=16, **ALONG),
    Row("ldu.global.u64", CHASE, "LDG", ring=COLD, chains=0, why="from DRAM, in 64 MiB", **ALONG, **FEW),
    Row("ld.shared.u32", CHASE, "LDS", shared=4 * KIB, chains=16, x="u32",
        start="add.u32 $x, %shared, %zero; add.u32 $x, $x, $line; st.shared.u32 [$x], $x; bar.warp.sync -1;"),
    Row("ld.local.u64", CHASE, "LDL", chains=16, x="u64", **_LOCAL, why="from the L1",
        start="add.s64 $x, %at, $line; st.local.u64 [$x], $x; bar.warp.sync -1;"),
    Row("ld.const.u64", CHASE, "LDC", x="u64", module=f".const .align 8 .b64 ring[8] = {{{', '.join(str(8 * n) for n in range(8))}}};",
        start="mov.u64 $x, ring; cvt.u64.u32 $y, %zero; add.s64 $x, $x, $y; add.s64 $x, $x, 8*$j;"),
    Row("ld.param.u64", "$x, [$y]", "LDC", x="u64", ahead="add.s64 $y, $x, %table;", declares=".reg .b64 %table;",
        setup="mov.u64 %table, table;", start="cvt.u64.u32 $x, %zero;"),
    Row("isspacep.shared", "$q, $x", "ISETP|QSPC", x="u64", back="selp.b64 $x, $b, $x, $q;", minus=("selp.b64",)),
    # stores
    _issued("st.global.u32", "[%at+$offset], $a", "STG", ring=ROOM, **_LANES),
    _issued("st.u32", "[%at+$offset], $a", "ST", ring=ROOM, **_LANES),
    _issued("st.shared.u32", "[%at+$offset], $a", "STS", **_SHARED),
    _issued("st.local.u32", "[%at+$offset], $a", "STL", **_LOCAL),
    Row("st.shared.u32", "[%at+$line], $x", "STS", name="st.shared then ld.shared", back="ld.volatile.shared.u32 $x, [%at+$line];",
        x="b32", **_SHARED),
    # atomics: each lane a word of its own, side by side
    Row("atom.global.add.u32", "$x, [%at+$line], $x", "ATOM", ring=ROOM, **_LANES, **FEW),
    Row("atom.global.cas.b32", "$x, [%at+$line], $x, $a", "ATOM", ring=ROOM, name="atom.global.cas", **_LANES, **FEW),
    Row("atom.global.add.f32", "$x, [%at+$line], $x", "ATOM", ring=ROOM, name="atom.global.add.f32", **_LANES, **FEW),
    Row("atom.add.u32", "$x, [%at+$line], $x", "ATOM", ring=ROOM, **_LANES, **FEW),
    Row("atom.shared.add.u32", "$x, [%at+$line], $x", "ATOMS", **_SHARED, start="st.shared.u32 [%at+$line], %zero;", **FEW),
    Row("atom.shared.cas.b32", "$x, [%at+$line], $x, $a", "ATOMS", name="atom.shared.cas", **_SHARED, start="st.shared.u32 [%at+$line], %zero;", **FEW),
    Row("atom.shared.add.f32", "$x, [%at+$line], $x", "ATOMS", name="atom.shared.add.f32", chains=2, short=2, long=6, **_SHARED, start="st.shared.u32 [%at+$line], %zero;"),
    _issued("red.global.add.u32", "[%at+$offset], $a", "RED|ATOM", ring=ROOM, **_LANES),
    _issued("red.add.u32", "[%at+$offset], $a", "RED|ATOM", ring=ROOM, **_LANES),
    _issued("red.shared.add.u32", "[%at+$line], $a", "ATOMS", **_SHARED, start="st.shared.u32 [%at+$line], %zero;", chains=8),
    # hints
    _issued("prefetch.global.L2", "[%at+$offset]", "CCTL|PREFETCH|LDG", ring=ROOM, **_LANES),
    _issued("prefetchu.L1", "[%at+$offset]", "CCTL|PREFETCH|LDG", ring=ROOM, **_LANES),
    _issued("discard.global.L2", "[$buffer+$offset], 128", "CCTL|DISCARD", ring=ROOM),
    _issued("applypriority.global.L2::evict_normal", "[$buffer+$offset], 128", "CCTL|APPLY", ring=ROOM),
    # copies in the background
    _issued("cp.async.cg.shared.global", "[%to16+$k*16], [$buffer+$k*16], 16", "LDGSTS", ring=ROOM, shared=16 * KIB,
            declares=".reg .b32 %to16;", setup="add.u32 %to16, %shared, 0;", between="cp.async.wait_all;"),
    _issued("cp.async.commit_group", "", "LDGDEPBAR", ),
    Row("cp.async.wait_group", "0", "DEPBAR", x="b64", chains=0, ring=COLD, shared=128, **FEW, start="mov.u64 $x, $buffer;",
        ahead="cp.async.ca.shared.global [$shared], [$x], 8; cp.async.commit_group;",
        back="ld.shared.u64 $x, [$shared];", minus=("ld.shared",), why="a copy from DRAM and the wait for it"),
    Row("cp.async.wait_all", "", "DEPBAR", x="b64", chains=0, ring=COLD, shared=128, **FEW, start="mov.u64 $x, $buffer;",
        ahead="cp.async.ca.shared.global [$shared], [$x], 8;",
        back="ld.shared.u64 $x, [$shared];", minus=("ld.shared",), why="a copy from DRAM and the wait for it"),
    _issued("griddepcontrol.wait", "", "ACQBULK|DEPBAR|NOP|WARPSYNC", arch=90),
    _issued("griddepcontrol.launch_dependents", "", "PREEXIT|NOP|WARPSYNC", arch=90),
    # fences, with nothing under way
    _issued("membar.gl", "", "MEMBAR"),
    _issued("membar.sys", "", "MEMBAR", name="membar.sys"),
    _issued("membar.cta", "", "MEMBAR", name="membar.cta"),
    _issued("fence.acq_rel.gpu", "", "MEMBAR"),
    _issued("membar.gl", "", "MEMBAR", name="membar.gl behind a store", ahead="st.global.u32 [%at+$offset], $a;", ring=ROOM, **_LANES),
)  # fmt: skip
