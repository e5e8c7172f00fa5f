"""Memory: pointer chases through each level, stores, hints, fences.

The keys of loads have the latency of a miss in all caches; the caches have rows of their own, by name.
"""

from __future__ import annotations

from typing import Any

from goptx.device.latency.row import Ring, Row, issued

KIB, MIB = 1024, 1024 * 1024
HOT, ROOM, NEAR = Ring(8 * KIB), Ring(64 * KIB), Ring(8 * MIB)
COLD, FAR = Ring(64 * MIB, 2 * KIB, cold=True), Ring(512 * MIB, 16 * KIB, cold=True)

CHASE = "$x, [$x]"
WALK: dict[str, Any] = {"x": "u64", "start": "add.s64 $x, $buffer, $start;"}
HITS: dict[str, Any] = {**WALK, "ring": HOT, "chains": 16}
FEW: dict[str, Any] = {**WALK, "short": 8, "long": 32}
MISSES: dict[str, Any] = {**FEW, "ring": COLD, "chains": 0, "why": "from DRAM, in 64 MiB"}

# adjacent words, one for each lane
GLOBAL: dict[str, Any] = {"ring": ROOM, "declares": ".reg .b64 %at;",
                          "setup": "mul.wide.u32 %at, %lane, 4; add.s64 %at, %at, $buffer;"}  # fmt: skip
SHARED: dict[str, Any] = {"x": "b32", "shared": 16 * KIB, "declares": ".reg .b32 %at;",
                          "setup": "shl.b32 %at, %lane, 2; add.u32 %at, %at, $shared;"}  # fmt: skip
LOCAL: dict[str, Any] = {
    "declares": ".local .align 128 .b8 stack[16384]; .reg .b64 %at, %none;",
    "setup": "mov.u64 %at, stack; cvt.u64.u32 %none, %zero; add.s64 %at, %at, %none;",
}
CONSTANT = f".const .align 8 .b64 ring[8] = {{{', '.join(str(8 * n) for n in range(8))}}};"  # it begins at address 0

ROWS = (
    Row("ld.global.u64", CHASE, "LDG", interval_of="ld.global L1", **MISSES),
    Row("ld.u64", CHASE, "LD", interval_of="ld.generic L1", **MISSES),
    Row("ldu.global.u64", CHASE, "LDG", **MISSES),
    Row("ld.global.u64", CHASE, "LDG", name="ld.global L1", **HITS),
    Row("ld.global.nc.u64", CHASE, "LDG", name="ld.global.nc L1", **HITS),
    Row("ld.u64", CHASE, "LD", name="ld.generic L1", **HITS),
    Row("ld.global.cg.u64", CHASE, "LDG", name="ld.global L2", ring=NEAR, chains=16, why="in 8 MiB", **FEW),
    Row("ld.global.u64", CHASE, "LDG", name="ld.global DRAM 512 MiB", ring=FAR, chains=0, **FEW),
    # a word that contains its own address
    Row("ld.shared.u32", CHASE, "LDS", shared=4 * KIB, chains=16,
        start="add.u32 $x, $shared, %zero; add.u32 $x, $x, $line; st.shared.u32 [$x], $x; bar.warp.sync -1;"),
    Row("ld.local.u64", CHASE, "LDL", chains=16, **LOCAL, why="from the L1",
        start="add.s64 $x, %at, $line; st.local.u64 [$x], $x; bar.warp.sync -1;"),
    Row("ld.const.u64", CHASE, "LDC", module=CONSTANT, why="an address in a register",
        start="mov.u64 $x, ring; cvt.u64.u32 $y, %zero; add.s64 $x, $x, $y;"),
    Row("ld.param.u64", "$x, [$y]", "LDC", name="ld.param by a register", before="add.s64 $y, $x, %table;",
        declares=".reg .b64 %table;", setup="mov.u64 %table, table;", start="cvt.u64.u32 $x, %zero;"),
    Row("ld.param.f32", "$y, [table]", "FADD", then="add.f32 $x, $x, $y", why="an operand of what reads it"),
    Row("isspacep.shared", "$q, $x", "ISETP|QSPC", x="u64", then="selp.b64 $x, $b, $x, $q"),
    issued("st.global.u32", "[%at+$offset], $a", "STG", **GLOBAL),
    issued("st.u32", "[%at+$offset], $a", "ST", **GLOBAL),
    issued("st.shared.u32", "[%at+$offset], $a", "STS", **SHARED),
    issued("st.local.u32", "[%at+$offset], $a", "STL", **LOCAL),
    Row("st.shared.u32", "[%at+$line], $x", "STS", name="st.shared, ld.shared", **SHARED,
        after="ld.volatile.shared.u32 $x, [%at+$line];"),
    issued("prefetch.global.L2", "[%at+$offset]", "CCTL|PREFETCH", **GLOBAL),
    issued("prefetchu.L1", "[%at+$offset]", "CCTL|PREFETCH", **GLOBAL),
    issued("discard.global.L2", "[$buffer+$offset], 128", "CCTL|DISCARD", ring=ROOM),
    issued("applypriority.global.L2::evict_normal", "[$buffer+$offset], 128", "CCTL|APPLY", ring=ROOM),
    issued("griddepcontrol.wait", "", "ACQBULK", arch=90, why="a grid that depends on none"),
    issued("griddepcontrol.launch_dependents", "", "PREEXIT", arch=90, why="none depends on it"),
    # fences
    *(issued(f"membar.{level}", "", "MEMBAR", name=name, why="nothing under way")
      for level, name in (("gl", ""), ("sys", "membar.sys"), ("cta", "membar.cta"))),
    issued("membar.gl", "", "MEMBAR", name="st.global, membar.gl", before="st.global.u32 [%at+$offset], $a;", **GLOBAL),
    issued("fence.acq_rel.gpu", "", "MEMBAR", why="nothing under way"),
)  # fmt: skip
