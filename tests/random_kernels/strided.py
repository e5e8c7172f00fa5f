"""Random kernels that are right with any number of warps: element i of `n` belongs to any one thread.

They have the parameters of all random kernels (see `data.py`).
"""

from __future__ import annotations

from dataclasses import replace
from random import Random

from random_kernels.case import NAMES, Case
from random_kernels.data import OWN, WORDS

from goptx.launch.shape import Shape

BLOCKS = (32, 64, 128)
GRIDS = (1, 2, 3)
MOST = 200  # elements, several for a thread
WORK = (
    "mul.lo.u32 %v, %v, %i;", "xor.b32 %v, %v, %scale;", "add.u32 %v, %v, %i;", "shr.u32 %v, %v, 3;",
    "mad.lo.u32 %v, %v, 5, %scale;", "cvt.rn.f32.u32 %f, %v; mul.rn.f32 %f, %f, 0f3F000000; mov.b32 %v, %f;",
    "ld.global.u32 %t, [%a]; add.u32 %v, %v, %t;", "red.global.add.u32 [%totals+16], %v;",
    "and.b32 %t, %v, 7; red.global.max.u32 [%totals+20], %t;", "@%q add.u32 %v, %v, 9;",
    "@%q bra ODD{}; xor.b32 %v, %v, 85; ODD{}:",
)  # fmt: skip
STRIDED = """setp.ge.u32 %p, %i, %n; @%p bra END;
LOOP:
{work}
add.u32 %i, %i, %step; setp.lt.u32 %p, %i, %n; @%p bra LOOP;"""
TOGETHER = """mul.lo.u32 %base, %cta, %threads;
LOOP: setp.ge.u32 %p, %base, %n; @%p bra END;
add.u32 %i, %base, %rank; setp.ge.u32 %r, %i, %n; mov.u32 %v, 0;
@%r bra PAST;
{work}
PAST: and.b32 %t, %v, 1; setp.ne.u32 %q, %t, 0; {meet}
add.u32 %base, %base, %step; bra LOOP;"""
MEET = (
    "setp.lt.and.u32 %q, %i, %n, %q; bar.red.popc.u32 %t, 0, %q; setp.eq.u32 %q, %rank, 0; "
    "@%q red.global.add.u32 [%totals], %t;",
    "bar.sync 0; st.shared.u32 [bins], 1; bar.sync 0;",
)  # fmt: skip


def with_strided(case: Case) -> Case:
    """With such a kernel in place of the first."""
    choose = Random(f"{case.seed} {case.texts[-1]}")
    shape = Shape(choose.choice(GRIDS), choose.choice(BLOCKS))
    room = (shape.ctas or 0) * (shape.threads or 0) * WORDS
    n = choose.randint(1, min(MOST, room))
    return replace(
        case, texts=(_text(choose), *case.texts[1:]), shapes=(shape, *case.shapes[1:]), n=(n, *case.n[1:]), stated=None
    )


def _text(choose: Random) -> str:
    lines = [choose.choice(WORK).format(k, k) for k in range(choose.randint(1, 6))]
    element = f"and.b32 %t, %i, {OWN - 33}; mad.wide.u32 %a, %t, 4, %in; ld.global.u32 %v, [%a];"
    store = "mad.wide.u32 %b, %i, 4, %out; st.global.u32 [%b], %v;"
    work = "\n".join([element, "and.b32 %t, %v, 1; setp.ne.u32 %q, %t, 0;", *lines, store])
    whole = choose.choice((STRIDED, STRIDED, TOGETHER))
    body = whole.format(work=work, meet=choose.choice(MEET))
    name = NAMES[0]
    return f""".version 8.0
.target sm_90
.address_size 64
.visible .entry {name}(.param .u64 {name}_in, .param .u64 {name}_out, .param .u64 {name}_totals,
    .param .u32 {name}_n, .param .u32 {name}_scale)
{{
.reg .pred %p, %q, %r; .reg .b64 %in, %out, %totals, %a, %b; .reg .f32 %f;
.reg .b32 %n, %scale, %cta, %ctas, %rank, %threads, %i, %base, %step, %v, %t;
.shared .align 16 .b8 bins[16];
ld.param.u64 %in, [{name}_in]; ld.param.u64 %out, [{name}_out]; ld.param.u64 %totals, [{name}_totals];
ld.param.u32 %n, [{name}_n]; ld.param.u32 %scale, [{name}_scale];
cvta.to.global.u64 %in, %in; cvta.to.global.u64 %out, %out; cvta.to.global.u64 %totals, %totals;
mov.u32 %cta, %ctaid.x; mov.u32 %ctas, %nctaid.x; mov.u32 %rank, %tid.x; mov.u32 %threads, %ntid.x;
mul.lo.u32 %step, %ctas, %threads; mad.lo.u32 %i, %cta, %threads, %rank;
{body}
END: ret;
}}
"""
