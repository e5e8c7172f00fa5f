"""What instructions read, write and kill, and liveness against its definition."""

from collections.abc import Iterable, Mapping

import pytest
from bodies import flow
from hypothesis import given, settings
from hypothesis import strategies as st

from goptx.analysis.cfg import EXIT, Block, Code, Flow, Region
from goptx.analysis.dataflow import killed, live_in, read, register_of, solve, written
from goptx.analysis.terminators import Branch, Jump, Stop
from goptx.ptx.ir import Address, Guard, Instruction, Name, Vector
from goptx.ptx.walk import names_in


def code_of(body: str) -> Code:
    """The first instruction or call scope of a body."""
    return flow(f"{body} ret;").blocks["entry"].code[0]


CASES = [
    # instruction, what it writes, what it reads
    ("add.u32 %r1, %r2, %r3;", "%r1", "%r2 %r3"),
    ("add.u32 %r1, %r2, 7;", "%r1", "%r2"),
    ("mov.u32 %r1, %tid.x;", "%r1", "%tid.x"),
    ("mov.u32 %r1, tile;", "%r1", "tile"),
    ("mov.b64 {%r1, %r2}, %rd1;", "%r1 %r2", "%rd1"),
    ("mov.b64 %rd1, {%r1, %r2};", "%rd1", "%r1 %r2"),
    ("mov.b64 {_, %r2}, %rd1;", "%r2", "%rd1"),
    ("mov.u32 %r1, %v.x;", "%r1", "%v"),
    ("ld.global.u32 %r1, [%rd1+4];", "%r1", "%rd1"),
    ("ld.global.v2.u32 {%r1, %r2}, [%rd1];", "%r1 %r2", "%rd1"),
    ("ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [tile+16];", "%r1 %r2 %r3 %r4", "tile"),
    ("ld.param.u32 %r1, [k_n];", "%r1", "k_n"),
    ("st.global.u32 [%rd1], %r1;", "", "%rd1 %r1"),
    ("st.global.v4.u32 [%rd1+16], {%r1, %r2, %r3, 4};", "", "%rd1 %r1 %r2 %r3"),
    ("setp.lt.u32 %p1, %r1, %r2;", "%p1", "%r1 %r2"),
    ("setp.lt.u32 %p1|%p2, %r1, %r2;", "%p1 %p2", "%r1 %r2"),
    ("setp.lt.and.u32 %p1|_, %r1, %r2, !%p3;", "%p1", "%r1 %r2 %p3"),
    ("selp.u32 %r1, %r2, %r3, %p1;", "%r1", "%r2 %r3 %p1"),
    ("atom.global.add.u32 %r1, [%rd1], %r2;", "%r1", "%rd1 %r2"),
    ("atom.global.cas.b32 %r1, [%rd1], %r2, %r3;", "%r1", "%rd1 %r2 %r3"),
    ("atom.shared.add.u32 _, [tile], %r2;", "", "tile %r2"),
    ("red.global.add.u32 [%rd1], %r2;", "", "%rd1 %r2"),
    ("shfl.sync.bfly.b32 %r1|%p1, %r2, 1, %r3, -1;", "%r1 %p1", "%r2 %r3"),
    ("shfl.sync.idx.b32 %r1, %r2, %r3, 31, %r4;", "%r1", "%r2 %r3 %r4"),
    ("vote.sync.ballot.b32 %r1, !%p1, %r2;", "%r1", "%p1 %r2"),
    ("match.all.sync.b32 %r1|%p1, %r2, -1;", "%r1 %p1", "%r2"),
    ("elect.sync %r1|%p1, %r2;", "%r1 %p1", "%r2"),
    ("activemask.b32 %r1;", "%r1", ""),
    ("bar.sync 0;", "", ""),
    ("bar.sync %r1, %r2;", "", "%r1 %r2"),
    ("bar.red.popc.u32 %r1, 0, !%p1;", "%r1", "%p1"),
    ("barrier.red.and.aligned.pred %p1, 0, 64, %p2;", "%p1", "%p2"),
    ("bar.cta.red.popc.u32 %r1, 0, %p1;", "%r1", "%p1"),
    ("barrier.cta.red.or.pred %p1, 0, %p2;", "%p1", "%p2"),
    ("bar.warp.sync %r1;", "", "%r1"),
    ("membar.gl;", "", ""),
    ("wmma.load.a.sync.aligned.row.m16n16k16.f16 {%r1, %r2}, [%rd1], %r3;", "%r1 %r2", "%rd1 %r3"),
    (
        "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%r1, %r2}, {%r3, %r4}, {%r5, %r6}, {%r1, %r2};",
        "%r1 %r2",
        "%r1 %r2 %r3 %r4 %r5 %r6",
    ),
    ("wmma.store.d.sync.aligned.row.m16n16k16.f32 [%rd1], {%r1, %r2}, %r3;", "", "%rd1 %r1 %r2 %r3"),
    ("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r1, %r2}, [%rd1];", "%r1 %r2", "%rd1"),
    ("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%r1}, {%r2}, {%r3}, {%r4};", "%r1", "%r2 %r3 %r4"),
    ("cp.async.ca.shared.global [%r1], [%rd1], 4;", "", "%r1 %rd1"),
    ("cp.async.wait_group 0;", "", ""),
    ("tex.2d.v4.u32.s32 {%r1, %r2, %r3, %r4}, [image, {%r5, %r6}];", "%r1 %r2 %r3 %r4", "image %r5 %r6"),
    ("prefetch.global.L2 [%rd1];", "", "%rd1"),
    ("add.cc.u32 %r1, %r2, %r3;", "%r1", "%r2 %r3"),
    ("mad.lo.u32 %r1, %r1, %r2, %r3;", "%r1", "%r1 %r2 %r3"),
    ("vadd.u32.u32.u32 %r1, %r2.b0, %r3.h1;", "%r1", "%r2 %r3"),
    ("trap;", "", ""),
    ("ld.global.v8.b32 {%r1, _, %r3, %r4, %r5, _, %r7, %r8}, [%rd1];", "%r1 %r3 %r4 %r5 %r7 %r8", "%rd1"),
    ("tex.2d.v4.u32.s32 {%r1, %r2, _, %r4}|%p1, [image, {%r5, %r6}];", "%r1 %r2 %r4 %p1", "image %r5 %r6"),
    ("lop3.or.b32 %r1|%p1, %r2, %r3, %r4, 0x3f, %p2;", "%r1 %p1", "%r2 %r3 %r4 %p2"),
    ("atom.global.v2.f32.add {%r1, %r2}, [%rd1], {%r3, %r4};", "%r1 %r2", "%rd1 %r3 %r4"),
    ("red.global.v2.f32.add [%rd1], {%r3, %r4};", "", "%rd1 %r3 %r4"),
    ("ld.global.u32 %r1, table[%r2+1];", "%r1", "table %r2"),
    ("st.global.u32 table[3], %r1;", "", "table %r1"),
    ("mov.u64 %rd1, table[2];", "%rd1", "table"),
    ("mov.u32 %r1, (WARP_SZ-1)*2;", "%r1", "WARP_SZ"),
    ("vmad.s32.s32.u32 %r1.h0, %r2, %r3, -%r4;", "%r1", "%r1 %r2 %r3 %r4"),
    ("mbarrier.arrive.shared::cta.b64 %rd1, [tile];", "%rd1", "tile"),
    ("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r1], %r2;", "", "%r1 %r2"),
    ("mbarrier.try_wait.parity.shared::cta.b64 %p1, [tile], %r1, %r2;", "%p1", "tile %r1 %r2"),
    ("mbarrier.pending_count.b64 %r1, %rd1;", "%r1", "%rd1"),
    ("multimem.ld_reduce.global.add.v2.f16x2 {%r1, %r2}, [%rd1];", "%r1 %r2", "%rd1"),
    ("multimem.red.global.add.u32 [%rd1], %r1;", "", "%rd1 %r1"),
    ("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r1], %r2, [%r3];", "", "%r1 %r2 %r3"),
    (
        "cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [tile], [%rd1, {%r1, %r2}], [%r3];",
        "", "tile %rd1 %r1 %r2 %r3",
    ),
    ("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u64 [%rd1], [tile], 64;", "", "%rd1 tile"),
    ("tensormap.replace.tile.box_dim.global.b1024.b32 [%rd1], 0, %r1;", "", "%rd1 %r1"),
    ("clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%r1, %r2, %r3, _}, %o;", "%r1 %r2 %r3", "%o"),
    (
        "wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%r1, %r2}, %rd1, %rd2, %p1, 1, 1;",
        "%r1 %r2", "%r1 %r2 %rd1 %rd2 %p1",
    ),
    ("wgmma.wait_group.sync.aligned 0;", "", ""),
    ("tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r1, %r2}, [%r3];", "%r1 %r2", "%r3"),
    ("tcgen05.st.sync.aligned.16x32bx2.x1.b32 [%r3], 8, {%r1};", "", "%r3 %r1"),
    ("tcgen05.mma.cta_group::1.kind::f16 [%r1], %rd1, %rd2, {%r3, %r4}, %p1;", "", "%r1 %rd1 %rd2 %r3 %r4 %p1"),
    ("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [tile], %r1;", "", "tile %r1"),
    ("alloca.u64 %rd1, %rd2, 16;", "%rd1", "%rd2"),
    ("call (%r1), f, (%r2, 3);", "%r1", "f %r2"),
    ("call f, (%r1);", "", "f %r1"),
    ("call %rd1, (), proto;", "", "%rd1 proto"),
]  # fmt: skip


