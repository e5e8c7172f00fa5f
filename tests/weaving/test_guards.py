"""What runs under the guard of the lanes that are left: nothing that may fault runs without, nothing keeps `.uni`."""

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from weaving.test_inline import HEAD

import goptx
from goptx import CannotWeave, Shape
from goptx.analysis.values.parameter_accesses import lies_within
from goptx.ptx.ir import Instruction, Scope
from goptx.ptx.opcodes import facts_of
from goptx.results.fused_kernel import Woven

Assembles = Callable[[Woven], None]
BLOCK = 64
SHAPE = Shape(2, BLOCK)
TABLE = np.array([3, 1, 4, 1], np.int32)  # by value, at the end of the parameters
DATA = np.where(np.arange(2 * BLOCK) % 5 == 3, 1 << 20, np.arange(2 * BLOCK) % 4).astype(np.int32)
N = 100  # from this number on threads end at once; their data is no index either


def kernel(body: str, functions: str = "") -> str:
    """%r1 is the thread's number in the grid, %r2 its word of `in`; %r3 is stored after the body. Threads whose word
    is too large for an index end before it."""
    return f"""{HEAD}{functions}
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n, .param .align 4 .b8 table[16])
{{
    .reg .pred %p<9>; .reg .b32 %r<20>; .reg .b64 %rd<12>; .reg .b64 at;
    ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; ld.param.u32 %r4, [n];
    mov.u32 %r1, %ctaid.x; mov.u32 %r5, %tid.x; mad.lo.u32 %r1, %r1, {BLOCK}, %r5;
    mul.wide.u32 %rd3, %r1, 4; add.s64 %rd1, %rd1, %rd3; add.s64 %rd2, %rd2, %rd3; mov.u32 %r3, 0;
    st.global.u32 [%rd2], 77; setp.ge.u32 %p1, %r1, %r4; @%p1 ret; ld.global.u32 %r2, [%rd1];
    setp.gt.u32 %p2, %r2, 1000; @%p2 ret; {body}
    st.global.u32 [%rd2], %r3; ret;
}}
"""


MEET = "bar.sync 0; add.u32 %r3, %r3, 1;"
COUNT = ".global .u32 count; .func f { red.global.add.u32 [count], 1; ret; }"
DOUBLE = ".func (.reg .b32 y) f(.reg .b32 x) { add.u32 y, x, x; ret; }"
PASSED = (
    ".func (.param .b32 y) g(.param .b32 x) { .reg .b32 %m; ld.param.u32 %m, [x]; mad.lo.u32 %m, %m, 5, 1;"
    " st.param.b32 [y], %m; ret; }"
)
INDEX = "mul.wide.u32 %rd5, %r2, 4; mov.b64 %rd4, table; add.s64 %rd6, %rd4, %rd5;"

