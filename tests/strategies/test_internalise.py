"""Temporaries in registers, and inputs loaded once: compared with the kernels alone on the emulator, or refused."""

from typing import Any

import numpy as np
import pytest
from strategies.dependent_kernels import elementwise, strided

import goptx
from goptx.errors import CannotWeave, InputError

SAME_BOUNDS = [("A:3", "B:3")]
FORWARDED = [("A:2", "B:0")]
N = 100


def fused(*sources: str, **options: Any) -> goptx.Woven:
    return goptx.fuse(*sources, strategy="vertical", **options)


def run_both(sources: tuple[str, str], woven: goptx.Woven, grid: int = 4, block: int = 32) -> None:
    """B reads what A writes; compares what B writes."""
    rng = np.random.default_rng(0)
    x, y, z = (rng.random(N, dtype=np.float32) for _ in range(3))
    between, alone, together = (np.zeros(N, np.float32) for _ in range(3))
    goptx.emulate(sources[0], grid, block, [x, y, between, N])
    goptx.emulate(sources[1], grid, block, [between, z, alone, N])
    goptx.emulate(woven, grid, block, [[x, y, None, N], [None, z, together, N]])
    assert (alone.view(np.uint32) == together.view(np.uint32)).all()
    assert alone.any()


def accesses(woven: goptx.Woven) -> int:
    return sum(word.startswith(("ld.global", "st.global")) for word in woven.ptx.split())


@pytest.mark.parametrize("form", [elementwise, strided])
@pytest.mark.parametrize("divergence", [None, "park", "predicate"])
def test_a_temporary_is_placed_in_registers(form: Any, divergence: Any) -> None:
    if (form, divergence) == (strided, "park"):
        pytest.skip("parted lanes are not fused, see below")
    sources = form("mul.f32"), form("sub.f32")
    woven = fused(*sources, private=FORWARDED, same=SAME_BOUNDS, divergence=divergence)
    run_both(sources, woven)
    assert accesses(woven) == 4
    assert [p.name for p in woven.params if p.instead is None and p.original in ("x", "out")] == [
        p.name for p in woven.params if (p.kernel, p.original) in (("A", "x"), ("B", "out"))
    ]
    assert not any(p.name in woven.ptx for p in woven.params if p.instead is not None)
    assert woven.resources().registers


@pytest.mark.parametrize("shapes", [None, [goptx.Shape(4, 32)] * 4], ids=["unknown", "known"])
def test_loops_of_several_kernels_run_as_one(shapes: Any) -> None:
    woven = fused(*[strided()] * 4, private=[("A:2", "B:0"), ("B:2", "C:0"), "C:2=D:0"],
                  same=[("A:3", "B:3"), ("B:3", "C:3"), ("C:3", "D:3")], shapes=shapes)  # fmt: skip
    assert accesses(woven) == 6
    assert woven.ptx.count("bra") == 1


def test_loops_of_different_trip_counts_are_not_fused() -> None:
    with pytest.raises(
        CannotWeave, match=r"kernel B.*A:2 \(out\), B:0 \(x\).*not proved to be equal.*go round equally"
    ):
        fused(strided(), strided(), private=FORWARDED)


def test_a_loop_that_writes_one_element_again_and_again_is_refused() -> None:
    again = strided(step="sub.u32 %r7, %r6, %r6;")
    with pytest.raises(CannotWeave, match="not proved to be"):
        fused(again, again, private=FORWARDED, same=SAME_BOUNDS)


def test_inputs_in_common_are_loaded_once() -> None:
    sources = elementwise("mul.f32"), elementwise("sub.f32")
    woven = fused(*sources, same=[("A:0", "B:0"), ("A:1", "B:1"), *SAME_BOUNDS])
    assert accesses(woven) == 4
    rng = np.random.default_rng(0)
    x, y = (rng.random(N, dtype=np.float32) for _ in range(2))
    product, difference = np.zeros(N, np.float32), np.zeros(N, np.float32)
    goptx.emulate(woven, 4, 32, [[x, y, product, N], [x, y, difference, N]])
    assert (product == x * y).all()
    assert (difference == x - y).all()


