"""Folded grids: a few CTAs run those of all kernels, one after the other, and each kernel is as it is alone."""

from itertools import product
from types import SimpleNamespace
from typing import Any

import pytest
from weaving.compared import LIMIT, coarse, lines, outputs, same, with_memory
from weaving.shaped_kernels import HEAD, KERNELS, kernel, stored

import goptx
from goptx import CannotWeave, EmulationFault, InputError, Shape
from goptx.cost import ctas_at_once
from goptx.options import FOLDS
from goptx.results.fused_kernel import Woven

SM_90A = HEAD.replace("sm_90", "sm_90a")


def fuse(*names: str, shapes: list[Shape], **options: Any) -> Woven:
    options = {"fold": "static", **options}
    return goptx.fuse(*(KERNELS.get(n, n) for n in names), strategy="horizontal", shapes=shapes, **options)


# values ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("fold, ctas", list(product(FOLDS, [1, 3, 5])))
@pytest.mark.parametrize("first, second", [("tiled", "registers"), ("leaving", "looping"), ("dynamic", "tiled")])
def test_unequal_grids_and_partial_rounds(first: str, second: str, fold: str, ctas: int) -> None:
    shapes = [with_memory(Shape((3, 2, 2), (8, 8)), first), with_memory(Shape(7, 96), second)]
    woven = fuse(first, second, shapes=shapes, fold=fold, ctas=ctas)
    assert woven.shape and woven.shape.ctas == ctas and woven.shape.threads == 64 + 96
    same((first, second), shapes, woven)


COUNTING = kernel("k", "red.global.add.u32 [%rd1], 1;")
NEIGHBOUR = kernel(
    "k",
    """
    shl.b32 %r50, %r1, 2; mov.u32 %r51, tile; add.u32 %r52, %r51, %r50; st.shared.u32 [%r52], %r4; bar.sync 0;
    add.u32 %r53, %r1, 37; rem.u32 %r53, %r53, %r3; shl.b32 %r53, %r53, 2; add.u32 %r53, %r51, %r53;
    ld.shared.u32 %r54, [%r53];
    """
    + stored(["%r54"]),
    ".shared .align 4 .b8 tile[4096];",
)


@pytest.mark.parametrize("fold", FOLDS)
def test_each_cta_runs_once(fold: Any) -> None:
    shapes = [Shape(7, 64), Shape((3, 3), 32)]
    same((COUNTING, COUNTING), shapes, fuse(COUNTING, COUNTING, shapes=shapes, fold=fold, ctas=3))


def test_shared_memory_is_not_written_while_others_read_it() -> None:
    shapes = [Shape(7, 128), Shape(3, 32)]
    same((NEIGHBOUR, "registers"), shapes, fuse(NEIGHBOUR, "registers", shapes=shapes, ctas=2))


@pytest.mark.slow
def test_threads_that_end_are_not_waited_for() -> None:
    """Between virtual CTAs they live, so masks of lanes may not name them."""
    shapes = [Shape(5, 40), Shape((2, 3), 64)]
    same(("leaving", "looping"), shapes, fuse("leaving", "looping", shapes=shapes, ctas=2))
    count = "mov.u32 %r60, 0; NEXT: activemask.b32 %r61; add.u32 %r60, %r60, 1; setp.gt.u32 %p1, %r60, %r1;"
    looping = kernel("k", count + "@!%p1 bra NEXT;" + stored(["%r60"]) + "setp.lt.u32 %p2, %r60, 9; @%p2 bra NEXT;")
    same((looping, "tiled"), shapes, fuse(looping, "tiled", shapes=shapes, ctas=2))
    ending = kernel("k", "and.b32 %r60, %r1, 3; setp.eq.u32 %p1, %r60, 1; @%p1 ret; redux.sync.add.u32 %r61, %r1, -1;"
                    + stored(["%r61"]))  # fmt: skip
    same((ending, "looping"), shapes, fuse(ending, "looping", shapes=shapes, ctas=2))