CALLS = {
    "without parameters": ("call.uni f; mov.u32 %r3, %r2;", COUNT),
    "with registers": (f"call.uni (%r3), f, (%r2); {MEET}", DOUBLE),
    "on a side": ("setp.lt.u32 %p3, %r2, 2; @%p3 bra E; call.uni (%r3), f, (%r1); E: add.u32 %r3, %r3, 1;", DOUBLE),
    "in a loop": (
        "mov.u32 %r6, 0; L: call.uni (%r3), f, (%r6); add.u32 %r6, %r6, 1; setp.le.u32 %p3, %r6, %r2; @%p3 bra L;"
        f"{MEET}",
        DOUBLE,
    ),
    "under a guard": ("setp.lt.u32 %p3, %r4, 200; @%p3 call.uni (%r3), f, (%r2);", DOUBLE),
    "in braces": (
        "{ .param .b32 p; .param .b32 q; st.param.b32 [p], %r2; call.uni (q), g, (p); ld.param.b32 %r3, [q]; }"
        f"{MEET}",
        PASSED,
    ),
    "in braces within braces": (
        "{ .param .b32 p; { .param .b32 q; st.param.b32 [p], %r2; call.uni (q), g, (p); ld.param.b32 %r3, [q+0];"
        " st.global.u32 [%rd2], %r3; } }",
        PASSED,
    ),
    "accesses in its braces": (
        "{ .param .b32 p; .param .b32 q; .reg .b32 t; ld.global.u32 t, [%rd1]; st.param.b32 [p], t;"
        f" call.uni (q), g, (p); ld.param.b32 %r3, [q]; st.global.u32 [%rd2], %r3; }} {MEET}",
        PASSED,
    ),
    "a register in its braces has the name of a guard": (
        "{ .reg .pred %a_run0; .reg .pred %a_if3; setp.eq.u32 %a_run0, %r2, 9999; call (%r3), f, (%r2);"
        f" @%a_run0 add.u32 %r3, %r3, 1; }} {MEET}",
        DOUBLE,
    ),
    "a computed parameter in its braces": (
        f"{{ .param .b32 p; .param .b32 q; .reg .b32 t; {INDEX} ld.param.u32 t, [%rd6]; st.param.b32 [p], t;"
        " call.uni (q), g, (p); ld.param.b32 %r3, [q]; }",
        PASSED,
    ),
    "a branch": ("setp.lt.u32 %p3, %r4, 200; @%p3 bra.uni E; mov.u32 %r3, 5; E: add.u32 %r3, %r3, 1;" + MEET, ""),
    "a switch": (
        "shr.u32 %r6, %r4, 7; T: .branchtargets A, B; brx.idx.uni %r6, T; A: add.u32 %r3, %r3, %r2; B:" + MEET, "",
    ),
    "an end": (f"{MEET} setp.gt.u32 %p3, %r4, 200; @%p3 ret.uni; mov.u32 %r3, 9;", ""),
}  # fmt: skip
PARAMETERS = {
    "at a register": f"{INDEX} ld.param.u32 %r3, [%rd6]; {MEET}",
    "at a register and an offset": f"{INDEX} sub.s64 %rd6, %rd6, 8; ld.param.u32 %r3, [%rd6+8];",
    "at a register with no mark": f"{INDEX} mov.b64 at, %rd6; ld.param.u32 %r3, [at];",
    "at a generic address": f"{INDEX} cvta.param.u64 %rd7, %rd6; ld.u32 %r3, [%rd7]; {MEET}",
    "on a side": (
        "mov.u32 %r3, 9; setp.lt.u32 %p3, %r1, 40; shl.b32 %r6, %r1, 16; @%p3 bra E; mov.u32 %r6, %r2;"
        " mul.wide.u32 %rd5, %r6, 4; mov.b64 %rd4, table; add.s64 %rd6, %rd4, %rd5; ld.param.u32 %r3, [%rd6]; E:"
        " add.u32 %r3, %r3, %r6;"
    ),
    "in a loop": (
        f"{INDEX} mov.u32 %r6, %r2; L: ld.param.u32 %r7, [%rd6]; add.u32 %r3, %r3, %r7; add.s64 %rd6, %rd6, 4;"
        f" add.u32 %r6, %r6, 1; setp.lt.u32 %p3, %r6, 4; @%p3 bra L; {MEET}"
    ),
    "under a guard": f"{INDEX} setp.lt.u32 %p3, %r4, 200; @%p3 ld.param.u32 %r3, [%rd6]; {MEET}",
}
BODIES = {**CALLS, **{name: (body, "") for name, body in PARAMETERS.items()}}
PARTNER = f"""{HEAD}.visible .entry other(.param .u64 out)
{{
    .reg .b32 %r<6>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; mad.lo.u32 %r1, %r1, {BLOCK}, %r2;
    mul.wide.u32 %rd2, %r1, 4; add.s64 %rd1, %rd1, %rd2; bar.sync 0; st.global.u32 [%rd1], %r1; ret;
}}
"""


def arguments() -> list[object]:
    return [DATA, np.zeros(2 * BLOCK, np.int32), N, TABLE.tobytes()]


def result(args: list[object]) -> list[int]:
    out = args[1]
    assert isinstance(out, np.ndarray)
    return [int(n) for n in out]


@cache
def alone(text: str) -> list[int]:
    args = arguments()
    goptx.emulate(text, 2, BLOCK, args)
    return result(args)


@pytest.mark.slow
@pytest.mark.parametrize("name", BODIES)
def test_woven_with_another(name: str, assembles: Assembles) -> None:
    text = kernel(*BODIES[name])
    assert len(set(alone(text))) >= 2
    for strategy in ("weave", "vertical", "horizontal"):
        woven = goptx.fuse(text, PARTNER, strategy=strategy, shapes=[SHAPE, SHAPE])
        for seed in (0, 2):
            args, out = arguments(), np.zeros(2 * BLOCK, np.int32)
            goptx.emulate(woven, args=[args, [out]], shapes=[SHAPE, SHAPE], seed=seed)
            assert result(args) == alone(text)
            assert out.tolist() == list(range(2 * BLOCK))
        assembles(woven)