def test_inputs_are_loaded_again_where_the_first_load_may_not_have_run() -> None:
    assert accesses(fused(elementwise(), elementwise(), same=[("A:0", "B:0")])) == 6


def test_arguments_of_one_parameter_have_to_be_equal() -> None:
    woven = fused(elementwise(), elementwise(), same=[("A:0", "B:0"), *SAME_BOUNDS])
    x, out = np.ones(N, np.float32), np.ones(N, np.float32)
    with pytest.raises(InputError, match=r"A:0 \(x\) and B:0 \(x\) are one parameter .* different arguments"):
        goptx.emulate(woven, 4, 32, [[x, x, out, N], [x.copy(), x, out.copy(), N]])


@pytest.mark.parametrize(("type_", "dtype"), [("u8", np.uint8), ("s8", np.int8), ("u16", np.uint16), ("b16", np.int16)])
def test_narrow_elements_are_widened_as_a_load_does(type_: str, dtype: Any) -> None:
    size = np.dtype(dtype).itemsize

    def narrow(compute: str, ending: str) -> str:
        text = elementwise().replace(", 4;", f", {size};").replace("ld.global.f32 %f2, [%rd6];", "")
        text = text.replace("ld.global.f32 %f1", f"ld.global.{type_} %r8").replace("add.f32 %f3, %f1, %f2;", compute)
        return text.replace("st.global.f32 [%rd7], %f3", f"st.global.{ending} [%rd7], %r9")

    sources = (
        narrow("mul.lo.u32 %r9, %r8, 77;", type_.replace("s", "u")),
        narrow("add.u32 %r9, %r8, 1000;", "u32").replace(f"%rd8, %r4, {size}", "%rd8, %r4, 4"),
    )
    woven = fused(*sources, private=FORWARDED, same=SAME_BOUNDS)
    x = np.arange(N).astype(dtype)
    between, alone, together = np.zeros(N, dtype), np.zeros(N, np.uint32), np.zeros(N, np.uint32)
    goptx.emulate(sources[0], 4, 32, [x, 0, between, N])
    goptx.emulate(sources[1], 4, 32, [between, 0, alone, N])
    goptx.emulate(woven, 4, 32, [[x, 0, 0, N], [0, 0, together, N]])
    assert (alone == together).all()
    assert woven.resources().registers


VANISHED = (
    "takes the address of the private buffer .* for something else than its loads and stores, so it cannot vanish"
)
PAIR_LOAD = elementwise().replace("ld.global.f32 %f1", "ld.global.v2.f32 {%f1, %f4}")


@pytest.mark.parametrize(
    ("first", "second", "options", "message"),
    [
        (elementwise(), elementwise(read="%r3"), {}, r"kernel B .*reads the private buffer .*not proved to be equal"),
        (elementwise(), elementwise(), {"same": ()}, r"does not imply that .*kernel A .* has written it.*same="),
        (elementwise(), elementwise(guard=""), {}, r"kernel B .* if `?always`?, which does not imply"),
        (elementwise(), PAIR_LOAD, {}, r"reads 2 elements of 4 bytes .* writes 1 of 4: the widths differ"),
        (elementwise(), elementwise(load="ld.volatile.global.f32"), {}, "not a plain load or store"),
        (elementwise(store="red.global.add.f32"), elementwise(), {}, "not a plain load or store"),
        (elementwise(before="st.global.u64 [%rd2], %rd3;"), elementwise(), {}, VANISHED),
        (elementwise(), elementwise(before="setp.eq.s64 %p3, %rd1, 0; @%p3 trap;"), {}, VANISHED),
    ],
    ids=["address", "bound", "guard", "width", "volatile", "atomic", "stored", "compared"],
)  # fmt: skip
def test_what_cannot_be_placed_in_registers_is_refused(first: str, second: str, options: Any, message: str) -> None:
    with pytest.raises(CannotWeave, match=message):
        fused(first, second, **{"private": FORWARDED, "same": SAME_BOUNDS, **options})


def test_a_temporary_that_is_read_first_is_refused() -> None:
    with pytest.raises(CannotWeave, match=r"kernel A .*before anything is written to it"):
        fused(elementwise(), elementwise(), private=[("A:0", "B:2")], same=SAME_BOUNDS)


