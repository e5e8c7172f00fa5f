"""Which bytes a kernel may access: the bounds that follow from thread numbers, and the cases without bounds."""

import pytest
from bodies import flow

from goptx.analysis.values.accessed_bytes import Accesses, accesses

GRID, BLOCK = (4, 1, 1), (256, 1, 1)
NUMBER = """
    ld.param.u64 %rd1, [k_in];
    ld.param.u64 %rd2, [k_out];
    ld.param.u32 %r9, [k_n];
    cvta.to.global.u64 %rd3, %rd1;
    cvta.to.global.u64 %rd4, %rd2;
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.s32 %r4, %r1, %r2, %r3;
"""  # %r4: the thread's number, %rd3: in, %rd4: out


def found(body: str, known: dict[str, int] | None = None) -> Accesses:
    return accesses(flow(NUMBER + body), ["k_in", "k_out"], ["k_n"], known or {}, GRID, BLOCK)


LOAD = "add.s64 %rd6, %rd3, %rd5; ld.global.u32 %r11, [%rd6]; ret;"


@pytest.mark.parametrize(
    ("index", "end"),
    [
        ("mul.wide.s32 %rd5, %r4, 4;", 4096),
        ("mul.wide.u32 %rd5, %r3, 4;", 1024),
        ("mul.wide.s32 %rd5, %r4, 12;", 1023 * 12 + 4),
        ("cvt.s64.s32 %rd7, %r4; shl.b64 %rd5, %rd7, 2;", 4096),
        ("add.s32 %r5, %r4, 2; mul.wide.s32 %rd5, %r5, 4;", 4104),
        ("sub.s32 %r5, 1023, %r4; mul.wide.s32 %rd5, %r5, 4;", 4096),
        ("shr.u32 %r5, %r4, 5; mul.wide.u32 %rd5, %r5, 4;", 128),
        ("and.b32 %r5, %r10, 127; mul.wide.s32 %rd5, %r5, 4;", 512),
        ("shl.b32 %r5, %r1, 8; or.b32 %r6, %r5, %r3; mul.wide.s32 %rd5, %r6, 4;", 4096),
        ("rem.u32 %r5, %r4, 100; mul.wide.u32 %rd5, %r5, 4;", 400),
        ("rem.s32 %r5, %r4, %r9; mul.wide.s32 %rd5, %r5, 4;", 4096),
        ("div.u32 %r5, %r4, 3; mul.wide.u32 %rd5, %r5, 4;", 341 * 4 + 4),
        ("min.s32 %r5, %r4, 9; mul.wide.s32 %rd5, %r5, 4;", 40),
        ("max.s32 %r5, %r4, 1030; mul.wide.s32 %rd5, %r5, 4;", 4124),
        ("selp.b32 %r5, %r4, 2000, %p1; mul.wide.s32 %rd5, %r5, 4;", 8004),
        ("mov.u64 %rd5, 8;", 12),
    ],
)
def test_bytes_follow_from_the_thread_numbers(index: str, end: int) -> None:
    accessed = found(f"{index} {LOAD}")
    assert accessed.arrays == {"k_in": (end, "u32")}
    assert accessed.unclear == {}


@pytest.mark.parametrize(
    "index",
    [
        "mul.wide.s32 %rd5, %r10, 4;",  # never written
        "ld.global.u32 %r5, [%rd4]; mul.wide.u32 %rd5, %r5, 4;",  # from memory
        "mul.lo.s32 %r5, %r4, %r9; mul.wide.s32 %rd5, %r5, 4;",  # a scalar that may be anything
        "add.s32 %r5, %r4, -1; mul.wide.s32 %rd5, %r5, 4;",  # before the array
        "mul.lo.s32 %r5, %r4, 4194304; mul.wide.s32 %rd5, %r5, 4;",  # wraps
        "add.s32 %r5, %r4, -1; mul.wide.u32 %rd5, %r5, 4;",  # taken as unsigned
        "mov.u32 %r5, 0; @%p1 mov.u32 %r5, 1; mul.wide.u32 %rd5, %r5, 4;",  # two definitions
        "shl.b64 %rd5, %rd4, 1;",  # of another pointer
        "mul.hi.u32 %r5, %r4, 4; mul.wide.u32 %rd5, %r5, 4;",
        "cvt.rn.f32.s32 %r5, %r4; mul.wide.u32 %rd5, %r5, 4;",
    ],
)
def test_accesses_without_proved_bounds_are_unclear(index: str) -> None:
    accessed = found(f"{index} {LOAD}")
    assert str(accessed.unclear["k_in"]) == "ld.global.u32 %r11, [%rd6];"


