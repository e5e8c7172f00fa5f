"""No access of a kernel moves after a release of that kernel or before an acquire, in any state space."""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from bodies import flow, kernel
from hypothesis import given, settings
from hypothesis import strategies as st

import goptx
from goptx.analysis.cfg import Code
from goptx.options import POLICIES, Policy, Strategy
from goptx.ptx.ir import Instruction, Scope
from goptx.weaving.schedule.schedule import schedule_block

SEEDS, BLOCK = range(8), 256
GLOBAL, SHARED = "st.global.u32 [%rd1], 1;", "st.shared.u32 [%r9], 1;"


def part(body: str) -> tuple[Code, ...]:
    found = flow(body)
    return found.blocks[found.entry].code


def ordered(body: str) -> list[str]:
    return [str(c).strip() for c in schedule_block([part(body)], [], "latency", lambda _: 4)]


RELEASES = [
    "st.release.cta.shared.u32 [%r9], 1;",
    "st.release.gpu.global.u32 [%rd2], 1;",
    "st.release.sys.u32 [%rd2], 1;",
    "@%p1 st.release.cta.shared.u32 [%r9], 1;",
    "st.mmio.release.sys.global.u32 [%rd2], 1;",
    "red.release.cta.shared.add.u32 [%r9], 1;",
    "red.acq_rel.gpu.global.add.u32 [%rd2], 1;",
    "red.sc.gpu.global.add.u32 [%rd2], 1;",
    "atom.release.cta.shared.exch.b32 %r3, [%r9], 0;",
    "multimem.red.release.sys.global.add.u32 [%rd2], 1;",
    "multimem.st.release.sys.global.u32 [%rd2], 1;",
    "st.volatile.shared.u32 [%r9], 1;",
    "membar.cta;",
    "fence.sc.cta;",
    "fence.acq_rel.gpu;",
    "fence.release.sync_restrict::shared::cta.cluster;",
    "fence.mbarrier_init.release.cluster;",
    "fence.proxy.async;",
    "mbarrier.arrive.shared.b64 _, [%r9];",
    "mbarrier.complete_tx.relaxed.cluster.shared::cta.b64 [%r9], 16;",
    "cp.async.mbarrier.arrive.noinc.shared.b64 [%r9];",
    "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r9], [%r8], 16, [%r7];",
    "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r9], 1, [%r7];",
    "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r9], 1, [%r7];",
    "barrier.cluster.arrive.aligned;",
    "barrier.cluster.arrive.release;",
    "bar.arrive 1, 64;",
    "bar.warp.sync 0xffffffff;",
    "griddepcontrol.launch_dependents;",
    "call.uni helper, ();",
    "{ .param .b32 given; st.param.b32 [given], %r1; call.uni helper, (given); }",
]
ACQUIRES = [
    "ld.acquire.cta.shared.u32 %r3, [%r9];",
    "ld.acquire.gpu.global.u32 %r3, [%rd2];",
    "ld.acquire.sys.u32 %r3, [%rd2];",
    "@%p1 ld.acquire.cta.shared.u32 %r3, [%r9];",
    "ld.mmio.relaxed.sys.global.u32 %r3, [%rd2];",
    "ld.volatile.shared.u32 %r3, [%r9];",
    "ld.shared.cv.u32 %r3, [%r9];",
    "atom.acquire.cta.shared.cas.b32 %r3, [%r9], 0, 1;",
    "red.acq_rel.gpu.global.add.u32 [%rd2], 1;",
    "multimem.ld_reduce.acquire.sys.global.add.u32 %r3, [%rd2];",
    "fence.acquire.sync_restrict::shared::cluster.cluster;",
    "membar.gl;",
    "mbarrier.test_wait.shared.b64 %p2, [%r9], %rd5;",
    "mbarrier.try_wait.parity.shared.b64 %p2, [%r9], 0;",
    "barrier.cluster.wait.acquire;",
    "bar.sync 0;",
    "cp.async.wait_all;",
    "griddepcontrol.wait;",
    "call.uni (%r3), helper, ();",
]