@pytest.mark.slow
@pytest.mark.parametrize("block", [40, (5, 13), 100])
def test_blocks_that_are_not_whole_warps(block: Any) -> None:
    """Lanes that the kernel lacks wait at the end of each of its CTAs; nobody may wait for them before."""
    shapes = [Shape(5, block), Shape((2, 3), 64)]
    for names in (("leaving", "tiled"), ("tiled", "leaving"), ("registers", "looping")):
        same(names, shapes, fuse(*names, shapes=shapes, ctas=2))


@pytest.mark.slow
def test_more_ctas_than_a_kernel_has() -> None:
    shapes = [Shape(2, 64), Shape(9, 32)]
    for fold in FOLDS:
        same(("tiled", "leaving"), shapes, fuse("tiled", "leaving", shapes=shapes, fold=fold, ctas=4))
    woven = fuse("tiled", "leaving", shapes=shapes, ctas=100)
    assert woven.shape and woven.shape.ctas == 9
    same(("tiled", "leaving"), shapes, woven)


@pytest.mark.slow
def test_grids_that_are_known_at_launch_only() -> None:
    launched = [Shape((5, 3), 64), Shape(11, 64)]
    for fold in FOLDS:
        woven = fuse("tiled", "registers", shapes=[Shape(None, 64), Shape(None, 64)], fold=fold, ctas=4)
        assert {p.role for p in woven.params if p.kernel is None} >= {"A.grid.x", "B.grid.x"}
        same(("tiled", "registers"), launched, woven)


def test_any_number_of_ctas_may_be_launched() -> None:
    """The number is read when the kernel begins, so a GPU with other SMs may be given another."""
    shapes = [Shape(7, 64), Shape(4, 64)]
    woven = fuse("tiled", "registers", shapes=shapes, ctas=3)
    assert not lines(woven, "%nctaid.x", "div") and len(lines(woven, ", %nctaid.x;")) == 2


def test_three_kernels() -> None:
    shapes = [Shape(5, 64), Shape(3, 32), Shape((2, 2), 96)]
    names = ("tiled", "leaving", "looping")
    same(names, shapes, fuse(*names, shapes=shapes, ctas=2))


@pytest.mark.slow
@pytest.mark.parametrize("fold", FOLDS)
def test_coarsened_kernels(fold: Any) -> None:
    """Several virtual CTAs are woven, and what they have in common is computed for each group of them."""
    shapes = [Shape(7, 64), Shape((3, 3), 64)]
    for names in (("tiled", "registers"), ("leaving", "tiled")):
        woven = goptx.fuse(
            coarse(KERNELS[names[0]], 2), coarse(KERNELS[names[1]], 3), strategy="horizontal", shapes=shapes,
            fold=fold, ctas=2,
        )  # fmt: skip
        same(names, shapes, woven)


def test_code_of_the_loop_stays_by_itself() -> None:
    """What several copies read is computed before all of them, and nothing moves between virtual CTAs."""
    woven = goptx.fuse(
        coarse(KERNELS["tiled"], 2), KERNELS["registers"], strategy="horizontal", shapes=[Shape(8, 64), Shape(4, 64)],
        fold="static", ctas=2,
    )  # fmt: skip
    text = woven.ptx.splitlines()
    (step,) = [i for i, line in enumerate(text) if "add.u32 %a_cta, %a_cta," in line]
    assert "setp.lt.u32 %a_fold" in text[step + 1] and "bra.uni" in text[step + 2]
    same(("tiled", "registers"), [Shape(8, 64), Shape(4, 64)], woven)


def test_the_checker_has_no_rules_for_it() -> None:
    shapes = [Shape(8, 64), Shape(4, 64)]
    certificate = goptx.prove(fuse("tiled", "registers", shapes=shapes, ctas=2))
    assert [gap.rule for gap in certificate.gaps] == ["strategy"] and "folded grids" in str(certificate)


def test_functions_and_their_barriers() -> None:
    shapes = [with_memory(Shape(5, 64), "calling"), Shape(3, 64)]
    with pytest.raises(CannotWeave, match="depends on the number of its CTA") as caught:
        fuse("calling", "tiled", shapes=shapes)
    assert caught.value.rule == "folded-grids"


# what stands between two virtual CTAs -------------------------------------------------------------------------


