"""Blocks, graphs, loops, dominance and control dependence of small kernels."""

import re
from dataclasses import replace

import pytest
from bodies import flow, kernel

from goptx.analysis.build_cfg import control_flow
from goptx.analysis.cfg import EXIT, Block, Flow, Region, closure, controls, depths, loops
from goptx.analysis.sync.barriers import holds_barrier
from goptx.analysis.terminators import Branch, Jump, Stop, Switch
from goptx.errors import CannotWeave
from goptx.ptx.flatten import flatten
from goptx.ptx.ir import Guard, Instruction, Name
from goptx.ptx.parse import parse

P1 = Guard(Name("%p1"))
NOT_P1 = Guard(Name("%p1"), True)
IF_ELSE = """
    mov.u32 %r1, 0; @%p1 bra ELSE;
    mov.u32 %r1, 1; bra JOIN;
    ELSE: mov.u32 %r1, 2;
    JOIN: mov.u32 %r1, 3; ret;
"""
LOOP = "mov.u32 %r1, 0; TOP: mov.u32 %r1, 1; @%p1 bra TOP; mov.u32 %r1, 2; ret;"
NEST = """
    mov.u32 %r1, 0;
    OUTER: mov.u32 %r1, 1;
    INNER: mov.u32 %r1, 2; @%p1 bra INNER;
    mov.u32 %r1, 3; @%p2 bra OUTER;
    mov.u32 %r1, 4; ret;
"""
IRREDUCIBLE = """
    mov.u32 %r1, 0; @%p1 bra RIGHT;
    LEFT: mov.u32 %r1, 1; @%p2 bra DONE;
    RIGHT: mov.u32 %r1, 2; bra LEFT;
    DONE: mov.u32 %r1, 3; ret;
"""
ENDLESS = "mov.u32 %r1, 0; @%p1 bra SPIN; mov.u32 %r1, 1; ret; SPIN: mov.u32 %r1, 2; bra SPIN;"


def text(block: Block) -> list[str]:
    return [str(c) for c in block.code]


def by_hand(start: str, **ends: str) -> Flow:
    """A flow of blocks with these successors; a block whose name is in capitals has code."""
    blocks: dict[str, Block] = {}
    for name, targets in ends.items():
        code = (Instruction(f"mov.{name}"),) if name.isupper() else ()
        words = targets.split()
        blocks[name] = Block(code, Jump(words[0]) if len(words) == 1 else Branch(P1, words[0], words[1]))
    return Flow(start, {**blocks, EXIT: Block((), Stop())})


# cutting -----------------------------------------------------------------------------------------------


def test_a_branch_ends_a_block_and_names_both_targets() -> None:
    blocks = flow(IF_ELSE).blocks
    assert blocks["entry"].end == Branch(P1, "ELSE", "after_1")
    assert blocks["after_1"].end == blocks["ELSE"].end == Jump("JOIN")
    assert text(blocks["ELSE"]) == ["mov.u32 %r1, 2;"]
    assert blocks["JOIN"].end == Jump(EXIT)
    assert list(blocks)[-1] == EXIT


def test_uni_and_the_line_are_preserved() -> None:
    end = flow(IF_ELSE.replace("@%p1 bra", "@!%p1 bra.uni")).blocks["entry"].end
    assert end == Branch(NOT_P1, "ELSE", "after_1", uniform=True)
    assert isinstance(end, Branch)
    assert kernel(IF_ELSE).splitlines()[end.line - 1].strip().endswith("@%p1 bra ELSE;")


@pytest.mark.parametrize("word", ["ret", "exit", "ret.uni"])
def test_a_predicated_end_of_the_thread_is_a_branch(word: str) -> None:
    found = flow(f"mov.u32 %r1, 0; @!%p1 {word}; mov.u32 %r1, 1; ret;")
    assert found.blocks["entry"].end == Branch(NOT_P1, EXIT, "after_1", uniform=word == "ret.uni")
    assert text(found.blocks["after_1"]) == ["mov.u32 %r1, 1;"]


