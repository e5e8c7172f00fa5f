"""All microbenchmarks: `ROWS`; and `SKIPPED`, the keys without one, with the reason."""

from goptx.device.latency.rows import (
    arithmetic,
    atomic_operations,
    bitwise,
    control,
    conversions,
    division,
    matrices,
    memory_levels,
    warps,
)

_PARTS = (arithmetic, division, bitwise, conversions, memory_levels, atomic_operations, warps, matrices, control)
ROWS = tuple(row for part in _PARTS for row in part.ROWS)

_TEXTURE = "needs a texture or surface that the driver binds"
_END = "nothing comes after it"
_STACK = "moves the stack, which nothing else here uses"
_WARPGROUP = "takes four warps, and sm_90a"
_ONCE = "the assembler asks once for all"
SKIPPED = {
    **dict.fromkeys(("tex", "tld4", "txq", "suld", "suq", "sust", "sured"), _TEXTURE),
    **dict.fromkeys(("exit", "trap", "brkpt"), _END),
    **dict.fromkeys(("stacksave", "stackrestore", "alloca"), _STACK),
    **dict.fromkeys(("wgmma", "setmaxnreg"), _WARPGROUP),
    **dict.fromkeys(("activemask", "createpolicy"), _ONCE),
    "multimem": "needs several GPUs",
    "st.param": "a register, by the calling convention: a part of `call`",
    "istypep": "needs an opaque variable",
    "pmevent": "for profilers",
}
