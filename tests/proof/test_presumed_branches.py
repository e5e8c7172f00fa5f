"""What is presumed of branches around barriers: that data decide them alike for a CTA, thread numbers never."""

from __future__ import annotations

import pytest

from goptx.proof.code.read_steps import program_of
from goptx.proof.sync.varying import varying_branches
from goptx.ptx.opcodes import Scope
from goptx.ptx.parse import parse

HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"
KERNEL = """
.visible .entry k(.param .u64 p)
{{
.reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %rd<3>;
ld.param.u64 %rd1, [p];
mov.u32 %r1, %tid.x;
mad.wide.u32 %rd2, %r1, 4, %rd1;
{test}
@%p1 bra end;
bar.sync 0;
st.global.u32 [%rd2], %r1;
end:
ret;
}}
"""
DATA = "ld.global.u32 %r2, [%rd1];\nsetp.eq.u32 %p1, %r2, 0;"
NUMBER = "setp.gt.u32 %p1, %r1, 63;"
OWN_DATA = "ld.global.u32 %r2, [%rd2];\nsetp.eq.u32 %p1, %r2, 0;"
EXCHANGED = "atom.global.add.u32 %r2, [%rd1], 1;\nsetp.eq.u32 %p1, %r2, 0;"


@pytest.mark.parametrize(("test", "alike"), [(DATA, True), (NUMBER, False), (OWN_DATA, False), (EXCHANGED, False)])
def test_only_what_all_threads_load_is_steady(test: str, alike: bool) -> None:
    program = program_of(parse(HEAD + KERNEL.format(test=test)).entries[0])
    assert varying_branches(program, Scope.CTA)
    assert bool(varying_branches(program, Scope.CTA, steady=True)) != alike
