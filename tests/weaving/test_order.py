"""Which moves keep one synchronization order, and the merged kernels that result."""

import re
from dataclasses import replace

import pytest
from bodies import flow, kernel
from weaving.waiting_kernels import text

import goptx
from goptx.analysis.cfg import EXIT, Flow
from goptx.analysis.terminators import Branch
from goptx.ptx.ir import Instruction
from goptx.weaving.converge.barrier_promises import warp_branches
from goptx.weaving.converge.converge import converge_flow
from goptx.weaving.merging.product import Move, Pairs
from goptx.weaving.merging.sync_order import Order, Waits, safe_moves

SYNC, COUNT = "bar.sync 0;", "bar.sync 1, 64;"
PHASE = "W: mbarrier.test_wait.parity.shared.b64 %p2, [tile], 0; @!%p2 bra W;"
SHUFFLE = "shfl.sync.bfly.b32 %r5, %r6, 1, 31, -1;"


def straight(*pieces: str) -> Flow:
    """A flow with a block for each piece, called 0, 1, ..."""
    body = "".join(f"N{i}: add.u32 %r1, %r1, {i}; {piece} bra N{i + 1};\n" for i, piece in enumerate(pieces))
    found = flow(f"bra N0;\n{body} N{len(pieces)}: ret;").cut(
        lambda code: [i for i, c in enumerate(code) if i and re.match("add.u32 %r1, %r1", str(c))], "n"
    )
    names = {n: str(i) for i, n in enumerate(n for n in found.reverse_postorder() if n != EXIT)}
    blocks = {names.get(n, n): replace(b, end=b.end.retarget(names)) for n, b in found.blocks.items()}
    return Flow(names[found.entry], blocks)


def moves(first: Flow, second: Flow, pair: tuple[str, str], **options: bool) -> set[Move]:
    order = Order(
        [Waits(first, frozenset(), False), Waits(second, frozenset(), options.get("lanes_wait_separately", False))]
    )
    return {m for m in Move if order.allows(pair, m)}


ALL = set(Move)


@pytest.mark.parametrize(
    ("second", "position", "expected"),
    [
        (SYNC, "0", ALL),
        (SYNC, "1", {Move.FIRST, Move.SECOND}),  # beside the first of the span: one after the other
        (SYNC, "2", {Move.FIRST}),  # within the span it waits
        (SYNC, "3", {Move.FIRST}),
        (SYNC, "4", ALL),
        (COUNT, "1", {Move.FIRST, Move.SECOND}),
        (COUNT, "3", {Move.FIRST}),
        (SHUFFLE, "2", ALL),
        ("add.u32 %r7, %r7, 1;", "2", ALL),
    ],
)
def test_code_that_delays_threads_stays_out_of_a_span(second: str, position: str, expected: set[Move]) -> None:
    first = straight("", COUNT, "", COUNT, "")
    assert moves(first, straight(second), (position, "0")) == expected
    mirrored = {Move.BOTH: Move.BOTH, Move.FIRST: Move.SECOND, Move.SECOND: Move.FIRST}
    assert moves(straight(second), first, ("0", position)) == {mirrored[m] for m in expected}


def test_warp_instructions_stay_out_where_lanes_wait_one_by_one() -> None:
    waits = converge_flow(flow(f"{COUNT} add.u32 %r2, %r2, 1; {PHASE} mbarrier.arrive.shared.b64 _, [tile]; ret;"), "a",
                     lambda line: "", lambda _: 4).flow  # fmt: skip
    region = next(n for n, b in waits.blocks.items() if b.region)
    assert moves(straight(SHUFFLE), waits, ("0", region)) == ALL
    assert moves(straight(SHUFFLE), waits, ("0", region), lanes_wait_separately=True) == {Move.SECOND}


def test_moves_that_lead_nowhere_are_left_out() -> None:
    """Both spans begin with a release: begun one beside the other, none could go on."""
    first, second = (straight("", "bar.arrive 1, 64;", COUNT) for _ in range(2))
    order = Order([Waits(f, frozenset(), False) for f in (first, second)])
    pairs = Pairs(first, second)
    allowed = {pair: [m for m in Move if EXIT in pair or order.allows(pair, m)] for pair in _all(pairs)}
    assert set(allowed["1", "1"]) == {Move.FIRST, Move.SECOND}
    assert allowed["2", "2"] == []  # both within their spans
    left = safe_moves(pairs, allowed)
    assert not left["2", "2"]
    assert left["2", "1"] == [Move.FIRST]
    assert left["0", "0"]


def _all(pairs: Pairs) -> list[tuple[str, str]]:
    return [(first, second) for first in pairs.order[0] for second in pairs.order[1]]


