"""Algorithm 1 of the GoPTX paper: which pairs its merge makes, and which kernel waits, on flows drawn by hand."""

import re
from collections.abc import Iterator

import pytest

from goptx.analysis.cfg import EXIT, Block, Flow
from goptx.analysis.terminators import Branch, Jump, Stop, Switch
from goptx.ptx.ir import Guard, Instruction, Name
from goptx.weaving.merging.dummy_blocks import deadlock_rule, is_sync
from goptx.weaving.merging.product import Move, Pair, Pairs, Product

E = EXIT


def drawn(**blocks: str) -> Flow:
    """A flow by hand: each block `CODE > END`, with one move by default and the first block as entry.

    Ends: nothing (the kernel ends), `x`, `p ? x : y`, `i [x y z]`.
    """

    def block(name: str, text: str) -> Block:
        opcode, _, end = text.rpartition(">")
        code = (Instruction(opcode.strip() or "mov.u32", (Name(f"%{name}"),)),)
        words = re.findall(r"\w+", end)
        if "?" in end:
            return Block(code, Branch(Guard(Name(words[0])), words[1], words[2]))
        if "[" in end:
            return Block(code, Switch(Name(words[0]), tuple(words[1:])))
        return Block(code, Jump(words[0] if words else EXIT))

    return Flow(next(iter(blocks)), {n: block(n, t) for n, t in blocks.items()} | {EXIT: Block((), Stop())})


def merged(first: Flow, second: Flow) -> Product:
    return Pairs(first, second).product(deadlock_rule(first, second))


def successors(found: Product) -> dict[Pair, set[str]]:
    """What follows each pair: the answers that lead there, and the pair, as `p !q f1.s2`."""

    def walk(name: str, answers: str) -> Iterator[str]:
        end = found.flow.blocks[name].end
        cases: dict[str, str] = {}
        match end:
            case Branch(guard, taken, fallen):
                cases = {guard.predicate.text: taken, f"!{guard.predicate.text}": fallen}
            case Switch(index, targets):
                cases = {f"{index}={i}": t for i, t in enumerate(targets)}
            case Jump(target):
                cases = {"": target}
        for answer, target in cases.items():
            path = f"{answers} {answer}".strip()
            if target == EXIT:
                yield f"{path} {E}.{E}".strip()
            elif target in found.pairings:
                yield f"{path} {'.'.join(found.pairings[target].pair)}".strip()
            else:
                yield from walk(target, path)  # a dummy block

    return {p.pair: set(walk(name, "")) for name, p in found.pairings.items()}


# The table of successors --------------------------------------------------------------------------------

STRAIGHT = {"f0": "f1", "f1": ""}
FORK = {"f0": "p ? f1 : f2", "f1": "", "f2": ""}
DIAMOND = {"f0": "p ? f1 : f2", "f1": "f3", "f2": "f3", "f3": ""}
SELF_LOOP = {"f0": "p ? f0 : f1", "f1": ""}  # a loop of one block
CASES = {"f0": "i [f1 f2 f3]", "f1": "", "f2": "", "f3": ""}


def second(blocks: dict[str, str]) -> Flow:
    """The same graph for the other kernel: s for f, q for p, j for i."""
    names = str.maketrans("fpi", "sqj")
    return drawn(**{n.translate(names): t.translate(names) for n, t in blocks.items()})


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (STRAIGHT, STRAIGHT, {"f1.s1"}),  # 1x1
        (FORK, STRAIGHT, {"p f1.s1", "!p f2.s1"}),  # 2x1
        (STRAIGHT, FORK, {"q f1.s1", "!q f1.s2"}),  # 1x2
        (FORK, FORK, {"p q f1.s1", "p !q f1.s2", "!p q f2.s1", "!p !q f2.s2"}),  # 2x2, through dummies
        (FORK, {"f0": ""}, {f"p f1.{E}", f"!p f2.{E}"}),  # S ends here
        ({"f0": ""}, FORK, {f"q {E}.s1", f"!q {E}.s2"}),
        ({"f0": ""}, {"f0": ""}, {f"{E}.{E}"}),
        (
            CASES,
            FORK,
            {f"i={i} {q}{s}" for i in range(3) for q, s in (("q ", f"f{i + 1}.s1"), ("!q ", f"f{i + 1}.s2"))},
        ),
    ],
)
def test_successors_of_a_pair(one: dict[str, str], other: dict[str, str], expected: set[str]) -> None:
    found = merged(drawn(**one), second(other))
    assert successors(found)["f0", "s0"] == expected
    assert [str(c) for c in found.flow.blocks[found.flow.entry].code] == ["mov.u32 %f0;", "mov.u32 %s0;"]