def test_a_barrier_only_where_something_is_shared() -> None:
    woven = fuse("registers", "registers", shapes=[Shape(4, 64), Shape(4, 64)], ctas=2)
    assert not lines(woven, "barrier.sync") and len(lines(woven, "bar.warp.sync 0xffffffff;")) == 2
    woven = fuse("tiled", "registers", shapes=[Shape(4, 64), Shape(4, 64)], ctas=2)
    assert len(lines(woven, "bar.sync 0, 64;")) == 3  # it reduces at that one, too
    assert len(lines(woven, "barrier.sync 1, 64;")) == 1


NAMED = """
    .shared .align 4 .b8 box[4096];
    setp.ge.u32 %p1, %r1, 32; shl.b32 %r50, %r1, 2; mov.u32 %r51, box; add.u32 %r51, %r51, %r50;
    st.shared.u32 [%r51], %r4; @%p1 bra SECOND;
    bar.sync 0, 32; ld.shared.u32 %r52, [box+4]; bra DONE;
    SECOND: bar.sync 1, 32; ld.shared.u32 %r52, [box+132];
    DONE:
""" + stored(["%r52"])


def test_barriers_with_counts_keep_their_ids() -> None:
    """The barrier between two CTAs has an id that the kernel does not use for fewer threads."""
    text, shapes = kernel("k", NAMED), [Shape(5, 64), Shape(4, 32)]
    woven = fuse(text, "tiled", shapes=shapes, ctas=2)
    assert lines(woven, "barrier.sync 2, 64;") or lines(woven, "barrier.sync 3, 64;")
    same((text, "tiled"), shapes, woven)


COPIED = """
    .shared .align 16 .b8 box[1024];
    mov.u32 %r51, box; shl.b32 %r52, %r1, 2; add.u32 %r51, %r51, %r52; cp.async.ca.shared.global [%r51], [%rd1], 4;
    cp.async.commit_group; setp.eq.u32 %p1, %r1, 70; @%p1 ret;
"""


def test_copies_that_nobody_waits_for() -> None:
    """They are complete before the next virtual CTA writes there."""
    woven = fuse(kernel("k", COPIED), "registers", shapes=[Shape(4, 96), Shape(2, 32)], ctas=1)
    assert len(lines(woven, "cp.async.wait_all;")) == 1
    outs = [outputs(Shape(4, 96)), outputs(Shape(2, 32))]
    goptx.emulate(woven, args=[[out, LIMIT] for out in outs], races=True)


def test_what_the_kernel_has_waited_for_is_not_waited_for_again() -> None:
    waits = COPIED.replace("setp.eq", "cp.async.wait_all; setp.eq")
    woven = fuse(kernel("k", waits), "registers", shapes=[Shape(4, 96), Shape(2, 32)], ctas=1)
    assert len(lines(woven, "cp.async.wait_all;")) == 1
    once = COPIED.replace("mov.u32 %r51, box;", "NEXT: mov.u32 %r51, box;") + "@!%p1 bra NEXT; cp.async.wait_all;"
    woven = fuse(kernel("k", once), "registers", shapes=[Shape(4, 96), Shape(2, 32)], ctas=1)
    assert len(lines(woven, "cp.async.wait_all;")) == 2, "a thread that ends in the loop has not waited"


ARRIVES = kernel("k", "setp.lt.u32 %p1, %r1, 32; @%p1 bar.arrive 3, 64; @!%p1 bar.sync 3, 64;")
OBJECT = kernel("k", "mbarrier.init.shared.b64 [box], 1;", ".shared .align 8 .b8 box[8];")
BY_SM = kernel("k", "mov.u32 %r60, %smid; mul.wide.u32 %rd9, %r60, 4; add.u64 %rd9, %rd9, %rd1; st.u32 [%rd9], %r1;")
WAITING = kernel("k", "SPIN: ld.acquire.gpu.global.u32 %r60, [%rd1]; setp.eq.u32 %p1, %r60, 0; @%p1 bra SPIN;")
LAST_LANES = kernel(
    "k",
    "mov.u32 %r60, 0; NEXT: redux.sync.add.u32 %r61, %r60, -1;"
    + stored(["%r61"])
    + "add.u32 %r60, %r60, 1; setp.gt.u32 %p1, %r60, %r1; @!%p1 bra NEXT;",
)
ALL_IDS = kernel("k", "".join(f"bar.sync {i}, 64;" for i in range(16)))
STACK = kernel("k", "alloca.u64 %rd9, 16;")
OWN_ID = kernel("k", "and.b32 %r60, %r5, 7; bar.sync %r60;")


