"""Which values registers hold that are written in several places, and what that says of branches and barriers."""

import pytest
from bodies import flow, kernel

import goptx
from goptx.analysis.cfg import EXIT, Block, Flow, Region
from goptx.analysis.terminators import Jump
from goptx.analysis.uniformity import Uniformity, uniformity
from goptx.analysis.versions import MEETING, Value, Version, Versions
from goptx.checking.certify import prove
from goptx.errors import CannotWeave
from goptx.launch.shape import Shape

CTA, WARP_DATA, WARP, DATA, DIVERGENT = Uniformity
DIAMOND = """
    mov.u32 %r1, 0; setp.eq.u32 %p1, %r3, 0; @%p1 bra LEFT; mov.u32 %r1, 1; bra JOIN; LEFT: mov.u32 %r2, 7;
    JOIN: add.u32 %r4, %r1, 1; mov.u32 %r1, 2; mov.u32 %r5, %r1; ret;
"""


def meetings(versions: Versions) -> dict[Value, set[Value]]:
    return {version: set(values) for version, values in versions.meetings()}


def test_paths_that_lead_to_different_versions_meet() -> None:
    made = flow(DIAMOND)
    versions, (right,) = Versions(made), [n for n in made.blocks if n not in ("entry", "LEFT", "JOIN", EXIT)]
    assert versions.at_start(right)["%r1"] == versions.at_start("LEFT")["%r1"] == ("%r1", "entry", 0)
    assert versions.at_start("JOIN")["%r1"] == ("%r1", "JOIN", MEETING)
    assert versions.written("JOIN", 1) == {"%r1": ("%r1", "JOIN", 1)}
    assert versions.at_start("JOIN")["%r2"] == "%r2"  # written in one place
    assert meetings(versions) == {("%r1", "JOIN", MEETING): {("%r1", right, 0), ("%r1", "entry", 0)}}


def test_a_loop_meets_what_is_before_it() -> None:
    made = flow("mov.u32 %r1, 0; TOP: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 9; @%p1 bra TOP; ret;")
    versions = Versions(made)
    assert versions.at_start("TOP")["%r1"] == ("%r1", "TOP", MEETING)
    assert meetings(versions) == {("%r1", "TOP", MEETING): {("%r1", "entry", 0), ("%r1", "TOP", 0)}}


def test_paths_meet_again_after_they_have_met() -> None:
    body = "mov.u32 %r1, 0; TOP: setp.eq.u32 %p1, %r3, 0; @%p1 bra ON; mov.u32 %r1, 1; ON: add.u32 %r3, %r3, %r1;"
    versions = Versions(flow(f"{body} setp.lt.u32 %p2, %r3, 9; @%p2 bra TOP; ret;"))
    assert versions.at_start("ON")["%r1"] == ("%r1", "ON", MEETING)
    assert versions.at_start("TOP")["%r1"] == ("%r1", "TOP", MEETING)
    assert meetings(versions)[Version("%r1", "TOP", MEETING)] == {("%r1", "entry", 0), ("%r1", "ON", MEETING)}


def test_what_nothing_has_written_has_no_version() -> None:
    versions = Versions(flow("mov.u32 %r2, %r1; mov.u32 %r1, 1; mov.u32 %r1, 2; ret;"))
    assert versions.at_start("entry")["%r1"] == "%r1"


def test_only_wanted_registers_have_versions() -> None:
    versions = Versions(flow(DIAMOND), {"%r2"})
    assert versions.at_start("JOIN")["%r1"] == "%r1" and not versions.written("JOIN", 1)


# what is the same for all threads -----------------------------------------------------------------------


def branch(body: str) -> Uniformity:
    """That of the branch at the end of the block TOP."""
    return uniformity(flow(body)).branches["TOP"]


READ_ONLY = "ld.global.nc.u32 %r1, [%rd1];"


@pytest.mark.parametrize("after", ["mov.u32 %r1, %tid.x;", "ld.global.u32 %r1, [%rd2];", "@%p3 add.u32 %r1, %r1, %r9;"])
def test_what_is_written_after_a_loop_says_nothing_of_it(after: str) -> None:
    loop = "mov.u32 %r2, 0; TOP: add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, %r1; @%p1 bra TOP;"
    rest = f"mov.u32 %r9, %tid.x; setp.eq.u32 %p3, %r9, 4; {after} setp.lt.u32 %p2, %ctaid.x, 4; @%p2 bra OUTER; ret;"
    assert branch(f"{READ_ONLY} {loop} {rest.replace('@%p2 bra OUTER;', '')}") == CTA
    assert branch(f"OUTER: {READ_ONLY} {loop} {rest}") == CTA
    assert branch(f"{READ_ONLY} OUTER: {loop} {rest}") > CTA


