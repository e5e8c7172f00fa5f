"""Branches and calls."""

from __future__ import annotations

from goptx.device.latency.row import Row

_LOOP = """
    add.u32 %n, %zero, {count};
LOOP_{count}:
    .pragma "nounroll";
    add.s32 %n, %n, -1;
    mad.lo.s32 $x, $x, $a0, %n;
    {end}
"""
_COUNTED = """
    mov.u64 %t0, %clock64;
{short}
    mov.u64 %t1, %clock64;
    mov.u64 %t2, %clock64;
{long}
    mov.u64 %t3, %clock64;
"""
SHORT, LONG = 16, 64


def _loops(end: str) -> str:
    return _COUNTED.format(*[], **{name: _LOOP.format(count=n, end=end.replace("COUNT", str(n))) for name, n in (("short", SHORT), ("long", LONG))})


_CALLED = """
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
    mov.u64 %t0, %clock64;
    {{
    .param .align 8 .b8 times[16];
    call (times), %function, (), reader;
    ld.param.b64 %came, [times];
    ld.param.b64 %went, [times+8];
    }}
    mov.u64 %t3, %clock64;
    {order}
"""
_POINTER = """.reg .b64 %function, %came, %went; .reg .b64 %none;
reader: .callprototype (.param .align 8 .b8 _[16]) _ ();"""
_FUNCTION = {"module": _CALLED, "declares": _POINTER, "x": "b32", "latency": False, "chains": 1, "short": 0, "long": 1, "counted": "module",
             "setup": "mov.u64 %function, reads_clock; cvt.u64.u32 %none, %zero; add.s64 %function, %function, %none;"}  # fmt: skip
_BRANCH = {"x": "b32", "latency": False, "chains": 1, "short": SHORT, "long": LONG, "counted": "loop", "declares": ".reg .u32 %n, %where; .reg .pred %more;"}

ROWS = (
    Row("bra", "LOOP", "BRA", timed=_loops("setp.ne.u32 %more, %n, 0; @%more bra LOOP_COUNT;"), minus=("add.s32", "setp.u32"),
        why="back to the head of a loop", **_BRANCH),
    Row("brx.idx", "LOOP", "BRX", timed=_loops("min.u32 %where, %n, 1; ways_COUNT: .branchtargets DONE_COUNT, LOOP_COUNT; "
        "brx.idx %where, ways_COUNT; DONE_COUNT:"), minus=("add.s32", "min.u32"), why="back to the head of a loop", **_BRANCH),
    # the middle of the callee is read twice in a row: what that takes is what reading the clock takes
    Row("call", "", "CALL", why="through a pointer", timed=_CALL.format(
        order="mov.u64 %t2, %t0; mov.u64 %t0, %came; mov.u64 %t1, %went; mov.u64 %t3, %came;"), **_FUNCTION),
    Row("ret", "", "RET", why="from a function", timed=_CALL.format(
        order="mov.u64 %t2, %went; mov.u64 %t0, %came; mov.u64 %t1, %went;"), **_FUNCTION),
    Row("nanosleep.u32", "0", "NANOSLEEP", x="b32", latency=False, chains=1),
)  # fmt: skip
