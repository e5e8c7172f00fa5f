"""Branches and calls."""

from __future__ import annotations

from typing import Any

from goptx.device.latency.row import issued

_LOOP = """
    add.u32 %n, %zero, {count};
LOOP_{count}:
    .pragma "nounroll";
    add.s32 %n, %n, -1;
    mad.lo.s32 $x, $x, $a0, %n;  // otherwise there would be no loop; it takes no longer than the branch
    {end}
"""
_TIMED = """
    mov.u64 %t0, %clock64;
{short}
    mov.u64 %t1, %clock64;
    mov.u64 %t2, %clock64;
{long}
    mov.u64 %t3, %clock64;
"""
_SHORT, _LONG = 16, 64  # rounds of the two loops


def _loops(end: str) -> str:
    """Two loops that end so; `COUNT` in their labels distinguishes them."""
    short, long = (_LOOP.format(count=n, end=end.replace("COUNT", str(n))) for n in (_SHORT, _LONG))
    return _TIMED.format(short=short, long=long)


CONDITIONAL = _loops("setp.ne.u32 %more, %n, 0; @%more bra LOOP_COUNT;")
INDEXED = _loops("""min.u32 %way, %n, 1;
    WAYS_COUNT: .branchtargets DONE_COUNT, LOOP_COUNT;
    brx.idx %way, WAYS_COUNT;
DONE_COUNT:""")
BRANCH: dict[str, Any] = {
    "short": _SHORT, "long": _LONG, "counted": "loop", "declares": ".reg .b32 %n, %way; .reg .pred %more;",
    "why": "back to the head of a loop",
}  # fmt: skip

# The callee reads the clock twice in a row, to measure the cost of that: the short part. The call and the return are
# the long parts of two rows.
_CALLEE = """
.func (.param .align 8 .b8 times[16]) reads_clock()
{
    .reg .b64 %came, %went;
    mov.u64 %came, %clock64;
    mov.u64 %went, %clock64;
    st.param.b64 [times], %came;
    st.param.b64 [times+8], %went;
    ret;
}
"""
_CALL = """
    mov.u64 %t2, %clock64;
    {{
    .param .align 8 .b8 times[16];
    call (times), %function, (), reader;
    ld.param.b64 %t0, [times];
    ld.param.b64 %t1, [times+8];
    }}
    mov.u64 %t3, %clock64;
    mov.u64 {end}, {middle};
"""
FUNCTION: dict[str, Any] = {
    "module": _CALLEE, "short": 0, "long": 1, "counted": "module",
    "declares": ".reg .b64 %function, %none;\nreader: .callprototype (.param .align 8 .b8 _[16]) _ ();",
    "setup": "mov.u64 %function, reads_clock; cvt.u64.u32 %none, %zero; add.s64 %function, %function, %none;",
}  # fmt: skip

ROWS = (
    issued("bra", "", "BRA", timed=CONDITIONAL, minus=("add.s32", "setp.u32"), **BRANCH),
    issued("brx.idx", "", "BRX", timed=INDEXED, minus=("add.s32", "min.u32"), **BRANCH),
    issued("call", "", "CALL", timed=_CALL.format(end="%t3", middle="%t0"), why="through a pointer", **FUNCTION),
    issued("ret", "", "RET", timed=_CALL.format(end="%t2", middle="%t1"), why="from a function", **FUNCTION),
    issued("nanosleep.u32", "0", "NANOSLEEP"),
)  # fmt: skip
