"""Registers as expressions: which numbers are proved equal, and which are not."""

import pytest
from bodies import flow

from goptx.analysis.values.expressions import Atoms, Expression
from goptx.analysis.values.footprint import Size, footprint, piece_of_cta
from goptx.analysis.values.value_numbering import Values

INDEX = "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;"


def addresses(body: str) -> tuple[Values, list[Expression]]:
    """The values, and the addresses of the stores, in order."""
    found = Values(flow(body), Atoms())
    stores = [
        found.addresses[name, i][0]
        for name, block in found.flow.blocks.items()
        for i, code in enumerate(block.code)
        if str(code).startswith(("st.", "@%p1 st."))
    ]
    return found, stores


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        ("mad.lo.s32 %r4, %r1, %r2, %r3;", "mul.lo.u32 %r5, %r2, %r1; add.s32 %r4, %r3, %r5;", True),
        ("shl.b32 %r4, %r3, 2;", "mul.lo.s32 %r4, %r3, 4;", True),
        ("add.s32 %r4, %r3, -1;", "sub.s32 %r4, %r3, 1;", True),
        ("min.s32 %r4, %r3, 7;", "min.s32 %r4, %r3, 7;", True),
        ("min.s32 %r4, %r3, 7;", "min.s32 %r4, %r3, 8;", False),
        ("mov.u32 %r4, %clock;", "mov.u32 %r4, %clock;", False),
        ("mov.u32 %r4, %warpid;", "mov.u32 %r4, %warpid;", False),
        ("mul.hi.s32 %r4, %r3, %r2;", "mul.lo.s32 %r4, %r3, %r2;", False),
        ("ld.global.u32 %r4, [%rd1];", "ld.global.u32 %r4, [%rd1];", False),
        ("setp.ge.s32 %p2, %r3, 9;selp.b32 %r4, 1, 2, %p2;", "setp.le.s32 %p3, 9, %r3;selp.b32 %r4, 1, 2, %p3;", True),
        ("mov.u32 %r4, 0; @%p1 mov.u32 %r4, 1;", "mov.u32 %r4, 0; @!%p1 mov.u32 %r4, 1;", False),
    ],
)  # fmt: skip
def test_equal_addresses(one: str, other: str, equal: bool) -> None:
    address = "mul.wide.s32 %rd2, %r4, 4; st.global.u32 [%rd2], %r3;"
    begin = f"{INDEX} ld.param.u64 %rd1, [k_in]; setp.lt.s32 %p1, %r3, 3;"
    _, stored = addresses(f"{begin} {one} {address} {other} {address} ret;")
    assert (stored[0] == stored[1]) is equal


@pytest.mark.parametrize(
    ("load", "other", "equal"),
    [
        ("ld.param.u64 %rd2, [k_in];", "mov.b64 %rd4, k_in; ld.param.u64 %rd3, [%rd4];", True),
        ("ld.param.u64 %rd2, [k_in+8];", "mov.b64 %rd4, k_in; add.s64 %rd4, %rd4, 8; ld.param.u64 %rd3, [%rd4];", True),
        ("mov.b64 %rd4, k_in; ld.param.u64 %rd2, [%rd4];", "add.s64 %rd4, %rd4, 8; ld.param.u64 %rd3, [%rd4];", False),
        ("ld.param.u64 %rd2, [k_in+8];", "ld.param.v2.u64 {%rd4, %rd3}, [k_in];", True),
        ("ld.param.u64 %rd2, [k_in];", "ld.param.v2.u64 {%rd4, %rd3}, [k_in];", False),
        ("mov.b64 %rd4, k_in; mad.wide.u32 %rd4, %r3, 8, %rd4; ld.param.u64 %rd2, [%rd4];",
         "ld.param.u64 %rd3, [%rd4];", False),
    ],
)  # fmt: skip
def test_parameters_are_identified_by_their_offsets(load: str, other: str, equal: bool) -> None:
    _, stored = addresses(f"{INDEX} {load} {other} st.global.u32 [%rd2], %r3; st.global.u32 [%rd3], %r3; ret;")
    assert (stored[0] == stored[1]) is equal


@pytest.mark.parametrize(
    ("wide", "equal"),
    [
        ("mul.wide.u32 %rd3, %r1, %r2; cvt.u64.u32 %rd4, %r3; add.s64 %rd3, %rd3, %rd4; shl.b64 %rd3, %rd3, 2;", True),
        ("mad.lo.s32 %r4, %r1, %r2, %r3; mul.wide.u32 %rd3, %r4, 4;", False),
    ],
)
def test_numbers_of_threads_are_equal_in_all_widths(wide: str, equal: bool) -> None:
    own = "mul.wide.s32 %rd2, %r1, %r2; cvt.s64.s32 %rd4, %r3; add.s64 %rd2, %rd2, %rd4; mul.lo.s64 %rd2, %rd2, 4;"
    _, stored = addresses(f"{INDEX} {own} {wide} st.global.u32 [%rd2], %r3; st.global.u32 [%rd3], %r3; ret;")
    assert (stored[0] == stored[1]) is equal


