"""Barrier ids, forms and refusals, and the one order of waiting, walked in the woven flow."""

import re
from collections.abc import Callable, Sequence
from functools import cache
from itertools import product

import numpy as np
import pytest
from bodies import kernel
from hypothesis import given, settings
from hypothesis import strategies as st

import goptx
from goptx.analysis.build_cfg import control_flow
from goptx.analysis.cfg import EXIT, Flow
from goptx.analysis.terminators import Branch, Jump
from goptx.errors import CannotWeave
from goptx.ptx.flatten import flatten
from goptx.ptx.ir import Instruction
from goptx.ptx.opcodes import facts_of
from goptx.results.fused_kernel import Woven

Assembles = Callable[[Woven], None]


def module(body: str, name: str = "k") -> str:
    """One entry that runs `body`, then stores %r1; %r1 is %tid.x and %rd1 the input at first."""
    begin = f"ld.param.u64 %rd1, [{name}_in]; ld.param.u64 %rd2, [{name}_out]; mov.u32 %r1, %tid.x; mov.u32 %r2, 0;"
    return kernel(f"{begin}\n{body}\nst.global.u32 [%rd2], %r1; ret;", name)


def weave(first: str, second: str, **options: object) -> Woven:
    return goptx.weave(module(first), module(second, "other"), **options)  # type: ignore[arg-type]


def barriers(woven: Woven) -> list[str]:
    return [
        text.strip() for text in woven.ptx.splitlines() if re.search(r"\bbar(rier)?\.(cta\.)?(sync|red|arrive)", text)
    ]


VOTING = """
    mov.u32 %r5, %tid.x;
    VOTE{n}: add.u32 %r1, %r1, %r5; add.u32 %r5, %r5, 32; setp.lt.u32 %p5, %r5, 100; @%p5 bra VOTE{n};
"""  # lanes leave it at different times, so warps do too
UNIFORM = """
    mov.u32 %r6, 0;
    TURN{n}: {body} add.u32 %r6, %r6, 1; setp.lt.u32 %p6, %r6, 2; @%p6 bra TURN{n};
"""  # every thread takes two turns
CHOICE = """
    mov.u32 %r7, %ctaid.x; setp.eq.u32 %p7, %r7, 3; @%p7 bra OTHER{n};
    add.u32 %r1, %r1, 7; {body} bra BOTH{n};
    OTHER{n}: add.u32 %r1, %r1, 9;
    BOTH{n}: add.u32 %r1, %r1, 1;
"""  # the CTA goes one way


# ids ---------------------------------------------------------------------------------------------------


def ids(woven: Woven) -> list[str]:
    """The id of every barrier in the woven text, sorted."""
    return sorted(re.findall(r"(?:sync|red\.\w+\.\w+ %\w+,|popc\.u32 %\w+,) (\d+)", "\n".join(barriers(woven))))


def test_both_use_barrier_0(assembles: Assembles) -> None:
    woven = weave("bar.sync 0;", "bar.sync 0;", policy="concat")
    assert barriers(woven) == ["bar.sync 0;", "bar.sync 1;"]
    assembles(woven)
    assert woven.assembly().barriers == 2


def test_named_barriers_keep_their_ids_where_they_can(assembles: Assembles) -> None:
    woven = weave("bar.sync 3; bar.sync 5;", "bar.sync 5; bar.sync 0x7; bar.sync 5;", policy="concat", slicing=None)
    assert sorted(barriers(woven)) == ["bar.sync 0;", "bar.sync 0;", "bar.sync 3;", "bar.sync 5;", "bar.sync 7;"]
    assembles(woven)


def test_every_barrier_of_one_id_gets_one_id(assembles: Assembles) -> None:
    reduce = "bar.red.popc.u32 %r1, 0, %p1;"
    woven = weave(f"bar.sync 0; {reduce}", f"{reduce} bar.sync 0; bar.sync 1;", policy="concat", slicing=None)
    assert ids(woven) == ["0", "0", "1", "1", "2"]
    assert "bar.red.popc.u32 %b_r1, 1, %b_p1;" in barriers(woven)
    assembles(woven)


