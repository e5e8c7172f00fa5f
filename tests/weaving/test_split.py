"""Multiple-entry loops become single-entry: in a kernel before it is merged, and in the merge of two."""

from collections.abc import Callable
from typing import Literal

import pytest
from bodies import kernel
from hypothesis import given
from hypothesis import strategies as st

import goptx
from goptx import Shape
from goptx.analysis.build_cfg import control_flow
from goptx.analysis.cfg import EXIT, Block, Flow
from goptx.analysis.terminators import Branch, Jump, Stop
from goptx.errors import CannotWeave
from goptx.options import Strategy
from goptx.ptx.flatten import flatten
from goptx.ptx.ir import Guard, Instruction, Name
from goptx.weaving.converge.single_entry import is_reducible, reducible
from goptx.weaving.merging.size_limits import TooLarge

BEGIN = """
    mov.u32 %r1, %tid.x; ld.param.u64 %rd1, [{name}_in]; ld.param.u64 %rd2, [{name}_out]; ld.param.u32 %r2, [{name}_n];
    mul.wide.u32 %rd3, %r1, 4; add.s64 %rd1, %rd1, %rd3; add.s64 %rd2, %rd2, %rd3; mov.u32 %r3, 0;
"""
# Two entries of the loop, by `n`; lanes exchange values and threads wait in it.
TWO_ENTRIES = """
    ld.global.u32 %r4, [%rd1]; and.b32 %r5, %r2, 1; setp.eq.u32 %p1, %r5, 0; @%p1 bra SECOND;
    FIRST: mad.lo.u32 %r4, %r4, 5, 1; shfl.sync.idx.b32 %r4, %r4, 3, 31, -1; add.u32 %r4, %r4, %r1;
    SECOND: add.u32 %r3, %r3, 1; bar.sync 0; xor.b32 %r4, %r4, %r3; setp.lt.u32 %p2, %r3, 4; @%p2 bra FIRST;
    st.global.u32 [%rd2], %r4; ret;
"""
# A divergent if within the loop, which is parked: there is a shuffle in it.
REGION = """
    ld.global.u32 %r4, [%rd1]; setp.eq.u32 %p1, %r2, 44; @%p1 bra SECOND;
    FIRST: and.b32 %r5, %r1, 16; setp.eq.u32 %p3, %r5, 0; @%p3 bra SECOND;
    mad.lo.u32 %r4, %r4, 5, 1; bar.warp.sync 0xffff0000; add.u32 %r4, %r4, 9;
    SECOND: add.u32 %r3, %r3, 1; xor.b32 %r4, %r4, %r3; setp.lt.u32 %p2, %r3, 4; @%p2 bra FIRST;
    st.global.u32 [%rd2], %r4; ret;
"""
NESTED = """
    TURN: ld.global.u32 %r4, [%rd1]; mov.u32 %r6, 0;
    AGAIN: mad.lo.u32 %r4, %r4, 3, %r6; st.global.u32 [%rd2], %r4; add.u32 %r6, %r6, 1;
    setp.lt.u32 %p2, %r6, 3; @%p2 bra AGAIN;
    add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 3; @%p1 bra TURN; ret;
"""


def made(body: str, name: str) -> str:
    return kernel(BEGIN.format(name=name) + body, name)


@pytest.mark.parametrize("size", [44, 45])
@pytest.mark.parametrize("other", [NESTED, TWO_ENTRIES])
@pytest.mark.parametrize("body", [TWO_ENTRIES, REGION])
def test_what_stands_in_copies_runs_once(
    body: str, other: str, size: int, assembles: Callable[[goptx.Woven], None]
) -> None:
    texts = made(body, "one"), made(other, "two")
    arguments = {f"{k}:{i}": t for k in "AB" for i, t in enumerate(("u32[64]:0..99", "u32[64]:zeros", f"u32:{size}"))}
    assert goptx.check(*texts, grid=1, block=64, args=arguments)
    assert goptx.check(*reversed(texts), grid=1, block=64, args=arguments)
    assembles(goptx.weave(*texts))


def test_copies_of_a_region_are_one_place_in_the_report() -> None:
    report = goptx.weave(made(REGION, "one"), made(NESTED, "two")).report
    assert [(d.kernel, d.choice) for d in report.divergences] == [("A", "park")]


# Lanes diverge in this loop of two entries, and leave it at different times.
DIVERGED = """
    ld.global.u32 %r4, [%rd1]; and.b32 %r5, %r4, 7; and.b32 %r6, %r4, 8; setp.eq.u32 %p1, %r6, 0; @%p1 bra SECOND;
    FIRST: mad.lo.u32 %r4, %r4, 5, 1; {inside} sub.u32 %r5, %r5, 1; setp.lt.s32 %p2, %r5, 0; @%p2 bra OUT;
    and.b32 %r7, %r4, 1; setp.eq.u32 %p3, %r7, 0; @%p3 bra FIRST;
    SECOND: add.u32 %r4, %r4, 3; sub.u32 %r5, %r5, 1; setp.lt.s32 %p2, %r5, 0; @%p2 bra OUT;
    and.b32 %r7, %r4, 2; setp.eq.u32 %p3, %r7, 0; @%p3 bra SECOND; bra FIRST;
    OUT: st.global.u32 [%rd2], %r4; ret;
"""


