"""What is measured: kernels, shapes and arguments from specifications, files beside kernels, and the caller."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bodies import kernel
from tuning.fake_bench import ARGS, PLUS, SHAPES, TIMES

import goptx
from goptx import DependentKernels, InputError
from goptx.launch.shape import Shape
from goptx.launch.specification import Argument
from goptx.measuring.bench.workload import Fetched, is_array
from goptx.tuning.measured import Measured, measured

KERNELS = Path(__file__).parents[2] / "examples" / "kernels"
TABLE = """
[[kernel]]
file = "{name}.ptx"
entry = "{name}"
grid = [{grid}]
block = [64]
shared = 16
tunable = {tunable}
argument = [
    {{ name = "in", dtype = "uint32", length = {n}, generator = "integers" }},
    {{ name = "out", dtype = "uint32", length = {n}, role = "out" }},
    {{ name = "n", dtype = "uint32", value = 3 }},
]
[check]
grid = [1]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two kernels with a specification each, and one of both."""
    tables = []
    for name, text, grid, tunable in (("plus", PLUS, 8, "true"), ("times", TIMES, 4, "false")):
        (tmp_path / f"{name}.ptx").write_text(text)
        tables.append(TABLE.format(name=name, grid=grid, n=64 * grid, tunable=tunable))
        (tmp_path / f"{name}.toml").write_text(tables[-1])
    (tmp_path / "both.toml").write_text("".join(tables).replace("[check]\ngrid = [1]\n", ""))
    return tmp_path


def lengths(what: Measured) -> list[list[int]]:
    return [[v.length for v in own if isinstance(v, Argument) and v.is_array] for own in what.workload.arguments]


def test_specifications_describe_everything(folder: Path) -> None:
    each = measured([], spec=[folder / "plus.toml", folder / "times.toml"])
    assert [k.entry for k in each.kernels] == ["plus", "times"]
    assert each.shapes == (Shape(8, 64, 16), Shape(4, 64, 16))  # those that are measured, not those of [check]
    assert each.tunable == (True, False)
    assert lengths(each) == [[512, 512], [256, 256]]
    assert each.workload.separate.entries == ("plus", "times")
    assert [kernel.entries for kernel in each.workload.each] == [("plus",), ("times",)]
    for spec in (folder / "both.toml", str(folder / "both.toml"), [folder / "both.toml"]):
        assert measured([], spec=spec) == each


def test_specifications_beside_the_files(folder: Path) -> None:
    files = [folder / "plus.ptx", folder / "times.ptx"]
    assert measured(files) == measured([], spec=folder / "both.toml")
    turned = measured([files[1], files[0]], entries=["times", None])
    assert (turned.shapes[0], turned.tunable) == (Shape(4, 64, 16), (False, True))
    assert measured([TIMES, PLUS], spec=[folder / "times.toml", folder / "plus.toml"]).shapes == turned.shapes


def test_the_caller_comes_first(folder: Path) -> None:
    files = [folder / "plus.ptx", folder / "times.ptx"]
    found = measured(files, shapes=SHAPES, args={"A:0": "u32[7]", "B:times_n": np.uint32(9)})
    assert found.shapes == tuple(SHAPES)
    assert lengths(found) == [[7, 512], [256, 256]]
    assert found.workload.arguments[1][2] == np.uint32(9)
    assert found.tunable == (True, False)


def test_kernels_without_a_description_get_made_up_data() -> None:
    guarded = kernel(
        "mov.u32 %r1, %tid.x; ld.param.u32 %r2, [k_n]; setp.ge.u32 %p1, %r1, %r2; @%p1 bra DONE;"
        "ld.param.u64 %rd1, [k_out]; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;"
        "st.global.u32 [%rd3], %r1; DONE: ret;"
    )
    found = measured([guarded], shapes=[Shape(1, 64)], args={"A:0": "u32[1]"})
    assert len(found.workload.arguments[0]) == 3
    somewhere = kernel(
        "ld.param.u64 %rd1, [k_in]; ld.global.u32 %r1, [%rd1]; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;"
        "st.global.u32 [%rd3], %r1; ret;"
    )
    with pytest.raises(InputError, match=r"A:0 \(k_in\)"):
        measured([somewhere], shapes=[Shape(1, 64)])


def test_arrays_of_numpy() -> None:
    one, two, three = (np.arange(256, dtype=np.uint32) for _ in range(3))
    found = measured([PLUS, TIMES], shapes=SHAPES, args=[[one, two, 3], [one, three, 5]])
    params = found.workload.params
    assert [is_array(param, value) for param, value in params] == [True, True, False] * 2
    assert params[0][1] is params[3][1] is one  # both read it
    assert found.workload.arguments == ((one, two, 3), (one, three, 5))


@pytest.mark.parametrize("shared", ["whole", "part"])
def test_what_one_kernel_writes_and_another_has(shared: str) -> None:
    one, two, three = (np.arange(512, dtype=np.uint32) for _ in range(3))
    other = two if shared == "whole" else two[256:]
    with pytest.raises(DependentKernels, match=r"A:1 \(plus_out\).*kernels that depend on each other cannot be tuned"):
        measured([PLUS, TIMES], shapes=SHAPES, args=[[one, two, 3], [other, three, 5]])
    assert measured([PLUS, TIMES], shapes=SHAPES, args=[[one, two[:256], 3], [two[256:], three, 5]])


def test_what_is_passed_by_value_is_not_an_array() -> None:
    text = PLUS.replace(".param .u32 plus_n", ".param .align 4 .b8 plus_n[4]")
    one, two = (np.arange(256, dtype=np.uint32) for _ in range(2))
    found = measured([text], shapes=SHAPES[:1], args=[[one, two, np.array([3, 0, 0, 0], np.uint8)]])
    assert [is_array(*given) for given in found.workload.params] == [True, True, False]


def test_scalars_are_passed_unchanged() -> None:
    fetch = Fetched()
    for value in (3, 2.5, np.uint32(7), b"1234", None, np.zeros(3)):
        assert fetch("A:0", value) is value or value is None
    assert fetch("A:0", None) == np.uint64(0)
    with pytest.raises(InputError, match="argument A:0: a raw pointer, an empty array or one with negative strides"):
        fetch("A:0", Pointer())


class Pointer:
    """A device array without elements."""

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {"data": (4096, False), "shape": (0,), "typestr": "<u4", "version": 3}


def test_raised_to_the_device() -> None:
    what = measured([PLUS, TIMES], shapes=SHAPES, args=ARGS)
    targets = {device: what.raised(device).workload.separate.module.target[0] for device in ("sm_90", "sm_80", "sm_75")}
    assert targets == {"sm_90": "sm_90", "sm_80": "sm_80", "sm_75": "sm_80"}
    assert what.raised("sm_90").workload.each[0].module.target[0] == "sm_90"
    assert what.raised("sm_90").workload.arguments == what.workload.arguments
    special = measured([PLUS.replace("sm_80", "sm_90a").replace(".version 8.0", ".version 8.3")], shapes=SHAPES[:1],
                       args={k: v for k, v in ARGS.items() if k[0] == "A"})  # fmt: skip
    assert special.raised("sm_100") is special  # runs on no other architecture


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "no shapes": (
        {"args": ARGS},
        r"<ptx>:\d+: the shape in which kernel A \(`plus`\) is launched is not known; give it",
    ),
    "half a shape": ({"shapes": [Shape((None,), 64), SHAPES[1]]}, r"the shape in which kernel A .* is not known"),
    "one shape": ({"shapes": SHAPES[:1]}, "shapes= takes a goptx.Shape for each of the 2 kernels"),
    "a shape": ({"shapes": SHAPES[0]}, "shapes= takes a goptx.Shape for each of the 2 kernels"),
    "one sequence": ({"args": [[1, 2, 3]]}, "args= takes a sequence for each of the 2 kernels, or values by name"),
    "text": ({"args": "u32[4]"}, "args= takes a sequence for each of the 2 kernels"),
    "too few": (
        {"args": [[1, 2], [1, 2, 3]]},
        r"<ptx>:\d+: 2 arguments for kernel A \(`plus`\), which has 3 parameters",
    ),
    "no such one": ({"args": {"C:0": 1}}, "C:0"),
    "no spec": ({"spec": "none.toml"}, r"none\.toml: cannot be read"),
    "coarsened": (
        {"sources": [goptx.coarsen(PLUS, 2), TIMES]},
        r"<ptx>:\d+: `plus` was coarsened; give the kernel without coarsening: tuning tries whether",
    ),
    "none": ({"sources": []}, r"tune\(\) takes one to 26 kernels, got 0"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_refused(what: str) -> None:
    how, message = REFUSED[what]
    given: dict[str, Any] = {"sources": [PLUS, TIMES], "shapes": SHAPES, "args": ARGS, **how}
    if what == "no shapes":
        del given["shapes"]
    with pytest.raises(InputError, match=message):
        measured(**given)


def test_specifications_that_do_not_fit(folder: Path) -> None:
    with pytest.raises(InputError, match=r"both\.toml: 2 \[\[kernel\]\] tables for 1 kernels"):
        measured([folder / "plus.ptx"], spec=folder / "both.toml")
    (folder / "plus.ptx").write_text(
        PLUS.replace(", .param .u32 plus_n", "").replace("ld.param.u32 %r5, [plus_n];", "")
    )
    with pytest.raises(InputError, match=r"plus\.toml: 3 arguments for `plus`, which has 2 parameters"):
        measured([folder / "plus.ptx"])
    (folder / "plus.toml").unlink()
    with pytest.raises(InputError, match=r"or describe the launch in .*plus\.toml"):
        measured([folder / "plus.ptx"])
