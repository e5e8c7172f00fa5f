"""horizontal: warps are divided among the kernels; a barrier waits for the warps of its own kernel."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from weaving.compared import LIMIT, alone, lines, outputs, same
from weaving.shaped_kernels import HEAD, KERNELS, STRIDE, kernel, stored
from weaving.waiting_kernels import text

import goptx
from goptx import CannotLink, CannotWeave, InputError, Shape
from goptx.device.assemble import assemble, find_ptxas
from goptx.device.register_bound import register_bound
from goptx.errors import UnknownInstruction
from goptx.results.fused_kernel import Woven
from goptx.tuning.space.partitions import Partitions

Assembles = Callable[[Woven], None]
UNKNOWN = ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p) { frobnicate.sync; ret; }"


def fuse(*names: str, shapes: list[Shape], **options: Any) -> Woven:
    return goptx.fuse(*(KERNELS.get(n, n) for n in names), strategy="horizontal", shapes=shapes, **options)


# what becomes of the kernels ----------------------------------------------------------------------------


def test_barriers_wait_for_the_warps_of_their_kernel() -> None:
    woven = fuse("tiled", "tiled", shapes=[Shape(4, 40), Shape(4, 300)])
    assert woven.shape == Shape(4, 64 + 320) and lines(woven, ".reqntid") == [".reqntid 384, 1, 1"]
    assert set(lines(woven, "bar.sync")) == {"bar.sync 0, 64;", "bar.sync 1, 320;"}
    assert len(lines(woven, "bar.red.popc.u32", ", 1, 320,")) == 1 and not lines(woven, "barrier.")


def test_kernels_are_unchanged_where_barriers_are_uniform() -> None:
    woven = fuse("tiled", "looping", shapes=[Shape(4, 40), Shape(4, 64)])
    assert not lines(woven, "vote") and not lines(woven, "_run0") and woven.report.divergences == ()
    assert len(lines(woven, "ret;")) == 1 and len(lines(woven, "bar.sync")) == 3


def test_threads_that_end_before_a_barrier_live_on() -> None:
    woven = fuse("leaving", "looping", shapes=[Shape(2, 96), Shape(2, 64)])
    assert lines(woven, "%a_run0") and not lines(woven, "%b_run0")
    assert any("threads that end before a CTA-wide barrier arrive there all the same" in n for n in woven.report.notes)
    same(("leaving", "looping"), [Shape(2, 96), Shape(2, 64)], woven)


DIVERGENT = kernel("k", "setp.gt.u32 %p1, %r1, 40; @%p1 bra OVER; bar.sync 0; OVER: st.global.u32 [%rd1], %r1;")


def test_a_barrier_that_some_never_reach() -> None:
    with pytest.raises(
        CannotWeave, match=r"kernel A \(`k`\): the branch decides whether `bar.sync 0;`.*depends on the thread"
    ):
        fuse(DIVERGENT, "tiled", shapes=[Shape(1, 96), Shape(1, 32)])


def test_each_warp_runs_one_kernel() -> None:
    """On the emulator, where instructions are counted by warps."""
    woven = fuse("registers", "looping", shapes=[Shape(2, 64), Shape(2, 512)])
    outs = [outputs(Shape(2, 64)), outputs(Shape(2, 512))]
    done = goptx.emulate(woven, args=[[out, LIMIT] for out in outs])
    one = goptx.emulate(KERNELS["registers"], 2, 64, [outputs(Shape(2, 64)), LIMIT])
    more = 20 * 2 * (2 + 16)  # the dispatch, and the code that computes its registers
    assert sum(done.kernels["A"].instructions.values()) <= sum(one.instructions.values()) + more


def test_numbers_of_warps_begin_at_zero_in_each_kernel() -> None:
    body = kernel("k", "mov.u32 %r30, %warpid; mov.u32 %r31, %tid.x;" + stored(["%r30", "%r31"]))
    shapes = [Shape(1, 96), Shape(1, 64)]
    woven = fuse(body, body, shapes=shapes)
    outs = [outputs(s) for s in shapes]
    goptx.emulate(woven, args=[[out, 0] for out in outs])
    for out in outs:
        found = out.reshape(-1, 24)
        assert found[:, 0].tolist() == [t // 32 for t in range(len(found))]
        assert found[:, 1].tolist() == list(range(len(found)))


def test_named_barriers_get_ids_of_their_own() -> None:
    def named(count: int) -> str:
        return kernel("k", "".join(f"barrier.sync {i}, 64;" for i in range(count)))

    woven = fuse(named(8), named(8), shapes=[Shape(1, 64)] * 2)
    found = [line.split()[1] for line in lines(woven, "barrier.sync")]
    assert found == [f"{i}," for i in range(16)]
    with pytest.raises(CannotWeave, match="together the kernels need more than 16 barriers"):
        fuse(named(8), named(9), shapes=[Shape(1, 64)] * 2)


def test_warpgroups_stay_whole(assembles: Assembles) -> None:
    module = goptx.read(text(names=("warpgroup", "tiled")))

    def made(*entries: str, block: int) -> Woven:
        shapes = [Shape(2, 128 if e == "warpgroup" else block) for e in entries]
        return goptx.fuse(module, module, entries=entries, strategy="horizontal", shapes=shapes)

    assembles(made("tiled", "warpgroup", block=256))
    assembles(made("warpgroup", "tiled", block=96))
    with pytest.raises(CannotWeave, match=r"needs whole warpgroups, but the kernel has 128 threads from thread 96 on"):
        made("tiled", "warpgroup", block=96)


def test_launch_bounds_of_smaller_ctas() -> None:
    bounded = kernel("k", "", bounds=".maxntid 64 .minnctapersm 8")
    woven = fuse(bounded, bounded, shapes=[Shape(2, 64)] * 2)
    assert not lines(woven, ".minnctapersm")
    assert ".minnctapersm speaks of CTAs without the other kernels' warps and is left out" in woven.report.notes


def test_what_is_not_known_is_refused() -> None:
    with pytest.warns(UnknownInstruction, match="frobnicate"):
        module = goptx.read(UNKNOWN)
    with pytest.raises(CannotWeave, match="so it may depend on the warps of other kernels beside its own"):
        goptx.fuse(module, KERNELS["tiled"], strategy="horizontal", shapes=[Shape(1, 32)] * 2)


# partition ----------------------------------------------------------------------------------------------


def test_tunable_kernels_take_other_blocks(assembles: Assembles) -> None:
    data = np.arange(1000, dtype=np.uint32)
    shapes = [Shape(2, 256), Shape(3, 64)]
    woven = fuse(STRIDE, "tiled", shapes=shapes, partition=(96, 64), tunable=[True, False])
    assert woven.shape == Shape(3, 160)
    total, out = np.zeros(1, np.uint32), outputs(shapes[1])
    goptx.emulate(woven, args=[[data, total, len(data)], [out, LIMIT]], races=True)
    assert total[0] == data.sum() and (out == alone(KERNELS["tiled"], shapes[1])).all()
    assembles(woven)


@pytest.mark.parametrize(
    ("partition", "tunable"),
    [
        *((p, (True, True, True)) for p in Partitions([Shape(2, 96)] * 3, [True] * 3, [512]).all()),
        ((384, 512, 128), (True, True, True)),
        ((96, 288, 640), (False, True, True)),
        ((256, 96, 96), (True, False, False)),
    ],
)
def test_three_tunable_kernels(partition: tuple[int, ...], tunable: tuple[bool, ...], assembles: Assembles) -> None:
    """Each sums other data, in a block and a grid of its own."""
    shapes = [Shape(2, 96), Shape(3, 96), Shape(1, 96)]
    woven = fuse(STRIDE, STRIDE, STRIDE, shapes=shapes, partition=partition, tunable=tunable)
    assert woven.shape == Shape(3, sum(partition))
    data = [np.arange(n, dtype=np.uint32) * k for k, n in ((1, 1500), (3, 700), (5, 33))]
    sums = [np.zeros(1, np.uint32) for _ in data]
    goptx.emulate(woven, args=[[d, out, len(d)] for d, out in zip(data, sums, strict=True)], races=True)
    assert [int(out[0]) for out in sums] == [int(d.sum()) for d in data]
    assert lines(woven, "bar.sync") and {f"{k}, {n};" for k, n in enumerate(partition)} == {
        line.split(maxsplit=1)[1] for line in lines(woven, "bar.sync")
    }
    assembles(woven)


def test_the_specification_says_what_is_tunable(tmp_path: Path) -> None:
    (tmp_path / "stride.ptx").write_text(STRIDE)
    (tmp_path / "stride.toml").write_text(
        '[[kernel]]\nfile = "stride.ptx"\nentry = "stride"\ngrid = [2]\nblock = [128]\ntunable = true\n'
        'argument = [{name = "in", dtype = "uint32", length = 500, generator = "integers", range = [0, 9]},\n'
        '{name = "out", dtype = "uint32", length = 1, generator = "zeros", role = "inout"},\n'
        '{name = "n", dtype = "uint32", value = 500}]\n'
    )
    path = tmp_path / "stride.ptx"
    shapes = [Shape(2, 128)] * 2
    assert goptx.fuse(path, path, strategy="horizontal", shapes=shapes, partition=(64, 256)).shape == Shape(2, 320)
    check = goptx.check(path, path, strategy="horizontal", partition=(64, 256))
    assert check and check.block == (320, 1, 1) and check.kernels[0].shape == Shape(2, 64)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"partition": (64, 100)}, r"partition=\(64, 100\): 100 is not a multiple of 32 above 0"),
        ({"partition": (64, 0)}, r"partition=\(64, 0\): 0 is not a multiple of 32"),
        ({"partition": (64, 32.0)}, "32.0 is not a multiple of 32"),
        ({"partition": (64,)}, r"partition=\(64,\) takes a number of threads for each of the 2 kernels"),
        ({"partition": 64}, "partition=64 takes a number of threads"),
        ({"partition": (64, 32, 32)}, "partition=.* takes a number of threads for each of the 2 kernels"),
        ({"partition": (512, 544)}, r"partition=\(512, 544\) comes to 1056 threads; a CTA has at most 1024"),
        (
            {"partition": (64, 96)},
            r"gives kernel B 96 threads, but it is launched with 40 \(4:40\).*declared so by tunable=",
        ),
        ({"partition": (64, 96), "tunable": [True, False]}, "gives kernel B 96 threads"),
        ({"partition": (64, 96), "tunable": [True]}, r"tunable=\[True\] takes True or False for each of the 2 kernels"),
        ({"tunable": [True]}, r"tunable=\[True\] takes True or False for each of the 2 kernels"),
        ({"partition": (64, 96), "tunable": True}, "tunable=True takes True or False for each"),
        (
            {"shapes": [Shape(4, 64), Shape(4, (10, 4))], "partition": (64, 96), "tunable": [True] * 2},
            r"gives kernel B 96 threads, but .* along its last axis only: 4:10x4 takes whole rows of 10",
        ),
        (
            {"shapes": [Shape(4, 800), Shape(4, 400)]},
            r"partition=\(800, 416\) comes to 1216 threads; a CTA has at most",
        ),
        (
            {"shapes": [Shape(4, 64), Shape(4, None)]},
            r"the block of kernel B is not known \(4:\?x\?x\?\), so it has no warps",
        ),
        ({"shapes": None}, r"strategy horizontal needs the shape of each kernel: shapes=\[goptx.Shape"),
        ({"placement": "back"}, "placement `back` is unknown"),
    ],
)
def test_wrong_partitions(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        fuse("tiled", "leaving", **{"shapes": [Shape(4, 64), Shape(4, 40)], **options})


def test_too_much_shared_memory() -> None:
    large = kernel("k", "st.shared.u32 [all], %r1;", ".shared .align 4 .b8 all[40960];")
    woven = fuse(large, large, shapes=[Shape(1, 32)] * 2)
    assert woven.shape == Shape(1, 64, 40960 * 2)
    with pytest.raises(InputError, match=r"need 307200 bytes of dynamic shared memory; a CTA has at most 232448"):
        fuse(large, large, shapes=[Shape(1, 32, 110 * 1024)] * 2)


def test_too_many_parameters() -> None:
    wide = f"{HEAD}.visible .entry k(.param .align 4 .b8 all[20000]) {{ ret; }}"
    with pytest.raises(CannotLink, match="bytes of parameters"):
        fuse(wide, wide, shapes=[Shape(1, 32)] * 2)


# the register bound -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("threads", "registers", "shared", "expected"),
    [
        ((512, 512), (32, 32), 0, 32),  # two CTAs by their threads: 65536 / (2 * 1024)
        ((896, 128), (20, 60), 0, 32),
        ((128, 128), (64, 128), 0, 64),  # min(8, 4, 8) CTAs
        ((256, 256), (100, 40), 0, 64),  # min(2, 6, 4)
        ((128, 128), (32, 32), 100 * 1024, 128),  # two by shared memory
        ((128, 128), (255, 255), 150 * 1024, None),  # one: 256
        ((256, 768), (255, 255), 0, 64),  # none would fit: one
        ((32, 32), (16, 16), 0, 32),  # 32 CTAs of an SM
        ((96, 64), (40, 40), 0, 32),  # min(17, 25, 12): 34.1
        ((256, 512, 256), (24, 32, 40), 0, 32),  # three kernels: min(10, 4, 6) and two by their 1,024 threads
        ((128, 256, 640), (32, 32, 100), 0, 64),  # min(16, 8, 1)
        ((128, 128, 128, 128), (20, 30, 40, 50), 100 * 1024, 64),  # two by shared memory: 65536 / (2 * 512)
    ],
)
def test_register_bound(
    threads: tuple[int, ...], registers: tuple[int, ...], shared: int, expected: int | None
) -> None:
    assert register_bound(threads, registers, "sm_90", shared) == expected


@pytest.mark.parametrize(("threads", "registers"), [((), ()), ((128,), (32, 32)), ((128, 0), (32, 32))])
def test_register_bound_of_nonsense(threads: tuple[int, ...], registers: tuple[int, ...]) -> None:
    with pytest.raises(InputError, match="give a number above 0 of each for each kernel"):
        register_bound(threads, registers, "sm_90")


@pytest.mark.skipif(find_ptxas() is None, reason="needs ptxas")
def test_the_assembler_respects_the_bound() -> None:
    woven = fuse("tiled", "dynamic", shapes=[Shape(4, 512), Shape(4, 512, 4096)])
    bound = register_bound((512, 512), [assemble(KERNELS[k], entry=k).registers for k in ("tiled", "dynamic")], "sm_90")
    assert bound is not None and woven.resources(bound).registers <= bound
