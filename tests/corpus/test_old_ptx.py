"""PTX as compilers of PTX 1.0 to 3.0 wrote it. The files in old/ are written for this test, by the manuals of that age.

What ptxas 13.0 takes is read, and is printed as text of the same machine code; what it refuses as no PTX is refused.
"""

import re
import subprocess
from pathlib import Path

import pytest

from goptx.device.assemble import find_ptxas
from goptx.errors import PtxSyntaxError
from goptx.ptx.parse import parse

FILES = [pytest.param(path.read_text(), id=path.stem) for path in sorted(Path(__file__).parent.glob("old/*.ptx"))]
PTXAS = find_ptxas()
KERNEL = ".entry k { ret; }\n"
CUDA_1, CUDA_3, CUDA_4 = ("1.4", "sm_10"), ("2.1", "sm_20"), ("3.0", "sm_20")


def module(body: str, age: tuple[str, str] = CUDA_3) -> str:
    return f".version {age[0]}\n.target {age[1]}\n{body}\n"


def machine_code(text: str, folder: Path) -> bytes | None:
    """What ptxas 13.0 makes of it; None where it refuses. The oldest architecture that it knows is sm_75."""
    assert PTXAS is not None
    (folder / "in.ptx").write_text(text)
    command = [PTXAS, "-arch=sm_75", "in.ptx", "-o", "out.cubin"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return (folder / "out.cubin").read_bytes() if done.returncode == 0 else None


HEADS = [
    ".func f",
    ".func f ()",
    ".visible .func f (.param .u64 a)",
    ".func (.param .s32 r) f",
    ".func (.reg .u32 r, .reg .pred s) f (.reg .u32 a, .reg .v2 .f32 b)",
    ".visible .func (.param .align 8 .b8 r[16]) f (.param .align 4 .b8 a[8], .param .u32 b)",
]
FOLLOWING = ["", '.file 1 "x"', ".global .u32 g;", ".align 4 .const .u32 c = 3;", ".func g { ret; }", '#line 3 "x"']
FOLLOWING += ['.pragma "nounroll";', "@@DWARF .byte 1", ".reg .u32 z;", ".section .debug_str { .b8 1 }"]
DECLARATIONS = [
    module(f"{head}\n{after}\n{head} {{ ret; }}\n{KERNEL}", age)
    for head in HEADS
    for after in FOLLOWING
    for age in (CUDA_1, CUDA_3, CUDA_4)
    if not (age == CUDA_1 and (".param" in head or ".section" in after or ".pragma" in after))
    and not (age == CUDA_4 and (".reg" in head or ".reg" in after))
    and not (age != CUDA_1 and after.startswith(("@@", ".reg")))
]
TAKEN = [
    *DECLARATIONS[::7],  # each is read; some are assembled
    module(KERNEL, ("1.0", "sm_10")),
    module(KERNEL, ("2.0", "compute_10, map_f64_to_f32")),
    module(KERNEL, ("1.4", "sm_10, map_f64_to_f32\n.target sm_12")),
    module(".entry k .maxntid 8,8 .maxnreg 32 .maxnctapersm 3 { ret; }", CUDA_1),
    module(".entry k { .param .u64 a; .param .align 8 .b8 s[16]; exit; }", ("1.3", "sm_10")),
    module(".func f { ret; }\n.entry k { call f; call.uni f; call f, (); ret; }", CUDA_1),
    module(".func (.reg .u32 r) f (.reg .u32 a) { ret; }\n.entry k { .reg .u32 a; call (a), f, (3); ret; }", CUDA_1),
    module(".func (.reg .u32 r) f { ret; }\n.entry k { .reg .u32 a; call (a), f; call (_), f, (); ret; }", CUDA_1),
    module(".reg .u32 %ra<17>;\n.entry k { .reg .u32 %ra<4>; mov.u32 %ra1, 0; ret; }", CUDA_1),
    module(".local .align 8 .b8 l[32];\n.const .u32 c = 3;\n.tex .u32 t, u;\n" + KERNEL, CUDA_1),
    module(".extern .const[3] .u32 x[];\n.entry k { .reg .u32 r; ld.const[3].u32 r, [x]; ret; }", ("1.5", "sm_10")),
    module(".entry k { .reg .pred %p1; $L1: @%p1 bra $L2; @ ! %p1 bra.uni $L1; .reg .u32 r; $L2: exit; $L3: }", CUDA_1),
    module(".entry k { .reg .v4 .u32 v; .reg .v2 .f32 w<3>; mov.u32 v.x, v.w; mov.u32 v.r, v.a; ret; }", CUDA_1),
    module(".entry k { .reg .u32 a; P: .callprototype _; call a, P; Q: .callprototype () _ (); call a, Q; ret; }"),
    module(".func f { ret; }\n.entry k { .reg .u32 a; mov.u32 a, f; T: .calltargets f; call a, T; ret; }"),
    module(".align 8 .global .v2 .f32 x;\n.extern .align 16 .shared .b8 s[];\n" + KERNEL),
    module(".func f (.align 4 .param .b8 a[8]) { ret; }\n.entry k (.align 8 .param .b8 a[8]) { ret; }"),
    module(".entry k { .align 4 .local .u32 l; .align 8 .param .b8 a[8]; ret; }"),
    module(".shared .b8 s[WARP_SZ];\n" + KERNEL),
    module(".section .debug_str { .byte 1\n.4byte 0x12\n.quad 0x3 }\n" + KERNEL),
    module(".entry k (.param .u64 p) { .reg .u64 d; ld.param.u64 d, [p]; st.u64 [d], d; ret; }", ("2.3", "sm_20")),
    module(".shared .u32 s; .entry k { .reg .u32 r; mov.u32 r, s; ld.shared.u32 r, [r+4]; ret; }", ("4.0", "sm_30")),
]  # fmt: skip
REFUSED = [
    module(".entry j (.param .b32 y)\n" + KERNEL),
    module(".func f ();;\n" + KERNEL),
    module(".func f () { ret; };\n" + KERNEL),
    module(";\n" + KERNEL),
    module(".entry k { ;; ret; }"),
    module(".entry k .maxntid 4 4 4 { ret; }"),
    module(".entry k .maxntid 4, .maxnreg 32 { ret; }"),
    module('.func f () .pragma "nounroll"; { ret; }\n' + KERNEL),
    module(".func .visible f () { ret; }\n" + KERNEL),
    module(".surf .u32 s;\n" + KERNEL, CUDA_1),
    module(".const [3] .u32 x;\n" + KERNEL, CUDA_1),
    module(".entry k {\n@@DWARF .byte 1\nret; }", CUDA_1),
    module('.file 1 "x";\n' + KERNEL),
    module(".shared .b8 s[WARP_SIZE];\n" + KERNEL),
    module(".struct S { .u32 a; };\n" + KERNEL),
    module("#define x 3\n" + KERNEL),
    ".version 2\n.target sm_20\n" + KERNEL,
    ".version 1.4;\n.target sm_10;\n" + KERNEL,
]


@pytest.mark.parametrize("text", [*FILES, *DECLARATIONS, *TAKEN])
def test_old_text_is_read_and_printed(text: str) -> None:
    printed = str(parse(text))
    assert parse(printed) == parse(text)
    assert str(parse(printed)) == printed


@pytest.mark.skipif(PTXAS is None, reason="no ptxas on the PATH or in nvidia-cuda-nvcc, so no machine code to compare")
@pytest.mark.parametrize("text", [*FILES, *TAKEN])
def test_old_text_is_printed_as_the_same_machine_code(text: str, tmp_path: Path) -> None:
    before = machine_code(text, tmp_path)
    assert before is not None
    assert machine_code(str(parse(text)), tmp_path) == before


@pytest.mark.parametrize("text", REFUSED)
def test_what_no_old_compiler_wrote(text: str, tmp_path: Path) -> None:
    with pytest.raises(PtxSyntaxError, match=re.escape("<ptx>:")):
        parse(text)
    assert PTXAS is None or machine_code(text, tmp_path) is None


@pytest.mark.parametrize(
    ("body", "bits"),
    [
        ("", 64),
        ("ld.global.u32 r1, [d1+4];", 64),
        ("ld.global.u32 r1, [r1+4];", 32),
        ("st.u32 [r1], r2;", 32),
        ("{ .reg .b32 d1; ld.global.u32 r1, [d1]; }", 32),
        ("{ .reg .b64 r1; ld.global.u32 r2, [r1]; }", 64),
        ("red.global.add.u32 [r1], r2;", 32),
        ("ld.shared.u32 r1, [r2]; ld.const.u32 r1, [r2]; ld.local.u32 r1, [r2]; st.global.u32 [d1], r1;", 64),
        ("mov.u32 r1, g;", 32),
        ("mov.u32 r1, s;", 64),
        ("cvta.global.u32 r1, r2;", 32),
        ("cvta.global.u64 d1, d2;", 64),
    ],
)
@pytest.mark.parametrize("version", ["2.0", "3.0"])
def test_addresses_are_as_wide_as_the_code_says_where_no_directive_does(
    body: str, bits: int, version: str, tmp_path: Path
) -> None:
    variables = ".global .u32 g;\n.shared .u32 s;\n"
    registers = ".reg .u32 r<4>; .reg .u64 d<4>;"
    text = module(f"{variables}.entry k {{ {registers} {body} ret; }}", (version, "sm_20"))
    assert parse(text).address_size == bits
    assert PTXAS is None or (machine_code(text, tmp_path) is not None) == (bits == 64)  # sm_75 has no others
