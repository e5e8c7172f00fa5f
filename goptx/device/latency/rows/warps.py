"""Operations of the lanes of a warp, the warps of a CTA and the CTAs of a cluster."""

from __future__ import annotations

from typing import Any

from goptx.device.latency.row import Row, issued

WARPS = 8  # warps of the rows of barriers that are keys
CTA: dict[str, Any] = {"threads": 32 * WARPS, "why": f"{WARPS} warps"}
BALLOT: dict[str, Any] = {"first": "setp.lt.u32 $q, $x, $a"}
# the first warp arrives, the other waits
ARRIVE: dict[str, Any] = {
    "threads": 64, "declares": ".reg .pred %waits;", "setup": "setp.ge.u32 %waits, %thread, 32;",
    "before": "@%waits bar.sync $id, 64; @!%waits", "between": "bar.sync 0;", "short": 4, "long": 7,
    "why": "and an instruction that is passed over",
}  # fmt: skip

ROWS = (
    Row("shfl.sync.bfly.b32", "$x, $x, 1, 31, -1", "SHFL", chains=16),
    Row("shfl.sync.idx.b32", "$x, $x, $a, 31, -1", "SHFL", chains=16, name="shfl.idx"),
    Row("shfl.sync.up.b32", "$x, $x, 1, 0, -1", "SHFL", chains=16, name="shfl.up"),
    Row("shfl.sync.down.b32", "$x, $x, 1, 31, -1", "SHFL", chains=16, name="shfl.down"),
    Row("vote.sync.ballot.b32", "$x, $q, -1", "VOTE", **BALLOT),
    Row("vote.sync.any.pred", "$q, $q, -1", "VOTE", name="vote.any", x="b32", then="selp.b32 $x, $b, $x, $q", **BALLOT),
    Row("match.any.sync.b32", "$x, $x, -1", "MATCH"),
    Row("match.all.sync.b32", "$x|$q, $x, -1", "MATCH", name="match.all"),
    Row("redux.sync.add.u32", "$x, $x, -1", "REDUX", chains=4),
    Row("elect.sync", "$y|$q, $x", "ELECT", x="b32", then="or.b32 $x, $y, $a", values=(-1, -1, -1), arch=90),
    issued("bar.warp.sync", "-1", "WARPSYNC|NOP", why="all lanes are there"),
    # of a CTA
    issued("bar.sync", "0", "BAR", **CTA),
    issued("barrier.sync", "0", "BAR", **CTA),
    *(issued("bar.sync", "0", "BAR", name=f"bar.sync, warps: {n}", threads=32 * n) for n in (1, 2, 4, 8, 16, 32)),
    Row("bar.red.popc.u32", "$x, 0, $q", "BAR", chains=0, **BALLOT, **CTA),
    Row("barrier.red.popc.u32", "$x, 0, $q", "BAR", chains=0, **BALLOT, **CTA),
    issued("bar.arrive", "$id, 64", r"BAR\.ARV", **ARRIVE),
    # of a cluster, which is one CTA here
    issued("barrier.cluster.wait", "", "UCGABAR_WAIT", before="barrier.cluster.arrive;", arch=90, threads=32 * WARPS,
           why=f"with the arrival, {WARPS} warps"),
    Row("mapa.shared::cluster.u32", "$x, $x, $a0", "MAPA|PRMT|LEA", values=(4096, 0, 0), arch=90),
    Row("getctarank.shared::cluster.u32", "$y, $x", "PRMT|SHF|LOP3", then="add.s32 $x, $y, $a", arch=90),
)  # fmt: skip