def test_other_spellings_of_the_plain_barrier(assembles: Assembles) -> None:
    texts = "barrier.sync.aligned 0; bar.cta.sync 0;", "barrier.sync 0; barrier.cta.sync 0;"
    woven = weave(*texts, policy="concat")
    assert sorted(barriers(woven)) == [
        "bar.cta.sync 0;", "barrier.cta.sync 1;", "barrier.sync 1;", "barrier.sync.aligned 0;"
    ]  # fmt: skip
    assembles(woven)


def test_sixteen_barriers_fit_and_seventeen_do_not(assembles: Assembles) -> None:
    def of(count: int) -> str:
        return " ".join(f"bar.sync {i};" for i in range(count))

    woven = weave(of(8), of(8), policy="concat")
    assert sorted(int(i) for i in ids(woven)) == list(range(16))
    assembles(woven)
    with pytest.raises(CannotWeave, match=r"<ptx>:\d+: kernel B \(`other`\).* more than 16 barriers; use"):
        weave(of(8), of(9))


def test_a_kernel_alone_with_barriers_keeps_them_as_they_are(assembles: Assembles) -> None:
    woven = weave(
        "and.b32 %r3, %r1, 1; bar.sync %r3; bar.sync 0, 64; bar.arrive 4, 64; barrier.sync 15;", VOTING.format(n=1)
    )
    assert [re.sub("^bar\\.", "barrier.", b) for b in barriers(woven)] == [
        "barrier.sync %a_r3;", "barrier.sync 0, 64;", "barrier.arrive 4, 64;", "barrier.sync 15;"
    ]  # fmt: skip
    assembles(woven)


# refusals ----------------------------------------------------------------------------------------------


def refused(first: str, second: str, culprit: str, letter: str = "A") -> str:
    """The message of the refusal, which names file, line and the instruction `culprit`."""
    texts = module(first), module(second, "other")
    with pytest.raises(CannotWeave) as caught:
        goptx.weave(*texts)
    text = texts[ord(letter) - ord("A")].splitlines()
    line = next(i for i, t in enumerate(text, 1) if culprit in t)
    assert f"<ptx>:{line}: kernel {letter} (`" in str(caught.value)
    assert culprit.split()[0] in str(caught.value)
    return str(caught.value)


FROM_SIZES = {
    "threads": "mov.u32 %r3, %ntid.x; shr.u32 %r4, %r3, 6; min.u32 %r5, %r4, 5;\n",
    "threads along y": "mov.u32 %r3, %ntid.y; min.u32 %r5, %r3, 3;\n",
    "threads of both axes": "mov.u32 %r3, %ntid.x; mov.u32 %r4, %ntid.y; mad.lo.u32 %r6, %r3, %r4, 1;"
    "min.u32 %r5, %r6, 9;\n",
    "CTAs": "mov.u32 %r3, %nctaid.x; min.u32 %r5, %r3, 2;\n",
    "CTAs along y": "mov.u32 %r3, %nctaid.y; shr.u32 %r4, %r3, 12; and.b32 %r5, %r4, 7;\n",
    "a branch": "mov.u32 %r3, %ntid.x; setp.gt.u32 %p2, %r3, 64; selp.u32 %r5, 2, 1, %p2;\n",
    "dynamic memory": "mov.u32 %r3, %dynamic_smem_size; shr.u32 %r4, %r3, 10; min.u32 %r5, %r4, 5;\n",
    "clusters": "mov.u32 %r3, %nwarpid; min.u32 %r5, %r3, 5;\n",
}


@pytest.mark.parametrize("letter", ["A", "B"])
@pytest.mark.parametrize("sizes", FROM_SIZES)
def test_an_id_computed_from_sizes_that_are_not_known_may_be_any(sizes: str, letter: str) -> None:
    body = f"{FROM_SIZES[sizes]} bar.sync %r5;"
    bodies = (body, "bar.sync 0;") if letter == "A" else ("bar.sync 0;", body)
    assert re.search(r"from a register.* or give the sizes", refused(*bodies, "bar.sync %r5;", letter))


SHAPE = goptx.Shape((3, 2), (64, 2))


