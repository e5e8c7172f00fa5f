"""Sides with loops that a warp enters by a vote: what lanes still need is found without looking at all code again."""

from collections.abc import Callable, Mapping
from typing import Any

import networkx as nx
import pytest
from bodies import flow

from goptx.analysis.dataflow import live_in
from goptx.weaving.converge import running_lanes
from goptx.weaving.converge.converge import converge_flow
from goptx.weaving.converge.running_lanes import Lanes


def sides(number: int) -> str:
    """Branches in a row that lanes take differently, with a loop on either side."""
    each = (
        "setp.lt.u32 %p1, %r1, {0}; @%p1 bra S{0}; mov.u32 %r2, 0; A{0}: add.u32 %r2, %r2, 1; "
        "st.global.u32 [%rd1], %r2; setp.lt.u32 %p2, %r2, 9; @%p2 bra A{0}; add.u32 %r3, %r3, %r2; bra E{0}; "
        "S{0}: mov.u32 %r2, 5; B{0}: add.u32 %r2, %r2, 1; st.global.u32 [%rd1], %r2; setp.lt.u32 %p2, %r2, %r1; "
        "@%p2 bra B{0}; E{0}: st.global.u32 [%rd1+4], %r3; "
    )
    return "mov.u32 %r1, %tid.x; mov.u32 %r3, 0; " + "".join(map(each.format, range(1, number + 1)))


def converge(body: str) -> int:
    """How many votes there are when all branches are uniform."""
    made = converge_flow(flow(body), "a", lambda line: f"test:{line}", lambda _: 4)
    return sum(i.opcode.startswith("vote") for i in made.flow.instructions())


def test_whole_flows_are_not_looked_at_for_each_side(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []

    def counting(*given: Any) -> Any:
        calls[-1] += 1
        return live_in(*given)

    monkeypatch.setattr(running_lanes, "live_in", counting)
    for number in (3, 9):
        calls.append(0)
        assert converge(sides(number) + "ret;") == 3 * number  # the loop to 9 is the same for all lanes
    assert calls[0] == calls[1]


@pytest.mark.parametrize(
    "wrapped",
    [
        "{} ret;",
        "mov.u32 %r4, 0; OUTER: {} add.u32 %r4, %r4, 1; setp.lt.u32 %p3, %r4, 3; @%p3 bra OUTER; ret;",
        "mov.u32 %r4, 0; OUTER: {} add.u32 %r4, %r4, 1; setp.lt.u32 %p3, %r4, %r1; @%p3 bra OUTER; ret;",
    ],
)
def test_what_lanes_of_one_side_need_is_as_of_the_whole_flow(wrapped: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = 0
    under: Callable[[Lanes, str], Mapping[str, frozenset[str]]] = Lanes._live_under

    def compared(self: Lanes, mask: str) -> Mapping[str, frozenset[str]]:
        nonlocal found
        given = under(self, mask)
        partly = {n for n, other in self.masks.items() if other not in ("", self.running, mask)} - self.for_all
        whole = live_in(self.flow, partly)
        own = [n for n in self.flow.blocks if self.masks.get(n) == mask]
        reached = set(own).union(*(nx.descendants(self.flow.graph(), n) for n in own))
        assert {n: given[n] for n in reached} == {n: whole[n] for n in reached}
        found += 1
        return given

    monkeypatch.setattr(Lanes, "_live_under", compared)
    assert converge(wrapped.format(sides(3))) > 0
    assert found > 0