@pytest.mark.parametrize(("instruction", "writes", "reads"), CASES, ids=[c[0] for c in CASES])
def test_what_instructions_write_and_read(instruction: str, writes: str, reads: str) -> None:
    code = code_of(instruction)
    assert written(code) == set(writes.split())
    assert read(code) == set(reads.split())
    assert killed(code) == written(code) - read(code)


@pytest.mark.parametrize(("instruction", "writes", "reads"), CASES[:20], ids=[c[0] for c in CASES[:20]])
def test_a_guard_is_read_and_nothing_is_surely_overwritten(instruction: str, writes: str, reads: str) -> None:
    code = code_of(f"@!%p7 {instruction}")
    assert written(code) == set(writes.split())
    assert read(code) == {*reads.split(), "%p7"}
    assert killed(code) == set()


def test_a_write_to_one_component_leaves_the_others() -> None:
    code = Instruction("mov.u32", (Name("%v.x"), Name("%r1")))
    assert written(code) == {"%v"}
    assert read(code) == {"%v", "%r1"}
    assert killed(code) == set()


def test_unknown_instructions_are_taken_as_updating_all_operands() -> None:
    code = Instruction("novel.u32", (Name("%r1"), Vector((Name("%r2"), Name("%r3"))), Address((Name("%rd1"),))))
    assert written(code) == {"%r1", "%r2", "%r3"}
    assert read(code) == {"%r1", "%r2", "%r3", "%rd1"}
    assert killed(code) == set()


