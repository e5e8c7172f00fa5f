"""Warp instructions against the ISA's definitions, lane by lane, with masks of parts of a warp and lanes that ended."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import reduce

import pytest
from emulator.threads import MASK, agrees, call, fault, inputs, run, with_functions

BLOCK = 100  # the last warp has four lanes


def peers(i: int, mask: int = MASK, block: int = BLOCK) -> list[int]:
    """The threads of i's warp that the mask names, those that are there."""
    return [j for j in range(i - i % 32, min(i - i % 32 + 32, block)) if mask >> j % 32 & 1]


def shuffled(mode: str, lane: int, b: int, c: int) -> tuple[int, bool]:
    """The lane that a lane reads from and its predicate, as in the ISA's pseudocode for `shfl.sync`."""
    b, clamp, segment = b & 31, c & 31, c >> 8 & 31
    max_lane = (lane & segment) | (clamp & ~segment & 31)
    min_lane = lane & segment
    j = {"up": lane - b, "down": lane + b, "bfly": lane ^ b, "idx": min_lane | (b & ~segment & 31)}[mode]
    holds = j >= max_lane if mode == "up" else j <= max_lane
    return (j if holds else lane), holds


@pytest.mark.parametrize("mode", ["up", "down", "bfly", "idx"])
def test_shuffle(mode: str) -> None:
    """Distances of each lane's own; clamps and segments as CUDA gives them for every width, and any others."""
    source = random.Random(mode)
    widths = [32 - w << 8 | (0 if mode == "up" else 31) for w in (1, 2, 4, 8, 16, 32)]
    for c in [*widths, *(source.randrange(1 << 13) for _ in range(6)), 0xFFFFE0E0 | 7]:
        body = f"""
            bfe.u32 %r6, %r3, 5, 6;
            shfl.sync.{mode}.b32 %r7|%p1, %r3, %r6, {c}, 0xffffffff;
            selp.u32 %r8, 1, 0, %p1; xor.b32 %r5, %r7, %r8;
        """

        def model(i: int, v: int, c: int = c) -> int:
            lane, holds = shuffled(mode, i % 32, v >> 5 & 63, c)
            return int(inputs(96)[i - i % 32 + lane]) ^ holds

        agrees(body, model, block=96, seeds=(0, 1))


@pytest.mark.parametrize("mode", ["up", "down", "bfly", "idx"])
def test_shuffle_within_each_half(mode: str) -> None:
    """Two groups of a warp at one instruction, each under its own mask."""
    given = inputs(64)

    def model(i: int, v: int) -> int:
        lane, _ = shuffled(mode, i % 32, 3, 0x1000 | (0 if mode == "up" else 31))
        return int(given[i - i % 32 + lane])

    clamp = 0x1000 | (0 if mode == "up" else 31)
    together = f"""
        setp.lt.u32 %p1, %r2, 16; selp.u32 %r6, 0x0000ffff, 0xffff0000, %p1;
        shfl.sync.{mode}.b32 %r5, %r3, 3, {clamp}, %r6;
    """
    separate = f"""
        setp.lt.u32 %p1, %r2, 16; @%p1 bra LOW;
        shfl.sync.{mode}.b32 %r5, %r3, 3, {clamp}, 0xffff0000; bra JOIN;
    LOW: shfl.sync.{mode}.b32 %r5, %r3, 3, {clamp}, 0x0000ffff;
    JOIN:
    """
    for body in (together, separate):
        agrees(body, model)


@pytest.mark.parametrize(("c", "width"), [(0x1F, 32), (0x1C1F, 4), (0x101F, 16)])
def test_shuffle_of_values_that_some_lack(c: int, width: int) -> None:
    """A value read from an undefined lane is undefined; that does not matter where it is not used."""
    body = f"""
        setp.ne.u32 %p1, %r2, 5; @%p1 mov.u32 %r6, %r3;
        shfl.sync.down.b32 %r7, %r6, 1, {c}, 0xffffffff;
        setp.eq.u32 %p3, %r2, 4; selp.u32 %r5, 9, %r7, %p3;
    """
    given = inputs(64)
    agrees(body, lambda i, v: 9 if i % 32 == 4 else int(given[i + (i % width != width - 1)]))
    found = fault(body.replace("selp.u32 %r5, 9, %r7, %p3", "mov.u32 %r5, %r7"))
    assert (found.kind, found.threads) == ("uninitialised", (4, 36))


