"""What the checker reads of PTX: operands that it does not know are not proved, whatever they are called."""

from __future__ import annotations

import re

import pytest

import goptx
from goptx.proof.code.kernel_code import NotProved, Source
from goptx.proof.code.read_steps import program_of
from goptx.proof.prove import prove_text

KERNEL = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p)
{
    .reg .b64 %rd<4>; .reg .v2 .b32 %v; .reg .b32 %r<9>; .reg .pred %p<4>;
    ld.param.u64 %rd1, [p];
    ld.global.v2.u32 %v, [%rd1];
    INSTRUCTION
    ret;
}
"""


def sources_of(instruction: str) -> tuple[Source, ...]:
    code = program_of(goptx.read(KERNEL.replace("INSTRUCTION", instruction)).entries[0])
    return code.steps[2].sources


@pytest.mark.parametrize(
    ("instruction", "message"),
    [
        (
            "st.global.u32 [%rd1+8], %v.x;",
            "`st.global.u32 [%rd1+8], %v.x;` reads a part of a register, which the checker does not know",
        ),
        ("add.s32 %r1, %v.y, 1;", "`add.s32 %r1, %v.y, 1;` reads a part of a register"),
        ("mov.u32 %r1, table[%r2];", "`table[%r2]` as an operand, which the checker does not know"),
    ],
)
def test_unknown_operands_are_not_proved(instruction: str, message: str) -> None:
    with pytest.raises(NotProved) as error:
        sources_of(instruction)
    assert message in str(error.value) and error.value.line == 10


def test_an_element_of_another_register_of_that_name_is_not_proved() -> None:
    """The fused kernel's `%v` has not been loaded, but bears the name of the kernel's."""
    kernel = KERNEL.replace("INSTRUCTION", "st.global.u32 [%rd1+8], %v.x;")
    text = goptx.weave(kernel, kernel).text()
    changed = re.sub(r"%[ab]_v\.x", "%v.x", text.replace("%a_v;", "%a_v; .reg .v2 .b32 %v;"))
    assert changed.count("%v.x") == 2 and changed.count("%v;") == 1
    assert not prove_text(changed, [goptx.read(kernel)] * 2)


def test_operands() -> None:
    assert sources_of("st.global.v2.u32 [%rd1+8], {%r1, 7};") == (
        Source("[{}]", ("%rd1",), offset=8),
        Source("{{{},7}}", ("%r1",)),
    )
    assert sources_of("selp.u32 %r1, %r2, -3U, !%p1;")[1:] == (Source("-3"), Source("{}", ("%p1",), negated=True))
    assert sources_of("mov.u64 %rd2, p+4;") == (Source("{}+4", ("p",)),)
    assert sources_of("mov.u32 %r1, (WARP_SZ-1)*2;") == (Source("({}-1)*2", ("WARP_SZ",)),)
    assert sources_of("mov.u32 %r1, %tid.x;") == (Source("{}", ("%tid.x",)),)
