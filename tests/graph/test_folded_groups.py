"""Groups on folded grids: matrix products share the SMs with kernels that are limited by memory."""

import random
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from graph.emulated_driver import EmulatedDriver, Made, emulated_driver
from graph.graph_kernels import N, added, buffer, chain, launch, scale, scaled, u32, u64

import goptx
from goptx.cost.role_registers import LOOP
from goptx.graph.chosen_groups import chosen_groups
from goptx.graph.graph_description import Allocation, Graph, GraphNode, Id, sha_of
from goptx.graph.group_costs import Costs, Form
from goptx.graph.group_making import Fused, Makers, fused_node
from goptx.graph.optimized_graph import optimize_graph
from goptx.sources.collecting import Collected
from goptx.strategies.candidate import Candidate

KERNELS = Path(__file__).parents[2] / "benchmarks" / "suite_c" / "kernels"
SIDE = 4096  # rows and columns of the matrices
NOTHING = u64(0)


class Step:
    """Matrix products and steps of an optimizer in a row, as a program captures them, each on arrays of its own."""

    def __init__(self) -> None:
        self.nodes: list[GraphNode] = []
        self.allocations: list[Allocation] = []
        self.texts: dict[str, str] = {}

    def array(self, size: int) -> bytes:
        address = 0x7F0000000000 + (len(self.allocations) << 32)
        self.allocations.append(Allocation(address, size))
        return u64(address)

    def launch(self, entry: str, grid: int, shared: int, *parameters: bytes) -> None:
        text = (KERNELS / f"{entry}.sm_90a.ptx").read_text()
        self.texts[sha_of(text)] = text
        own = (*parameters, NOTHING, NOTHING)
        self.nodes.append(GraphNode(len(self.nodes), entry, (grid, 1, 1), (128, 1, 1), shared, own, sha_of(text)))

    def product(self, depth: int = SIDE, grid: int = 1024) -> None:
        arrays = [self.array(2 * SIDE * SIDE) for _ in range(3)]
        self.launch("product", grid, 98304, *arrays, u32(SIDE), u32(SIDE), u32(depth))

    def adam(self) -> None:
        arrays = [self.array(4 << 25) for _ in range(4)]
        numbers = np.array([1e-3, 0.9, 0.999, 1e-8], np.float32)
        self.launch("adam_step", 1 << 15, 4096, *arrays, u32(1 << 25), *(n.tobytes() for n in numbers))

    def graph(self) -> Graph:
        ids = [node.id for node in self.nodes]
        return Graph(tuple(self.nodes), tuple(pairwise(ids)), tuple(self.allocations), self.texts)


def step(kinds: str, depth: int = SIDE, grid: int = 1024) -> Graph:
    """P is a product, A a step of the optimizer."""
    made = Step()
    for kind in kinds:
        if kind == "P":
            made.product(depth, grid)
        else:
            made.adam()
    return made.graph()


# Which groups -----------------------------------------------------------------------------------------------


def groups(graph: Graph, arch: str | None = None) -> list[tuple[tuple[Id, ...], tuple[tuple[int, ...], ...]]]:
    """The ids of each group, and the teams of its best form."""
    choice = chosen_groups(graph, arch=arch)
    best = [choice.costs.forms(group)[0] for group in choice.indices]
    return [(ids, form.teams) for ids, form in zip(choice.groups, best, strict=True)]


@pytest.mark.parametrize("kinds", ["AP", "PA"])
def test_a_product_and_a_step_of_the_optimizer_share_the_sms(kinds: str) -> None:
    assert groups(step(kinds)) == [((0, 1), ((0,), (1,)))]


def test_one_step_of_the_optimizer_is_shared_out_among_all_products() -> None:
    """The second product gains nothing beside the first, and joins when the optimizer is there."""
    assert groups(step("APP")) == [((0, 1, 2), ((0,), (1, 2)))]
    assert groups(step("PPA")) == [((0, 1, 2), ((0, 1), (2,)))]


def test_steps_of_several_layers_are_one_team() -> None:
    assert groups(step("PAPA")) == [((0, 1, 2, 3), ((0, 2), (1, 3)))]


def test_kernels_of_one_kind_are_not_folded() -> None:
    assert groups(step("AA")) == groups(step("PP")) == []
    assert groups(step("PA"), arch="sm_90") == []  # its registers cannot be moved