def test_a_temporary_that_nobody_writes_is_refused() -> None:
    with pytest.raises(CannotWeave, match="no kernel writes the private buffer A:0"):
        fused(elementwise(), elementwise(), private=[("A:0", "B:0")])


def test_an_element_that_another_thread_may_write_meanwhile_is_refused() -> None:
    shifted = elementwise(before="add.s32 %r8, %r4, 1;", write="%r8")
    sources = elementwise(), shifted, elementwise()
    pairs = [("A:2", "B:2"), ("A:2", "C:0")]
    with pytest.raises(CannotWeave, match=r"not proved to be an element of this thread alone|elements .* overlap"):
        fused(*sources, private=pairs, same=[("A:3", "B:3"), ("A:3", "C:3")])


def test_elements_side_by_side_are_a_threads_own() -> None:
    """Two stores and two loads at the two halves of 8 bytes."""
    writer = elementwise().replace("mul.wide.s32 %rd8, %r4, 4", "mul.wide.s32 %rd8, %r4, 8")
    writer = writer.replace("st.global.f32 [%rd7], %f3;", "st.global.f32 [%rd7], %f3; st.global.f32 [%rd7+4], %f1;")
    reader = elementwise().replace("mul.wide.s32 %rd4, %r4, 4", "mul.wide.s32 %rd4, %r4, 8")
    reader = reader.replace("ld.global.f32 %f2, [%rd6];", "ld.global.f32 %f2, [%rd5+4];")
    woven = fused(writer, reader, private=FORWARDED, same=SAME_BOUNDS)
    x, y, out = np.arange(N, dtype=np.float32), np.ones(N, np.float32), np.zeros(N, np.float32)
    goptx.emulate(woven, 4, 32, [[x, y, None, N], [None, y, out, N]])
    assert (out == 2 * x + 1).all()
    with pytest.raises(InputError, match="along x only"):
        goptx.emulate(woven, 4, (8, 4), [[x, y, None, N], [None, y, out, N]])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"private": [("A:9", "B:0")]}, r"private `A:9`: kernel A \(`k`\) has no such parameter; it has 0 \(x\)"),
        ({"private": [("A:t", "B:0")]}, "private `A:t`: kernel A .* has no such parameter"),
        ({"same": [("C:0", "B:0")]}, "same `C:0`: write the kernel's letter"),
        ({"private": ["A:2"]}, "private= takes pairs"),
        ({"same": [("A:2", "B:3")]}, "parameters of 8 and of 4 bytes cannot be one"),
        ({"private": [("A:3", "B:3")]}, "these are not pointers"),
        ({"private": [("A:2", "A:out")]}, "is one parameter; name it and that of another kernel"),
        ({"private": [("A:2", "B:0")], "local": [("A:2", "B:0")]}, "either private or local"),
    ],
)
def test_what_makes_no_sense(options: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        fused(elementwise(), elementwise(), **options)


def test_a_kernel_in_place_is_still_compared_with_the_other() -> None:
    woven = fused(elementwise(), elementwise(), same=[("A:0", "B:0"), *SAME_BOUNDS])
    x, out = np.ones(N, np.float32), np.zeros(N, np.float32)
    with pytest.raises(goptx.DependentKernels, match=r"A:2 \(out\) is written, B:0 \(x\) is read"):
        goptx.emulate(woven, 4, 32, [[x, x, x, N], [x, x, out, N]])


def test_a_kernels_own_loads_stay_since_it_may_write_between_them() -> None:
    twice = elementwise(before="mul.wide.s32 %rd9, %r4, 4; add.s64 %rd9, %rd1, %rd9; ld.global.f32 %f5, [%rd9];")
    assert accesses(fused(twice, elementwise(), same=[("A:0", "B:0"), *SAME_BOUNDS])) == 6


ACQUIRES = (
    "ld.acquire.sys.global.u32 %r9, [%rd2];",
    "@%p1 atom.acquire.gpu.global.exch.b32 %r9, [%rd2], 0;",
    "fence.acq_rel.sys;",
    "membar.gl;",
)


@pytest.mark.parametrize("acquire", ACQUIRES)
def test_inputs_are_loaded_again_after_an_acquire(acquire: str) -> None:
    """The host, for example, may have written them meanwhile."""
    options = {"same": [("A:0", "B:0"), *SAME_BOUNDS]}
    after = elementwise().replace("st.global.f32 [%rd7]", f"{acquire} st.global.f32 [%rd7]")
    assert accesses(fused(elementwise(), elementwise(before=acquire), **options)) == 6
    assert accesses(fused(after, elementwise(), **options)) == 6
    assert accesses(fused(elementwise(), after, **options)) == 5
    assert accesses(fused(elementwise(before=acquire), elementwise(), **options)) == 5


def test_inputs_are_loaded_again_after_an_acquire_in_each_iteration() -> None:
    options = {"same": [("A:0", "B:0"), *SAME_BOUNDS]}
    first, last = (strided().replace(at, at + "membar.gl;") for at in ("LOOP:", "st.global.f32 [%rd7], %f3;"))
    assert accesses(fused(first, strided(), **options)) == 5
    assert accesses(fused(strided(), last, **options)) == 5
    assert accesses(fused(last, strided(), **options)) == 6
    assert accesses(fused(strided(), first, **options)) == 6


def test_barriers_acquire_nothing_from_outside_the_kernels() -> None:
    """But it passes on what another thread acquires from anywhere."""
    options = {"same": [("A:0", "B:0"), *SAME_BOUNDS]}
    meets = elementwise(before="bar.sync 0; bar.warp.sync -1;")
    assert accesses(fused(elementwise(), meets, **options)) == 5
    assert accesses(fused(elementwise(before="membar.sys;"), meets, **options)) == 6


@pytest.mark.parametrize(
    ("inside", "loads"), [("add.u32 %r1, %r1, 1;", 5), ("fence.acq_rel.sys;", 6), ("call inner;", 6)]
)
def test_a_function_that_acquires_does_so_for_its_caller(inside: str, loads: int) -> None:
    functions = """
        .func inner() { .reg .b32 %r<4>; .reg .b64 %rd<4>; mov.u64 %rd1, 0; ld.acquire.sys.u32 %r1, [%rd1]; ret; }
        .func outer() { .reg .b32 %r<4>; mov.u32 %r1, 0; INSIDE ret; }
        .visible .entry""".replace("INSIDE", inside)
    caller = elementwise(before="call outer;").replace(".visible .entry", functions)
    assert accesses(fused(elementwise(), caller, same=[("A:0", "B:0"), *SAME_BOUNDS])) == loads


@pytest.mark.parametrize("acquire", ACQUIRES)
def test_an_element_that_threads_may_write_in_turn_is_refused(acquire: str) -> None:
    """The last of them, in the order that a lock gives, is what all read afterwards."""
    half = "shr.u32 %r8, %r4, 1;"
    sources = elementwise(before=f"{half} {acquire}", write="%r8"), elementwise(before=half, read="%r8")
    with pytest.raises(CannotWeave, match="not proved to be an element of this thread alone"):
        fused(*sources, private=FORWARDED, same=SAME_BOUNDS)


@pytest.mark.parametrize("store", ["st.release.gpu.global.f32", "st.relaxed.gpu.global.f32", "st.volatile.global.f32"])
def test_what_other_threads_are_to_see_does_not_go_to_registers(store: str) -> None:
    with pytest.raises(CannotWeave, match="is not a plain load or store of the private buffer"):
        fused(elementwise(store=store), elementwise(), private=FORWARDED, same=SAME_BOUNDS)


def test_clocks_are_not_alike() -> None:
    timed = elementwise(before="mov.u32 %r8, %clock; and.b32 %r8, %r8, 1; add.s32 %r9, %r4, %r8;", write="%r9")
    back = elementwise(before="mov.u32 %r8, %clock; and.b32 %r8, %r8, 1; add.s32 %r9, %r4, %r8;", read="%r9")
    with pytest.raises(CannotWeave, match="not proved to be equal"):
        fused(timed, back, private=FORWARDED, same=SAME_BOUNDS)
