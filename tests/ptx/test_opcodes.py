"""The facts about opcodes beyond their operands: memory, convergence, copies, carry, and unknown opcodes."""

import pytest

from goptx.analysis.dataflow import written
from goptx.ptx.ir import Instruction
from goptx.ptx.opcodes import TABLE, Scope, facts_of
from goptx.ptx.parse import parse
from goptx.weaving.unweavable import REFUSED


@pytest.mark.parametrize(
    ("opcode", "access", "spaces"),
    [
        ("add.u32", "", ()),
        ("ld.u32", "l", ()),
        ("ld.shared::cluster.v2.u32", "l", ("shared",)),
        ("ld.param::entry.u64", "l", ("param",)),
        ("ld.const[2].u32", "l", ("const",)),
        ("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32", "s", ("shared",)),
        ("red.global.add.noftz.f16x2", "ls", ("global",)),
        ("multimem.ld_reduce.relaxed.gpu.global.add.u32", "l", ("global",)),
        ("cp.async.ca.shared.global", "sl", ("shared", "global")),
        ("cp.async.bulk.global.shared::cta.bulk_group", "sl", ("global", "shared")),
        ("cp.async.bulk.wait_group.read", "f", ()),
        ("cp.async.bulk.prefetch.L2.global", "", ("global",)),
        ("tex.2d.v4.f32.f32", "l", ("texture",)),
        ("sust.b.2d.b32.trap", "s", ("surface",)),
        ("sured.b.add.2d.u32.trap", "ls", ("surface",)),
        ("tcgen05.ld.sync.aligned.32x32b.x1.b32", "l", ("tensor",)),
        ("tcgen05.mma.ws.sp.cta_group::1.kind::tf32", "ls", ("tensor",)),
        ("tcgen05.wait::ld.sync.aligned", "f", ()),
        ("fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster", "f", ()),
        ("alloca.u64", "ls", ("local",)),
        ("multimem.st.async.release.gpu.global.u32", "s", ("global",)),
        ("multimem.red.async.release.gpu.global.add.u32", "ls", ("global",)),
        ("multimem.cp.async.bulk.global.shared::cta.bulk_group", "sl", ("global", "shared")),
        ("multimem.cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32", "ls", ("global", "shared")),
        ("applypriority.async.bulk.global.bulk_group.L2::evict_normal", "", ("global",)),
        ("mbarrier.check_layout.layout::v1.shared::cta.b64", "l", ("shared",)),
        ("fabric.submit.op_restrict::fetching", "f", ()),
        ("clmad.lo.u64", "", ()),
        ("spdecompress.b8.b2.sp::2:4.x8", "", ()),
    ],
)
def test_memory(opcode: str, access: str, spaces: tuple[str, ...]) -> None:
    facts = facts_of(opcode)
    assert facts.known
    assert (facts.row.access, facts.spaces) == (access, spaces)
    assert facts.space == (spaces[0] if spaces else "")


THREAD, WARP, WARPGROUP, CTA, CLUSTER = Scope


@pytest.mark.parametrize(
    ("opcode", "scope", "blocking", "predicable", "duplicable"),
    [
        ("add.u32", THREAD, False, True, True),
        ("atom.global.add.u32", THREAD, False, True, True),
        ("call.uni", THREAD, False, True, False),  # what is called may be convergent
        ("mbarrier.try_wait.parity.shared::cta.b64", THREAD, True, True, True),
        ("mbarrier.test_wait.parity.shared::cta.b64", THREAD, False, True, True),
        ("griddepcontrol.wait", THREAD, True, True, True),
        ("griddepcontrol.launch_dependents", THREAD, False, True, True),
        ("tcgen05.mma.cta_group::1.kind::f16", THREAD, False, True, True),
        ("shfl.sync.bfly.b32", WARP, True, False, False),
        ("activemask.b32", WARP, False, False, False),
        ("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", WARP, False, False, False),
        ("mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", WARP, False, False, False),
        ("tcgen05.alloc.cta_group::1.sync.aligned.b32", WARP, True, False, False),
        ("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.sync.aligned", WARP, False, False, False),
        ("wgmma.fence.sync.aligned", WARPGROUP, False, False, False),
        ("setmaxnreg.inc.sync.aligned.u32", WARPGROUP, True, False, False),
        ("bar.sync", CTA, True, False, False),
        ("bar.arrive", CTA, False, False, False),
        ("barrier.sync", CTA, True, False, True),  # each thread by itself
        ("barrier.cta.arrive", CTA, False, False, True),
        ("barrier.cta.sync.aligned", CTA, True, False, False),
        ("bar.warp.sync", WARP, True, False, False),
        ("barrier.cluster.arrive.relaxed", CLUSTER, False, False, True),
        ("barrier.cluster.wait.aligned", CLUSTER, True, False, False),
        ("novel.u32", CTA, True, False, False),
    ],
)  # fmt: skip
def test_convergence_and_copies(opcode: str, scope: Scope, blocking: bool, predicable: bool, duplicable: bool) -> None:
    facts = facts_of(opcode)
    assert (facts.row.scope, facts.row.blocking) == (scope, blocking)
    assert (facts.predicable, facts.duplicable) == (predicable, duplicable)