@pytest.mark.parametrize("access", [GLOBAL, SHARED, "@%p3 st.u32 [%rd3], 1;", "red.global.add.u32 [%rd1], 1;",
                                    "ld.global.u32 %r5, [%rd1]; xor.b32 %r5, %r5, 1;"])  # fmt: skip
@pytest.mark.parametrize("release", RELEASES)
def test_nothing_moves_after_a_release(release: str, access: str) -> None:
    order = ordered(f"add.u32 %r10, %r11, 1; {access} {release} ld.param.u32 %r6, [k_n];")
    assert order.index(str(part(access)[0]).strip()) < order.index(str(part(release)[0]).strip())


def test_a_load_that_comes_late_holds_the_release_back() -> None:
    load = "sqrt.rn.f32 %r6, %r7; cvt.rzi.u64.f32 %rd5, %r6; ld.global.u32 %r5, [%rd5];"
    assert ordered(f"{load} st.release.cta.shared.u32 [%r9], 1;")[-1].startswith("st.release")


@pytest.mark.parametrize("access", [GLOBAL, SHARED, "ld.u32 %r5, [%rd1];", "red.shared.add.u32 [%r8], 1;",
                                    "ld.global.u32 %r5, [%rd1]; mul.lo.u32 %r5, %r5, 3;"])  # fmt: skip
@pytest.mark.parametrize("acquire", ACQUIRES)
def test_nothing_moves_before_an_acquire(acquire: str, access: str) -> None:
    order = ordered(f"div.rn.f32 %r10, %r11, %r11; {acquire} {access}")
    assert order.index(str(part(access)[0]).strip()) > order.index(str(part(acquire)[0]).strip())


def test_what_stands_after_a_release_may_move_before_it() -> None:
    """In another space; in its own it may be the same location."""
    release, use = "st.release.cta.shared.u32 [%r9], 1;", "add.u32 %r3, %r2, 1;"
    assert ordered(f"{release} ld.global.u32 %r2, [%rd1]; {use}")[0].startswith("ld")
    assert ordered(f"{release} ld.u32 %r2, [%rd1]; {use}")[0].startswith("st")
    assert ordered(f"membar.cta; ld.global.nc.u32 %r2, [%rd1]; {use}")[0].startswith("ld")


# The rule once more, from the words of opcodes alone ----------------------------------------------------------

SPACES = {"global": ".global", "shared": ".shared", "generic": ""}
ADDRESSES = {"global": "[%rd{}]", "shared": "[%r{}]", "generic": "[%rd{}]"}
SEMANTICS = {
    "ld": ["", ".volatile", ".relaxed.gpu", ".acquire.cta", ".acquire.sys"],
    "st": ["", "", ".volatile", ".relaxed.cta", ".release.cta", ".release.sys"],
    "atom": ["", ".relaxed.gpu", ".acquire.cta", ".release.gpu", ".acq_rel.sys"],
    "red": ["", ".relaxed.gpu", ".release.cta", ".release.sys"],
}
FORMS = {
    "ld": "ld{}{}.u32 {result}, {address};",
    "st": "st{}{}.u32 {address}, %r100;",
    "atom": "atom{}{}.add.u32 {result}, {address}, 1;",
    "red": "red{}{}.add.u32 {address}, 1;",
}
FENCES = ["fence.sc.gpu;", "fence.acq_rel.cta;", "membar.sys;", "bar.warp.sync 0xffffffff;", "fence.proxy.async;"]
OTHERS = ["mul.lo.u32 {result}, %r100, 3;", "div.rn.f32 {result}, %f1, %f2;", "ld.global.nc.u32 {result}, [%rd7];"]