def test_a_call_scope_reads_and_writes_what_its_instructions_do() -> None:
    code = code_of(
        "{ .param .b32 p; .param .b32 q; st.param.b32 [p], %r1; call.uni (q), f, (p); ld.param.b32 %r2, [q]; }"
    )
    assert "%r2" in written(code)
    assert {n for n in written(code) if n.startswith("%")} == {"%r2"}
    assert {n for n in read(code) if n.startswith("%")} == {"%r1"}
    assert "f" in read(code)
    assert killed(code) == set()


def test_names_of_registers() -> None:
    assert register_of("%v.x") == "%v"
    assert register_of("%tid.x") == "%tid.x"  # a special register of its own
    assert register_of("%r1") == "%r1"
    store = code_of("st.global.v2.u32 [%rd1+4], {%r1, 2};")
    assert isinstance(store, Instruction)
    assert [n for o in store.operands for n in names_in(o)] == ["%rd1", "%r1"]


# liveness ----------------------------------------------------------------------------------------------


def registers(names: Iterable[str]) -> set[str]:
    return {n for n in names if n.startswith("%")}


def test_live_in_around_a_loop() -> None:
    found = live_in(
        flow(
            """
            mov.u32 %r1, 0; mov.u32 %r2, 5; mov.u32 %r9, 1;
            TOP: add.u32 %r1, %r1, %r2; mov.u32 %r3, %r1; setp.lt.u32 %p1, %r3, 100; @%p1 bra TOP;
            st.global.u32 [%rd1], %r1; ret;
            """
        )
    )
    assert registers(found["entry"]) == {"%rd1"}
    assert registers(found["TOP"]) == {"%r1", "%r2", "%rd1"}  # %r3 and %p1 are written before they are read
    assert registers(found["after_1"]) == {"%r1", "%rd1"}
    assert found[EXIT] == set()


IF = """
    setp.eq.u32 %p1, %r1, 0; {guarded} @%p1 bra ELSE;
    mov.u32 %r2, 1; bra JOIN;
    ELSE: mov.u32 %r2, %r3;
    JOIN: st.global.u32 [%rd1], %r2; ret;
"""


def test_live_in_around_an_if() -> None:
    found = live_in(flow(IF.format(guarded="")))
    assert registers(found["ELSE"]) == {"%r3", "%rd1"}
    assert registers(found["after_1"]) == {"%rd1"}
    assert registers(found["JOIN"]) == {"%r2", "%rd1"}
    assert registers(found["entry"]) == {"%r1", "%r3", "%rd1"}  # both sides write %r2