def test_an_arrival_without_a_wait_is_refused() -> None:
    _refused(ARRIVES, "folded-grids", r"kernel A .*`@%p1 bar.arrive 3, 64;` arrives at a barrier without waiting")


def test_addresses_by_the_sm_are_refused() -> None:
    _refused(BY_SM, "sm-number", "depends on %smid.*a folded grid changes")


@pytest.mark.parametrize(
    "text, rule, message",
    [
        (OBJECT, "folded-grids", "uses an mbarrier object, which the next CTA would initialise"),
        (WAITING, "wait-for-other-ctas", "may wait for other CTAs"),
        (OWN_ID, "barrier-ids", "takes its barrier id from a register, so no id is left for the barrier between"),
        (ALL_IDS, "barrier-ids", "the kernel uses all 16 barriers with counts or for reductions"),
        (LAST_LANES, "warp-instruction-after-exit", "would wait for lanes that may have ended the kernel"),
        (STACK, "folded-grids", "changes the stack, which would grow with each CTA"),
    ],
)
def test_what_cannot_be_folded(text: str, rule: str, message: str) -> None:
    _refused(text, rule, message)


def _refused(text: str, rule: str, message: str) -> None:
    with pytest.raises(CannotWeave, match=message) as caught:
        fuse(text, "registers", shapes=[Shape(4, 64), Shape(4, 64)])
    assert caught.value.rule == rule


def test_clusters_are_refused() -> None:
    shapes = [Shape(4, 64, cluster=(2,)), Shape(4, 64, cluster=(2,))]
    with pytest.raises(CannotWeave) as caught:
        fuse("registers", "registers", shapes=shapes)
    assert caught.value.rule == "cluster-shape"


# registers that move ------------------------------------------------------------------------------------------


def moving(first: int, second: int, arch: str = "sm_90a", **options: Any) -> Woven:
    shapes = [Shape(5, 128), Shape(9, 128)]
    return fuse("leaving", "tiled", shapes=shapes, arch=arch, role_registers=(first, second), ctas=2, **options)


def test_registers_move_before_any_thread_ends() -> None:
    woven = moving(184, 72)
    assert lines(woven, ".maxnreg") == [".maxnreg 128"] and woven.max_registers == 128
    text = woven.ptx
    for way in ("inc.sync.aligned.u32 184;", "dec.sync.aligned.u32 72;"):
        (place,) = [i for i, line in enumerate(text.splitlines()) if f"setmaxnreg.{way}" in line]
        before = text.splitlines()[place - 1]
        assert "bra.uni" in before, "the guard that divides the warps among the kernels, and nothing else"
    assert any("128 at entry, then A 184, B 72" in note for note in woven.report.notes)
    same(("leaving", "tiled"), [Shape(5, 128), Shape(9, 128)], woven)


def test_equal_registers_are_not_moved() -> None:
    woven = moving(96, 96)
    assert not lines(woven, "setmaxnreg") and lines(woven, ".maxnreg") == [".maxnreg 96"]


def test_other_targets_get_a_cap() -> None:
    woven = moving(184, 72, arch="sm_90")
    assert not lines(woven, "setmaxnreg") and lines(woven, ".maxnreg") == [".maxnreg 128"]
    assert any("at most 128, for the target cannot move them" in note for note in woven.report.notes)


def test_sums_that_do_not_come_out_even() -> None:
    shapes = [Shape(5, 256), Shape(9, 128)]
    woven = fuse("tiled", "tiled", shapes=shapes, arch="sm_90a", role_registers=(160, 40), ctas=2)
    assert lines(woven, ".maxnreg") == [".maxnreg 120"]  # (2 * 160 + 40) / 3
    same(("tiled", "tiled"), shapes, woven)


def test_a_cap_would_take_what_others_wait_for() -> None:
    with pytest.raises(InputError, match="moves registers"):
        moving(184, 72).capped(64)
    with pytest.raises(InputError, match="moves registers"):
        moving(184, 72).cubin(64)