def test_four_products_of_few_rows_and_a_step_of_the_optimizer_are_one_launch() -> None:
    """512 rows, as the backward pass of a layer has: 128 tiles each, fewer than the GPU has SMs."""
    assert groups(step("APPPP", grid=128)) == [((0, 1, 2, 3, 4), ((0,), (1, 2, 3, 4)))]


def test_products_with_fewer_registers_than_estimated_are_measured() -> None:
    """The step of the optimizer has what they are short of, and two of its CTAs may fit then."""
    graph = step("APPPP", grid=128)
    costs = chosen_groups(graph).costs
    group = tuple(range(5))
    plain = [f.candidate for f in costs.possible(group) if f.teams]
    closer = [f.candidate for f in costs.forms_to_measure(group)]
    fewest = min(c.option("role_registers")[1] for c in plain)
    assert closer and not set(closer) & set(plain)
    least = costs.judge([1]).kernels[0].pressure.needed.value.live + LOOP
    assert all(least - 16 <= c.option("role_registers")[1] < min(least, fewest) for c in closer)
    assert {max(c.factors) for c in closer} == {1, 2} > {max(c.factors) for c in plain}


@pytest.mark.slow
def test_what_is_only_measured_is_made_among_the_other_forms() -> None:
    graph = step("AP")
    costs = chosen_groups(graph).costs
    forms = {str(form) for form in costs.forms_to_measure((0, 1))}
    assert forms and forms <= {one.how for one in Makers(graph, costs, None).others((0, 1), None)}