@pytest.mark.parametrize(
    ("sizes", "id_"),
    [("threads", 1), ("threads along y", 2), ("threads of both axes", 9), ("CTAs", 2), ("CTAs along y", 0)],
)
def test_an_id_computed_from_known_sizes_is_a_number(sizes: str, id_: int, assembles: Assembles) -> None:
    texts = f"{FROM_SIZES[sizes]} bar.sync %r5;", f"bar.sync {id_};"
    for first, second in (texts, texts[::-1]):
        woven = weave(first, second, shapes=[SHAPE, SHAPE], policy="concat")
        assert len(set(re.findall(r"sync (\S+);", "\n".join(barriers(woven))))) == 2
        assembles(woven)


EXCHANGING = """
    and.b32 %r6, %r1, 63; shl.b32 %r6, %r6, 2; mov.u32 %r7, tile; add.u32 %r6, %r6, %r7; {first}
    st.shared.u32 [%r6], %r1; {barrier} xor.b32 %r8, %r6, 128; ld.shared.u32 %r1, [%r8]; {barrier}
    mul.wide.u32 %rd3, %r9, 4; add.s64 %rd2, %rd2, %rd3;
"""


def test_a_required_block_decides_an_id() -> None:
    """No other kernel's warps are let through by it."""
    first = FROM_SIZES["threads"].replace("6; min", "5; min")
    body = EXCHANGING.format(first=first, barrier="bar.sync %r5, 64;")
    texts = [module(f"mov.u32 %r9, %tid.x; {b}", n) for b, n in ((body, "k"), (OTHERS, "other"))]
    texts[0] = texts[0].replace("k_n)", "k_n) .reqntid 64")
    for order in (texts, texts[::-1]):
        woven = goptx.weave(*order)
        outs = [np.zeros(64, np.uint32) for _ in order]
        goptx.emulate(woven, 1, 64, args=[[0, out, 0] for out in outs], seed=1)
        assert [out.tolist() for out in outs] == [[i ^ 32 for i in range(64)]] * 2


OTHERS = EXCHANGING.format(first="", barrier="bar.sync 2, 64; bar.sync 0, 64; bar.sync 1, 64;")


PARTIAL = ["bar.sync 1, 64;", "bar.arrive 1, 64;", "barrier.arrive 1, 64;", "bar.red.popc.u32 %r1, 0, 64, %p1;"]


@pytest.mark.parametrize("letter", ["A", "B"])
@pytest.mark.parametrize("barrier", ["bar.sync %r3;", "bar.red.popc.u32 %r1, %r3, %p1;", "bar.arrive %r3, 64;"])
def test_an_id_that_may_be_any_takes_all_of_them(barrier: str, letter: str) -> None:
    body = f"and.b32 %r3, %r1, 1;\n{barrier}"
    bodies = (body, "bar.sync 0;") if letter == "A" else ("bar.sync 0;", body)
    assert re.search(r"from a register.* use a constant id", refused(*bodies, barrier, letter))


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("mov.u32 %r3, 1; bar.sync %r3;", "bar.sync 0;", ["bar.sync %a_r3;", "bar.sync 0;"]),  # it can stay
        ("bar.sync 1;", "mov.u32 %r3, 1; bar.sync %r3;", ["bar.sync 1;", "bar.sync 0;"]),
        ("bar.sync 6;", "mov.u32 %r3, 2; add.u32 %r4, %r3, 4; bar.sync %r4, 64;", ["bar.sync 6;", "bar.sync 0, 64;"]),
    ],
)  # fmt: skip
def test_an_id_in_a_register_that_is_always_one_number(
    first: str, second: str, expected: list[str], assembles: Assembles
) -> None:
    woven = weave(first, second, policy="concat", slicing=None)
    assert sorted(barriers(woven)) == sorted(expected)
    assembles(woven)


@pytest.mark.parametrize("barrier", PARTIAL)
def test_partial_barriers_stand_beside_a_kernel_without_barriers(barrier: str, assembles: Assembles) -> None:
    assembles(weave(f"setp.eq.u32 %p1, %r2, 0; {barrier}", "add.u32 %r1, %r1, 1;"))


