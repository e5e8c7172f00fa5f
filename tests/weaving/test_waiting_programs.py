"""Random programs of pieces that wait, each right by itself, woven in pairs and held against both alone."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from weaving.waiting_kernels import EPILOGUE, PROLOGUE

import goptx
from goptx.emulator.instructions.lanewise import Array
from goptx.options import Slicing

CTAS, BLOCK = 2, 128
DATA = np.random.default_rng(2).integers(0, 1024, 200).astype(np.int32)
PROLOGUE_OF_PIECES = (
    PROLOGUE
    + """
    xor.b32 %r17, %r13, {mask}; mov.u32 %r16, {name}_tile; add.u32 %r17, %r16, %r17; mov.u32 %r32, {name}_bars;
    mov.u32 %r30, 0; mov.u32 %r31, 0; mov.u32 %r33, 0; setp.eq.u32 %p7, %r2, 0;
    @%p7 mbarrier.init.shared.b64 [%r32], 128; @%p7 mbarrier.init.shared.b64 [%r32+8], 32;
    @%p7 mbarrier.init.shared.b64 [%r32+16], 1; setp.lt.u32 %p6, %r2, 64; setp.lt.u32 %p5, %r2, 32; bar.sync 0;
"""
)

# Each leaves the tile free for all to write: its readers have waited with the writers again.
PIECES = {
    "work": "ld.global.u32 %r10, [%rd1]; mad.lo.u32 %r4, %r4, 3, %r10;",
    "exchange": """st.shared.u32 [%r14], %r4; bar.sync 0; ld.shared.u32 %r10, [%r17]; bar.sync 0;
        add.u32 %r4, %r4, %r10;""",
    "counted": """st.shared.u32 [%r14], %r4; bar.sync 3, 128; ld.shared.u32 %r10, [%r17]; bar.sync 3, 128;
        add.u32 %r4, %r4, %r10;""",
    "reduce": "setp.gt.s32 %p1, %r4, 900; bar.red.popc.u32 %r10, 0, %p1; add.u32 %r4, %r4, %r10;",
    "shuffle": "shfl.sync.bfly.b32 %r10, %r4, 7, 31, -1; add.u32 %r4, %r4, %r10;",
    "vote": "mov.u32 %r11, %r2; V{n}: add.u32 %r11, %r11, 61; setp.lt.u32 %p1, %r11, 200; @%p1 bra V{n}; "
    "add.u32 %r4, %r4, %r11;",
    "handover": """@!%p6 bra C{n}; st.shared.u32 [%r14], %r4; bar.arrive 1, 128; bar.sync 2, 128; bra D{n};
        C{n}: bar.sync 1, 128; and.b32 %r11, %r13, 255; add.u32 %r11, %r11, %r16; ld.shared.u32 %r10, [%r11];
        add.u32 %r4, %r4, %r10; bar.arrive 2, 128; D{n}:""",
    "handed over after": """@%p6 bra F{n}; bar.sync 5, 128; add.u32 %r4, %r4, 3; F{n}: xor.b32 %r4, %r4, 99;
        @!%p6 bra G{n}; bar.arrive 5, 128; G{n}: mul.lo.u32 %r4, %r4, 3; bar.sync 0;""",
    "phase of a later lane": """@%p7 bra S{n}; T{n}: mbarrier.try_wait.parity.shared.b64 %p1, [%r32+16], %r33;
        @!%p1 bra T{n}; S{n}: xor.b32 %r4, %r4, 55; @!%p7 bra U{n}; mbarrier.arrive.shared.b64 _, [%r32+16];
        U{n}: xor.b32 %r33, %r33, 1; bar.sync 0;""",
    "half": "@!%p6 bra H{n}; mul.lo.u32 %r4, %r4, 5; bar.sync 4, 64; H{n}:",
    "phase": """st.shared.u32 [%r14], %r4; mbarrier.arrive.shared.b64 _, [%r32];
        P{n}: mbarrier.try_wait.parity.shared.b64 %p1, [%r32], %r30; @!%p1 bra P{n}; xor.b32 %r30, %r30, 1;
        ld.shared.u32 %r10, [%r17]; add.u32 %r4, %r4, %r10; bar.sync 0;""",
    "warp phase": """@!%p5 bra Q{n}; mbarrier.arrive.shared.b64 _, [%r32+8];
        R{n}: mbarrier.try_wait.parity.shared.b64 %p1, [%r32+8], %r31; @!%p1 bra R{n}; xor.b32 %r31, %r31, 1;
        add.u32 %r4, %r4, 11; Q{n}:""",
}
LOOP = "mov.u32 %r20, 0; L{n}: {body} add.u32 %r20, %r20, 1; setp.lt.u32 %p3, %r20, 3; @%p3 bra L{n};"
CHOICE = "setp.eq.u32 %p4, %r6, 1; @%p4 bra E{n}; {body} E{n}: add.u32 %r4, %r4, 1;"  # the whole CTA takes one side


@st.composite
def programs(draw: st.DrawFn) -> str:
    """One to four pieces, or short runs of them in a loop or choice, and perhaps more work before some."""
    numbers = iter(range(100))

    def pieces(most: int) -> str:
        words = draw(st.lists(st.sampled_from(sorted(PIECES)), min_size=1, max_size=most))
        return " ".join(PIECES[word].replace("{n}", str(next(numbers))) for word in words)

    text = ""
    for _ in range(draw(st.integers(1, 3))):
        around = draw(st.sampled_from(["{body}", LOOP, CHOICE]))
        text += around.replace("{n}", str(next(numbers))).replace("{body}", pieces(2)) + "\n"
    return text


def module(first: str, second: str) -> str:
    entries = []
    for name, body, mask in (("first", first, 256), ("second", second, 320)):
        head = f".visible .entry {name}(.param .u64 {name}_in, .param .u64 {name}_out, .param .u32 {name}_n)"
        code = f"{PROLOGUE_OF_PIECES}{body}{EPILOGUE}".replace("{name}", name).replace("{mask}", str(mask))
        entries.append(f"{head}\n{{{code}}}\n")
    return ".version 8.0\n.target sm_90\n.address_size 64\n" + "".join(entries)


def emulated(kernel: goptx.Woven | str, entry: str | None, seed: int) -> list[list[int]]:
    outs: list[Array] = [np.full(CTAS * BLOCK, -1, np.int32) for _ in range(2)]
    arguments = [[DATA, out, len(DATA)] for out in outs]
    if isinstance(kernel, str):
        goptx.emulate(kernel, CTAS, BLOCK, arguments[0], entry=entry, races=True, seed=seed)
        return [outs[0].tolist()]
    goptx.emulate(kernel, CTAS, BLOCK, arguments, races=True, seed=seed)
    return [out.tolist() for out in outs]


@pytest.mark.slow
@settings(derandomize=True, deadline=None, max_examples=30, suppress_health_check=[HealthCheck.too_slow])
@given(programs(), programs(), st.sampled_from(["adaptive", None, 40]), st.integers(0, 3))
def test_any_two_programs_do_together_what_they_do_alone(first: str, second: str, slicing: Slicing, seed: int) -> None:
    source = module(first, second)
    expected = [*emulated(source, "first", 0), *emulated(source, "second", 0)]
    assert expected == [*emulated(source, "first", seed + 1), *emulated(source, "second", seed + 1)]  # they are valid
    woven = goptx.weave(source, source, entries=["first", "second"], slicing=slicing)
    assert emulated(woven, None, seed) == expected
