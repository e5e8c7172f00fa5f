"""Kernels that are not fused: one module with an entry for each, launched one after the other."""

import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bodies import kernel
from device.fake_driver import Driver, driver
from strategies.dependent_kernels import elementwise
from weaving.compared import same, with_memory
from weaving.shaped_kernels import KERNELS

import goptx
from goptx import CannotLink, CannotWeave, InputError, Shape
from goptx.cli import main
from goptx.device.assemble import find_ptxas
from goptx.results.fused_kernel import Woven

__all__ = ["driver"]

EXAMPLES = Path(__file__).parents[2] / "examples" / "kernels"
HARRIS, LUD, PIPELINE = (EXAMPLES / f"{name}.sm_90.ptx" for name in ("harris", "lud", "pipeline"))
Assembles = Callable[[Woven], None]
needs_ptxas = pytest.mark.skipif(find_ptxas() is None, reason="needs ptxas")


def separate(*sources: Any, **options: Any) -> Woven:
    return goptx.fuse(*sources, strategy="separate", **options)


def entries(woven: Woven) -> list[str]:
    return [entry.name for entry in woven.module.entries]


def test_one_entry_for_each_kernel(assembles: Assembles) -> None:
    both = separate(HARRIS, LUD, HARRIS)
    assert both.is_separate and both.strategy == "separate" and both.shape is None
    assert entries(both) == ["harris", "lud", "harris_"] and both.name == "harris_lud_separate"
    assert both.ptx.count(".visible .entry") == 3
    assert [p.kernel for p in both.params] == [*"A" * 6, *"B" * 2, *"C" * 6]
    assert [p.access for p in both.params[:4]] == ["read", "read", "read", "written"]
    assert list(both.report.kernels) == ["A", "B", "C"] and both.report.woven_fraction == 0
    assert both.report.merged.instructions == sum(c.instructions for c in both.report.kernels.values())
    assembles(both)
    assert separate(HARRIS, LUD, HARRIS).ptx == both.ptx
    assert separate(HARRIS, LUD, name="two").name == "two"


def test_a_kernel_is_left_as_it_is() -> None:
    alone = goptx.read(LUD)
    (entry,) = alone.entries
    (made,) = separate(LUD).module.entries
    assert [str(s) for s in made.body or ()] == [str(s) for s in entry.body or ()]
    assert made.directives == entry.directives and made.parameters == entry.parameters


@pytest.mark.parametrize(
    "word",
    [
        "setmaxnreg.inc.sync.aligned.u32 64;",
        "SPIN: ld.acquire.gpu.global.u32 %r9, [%rd1]; setp.eq.u32 %p1, %r9, 0; @%p1 bra SPIN;",
        "frobnicate.u32 %r1, %r2;",
    ],
)
@pytest.mark.filterwarnings("ignore::goptx.errors.UnknownInstruction")
def test_what_no_other_strategy_takes(word: str) -> None:
    with pytest.raises(CannotWeave):
        goptx.weave(kernel(word, "one"), kernel(word, "two"))
    assert entries(separate(kernel(word, "one"), kernel(word, "two"))) == ["one", "two"]


TABLE = """
.version 8.0 .target sm_80 .address_size 64
.global .u32 table[4] = {1, 2, 3, 4};
.global .u64 pointer = table;
.shared .u32 tile[32];
.func (.reg .u32 %v) helper(.reg .u32 %i) { .reg .b64 %rd<3>; cvt.u64.u32 %rd1, %i; mov.u64 %rd2, table;
    add.u64 %rd1, %rd1, %rd2; ld.global.u32 %v, [%rd1]; ret; }
.visible .entry {name}(.param .u64 out) {
    .reg .b32 %r<5>; .reg .b64 %rd<5>; .reg .pred %p<2>;
    ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mul.lo.u32 %r2, %r1, 4; mul.wide.u32 %rd2, %r1, 4;
    call (%r3), helper, (%r2); add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r3;
    { .reg .b32 %r1; mov.u32 %r1, tile; st.shared.u32 [%r1], 7; }
    ret;
}
"""


def test_names_of_different_modules_are_made_distinct(assembles: Assembles) -> None:
    """One entry has the name of the other's function."""
    first = TABLE.replace("{name}", "k")
    second = TABLE.replace("1, 2, 3, 4", "5, 6, 7, 8").replace("{name}", "helper2").replace("helper(", "k(").replace(
        "helper,", "k,"
    )  # fmt: skip
    both = separate(first, second)
    assert len({*entries(both), "k"}) == 3
    names = both.symbols
    assert names["A"]["table"] == "table" and names["B"]["table"] != "table"
    assert {new for own in names.values() for new in own.values()} <= {i.name for i in both.module.items}  # type: ignore[union-attr]
    outs = [np.zeros(4, np.uint32) for _ in range(2)]
    goptx.emulate(both, 1, 4, [[out] for out in outs])
    assert [out.tolist() for out in outs] == [[1, 2, 3, 4], [5, 6, 7, 8]]
    assembles(both)