@pytest.mark.parametrize("barrier", PARTIAL)
def test_partial_barriers_after_an_early_return(barrier: str, assembles: Assembles) -> None:
    """A warp comes to them, as a whole, if any of its lanes is left."""
    woven = weave(f"setp.gt.u32 %p1, %r1, 99; @%p1 ret;\n{barrier}", "add.u32 %r1, %r1, 1;")
    (found,) = barriers(woven)
    assert re.fullmatch(r"@%a_any_coming bar.*64.*;", found)
    assert "vote.sync.any.pred %a_any_coming, %a_run0, -1;" in woven.ptx
    assembles(woven)


@pytest.mark.parametrize(
    "body",
    [
        "setp.gt.u32 %p1, %r1, 99; @%p1 ret; setp.lt.u32 %p2, %r1, 32;\n@%p2 barrier.sync 1, 64;",
        "setp.gt.u32 %p1, %r1, 99; @%p1 ret; setp.ge.u32 %p2, %r1, 64; @%p2 bra N;\nbarrier.sync 1, 64; N:",
    ],
    ids=["guard", "arm"],
)
def test_unaligned_partial_barriers_that_some_running_lanes_miss(body: str) -> None:
    """Nothing says that the other lanes come to another barrier, or that they have ended."""
    message = refused(body, "add.u32 %r1, %r1, 1;", "barrier.sync 1, 64")
    assert re.search("(threads that (have )?ended|ended the kernel).*use separate launches", message)


@pytest.mark.parametrize("word", ["bar.sync 0;", "barrier.sync 0;"])
def test_a_guarded_barrier_that_only_some_threads_meet(word: str) -> None:
    guard = "is met under a condition that is not proved to be the same for all threads of a CTA; use separate launches"
    with pytest.raises(CannotWeave, match=guard):
        weave(f"setp.lt.u32 %p1, %r1, 16; @%p1 {word}", "bar.sync 0;")


def test_a_barrier_within_braces_that_hold_a_call() -> None:
    function = ".func f(.param .u32 x)\n{\nret;\n}\n.visible .entry"
    scope = "{ .param .b32 p; st.param.b32 [p], 1; call.uni f, (p); bar.sync 0; }"
    texts = module("bar.sync 0;"), module(scope, "other").replace(".visible .entry", function)
    try:
        woven = goptx.weave(*texts)
    except CannotWeave:
        return
    assert len(set(barriers(woven))) == 2


@pytest.mark.parametrize(
    ("text", "number"), [
        ("0U", 0), ("010", 8), ("0x0F", 15), ("0b11", 3),
    ],
)  # fmt: skip
def test_ids_in_every_spelling_of_a_constant(text: str, number: int, assembles: Assembles) -> None:
    woven = weave(f"bar.sync {text};", f"bar.sync {number};", policy="concat")
    assert len(set(barriers(woven))) == 2
    assert len(set(ids(woven))) == 2
    assembles(woven)


@pytest.mark.parametrize("number", ["16", "99", "1+1"])
def test_an_id_above_15_is_the_kernels_fault(number: str) -> None:
    with pytest.raises(goptx.GoptxError) as caught:
        weave(f"bar.sync {number};", "add.u32 %r1, %r1, 1;")
    assert re.match(r"<ptx>:\d+: kernel A", str(caught.value))
    assert "please report" not in str(caught.value)


# spins -------------------------------------------------------------------------------------------------

SPINS = [
    "ld.volatile.global.u32 %r3, [%rd1];",
    "ld.relaxed.gpu.global.u32 %r3, [%rd1];",
    "ld.acquire.gpu.global.u32 %r3, [%rd1];",
    "atom.global.cas.b32 %r3, [%rd1], 0, 1;",
    "atom.global.add.u32 %r3, [%rd1], 0;",
    "atom.cas.b32 %r3, [%rd1], 0, 1;",
]
SPIN = "SPIN:\n{read}\nadd.u32 %r4, %r3, 1; setp.ne.u32 %p1, %r4, 1; @%p1 bra SPIN;"


@pytest.mark.parametrize("letter", ["A", "B"])
@pytest.mark.parametrize("read", SPINS)
def test_spinning_on_memory_is_refused(read: str, letter: str) -> None:
    bodies = [SPIN.format(read=read), "add.u32 %r1, %r1, 1;"]
    first, second = bodies if letter == "A" else bodies[::-1]
    message = refused(first, second, read, letter)
    assert re.search("may wait for other CTAs.*separate launches", message)