def test_a_loop_counter_may_be_copied_from_a_sum() -> None:
    """Compilers write all zeros as copies of one register, which the loop then adds to."""
    body = """
        mov.u32 %r1, 0; mov.u32 %r2, %r1;
        TOP: ld.global.u32 %r3, [%rd1]; add.u32 %r1, %r1, %r3; add.u32 %r2, %r2, 1;
        setp.lt.u32 %p1, %r2, 9; @%p1 bra TOP; st.global.u32 [%rd2], %r1; ret;
    """
    assert branch(body) == CTA
    assert uniformity(flow(body)).of("%r1") == DATA


def test_the_value_before_counts_where_a_guard_may_keep_it() -> None:
    begin, test = "mov.u32 %r1, %tid.x; setp.eq.u32 %p2, %ctaid.x, 1;", "setp.lt.u32 %p1, %r1, 9; ret;"
    assert uniformity(flow(f"{begin} @%p2 mov.u32 %r1, 4; {test}")).of("%p1") == DIVERGENT
    assert uniformity(flow(f"{begin} mov.u32 %r1, 4; {test}")).of("%p1") == CTA


def test_a_value_stays_in_the_other_components() -> None:
    vector = ".reg .v2 .b32 %v; mov.u32 %r9, %tid.x; mov.v2.u32 %v, {%r9, %r9}; add.u32 %v.y, 1, 2;"
    test = "add.u32 %r1, %v.x, 0; setp.lt.u32 %p1, %r1, 9; ret;"
    shape = Shape(4, 64)
    assert uniformity(flow(f"{vector} {test}"), shape=shape).of("%p1") == DIVERGENT
    assert uniformity(flow(f"{vector} mov.v2.u32 %v, {{2, 3}}; {test}"), shape=shape).of("%p1") == CTA


def test_what_a_region_writes_is_divergent_after_it() -> None:
    made = flow("mov.u32 %r1, 0; setp.eq.u32 %p1, %r1, 0; @%p1 bra ON; mov.u32 %r2, 1; ON: mov.u32 %r1, 1; ret;")
    code = made.blocks["ON"].code[0]
    inner = Block((code,), Jump("after"))
    blocks = {
        "entry": Block(made.blocks["entry"].code, Jump("region")),
        "region": Block((), Jump("after"), region=Region("in", {"in": inner}, "after")),
        "after": Block((), Jump(EXIT)),
        EXIT: made.blocks[EXIT],
    }
    versions = Versions(Flow("entry", blocks))
    assert versions.at_start("region")["%r1"] == ("%r1", "entry", 0)
    assert versions.at_start("after")["%r1"] == ("%r1", "region", 0)
    assert uniformity(Flow("entry", blocks)).of("%r1") == DIVERGENT


# kernels with barriers ----------------------------------------------------------------------------------

REUSED = """
    mov.u32 %r1, %tid.x; ld.param.u64 %rd1, [{0}_in]; ld.param.u64 %rd2, [{0}_out]; mov.u32 %r3, tile;
    mad.lo.u32 %r3, %r1, 4, %r3; ld.global{1}.u32 %r4, [%rd1]; mov.u32 %r5, 0; st.shared.u32 [%r3], %r1;
    TOP: bar.sync 0; ld.shared.u32 %r6, [tile]; add.u32 %r5, %r5, 1; bar.sync 0; @%p2 st.shared.u32 [%r3], %r5;
    setp.lt.u32 %p1, %r5, %r4; @%p1 bra TOP;
    setp.ne.u32 %p1, %r1, 0; @%p1 bra DONE;
    BACK: sub.u32 %r4, %r4, %r1; sub.u32 %r4, %r4, 1; setp.gt.s32 %p1, %r4, 0; @%p1 bra BACK;
    mad.wide.u32 %rd2, %r1, 4, %rd2; st.global.u32 [%rd2], %r6;
    DONE: ret;
"""


def reused(load: str, presume: bool) -> goptx.Woven:
    body = REUSED.replace("@%p2 ", "setp.eq.u32 %p2, %r1, 0; @%p2 ")
    sources = [goptx.read(kernel(body.format(name, load), name)) for name in ("one", "other")]
    return goptx.weave(*sources, presume=presume)


def test_a_bound_that_is_counted_down_after_the_barriers() -> None:
    """One thread goes back over what all have done; so a Viterbi decoder is compiled."""
    made = prove(reused(".nc", False))
    assert made, str(made)
    with pytest.raises(CannotWeave, match="barrier"):
        reused("", False)