POOL = f"""{SM_90A}.visible .entry k() .reqntid 256 .maxnreg 128 {{
    .reg .pred %p; .reg .u32 %r; mov.u32 %r, %tid.x; setp.ge.u32 %p, %r, 128; @%p bra OTHER;
    setmaxnreg.inc.sync.aligned.u32 184; ret;
    OTHER: setmaxnreg.dec.sync.aligned.u32 72; ret; }}"""


def test_the_emulator_counts_registers() -> None:
    goptx.emulate(POOL, 2, 256, [])
    with pytest.raises(EmulationFault, match=r"registers, and begin with 32768: one waits for ever") as caught:
        goptx.emulate(POOL.replace("u32 72", "u32 80"), 2, 256, [])
    assert caught.value.kind == "deadlock"
    with pytest.raises(EmulationFault, match="gives up registers, but it has fewer"):
        goptx.emulate(POOL.replace("u32 72", "u32 136"), 2, 256, [])
    with pytest.raises(EmulationFault, match="not a multiple of 8"):
        goptx.emulate(POOL.replace("u32 72", "u32 70"), 2, 256, [])


# requests that make no sense ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options, message",
    [
        ({"fold": "dynamic"}, "fold `dynamic` is unknown; expected one of static, chunk, ticket"),
        ({"fold": None, "ctas": 3}, "ctas=3 is an option of folded grids"),
        ({"fold": None, "role_registers": (8, 8)}, "role_registers=.* is an option of folded grids"),
        ({"placement": "front"}, 'placement="front" says where .* and fold="static" says it, too'),
        ({"ctas": 0}, "ctas=0 is not a number of CTAs"),
        ({"ctas": True}, "ctas=True is not a number of CTAs"),
        ({"role_registers": (184,)}, "takes a number of registers for each of the 2 kernels"),
        ({"role_registers": (184, 70)}, "70 is not a multiple of 8 from 24 to 256"),
        ({"role_registers": (184, 16)}, "16 is not a multiple of 8 from 24 to 256"),
        ({"role_registers": (184, 72)}, "whole warpgroups of 128 threads, but kernel A has 64"),
    ],
)
def test_wrong_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        fuse("tiled", "tiled", shapes=[Shape(4, 64), Shape(4, 64)], **options)


def test_grids_that_are_too_large() -> None:
    with pytest.raises(InputError, match=r"grids of up to 2147483647 CTAs are folded; kernel A has 4294967294"):
        fuse("tiled", "tiled", shapes=[Shape((2**31 - 1, 2), 64), Shape(4, 64)])


def test_more_registers_than_an_sm_has() -> None:
    shapes = [Shape(4, 512), Shape(4, 512)]
    with pytest.raises(InputError, match="an SM has 65536"):
        fuse("tiled", "tiled", shapes=shapes, role_registers=(184, 72))


def test_the_default_fills_the_gpu() -> None:
    shapes = [Shape(4000, 128), Shape(9000, 128)]
    woven = fuse("registers", "tiled", shapes=shapes, arch="sm_90a", role_registers=(184, 72))
    assert woven.shape and woven.shape.ctas == 132 * 2  # 65,536 registers for CTAs of 256 threads with 128 each
    few = fuse("registers", "tiled", shapes=shapes)
    assert few.shape and few.shape.ctas and few.shape.ctas % 132 == 0 and few.shape.ctas > 264


@pytest.mark.parametrize("estimated, shared, on_an_sm", [(128, 0, 2), (168, 0, 2), (40, 0, 6), (168, 120 << 10, 1)])
def test_two_ctas_where_only_registers_may_be_too_few(
    estimated: int, shared: int, on_an_sm: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are estimated. Where one CTA fits in fact, the second does its half of the work after it."""
    monkeypatch.setattr(ctas_at_once, "pressure", lambda flow, registers: SimpleNamespace(registers=estimated))
    woven = fuse("registers", "registers", shapes=[Shape(4000, 192), Shape(9000, 64, shared)])
    assert woven.shape and woven.shape.ctas == 132 * on_an_sm