def test_a_spin_that_leaves_by_returning_is_refused() -> None:
    read = SPINS[0]
    body = f"SPIN:\n{read}\nsetp.eq.u32 %p1, %r3, 1; @%p1 ret; add.u32 %r4, %r4, 1; bra SPIN;"
    refused(body, "add.u32 %r1, %r1, 1;", read)


def test_a_spin_through_a_flag_that_is_set_under_a_branch_is_refused() -> None:
    read = SPINS[0]
    body = f"""SPIN: mov.u32 %r5, 0;\n{read}\nsetp.eq.u32 %p1, %r3, 0; @%p1 bra GO; mov.u32 %r5, 1;
        GO: setp.eq.u32 %p2, %r5, 0; @%p2 bra SPIN;"""
    refused(body, "add.u32 %r1, %r1, 1;", read)


@pytest.mark.parametrize("read", SPINS)
def test_reading_volatile_memory_in_a_loop_that_something_else_ends(read: str, assembles: Assembles) -> None:
    body = f"TURN: {read} add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 9; @%p1 bra TURN;"
    assembles(weave(body, "add.u32 %r1, %r1, 1;"))


@pytest.mark.parametrize("read", SPINS)
def test_reading_volatile_memory_before_a_loop(read: str, assembles: Assembles) -> None:
    body = f"{read} TURN: add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 9; @%p1 bra TURN;"
    assembles(weave(body, "add.u32 %r1, %r1, 1;"))


# forms -------------------------------------------------------------------------------------------------


FORMS = "bar.sync 0; barrier.sync.aligned 1; bar.cta.sync 0; bar.red.popc.u32 %r1, 0, %p1;"
BY_LANE = """
    .shared .b32 flag; setp.eq.u32 %p2, %r1, 40; @%p2 bra RAISE;
    SPIN: ld.volatile.shared.u32 %r5, [flag]; setp.eq.u32 %p3, %r5, 0; @%p3 bra SPIN; bra PAST;
    RAISE: st.volatile.shared.u32 [flag], 1;
    PAST: add.u32 %r1, %r1, %r5;
"""  # lanes of a warp wait for one of them


@pytest.mark.parametrize("order", [1, -1])
def test_beside_a_voting_loop_barriers_keep_their_forms(order: int, assembles: Assembles) -> None:
    """Whole warps come to one copy or the other."""
    woven = weave(*(FORMS, VOTING.format(n=1))[::order])
    assert {b.split()[0] for b in barriers(woven)} == {b.split()[0] for b in FORMS.split("; ")}
    assembles(woven)


def test_beside_lanes_that_wait_one_by_one_barriers_are_unaligned(assembles: Assembles) -> None:
    woven = weave(FORMS, BY_LANE)
    assert {b.split()[0] for b in barriers(woven)} == {"barrier.sync", "barrier.cta.sync", "barrier.red.popc.u32"}
    assembles(woven)


@pytest.mark.parametrize(
    "partner",
    ["add.u32 %r1, %r1, 1;", UNIFORM.format(n=1, body=""), CHOICE.format(n=1, body=""), "bar.sync 0;"],
)
def test_beside_uniform_partners_barriers_stay_aligned(partner: str, assembles: Assembles) -> None:
    woven = weave("bar.sync 0;", partner)
    assert all(b.startswith("bar.sync") for b in barriers(woven))
    assembles(woven)


def test_its_own_voting_loop_leaves_a_kernels_barriers_aligned(assembles: Assembles) -> None:
    woven = weave(f"bar.sync 0; {VOTING.format(n=1)} bar.sync 0;", "add.u32 %r1, %r1, 1;")
    assert set(barriers(woven)) == {"bar.sync 0;"}
    assembles(woven)


# the order of waiting ----------------------------------------------------------------------------------