@pytest.mark.parametrize("name", BODIES)
def test_woven_with_itself(name: str) -> None:
    text = kernel(*BODIES[name])
    args = arguments()
    goptx.emulate(goptx.coarsen(text, 2, shape=SHAPE), args=[args], shapes=[SHAPE])
    assert result(args) == alone(text)


@pytest.mark.parametrize("name", CALLS)
def test_no_call_under_a_guard_is_uniform(name: str) -> None:
    entry = goptx.read(goptx.weave(kernel(*BODIES[name]), PARTNER).ptx).entries[0]
    calls = [i for i in _instructions(entry.body or ()) if facts_of(i.opcode).base == "call"]
    assert all("uni" not in i.opcode for i in calls if i.guard)


def _instructions(body: tuple[object, ...]) -> list[Instruction]:
    found: list[Instruction] = []
    for statement in body:
        found += _instructions(statement.body) if isinstance(statement, Scope) else []
        found += [statement] if isinstance(statement, Instruction) else []
    return found


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        ("ld.param.u32 %r1, [table];", True), ("ld.param.u32 %r1, [table+12];", True),
        ("ld.param.v4.u32 {%r1, %r2, %r3, %r4}, [table+0];", True), ("ld.param.u32 %r1, [table+0xC];", True),
        ("ld.param.u32 %r1, [table+13];", False), ("ld.param.v4.u32 {%r1, %r2, %r3, %r4}, [table+4];", False),
        ("ld.param.u32 %r1, [table+-4];", False), ("ld.param.u32 %r1, [%rd1];", False),
        ("ld.param.u32 %r1, [%rd1+4];", False), ("ld.param.u32 %r1, [other];", False),
        ("ld.param.u32 %r1, [16];", False), ("ld.const.u32 %r1, [table];", False), ("mov.u32 %r1, table;", False),
    ],
)  # fmt: skip
def test_which_accesses_to_parameters_cannot_fault(text: str, inside: bool) -> None:
    (entry,) = goptx.read(f"{HEAD}.visible .entry k() {{ {text} ret; }}").entries
    assert lies_within(_instructions(entry.body or ())[0], {"table": 16, "x": 400}) == inside


def test_what_cannot_fault_stays_without_a_guard() -> None:
    """So that it is still the same for all threads of a CTA."""
    body = f"ld.param.u32 %r6, [table+8]; setp.gt.u32 %p3, %r6, 7; @%p3 bra E; {MEET} E: add.u32 %r3, %r3, 2;"
    assert "@" not in next(line for line in goptx.weave(kernel(body), PARTNER).ptx.splitlines() if "+8]" in line)


@pytest.mark.parametrize(
    "hint",
    [
        "prefetch.global.L2 [%rd9];", "prefetchu.L1 [%rd9];", "applypriority.global.L2::evict_normal [%rd9], 128;",
        "cp.async.bulk.prefetch.L2.global [%rd9], 64;",
    ],
)  # fmt: skip
def test_hints_are_for_addresses_of_threads_that_run(hint: str, assembles: Assembles) -> None:
    body = f"mul.wide.u32 %rd8, %r2, 128; add.s64 %rd9, %rd2, %rd8; {hint} mov.u32 %r3, %r2;"
    woven = goptx.weave(kernel(body), PARTNER)
    (line,) = (line for line in woven.ptx.splitlines() if hint.split()[0] in line)
    assert line.strip().startswith("@")
    assembles(woven)


def test_what_lies_outside_of_a_parameter_is_guarded() -> None:
    body = "setp.eq.u32 %p3, %r4, 0; @!%p3 bra E; ld.param.u32 %r3, [table+400]; E: add.u32 %r3, %r3, 2;"
    line = next(line for line in goptx.weave(kernel(body), PARTNER).ptx.splitlines() if "+400]" in line)
    assert line.strip().startswith("@")


def test_a_barrier_decided_by_a_computed_parameter() -> None:
    """Threads that ended have no such number."""
    body = "mov.u32 %r6, %ctaid.x; mul.wide.u32 %rd5, %r6, 4; mov.b64 %rd4, table; add.s64 %rd6, %rd4, %rd5;"
    body += f"ld.param.u32 %r6, [%rd6]; setp.gt.u32 %p3, %r6, 7; @%p3 bra E; {MEET} E: add.u32 %r3, %r3, 2;"
    with pytest.raises(CannotWeave, match=r"depends on loaded data, of which threads that have returned early"):
        goptx.weave(kernel(body), PARTNER)
