"""The synchronization points of a kernel, and its span."""

from collections.abc import Callable, Collection, Sequence

import pytest
from bodies import flow

from goptx.analysis.cfg import EXIT, Block, Code, Flow, Region
from goptx.analysis.sync.spin_loops import waiting_loops
from goptx.analysis.sync.sync_spans import SyncPoints, sync_points
from goptx.analysis.terminators import Jump
from goptx.ptx.ir import Instruction

BODY = """
    A: mov.u32 %r1, 0; bra B;
    B: {b} bra C;
    C: {c} add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 3; @%p1 bra C;
    D: {d} bra E;
    E: {e} mov.u32 %r2, 0; ret;
"""  # C is a loop


def found(**code: str) -> tuple[SyncPoints, dict[str, str]]:
    """The synchronization points, and the block of each letter."""
    pieces = {k: code.get(k, "") for k in "bcde"}
    marks = {k: f"add.u32 %r{10 + i}, %r3, {i};" for i, k in enumerate("bcde")}
    result = flow(BODY.format(**{k: marks[k] + pieces[k] for k in "bcde"})).cut(_starts(marks.values()), "cut")
    names = {k: n for k, mark in marks.items() for n, b in result.blocks.items() if mark in map(str, b.code)}
    return sync_points(result), names


def _starts(marks: Collection[str]) -> Callable[[Sequence[Code]], list[int]]:
    return lambda code: [i for i, c in enumerate(code) if i and str(c) in marks]


SYNC, COUNT, ARRIVE = "bar.sync 0;", "bar.sync 1, 64;", "bar.arrive 1, 64;"


def letters(blocks: frozenset[str], names: dict[str, str]) -> str:
    return "".join(k for k, n in names.items() if n in blocks)


def test_cta_wide_barriers_are_ordered_and_have_no_span() -> None:
    result, names = found(b=SYNC, d="bar.red.popc.u32 %r5, 0, %p2;")
    assert letters(result.ordered, names) == letters(result.waits, names) == "bd"
    assert not result.other
    assert not result.span


@pytest.mark.parametrize(
    ("code", "other", "span", "waits"),
    [
        ({"b": COUNT, "d": COUNT}, "bd", "cd", "bd"),
        ({"b": ARRIVE, "d": COUNT}, "bd", "cd", "d"),
        ({"b": COUNT}, "b", "", "b"),
        ({"c": COUNT}, "c", "c", "c"),  # in a loop one follows another
        ({"b": SYNC, "c": COUNT, "e": SYNC}, "c", "c", "bce"),
        ({"b": COUNT, "c": SYNC, "e": ARRIVE}, "be", "cde", "bc"),
        ({"b": "barrier.cluster.arrive;", "d": "barrier.cluster.wait;"}, "bd", "cd", "d"),
        ({"b": "mbarrier.arrive.shared.b64 _, [tile];"}, "", "", ""),  # nobody waits for it
    ],
)
def test_the_span_goes_from_the_first_to_the_last(code: dict[str, str], other: str, span: str, waits: str) -> None:
    result, names = found(**code)
    assert letters(result.other, names) == other
    assert letters(result.span, names) == span
    assert letters(result.waits, names) == waits


FLAG = "W: ld.volatile.shared.u32 %r5, [tile]; setp.eq.u32 %p2, %r5, 0; @%p2 bra W;"
PHASE = "W: mbarrier.test_wait.parity.shared.b64 %p2, [tile], 0; @!%p2 bra W;"


@pytest.mark.parametrize(
    ("loop", "release", "other"),
    [
        (PHASE, "mbarrier.arrive.shared.b64 _, [tile];", True),
        (PHASE, "mbarrier.complete_tx.shared.b64 [tile], 16;", True),
        (PHASE, "cp.async.mbarrier.arrive.noinc.shared.b64 [tile];", True),
        (PHASE, "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [tile], [%rd1], 16, [tile];", True),
        (PHASE, "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [tile], 16;", False),
        (PHASE, "mbarrier.expect_tx.shared.b64 [tile], 16;", False),
        (PHASE, "st.shared.u32 [tile], 1;", False),
        (FLAG, "st.shared.u32 [tile], 1;", True),
        (FLAG, "st.u32 [%rd1], 1;", True),
        (FLAG, "st.local.u32 [%rd1], 1;", False),
        (FLAG, "atom.exch.b32 %r6, [%rd1], 1;", True),
    ],
)  # fmt: skip
def test_releases_of_a_wait(loop: str, release: str, other: bool) -> None:
    result, names = found(b=release, d=loop)
    assert ("b" in letters(result.other, names)) == other
    assert result.in_sync_order(flow(release).blocks["entry"].code[0]) == other


def test_a_waiting_loop_within_a_region_counts_as_the_region() -> None:
    inner = flow(f"{PHASE} ret;")
    region = Region("in", {"in": Block((), Jump(inner.entry)), **inner.blocks}, "join")
    blocks = {"in": Block((), Jump("join"), (), region), "join": Block((), Jump(EXIT)), EXIT: inner.blocks[EXIT]}
    assert sync_points(Flow("in", blocks)).waits == {"in"}


def test_loops_that_begin_at_one_block_are_separate() -> None:
    """The outer loop goes back to where the inner one does."""
    body = f"{PHASE} add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 9; @%p1 bra W; ret;"
    loops = list(waiting_loops(flow(body)))
    assert [len(body) for body, _ in loops] == [1]
    assert isinstance(loops[0][1], Instruction)
    nested = flow(f"T: add.u32 %r2, %r2, 1; {PHASE} setp.lt.u32 %p1, %r2, 9; @%p1 bra T; ret;")
    assert [len(body) for body, _ in waiting_loops(nested)] == [1]