@pytest.mark.parametrize(
    ("opcode", "sets", "uses"),
    [
        ("add.cc.u32", True, False),
        ("addc.cc.u64", True, True),
        ("subc.u32", False, True),
        ("mad.lo.cc.u32", True, False),
        ("madc.hi.u32", False, True),
        ("add.u32", False, False),
    ],
)
def test_the_carry_flag(opcode: str, sets: bool, uses: bool) -> None:
    assert (facts_of(opcode).sets_carry, facts_of(opcode).uses_carry) == (sets, uses)


@pytest.mark.parametrize(
    "opcode", "novel.u32 mbarrier.later.b64 fabric.later tcgen05.new.b32 multimem.st_other cp.later wgmma.other".split()
)
def test_unknown_opcodes_are_treated_as_the_most_constrained(opcode: str) -> None:
    """This includes newer members of a family: the facts of `mbarrier` do not apply to a new instruction of it."""
    facts = facts_of(opcode)
    assert not facts.known
    assert (facts.row.updates, facts.row.access) == (True, "ls")
    assert facts.sets_carry and facts.uses_carry
    assert (facts.row.scope, facts.row.blocking) == (Scope.CTA, True)
    assert not facts.predicable and not facts.duplicable and facts.may_fault_or_store


@pytest.mark.parametrize(
    ("text", "registers"),
    [
        ("mbarrier.try_wait.phase_type::primary.shared.b64 p|q, v, [bar], d;", {"p", "q", "v"}),
        ("mbarrier.test_wait.parity.phase_type::primary.shared.b64 p|q, [bar], r;", {"p", "q"}),
        ("mbarrier.test_wait.parity.phase_type::conditional.shared.b64 p, [bar], r;", {"p"}),
        ("tcgen05.ld.sync.aligned.32x32b.x2.b32 {a, b}, [r];", {"a", "b"}),
        ("tcgen05.ld.red.sync.aligned.32x32b.x2.min.u32 {a, b}, c, [r];", {"a", "b", "c"}),
        ("tcgen05.ld.spcompress.sync.aligned.32x32b.x4.max.sp::2:4.f32.b2 {a}, {b, c}, [r];", {"a", "b", "c"}),
        ("tcgen05.ld.red.spcompress.sync.aligned.32x32b.x2.max.sp::2:4.f32.b2 {a}, {b}, c, [r];", {"a", "b", "c"}),
        ("spcompress.b8.b2.sp::2:4.x1 {a}, {b}, {c, d}, r;", {"a", "b"}),
        ("spdecompress.b8.b2.sp::2:4.x2 {a, b}, {c}, {d};", {"a", "b"}),
        ("clmad.hi.u64 a, b, c, d;", {"a"}),
        ("fabric.try_put.async.shared::cta.relaxed.sys.b128 [a, b, c], [d], e, [f];", set()),
        ("cvt.rn.satfinite.scaled::n1::ue8m0.e4m3x2.f32 a, b, c, d;", {"a"}),
    ],
)
def test_registers_that_new_instructions_write(text: str, registers: set[str]) -> None:
    module = parse(f".version 9.4\n.target sm_107a\n.address_size 64\n.entry k() {{ {text} }}")
    (instruction,) = module.entries[0].body or ()
    assert isinstance(instruction, Instruction)
    assert written(instruction) == registers
    assert facts_of(instruction.opcode).known


def test_what_loads_by_the_readonly_proxy_is_read_only() -> None:
    facts = facts_of("ld.global.proxy::readonly.u32")
    assert facts.read_only and facts.uses_read_only_path and not facts.is_ordered
    assert not facts_of("ld.global.u32").read_only


@pytest.mark.parametrize("opcode", ["fabric.submit", "fabric.try_atom.async.relaxed.sys.add.u32", "fabric.later"])
def test_fabric_operations_are_refused_by_name(opcode: str) -> None:
    assert facts_of(opcode).exclusive == "handles"


@pytest.mark.parametrize("group", ["", "::16b", "::32b", "::all"])
def test_what_acts_in_several_ctas_is_multicast(group: str) -> None:
    assert facts_of(f"mbarrier.arrive.multicast::cluster{group}.release.cluster.shared::cluster.b64").is_multicast


def test_every_row_is_found_by_its_own_name() -> None:
    for name, row in TABLE.items():
        assert facts_of(name).row is row
        assert facts_of(f"{name}.novel").known