def promised(body: str) -> list[int]:
    """Which of the branches, in the order of the text, a warp takes together for sure."""
    found = flow(body)
    lines = sorted(b.end.line for b in found.blocks.values() if isinstance(b.end, Branch))
    return [lines.index(found.blocks[n].end.line) for n in sorted(warp_branches(found))]  # type: ignore[union-attr]


SIDES = "setp.lt.u32 %p1, %r1, 64;\n@%p1 bra L; {right} bra J;\nL: {left} J: {after} ret;"


@pytest.mark.parametrize(
    ("left", "right", "after", "expected"),
    [
        ("bar.sync 1, 64;", "bar.arrive 1, 64;", "", [0]),
        ("bar.sync 1, 64;", "bar.sync 2, 64;", "bar.sync 0;", [0]),
        ("bar.sync 1, 64;", "", "bar.sync 0;", [0]),  # the other side comes to another one
        ("bar.sync 1, 64;", "", "", []),  # the other side may end before
        ("bar.sync 1, 64;", "barrier.sync 1, 64;", "", []),  # which lanes may reach one by one
        ("bar.sync 1, 64;", "@%p2 bar.sync 2, 64;", "", []),
        ("add.u32 %r2, %r2, 1;", "", "bar.sync 1, 64;", []),  # the same one
        ("bar.sync 0;", "bar.sync 0;", "", []),  # test_waiting.py has more of these
        ("bar.sync 1, 64;", "X: add.u32 %r2, %r2, 1; bra X;", "", []),
        ("bar.sync 1, 64;", "@%p2 ret; bar.sync 2, 64;", "", []),
    ],
)
def test_branches_that_warps_take_together(left: str, right: str, after: str, expected: list[int]) -> None:
    assert promised(SIDES.format(left=left, right=right, after=after)) == expected


def test_a_promise_holds_for_loops() -> None:
    body = "L: bar.sync 1, 64; add.u32 %r1, %r1, %r2; setp.lt.u32 %p1, %r1, 64;\n@%p1 bra L; bar.sync 2, 64; ret;"
    assert promised(body) == [0]


def test_after_a_return_by_thread_the_promise_is_not_taken() -> None:
    """It spoke of the lanes that are left: the others would go another way."""
    body = "setp.gt.u32 %p3, %r1, 99; @%p3 ret; " + SIDES.format(left=COUNT, right="bar.sync 2, 64;", after="")
    source = kernel(f"mov.u32 %r1, %tid.x; {body}")
    woven = goptx.weave(source, kernel("ret;", "other"))
    assert not re.search(r"@!?%a_p1 bra", woven.ptx)
    assert len(re.findall(r"@%a_any_coming bar.sync", woven.ptx)) == 2


# Warpgroups ---------------------------------------------------------------------------------------------


def copies(partner: str) -> tuple[goptx.Woven, int]:
    module = goptx.read(text(names=("warpgroup", partner)))
    woven = goptx.weave(module, module, entries=["warpgroup", partner])
    return woven, woven.ptx.count("wgmma.mma_async")


@pytest.mark.parametrize("partner", ["producers_and_consumers", "one_loop_for_both", "grid_stride"])
def test_where_warps_branch_differently_a_warpgroup_finds_one_instruction(partner: str) -> None:
    assert copies(partner)[1] == 1


def test_where_all_threads_branch_equally_there_may_be_copies() -> None:
    assert copies("tiled")[1] > 1


def test_the_order_of_a_warpgroups_instructions_is_preserved() -> None:
    """The reader of the product stands after the wait, which does not name it."""
    woven, _ = copies("shuffles")
    code = [s for s in woven.module.entries[0].body or () if isinstance(s, Instruction)]
    wait = max(i for i, s in enumerate(code) if s.opcode.startswith("wgmma.wait_group"))
    reads = [i for i, s in enumerate(code) if s.opcode == "add.f32"]
    assert reads
    assert all(i > wait for i in reads)
    names = [s.opcode.split(".")[1] for s in code if s.opcode.startswith("wgmma")]
    assert names[:4] == ["fence", "mma_async", "commit_group", "wait_group"]


# Grids --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [("grids", "shuffles"), ("shuffles", "grids")])
def test_the_woven_kernel_waits_for_the_grids_before_it_first(order: tuple[str, str]) -> None:
    module = goptx.read(text(names=order))
    woven = goptx.weave(module, module, entries=list(order))
    code = [s for s in woven.module.entries[0].body or () if isinstance(s, Instruction)]
    assert code[0] == Instruction("griddepcontrol.wait")
    assert "griddepcontrol" not in " ".join(map(str, code[1:]))
    assert len([note for note in woven.report.notes if "griddepcontrol" in note]) == 2
    assert "dependents start when the woven grid has ended" in str(woven.report)


def test_without_a_wait_there_is_none() -> None:
    module = kernel("griddepcontrol.launch_dependents; ret;")
    assert "griddepcontrol" not in goptx.weave(module, module).ptx