TURNS = 2  # how often a walk stays in a loop at most where warps may differ
BAR = "bar.sync 0; add.u32 %r1, %r1, 3;"
RED = "bar.red.popc.u32 %r3, 0, %p1; add.u32 %r1, %r1, %r3;"
V1, V2 = VOTING.format(n=1), VOTING.format(n=2)
WORK = "ld.global.u32 %r8, [%rd1]; add.u32 %r1, %r1, %r8;"
SHAPES = {
    "two": BAR + BAR,
    "two separate": BAR + WORK + BAR,
    "three": BAR + WORK + BAR + WORK + BAR,
    "other ids": f"{WORK} bar.sync 2; {RED} bar.sync 1;",
    "in a loop": UNIFORM.format(n=1, body=BAR),
    "three with a loop": BAR + UNIFORM.format(n=1, body=BAR + WORK) + BAR,
    "in a choice": CHOICE.format(n=1, body=BAR) + BAR,
    "after a vote": V1 + BAR + BAR,
    "before a vote": BAR + WORK + BAR + V1,
    "around a vote": BAR + V1 + BAR,
    "around two votes": BAR + V1 + BAR + V2 + BAR,
    "loop after a vote": V1 + UNIFORM.format(n=1, body=BAR),
    "loop before a vote": BAR + UNIFORM.format(n=1, body=BAR) + V1,
    "vote in a loop": UNIFORM.format(n=1, body=BAR + V1) + BAR,
    "after a guard": f"setp.gt.u32 %p4, %r1, 99; @%p4 ret; {BAR} {RED}",
}


def flow_of(woven: Woven) -> Flow:
    return control_flow(flatten(goptx.read(woven.ptx).entries[0].body or (), lambda n: n))


def walks(found: Flow, decide: dict[str, int]) -> tuple[frozenset[tuple[str, ...]], int]:
    """The sequences of barrier ids along all ways that warps of one CTA may take, and how many ways that is.

    A branch on a vote (`_any`) goes both ways, TURNS times at most; any other is taken as the whole CTA does:
    a loop of UNIFORM goes round once, a CHOICE goes the way that `decide` has for its kernel.
    """

    @cache
    def barriers_from(name: str, times: frozenset[tuple[str, int]]) -> tuple[frozenset[tuple[str, ...]], int]:
        """What can follow the beginning of a block, when branches were taken that often."""
        if name == EXIT:
            return frozenset([()]), 1
        block = found.blocks[name]
        waited: tuple[str, ...] = ()
        for code in block.code:
            assert isinstance(code, Instruction)
            if facts_of(code.opcode).barrier:
                waited += (str(code.operands[1 if "red" in code.opcode else 0]),)
            begun = re.match(r"mov\.u32 %([ab])_r([56]), (%tid\.x|0);", str(code))
            if begun:  # a loop, which may have been gone through before
                own = f"%{begun[1]}_{'any' if begun[2] == '5' else 'p6'}"
                times = frozenset(t for t in times if not t[0].startswith(own))
        if isinstance(block.end, Jump):
            following = [barriers_from(block.end.target, times)]
        else:
            assert isinstance(block.end, Branch)
            predicate = str(block.end.guard.predicate)
            often = dict(times).get(predicate, 0)
            times = frozenset({**dict(times), predicate: often + 1}.items())
            if "_any" in predicate:
                ways = [True, False] if often < TURNS else [False]
            elif predicate.endswith("_p6"):
                ways = [often == 0]
            else:
                assert predicate.endswith("_p7")
                ways = [bool(decide[predicate[1]])]
            targets = [block.end.taken if w != block.end.guard.negated else block.end.fallen for w in ways]
            following = [barriers_from(target, times) for target in targets]
        sequences = frozenset(waited + rest for ends, _ in following for rest in ends)
        return sequences, sum(count for _, count in following)

    return barriers_from(found.entry, frozenset())


def alone(body: str, choice: int) -> list[str]:
    """The barrier ids that a thread of the kernel meets by itself."""
    found = flow_of_text(body)
    turns, name, waited = 0, found.entry, list[str]()
    votes: dict[str, int] = {}
    while name != EXIT:
        block = found.blocks[name]
        for code in block.code:
            assert isinstance(code, Instruction)
            if facts_of(code.opcode).barrier:
                waited.append(str(code.operands[1 if "red" in code.opcode else 0]))
            if str(code) == "mov.u32 %r6, 0;":
                turns = 0
        if isinstance(block.end, Jump):
            name = block.end.target
            continue
        assert isinstance(block.end, Branch)
        predicate = str(block.end.guard.predicate)
        if predicate == "%p6":
            turns += 1
            holds = turns < 2
        else:
            holds = predicate == "%p7" and bool(choice)
            votes[predicate] = votes.get(predicate, 0) + 1
        name = block.end.taken if holds else block.end.fallen
    return waited