def test_opcodes_expanded_with_a_branch() -> None:
    """As seen in the machine code of ptxas 13.0 for sm_90: with a branch or without."""
    branching = "div.rn.f32 rcp.rn.ftz.f32 sqrt.rn.f32 div.rn.f64 rcp.rn.f64 sqrt.rn.f64 div.u64 rem.s64 div.u16"
    straight = "div.approx.f32 div.full.f32 rcp.approx.ftz.f32 sqrt.approx.f32 rsqrt.approx.f32 div.u32 rem.s32"
    assert all(facts_of(opcode).slow_path for opcode in branching.split())
    assert not any(facts_of(opcode).slow_path for opcode in straight.split())


KINDS = {  # opcodes that have a fact, and such as nearly have it
    "is_load_or_store": ("ld.u32 st.u32", "ldu.u32 atom.add.u32"),
    "only_loads_element": ("ld.u32 ldu.global.u32", "st.u32 tex.2d.v4.f32.f32"),
    "accesses_element": ("ld.u32 ldu.global.u32 st.u32 atom.add.u32 red.add.u32", "suld.b.1d.b32.trap"),
    "loads_parameter": ("ld.param.u64 ld.param::func.u32", "ld.u64 st.param.u64 ld.const.u32"),
    "stores_parameter": ("st.param.b32", "ld.param.b32 st.global.b32"),
    "is_atomic": ("atom.global.add.u32", "red.global.add.u32"),
    "uses_read_only_path": ("ldu.global.u32 ld.global.nc.u32 ld.proxy::readonly.u32", "ld.global.u32 ld.const.u32"),
    "moves": ("mov.u32 cvta.global.u64", "cvt.u32.u64"),
    "converts_address": ("cvta.to.global.u64", "mov.u64"),
    "offsets_address": ("add.s64 sub.s64 mad.lo.s32 mov.u64 cvta.global.u64", "mul.lo.s32 and.b64"),
    "adds_to_product": ("mad.wide.u32", "mul.wide.u32 mad24.lo.u32"),
    "shifts": ("shl.b32 shr.s32", "shf.l.wrap.b32"),
    "masks": ("and.b32", "and.pred or.b32"),
    "unites": ("or.b32", "xor.b32"),
    "has_no_bits_beyond": ("or.b32 xor.b32", "not.b32"),
    "conjoins_predicates": ("and.pred", "and.b32 or.pred"),
    "gives_predicate": ("setp.lt.u32 testp.finite.f32 isspacep.global and.pred", "set.lt.u32.u32 and.b32"),
    "compares": ("setp.lt.u32", "set.lt.u32.u32"),
    "relates": ("setp.lt.u32 min.u32 max.u32 rem.u32", "div.u32"),
    "calls": ("call call.uni", "ret"),
    "is_indirect_branch": ("brx.idx brx.idx.uni", "bra"),
    "returns": ("ret ret.uni", "exit"),
    "ends_thread": ("exit", "ret trap"),
    "reads_active_mask": ("activemask.b32", "elect.sync"),
    "depends_on_active_lanes": ("activemask.b32 elect.sync", "vote.sync.any.pred"),
    "is_lane_exchange": ("vote.sync.any.pred redux.sync.add.s32 match.any.sync.b32 shfl.sync.idx.b32", "bar.warp.sync"),
    "votes": ("vote.sync.any.pred vote.sync.ballot.b32", "vote.ballot.b32"),
    "is_ballot": ("vote.sync.ballot.b32 vote.ballot.b32", "vote.sync.any.pred"),
    "reduces_lanes": ("redux.sync.add.s32", "vote.sync.any.pred"),
    "matches_lanes": ("match.any.sync.b32", "vote.sync.ballot.b32"),
    "shuffles_by_index": ("shfl.sync.idx.b32", "shfl.sync.bfly.b32 shfl.idx.b32"),
    "is_float_update": (
        "red.add.f32 atom.global.v2.f32.add cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.f16 "
        "multimem.red.relaxed.sys.global.add.f32",
        "red.add.u32 red.min.f16 add.f32 cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32",
    ),
    "acts_on_mbarrier": ("mbarrier.init.b64 mbarrier.try_wait.b64", "cp.async.mbarrier.arrive.b64"),
    "controls_grids": ("griddepcontrol.wait", "bar.sync"),
    "asks_cluster": ("mapa.u64 getctarank.u64", "barrier.cluster.arrive"),
    "exclusive": ("setmaxnreg.inc.sync.aligned.u32 tcgen05.none brkpt clusterlaunchcontrol.none", "bar.sync"),
    "reduces": ("bar.red.popc.u32 barrier.cta.red.and.pred", "bar.sync red.add.u32"),
    "reduces_by_and": ("bar.red.and.pred", "bar.red.or.pred red.and.b32 and.pred"),
}


@pytest.mark.parametrize("fact", KINDS)
def test_kinds(fact: str) -> None:
    those, others = (text.split() for text in KINDS[fact])
    assert [opcode for opcode in those + others if getattr(facts_of(opcode), fact)] == those


def test_what_cannot_be_shared_has_a_reason() -> None:
    assert {facts_of(opcode).exclusive for opcode in TABLE} == {"", *REFUSED}