SWITCH = """
    mov.u32 %r1, 0;
    TABLE: .branchtargets ONE, TWO, ONE;
    {jump}
    ONE: mov.u32 %r1, 1; ret;
    TWO: mov.u32 %r1, 2; ret;
"""


def test_an_indexed_branch_is_a_switch_with_distinct_successors() -> None:
    found = flow(SWITCH.format(jump="brx.idx %r2, TABLE;"))
    end = found.blocks["entry"].end
    assert end == Switch(Name("%r2"), ("ONE", "TWO", "ONE"))
    assert end.successors() == ("ONE", "TWO")
    assert end.reads() == ("%r2",)
    assert found.graph()["entry"]["TWO"]["kind"] == "case"


def test_a_guarded_indexed_branch_is_a_branch_to_a_switch() -> None:
    found = flow(SWITCH.format(jump="@%p1 brx.idx.uni %r2, TABLE;"))
    end = found.blocks["entry"].end
    assert isinstance(end, Branch)
    assert (end.guard, end.fallen) == (P1, "ONE")  # falls through to the label that follows
    assert found.blocks[end.taken].end == Switch(Name("%r2"), ("ONE", "TWO", "ONE"), uniform=True)


@pytest.mark.parametrize(
    ("body", "culprit", "message"),
    [
        (
            SWITCH.format(jump="brx.idx %r2, OTHER;"),
            "brx",
            r"the target list `OTHER` .*`OTHER: \.branchtargets L1, L2;`",
        ),
        ("mov.u32 %r1, 0;\nbra NOWHERE;", "bra", "the label `NOWHERE` is not in this function"),
    ],
)
def test_unknown_targets_are_refused(body: str, culprit: str, message: str) -> None:
    """The message has file, line and instruction."""
    place = "test: "
    if culprit:
        lines = kernel(body).splitlines()
        line = next(i for i, text in enumerate(lines) if text.strip().startswith(culprit))
        place = f"test:{line + 1}: `{lines[line].strip()}`: "
    with pytest.raises(CannotWeave, match=re.escape(place) + ".*" + message):
        flow(body)


def test_code_that_falls_through_into_a_label_is_one_block_unless_others_lead_there() -> None:
    assert list(flow("mov.u32 %r1, 0; HERE: mov.u32 %r1, 1; ret;").blocks) == ["entry", EXIT]
    assert list(flow(LOOP).blocks) == ["entry", "TOP", "after_1", EXIT]
    assert flow(LOOP).blocks["entry"].end == Jump("TOP")


def test_a_body_may_end_without_ret() -> None:
    assert flow("mov.u32 %r1, 0;").blocks["entry"].end == Jump(EXIT)


def test_unreachable_code_is_removed() -> None:
    found = flow("mov.u32 %r1, 0; ret; mov.u32 %r1, 1; DEAD: mov.u32 %r1, 2; bra DEAD;")
    assert list(found.blocks) == ["entry", EXIT]
    assert text(found.blocks["entry"]) == ["mov.u32 %r1, 0;"]


def test_a_branch_to_its_fall_through_is_not_a_branch() -> None:
    found = flow("mov.u32 %r1, 0; @%p1 bra HERE; HERE: mov.u32 %r1, 1; ret;")
    assert list(found.blocks) == ["entry", EXIT]


def test_jumps_to_jumps_are_followed() -> None:
    found = flow("mov.u32 %r1, 0; @%p1 bra A; bra B; B: bra C; A: mov.u32 %r1, 1; C: mov.u32 %r1, 2; ret;")
    assert found.blocks["entry"].end == Branch(P1, "A", "C")


def test_pragmas_stand_at_the_beginning_of_their_loop() -> None:
    found = flow(LOOP.replace("TOP: ", 'TOP: .pragma "nounroll"; '))
    assert [str(p) for p in found.blocks["TOP"].pragmas] == ['.pragma "nounroll";']
    assert not found.blocks["entry"].pragmas