def vote(mode: str, votes: list[bool], names: list[int]) -> int:
    return {
        "all": int(all(votes)),
        "any": int(any(votes)),
        "uni": int(len(set(votes)) < 2),
        "ballot": sum(1 << j % 32 for j, held in zip(names, votes, strict=True) if held),
    }[mode]


MASKS: list[tuple[str, Callable[[int], int]]] = [
    ("mov.u32 %r6, 0xffffffff;", lambda lane: MASK),
    ("and.b32 %r6, %r2, 3; mov.u32 %r7, 0x11111111; shl.b32 %r6, %r7, %r6;", lambda lane: 0x11111111 << (lane & 3)),
    ("mov.u32 %r6, 1; shl.b32 %r6, %r6, %r2;", lambda lane: 1 << lane),
    ("setp.lt.u32 %p4, %r2, 2; selp.u32 %r6, 0x3, 0xfffffffc, %p4;", lambda lane: 3 if lane < 2 else 0xFFFFFFFC),
]


@pytest.mark.parametrize("mode", ["all", "any", "uni", "ballot"])
@pytest.mark.parametrize("negated", [False, True])
def test_vote(mode: str, negated: bool) -> None:
    """Over all masks at once; what is voted on holds for most, for some, for all or for none."""
    result = "%r8" if mode == "ballot" else "%p2"
    take = "" if mode == "ballot" else "selp.u32 %r8, 1, 0, %p2;"
    type_ = "b32" if mode == "ballot" else "pred"
    tests: list[tuple[str, Callable[[int, int], bool]]] = [
        ("setp.gt.u32 %p1, %r3, 3;", lambda i, v: v > 3),
        ("setp.eq.u32 %p1, %r2, 2;", lambda i, v: i % 32 == 2),
        ("setp.lt.u32 %p1, %r2, 99;", lambda i, v: True),
        ("setp.gt.u32 %p1, %r2, 99;", lambda i, v: False),
    ]
    given = inputs(BLOCK)
    body = "".join(
        f"{test} {mask} vote.sync.{mode}.{type_} {result}, {'!' if negated else ''}%p1, %r6; {take}"
        "mad.lo.u32 %r5, %r5, 31, %r8;\n"
        for test, _ in tests
        for mask, _ in MASKS
    )

    def model(i: int, v: int) -> int:
        total = 0
        for _, holds in tests:
            for _, mask in MASKS:
                names = peers(i, mask(i % 32))
                total = total * 31 + vote(mode, [holds(j, int(given[j])) != negated for j in names], names)
        return total

    agrees(body, model, block=BLOCK, seeds=(0, 1))


@pytest.mark.parametrize("width", [32, 64])
def test_match(width: int) -> None:
    given = inputs(BLOCK) & 3
    value = "%r3" if width == 32 else "%rd3"
    wide = "" if width == 32 else "cvt.u64.u32 %rd3, %r3; shl.b64 %rd3, %rd3, 40;"
    body = wide + "".join(
        f"{mask} match.any.sync.b{width} %r8, {value}, %r6; mad.lo.u32 %r5, %r5, 31, %r8;"
        f"match.all.sync.b{width} %r8|%p1, {value}, %r6; mad.lo.u32 %r5, %r5, 31, %r8;"
        "selp.u32 %r8, 1, 0, %p1; mad.lo.u32 %r5, %r5, 31, %r8;\n"
        for mask, _ in MASKS
    )

    def model(i: int, v: int) -> int:
        total = 0
        for _, mask in MASKS:
            names = peers(i, mask(i % 32))
            same = sum(1 << j % 32 for j in names if given[j] == v)
            agreed = all(given[j] == v for j in names)
            every = sum(1 << j % 32 for j in names) if agreed else 0
            total = ((total * 31 + same) * 31 + every) * 31 + agreed
        return total

    agrees(body, model, block=BLOCK, seeds=(0, 1), given=given)


