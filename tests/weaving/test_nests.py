"""On which level of loops and ifs each block of a kernel lies."""

from bodies import flow

from goptx.weaving.merging.nesting import Nests, height, nests

SET = "setp.eq.u32 %p1, %r1, 1;"
TWO_LOOPS_AND_AN_IF = f"""
    mov.u32 %r1, 0; @%p2 ret;
    OUTER: {SET} @%p1 bra SKIP;
    INNER: add.u32 %r1, %r1, 1; @%p3 bra LEAVE; {SET} @%p1 bra INNER;
    SKIP: {SET} @%p1 bra OUTER;
    LEAVE: mov.u32 %r2, %r1; @%p4 bra DONE;
    mov.u32 %r2, 5;
    DONE: st.global.u32 [%rd1], %r2; ret;
"""
WHILE = "HEAD: @%p1 bra DONE; mov.u32 %r1, 1; @%p2 bra HEAD; mov.u32 %r1, 2; bra HEAD; DONE: ret;"


def levels(found: Nests) -> dict[str, tuple[int, int]]:
    return {name: place.level for name, place in found.places.items() if not name.endswith(".before_deeper")}


def test_from_the_outermost_loop() -> None:
    assert levels(nests(flow(TWO_LOOPS_AND_AN_IF))) == {
        "entry": (0, 0),
        "OUTER": (1, 0),
        "INNER": (3, 0),
        "after_3": (4, 0),
        "SKIP": (2, 0),
        "LEAVE": (0, 0),
        "after_6": (0, 1),
        "DONE": (0, 0),
        "exit": (0, 0),
    }


def test_from_the_inmost_loops() -> None:
    found = flow(TWO_LOOPS_AND_AN_IF)
    assert height(found) == 2
    deeper = levels(nests(found, tallest=3))
    assert {name: deeper[name] for name in ("OUTER", "SKIP", "INNER", "after_3")} == {
        "OUTER": (3, 0),
        "SKIP": (4, 0),
        "INNER": (5, 0),
        "after_3": (6, 0),
    }
    assert deeper["LEAVE"] == (0, 0)


def test_leaving_a_loop_or_turning_back_is_no_if() -> None:
    found = levels(nests(flow(WHILE)))
    assert (found["HEAD"], found["after_1"], found["after_2"]) == ((1, 0), (2, 0), (2, 0))


def test_kernels_can_wait_before_deeper_code() -> None:
    found = nests(flow(TWO_LOOPS_AND_AN_IF), awaited=["INNER"])
    cut = {n.removesuffix(".before_deeper") for n in found.flow.blocks if n.endswith(".before_deeper")}
    assert cut == {"entry", "OUTER", "INNER", "LEAVE"}
    assert found.flow.blocks["OUTER"].end.successors() == ("OUTER.before_deeper",)
    assert not found.flow.blocks["OUTER.before_deeper"].code
    assert {n: p.loop for n, p in found.places.items() if p.loop} == {"OUTER.before_deeper": (3, 0)}
    assert found.places["OUTER.before_deeper"].deepest == (3, 0)
    assert found.places["OUTER"].deepest == (1, 0)