def test_a_call_scope_is_one_piece_whose_instructions_count() -> None:
    body = "{ .param .b32 p; st.param.b32 [p], 1; call.uni f, (p); } bar.sync 0; ret;"
    found = control_flow(flatten(parse(kernel(body)).entries[0].body or (), lambda n: n))
    assert len(found.blocks["entry"].code) == 2
    assert [i.opcode for i in found.blocks["entry"].instructions()] == ["st.param.b32", "call.uni", "bar.sync"]
    assert holds_barrier(found.blocks["entry"])
    assert not holds_barrier(found.blocks[EXIT])


def test_a_region_counts_with_its_instructions() -> None:
    inner = flow("bar.sync 0; ret;").blocks["entry"]
    block = Block((), Jump(EXIT), region=Region("inner", {"inner": inner}, EXIT))
    assert [i.opcode for i in block.instructions()] == ["bar.sync"]
    assert holds_barrier(block)


def test_a_region_counts_among_the_code_of_its_flow() -> None:
    inner = flow("add.u32 %r1, %r2, 1; @%p1 bra SKIP; mov.u32 %r2, 0; SKIP: ret;")
    within = {n: replace(b, end=b.end.retarget({EXIT: "leave"})) for n, b in inner.blocks.items() if n != EXIT}
    region = Block((), Jump("leave"), region=Region("entry", within, "leave"))
    leave = flow("mov.u32 %r3, 4; ret;").blocks["entry"]
    whole = Flow("region", {"region": region, "leave": leave, EXIT: Block((), Stop())})
    code = ["add.u32 %r1, %r2, 1;", "mov.u32 %r2, 0;", "mov.u32 %r3, 4;"]
    assert [str(c) for c in whole.codes()] == [str(i) for i in whole.instructions()] == code
    assert [type(end) for end in whole.ends()] == [Jump, Branch, Jump, Jump, Stop]
    twice = whole.with_code(lambda codes: [c for code in codes for c in (code, code)])
    assert [str(c) for c in twice.codes()] == [c for line in code for c in (line, line)]
    assert list(twice.ends()) == list(whole.ends())


# tidying -----------------------------------------------------------------------------------------------


def test_without_empty_skips_empty_blocks_but_not_the_entry() -> None:
    found = by_hand("entry", entry="a b", a="b", b="C", C="d exit", d="exit", e="C").without_empty()
    assert list(found.blocks) == ["entry", "C", EXIT]
    assert found.blocks["entry"].end == Jump("C")  # both targets are one
    assert found.blocks["C"].end == Jump(EXIT)


def test_without_empty_keeps_an_empty_endless_loop() -> None:
    found = by_hand("entry", entry="a", a="b", b="a").without_empty()
    assert list(loops(found).values()) == [{"a", "b"}]
    assert not found.graph().pred[EXIT]


def test_chains_are_runs_that_nothing_else_enters() -> None:
    found = by_hand("A", A="B", B="C", C="D E", D="F", E="F", F="G", G="exit")
    assert found.chains() == {
        "A": ("A", "B", "C"), "D": ("D",), "E": ("E",), "F": ("F", "G"), EXIT: (EXIT,)
    }  # fmt: skip
    pruned = found.pruned()
    assert list(pruned.blocks) == ["A", "E", "D", "F", EXIT] or list(pruned.blocks) == ["A", "D", "E", "F", EXIT]
    assert text(pruned.blocks["A"]) == ["mov.A;", "mov.B;", "mov.C;"]
    assert pruned.blocks["A"].end == Branch(P1, "D", "E")


def test_chains_end_at_loops_pragmas_and_regions() -> None:
    found = by_hand("A", A="B", B="C", C="B D", D="E", E="F", F="exit")
    pragma = flow(LOOP.replace("TOP: ", 'TOP: .pragma "nounroll"; ')).blocks["TOP"].pragmas
    blocks = dict(found.blocks)
    blocks["E"] = Block(blocks["E"].code, blocks["E"].end, pragma)
    blocks["F"] = Block((), blocks["F"].end, region=Region("x", {}, EXIT))
    assert Flow("A", blocks).chains() == {
        "A": ("A",), "B": ("B", "C"), "D": ("D",), "E": ("E",), "F": ("F",), EXIT: (EXIT,)
    }  # fmt: skip