def test_a_known_scalar_is_a_number() -> None:
    index = "mul.lo.s32 %r5, %r4, %r9; mul.wide.s32 %rd5, %r5, 4;"
    assert found(f"{index} {LOAD}", {"k_n": 3}).arrays == {"k_in": (1023 * 12 + 4, "u32")}


@pytest.mark.parametrize(
    ("access", "end", "element"),
    [
        ("ld.global.v4.f32 {%r5, %r6, %r7, %r8}, [%rd6];", 4096 + 12, "f32"),
        ("st.global.u8 [%rd6+3], %r5;", 1023 * 4 + 4, "u8"),
        ("atom.global.add.u32 %r5, [%rd6+0x10], 1;", 4096 + 16, "u32"),
        ("red.global.add.f64 [%rd6], %rd7;", 1023 * 4 + 8, "f64"),
        ("ld.b32 %r5, [%rd6]; add.f32 %r6, %r5, %r5;", 4096, "f32"),
        ("ld.global.b32 %r5, [%rd6]; cvt.rn.f32.s32 %r6, %r5;", 4096, "b32"),
        ("ld.global.f32 %r5, [%rd6]; st.global.u32 [%rd6], %r7;", 4096, "f32"),
    ],
)
def test_elements_of_an_access(access: str, end: int, element: str) -> None:
    accessed = found(f"mul.wide.s32 %rd5, %r4, 4; add.s64 %rd6, %rd3, %rd5; {access} ret;")
    assert accessed.arrays == {"k_in": (end, element)}


@pytest.mark.parametrize(
    "use",
    [
        "st.global.u64 [%rd4], %rd3;",
        "{ .param .b64 p; st.param.b64 [p], %rd3; call f, (p); }",
        "cp.async.ca.shared.global [%r5], [%rd3], 16;",
        "wmma.load.c.sync.aligned.row.m16n16k16.global.f32 {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, [%rd3], %r9;",
    ],
)
def test_a_pointer_that_is_passed_on_is_unclear(use: str) -> None:
    assert set(found(f"{use} ret;").unclear) == {"k_in"}


def test_an_address_from_memory_may_come_from_any_pointer() -> None:
    assert set(found("ld.global.u64 %rd5, [%rd4]; ld.global.u32 %r5, [%rd5]; ret;").unclear) == {"k_in", "k_out"}


def test_variables_are_not_parameters() -> None:
    loop = "mov.u64 %rd5, tile; AGAIN: ld.u32 %r5, [%rd5]; add.s64 %rd5, %rd5, 4; @%p1 bra AGAIN; ret;"
    assert found(loop).unclear == {}


@pytest.mark.parametrize(
    ("use", "bounds"),
    [
        ("setp.ge.s32 %p1, %r4, %r9;", {"k_n": 1024}),
        ("setp.gt.s32 %p1, %r9, %r3;", {"k_n": 256}),
        ("add.s32 %r5, %r9, -40; setp.ge.s32 %p1, %r4, %r5; setp.lt.u32 %p2, %r3, %r9;", {"k_n": 1024}),
        ("rem.u32 %r5, %r4, %r9;", {"k_n": 1024}),
        ("mov.u32 %r5, %r4; AGAIN: add.s32 %r5, %r5, 1; setp.lt.s32 %p1, %r5, %r9; @%p1 bra AGAIN;", {"k_n": 0}),
        ("ld.global.u32 %r5, [%rd3]; setp.lt.s32 %p1, %r5, %r9;", {}),
        ("setp.lt.s32 %p1, %r9, 1;", {}),
        ("add.s32 %r5, %r4, %r9;", {}),
    ],
)
def test_bounds_of_the_thread_numbers(use: str, bounds: dict[str, int]) -> None:
    assert found(f"{use} ret;").bounds == bounds


def test_an_end_pointer_is_not_a_bound() -> None:
    body = (
        "mul.wide.s32 %rd5, %r4, 4; add.s64 %rd6, %rd3, %rd5; setp.ge.u64 %p1, %rd6, %rd4; ld.global.u32 %r5, [%rd4];"
    )
    assert "k_out" not in found(f"{body} ret;").bounds


def test_long_chains_are_followed() -> None:
    names = [f"%c{i}" for i in range(3000)]
    chain = "".join(f"add.s32 {b}, {a}, 1;\n" for a, b in zip(["%r4", *names], names, strict=False))
    declared = f".reg .b32 %c<{len(names)}>;\n"
    accessed = found(f"{declared}{chain} mul.wide.s32 %rd5, {names[-1]}, 4; {LOAD}")
    assert accessed.arrays == {"k_in": ((1023 + 3000) * 4 + 4, "u32")}