def test_kernels_of_one_module_share_its_variables() -> None:
    module = goptx.read(TABLE.replace("{name}", "k"))
    both = separate(module, module)
    assert entries(both) == ["k", "k_"] and both.ptx.count(".global .u32 table[4]") == 1
    assert both.symbols["A"]["table"] == both.symbols["B"]["table"] == "table"


def test_a_variable_in_common_with_a_coarsened_kernel_is_refused() -> None:
    module = goptx.read(TABLE.replace("{name}", "k").replace("ld.global.u32 %v", "ld.global.nc.u32 %v"))
    message = (
        r"<ptx>:3: `k` and `k` have the variable `table` of their module in common.*while one of them is coarsened"
    )
    with pytest.raises(CannotLink, match=message):
        separate(module, goptx.coarsen(module, 2))
    other = goptx.read(TABLE.replace("{name}", "k") + "// another\n.global .u32 more;")
    assert len(entries(separate(module, goptx.coarsen(other, 2)))) == 2


def test_modules_that_do_not_go_together() -> None:
    with pytest.raises(CannotLink, match=r"compile both for the same `\.address_size`"):
        separate(kernel("ret;"), kernel("ret;").replace(".address_size 64", ".address_size 32"))
    with pytest.raises(CannotLink, match="does not suit sm_80"):
        separate(HARRIS, LUD, arch="sm_80")


def test_the_architecture_is_that_of_all() -> None:
    assert separate(EXAMPLES / "harris.sm_80.ptx", LUD).module.target == ("sm_90",)
    assert separate(EXAMPLES / "harris.sm_80.ptx", arch="sm_90").module.target == ("sm_90",)


def test_lines_of_sources_are_preserved(assembles: Assembles) -> None:
    folder = Path(__file__).parents[1] / "corpus" / "ptx"
    lined = [folder / "stencil_lineinfo.nvrtc.ptx", folder / "reduction.sm_80-lineinfo.nvcc.ptx"]
    first, second = (goptx.read(path).entries[0].name for path in lined)
    both = separate(*lined, entries=[first, second])
    files = re.findall(r'\.file\s+(\d+) "(.*?)"', both.ptx)
    assert len(files) == len({number for number, _ in files}) >= 2
    assert set(re.findall(r"\.loc\s+(\d+)", both.ptx)) <= {number for number, _ in files}
    assembles(both)


# Launching ----------------------------------------------------------------------------------------------


def test_each_kernel_has_its_own_shape() -> None:
    names, shapes = ("tiled", "leaving", "dynamic"), [Shape(5, 96), Shape((2, 3), (8, 9)), Shape(3, 64, 4096)]
    shapes = [with_memory(s, n) for s, n in zip(shapes, names, strict=True)]
    made = separate(*(KERNELS[n] for n in names), shapes=shapes)
    same(names, shapes, made)
    assert [(s.entry, s.shape) for s in made.starts(None, None)] == list(zip(entries(made), shapes, strict=True))
    open_ = separate(*(KERNELS[n] for n in names), shapes=[Shape(None, None, None)] * 3)
    assert [s.shape for s in open_.starts(None, None, shapes=shapes)] == shapes
    with pytest.raises(InputError, match="the shape of kernel A is not known"):
        open_.starts(None, None)
    with pytest.raises(InputError, match="is not one launch but 3; `starts` says in which shapes"):
        made.launched(None, None)


def test_one_common_shape() -> None:
    made = separate(KERNELS["tiled"], KERNELS["leaving"])
    assert [s.shape for s in made.starts(3, 64)] == [Shape(3, 64)] * 2
    with pytest.raises(InputError, match="were woven for one common grid and block"):
        made.starts(None, None, shapes=[Shape(3, 64), Shape(4, 64)])
    assert separate(KERNELS["tiled"]).launched(3, 64) == (Shape(3, 64), [])


def test_coarsened_kernels_stay_so() -> None:
    plus, minus = elementwise("add.f32"), elementwise("sub.f32")
    for shapes in (None, [Shape(5, 32)] * 2, [Shape(None, 32)] * 2):
        made = separate(plus, goptx.coarsen(minus, 2), shapes=shapes)
        given = {"shapes": [Shape(5, 32)] * 2} if shapes else {"grid": 5, "block": 32}
        starts = made.starts(given.get("grid"), given.get("block"), shapes=given.get("shapes"))  # type: ignore[arg-type]
        assert [s.shape.grid for s in starts] == [(5,), (3,)]
        hidden = [] if shapes and shapes[0].known else ["B.grid.x"]
        assert [p.role for p in made.params if p.kernel is None] == hidden
        x, y, one, two = (np.arange(160, dtype=np.float32) + i for i in range(4))
        goptx.emulate(made, args=[[x, y, one, 150], [one, y, two, 150]], **given)
        assert (two[:150] == x[:150]).all() and (one[:150] == (x + y)[:150]).all()
    again = separate(goptx.coarsen(minus, 2), made, shapes=[Shape(5, 32)] * 3)
    assert [k.coarse.factor for k in again.chosen] == [2, 1, 2]