def test_successors_of_a_finished_kernel() -> None:
    found = merged(drawn(f0=""), second(DIAMOND))
    assert successors(found) == {
        ("f0", "s0"): {f"q {E}.s1", f"!q {E}.s2"},
        (E, "s1"): {f"{E}.s3"},
        (E, "s2"): {f"{E}.s3"},
        (E, "s3"): {f"{E}.{E}"},
    }
    found = merged(drawn(**DIAMOND), second({"f0": ""}))
    assert successors(found)["f1", E] == {f"f3.{E}"}


def test_an_n_way_branch_beside_an_m_way_branch_needs_n_stubs() -> None:
    for one, other, dummies in ((FORK, FORK, 2), (CASES, FORK, 3), (FORK, CASES, 2), (CASES, CASES, 3)):
        found = merged(drawn(**one), second(other))
        stubs = found.flow.blocks.keys() - found.pairings.keys() - {EXIT}
        assert len(stubs) == dummies
        assert all(not found.flow.blocks[s].code for s in stubs)


@pytest.mark.parametrize(
    ("one", "other", "pairs"),
    [
        (STRAIGHT, STRAIGHT, 2),
        (FORK, FORK, 1 + 4),
        (DIAMOND, STRAIGHT, 1 + 2 + 1),  # 0.0, then 1.1 and 2.1, then 3.E
        (DIAMOND, DIAMOND, 1 + 4 + 1),
        (DIAMOND, FORK, 1 + 4 + 1),
        (SELF_LOOP, {"f0": ""}, 1 + 2),  # 0.0, then 0.E and 1.E
        (SELF_LOOP, STRAIGHT, 1 + 2 + 2),
        (SELF_LOOP, SELF_LOOP, 4 + 4),  # both in, one in and one after, then one of them finished
        (CASES, CASES, 1 + 9),
    ],
)
def test_number_of_pairs(one: dict[str, str], other: dict[str, str], pairs: int) -> None:
    assert len(merged(drawn(**one), second(other)).pairings) == pairs


# Who waits ----------------------------------------------------------------------------------------------


def moves(first: Flow, other: Flow) -> dict[Pair, Move]:
    return {p.pair: p.move for p in merged(first, other).pairings.values()}


def test_the_second_kernel_waits_before_its_sync_code() -> None:
    first = drawn(f0="f1", f1="bar.sync > f2", f2="")
    found = moves(first, drawn(s0="s1", s1="bar.sync > s2", s2=""))
    assert found == {
        ("f0", "s0"): Move.BOTH,
        ("f1", "s1"): Move.FIRST,  # both hold one
        ("f2", "s1"): Move.BOTH,  # none is left in the first
        (E, "s2"): Move.BOTH,
    }
    assert set(moves(first, drawn(s0="s1", s1="s2", s2="")).values()) == {Move.BOTH}
    assert set(moves(second(STRAIGHT), drawn(x="bar.sync >")).values()) == {Move.BOTH}


def test_it_waits_where_the_first_can_still_reach_some() -> None:
    first = drawn(f0="p ? f1 : f2", f1="bar.sync >", f2="")
    assert moves(first, drawn(s0="shfl.sync.idx.b32 >")) == {
        ("f0", "s0"): Move.FIRST,
        ("f1", "s0"): Move.FIRST,
        ("f2", "s0"): Move.BOTH,
        (E, "s0"): Move.BOTH,
    }


def test_it_waits_for_a_whole_loop() -> None:
    found = merged(drawn(f0="bar.sync > p ? f0 : f1", f1=""), drawn(s0="bar.sync >"))
    assert successors(found)["f0", "s0"] == {"p f0.s0", "!p f1.s0"}
    assert {p.pair: p.move for p in found.pairings.values()} == {("f0", "s0"): Move.FIRST, ("f1", "s0"): Move.BOTH}


def test_it_waits_until_the_first_has_ended() -> None:
    found = merged(drawn(f0="bar.sync >"), drawn(s0="bar.sync > q ? s1 : s2", s1="", s2=""))
    assert successors(found)["f0", "s0"] == {f"{E}.s0"}
    assert successors(found)[E, "s0"] == {f"q {E}.s1", f"!q {E}.s2"}


@pytest.mark.parametrize(
    ("opcode", "expected"),
    [
        *((o, True) for o in ("bar.sync", "bar.red.popc.u32", "bar.arrive", "barrier.sync", "barrier.cta.sync")),
        *((o, True) for o in ("bar.warp.sync", "shfl.sync.bfly.b32", "vote.sync.any.pred", "match.any.sync.b32")),
        ("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", True),
        ("ldmatrix.sync.aligned.m8n8.x1.b16", True),
        ("wmma.load.a.sync.aligned.row.m16n16k16.f16", True),
        *((o, False) for o in ("mov.u32", "membar.gl", "ld.global.u32", "atom.global.add.u32", "activemask.b32")),
    ],
)
def test_what_counts_as_sync(opcode: str, expected: bool) -> None:
    assert is_sync(Instruction(opcode)) is expected