# the graph ---------------------------------------------------------------------------------------------


def test_graph_has_blocks_on_nodes_and_kinds_on_edges() -> None:
    found = flow(IF_ELSE)
    graph = found.graph()
    assert {n: graph.nodes[n]["block"] for n in graph} == found.blocks
    assert {(s, t): graph[s][t]["kind"] for s, t in graph.edges} == {
        ("entry", "ELSE"): "taken",
        ("entry", "after_1"): "fallen",
        ("ELSE", "JOIN"): "jump",
        ("after_1", "JOIN"): "jump",
        ("JOIN", EXIT): "jump",
    }


def test_reverse_postorder_has_predecessors_first() -> None:
    for body in (IF_ELSE, LOOP, NEST):
        found = flow(body)
        order = found.reverse_postorder()
        assert sorted(order) == sorted(found.blocks)
        headers = loops(found)
        for source, target in found.graph().edges:
            back = target in headers and source in headers[target]
            assert (order.index(source) >= order.index(target)) == back


def test_loops_and_depths_of_a_nest() -> None:
    found = flow(NEST)
    assert loops(found) == {"OUTER": {"OUTER", "INNER", "after_1"}, "INNER": {"INNER"}}
    assert depths(found) == {"entry": 0, "OUTER": 1, "INNER": 2, "after_1": 1, "after_2": 0, EXIT: 0}


def test_loops_with_one_header_are_one() -> None:
    found = flow("TOP: mov.u32 %r1, 0; @%p1 bra TOP; mov.u32 %r1, 1; @%p2 bra TOP; mov.u32 %r1, 2; ret;")
    assert loops(found) == {"TOP": {"TOP", "after_1"}}
    assert depths(found)["TOP"] == 1


def test_flow_without_cycles_has_no_loops() -> None:
    assert loops(flow(IF_ELSE)) == {}
    assert set(depths(flow(IF_ELSE)).values()) == {0}


def test_an_irreducible_cycle_is_listed_whole_under_its_first_block() -> None:
    found = flow(IRREDUCIBLE)
    ((header, body),) = loops(found).items()
    assert body == {"LEFT", "RIGHT"}
    assert header == min(body, key=found.reverse_postorder().index)
    assert depths(found)["LEFT"] == depths(found)["RIGHT"] == 1


def test_an_irreducible_cycle_within_a_natural_loop() -> None:
    found = by_hand("A", A="B", B="L R", L="R", R="L D", D="B E", E="exit")
    assert loops(found)["B"] == {"B", "L", "R", "D"}
    assert depths(found) == {"A": 0, "B": 1, "L": 2, "R": 2, "D": 1, "E": 0, EXIT: 0}


def dominated_by(found: Flow, above: str) -> set[str]:
    return {n for n in found.blocks if found.dominates(above, n)}


def test_dominators() -> None:
    found = flow(IF_ELSE)
    assert found.dominators() == {
        "entry": None, "ELSE": "entry", "after_1": "entry", "JOIN": "entry", EXIT: "JOIN"
    }  # fmt: skip
    assert dominated_by(found, "JOIN") == {"JOIN", EXIT}
    assert dominated_by(found, "entry") == set(found.blocks)
    assert dominated_by(flow(NEST), "INNER") == {"INNER", "after_1", "after_2", EXIT}
    assert dominated_by(by_hand("A", A="A", B="exit"), "B") == set()  # nothing leads there


def test_post_dominators() -> None:
    assert flow(IF_ELSE).post_dominators() == {
        "entry": "JOIN", "ELSE": "JOIN", "after_1": "JOIN", "JOIN": EXIT, EXIT: None
    }  # fmt: skip
    assert flow(NEST).post_dominators()["OUTER"] == "INNER"
    early = flow("mov.u32 %r1, 0; @%p1 ret; mov.u32 %r1, 1; ret;").post_dominators()
    assert early["entry"] == EXIT