LOOP = """
    {} ld.param.u64 %rd1, [k_in]; mov.u32 %r4, %r3; mov.u32 %r5, %r3; mov.u32 %r6, 0;
LOOP:
    mul.wide.s32 %rd2, %r4, 4; st.global.u32 [%rd2], %r3;
    mul.wide.s32 %rd3, %r5, 4; st.global.u32 [%rd3], %r3;
    {}
    add.s32 %r6, %r6, 1; setp.lt.s32 %p1, %r6, 9;
    @%p1 bra LOOP;
    ret;
"""


@pytest.mark.parametrize(
    ("steps", "equal"),
    [
        ("add.s32 %r4, %r4, %r2; add.s32 %r5, %r2, %r5;", True),
        ("add.s32 %r4, %r4, 2; add.s32 %r5, %r5, 1; add.s32 %r5, %r5, 1;", True),
        ("add.s32 %r4, %r4, 2; add.s32 %r5, %r5, 1;", False),
        ("add.s32 %r4, %r4, %r6; add.s32 %r5, %r5, %r6;", True),
        ("ld.global.u32 %r7, [%rd1]; add.s32 %r4, %r4, %r7; add.s32 %r5, %r5, %r7;", True),
    ],
)
def test_counters_of_one_loop(steps: str, equal: bool) -> None:
    _, stored = addresses(LOOP.format(INDEX, steps))
    assert (stored[0] == stored[1]) is equal


@pytest.mark.parametrize(
    ("step", "known"),
    [
        ("add.s32 %r4, %r4, %r2;", True),
        ("add.s32 %r4, %r4, %r6;", False),
        ("ld.global.u32 %r7, [%rd1]; add.s32 %r4, %r4, %r7;", False),
        ("setp.gt.s32 %p2, %r6, 3; @%p2 add.s32 %r4, %r4, 1;", False),
        ("setp.gt.s32 %p2, %r6, 3; mov.u32 %r7, 1; @%p2 bra ON; mov.u32 %r7, 2; ON: add.s32 %r4, %r4, %r7;", False),
    ],
    ids=["size", "counter", "loaded", "guarded", "branched"],
)
def test_steps_are_the_same_each_time_around(step: str, known: bool) -> None:
    found, _ = addresses(LOOP.format(INDEX, step))
    assert any("%r4" in str(found.atoms.keys[atom]) for atom in found.steps) is known


@pytest.mark.parametrize(
    ("index", "size", "exclusive"),
    [
        ("mad.lo.s32 %r4, %r1, %r2, %r3;", Size(), True),
        ("mad.lo.s32 %r4, %r1, 64, %r3;", Size(64), True),
        ("mad.lo.s32 %r4, %r1, 64, %r3;", Size(128), False),
        ("mad.lo.s32 %r4, %r1, 64, %r3;", Size(), True),
        ("mov.u32 %r4, %r3;", Size(64), False),
        ("mov.u32 %r4, %r1;", Size(64), False),
        ("mad.lo.s32 %r4, %r1, %r2, %r3; shr.u32 %r4, %r4, 1;", Size(64), False),
    ],
)
def test_elements_that_one_thread_accesses(index: str, size: Size, exclusive: bool) -> None:
    found, _ = addresses(f"{INDEX} {index} mul.wide.s32 %rd2, %r4, 4; st.global.u32 [%rd2], %r3; ret;")
    address = next(a[0] for a in found.addresses.values() if a)
    foot = footprint(found, address, size)
    assert (foot is not None and foot.exclusive) is exclusive


@pytest.mark.parametrize(
    ("index", "size", "own"),
    [
        ("mad.lo.s32 %r4, %r1, %r2, %r3;", Size(), True),
        ("sub.s32 %r5, %r2, %r3; add.s32 %r5, %r5, -1; mad.lo.s32 %r4, %r1, %r2, %r5;", Size(), True),
        ("sub.s32 %r5, %r2, %r3; mad.lo.s32 %r4, %r1, %r2, %r5;", Size(), False),
        ("add.s32 %r5, %r3, 1; mad.lo.s32 %r4, %r1, %r2, %r5;", Size(), False),
        ("xor.b32 %r5, %r3, 5; mad.lo.s32 %r4, %r1, 64, %r5;", Size(64), True),
        ("xor.b32 %r5, %r3, 64; mad.lo.s32 %r4, %r1, 64, %r5;", Size(64), False),
        ("and.b32 %r5, %r3, 31; mad.lo.s32 %r4, %r1, 32, %r5;", Size(), True),
        ("mov.u32 %r4, %r3;", Size(64), False),
    ],
)
def test_pieces_of_a_cta(index: str, size: Size, own: bool) -> None:
    found, _ = addresses(f"{INDEX} {index} mul.wide.s32 %rd2, %r4, 4; st.global.u32 [%rd2], %r3; ret;")
    address = next(a[0] for a in found.addresses.values() if a)
    assert (piece_of_cta(found, address, size, 4) is not None) is own