def test_diverged_lanes_get_single_entry_loops() -> None:
    """Else ptxas does not reconverge them after the loop, and on an H200 the woven kernel hung."""
    texts = made(DIVERGED.replace("{inside}", ""), "one"), made(NESTED, "two")
    woven = goptx.weave(*texts)
    assert [(d.kernel, d.choice) for d in woven.report.divergences] == [("A", "park")]
    body = woven.module.entries[0].body or ()
    assert is_reducible(control_flow(flatten(body, lambda name: name)).without_empty())
    arguments = {f"{k}:{i}": t for k in "AB" for i, t in enumerate(("u32[64]:0..99", "u32[64]:zeros", "u32:44"))}
    assert goptx.check(*texts, grid=1, block=64, args=arguments)


def test_what_lanes_execute_together_is_not_copied_where_they_are_diverged() -> None:
    message = (
        r"kernel A \(`one`\): the kernel has a multiple-entry loop, which its lanes run separately, and copying code"
    )
    text = made(DIVERGED.replace("{inside}", "activemask.b32 %r8; add.u32 %r4, %r4, %r8;"), "one")
    with pytest.raises(
        CannotWeave, match=message + " until it is single-entry would separate what they execute together in it"
    ):
        goptx.weave(text, made(NESTED, "two"))


@pytest.mark.parametrize("strategy", ["interleave", "horizontal", "batch"])
def test_kernels_that_run_as_they_are_get_single_entry_loops(strategy: Strategy | Literal["batch"]) -> None:
    """On an H200 an interleaved kernel, whose blocks stood in another order, took votes of a part of the warp."""
    text = made(DIVERGED.replace("{inside}", "xor.b32 %r4, %r4, 1;"), "one")
    arguments = {f"A:{i}": t for i, t in enumerate(("u32[64]:0..99", "u32[64]:zeros", "u32:44"))}
    if strategy == "batch":
        woven = goptx.batch(text, over="A:2", start=44, independent=True)
        shapes = [Shape((1, 1, 1), 64)]
    else:
        other = {f"B:{i}": t for i, t in enumerate(("u32[64]:0..99", "u32[64]:zeros", "u32:44"))}
        shapes = [Shape(1, 64)] * 2
        woven = goptx.fuse(text, made(NESTED, "two"), strategy=strategy, shapes=shapes)
        assert goptx.check(woven, shapes=shapes, args={**arguments, **other})
    body = woven.module.entries[0].body or ()
    assert is_reducible(control_flow(flatten(body, lambda name: name)).without_empty())


def test_else_they_are_as_they_are() -> None:
    """Where copies would separate lanes or be too many."""
    diverged = made(DIVERGED.replace("{inside}", "activemask.b32 %r8; add.u32 %r4, %r4, %r8;"), "one")
    for text, word in ((diverged, "activemask"), (made(states(8), "one"), "brx.idx")):
        woven = goptx.fuse(text, made(NESTED, "two"), strategy="interleave", shapes=[Shape(1, 64)] * 2)
        assert woven.ptx.count(word) == text.count(word)


def states(count: int) -> str:
    """Each of so many states is followed by any other."""
    jumps = ", ".join(f"S{i}" for i in range(count))
    text = "".join(
        f"S{i}: add.u32 %r3, %r3, {i}; rem.u32 %r4, %r3, {count}; brx.idx.uni %r4, TABLE;" for i in range(count)
    )
    return f"TABLE: .branchtargets {jumps}; rem.u32 %r4, %r2, {count}; brx.idx.uni %r4, TABLE; {text}"


def test_a_kernel_that_takes_too_many_copies_is_refused() -> None:
    message = (
        r"^<ptx>:\d+: kernel A \(`one`\): the kernel has multiple-entry loops, and copying code until each is "
        r"single-entry takes more than the \d+ instructions that max_growth= allows; enter loops at their heads only, "
        r"raise max_growth=, or use separate launches\. \[single-entry-loops\]$"
    )
    with pytest.raises(CannotWeave, match=message):
        goptx.weave(made(states(8), "one"), made(NESTED, "two"))
    assert goptx.weave(made(states(3), "one"), made(NESTED, "two"))


# Any flow -------------------------------------------------------------------------------------------------


@st.composite
def flows(draw: st.DrawFn) -> Flow:
    """Blocks with a branch or a jump to any others, the last of which goes to the end."""
    count = draw(st.integers(2, 7))
    names = [f"b{i}" for i in range(count)]
    blocks = {}
    for i, name in enumerate(names):
        taken, fallen = draw(st.sampled_from([*names, EXIT])), [*names, EXIT][i + 1]
        end = Jump(taken) if taken == fallen else Branch(Guard(Name("%p1")), taken, fallen)
        blocks[name] = Block((Instruction(f"op{i}"),), end)
    return Flow(names[0], {**blocks, EXIT: Block((), Stop())}).without_empty()


def paths(flow: Flow, length: int) -> set[tuple[str, ...]]:
    """The code along each path of so many blocks."""
    found: dict[str, set[tuple[str, ...]]] = {n: {()} for n in flow.blocks}
    for _ in range(length):
        found = {
            n: {(*map(str, b.code), *w) for t in b.end.successors() or (n,) for w in found[t]}
            for n, b in flow.blocks.items()
        }
    return found[flow.entry]


@given(flows())
def test_paths_stay_and_loops_are_single_entry(flow: Flow) -> None:
    split, origin = reducible(flow)
    assert is_reducible(split)
    assert paths(split, 8) == paths(flow, 8)
    assert split.blocks.keys() - flow.blocks.keys() == origin.keys()
    assert is_reducible(flow) == (not origin)
    size = sum(b.size for b in split.blocks.values())
    assert sum(b.size for b in reducible(flow, size)[0].blocks.values()) == size
    if origin:
        with pytest.raises(TooLarge):
            reducible(flow, size - 1)