def test_a_guarded_write_leaves_the_old_value_alive() -> None:
    plain = live_in(flow(IF.format(guarded="mov.u32 %r3, 9;")))
    guarded = live_in(flow(IF.format(guarded="@%p2 mov.u32 %r3, 9;")))
    assert "%r3" not in plain["entry"]
    assert {"%r3", "%p2"} <= guarded["entry"]


def test_a_branch_reads_its_predicate_and_a_switch_its_index() -> None:
    found = live_in(
        flow("mov.u32 %r1, 0; L: .branchtargets A, B; brx.idx %r2, L; A: mov.u32 %r3, 0; @%p1 bra A; B: ret;")
    )
    assert registers(found["entry"]) == {"%r2", "%p1"}
    assert registers(found["A"]) == {"%p1"}


def test_a_region_reads_but_does_not_end_values() -> None:
    inner = flow("add.u32 %r1, %r2, 1; mov.u32 %r3, %r1; ret;").blocks["entry"]
    use = flow("st.global.u32 [%rd1], %r1; ret;").blocks["entry"]
    region = Block((), Jump("use"), region=Region("in", {"in": Block(inner.code, Jump("use"))}, "use"))
    found = live_in(Flow("region", {"region": region, "use": use, EXIT: Block((), Stop())}))
    assert registers(found["region"]) == {"%r1", "%r2", "%rd1"}  # not %r1 of the region itself, but the one after it


REGISTERS = ("%a", "%b", "%c")
NAMES = ("b0", "b1", "b2", "b3", "b4", EXIT)


@st.composite
def flows(draw: st.DrawFn) -> Flow:
    blocks = {}
    for name in NAMES[:-1]:
        code = tuple(
            Instruction(
                "add.u32",
                (Name(draw(st.sampled_from(REGISTERS))), Name(draw(st.sampled_from(REGISTERS)))),
                draw(st.sampled_from([None, None, Guard(Name("%c"))])),
            )
            for _ in range(draw(st.integers(0, 2)))
        )
        ways = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=2, unique=True))
        end = Jump(ways[0]) if len(ways) == 1 else Branch(Guard(Name("%b")), ways[0], ways[1])
        blocks[name] = Block(code, end)
    return Flow("b0", {**blocks, EXIT: Block((), Stop())})


def alive(found: Flow, start: str, register: str) -> bool:
    """Whether some path from `start` reads the register before it is overwritten."""
    stack, seen = [start], {start}
    while stack:
        block = found.blocks[stack.pop()]
        for code in block.code:
            assert isinstance(code, Instruction)
            if str(code.operands[1]) == register or (code.guard and str(code.guard.predicate) == register):
                return True
            if str(code.operands[0]) == register and code.guard is None:
                break
        else:
            if register in block.end.reads():
                return True
            following = [t for t in block.end.successors() if t not in seen]
            seen.update(following)
            stack += following
    return False


@settings(derandomize=True, deadline=None)
@given(flows())
def test_liveness_is_a_path_to_a_read(found: Flow) -> None:
    result = live_in(found)
    for name in found.reverse_postorder():
        assert result[name] == {r for r in REGISTERS if alive(found, name, r)}


def test_the_solver_runs_forward_too() -> None:
    """Which blocks may have run before: the union over the predecessors."""
    found = flow("mov.u32 %r1, 0; @%p1 bra B; A: mov.u32 %r1, 1; B: mov.u32 %r1, 2; @%p2 bra A; mov.u32 %r1, 3; ret;")
    before = found.graph().pred

    def after(name: str, values: Mapping[str, frozenset[str]]) -> frozenset[str]:
        return frozenset({name}).union(*(values[p] for p in before[name] if p in values))

    result = solve(found.reverse_postorder(), before, after)
    assert result["entry"] == {"entry"}
    assert result["B"] == {"entry", "A", "B"}
    assert result["after_2"] == {"entry", "A", "B", "after_2"}


def test_inner_nodes_are_solved_first() -> None:
    """A node is computed again as soon as a source has changed, the first in the order first."""
    computed: list[str] = []

    def count(name: str, values: Mapping[str, int]) -> int:
        computed.append(name)
        return min([values.get(sources[name], 0) + 1, 3])

    sources = {"a": "b", "b": "a", "c": "b"}
    assert solve("abc", sources, count) == {"a": 3, "b": 3, "c": 3}
    assert computed == ["a", "b", "a", "b", "a", "c"]