def test_an_endless_loop_counts_as_leading_to_the_exit() -> None:
    found = flow(ENDLESS)
    graph = found.with_virtual_exits()
    assert graph["SPIN"][EXIT]["kind"] == "virtual"
    assert found.post_dominators() == {"entry": EXIT, "after_1": EXIT, "SPIN": EXIT, EXIT: None}
    assert found.dominators()["SPIN"] == "entry"
    assert not found.graph().has_edge("SPIN", EXIT)  # the flow itself has no such edge


def test_a_kernel_that_never_ends_has_post_dominators() -> None:
    found = flow("mov.u32 %r1, 0; A: mov.u32 %r1, 1; @%p1 bra B; mov.u32 %r1, 2; B: mov.u32 %r1, 3; bra A;")
    ipdom = found.post_dominators()
    assert set(ipdom) == set(found.blocks)
    assert ipdom["entry"] == "A"
    assert EXIT in ipdom.values()


def test_two_endless_loops_one_within_reach_of_the_other() -> None:
    found = by_hand("A", A="A B", B="B")  # A is left for B only, and B never
    graph = found.with_virtual_exits()
    assert [(s, graph[s][EXIT]["kind"]) for s in graph.pred[EXIT]] == [("B", "virtual")]
    assert found.post_dominators() == {"A": "B", "B": EXIT, EXIT: None}


# control dependence ------------------------------------------------------------------------------------


def test_an_if_else_controls_its_arms_only() -> None:
    found = controls(flow(IF_ELSE))
    assert found["ELSE"] == found["after_1"] == {"entry"}
    assert found["JOIN"] == found["entry"] == found[EXIT] == set()


def test_a_loop_controls_itself() -> None:
    found = controls(flow(LOOP))
    assert found["TOP"] == {"TOP"}
    assert found["after_1"] == found["entry"] == set()


def test_a_loop_with_its_test_at_the_top_controls_test_and_body() -> None:
    found = controls(flow("mov.u32 %r1, 0; TEST: mov.u32 %r1, 1; @%p1 bra DONE; mov.u32 %r1, 2; bra TEST; DONE: ret;"))
    assert found["TEST"] == found["after_1"] == {"TEST"}


def test_nests_are_controlled_by_all_loops_around_them() -> None:
    found = controls(flow(NEST))
    assert found["INNER"] == {"INNER", "after_1"}
    assert found["OUTER"] == found["after_1"] == {"after_1"}
    assert found["after_2"] == set()


def test_nested_ifs_are_controlled_step_by_step() -> None:
    body = """
        mov.u32 %r1, 0; @%p1 bra JOIN;
        mov.u32 %r1, 1; @%p2 bra INNER;
        mov.u32 %r1, 2;
        INNER: mov.u32 %r1, 3;
        JOIN: mov.u32 %r1, 4; ret;
    """
    found = controls(flow(body))
    assert found["after_1"] == found["INNER"] == {"entry"}
    assert found["after_2"] == {"after_1"}
    assert closure(["after_2"], found) == {"after_1", "entry"}
    assert closure(["JOIN"], found) == set()


def test_an_early_return_controls_all_that_follows() -> None:
    found = controls(flow("mov.u32 %r1, 0; @%p1 ret; mov.u32 %r1, 1; @%p2 bra A; mov.u32 %r1, 2; A: ret;"))
    assert found["after_1"] == {"entry"}
    assert found["after_2"] == {"after_1"}


def test_closure_leaves_the_start_out_unless_it_is_reached_again() -> None:
    edges = {"a": frozenset("b"), "b": frozenset("c"), "x": frozenset("x")}
    assert closure(["a"], edges) == {"b", "c"}
    assert closure(["x"], edges) == {"x"}
    assert closure(["unknown"], edges) == set()