REDUCTIONS: dict[str, Callable[[int, int], int]] = {
    "add.u32": lambda a, b: a + b & MASK,
    "add.s32": lambda a, b: a + b & MASK,
    "min.u32": min,
    "max.u32": max,
    "min.s32": lambda a, b: min(a, b, key=lambda x: x ^ 1 << 31),
    "max.s32": lambda a, b: max(a, b, key=lambda x: x ^ 1 << 31),
    "and.b32": lambda a, b: a & b,
    "or.b32": lambda a, b: a | b,
    "xor.b32": lambda a, b: a ^ b,
}


@pytest.mark.parametrize("operation", REDUCTIONS)
def test_redux(operation: str) -> None:
    given = inputs(BLOCK)
    body = "".join(f"{mask} redux.sync.{operation} %r8, %r3, %r6; mad.lo.u32 %r5, %r5, 31, %r8;\n" for mask, _ in MASKS)

    def model(i: int, v: int) -> int:
        total = 0
        for _, mask in MASKS:
            total = total * 31 + reduce(REDUCTIONS[operation], [int(given[j]) for j in peers(i, mask(i % 32))])
        return total

    agrees(body, model, block=BLOCK, seeds=(0, 1))


@pytest.mark.parametrize(("text", "mask"), MASKS)
def test_elect(text: str, mask: Callable[[int], int]) -> None:
    """Exactly one lane of each group is elected, and all learn which."""
    body = (
        f"{text} elect.sync %r5|%p1, %r6; @%p1 add.u32 %r5, %r5, 1000; elect.sync _|%p2, %r6; xor.pred %p1, %p1, %p2;"
    )
    out, _ = run(body + "@%p1 trap;", block=BLOCK)
    for i in range(BLOCK):
        elected = [j for j in peers(i, mask(i % 32)) if out[j] >= 1000]
        assert len(elected) == 1
        assert out[i] % 1000 == elected[0] % 32


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_lanes_that_have_ended_are_not_needed(seed: int) -> None:
    """They end before an instruction that names them, or while the others wait for them."""
    early = "setp.lt.u32 %p1, %r2, 5; @%p1 ret;\n"
    late = """
        setp.ge.u32 %p1, %r2, 5; @%p1 bra COME;
        mov.u32 %r6, 0; W: add.u32 %r6, %r6, 1; setp.lt.u32 %p2, %r6, 9; @%p2 bra W;
        ret;
    COME:
    """
    rest = """
        setp.eq.u32 %p3, %r0, %r0; vote.sync.ballot.b32 %r6, %p3, 0xffffffff;
        redux.sync.add.u32 %r7, 1, 0xffffffff; match.any.sync.b32 %r8, 4, 0xffffffff;
        shfl.sync.bfly.b32 %r9, %r2, 1, 31, 0xffffffff; elect.sync %r10|%p4, 0xffffffff;
        bar.warp.sync 0xffffffff; barrier.sync 0; bar.sync 1;
        setp.eq.u32 %p5, %r2, 5; selp.u32 %r9, 0, %r9, %p5;
        add.u32 %r5, %r6, %r7; add.u32 %r5, %r5, %r8; add.u32 %r5, %r5, %r9; add.u32 %r5, %r5, %r10;
    """

    def model(i: int, v: int) -> int:
        lane = i % 32
        elected = 5
        shuffled_from = 0 if lane == 5 else lane ^ 1
        return 0xDEAD if lane < 5 else 2 * 0xFFFFFFE0 + 27 + shuffled_from + elected

    for body in (early + rest, late + rest):
        agrees(body, model, seeds=(seed,))


def test_reconvergence_in_a_loop() -> None:
    """After an if/else in a loop with equal trip counts, the whole warp shuffles."""
    body = """
        mov.u32 %r6, 0; mov.u32 %r5, %r3;
    L:  and.b32 %r7, %r5, 1; setp.eq.u32 %p1, %r7, 1; @%p1 bra ODD;
        shr.u32 %r5, %r5, 1; bra JOIN;
    ODD: mad.lo.u32 %r5, %r5, 3, 1;
    JOIN: shfl.sync.bfly.b32 %r8, %r5, 1, 31, 0xffffffff; add.u32 %r5, %r5, %r8;
        add.u32 %r6, %r6, 1; setp.lt.u32 %p2, %r6, 5; @%p2 bra L;
    """
    values = [int(v) for v in inputs(64)]
    for _ in range(5):
        values = [v * 3 + 1 if v & 1 else v >> 1 for v in values]
        values = [(v & MASK) + (values[i ^ 1] & MASK) & MASK for i, v in enumerate(values)]
    agrees(body, lambda i, v: values[i])


