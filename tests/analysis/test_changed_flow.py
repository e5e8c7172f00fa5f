"""What is carried over to a changed flow is what would be found anew."""

from __future__ import annotations

from dataclasses import replace
from itertools import count, pairwise

import networkx as nx
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from goptx.analysis.cfg import EXIT, Block, Flow, loops
from goptx.analysis.changed_flow import entered_through, parked, sides_in_turn, straightened
from goptx.analysis.dataflow import live_in
from goptx.analysis.terminators import Branch, Jump, Stop
from goptx.latency.table import load_table
from goptx.ptx.ir import Guard, Instruction, Name
from goptx.ptx.parse import parse
from goptx.sources.kernel_text import Chosen
from goptx.weaving.converge.converge import converge_kernel
from goptx.weaving.converge.predicate import blocks_between
from goptx.weaving.converge.running_lanes import Lanes
from goptx.weaving.link.link import link
from goptx.weaving.model import Choices

P1 = Guard(Name("%p1"))
QUERIES = ("reverse_postorder", "loops", "predecessors", "dominators", "post_dominators")


@st.composite
def flows(draw: st.DrawFn) -> Flow:
    """Up to nine blocks, each with code, that can all be reached; in any layout, with any loops. As in any kernel, no
    block leads to the entry."""
    number = draw(st.integers(2, 9))
    names = [f"b{i}" for i in range(number)]
    blocks = {}
    for name in draw(st.permutations(names)):
        targets = draw(st.lists(st.sampled_from([*names[1:], EXIT]), min_size=1, max_size=2, unique=True))
        end = Jump(targets[0]) if len(targets) == 1 else Branch(P1, targets[0], targets[1])
        blocks[name] = Block((Instruction("mov.u32"),), end)
    flow = Flow("b0", {**blocks, EXIT: Block((), Stop())})
    return flow.with_blocks({n: b for n, b in flow.blocks.items() if n in flow.reverse_postorder() or n == EXIT})


def same_as_anew(flow: Flow) -> None:
    anew = Flow(flow.entry, flow.blocks)
    for query in QUERIES:
        known = flow.found(query)
        if known is not None:
            assert known == getattr(anew, f"_{query}"), query
    known = flow.found("loops")
    assert known is None or list(known) == list(loops(anew))  # in the same order, too


def ask_all(flow: Flow) -> None:
    for query in QUERIES:
        getattr(flow, f"_{query}")


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(flows())
def test_a_loop_that_is_entered_through_a_new_block(flow: Flow) -> None:
    above = flow.predecessors()
    for header, body in loops(flow).items():
        if all(body.issuperset(above[n]) for n in body if n != header):
            new = entered_through(flow, header, "before", Block((), Jump(header)), {})
            assert all(new.found(query) is not None for query in QUERIES)
            same_as_anew(new)
            assert new.predecessors()["before"] == tuple(n for n in above[header] if n not in body)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(flows())
def test_blocks_that_are_laid_one_after_the_other(flow: Flow) -> None:
    ask_all(flow)
    for source, block in flow.blocks.items():
        sides = [t for t in block.end.successors() if t != EXIT]
        join = flow.post_dominators()[source]
        if len(sides) != 2 or join is None or source == join:
            continue
        order = [s for s in sides if s != join and flow.predecessors()[s] == (source,)]
        if not order or any(flow.blocks[s].end.successors() != (join,) for s in order) or set(sides) - {*order, join}:
            continue
        chain = [source, *order, join]
        changed = {n: Block(flow.blocks[n].code, Jump(t)) for n, t in pairwise(chain)}
        same_as_anew(straightened(flow, source, order, join, changed))


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(flows())
def test_a_closed_region_that_becomes_a_block(flow: Flow) -> None:
    ask_all(flow)
    for head, block in flow.blocks.items():
        leave = flow.post_dominators()[head]
        if leave is None:
            continue
        inside = {head, *blocks_between(flow, block.end.successors(), leave)}
        if all(inside.issuperset(flow.predecessors()[n]) for n in inside if n != head):
            before = Block(block.code, Jump("region"))
            new = parked(flow, head, "region", inside, before, Block((), Jump(leave)))
            anew = set(Flow(new.entry, new.blocks).reverse_postorder()) | {EXIT}
            assert new.blocks.keys() == {*flow.blocks, "region"} - (inside - {head})
            if new.found("loops") is not None or anew == new.blocks.keys():
                same_as_anew(new)


