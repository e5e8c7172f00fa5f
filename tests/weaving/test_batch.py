"""A loop of launches as one launch with one more axis."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import goptx
from goptx import CannotWeave, DependentKernels, InputError, Shape
from goptx.cli import main
from goptx.emulator.instructions.lanewise import Array
from goptx.options import Axis
from goptx.results.fused_kernel import Woven

Assembles = Callable[[Woven], None]
HEAD = ".version 9.0\n.target sm_90\n.address_size 64\n"
THREADS, GRID, N = 64, 2, 100
TYPES = ["u32", "s32", "u64", "s64"]


def kernel(type_: str = "u32", row: str = "%r1", more: str = "", functions: str = "", store: str = "%rd5") -> str:
    """Writes y[row * n + i] = 3 * x[row * n + i] + k for i < n."""
    wide = type_.endswith("64")
    load = f"ld.param.{type_} %rd6, [k]; cvt.u32.u64 %r1, %rd6;" if wide else f"ld.param.{type_} %r1, [k];"
    return f"""{HEAD}{functions}
.visible .entry scale(.param .u64 x, .param .u64 y, .param .{type_} k, .param .u32 n)
{{
    .reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<20>; .reg .b64 %rd<12>; .reg .v4 .u32 %v;
    ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; {load} ld.param.u32 %r2, [n];
    mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mov.u32 %r5, %tid.x; mad.lo.u32 %r6, %r3, %r4, %r5;
    setp.ge.u32 %p1, %r6, %r2; @%p1 bra done;
    {more}
    mad.lo.u32 %r7, {row}, %r2, %r6; mul.wide.u32 %rd3, %r7, 4; add.s64 %rd4, %rd1, %rd3; add.s64 %rd5, %rd2, %rd3;
    ld.global.u32 %r8, [%rd4]; mad.lo.u32 %r8, %r8, 3, %r1; st.global.u32 [{store}], %r8;
done:
    ret;
}}
"""


def data() -> tuple[Array, Array]:
    x = np.random.default_rng(1).integers(0, 1000, 20 * N).astype(np.uint32)
    return x, np.zeros_like(x)


def looped(text: str, values: Sequence[int]) -> Array:
    x, y = data()
    for k in values:
        goptx.emulate(text, GRID, THREADS, [x, y, k, N])
    return y


def launched(woven: Woven, grid: tuple[int, ...]) -> Array:
    x, y = data()
    goptx.emulate(woven, grid, THREADS, [[x, y, N]], races=True)
    return y


@pytest.mark.parametrize("type_", TYPES)
@pytest.mark.parametrize("over", ["A:2", "A:k"])
@pytest.mark.parametrize(("start", "step"), [(0, 1), (0, 3), (5, 1), (12, -4)])
def test_one_launch_does_what_the_loop_does(type_: str, over: str, start: int, step: int, assembles: Assembles) -> None:
    text = kernel(type_)
    woven = goptx.batch(text, over, start=start, step=step)
    assert (launched(woven, (GRID, 4)) == looped(text, range(start, start + 4 * step, step))).all()
    assert [(p.kernel, p.original) for p in woven.params] == [("A", "x"), ("A", "y"), ("A", "n")]
    assert woven.strategy == "batch" and woven.name == "scale_batched"
    assembles(woven)


@pytest.mark.parametrize(("axis", "grid"), [("y", (GRID, 4)), ("z", (GRID, 1, 4))])
def test_axes(axis: Axis, grid: tuple[int, ...]) -> None:
    assert (launched(goptx.batch(kernel(), "A:2", axis=axis), grid) == looped(kernel(), range(4))).all()


@pytest.mark.parametrize(("type_", "start", "expected"), [("u32", 3, 3), ("s32", -1, (1 << 64) - 1)])
def test_a_load_into_a_wider_register(type_: str, start: int, expected: int, assembles: Assembles) -> None:
    text = f"""{HEAD}.visible .entry k(.param .u64 out, .param .{type_} k)
    {{ .reg .b32 %r<4>; .reg .b64 %rd<4>; ld.param.u64 %rd1, [out]; ld.param.{type_} %rd2, [k]; mov.u32 %r1, %tid.x;
    add.s64 %rd1, %rd1, 0; st.global.u64 [%rd1], %rd2; ret; }}"""
    woven = goptx.batch(text, "A:1", start=start, independent=True)
    out = np.zeros(1, np.uint64)
    goptx.emulate(woven, 1, 1, [[out]])
    assert out[0] == expected
    assembles(woven)


def test_a_load_under_a_predicate_and_in_a_scope() -> None:
    text = kernel().replace("ld.param.u32 %r1, [k];", "mov.u32 %r1, 0; { @!%p1 ld.param.u32 %r1, [k]; }")
    text = text.replace("mov.u32 %r1, 0;", "setp.eq.u32 %p1, 0, 1; mov.u32 %r1, 0;")
    assert (launched(goptx.batch(text, "A:2"), (GRID, 4)) == looped(text, range(4))).all()


def test_the_kernel_sees_the_grid_that_it_had() -> None:
    text = kernel(more="mov.u32 %r9, %nctaid.y; sub.u32 %r9, %r9, 1; add.u32 %r6, %r6, %r9;")
    assert (launched(goptx.batch(text, "A:2"), (GRID, 4)) == looped(text, range(4))).all()


def test_two_loops() -> None:
    text = kernel(row="%r9", more="ld.param.u32 %r9, [j]; mad.lo.u32 %r9, %r9, 4, %r1;")
    text = text.replace(".param .u32 n)", ".param .u32 n, .param .u32 j)")
    woven = goptx.batch(goptx.batch(text, "A:2", axis="y"), "A:j", axis="z")
    x, y = data()
    for j in range(2):
        for k in range(4):
            goptx.emulate(text, GRID, THREADS, [x, y, k, N, j])
    assert (launched(woven, (GRID, 4, 2)) == y).all()


def test_it_is_one_kernel_among_others(assembles: Assembles) -> None:
    wide = goptx.batch(kernel(), "A:2")
    assert (launched(goptx.coarsen(wide, 2, "y"), (GRID, 5)) == looped(kernel(), range(5))).all()
    woven = goptx.weave(wide, kernel().replace("scale", "other"), shapes=[Shape((GRID, 4), THREADS), Shape(3, 32)])
    (x, y), (u, v) = data(), data()
    goptx.emulate(woven, args=[[x, y, N], [u, v, 7, 80]])
    w = np.zeros_like(v)
    goptx.emulate(kernel(), 3, 32, [u, w, 7, 80])
    assert (y == looped(kernel(), range(4))).all() and (v == w).all() and w.any()
    assembles(woven)


def test_check_takes_it() -> None:
    x, y = data()
    wide = goptx.batch(kernel(), "A:2")
    assert goptx.check(goptx.coarsen(wide, 2), grid=(4, 3), block=32, args={"A:0": x, "A:1": y, "A:2": "i32:100"})


def test_on_the_command_line(tmp_path: Any, capsys: Any) -> None:
    (tmp_path / "a.ptx").write_text(kernel())
    out = tmp_path / "out.ptx"
    options = ["--over", "A:k", "--axis", "z", "--start", "3", "--step", "-1", "-o", str(out)]
    assert main(["batch", str(tmp_path / "a.ptx"), *options]) == 0
    assert out.read_text() == goptx.batch(kernel(), "A:2", "z", 3, -1).text()
    assert main(["batch", str(tmp_path / "a.ptx"), "--over", "A:9"]) == 2
    assert "InputError: over=`A:9` is not a parameter of `scale`" in capsys.readouterr().err
    (tmp_path / "b.ptx").write_text(kernel(row="0"))
    assert main(["batch", str(tmp_path / "b.ptx"), "--over", "A:2", "-o", str(out)]) == 1
    assert main(["batch", str(tmp_path / "b.ptx"), "--over", "A:2", "-o", str(out), "--independent"]) == 0


# what is refused --------------------------------------------------------------------------------------


@pytest.mark.parametrize("over", ["A:4", "A:z", "B:2", "2", "k", "", "A:-1"])
def test_parameters_that_are_none(over: str) -> None:
    with pytest.raises(InputError, match=r"is not a parameter of `scale`; it has A:0 \(x\), A:1 \(y\), A:2 \(k\)"):
        goptx.batch(kernel(), over)


@pytest.mark.parametrize("type_", ["f32", "b32", "u16", "b8"])
def test_parameters_that_are_no_integers(type_: str) -> None:
    text = kernel().replace(".param .u32 k", f".param .{type_} k").replace("ld.param.u32 %r1", "mov.u32 %r1")
    with pytest.raises(InputError, match=rf"parameter 2 \(k\) is not an integer of 32 or 64 bits but \.{type_}"):
        goptx.batch(text.replace("mov.u32 %r1, [k]", "mov.u32 %r1, 0"), "A:2")


def test_a_pointer_is_no_number() -> None:
    with pytest.raises(InputError, match=r"parameter A:0 \(x\) is a pointer"):
        goptx.batch(kernel(), "A:0")


@pytest.mark.parametrize("options", [{"step": 0}, {"start": 1 << 32}, {"step": -(1 << 31) - 1}])
def test_numbers_that_make_no_sense(options: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"do not fit \.u32; give numbers of its range, and a step that is not 0\."):
        goptx.batch(kernel(), "A:2", **options)


@pytest.mark.parametrize("options", [{"step": 1.5}, {"start": "0"}, {"start": True}])
def test_what_is_no_number(options: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="are not whole numbers"):
        goptx.batch(kernel(), "A:2", **options)


def test_an_unknown_axis() -> None:
    with pytest.raises(InputError, match="axis `w` is unknown; expected one of x, y, z"):
        goptx.batch(kernel(), "A:2", axis="w")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("more", "register"),
    [
        ("mov.u32 %r9, %ctaid.y;", "%ctaid.y"),
        ("mov.v4.u32 %v, %ctaid;", "%ctaid"),
        ("mov.v4.u32 %v, %nctaid;", "%nctaid"),
        ("{ .reg .b32 %s; mov.u32 %s, %ctaid.y; }", "%ctaid.y"),
    ],
)
def test_an_axis_in_use(more: str, register: str) -> None:
    message = r"reads %n?ctaid\S*, so the axis y is in use; take another axis"
    with pytest.raises(CannotWeave, match=message) as refused:
        goptx.batch(kernel(more=more), "A:2")
    assert f"reads {register}," in str(refused.value)


def test_an_axis_that_the_shape_uses() -> None:
    with pytest.raises(InputError, match="the shape 2x3:64 has a grid along y, so that axis is in use"):
        goptx.batch(kernel(), "A:2", shape=Shape((2, 3), 64))
    assert goptx.batch(kernel(), "A:2", shape=Shape(2, 64))


def test_an_axis_that_a_function_uses() -> None:
    functions = """.func (.reg .b32 %o) row(.reg .b32 %i) { .reg .pred %p; .reg .b32 %c; mov.u32 %c, %ctaid.y;
    add.u32 %o, %i, %c; setp.eq.u32 %p, %i, 0; @%p bra e; call (%o), row, (0); e: ret; }\n"""
    with pytest.raises(CannotWeave, match=r"the device function `row` reads %ctaid\.y, so the axis y is in use"):
        goptx.batch(kernel(more="call (%r9), row, (%r1);", functions=functions), "A:2")


@pytest.mark.parametrize(
    "more", ["ld.param.u16 %h1, [k];", "ld.param.u8 %h1, [k+1];", "mov.u64 %rd9, k;", "ld.param.u32 %r9, [k+0];"]
)
def test_other_ways_to_take_the_parameter(more: str) -> None:
    with pytest.raises(CannotWeave, match="takes the parameter in another way than by a load of all its 4 bytes"):
        goptx.batch(kernel(more=more), "A:2")


def test_more_iterations_than_a_grid_has() -> None:
    woven = goptx.batch(kernel(), "A:2")
    assert woven.launched((GRID, 65535), THREADS)
    with pytest.raises(InputError, match="is more than"):
        woven.launched((GRID, 65536), THREADS)


def test_a_coarsened_kernel_is_batched_before() -> None:
    with pytest.raises(InputError, match=r"batch\(\) takes a kernel that is not coarsened; coarsen the result"):
        goptx.batch(goptx.coarsen(kernel()), "A:2")


SAME = r"writes the same elements of `{}` in every iteration, for its address does not depend on A:2"


def test_iterations_that_write_the_same_elements() -> None:
    for text, array in ((kernel(row="0"), "y"), (kernel(row="0", store="%rd4"), "x"), (kernel(store="%rd2"), "y")):
        with pytest.raises(DependentKernels, match=SAME.format(array)):
            goptx.batch(text, "A:2")
        assert goptx.batch(text, "A:2", independent=True)


@pytest.mark.parametrize(
    "text",
    [
        kernel(row="0", more="setp.ne.u32 %p2, %r1, 3; @%p2 bra done;"),
        kernel(row="%r9", more="ld.global.u32 %r9, [%rd1];"),
        kernel(row="0").replace("st.global.u32 [%rd5]", "red.global.add.u32 [%rd5]"),
        kernel(row="0").replace("st.global", "setp.eq.u32 %p2, %r1, 0; @%p2 st.global"),
    ],
    ids=["under a branch by the parameter", "by what is loaded", "atomically", "under a predicate by the parameter"],
)
def test_what_is_not_proved_to_depend_is_the_callers_word(text: str) -> None:
    assert goptx.batch(text, "A:2")