def test_products_that_write_parts_of_one_array_are_independent() -> None:
    """What a tile of a product stores follows from thread numbers, by shifts, fields of bits and masks."""
    graph = step("PP")
    one, other = graph.nodes
    half = int.from_bytes(one.parameters[0], "little") + SIDE * SIDE
    moved = replace(
        other, grid=(512, 1, 1), parameters=(u64(half), *other.parameters[1:3], u32(SIDE // 2), *other.parameters[4:])
    )
    first = replace(one, grid=(512, 1, 1), parameters=(*one.parameters[:3], u32(SIDE // 2), *one.parameters[4:]))
    halves = Graph((first, moved), graph.edges, graph.allocations, graph.ptx)
    assert goptx.parallelize_graph(halves).edges == ()
    whole = Graph((one, moved), graph.edges, graph.allocations, graph.ptx)
    assert goptx.parallelize_graph(whole).edges == ((0, 1),)


def test_the_trips_of_loops_follow_from_the_parameters() -> None:
    graph = step("PA")
    costs = Costs(graph, "sm_90a")
    short = Costs(step("PA", depth=64), "sm_90a")
    assert costs.alone(0) > 10 * short.alone(0)
    assert costs.alone(1) == short.alone(1)


@pytest.mark.slow
def test_the_fused_kernel_has_all_parameters_and_what_it_was_made_of_is_reported() -> None:
    graph = step("PAP")
    done = optimize_graph(graph, check=False)
    (fused,), (node,) = done.report.fused, done.graph.nodes
    assert fused.strategy.startswith("horizontal") and "fold=static" in fused.strategy
    assert "setmaxnreg" in done.graph.ptx[str(node.ptx)]
    one, other, third = (n.parameters for n in graph.nodes)
    assert node.parameters[: len(one) + len(third) + len(other)] == (*one, *third, *other)
    assert str(goptx.optimize_graph(graph, check=False).graph.to_json()) == done.graph.to_json()


# Longest first ----------------------------------------------------------------------------------------------


def rounds(name: str) -> str:
    """y[i] += 1, as often as the parameter n says, with a barrier in between."""
    return f""".version 8.0
.target sm_90
.address_size 64
.visible .entry {name}(.param .u64 y, .param .u32 n)
{{
    .reg .pred %p;
    .reg .b32 %r<8>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [y];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    mul.wide.u32 %rd2, %r5, 4;
    add.s64 %rd3, %rd1, %rd2;
    mov.u32 %r6, 0;
LOOP:
    ld.global.u32 %r7, [%rd3];
    add.s32 %r7, %r7, 1;
    st.global.u32 [%rd3], %r7;
    bar.sync 0;
    add.s32 %r6, %r6, 1;
    setp.lt.u32 %p, %r6, %r1;
    @%p bra LOOP;
    ret;
}}
"""


def counted(*times: int) -> Graph:
    text = rounds("rounds")
    return chain(*(launch(i, text, "rounds", u64(buffer(i)), u32(n), grid=2) for i, n in enumerate(times)))


def test_kernels_whose_ctas_last_longer_come_first() -> None:
    graph = counted(2, 40, 9)
    costs = Costs(graph, "sm_90")
    first = costs.possible((0, 1, 2))[0]
    assert (str(first), first.teams) == ("interleave placement=front", ((1,), (2,), (0,)))
    assert all("front" not in str(form) for form in Costs(counted(5, 5), "sm_90").possible((0, 1)))
    woven, teams = Makers(graph, costs, None)._fused((0, 1, 2), first)
    made = Fused(woven, 1.0, str(first), teams)
    assert same(graph, made)
    node = fused_node("fused", graph.nodes, made)
    assert node.parameters[:6] == tuple(p for i in (1, 2, 0) for p in graph.nodes[i].parameters)


def test_no_sm_waits_long_for_the_last_cta_if_the_longest_come_first() -> None:
    big = counted(2, 40, 2)
    many = [replace(node, grid=(4096, 1, 1)) for node in big.nodes]
    costs = Costs(Graph(tuple(many), big.edges, big.allocations, big.ptx), "sm_90")
    front, spread, *_ = costs.possible((0, 1, 2))
    assert costs.cycles((0, 1, 2), front) < costs.cycles((0, 1, 2), spread)
    backwards = Form(front.candidate, front.teams[::-1])
    assert costs.cycles((0, 1, 2), backwards) == costs.cycles((0, 1, 2), spread)


def of_ctas(graph: Graph, ctas: int) -> Graph:
    nodes = tuple(replace(node, grid=(ctas, 1, 1)) for node in graph.nodes)
    return Graph(nodes, graph.edges, graph.allocations, graph.ptx)


def test_several_ctas_of_each_kernel_become_one_where_that_is_measured() -> None:
    """Long loops that wait for memory, in more CTAs than the GPU has places: more loads are in flight at once."""
    many = Costs(of_ctas(counted(200, 400), 1 << 14), "sm_90")
    names = [str(form) for form in many.forms_to_measure((0, 1))]
    assert names == ["interleave x2 x2 placement=front", "interleave x4 x4 placement=front"]
    assert {form.teams for form in many.forms_to_measure((0, 1))} == {((1,), (0,))}
    assert not set(names) & {str(form) for form in many.possible((0, 1))}
    assert (
        Costs(of_ctas(counted(200, 400), (1 << 14) + 1), "sm_90").forms_to_measure((0, 1)) == []
    )  # a CTA would be left over
    assert Costs(of_ctas(counted(200, 400), 2), "sm_90").forms_to_measure((0, 1)) == []  # half of the SMs would be idle


def test_several_ctas_of_each_kernel_in_one_leave_the_same() -> None:
    graph = of_ctas(chain(*(scaled(i, 0, i + 1, constant=3 + i) for i in range(3))), 2)
    candidate = Candidate("interleave", (2, 2, 2)).having(placement="front")
    form = Form(candidate, ((2,), (0,), (1,)))
    woven, teams = Makers(graph, Costs(graph, "sm_90"), None)._fused((0, 1, 2), form)
    assert woven.starts(None, None)[0].shape.ctas == 3
    assert same(graph, Fused(woven, 1.0, str(form), teams))


# What they leave --------------------------------------------------------------------------------------------


def folded(graph: Graph, teams: tuple[tuple[int, ...], ...], ctas: int, factors: tuple[int, ...] = ()) -> Fused:
    """All kernels of a graph in one launch, by these teams."""
    group = tuple(range(len(graph.nodes)))
    candidate = Candidate("horizontal", factors or (1,) * len(group)).having(fold="static", ctas=ctas)
    woven, made = Makers(graph, Costs(graph, "sm_90a"), None)._fused(group, Form(candidate, teams))
    return Fused(woven, 1.0, "", made)


def same(graph: Graph, made: Fused) -> bool:
    node = fused_node("fused", graph.nodes, made)
    whole = Graph((node,), (), graph.allocations, {str(node.ptx): made.woven.ptx})
    given = {a.address: np.arange(N, dtype=np.uint32) * (7 + i) for i, a in enumerate(graph.allocations)}
    one, other = (goptx.emulate_graph(g, given).memory for g in (graph, whole))
    return all(np.array_equal(one[a], other[a]) for a in one)


def test_teams_of_several_kernels_leave_the_same() -> None:
    graph = chain(scaled(0, 0, 1), added(1, 0, 6, 2), scaled(2, 0, 3, constant=5), scaled(3, 6, 4, n=100))
    assert same(graph, folded(graph, ((0, 2), (1, 3)), ctas=1))
    assert same(graph, folded(graph, ((1,), (0, 2, 3)), ctas=3))


def test_kernels_of_a_team_are_coarsened_and_of_other_shapes() -> None:
    nodes = [
        launch(i, scale(f"s{i}", 3 + i), f"s{i}", u64(buffer(0)), u64(buffer(i + 1)), u32(N), grid=grid, block=block)
        for i, (grid, block) in enumerate([(4, 64), (8, 32), (2, 128)])
    ]
    graph = chain(*nodes)
    assert same(graph, folded(graph, ((0, 1), (2,)), ctas=2, factors=(2, 4, 1)))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_random_teams_leave_the_same(seed: int) -> None:
    chance = random.Random(seed)
    count = chance.randint(2, 5)
    nodes = [
        added(i, 0, 1, 2 + i) if chance.random() < 0.3 else scaled(i, 0, 2 + i, n=chance.choice((N, N - 60)))
        for i in range(count)
    ]
    places = list(range(count))
    chance.shuffle(places)
    cut = chance.randint(1, count - 1)
    factors = tuple(chance.choice((1, 2)) for _ in range(count))
    teams = tuple(sorted(places[:cut])), tuple(sorted(places[cut:]))
    graph = chain(*nodes)
    assert same(graph, folded(graph, teams, chance.randint(1, 3), factors))


# On the device ----------------------------------------------------------------------------------------------


def pair(monkeypatch: pytest.MonkeyPatch) -> tuple[EmulatedDriver, int, Collected]:
    """Two kernels that are faster in one launch, and fastest if that is not interleaved."""
    driver = emulated_driver(monkeypatch)
    graph = chain(scaled(0, 0, 1), scaled(1, 0, 2, constant=5))
    driver.milliseconds = lambda made: 9.0 if len(made.nodes) > 1 else 3.0 if is_woven(made) else 5.0
    return driver, *driver.capture(graph)


def is_woven(made: Made) -> bool:
    """Whether the one node has as many CTAs as one of the kernels; interleaved grids have the CTAs of both."""
    return [node[1] for node in made.nodes.values()] == [(2, 1, 1)]


def test_a_group_that_was_made_is_measured_in_other_forms(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cost model's form is faster than separate launches, and another one faster still."""
    _, handle, kernels = pair(monkeypatch)
    assert optimize_graph(handle, kernels, tune=False).report.fused[0].strategy == "interleave"
    report = optimize_graph(handle, kernels).report
    assert [group.strategy for group in report.fused] == ["weave"]
    assert (report.measured["fused"], report.measured["with groups in other forms"]) == (5, 3)


def test_another_form_that_differs_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    driver, handle, kernels = pair(monkeypatch)

    def spoil(made: Made) -> None:
        if is_woven(made):
            driver.memory[buffer(2)][3] ^= 1

    driver.spoil = spoil
    report = optimize_graph(handle, kernels).report
    assert [group.strategy for group in report.fused] == ["interleave"]
    assert "with groups in other forms" not in report.measured


def test_parameters_of_kernels_of_a_team_are_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    from goptx.graph.captured_program import captured_program
    from goptx.graph.running.launchable_graph import FusedNode, LaunchableGraph

    driver = emulated_driver(monkeypatch)
    graph = chain(scaled(0, 0, 1), added(1, 0, 6, 2), scaled(2, 0, 3, constant=5))
    made = folded(graph, ((0, 2), (1,)), ctas=2)
    program = captured_program(*driver.capture(graph))
    node = fused_node(9, program.graph.nodes, made)
    whole = Graph((node,), (), program.graph.allocations, {str(node.ptx): made.woven.ptx})
    fast = LaunchableGraph(program, whole, {9: FusedNode((0, 1, 2), made)})
    new = chain(scaled(0, 0, 1), added(1, 0, 6, 2), scaled(2, 6, 3, n=100, constant=5))
    assert fast.update({2: new.node(2).parameters}) == (2,)
    for content in driver.memory.values():
        content[:] = np.random.default_rng(1).integers(0, 256, len(content), np.uint8)
    expected = goptx.emulate_graph(new, driver.memory).memory
    fast.replay()
    assert all(np.array_equal(driver.memory[a], expected[a]) for a in driver.memory)
