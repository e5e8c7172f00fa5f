"""What the lanes of a warp do together: shuffles, votes, matrices."""

from __future__ import annotations

from typing import Any

from goptx.device.latency.row import Ring, Row

_MMA = {"x": "b32", "chains": 4, "short": 4, "long": 16}
_TILES = Ring(64 * 1024 * 1024, 2048, cold=True, fill=1024)


def _mma(shape: str, types: str, widths: tuple[int, int, int], name: bool = True, sass: str = r"\w*MMA", **more: Any) -> Row:
    opcode = f"mma.sync.aligned.{shape}.row.col.{types}"
    label = f"mma {shape} {types}" if name else ""
    return Row(opcode, "$X, $A, $B, $X", sass, name=label, widths=widths, **{**_MMA, **more})


def _wmma(types: str, widths: tuple[int, int, int], name: str = "", shape: str = "m16n16k16", **more: Any) -> Row:
    return Row(f"wmma.mma.sync.aligned.row.col.{shape}.{types}", "$X, $A, $B, $X", r"\w*MMA", name=name, widths=widths, **{**_MMA, **more})


_ROWS = "add.u32 $x, %shared, %zero; add.u32 $x, $x, $line; st.shared.v4.u32 [$x], {$x, $x, $x, $x}; bar.warp.sync -1;"

ROWS = (
    *(Row(f"shfl.sync.{mode}.b32", f"$x, $x, {by}, {clamp}, -1", "SHFL", name=name, chains=16)
      for mode, by, clamp, name in (("bfly", 1, 31, ""), ("idx", "$a", 31, "shfl.idx"), ("up", 1, 0, "shfl.up"),
                                    ("down", 1, 31, "shfl.down"))),
    Row("vote.sync.ballot.b32", "$x, $q, -1", "VOTE", ahead="setp.lt.u32 $q, $x, $a;", minus=("setp.u32",)),
    Row("vote.sync.any.pred", "$q, $q, -1", "VOTE", name="vote.any", x="b32", ahead="setp.lt.u32 $q, $x, $a;",
        back="selp.b32 $x, $b, $x, $q;", minus=("setp.u32", "selp.b32")),
    Row("match.any.sync.b32", "$x, $x, -1", "MATCH"),
    Row("match.all.sync.b32", "$x|$q, $x, -1", "MATCH", name="match.all"),
    Row("redux.sync.add.u32", "$x, $x, -1", "REDUX", chains=4),
    Row("elect.sync", "$y|$q, $x", "ELECT", x="b32", back="or.b32 $x, $y, $a;", minus=("or.b32",), values=(-1, -1, -1), arch=90),
    Row("bar.warp.sync", "-1", "WARPSYNC|NOP|BAR", x="b32", latency=False, chains=1),
    Row("mapa.shared::cluster.u32", "$x, $x, $a0", "MAPA|PRMT|LEA|LOP3|IMAD", values=(4096, 0, 0), arch=90),
    Row("getctarank.shared::cluster.u32", "$y, $x", "PRMT|SHF|LOP3", back="add.s32 $x, $y, $a;", minus=("add.s32",), arch=90),
    # matrices: A and B stay, the accumulator is handed on
    _mma("m16n8k16", "f32.f16.f16.f32", (4, 4, 2), name=False),
    _mma("m16n8k16", "f16.f16.f16.f16", (2, 4, 2)),
    _mma("m16n8k16", "f32.bf16.bf16.f32", (4, 4, 2)),
    _mma("m16n8k8", "f32.f16.f16.f32", (4, 2, 1)),
    _mma("m16n8k8", "f32.tf32.tf32.f32", (4, 4, 2)),
    _mma("m16n8k4", "f32.tf32.tf32.f32", (4, 2, 1)),
    _mma("m16n8k32", "s32.s8.s8.s32", (4, 4, 2)),
    _mma("m8n8k4", "f64.f64.f64.f64", (2, 1, 1), x="f64"),
    _wmma("f32.f32", (8, 8, 8)),
    _wmma("f16.f16", (4, 8, 8), "wmma.mma f16"),
    _wmma("f32.bf16.bf16.f32", (8, 4, 4), "wmma.mma bf16"),
    _wmma("f32.tf32.tf32.f32", (8, 4, 4), "wmma.mma tf32", shape="m16n16k8"),
    _wmma("s32.s8.s8.s32", (8, 2, 2), "wmma.mma s8"),
    _wmma("f64.f64.f64.f64", (2, 1, 1), "wmma.mma f64", shape="m8n8k4", x="f64"),
    Row("wmma.load.c.sync.aligned.row.m16n16k16.global.f32", "$X, [%tile], 16", "LDG", x="b32", widths=(8, 1, 1),
        ring=_TILES, chains=0, short=4, long=16, declares=".reg .b64 %tile;", values=(0, 0, 0),
        ahead="cvt.u64.u32 %tile, $x; add.s64 %tile, %tile, $buffer;",
        back=" ".join(f"or.b32 $x, $x, $x{n};" for n in range(1, 8)), minus=("add.s64", "lop3.b32", "lop3.b32"), why="from DRAM"),
    Row("wmma.store.d.sync.aligned.row.m16n16k16.global.f32", "[$buffer+$offset], $X, 16", "STG", x="b32",
        widths=(8, 1, 1), ring=Ring(16384), latency=False, chains=1),
    # each row of a matrix is the address of a row
    *(Row(f"ldmatrix.sync.aligned.m8n8.{count}.shared.b16", "$X, [$x]", "LDSM", x="b32", widths=(n, 1, 1), shared=4096,
          name=name, start=_ROWS)
      for count, n, name in (("x4", 4, ""), ("x1", 1, "ldmatrix.x1"))),
    Row("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16", "$X, [$x]", "LDSM", x="b32", widths=(4, 1, 1), shared=4096,
        name="ldmatrix.x4.trans", back="and.b32 $x, $x, 0xffff;", minus=("and.b32",),
        start=_ROWS.replace("{$x, $x, $x, $x}", "{$y, $y, $y, $y}").replace("st.", "prmt.b32 $y, $x, $x, 0x1010; st.")),
    Row("stmatrix.sync.aligned.m8n8.x4.shared.b16", "[%row+$offset], $X", "STSM", x="b32", widths=(4, 1, 1), shared=16384,
        declares=".reg .b32 %row;", setup="shl.b32 %row, %lane, 4; add.u32 %row, %row, %shared;", latency=False, chains=1, arch=90),
    Row("movmatrix.sync.aligned.m8n8.trans.b16", "$x, $x", "MOVM", x="b32"),
)  # fmt: skip
