"""Barriers of a CTA and of a cluster, by the number of warps."""

from __future__ import annotations

from goptx.device.latency.row import Row

WARPS = 8  # those of the rows that are keys
_META = {"x": "b32", "latency": False, "chains": 1}

ROWS = (
    Row("bar.sync", "0", "BAR", threads=32 * WARPS, why=f"{WARPS} warps", **_META),
    *(Row("bar.sync", "0", "BAR", name=f"bar.sync {n} warps", threads=32 * n, **_META) for n in (1, 2, 4, 8, 16, 32)),
    Row("barrier.sync", "0", "BAR", threads=32 * WARPS, why=f"{WARPS} warps", **_META),
    Row("bar.red.popc.u32", "$x, 0, $q", "BAR", ahead="setp.lt.u32 $q, $x, $a;", minus=("setp.u32",), chains=0,
        threads=32 * WARPS, why=f"{WARPS} warps"),
    Row("barrier.red.popc.u32", "$x, 0, $q", "BAR", ahead="setp.lt.u32 $q, $x, $a;", minus=("setp.u32",), chains=0,
        threads=32 * WARPS, why=f"{WARPS} warps"),
    Row("bar.arrive", "$id, 64", "BAR.ARV", ahead="@%waits bar.sync $id, 64; @!%waits", threads=64, short=4, long=7,
        declares=".reg .pred %waits;", setup="setp.ge.u32 %waits, %thread, 32;", between="bar.sync 0;",
        why="with a skipped instruction", **_META),
    Row("barrier.cluster.wait", "", "UCGABAR_WAIT", ahead="barrier.cluster.arrive;", threads=32 * WARPS, arch=90,
        why=f"arrive and wait, a cluster of one CTA of {WARPS} warps", **_META),
)  # fmt: skip