def flow_of_text(body: str) -> Flow:
    return control_flow(flatten(goptx.read(module(body)).entries[0].body or (), lambda n: n))


@pytest.mark.slow
@pytest.mark.parametrize("second", SHAPES)
@pytest.mark.parametrize("first", SHAPES)
def test_all_ways_meet_the_barriers_in_one_order(first: str, second: str) -> None:
    own = [sorted(set(alone(SHAPES[s], 0))) for s in (first, second)]
    found = flow_of(weave(SHAPES[first], SHAPES[second], policy="concat"))
    default = flow_of(weave(SHAPES[first], SHAPES[second]))
    voting = any("vote" in s for s in (first, second))
    choosing = [s == "in a choice" for s in (first, second)]
    for a, b in product(range(1 + choosing[0]), range(1 + choosing[1])):
        sequences, count = walks(found, {"a": a, "b": b})
        assert len(sequences) == 1, f"{sequences} of {count} ways"
        assert (count > 1) == voting
        (sequence,) = sequences
        # Projection: each kernel's own barriers, as often and in the order in which it meets them alone.
        expected = [alone(SHAPES[s], c) for s, c in ((first, a), (second, b))]
        mine = {i: i for i in own[0]}
        assert [i for i in sequence if i in mine] == expected[0]
        theirs = [i for i in sequence if i not in mine]
        assert len(theirs) == len(expected[1])
        pairs = set(zip(theirs, expected[1], strict=True))
        assert len(pairs) == len({i for i, _ in pairs}) == len({i for _, i in pairs})  # a renaming
        (sequence,) = walks(default, {"a": a, "b": b})[0]
        assert serves(sequence, *expected)


def serves(sequence: Sequence[str], first: Sequence[str], second: Sequence[str]) -> bool:
    """Whether these are the barriers of both kernels, each kernel's in its order, some of them one for both. The first
    keeps its ids, the second's get others."""

    @cache
    def rest(done: int, i: int, j: int, ids: frozenset[tuple[str, str]]) -> bool:
        if done == len(sequence):
            return (i, j) == (len(first), len(second))
        id_, ways = sequence[done], []
        if i < len(first) and id_ == first[i]:
            ways += [(i + 1, j, ids)] + [(i + 1, j + 1, ids)] * (j < len(second))
        if j < len(second) and id_ not in first:
            renamed = ids | {(second[j], id_)}
            if len(renamed) == len({old for old, _ in renamed}) == len({new for _, new in renamed}):
                ways += [(i, j + 1, renamed)] + [(i + 1, j + 1, renamed)] * (i < len(first))
        return any(rest(done + 1, *way) for way in ways)

    return rest(0, 0, 0, frozenset())


PIECES = ("bar", "red", "work", "vote", "loop", "choice")


@st.composite
def programs(draw: st.DrawFn) -> str:
    """Up to five pieces with at least one barrier, loops and choices around a barrier and perhaps a vote."""
    words = draw(st.lists(st.sampled_from(PIECES), min_size=1, max_size=5))
    pieces = []
    for n, word in enumerate(words):
        inside = draw(st.sampled_from([BAR, WORK + BAR, BAR + VOTING.format(n=20 + n), VOTING.format(n=20 + n) + BAR]))
        pieces.append(
            {
                "bar": BAR,
                "red": RED,
                "work": WORK,
                "vote": VOTING.format(n=n),
                "loop": UNIFORM.format(n=n, body=inside),
                "choice": CHOICE.format(n=n, body=inside),
            }[word]
        )
    return "".join(pieces)


@pytest.mark.slow
@settings(derandomize=True, deadline=None, max_examples=60)
@given(programs(), programs(), st.sampled_from(["adaptive", None]))
def test_any_two_programs_meet_their_barriers_in_one_order(first: str, second: str, slicing: str | None) -> None:
    found = flow_of(weave(first, second, slicing=slicing))
    for a, b in product((0, 1), (0, 1)):
        sequences, count = walks(found, {"a": a, "b": b})
        assert len(sequences) == 1, f"{sequences} of {count} ways"
        (sequence,) = sequences
        assert serves(sequence, alone(first, a), alone(second, b))