@pytest.mark.slow
def test_what_counts_as_its_kernels_may_be_fused_again() -> None:
    made = separate(HARRIS, LUD)
    assert goptx.weave(made).ptx == goptx.weave(HARRIS, LUD).ptx
    assert goptx.can_weave(made, PIPELINE)


def test_kernels_run_one_after_the_other() -> None:
    """Each reads what those before it have written, and the arguments may be the same."""
    shifted = elementwise("sub.f32", before="add.s32 %r8, %r4, 32;", read="%r8")
    made = separate(elementwise("mul.f32"), shifted)
    x, t, out = (np.random.default_rng(i).random(200, dtype=np.float32) for i in range(3))
    expected = (x * x)[32:100] - x[32:100]
    done = goptx.emulate(made, 2, 64, [[x, x, t, 200], [t, x, out, 200]])
    assert (out[:68] == expected[:68]).all()
    assert set(done.kernels) == {"A", "B"} and done.lane_instructions == sum(
        c.lane_instructions for c in done.kernels.values()
    )
    assert made.arguments([1, 2, 3, 4], [5, 6, 7, 8]) == [[1, 2, 3, 4], [5, 6, 7, 8]]
    with pytest.raises(goptx.EmulationFault, match=r"k_separate.ptx:\d+ \(kernel B, <ptx>:\d+\): .*out of bounds"):
        goptx.emulate(made, 2, 64, [[x, x, t, 200], [t, x, np.zeros(3, np.float32), 200]])


def test_each_launch_gets_its_arguments(driver: Driver) -> None:
    made = separate(elementwise("mul.f32"), elementwise("add.f32"), elementwise("sub.f32"))
    for _ in range(2):
        made.launch(None, [1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12], grid=2, block=64)
    assert [one.arguments for one in driver.started] == [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]] * 2


# Machine code -------------------------------------------------------------------------------------------


@needs_ptxas
def test_resources_are_the_most_that_any_takes() -> None:
    kernels = [HARRIS, LUD, PIPELINE]
    alone = [separate(k).resources(block=256) for k in kernels]
    made = separate(*kernels)
    found = made.resources(block=256)
    assert found.registers == max(r.registers for r in alone)
    assert found.shared_bytes == max(r.shared_bytes for r in alone)
    assert found.occupancy is not None and found.occupancy <= min(r.occupancy or 1 for r in alone)
    assert made.resources(32).registers <= 32 and ".maxnreg" not in made.ptx
    copy = pickle.loads(pickle.dumps(made))
    assert copy.is_separate and copy.cubin() == made.cubin() and copy.ptx == made.ptx


@needs_ptxas
def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "both.cubin"
    assert main(["fuse", str(HARRIS), str(LUD), "--strategy", "separate", "-o", str(out), "--report=json"]) == 0
    assert out.read_bytes().startswith(b"\x7fELF") and '"strategy": "separate"' in capsys.readouterr().out
    assert main(["fuse", str(HARRIS), str(LUD), "--strategy", "separate", "--policy", "paper"]) == 2
    assert "strategy separate has no option `policy`" in capsys.readouterr().err


def test_side_by_side_kernels_are_independent() -> None:
    """Their order is not known then."""
    shapes = [Shape(4, 256)] * 2
    in_order, both = (separate(HARRIS, LUD, shapes=shapes, streams=streams) for streams in (False, True))
    assert (in_order.streams, in_order.depends, both.streams, both.depends) == (False, True, True, False)
    assert both.ptx == in_order.ptx and both.starts(None, None) == in_order.starts(None, None)
    assert pickle.loads(pickle.dumps(both)).streams
    made = in_order.side_by_side()  # no launch of it was prepared in order
    assert (made.streams, made.depends) == (True, False) and made.executable is not in_order.executable
    assert separate(HARRIS, LUD, shapes=shapes, streams="reversed") == in_order.side_by_side("reversed")
    with pytest.raises(InputError, match=r"^streams='last' is not one of False, True, 'reversed'\.$"):
        separate(HARRIS, LUD, streams="last")
    with pytest.raises(InputError, match=r"is one launch, which has no other beside it; .*streams=True"):
        goptx.weave(HARRIS, LUD).side_by_side()
    one = type("Array", (), {"__cuda_array_interface__": {"data": (4096, False), "typestr": "|u1", "shape": (64,)}})()
    harris = [None, None, None, one, np.int32(0), np.uint32(0)]
    with pytest.raises(goptx.DependentKernels, match=r"A:3 .* is written, B:0 .* is read and written"):
        both.launch(None, harris, [one, np.uint32(0)])


def test_side_by_side_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fuse", str(HARRIS), str(LUD), "--strategy", "separate", "--streams"]) == 0
    assert capsys.readouterr().out == separate(HARRIS, LUD).ptx
    assert main(["fuse", str(HARRIS), str(LUD), "--streams"]) == 2
    assert "strategy weave has no option `streams`; it is one of separate" in capsys.readouterr().err
