"""Kernels, and what it means that results are the same, for the tests of what is kept."""

from pathlib import Path

from bodies import GUARD, kernel

from goptx import Shape, Woven

EXAMPLES = Path(__file__).parents[1] / "examples" / "kernels"
HARRIS, LUD, SORT, REDUCE = (EXAMPLES / f"{name}.sm_90.ptx" for name in ("harris", "lud", "sort", "reduce"))
LINED = Path(__file__).parent / "corpus" / "ptx" / "callees.sm_80-lineinfo.nvcc.ptx"
ONE = kernel(GUARD.format(body="st.shared.u32 [tile], %r1; bar.sync 0; ld.shared.u32 %r3, [tile];"))
OTHER = kernel("LOOP: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 9; @%p1 bra LOOP; ret;", "other")
STRANGE = kernel("newest.u32 %r1, %r2; ret;", "strange")
DIVERGENT = kernel("mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0; @%p1 bra W; bar.sync 0; W: bra W;")
SHAPES = [Shape(4, 64), Shape(9, 32)]


def same(one: Woven, other: Woven) -> bool:
    """All that a user can ask of them, without a GPU."""
    assert one == other and hash(one.module) == hash(other.module)
    assert (one.ptx, str(one.report), one.report.to_dict()) == (other.ptx, str(other.report), other.report.to_dict())
    assert (one.origins, one.symbols, one.shape) == (other.origins, other.symbols, other.shape)
    assert [type(p) for p in (one.plan, *one.params)] == [type(p) for p in (other.plan, *other.params)]
    assert one.chosen == other.chosen
    for mine, yours in zip(one.chosen, other.chosen, strict=True):
        assert mine.path == yours.path
        assert repr(mine.module) == repr(yours.module)  # its lines too
    return True