@st.composite
def bodies(draw: st.DrawFn) -> str:
    """Straight code whose registers order nothing."""
    code = []
    for i in range(draw(st.integers(2, 8))):
        kind = draw(st.sampled_from(["ld", "ld", "st", "st", "st", "red", "red", "atom", "fence", "other"]))
        guard = draw(st.sampled_from(["", "", "@%p1 ", "@!%p2 "]))
        space = draw(st.sampled_from(sorted(SPACES)))
        if kind in FORMS:
            text = FORMS[kind].replace("{}", "@", 2)
            text = text.replace("@", draw(st.sampled_from(SEMANTICS[kind])), 1).replace("@", SPACES[space], 1)
        else:
            text = draw(st.sampled_from(FENCES if kind == "fence" else OTHERS))
        address = ADDRESSES[space].format(draw(st.integers(1, 3)))
        text = text.replace("{result}", f"%r{10 + i}").replace("{address}", address)
        code.append(text if kind == "fence" else guard + text)
    return " ".join(code)


def must_follow(later: Code, earlier: Code) -> bool:
    """Whether two instructions of a kernel keep their order."""
    assert isinstance(earlier, Instruction) and isinstance(later, Instruction)
    first, second = (set(i.opcode.split(".")) for i in (earlier, later))
    memory = {"ld", "st", "atom", "red"}
    if not (first & (memory | FENCE_WORDS) and second & (memory | FENCE_WORDS)) or {"nc"} & (first | second):
        return False
    if second & {"release", "acq_rel", *FENCE_WORDS} or first & {"acquire", "acq_rel", *FENCE_WORDS}:
        return True
    if first & {"volatile", "relaxed"} and second & {"volatile", "relaxed"}:
        return True
    separate = {"global", "shared"} <= first ^ second
    return not separate and not {"ld"} <= first & second


FENCE_WORDS = {"fence", "membar", "bar"}


def out_of_order(part: Sequence[Code], woven: Sequence[Code]) -> Iterator[tuple[Code, Code]]:
    """Pairs that have to keep their order, and do not."""
    place = {id(c): i for i, c in enumerate(woven)}
    for earlier, later in combinations(part, 2):
        if must_follow(later, earlier) and place[id(earlier)] > place[id(later)]:
            yield earlier, later


@pytest.mark.slow
@pytest.mark.parametrize("policy", POLICIES)
@settings(max_examples=200, deadline=None)
@given(first=bodies(), second=bodies())
def test_random_code_keeps_its_order(policy: Policy, first: str, second: str) -> None:
    parts = [part(first), part(second.replace("%", "%b_"))]
    woven = schedule_block(
        parts, [], policy, lambda c: 0 if isinstance(c, Scope) else 300 if c.opcode[:2] == "ld" else 4
    )
    assert sorted(map(id, woven)) == sorted(id(c) for p in parts for c in p)
    assert not [pair for p in parts for pair in out_of_order(p, woven)]


# As other threads see it ----------------------------------------------------------------------------------------

POLL = """
    ld.acquire.cta.shared.u32 %r7, [tile]; setp.ne.u32 %p2, %r7, 0; mov.u32 %r8, 1; @%p2 ld.global.u32 %r8, [%rd1+4];
    setp.eq.u32 %p3, %r8, 0; @%p3 mov.u32 %r5, 1;
"""
BEGIN = """
    mov.u32 %r1, %tid.x; ld.param.u64 %rd1, [k_in]; ld.param.u64 %rd2, [k_out];
    mul.wide.u32 %rd3, %r1, 4; add.s64 %rd2, %rd2, %rd3; mov.u32 %r5, 0;
    setp.eq.u32 %p4, %r1, 0; @%p4 st.shared.u32 [tile], 0; setp.eq.u32 %p1, %r1, 32;
    bar.sync 0;
"""
PUBLISHED = {
    "release": "@%p1 st.global.u32 [%rd1+4], 7; @%p1 st.release.cta.shared.u32 [tile], 1;",
    "reduction": "@%p1 st.global.u32 [%rd1+4], 7; @%p1 red.release.cta.shared.add.u32 [tile], 1;",
    "in two spaces": "@%p1 st.global.u32 [%rd1+4], 7; mov.u32 %r9, 5; @%p1 st.shared.u32 [tile+4], %r9;"
    "@%p1 st.release.cta.shared.u32 [tile], 1;",
}


