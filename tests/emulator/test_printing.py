"""The output of `vprintf` and `__assertfail` for a kernel's arguments."""

import pytest
from emulator.threads import agrees, fault, run, with_functions

PRINT = ".extern .func (.param .b32 func_retval0) vprintf(.param .b64 vprintf_0, .param .b64 vprintf_1);\n"


def text(name: str, content: str) -> str:
    codes = ", ".join(str(b) for b in content.encode() + b"\0")
    return f".global .align 1 .b8 {name}[{len(content.encode()) + 1}] = {{{codes}}};\n"


def printed(format_: str, stores: str, guard: str = "setp.eq.u32 %p1, %r0, 0;", block: int = 1) -> str:
    """What one vprintf prints for the threads of which the guard holds; `stores` fills `args`."""
    source = with_functions(
        PRINT + text("format", format_) + text("word", "wörd"),
        f"""
        .local .align 8 .b8 args[64]; .reg .f64 %d; .reg .b64 %q;
        {guard} @!%p1 bra PAST;
        {stores}
        mov.u64 %rd3, format; cvta.global.u64 %rd3, %rd3; mov.u64 %rd4, args; cvta.local.u64 %rd4, %rd4;
        {{ .param .b64 p0; st.param.b64 [p0], %rd3; .param .b64 p1; st.param.b64 [p1], %rd4; .param .b32 r;
          call.uni (r), vprintf, (p0, p1); ld.param.b32 %r5, [r]; }}
        PAST:
        """,
    )
    return run(source, block=block)[1].printed


@pytest.mark.parametrize(("format_", "stores", "want"), [
    ("plain\n", "", "plain\n"),
    ("%d|%5d|%-5d|%05d|%+d", "st.local.u32 [args], -7; st.local.u32 [args+4], 42; st.local.v2.u32 [args+8], {43, 44};"
     "st.local.u32 [args+16], 45;", "-7|   42|43   |00044|+45"),
    ("%u %x %X %o %#x", "st.local.u32 [args], -1; st.local.u32 [args+4], 255; st.local.u32 [args+8], 0xabc;"
     "st.local.u32 [args+12], 8; st.local.u32 [args+16], 16;", "4294967295 ff ABC 10 0x10"),
    ("%c%c %%", "st.local.u32 [args], 71; st.local.u32 [args+4], 80;", "GP %"),
    ("%f %5.2f %e %g", "mov.f64 %d, 0d3FF8000000000000; st.local.f64 [args], %d; mov.f64 %d, 0dC00921FB54442D18;"
     "st.local.f64 [args+8], %d; st.local.f64 [args+16], %d; st.local.f64 [args+24], %d;",
     "1.500000 -3.14 -3.141593e+00 -3.14159"),
    ("%f %f", "mov.f64 %d, 0d7FF0000000000000; st.local.f64 [args], %d; mov.f64 %d, 0dFFF0000000000000;"
     "st.local.f64 [args+8], %d;", "inf -inf"),
    ("%lld %llu %lx %d", "mov.b64 %q, -5; st.local.u64 [args], %q; st.local.u64 [args+8], %q;"
     "st.local.u64 [args+16], %q; st.local.u32 [args+24], 6;", "-5 18446744073709551611 fffffffffffffffb 6"),
    ("%d %lld %d", "mov.b64 %q, 1099511627776; st.local.u32 [args], 1; st.local.u64 [args+8], %q;"
     "st.local.u32 [args+16], 2;", "1 1099511627776 2"),
    ("[%s] [%7s]", "mov.u64 %q, word; cvta.global.u64 %q, %q; st.local.u64 [args], %q; st.local.u64 [args+8], %q;",
     "[wörd] [  wörd]"),
    ("%*d %.*f", "st.local.u32 [args], 4; st.local.u32 [args+4], 9;", "   9 %.*f"),
    ("%hd %d", "st.local.u32 [args], 65537; st.local.u32 [args+4], 257;", "1 257"),
    ("%i %p", "st.local.u32 [args], 3; mov.b64 %q, 4096; st.local.u64 [args+8], %q;", "3 0x1000"),
])  # fmt: skip
def test_printed_text(format_: str, stores: str, want: str) -> None:
    assert printed(format_, stores) == want


def test_printing_gives_the_number_of_arguments() -> None:
    source = with_functions(
        PRINT + text("format", "%*d %5.1f %%"),
        """
        .local .align 8 .b8 args[16]; st.local.v2.u32 [args], {2, 1}; st.local.u64 [args+8], 0;
        mov.u64 %rd3, format; cvta.global.u64 %rd3, %rd3; mov.u64 %rd4, args; cvta.local.u64 %rd4, %rd4;
        { .param .b64 p0; st.param.b64 [p0], %rd3; .param .b64 p1; st.param.b64 [p1], %rd4; .param .b32 r;
          call.uni (r), vprintf, (p0, p1); ld.param.b32 %r5, [r]; }
        """,
    )
    out, emulation = run(source, block=2)
    assert (out, emulation.printed) == ([3, 3], " 1   0.0 %" * 2)


def test_each_thread_prints_once() -> None:
    every = printed("%d;", "st.local.u32 [args], %r0;", guard="and.b32 %r6, %r0, 3; setp.eq.u32 %p1, %r6, 1;", block=70)
    assert sorted(map(int, every.split(";")[:-1])) == list(range(1, 70, 4))


def test_failed_assertion() -> None:
    functions = (
        ".extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);\n"
        + text("what", "x < 3") + text("file", "a.cu") + text("where", "void k()")
    )  # fmt: skip
    addresses = "".join(
        f".param .b64 p{i}; mov.u64 %rd3, {n}; cvta.global.u64 %rd3, %rd3; st.param.b64 [p{i}], %rd3;\n"
        for i, n in ((0, "what"), (1, "file"), (3, "where"))
    )
    body = f"""
        setp.lt.u32 %p1, %r0, {{}};
        @%p1 bra FINE;
        {{{{ {addresses} .param .b32 p2; st.param.b32 [p2], 17; .param .b64 p4; st.param.b64 [p4], 1;
          call.uni __assertfail, (p0, p1, p2, p3, p4); }}}}
    FINE:
    """
    agrees(with_functions(functions, body.format(64)), lambda i, v: 0)
    found = fault(with_functions(functions, body.format(60)))
    assert (found.kind, found.threads) == ("trap", (60, 61, 62, 63))
    assert "a.cu:17: void k(): assertion `x < 3` failed" in str(found)
