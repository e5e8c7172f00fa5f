"""Every opcode of the warp's matrix instructions that the emulator knows, in full, as ptxas takes it."""

from emulator.integer_opcodes import expanded

ACCUMULATED = "f16.f16,f16.f32,f32.f16,f32.f32"  # D and C of wmma
SHAPES = "m16n16k16,m32n8k16,m8n32k16"
LAYOUTS = "row.row,row.col,col.row,col.col"
ROUNDINGS = ",.rn,.rz,.rm,.rp"

PATTERNS = f"""
    mma.sync.aligned.m8n8k4.{{{LAYOUTS}}}.{{f16.f16.f16.f16,f32.f16.f16.f16,f32.f16.f16.f32}}
    mma.sync.aligned.{{m16n8k8,m16n8k16}}.row.col.{{f16.f16.f16.f16,f32.f16.f16.f32,f32.bf16.bf16.f32}}
    mma.sync.aligned.{{m16n8k4,m16n8k8}}.row.col.f32.tf32.tf32.f32
    mma.sync.aligned.{{m16n8k16,m16n8k32}}.row.col.f32.{{e4m3,e5m2}}.{{e4m3,e5m2}}.f32
    mma.sync.aligned.{{m16n8k16,m16n8k32}}.row.col.f16.{{e4m3,e5m2}}.{{e4m3,e5m2}}.f16
    mma.sync.aligned.{{m8n8k4,m16n8k4,m16n8k8,m16n8k16}}.row.col{{{ROUNDINGS}}}.f64.f64.f64.f64
    mma.sync.aligned.{{m8n8k16,m16n8k16,m16n8k32}}.row.col{{,.satfinite}}.s32.{{s8,u8}}.{{s8,u8}}.s32
    mma.sync.aligned.{{m8n8k32,m16n8k32,m16n8k64}}.row.col{{,.satfinite}}.s32.{{s4,u4}}.{{s4,u4}}.s32
    mma.sync.aligned.{{m8n8k128,m16n8k128,m16n8k256}}.row.col.s32.b1.b1.s32.{{and,xor}}.popc

    wmma.mma.sync.aligned.{{{LAYOUTS}}}.{{{SHAPES}}}.{{{ACCUMULATED},f32.bf16.bf16.f32}}
    wmma.mma.sync.aligned.{{{LAYOUTS}}}.{{{SHAPES}}}.s32.{{s8.s8,u8.u8}}.s32{{,.satfinite}}
    wmma.mma.sync.aligned.{{{LAYOUTS}}}.m16n16k8.f32.tf32.tf32.f32
    wmma.mma.sync.aligned.{{{LAYOUTS}}}.m8n8k4{{{ROUNDINGS}}}.f64.f64.f64.f64
    wmma.mma.sync.aligned.row.col.m8n8k32.s32.{{s4.s4,u4.u4}}.s32{{,.satfinite}}
    wmma.mma.{{and,xor}}.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32

    wmma.load.{{a,b}}.sync.aligned.{{row,col}}.{{{SHAPES}}}{{,.global,.shared,.shared::cta}}.{{f16,bf16,s8,u8}}
    wmma.load.{{a,b}}.sync.aligned.{{row,col}}.{{m16n16k8.tf32,m8n8k4.f64}}
    wmma.load.{{a.sync.aligned.row,b.sync.aligned.col}}.{{m8n8k32.s4,m8n8k32.u4,m8n8k128.b1}}
    {{wmma.load.c,wmma.store.d}}.sync.aligned.{{row,col}}.{{{SHAPES}}}{{,.global,.shared}}.{{f16,f32,s32}}
    {{wmma.load.c,wmma.store.d}}.sync.aligned.{{row,col}}.{{m16n16k8.f32,m8n8k4.f64,m8n8k32.s32,m8n8k128.s32}}

    {{ldmatrix,stmatrix}}.sync.aligned.m8n8.{{x1,x2,x4}}{{,.trans}}{{,.shared,.shared::cta}}.b16
    movmatrix.sync.aligned.m8n8.trans.b16
"""

PATTERN_120A = (
    "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.{f32,f16}.{e4m3,e5m2,e3m2,e2m3}.{e4m3,e5m2,e3m2,e2m3}.{f32,f16}"
)

OPCODES: tuple[str, ...] = tuple(opcode for pattern in PATTERNS.split() for opcode in expanded(pattern))
OPCODES_120A: tuple[str, ...] = tuple(o for o in expanded(PATTERN_120A) if o.split(".")[7] == o.split(".")[10])