def of_edges(**targets: tuple[str, ...]) -> Flow:
    """A flow by the successors of each block."""
    ends = {n: Branch(P1, *t) if len(t) == 2 else Jump(*t) for n, t in targets.items()}
    blocks = {name: Block((Instruction("mov.u32"),), end) for name, end in ends.items()}
    return Flow("b0", {**blocks, EXIT: Block((), Stop())})


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(flows())
@example(of_edges(b0=("b4", "b1"), b4=("b7", "b1"), b1=("b2",), b2=(EXIT,), b7=("b4",)))
@example(of_edges(b0=("b5", "b4"), b4=("b7", "b1"), b1=("b1",), b7=("b4",), b5=("b1",)))
@example(of_edges(b0=("b5", "b4"), b4=("b7", "b1"), b1=("b2",), b2=(EXIT,), b7=("b4",), b5=("b1",)))
def test_sides_that_are_taken_in_turn(flow: Flow) -> None:
    ask_all(flow)
    for source, block in flow.blocks.items():
        join = flow.post_dominators()[source]
        if join is None or not isinstance(block.end, Branch):
            continue
        arms = {side: blocks_between(flow, [side], join) for side in block.end.successors() if side != join}
        inside = set().union(*arms.values())
        alone = all(arm | {source} >= set(flow.predecessors()[n]) for arm in arms.values() for n in arm)
        if source in inside or sum(map(len, arms.values())) != len(inside) or not alone:
            continue
        entries = [f"side{i}" for i in range(len(arms))]
        after = dict(zip(arms, [*entries[1:], join], strict=True))
        changed = {source: Block(block.code, Jump(entries[0]))}
        changed |= {e: Block((), Branch(P1, s, after[s])) for e, s in zip(entries, arms, strict=True)}
        for side, arm in arms.items():
            changed |= {n: replace(flow.blocks[n], end=flow.blocks[n].end.retarget({join: after[side]})) for n in arm}
        new = sides_in_turn(flow, source, arms, join, changed)
        assert (join == EXIT) == (new.found("loops") is None)
        same_as_anew(new)


KERNEL = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p)
{{
.reg .b32 %r<9>; .reg .pred %p<4>; .reg .b64 %d<4>;
mov.u32 %r1, %tid.x;
ld.param.u64 %d1, [p];
mov.u32 %r8, 0;
{body}
st.global.u32 [%d1], %r4;
ret;
}}
"""


def divergent(numbers: count[int], inner: str = "") -> str:
    """A loop that each lane leaves after another number of iterations."""
    n = next(numbers)
    return (
        f"mov.u32 %r{2 + n % 3}, 0;\nL{n}:\nadd.u32 %r{2 + n % 3}, %r{2 + n % 3}, 1;\n{inner}"
        f"add.u32 %r4, %r4, %r{2 + (n + 1) % 3};\nst.global.u32 [%d1+{n}], %r4;\n"
        f"setp.lt.u32 %p1, %r{2 + n % 3}, %r1;\n@%p1 bra L{n};\n"
    )


def in_a_row() -> str:
    numbers = count()
    return "".join(divergent(numbers) for _ in range(4))


def in_a_uniform_loop() -> str:
    return f"OUT:\n{in_a_row()}add.u32 %r8, %r8, 1;\nsetp.lt.u32 %p2, %r8, 5;\n@%p2 bra OUT;\n"


def nested() -> str:
    numbers = count()
    return "".join(divergent(numbers, divergent(numbers)) for _ in range(2))


def on_sides() -> str:
    numbers = count()
    test = "setp.eq.u32 %p3, %r1, {0};\n@%p3 bra S{0};\n{1}bra E{0};\nS{0}:\n{2}E{0}:\n"
    return "".join(test.format(i, divergent(numbers), divergent(numbers) if i else "") for i in range(3))


def long_sides() -> str:
    """Sides that become regions, one of them with a loop, and loops between them."""
    numbers = count()
    long = "".join(f"add.u32 %r{2 + i % 3}, %r{2 + (i + 1) % 3}, %r1;\n" for i in range(40)) + "bar.warp.sync -1;\n"
    test = "setp.eq.u32 %p3, %r1, {0};\n@%p3 bra S{0};\n{1}bra E{0};\nS{0}:\n{2}E{0}:\n"
    return "".join(test.format(i, long, long[:300].rpartition(";")[0] + ";\n") + divergent(numbers) for i in range(3))


def beside_ifs() -> str:
    numbers = count()
    test = "setp.eq.u32 %p3, %r1, {0};\n@%p3 bra S{0};\nadd.u32 %r2, %r2, 1;\nS{0}:\n"
    return "".join(test.format(2 * i) + divergent(numbers, test.format(2 * i + 1)) for i in range(3))


@pytest.mark.parametrize("body", [in_a_row, in_a_uniform_loop, nested, on_sides, long_sides, beside_ifs])
def test_what_is_live_amid_divergent_code(body: object, monkeypatch: pytest.MonkeyPatch) -> None:
    assert callable(body)
    asked = 0
    extended = Lanes.live_in

    def checked(lanes: Lanes, name: str) -> dict[str, frozenset[str]]:
        nonlocal asked
        asked += 1
        found = extended(lanes, name)
        theirs = ("", lanes.running, lanes.masks.get(name, ""))
        anew = live_in(lanes.flow, {n for n, other in lanes.masks.items() if other not in theirs})
        reached = anew.keys() & {name, *nx.descendants(lanes.flow.graph(), name)}  # by lanes that run the block
        assert {n: found[n] for n in reached} == {n: anew[n] for n in reached}
        same_as_anew(lanes.flow)
        return found

    monkeypatch.setattr(Lanes, "live_in", checked)
    linked = link([Chosen(parse(KERNEL.format(body=body())), "k")])
    converge_kernel(linked, linked.kernels[0], Choices("latency", None, load_table(None, "sm_90"), True))
    assert asked > 2
