"""Device functions: arguments and results, recursion, indirect calls, local arrays, and functions without a body."""

import numpy as np
import pytest
from emulator.threads import MASK, agrees, call, fault, inputs, run, with_functions

import goptx

# if (a > b) return a * 3 - b; return b * 5 + a;
TWIST = """
.func (.param .b32 func_retval0) twist(.param .b32 twist_0, .param .b32 twist_1)
{
    .reg .pred %p<2>; .reg .b32 %r<9>;
    ld.param.u32 %r1, [twist_0]; ld.param.u32 %r2, [twist_1];
    setp.gt.s32 %p1, %r1, %r2;
    @%p1 bra MORE;
    mad.lo.u32 %r3, %r2, 5, %r1; st.param.b32 [func_retval0+0], %r3;
    ret;
MORE:
    mul.lo.u32 %r3, %r1, 3; sub.u32 %r3, %r3, %r2; st.param.b32 [func_retval0+0], %r3;
    ret;
}
"""


def signed(value: int) -> int:
    return (value & MASK) - ((value & 1 << 31) << 1)


def twist(a: int, b: int) -> int:
    return (a * 3 - b if signed(a) > signed(b) else b * 5 + a) & MASK


def test_function_with_two_exits() -> None:
    """Called by all lanes, then by some. The lanes reconverge after each call."""
    body = f"""
        {call("twist", "%r3, 40")}
        and.b32 %r6, %r3, 1; setp.eq.u32 %p1, %r6, 0;
        @%p1 bra PAST;
        {call("twist", "%r5, %r3")}
        activemask.b32 %r7; popc.b32 %r7, %r7; add.u32 %r5, %r5, %r7;
    PAST:
        vote.sync.ballot.b32 %r7, %p1, 0xffffffff; popc.b32 %r7, %r7; add.u32 %r5, %r5, %r7;
    """
    given = inputs(100)

    def model(i: int, v: int) -> int:
        odd = [j for j in range(i // 32 * 32, min(i // 32 * 32 + 32, 100)) if given[j] & 1]
        even = min(32, 100 - i // 32 * 32) - len(odd)
        r = twist(v, 40)
        return (twist(r, v) + len(odd) if v & 1 else r) + even

    agrees(with_functions(TWIST, body), model, block=100)


def test_registers_as_parameters() -> None:
    functions = """
    .func (.reg .u32 %sum, .reg .u64 %wide) both(.reg .u32 %a, .reg .u64 %b)
    { .reg .u32 %t; cvt.u32.u64 %t, %b; add.u32 %sum, %a, %t; add.u64 %wide, %b, 7; ret; }
    """
    body = """
        mul.wide.u32 %rd3, %r0, 3;
        call (%r6, %rd4), both, (%r3, %rd3);
        call (%r7, %rd5), both, (1000, %rd4);
        cvt.u32.u64 %r8, %rd5; add.u32 %r5, %r6, %r7; add.u32 %r5, %r5, %r8;
    """
    agrees(with_functions(functions, body), lambda i, v: v + 3 * i + 1000 + 3 * i + 7 + 3 * i + 14)


FACTORIAL = """
.func (.param .b32 result) factorial(.param .b32 factorial_0)
{
    .reg .pred %p; .reg .b32 %n, %m, %f;
    .local .align 4 .b8 cell[4]; .reg .b64 %a;
    ld.param.u32 %n, [factorial_0];
    mov.u64 %a, cell;
    st.local.u32 [%a], %n;
    setp.gt.u32 %p, %n, 1;
    @%p bra DEEPER;
    mov.u32 %f, 1;
    bra OUT;
DEEPER:
    sub.u32 %m, %n, 1;
    { .param .b32 p; st.param.b32 [p], %m; .param .b32 r; call.uni (r), factorial, (p); ld.param.b32 %f, [r]; }
    ld.local.u32 %m, [%a];
    mul.lo.u32 %f, %f, %m;
OUT:
    st.param.b32 [result], %f;
    ret;
}
"""


def factorial(n: int) -> int:
    return factorial(n - 1) * n if n > 1 else 1


def test_recursion() -> None:
    """To a depth of each lane's own, with a local variable in each activation."""
    body = "and.b32 %r6, %r3, 15;" + call("factorial", "%r6")
    agrees(with_functions(FACTORIAL, body), lambda i, v: factorial(v & 15), block=80)


def test_endless_recursion() -> None:
    again = call("forever", "%r3")
    function = f".func (.param .b32 r) forever(.param .b32 p) {{ .reg .b32 %r3, %r5; mov.u32 %r3, 1; {again} ret; }}"
    found = fault(with_functions(function, again))
    assert found.kind == "out of bounds"
    assert "nested more than" in str(found)


OPERATIONS = """
.func (.param .b32 r) plus(.param .b32 a, .param .b32 b)
{ .reg .b32 %x, %y; ld.param.u32 %x, [a]; ld.param.u32 %y, [b]; add.u32 %x, %x, %y; st.param.b32 [r], %x; ret; }
.func (.param .b32 r) times(.param .b32 a, .param .b32 b)
{ .reg .b32 %x, %y; ld.param.u32 %x, [a]; ld.param.u32 %y, [b]; mul.lo.u32 %x, %x, %y; st.param.b32 [r], %x; ret; }
.func (.param .b32 r) less(.param .b32 a, .param .b32 b)
{ .reg .b32 %x, %y; ld.param.u32 %x, [a]; ld.param.u32 %y, [b]; sub.u32 %x, %x, %y; st.param.b32 [r], %x; ret; }
.global .align 8 .u64 table[3] = {plus, times, less};
"""
INDIRECT = """
    mov.u64 %rd3, table; rem.u32 %r6, %r3, 3; mul.wide.u32 %rd4, %r6, 8; add.u64 %rd3, %rd3, %rd4;
    ld.global.u64 %rd3, [%rd3];
    { .param .b32 a; st.param.b32 [a], %r3; .param .b32 b; st.param.b32 [b], %r0; .param .b32 r;
      prototype : .callprototype (.param .b32 _) _ (.param .b32 _, .param .b32 _);
      call (r), %rd3, (a, b), prototype;
      ld.param.b32 %r5, [r]; }
"""


def operation(i: int, v: int) -> int:
    return [v + i, v * i, v - i][v % 3] & MASK


def test_indirect_calls() -> None:
    """Each lane calls what its number says; a warp's lanes are together again when they come back, which an H200 does
    not see to."""
    body = INDIRECT + "activemask.b32 %r7; popc.b32 %r7, %r7; add.u32 %r5, %r5, %r7;"
    agrees(with_functions(OPERATIONS, body), lambda i, v: operation(i, v) + (32 if i < 64 else 6), block=70)
    _, counts = run(with_functions(OPERATIONS, body), block=70)
    assert counts.instructions["A", "entry", "popc.b32"] == 3


def test_function_addresses_in_registers() -> None:
    body = INDIRECT.replace("ld.global.u64 %rd3, [%rd3];", "mov.u64 %rd3, less;")
    agrees(with_functions(OPERATIONS, body), lambda i, v: v - i)


@pytest.mark.parametrize("change", ["add.u64 %rd3, %rd3, 8;", "mov.u64 %rd3, 0;", "mov.u64 %rd3, %rd7;"])
def test_addresses_that_are_not_functions(change: str) -> None:
    found = fault(with_functions(OPERATIONS, INDIRECT.replace("{ .param", change + "{ .param", 1)))
    assert found.kind == "out of bounds"
    assert "is not the address of a function" in str(found)


def test_call_that_is_not_uniform() -> None:
    """`.uni` says that all lanes call, and call the same."""
    body = INDIRECT.replace("call (r)", "call.uni (r)")
    assert fault(with_functions(OPERATIONS, body)).kind == "convergence"
    agrees(with_functions(OPERATIONS, body.replace("rem.u32 %r6, %r3, 3", "mov.u32 %r6, 1")), lambda i, v: v * i)
    guarded = f"setp.lt.u32 %p1, %r0, 5; {call('twist', '%r3, %r0', word='@%p1 call.uni')}"
    assert fault(with_functions(TWIST, guarded)).kind == "convergence"


def test_guarded_call() -> None:
    function = """
    .func put(.param .b64 p, .param .b32 v)
    { .reg .b64 %a; .reg .b32 %x; ld.param.u64 %a, [p]; ld.param.u32 %x, [v]; st.global.u32 [%a], %x; ret; }
    """
    body = """
        setp.lt.u32 %p1, %r0, 5;
        { .param .b64 p; st.param.b64 [p], %rd2; .param .b32 v; st.param.b32 [v], %r3;
          @%p1 call put, (p, v); }
        @%p1 ld.global.u32 %r5, [%rd2];
    """
    agrees(with_functions(function, body), lambda i, v: v if i < 5 else 0)


def test_structures_as_arguments() -> None:
    functions = """
    .func (.param .align 8 .b8 r[16]) swap(.param .align 8 .b8 p[16])
    { .reg .b64 %a; .reg .b32 %b, %c; ld.param.u64 %a, [p]; ld.param.v2.u32 {%b, %c}, [p+8];
      st.param.v2.b32 [r], {%c, %b}; st.param.b64 [r+8], %a; ret; }
    """
    body = """
        { .param .align 8 .b8 p[16]; st.param.b64 [p], %rd3; .param .align 8 .b8 r[16];
          st.param.v2.b32 [p+8], {%r3, %r0}; call (r), swap, (p);
          ld.param.v2.b32 {%r6, %r7}, [r]; ld.param.b64 %rd4, [r+8]; }
        cvt.u32.u64 %r8, %rd4; mad.lo.u32 %r5, %r6, 1000, %r7; add.u32 %r5, %r5, %r8;
    """
    agrees(with_functions(functions, "mul.wide.u32 %rd3, %r0, 9;" + body), lambda i, v: i * 1000 + v + 9 * i)


def test_result_that_the_function_does_not_give() -> None:
    function = ".func (.param .b32 r) empty(.param .b32 p) { ret; }"
    found = fault(with_functions(function, call("empty", "%r3")))
    assert found.kind == "uninitialised"


def test_registers_of_a_function_begin_without_values() -> None:
    """Also in its second activation."""
    function = """
    .func (.param .b32 r) lazy(.param .b32 p)
    { .reg .pred %p; .reg .b32 %x, %y; ld.param.u32 %x, [p]; setp.eq.u32 %p, %x, 1; @%p mov.u32 %y, 5;
      st.param.b32 [r], %y; ret; }
    """
    once = call("lazy", "1")
    agrees(with_functions(function, once), lambda i, v: 5)
    assert fault(with_functions(function, once + call("lazy", "2"))).kind == "uninitialised"


def test_local_arrays() -> None:
    """Indexed by data, through local and through generic addresses; each thread has its own."""
    body = """
        .local .align 4 .b8 own[32];
        mov.u64 %rd3, own; cvta.local.u64 %rd4, %rd3; mov.u32 %r6, 0;
    FILL: mul.wide.u32 %rd5, %r6, 4; add.u64 %rd6, %rd3, %rd5; mul.lo.u32 %r7, %r6, %r6; st.local.u32 [%rd6], %r7;
        add.u32 %r6, %r6, 1; setp.lt.u32 %p1, %r6, 8; @%p1 bra FILL;
        mov.u32 %r6, 0;
    MIX: shr.u32 %r7, %r3, %r6; and.b32 %r7, %r7, 7; mul.wide.u32 %rd5, %r7, 4; add.u64 %rd6, %rd4, %rd5;
        ld.u32 %r8, [%rd6]; add.u32 %r8, %r8, %r6; st.u32 [%rd6], %r8;
        add.u32 %r6, %r6, 1; setp.lt.u32 %p1, %r6, 12; @%p1 bra MIX;
        and.b32 %r7, %r3, 7; mul.wide.u32 %rd5, %r7, 4; add.u64 %rd6, %rd3, %rd5; ld.local.u32 %r5, [%rd6];
    """

    def model(i: int, v: int) -> int:
        own = [k * k for k in range(8)]
        for k in range(12):
            own[v >> k & 7] += k
        return own[v & 7]

    agrees(body, model, block=40, grid=2)


def test_addresses_of_locals_may_be_passed_on() -> None:
    function = """
    .func fill(.param .b64 p, .param .b32 v)
    { .reg .b64 %a; .reg .b32 %x; ld.param.u64 %a, [p]; ld.param.u32 %x, [v]; st.u32 [%a+4], %x; ret; }
    """
    body = """
        .local .align 4 .b8 own[8]; mov.u64 %rd3, own; cvta.local.u64 %rd3, %rd3;
        { .param .b64 p; st.param.b64 [p], %rd3; .param .b32 v; st.param.b32 [v], %r3; call.uni fill, (p, v); }
        ld.local.u32 %r5, [own+4];
    """
    agrees(with_functions(function, body), lambda i, v: v)


def test_barriers_in_a_function_called_from_two_places() -> None:
    function = """
    .shared .u32 met;
    .func meet(.param .b32 p)
    { .reg .b32 %x; ld.param.u32 %x, [p]; bar.sync 0; st.shared.u32 [met], 7; bar.sync 0; ret; }
    """
    body = """
        setp.lt.u32 %p1, %r0, 32; @%p1 bra A;
        { .param .b32 p; st.param.b32 [p], 1; call.uni meet, (p); }
        bra J;
    A:  { .param .b32 p; st.param.b32 [p], 2; call.uni meet, (p); }
    J:  ld.shared.u32 %r5, [met];
    """
    agrees(with_functions(function, body), lambda i, v: 7, races=True)


def test_exit_in_a_function_ends_the_thread() -> None:
    """No thread waits for it any more: in the function, after the call, and in the caller's caller."""
    functions = """
    .func leave(.reg .b32 x)
    { .reg .pred %q; setp.lt.u32 %q, x, 4; @%q exit; bar.warp.sync 0xffffffff; setp.gt.u32 %q, x, 60; @!%q ret; exit; }
    .func outer(.reg .b32 x) { .reg .b32 %y; call leave, (x); bar.sync 0; ret; }
    """
    body = "mov.u32 %r6, %tid.x; call outer, (%r6); activemask.b32 %r5; bar.sync 0;"
    agrees(with_functions(functions, body), lambda i, v: (0xFFFFFFF0, 0x1FFFFFFF)[i // 32] if 4 <= i <= 60 else 0xDEAD)


def test_function_without_a_definition() -> None:
    functions = ".extern .func (.param .b32 r) magic(.param .b32 p);"
    found = fault(with_functions(functions, call("magic", "%r3")))
    assert found.kind == "unsupported"
    assert "magic" in str(found)
    agrees(with_functions(functions, "bra PAST;" + call("magic", "%r3") + "PAST:"), lambda i, v: 0)


def test_wrong_number_of_arguments() -> None:
    with pytest.raises(goptx.GoptxError):
        run(with_functions(TWIST, call("twist", "%r3")), given=np.zeros(64, np.uint32))


VECTORS = """
.func (.reg .v2 .u32 pair, .reg .v4 .f32 four) turn(.reg .v2 .u32 a, .reg .u32 n, .reg .v4 .f32 w)
{ mov.v2.u32 pair, {a.y, a.x}; add.u32 pair.x, pair.x, n; mov.v4.f32 four, {w.w, w.z, w.y, w.x}; mov.v2.u32 a, {n, n};
  ret; }
"""


def test_vectors_of_registers_as_arguments_and_results() -> None:
    """By value: what the function does to its arguments stays there, and results may take the arguments' place."""
    body = """
        .reg .v2 .u32 x, y; .reg .v4 .f32 q, z; mov.v2.u32 x, {%r3, %r0}; cvt.rn.f32.u32 q.x, %r0;
        mov.f32 q.y, 2.0; mov.f32 q.z, 3.0; mov.f32 q.w, 4.0;
        call (y, z), turn, (x, 1000, q);
        call (x, q), turn, (x, y.x, z);
        cvt.rzi.u32.f32 %r6, q.x; cvt.rzi.u32.f32 %r7, z.x;
        mad.lo.u32 %r5, y.x, 3, y.y; mad.lo.u32 %r5, x.x, 7, %r5; mad.lo.u32 %r5, x.y, 11, %r5;
        mad.lo.u32 %r5, %r6, 13, %r5; mad.lo.u32 %r5, %r7, 17, %r5;
    """

    def model(i: int, v: int) -> int:
        first = i + 1000, v
        second = i + first[0], v
        return first[0] * 3 + first[1] + second[0] * 7 + second[1] * 11 + i * 13 + 4 * 17

    agrees(with_functions(VECTORS, body), model, block=70)


def test_vector_for_a_single_register() -> None:
    function = ".func f(.reg .u32 a) { ret; }"
    found = fault(with_functions(function, ".reg .v2 .u32 x; mov.v2.u32 x, {1, 2}; call f, (x);"))
    assert found.kind == "unsupported"
    assert "not both vectors of one length" in str(found)
