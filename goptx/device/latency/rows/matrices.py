"""Matrices: products with constant A and B and a chained accumulator; loads and stores."""

from __future__ import annotations

from typing import Any

from goptx.device.latency.row import Ring, Row, issued

Widths = tuple[int, int, int]  # the numbers of registers of D and C, of A, of B

TILES = Ring(64 * 1024 * 1024, 2048, cold=True, fill=1024)
# a row of the matrix in shared memory contains the address of a row
SELF = "add.u32 $x, $shared, %zero; add.u32 $x, $x, $line; {also} st.shared.v4.u32 [$x], {{{word}}}; bar.warp.sync -1;"
SHARED: dict[str, Any] = {"x": "b32", "shared": 4096, "start": SELF.format(also="", word="$x, $x, $x, $x")}
HALVES = SELF.format(also="prmt.b32 $y, $x, $x, 0x1010;", word="$y, $y, $y, $y")  # both halves equal the low one


def _product(opcode: str, widths: Widths, name: str, x: str) -> Row:
    return Row(opcode, "$X, $A, $B, $X", r"\w*MMA", name=name, x=x, widths=widths, chains=4, short=4, long=16)


def _mma(shape: str, types: str, widths: Widths, name: str | None = None, x: str = "b32") -> Row:
    name = f"mma {shape} {types}" if name is None else name
    return _product(f"mma.sync.aligned.{shape}.row.col.{types}", widths, name, x)


def _wmma(shape: str, types: str, widths: Widths, name: str | None = None, x: str = "b32") -> Row:
    name = f"wmma.mma {shape} {types}" if name is None else name
    return _product(f"wmma.mma.sync.aligned.row.col.{shape}.{types}", widths, name, x)


ROWS = (
    _mma("m16n8k16", "f32.f16.f16.f32", (4, 4, 2), name=""),
    _mma("m16n8k16", "f16.f16.f16.f16", (2, 4, 2)),
    _mma("m16n8k16", "f32.bf16.bf16.f32", (4, 4, 2)),
    _mma("m16n8k8", "f32.f16.f16.f32", (4, 2, 1)),
    _mma("m16n8k8", "f32.tf32.tf32.f32", (4, 4, 2)),
    _mma("m16n8k4", "f32.tf32.tf32.f32", (4, 2, 1)),
    _mma("m16n8k32", "s32.s8.s8.s32", (4, 4, 2)),
    _mma("m8n8k4", "f64.f64.f64.f64", (2, 1, 1), x="f64"),
    _wmma("m16n16k16", "f32.f32", (8, 8, 8), name=""),
    _wmma("m16n16k16", "f16.f16", (4, 8, 8)),
    _wmma("m16n16k16", "f32.bf16.bf16.f32", (8, 4, 4)),
    _wmma("m16n16k8", "f32.tf32.tf32.f32", (8, 4, 4)),
    _wmma("m16n16k16", "s32.s8.s8.s32", (8, 2, 2)),
    _wmma("m8n8k4", "f64.f64.f64.f64", (2, 1, 1), x="f64"),
    # all words of a tile are the position of the next; the words of a lane are combined, so that each one counts
    Row("wmma.load.c.sync.aligned.row.m16n16k16.global.f32", "$X, [%tile], 16", "LDG", x="b32", widths=(8, 1, 1),
        ring=TILES, chains=0, short=4, long=16, values=(0, 0, 0), why="from DRAM", declares=".reg .b64 %tile;",
        before="cvt.u64.u32 %tile, $x;", first="add.s64 %tile, %tile, $buffer", minus=("lop3.b32", "lop3.b32"),
        after=" ".join(f"or.b32 $x, $x, $x{n};" for n in range(1, 8))),
    issued("wmma.store.d.sync.aligned.row.m16n16k16.global.f32", "[$buffer+$offset], $X, 16", "STG",
           widths=(8, 1, 1), ring=Ring(64 * 1024)),
    Row("ldmatrix.sync.aligned.m8n8.x4.shared.b16", "$X, [$x]", "LDSM", widths=(4, 1, 1), **SHARED),
    Row("ldmatrix.sync.aligned.m8n8.x1.shared.b16", "$X, [$x]", "LDSM", name="ldmatrix.x1", **SHARED),
    Row("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16", "$X, [$x]", "LDSM", name="ldmatrix.x4.trans",
        widths=(4, 1, 1), then="and.b32 $x, $x, 0xffff", **{**SHARED, "start": HALVES}),
    issued("stmatrix.sync.aligned.m8n8.x4.shared.b16", "[%row+$offset], $X", "STSM", widths=(4, 1, 1), shared=16384,
           declares=".reg .b32 %row;", setup="shl.b32 %row, %lane, 4; add.u32 %row, %row, $shared;", arch=90),
    Row("movmatrix.sync.aligned.m8n8.trans.b16", "$x, $x", "MOVM", x="b32"),
)  # fmt: skip
