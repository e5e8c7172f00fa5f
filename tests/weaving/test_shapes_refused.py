"""Code that cannot be right in a launch shape of another kernel is refused by name; bounds are reconciled."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from weaving.compared import lines, same
from weaving.shaped_kernels import HEAD, KERNELS, kernel, stored
from weaving.test_shapes import weave

import goptx
from goptx import CannotLink, CannotWeave, InputError, Shape
from goptx.results.fused_kernel import Woven

Assembles = Callable[[Woven], None]
SEPARATE = "use separate launches"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"shapes": [Shape(1, 1)]}, r"shapes= takes a goptx.Shape for each of the 2 kernels"),
        ({"shapes": [Shape(1, 1)] * 3}, "shapes= takes a goptx.Shape for each of the 2 kernels, as in"),
        ({"shapes": Shape(1, 1)}, "shapes= takes a goptx.Shape for each"),
        ({"shapes": [(1, 1), (2, 2)]}, r"as in shapes=\[goptx.Shape\(grid=1024, block=256\)"),
        ({"placement": "back"}, "placement `back` is unknown; expected one of spread, front"),
    ],
)
def test_arguments_that_make_no_sense(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        goptx.weave(KERNELS["tiled"], KERNELS["leaving"], **options)


def through_a_function(register: str) -> str:
    """A kernel that reads a special register in a device function."""
    function = f".func (.param .b32 r) f() {{ .reg .b32 %r1; mov.u32 %r1, {register}; st.param.b32 [r], %r1; ret; }}"
    call = "{ .param .b32 q; call (q), f, (); ld.param.b32 %r1, [q]; }"
    return f"{HEAD}{function}\n.visible .entry k() {{ .reg .b32 %r1; {call} ret; }}"


# bounds -------------------------------------------------------------------------------------------------


def bounded(bounds: str, body: str = "") -> str:
    return kernel("k", body, bounds=bounds)


@pytest.mark.parametrize(
    ("bounds", "shape"),
    [
        (".reqntid 64", Shape(4, 32)),
        (".reqntid 8, 8", Shape(4, 64)),
        (".reqntid 8, 8", Shape(4, (8, None, 2))),
        (".maxntid 64, 1, 1", Shape(4, 65)),
        (".reqnctapercluster 2", Shape(4, 32, 0, 4)),
    ],
)
def test_a_shape_that_contradicts_the_kernel(bounds: str, shape: Shape) -> None:
    with pytest.raises(InputError) as caught:
        weave("tiled", bounded(bounds), Shape(4, 32), shape)
    assert re.match(
        rf"<ptx>:\d+: kernel B \(`k`\): `{bounds}` contradicts the shape {re.escape(str(shape))}", str(caught.value)
    )


@pytest.mark.parametrize(
    ("bounds", "shapes", "expected"),
    [
        (("", ""), (Shape(4, 64), Shape(4, 32)), [".reqntid 64, 1, 1"]),
        ((".reqntid 8, 8", ""), (Shape(4, (8, 8)), Shape(4, 64)), [".reqntid 8, 8, 1"]),
        ((".reqntid 8, 8", ".reqntid 64"), (Shape(4, None), Shape(4, (None, None))), [".reqntid 8, 8, 1"]),
        ((".maxntid 512", ".maxntid 128"), (Shape(4, 256), Shape(4, 128)), [".reqntid 256, 1, 1"]),
        ((".maxntid 16, 8", ".reqntid 32"), (Shape(4, None), Shape(4, None)), [".maxntid 128, 1, 1"]),
        ((".maxntid 128", ""), (Shape(4, None), Shape(4, None)), []),
        (
            (".maxntid 64 .minnctapersm 3", ".maxntid 64 .minnctapersm 2"),
            (Shape(4, 64), Shape(4, 32)),
            [".reqntid 64, 1, 1", ".minnctapersm 2"],
        ),
        ((".maxntid 64 .maxnreg 40", ""), (Shape(4, 64), Shape(4, 32)), [".reqntid 64, 1, 1"]),
    ],
)
def test_bounds_of_the_woven_kernel(
    bounds: tuple[str, str], shapes: tuple[Shape, Shape], expected: list[str], assembles: Assembles
) -> None:
    woven = weave(bounded(bounds[0]), bounded(bounds[1]).replace("k_", "j_").replace(" k(", " j("), *shapes)
    assert [str(d) for d in woven.module.entries[0].directives] == expected
    assert ("maxnreg" in str(bounds)) == any("maxnreg" in note for note in woven.report.notes)
    assembles(woven)


def test_without_shapes_kernels_that_require_other_blocks_are_refused() -> None:
    with pytest.raises(CannotWeave, match=r"requires 64x1x1 and .* kernels share one block unless .*--shape"):
        goptx.weave(bounded(".reqntid 64"), bounded(".reqntid 32"))
    with pytest.raises(CannotWeave, match=r"requires \(64, 1, 1\) threads, kernel B allows .*--shape"):
        goptx.weave(bounded(".reqntid 64"), bounded(".maxntid 32"))


# clusters -----------------------------------------------------------------------------------------------

PLACE = "mov.u32 %r30, %cluster_ctarank; mov.u32 %r31, %clusterid.x;" + stored(["%r30", "%r31"])


def test_clusters_that_agree_stay(assembles: Assembles) -> None:
    shapes = Shape((4, 6), 64, 0, (2, 3)), Shape((4, 6), 32, 0, (2, 3))
    woven = weave(bounded("", PLACE), "tiled", *shapes)
    assert woven.shape == Shape((4, 6), 64, 0, (2, 3))
    assert lines(woven, "ncta") == [".reqnctapercluster 2, 3, 1"]
    assembles(woven)
    stated = ".reqnctapercluster 2, 3, 1"
    assert weave(bounded(stated, PLACE), "tiled", Shape((4, 6), 64), shapes[1]).shape == woven.shape


def test_no_clusters_are_a_cluster_of_one_cta() -> None:
    same((text := bounded("", PLACE), "tiled"), shapes := (Shape(3, 64), Shape(3, 32)), weave(text, "tiled", *shapes))


@pytest.mark.parametrize(
    ("bounds", "shapes"),
    [
        ("", (Shape(4, 64, 0, 2), Shape(4, 64))),
        ("", (Shape(4, 64, 0, 2), Shape(4, 64, 0, 4))),
        (".reqnctapercluster 2", (Shape(4, 64), Shape(4, 64))),
        ("", (Shape(4, 64, 0, 2), Shape(8, 64, 0, 2))),
        ("", (Shape(None, 64, 0, 2), Shape(None, 64, 0, 2))),
    ],
)
def test_clusters_that_do_not_agree(bounds: str, shapes: tuple[Shape, Shape]) -> None:
    with pytest.raises(CannotWeave, match=rf"kernel A .*: clusters of \(2,\) CTAs can be kept only where.*{SEPARATE}"):
        weave(bounded(bounds), "tiled", *shapes)


@pytest.mark.parametrize("shapes", [(Shape(4, 64), Shape(8, 64)), (Shape(None, 64), Shape(None, 64))])
def test_the_place_in_a_cluster_is_not_a_place_in_another_grid(shapes: tuple[Shape, Shape]) -> None:
    for text in (bounded("", PLACE), through_a_function("%cluster_ctarank")):
        with pytest.raises(CannotWeave, match=rf"kernel A .*: %cluster\w+ can be kept only where.*{SEPARATE}"):
            weave(text, "tiled", *shapes)
    with pytest.raises(CannotWeave, match="depends on the cluster, whose shape is not known"):
        goptx.weave(bounded("", PLACE), KERNELS["tiled"])


def test_cluster_barriers_need_all_threads(assembles: Assembles) -> None:
    waits = bounded("", "barrier.cluster.arrive; barrier.cluster.wait;")
    assembles(weave(waits, "tiled", Shape(4, 64, 0, 2), Shape(4, 64, 0, 2)))
    for threads in (96, 70):
        with pytest.raises(CannotWeave, match=r"`barrier.cluster.arrive;` waits for all threads of the cluster"):
            weave(waits, "tiled", Shape(4, 64, 0, 2), Shape(4, threads, 0, 2))
    with pytest.raises(CannotWeave, match="depends on the cluster, whose shape is not known"):
        weave(waits, "tiled", Shape(4, 64), Shape(4, 64))


def test_warpgroups_are_not_split() -> None:
    fence = bounded("", "wgmma.fence.sync.aligned;").replace("sm_90", "sm_90a")
    tiled = KERNELS["tiled"].replace("sm_90", "sm_90a")
    goptx.weave(fence, tiled, shapes=[Shape(4, 256), Shape(4, 128)])
    with pytest.raises(CannotWeave, match=r"`wgmma.fence.sync.aligned;` needs whole warpgroups, and kernel B"):
        goptx.weave(fence, tiled, shapes=[Shape(4, 256), Shape(4, 64)])


# what takes whole warps, an SM, or another CTA ----------------------------------------------------------

WHOLE = "mma.sync.aligned.m8n8k16.row.col.s32.u8.u8.s32 {%r30, %r31}, {%r10}, {%r11}, {0, 0};"


def test_tensor_instructions_need_whole_warps(assembles: Assembles) -> None:
    assembles(weave(bounded("", WHOLE), "tiled", Shape(4, 64), Shape(4, 256)))
    assembles(weave(bounded("", WHOLE), "tiled", Shape(4, 48), Shape(4, 48)))  # as in the kernel alone
    for shape in (Shape(4, 48), Shape(4, None)):
        with pytest.raises(CannotWeave, match=rf"kernel A .*`mma\.sync.*` needs whole warps.*{SEPARATE}"):
            weave(bounded("", WHOLE), "tiled", shape, Shape(4, 64))


BY_SM = "mov.u32 %r30, %smid; add.u32 %r31, %r30, 1; mul.wide.u32 %rd3, %r31, 4; add.s64 %rd3, %rd3, %rd1;"


def test_an_address_by_sm_is_refused_in_another_grid() -> None:
    access = "red.global.add.u32 [%rd3], 1;"
    weave(bounded("", BY_SM + access), "tiled", Shape(4, 64), Shape(4, 32))
    weave(
        bounded("", BY_SM + "st.global.u64 [%rd1], %rd3;"), "tiled", Shape(4, 64), Shape(8, 32)
    )  # a value, no address
    for shape in (Shape(8, 64), Shape(None, 64)):
        with pytest.raises(CannotWeave, match=rf"kernel A .*`{re.escape(access)}` may have .* on %smid.*{SEPARATE}"):
            weave(bounded("", BY_SM + access), "tiled", Shape(4, 64), shape)


def test_a_function_that_reads_the_sm_is_refused_in_another_grid() -> None:
    text = through_a_function("%smid")
    weave(text, "tiled", Shape(8, 64), Shape(4, 64))
    with pytest.raises(CannotWeave, match=rf"kernel A .*the device function `f` may have .*%smid.*{SEPARATE}"):
        weave(text, "tiled", Shape(4, 64), Shape(8, 64))


@pytest.mark.parametrize("placement", ["spread", "front"])
def test_a_kernel_that_waits_for_other_ctas_is_refused_in_any_placement(placement: str) -> None:
    spin = "SPIN: ld.acquire.gpu.global.u32 %r30, [%rd1]; setp.eq.u32 %p1, %r30, 0; @%p1 bra SPIN;"
    with pytest.raises(CannotWeave, match=rf"may wait for other CTAs.*{SEPARATE}"):
        weave(bounded("", spin), "tiled", Shape(4, 64), Shape(8, 64), placement=placement)


def test_what_tells_of_the_woven_kernel_as_a_whole() -> None:
    with pytest.raises(CannotWeave, match=r"kernel A .*%aggr_smem_size counts .*; use %total_smem_size"):
        weave(bounded("", "mov.u32 %r30, %aggr_smem_size;"), "tiled", Shape(4, 64), Shape(4, 64))


def test_special_registers_of_two_kinds_in_one_vector() -> None:
    together = "mov.b64 %rd3, {%clock, %ctaid.x};"
    with pytest.raises(
        CannotWeave, match=r"<ptx>:\d+: kernel A .*reads several special registers at once; read each by"
    ):
        weave(bounded("", together), "tiled", Shape(4, 64), Shape(8, 64))


def test_a_loaded_branch_around_a_barrier_needs_whole_warps() -> None:
    """Lanes that the kernel lacks load nothing, so they could not branch as the others to a barrier."""
    loaded = "ld.param.u64 %rd5, [k_out]; ld.global.u32 %r30, [%rd5]; setp.eq.u32 %p1, %r30, 0; @%p1 bra PAST;"
    loaded += "bar.sync 0; PAST: add.u32 %r1, %r1, 1;"
    weave(bounded("", loaded), "tiled", Shape(4, 32), Shape(4, 64))
    with pytest.raises(
        CannotWeave, match=r"kernel A .*the branch decides whether `bar.sync 0;` .* none of the kernel's, and have"
    ):
        weave(bounded("", loaded), "tiled", Shape(4, 33), Shape(4, 64))


# sizes --------------------------------------------------------------------------------------------------


def test_grids_that_differ_are_counted_in_32_bits() -> None:
    large = Shape((1 << 20, 1 << 10), 32), Shape((1 << 20, 1 << 11), 32)
    weave("looping", "looping", large[0], Shape(4, 32))
    weave("looping", "looping", large[1], large[1])
    with pytest.raises(
        InputError, match="grids that differ are woven up to 2147483647 CTAs; this one would have 2147483648"
    ):
        weave("looping", "looping", *large)


def test_hidden_parameters_count_among_the_others() -> None:
    text = kernel("k", "").replace(".param .u32 k_n", ".param .u32 k_n, .param .align 4 .b8 big[32700]")
    weave(text, "tiled", Shape(4, 32), Shape(4, 32))
    with pytest.raises(CannotLink, match="bytes of parameters"):
        weave(text, "tiled", Shape(None, None, None), Shape(None, None, None))


@pytest.mark.parametrize("letter", ["A", "B"])
@pytest.mark.parametrize("register", ["%total_smem_size", "%aggr_smem_size", "%dynamic_smem_size"])
def test_sizes_of_shared_memory_without_shapes(register: str, letter: str) -> None:
    reading = bounded("", f"mov.u32 %r30, {register};")
    more = ".extern .shared .align 16 .b8 more[];"
    having = kernel("o", "mov.u32 %r30, more; ld.shared.u32 %r30, [%r30];", functions=more)
    both = (reading, having) if letter == "A" else (having, reading)
    with pytest.raises(CannotWeave, match=rf"kernel {letter} .*{register} would count .*; give the shapes"):
        goptx.weave(*both)
    goptx.weave(reading, kernel("o", "mov.u32 %r30, 1;"))