def messages(published: str) -> str:
    """A thread stores and raises a flag; the others look at that again and again, and count what they see too early."""
    return kernel(f"{BEGIN} {published} {POLL * 12} st.global.u32 [%rd2], %r5; ret;")


PARTNER = kernel("""
    mov.u32 %r1, %tid.x; ld.param.u64 %rd1, [other_in]; ld.param.u64 %rd2, [other_out]; mul.wide.u32 %rd3, %r1, 4;
    add.s64 %rd1, %rd1, %rd3; add.s64 %rd2, %rd2, %rd3; ld.global.u32 %r3, [%rd1]; mad.lo.u32 %r3, %r3, 3, %r1;
    bar.sync 0; ld.global.u32 %r4, [%rd1]; add.u32 %r3, %r3, %r4; st.global.u32 [%rd2], %r3; ret;
""", "other")  # fmt: skip


def seen_too_early(source: str | goptx.Woven, seed: int) -> int:
    given, out, others = np.zeros(4, np.uint32), np.full(BLOCK, 9, np.uint32), np.zeros((2, BLOCK), np.uint32)
    own: list[object] = [given, out, 0]
    args = [own, [others[0], others[1], 0]] if isinstance(source, goptx.Woven) else own
    goptx.emulate(source, 1, BLOCK, args, seed=seed)
    assert given[1] == 7
    assert set(out.tolist()) <= {0, 1}
    return int(out.sum())


@pytest.mark.slow
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("name", sorted(PUBLISHED))
def test_no_thread_sees_a_flag_without_the_data(name: str, policy: Policy) -> None:
    text = messages(PUBLISHED[name])
    woven = goptx.weave(text, PARTNER, policy=policy)
    assert [seen_too_early(text, seed) for seed in SEEDS] == [0] * len(SEEDS)
    assert [seen_too_early(woven, seed) for seed in SEEDS] == [0] * len(SEEDS)


SHAPES = [goptx.Shape(1, BLOCK)] * 2


@pytest.mark.parametrize(
    ("strategy", "options"),
    [
        ("weave", {"shapes": SHAPES}),
        ("weave", {"slicing": 4}),
        ("vertical", {}),
        ("vertical", {"depends": True, "same": [("A:2", "B:2")], "noalias": ["A:0", "A:1", "B:0", "B:1"]}),
        ("horizontal", {"shapes": SHAPES}),
        ("interleave", {"shapes": SHAPES}),
    ],
)
def test_no_strategy_shows_a_flag_without_the_data(strategy: Strategy, options: dict[str, Any]) -> None:
    woven = goptx.fuse(messages(PUBLISHED["in two spaces"]), PARTNER, strategy=strategy, **options)
    assert stores_of("%a_", woven) == ["st.global", "st.shared", "st.release"]
    assert [seen_too_early(woven, seed) for seed in SEEDS] == [0] * len(SEEDS)


def stores_of(prefix: str, woven: goptx.Woven) -> list[str]:
    """What a kernel stores under %p1, each once, the two data first."""
    lines = [
        line.split() for line in woven.ptx.splitlines() if f"@{prefix}p1 st." in line or f"@{prefix}p1 red." in line
    ]
    *data, flag = dict.fromkeys(".".join(words[1].split(".")[:2]) for words in lines)
    return [*sorted(data), flag]


def test_copies_show_no_flag_without_the_data() -> None:
    woven = goptx.coarsen(messages(PUBLISHED["in two spaces"]), 2)
    for prefix in ("%a_", "%a2_"):
        assert stores_of(prefix, woven) == ["st.global", "st.shared", "st.release"]


def test_the_emulator_sees_a_flag_without_the_data() -> None:
    """Where the kernel itself raises it too early."""
    store, release = "@%p1 st.global.u32 [%rd1+4], 7;", "@%p1 st.release.cta.shared.u32 [tile], 1;"
    assert any(seen_too_early(messages(release + store), seed) for seed in SEEDS)