@pytest.mark.parametrize("first", [s for s in SHAPES if s != "after a guard"])
def test_beside_a_voting_loop_the_first_kernels_barriers_come_first(first: str) -> None:
    """The second kernel votes before its own barriers, so warps come to them by different ways."""
    second = V1 + BAR + BAR
    (sequence,) = walks(flow_of(weave(SHAPES[first], second)), {"a": 0, "b": 0})[0]
    mine = set(alone(SHAPES[first], 0))
    owners = ["A" if i in mine else "B" for i in sequence]
    assert owners == sorted(owners)
    assert owners.count("B") == 2


def test_the_scheduler_keeps_the_order_in_each_copy_of_a_block() -> None:
    """Latencies alone would put the barriers of blocks that follow each other in another order in some copies."""
    first, second = BAR + V1 + BAR + BAR + BAR + WORK, BAR + V1 + V2 + BAR + RED
    sequences, count = walks(flow_of(weave(first, second, policy="paper", slicing=30)), {})
    assert len(sequences) == 1, f"{sequences} of {count} ways"


def test_the_walk_sees_a_wrong_order() -> None:
    """Two copies of one vote with the barriers in different orders after them: the walk must not be blind."""
    body = """
        mov.u32 %r5, 0; @%p_any bra OTHER;
        bar.sync 0; bar.sync 1; bra DONE;
        OTHER: bar.sync 1; bar.sync 0;
        DONE: mov.u32 %r1, 0; ret;
    """
    sequences, _ = walks(flow_of_text(body), {})
    assert sequences == {("0", "1"), ("1", "0")}


# one barrier for both ----------------------------------------------------------------------------------

EXCHANGE = """
    mov.u32 %r9, tile; mad.lo.u32 %r9, %r1, 4, %r9; xor.b32 %r10, %r1, 32; mov.u32 %r11, tile;
    mad.lo.u32 %r10, %r10, 4, %r11; st.shared.u32 [%r9], %r1; {barrier} ld.shared.u32 %r12, [%r10];
    add.u32 %r1, %r1, %r12;
"""


@pytest.mark.parametrize(
    ("first", "second", "left"),
    [
        ("bar.sync 0;", "bar.sync 0;", ["bar.sync 0;"]),
        ("barrier.sync 2;", "bar.sync 0;", ["barrier.sync 2;"]),
        ("bar.sync 0;", RED, ["bar.red.popc.u32 %b_r3, 1, %b_p1;"]),
        (RED, "bar.sync 0;", ["bar.red.popc.u32 %a_r3, 0, %a_p1;"]),
        (RED, RED, ["bar.red.popc.u32 %a_r3, 0, %a_p1;", "bar.red.popc.u32 %b_r3, 1, %b_p1;"]),
        ("bar.sync 0;", "bar.sync 1, 64;", ["bar.sync 0;", "bar.sync 1, 64;"]),
    ],
)
def test_one_barrier_serves_both_kernels(first: str, second: str, left: list[str], assembles: Assembles) -> None:
    texts = [EXCHANGE.format(barrier=f"setp.gt.u32 %p1, %r1, 20; {b}") for b in (first, second)]
    woven = weave(*texts, slicing=None)
    assert sorted(barriers(woven)) == left
    assembles(woven)
    lines = woven.ptx.splitlines()
    (first_left, *_) = (i for i, text in enumerate(lines) if left[0] in text)
    if len(left) == 1:  # both have stored before it, and load after it
        assert all("st.shared" not in text for text in lines[first_left:])
        assert all("ld.shared" not in text for text in lines[:first_left])


def test_under_a_guard_a_barrier_serves_one_kernel_only() -> None:
    body = "mov.u32 %r7, %ctaid.x; setp.eq.u32 %p7, %r7, 3; @%p7 bar.sync 0;"
    assert len(barriers(weave(body, "bar.sync 0;"))) == 2


@pytest.mark.parametrize("policy", ["paper", "concat"])
def test_published_policies_keep_all_barriers(policy: str) -> None:
    assert len(barriers(weave("bar.sync 0;", "bar.sync 0;", policy=policy))) == 2