def test_lanes_that_leave_a_loop_one_by_one_shuffle_after_it() -> None:
    body = """
        and.b32 %r6, %r3, 15; mov.u32 %r7, %r3;
    L:  setp.eq.u32 %p1, %r6, 0; @%p1 bra OUT;
        mad.lo.u32 %r7, %r7, 3, 1; sub.u32 %r6, %r6, 1; bra L;
    OUT: shfl.sync.idx.b32 %r5, %r7, 7, 31, 0xffffffff;
    """
    given = inputs(64)

    def after(v: int) -> int:
        for _ in range(v & 15):
            v = v * 3 + 1 & MASK
        return v

    agrees(body, lambda i, v: after(int(given[i // 32 * 32 + 7])))


@pytest.mark.parametrize("instruction", [
    "shfl.bfly.b32 %r5, %r3, 1, 31;", "vote.all.pred %p1, %p2;", "vote.ballot.b32 %r5, %p2;",
    "match.any.b32 %r5, %r3, -1;",
])  # fmt: skip
def test_instructions_without_sync_are_refused(instruction: str) -> None:
    """The forms without `.sync` ended with sm_70."""
    found = fault("setp.eq.u32 %p2, %r0, 0;" + instruction)
    assert found.kind == "unsupported"
    assert "`.sync`" in str(found)


@pytest.mark.parametrize("work", ["", "mul.lo.u32 %r5, %r3, 3; st.global.u32 [%rd2], %r5;"], ids=["idle", "storing"])
@pytest.mark.parametrize("jump", ["bra DONE;", "bra NEAR; NEAR: bra DONE;"], ids=["near", "far"])
def test_lanes_do_not_wait_for_each_other_before_the_end(work: str, jump: str) -> None:
    """Lanes 0 to 4 end where the sides of an if/else join, without taking part in the others' work."""
    body = f"""
        setp.ge.u32 %p1, %r2, 5; @%p1 bra OTHERS;
        {work} {jump}
    OTHERS: redux.sync.add.u32 %r5, %r2, 0xffffffff; bar.warp.sync 0xffffffff; st.global.u32 [%rd2], %r5;
    DONE: ret;
        mov.u32 %r5, 0;
    """
    ended = (lambda v: v * 3) if work else (lambda v: 0xDEAD)
    agrees(body, lambda i, v: ended(v) if i % 32 < 5 else sum(range(5, 32)))


def test_they_wait_before_other_code() -> None:
    body = """
        setp.ge.u32 %p1, %r2, 5; @!%p1 bra DONE;
        redux.sync.add.u32 %r5, %r2, 0xffffffff;
    DONE: add.u32 %r5, %r5, 1;
    """
    assert fault(body).kind == "convergence"


def test_in_a_function_they_wait_before_its_end() -> None:
    """The end of a function is not that of the kernel."""
    function = """
    .func (.param .b32 r) some(.param .b32 lane)
    { .reg .b32 %x; .reg .pred %p; ld.param.u32 %x, [lane]; st.param.b32 [r], %x; setp.lt.u32 %p, %x, 5; @%p bra DONE;
      redux.sync.add.u32 %x, %x, 0xffffffff; st.param.b32 [r], %x; DONE: ret; }
    """
    assert fault(with_functions(function, call("some", "%r2"))).kind == "convergence"


@pytest.mark.parametrize("instruction", [
    "shfl.sync.idx.b32 %r5, %r3, 0, 31, 0xfffffffe;", "vote.sync.any.pred %p2, %p1, 0xfffffffe;",
    "match.any.sync.b32 %r5, %r3, 0xfffffffe;", "redux.sync.add.u32 %r5, %r3, 0xfffffffe;", "bar.warp.sync 0xfffffffe;",
])  # fmt: skip
def test_a_mask_names_the_lane_that_executes_it(instruction: str) -> None:
    found = fault("setp.lt.u32 %p1, %r2, 5;\n" + instruction)
    assert found.kind == "convergence" and "does not name the lanes that execute it" in str(found)
    assert found.threads == (0, 32)
