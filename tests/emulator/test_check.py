"""goptx.check and `goptx check`: separate kernels against the woven one, their output, and sources of data."""

import io
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from bodies import kernel

import goptx
from goptx.checking.verdict import Difference
from goptx.cli import main

ROOT = Path(__file__).parents[2]
KERNELS = ROOT / "examples" / "kernels"
CONSTRUCTS = ROOT / "tests" / "constructs" / "constructs.sm_80.ptx"
HARRIS, LUD = (str(KERNELS / f"{name}.sm_90.ptx") for name in ("harris", "lud"))

NUMBER = """
    ld.param.u64 %rd1, [{0}_in];
    ld.param.u64 %rd2, [{0}_out];
    ld.param.u32 %r9, [{0}_n];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.s32 %r4, %r1, %r2, %r3;
    setp.ge.s32 %p1, %r4, %r9;
    @%p1 bra DONE;
    mul.wide.s32 %rd3, %r4, 4;
    add.s64 %rd4, %rd1, %rd3;
    add.s64 %rd5, %rd2, %rd3;
"""


def guarded(name: str, body: str) -> str:
    """%rd4 and %rd5 are where a thread's elements of `in` and `out` lie; `if (number >= n) return;` is done."""
    return kernel(f"{NUMBER.format(name)}{body}\nDONE:\nret;", name)


DOUBLE = guarded("double", "ld.global.f32 %r5, [%rd4]; add.f32 %r6, %r5, %r5; st.global.f32 [%rd5], %r6;")
NEXT = guarded("next", "ld.global.u32 %r5, [%rd4]; add.s32 %r6, %r5, 1; st.global.u32 [%rd5], %r6;")
GATHER = guarded(
    "gather",
    "ld.global.u32 %r5, [%rd5]; mul.wide.u32 %rd6, %r5, 4; add.s64 %rd7, %rd1, %rd6; ld.global.u32 %r6, [%rd7]; "
    "st.global.u32 [%rd5], %r6;",
)


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to be in, with a few kernels."""
    for name, text in (("double", DOUBLE), ("next", NEXT), ("gather", GATHER)):
        (tmp_path / f"{name}.ptx").write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


# All goes well (test_check_examples.py has the kernels of examples/) ---------------------------------------


@pytest.mark.parametrize("entry", ["straight", "barrier", "block_reduce", "guard_before_barrier_vote", "slow_float"])
def test_arguments_are_made_up_for_plain_kernels(entry: str, capsys: pytest.CaptureFixture[str]) -> None:
    given = [str(CONSTRUCTS), str(CONSTRUCTS), "--entry", entry, "--entry", "guard_before_barrier", "--races"]
    assert main(["check", *given]) == 0
    assert capsys.readouterr().out.count("made up") == 6


def test_made_up_arguments_fit_the_kernels() -> None:
    check = goptx.check(DOUBLE, NEXT, grid=2, block=(64, 1))
    assert check and check.passed and check.failure is None
    values = {name: given.value for k in check.kernels for name, given in k.inputs.items()}
    arrays = {name: (v.dtype, v.size) for name, v in values.items() if isinstance(v, np.ndarray)}
    assert arrays == {
        "A:0 (double_in)": (np.float32, 128),
        "A:1 (double_out)": (np.float32, 128),
        "B:0 (next_in)": (np.uint32, 128),
        "B:1 (next_out)": (np.uint32, 128),
    }
    assert values["A:2 (double_n)"] == values["B:2 (next_n)"] == 128 - 24
    assert (check.grid, check.block, check.compared) == ((2, 1, 1), (64, 1, 1), 4 * 512)


def test_unused_and_floating_parameters_are_made_up() -> None:
    text = DOUBLE.replace(".param .u32 double_n", ".param .u32 double_n, .param .f32 scale, .param .u64 spare").replace(
        "add.f32 %r6, %r5, %r5;", "ld.param.f32 %r7, [scale]; mul.f32 %r6, %r5, %r7;"
    )
    check = goptx.check(text, NEXT)
    assert check
    assert [i.value for i in list(check.kernels[0].inputs.values())[2:]] == [1000, 1.5, 0]


def test_the_block_that_an_entry_requires() -> None:
    required = DOUBLE.replace("double_n)\n{", "double_n)\n.reqntid 96\n{")
    assert goptx.check(required, NEXT).block == (96, 1, 1)
    allowed = DOUBLE.replace("double_n)\n{", "double_n)\n.maxntid 128, 1, 1\n{")
    assert goptx.check(allowed, NEXT).block == (128, 1, 1)


def test_arguments_are_taken_by_number_and_by_name(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--arg", "A:0=f32[4096]:-1..1", "--arg", "B:next_out=u32[2000]:zeros", "--arg", "B:2=i32:900"]
    assert main(["check", "double.ptx", "next.ptx", "--grid", "3", "--block", "32x2", *words]) == 0
    lines = [re.sub(" +", " ", line.strip()) for line in capsys.readouterr().out.splitlines()]
    assert lines[1].startswith("grid 3, block 32x2, shared 0, seed 0, strict")
    assert "A:0 (double_in) float32[4096] given" in lines
    assert "B:1 (next_out) uint32[2000] given" in lines
    assert "B:2 (next_n) int32 900 given" in lines
    assert "A:1 (double_out) float32[1024] made up" not in lines  # 3 CTAs of 64 threads are fewer
    assert any(line.startswith("A:1 (double_out) float32[") and line.endswith("made up") for line in lines)


def test_values_of_a_program_are_left_alone() -> None:
    mine = np.zeros(1024, np.float32)
    assert goptx.check(NEXT, DOUBLE, args={"B:1": mine, "B:double_in": np.ones(1024, np.float32), "B:2": 1000})
    assert not mine.any()


def test_the_caller_goes_before_the_specification() -> None:
    check = goptx.check(Path(HARRIS), Path(LUD), args={"A:harris_param_4": "i32:7"})
    inputs = list(check.kernels[0].inputs.values())
    assert inputs[4].value == 7 and inputs[4].source == "given"
    assert inputs[5].value == 1000 and inputs[5].source.endswith("harris.toml")


@pytest.mark.slow
def test_kernels_of_one_file_get_different_data_and_seeds_change_it() -> None:
    def data(seed: int) -> list[bytes]:
        check = goptx.check(Path(LUD), Path(LUD), seed=seed)
        assert check and check.orders == (0, seed + 1)
        return [v.tobytes() for k in check.kernels if isinstance(v := next(iter(k.inputs.values())).value, np.ndarray)]

    assert len({*data(0), *data(1)}) == 4
    assert data(0) == data(0)


def test_options_reach_the_weaving() -> None:
    check = goptx.check(DOUBLE, NEXT, policy="concat", slicing=None, latency="sm_80")
    assert (check.report.policy, check.report.slicing, check.report.latency) == ("concat", None, "sm_80")


def test_standard_input(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(NEXT.encode())))
    assert main(["check", "double.ptx", "-"]) == 0


def test_json_report_is_one_object(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "double.ptx", "next.ptx", "--report=json", "--latency", "sm_80"]) == 0
    output, errors = capsys.readouterr()
    assert errors == ""
    printed = json.loads(output)
    assert printed["passed"] is True and printed["failure"] is None and printed["differences"] == []
    assert printed["grid"] == [4, 1, 1] and printed["bytes_compared"] == 4 * 4096
    assert printed["arguments"]["A:2 (double_n)"] == ["uint32 1000", "made up"]
    assert 0 < printed["woven_fraction"] <= 1 and printed["warnings"] == []


def test_text_report_is_that_of_the_weaving(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "double.ptx", "next.ptx", "--report"]) == 0
    assert "instructions beside" in capsys.readouterr().err


# The woven kernel is wrong ------------------------------------------------------------------------------


@pytest.fixture
def spoil(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """spoil(old, new) changes one place of whatever is woven."""

    def change(old: str, new: str) -> None:
        def spoiled(*sources: Any, **options: Any) -> goptx.Woven:
            woven = goptx.fuse(*sources, **options)
            assert woven.ptx.count(old) == 1
            return replace(woven, module=goptx.read(woven.ptx.replace(old, new)))

        monkeypatch.setattr("goptx.checking.check.fuse", spoiled)

    return change


def test_a_wrong_value_fails(
    files: Path,
    spoil: Callable[[str, str], None],
    golden: Callable[[str, str], None],
    capsys: pytest.CaptureFixture[str],
) -> None:
    spoil("add.f32 %a_r6, %a_r5, %a_r5;", "sub.f32 %a_r6, %a_r5, %a_r5;")
    assert main(["check", "double.ptx", "next.ptx"]) == 1
    output, errors = capsys.readouterr()
    assert output == ""
    golden("check_difference.txt", errors)
    assert main(["check", "double.ptx", "next.ptx", "--report=json"]) == 1
    printed = json.loads(capsys.readouterr().out)
    assert printed["passed"] is False
    assert printed["failure"].startswith("CheckFailed: double_next_woven")
    (difference,) = printed["differences"]
    assert (difference["parameter"], difference["index"], difference["length"]) == ("A:1 (double_out)", 0, 1024)
    assert difference["count"] == 1000  # the guard keeps the rest from it


def test_a_sign_of_zero_is_a_difference(spoil: Callable[[str, str], None]) -> None:
    spoil("add.f32 %a_r6, %a_r5, %a_r5;", "mul.f32 %a_r6, %a_r5, 0f80000000;")
    check = goptx.check(DOUBLE, NEXT, args={"A:0": "f32[1024]:zeros"})
    assert not check
    (difference,) = check.differences
    assert (difference.alone, difference.woven) == ("0.0 (0x00000000)", "-0.0 (0x80000000)")
    assert isinstance(check.failure, goptx.CheckFailed)


def test_sums_of_floats_in_no_fixed_order_are_named() -> None:
    """Where the order of the warps changed nothing alone, but does in the fused kernel."""
    check = goptx.check(DOUBLE, NEXT)
    assert check.float_updates == ()
    adds = DOUBLE.replace("st.global.f32", "red.global.add.f32")
    check = goptx.check(adds, NEXT)
    assert check and len(check.float_updates) == 1
    differs = replace(check, differences=(Difference("A:1", 1, 1024, 0, "1.0", "2.0"),))
    assert check.float_updates[0] in str(differs.failure) and "the last bits may differ" in str(differs.failure)


def test_a_store_too_many_fails(spoil: Callable[[str, str], None]) -> None:
    spoil("@%b_run0 st.global.u32 [%b_rd5], %b_r6;", "st.global.u32 [%b_rd5], %b_r6;")
    check = goptx.check(DOUBLE, NEXT)
    assert check.differences or check.fault


def test_a_fault_of_the_woven_kernel_fails(
    spoil: Callable[[str, str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    spoil("bar.sync 0;", "membar.cta;")
    assert main(["check", HARRIS, LUD]) == 1
    output, errors = capsys.readouterr()
    assert output == ""
    assert re.match(r"EmulationFault: harris_lud_woven.*: uninitialised: ", errors)
    assert main(["check", HARRIS, LUD, "--report=json"]) == 1
    assert json.loads(capsys.readouterr().out)["failure"].startswith("EmulationFault: harris_lud_woven")


def test_an_endless_woven_kernel_fails(spoil: Callable[[str, str], None]) -> None:
    spoil("mad.lo.s32 %a_r4, %a_r1, %a_r2, %a_r3;", "SELF: bra SELF;")
    check = goptx.check(DOUBLE, NEXT)
    assert check.fault is not None and check.fault.kind == "step limit"
    assert check.failure is check.fault and not check


# A kernel is wrong on its own ---------------------------------------------------------------------------


def test_a_kernel_that_faults_alone(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "double.ptx", "next.ptx", "--arg", "B:1=u32[500]"]) == 2
    output, errors = capsys.readouterr()
    assert output == ""
    assert re.match(r"EmulationFault: next.ptx:\d+: `st.global.u32 .*out of bounds: .* B:1 \(next_out\) ", errors)
    assert errors.endswith("This is a fault of kernel B (`next`) alone, on made-up data, before weaving.\n")
    assert main(["check", "double.ptx", "next.ptx", "--max-steps", "5"]) == 2
    assert re.match(r"EmulationFault: double.ptx:\d+: .*step limit.*kernel A .* alone", capsys.readouterr().err)


def test_a_race_of_a_kernel_alone() -> None:
    racing = kernel("ld.param.u64 %rd1, [k_out]; mov.u32 %r1, %tid.x; st.global.u32 [%rd1], %r1; ret;")
    with pytest.raises(goptx.EmulationFault, match="kernel B") as caught:
        goptx.check(NEXT, racing, races=True)
    assert caught.value.kind == "race"
    with pytest.raises(goptx.InputError, match=r"kernel B .* alone gives other results in another order.*--races"):
        goptx.check(NEXT, racing)


# What is asked for is wrong -----------------------------------------------------------------------------


def test_a_kernel_that_is_not_plain_needs_arguments(
    files: Path, golden: Callable[[str, str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", "next.ptx", "gather.ptx"]) == 2
    output, errors = capsys.readouterr()
    assert output == ""
    golden("check_needs_argument.txt", errors)
    example = re.search(r"--arg (B:0=\S+?),? ", errors)
    assert example
    assert main(["check", "next.ptx", "gather.ptx", "--arg", example[1]]) == 0


@pytest.mark.parametrize("args", [5, [["f32[4]"], []]])
def test_arguments_are_given_by_name(args: Any) -> None:
    with pytest.raises(goptx.InputError, match=r'args= takes values by name, for example args=\{"A:2": "i32:1024"\}'):
        goptx.check(DOUBLE, NEXT, args=args)
    with pytest.raises(goptx.InputError, match="argument `5`: write the kernel's letter"):
        goptx.check(DOUBLE, NEXT, args={5: 1})  # type: ignore[dict-item]


def test_other_parameters_that_cannot_be_made_up() -> None:
    shifted = NEXT.replace("add.s32 %r6, %r5, 1;", "ld.param.u32 %r7, [by]; add.s32 %r6, %r5, %r7;")
    shifted = shifted.replace(".param .u32 next_n", ".param .u32 next_n, .param .u32 by")
    with pytest.raises(goptx.InputError, match=r"<ptx>:\d+: parameter A:3 \(by\) does not bound .* --arg A:3=i32:1024"):
        goptx.check(shifted, DOUBLE)
    structure = NEXT.replace(".param .u32 next_n", ".param .u32 next_n, .param .align 4 .b8 both[12]")
    with pytest.raises(goptx.InputError, match=r"A:3 \(both\) is a structure of 12 bytes.*bytes\(12\)"):
        goptx.check(structure, DOUBLE)
    assert goptx.check(structure, DOUBLE, args={"A:3": bytes(12)})


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--strategy", "diagonal"], "InputError: strategy `diagonal` is unknown; expected one of weave"),
        (["--grid", "0"], "InputError: argument --grid: `0` is not a size; write one to three numbers"),
        (["--block", "8x8x8x8"], "InputError: argument --block: `8x8x8x8` is not a size"),
        (["--block", "2048"], "InputError: block=.* a CTA has at most 1024"),
        (["--shared", "-1"], "InputError: shared=-1 is not a number of bytes."),
        (["--max-steps", "0"], "InputError: max_steps=0 is not a number of instructions; give 1 or more."),
        (
            ["--shape", "A=4:64", "--shape", "B=4:64", "--grid", "8"],
            r"InputError: grid=\(8,\) has no effect: the shape",
        ),
        (["--seed", "-1"], "InputError: seed=-1 is not a whole number from 0 on."),
        (["--arg", "A:0"], r"InputError: argument A:0 \(double_in\): `` cannot be read; write an array as f32\[1024\]"),
        (["--arg", "A:0=x32[4]"], "InputError: argument A:0 .*`x32.4.` cannot be read"),
        (["--arg", "A:2=f32[4]"], r"InputError: parameter A:2 .double_n., .u32 of 4 bytes: does not take an array"),
        (["--arg", "A:2=i64:4"], r"InputError: parameter A:2 \(double_n\), .u32 of 4 bytes: numpy.int64 has 8 bytes"),
        (["--arg", "B:2=f32:4"], r"InputError: parameter B:2 \(next_n\), .u32 of 4 bytes: .* another kind"),
        (["--arg", "C:0=f32[4]"], r"InputError: argument `C:0`: .* the kernels are A \(`double`\) and B \(`next`\)"),
        (["--arg", "0=f32[4]"], "InputError: argument `0`: write the kernel's letter"),
        (["--arg", "B:3=f32[4]"], r"InputError: argument `B:3`: .* no such parameter; it has 0 \(next_in\), 1"),
        (["--arg", "B:m=i32:4"], "InputError: argument `B:m`: .* no such parameter"),
        (["--arg", "A:0=f32[4]", "--arg", "A:0=f32[8]"], "InputError: --arg A:0 is given twice"),
        (
            ["--arg", "A:0=f32[4]", "--arg", "A:double_in=f32[8]"],
            r"InputError: argument `A:double_in`: parameter A:0 \(double_in\) is given twice",
        ),
        (["--arg", "A:0=f32[99999999999]"], "InputError: .*too many to emulate"),
        (["--entry", "double"], "InputError: --entry is given 1 times for 2 inputs"),
        (["--entry", "double", "--entry", "other"], "InputError: next.ptx:.* no entry `other`"),
        (["third.ptx"], r"InputError: third.ptx: cannot be read"),
        (["double.ptx"] * 25, r"InputError: weave\(\) takes two to 26 kernels, got 27"),
        (["--policy", "best"], "InputError: policy `best` is unknown"),
    ],
)
def test_wrong_arguments(words: list[str], message: str, files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "double.ptx", "next.ptx", *words]) == 2
    output, errors = capsys.readouterr()
    assert output == ""
    assert re.match(message, errors), errors


def test_kernels_that_cannot_be_woven(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (files / "cluster.ptx").write_text(kernel("barrier.cluster.arrive; ret;"))
    assert main(["check", "double.ptx", "cluster.ptx"]) == 1
    assert capsys.readouterr().err.startswith("CannotWeave: cluster.ptx:")


SPECIFICATION = """[[kernel]]
file = "{0}.ptx"
entry = "{0}"
grid = [{1}]
block = [{2}]
argument = [{3}]
"""
FITTING = (
    '{ name = "in", dtype = "uint32", length = 64, generator = "arange" }, '
    '{ name = "out", dtype = "uint32", length = 64, role = "out" }, { name = "n", dtype = "uint32", value = 60 }'
)


def test_specifications_of_different_shapes(files: Path) -> None:
    (files / "double.toml").write_text(SPECIFICATION.format("double", 2, 32, FITTING))
    (files / "next.toml").write_text(SPECIFICATION.format("next", 1, 64, FITTING))
    check = goptx.check(Path("double.ptx"), Path("next.ptx"))
    assert check and (check.grid, check.block) == ((2, 1, 1), (64, 1, 1))
    assert [k.shape for k in check.kernels] == [goptx.Shape(2, 32), goptx.Shape(1, 64)]
    assert re.search(
        r"^grid 2, block 64, .*^A double  double.ptx  grid 2, block 32, shared 0$", str(check), re.M | re.S
    )
    assert check.to_dict()["shapes"] == {"A": "2:32", "B": "1:64"}
    common = goptx.check(Path("double.ptx"), Path("next.ptx"), grid=1, block=64)
    assert common and {k.shape for k in common.kernels} == {common.shape}
    (files / "next.toml").write_text(SPECIFICATION.format("other", 1, 64, FITTING))  # says nothing of this entry
    check = goptx.check(Path("double.ptx"), Path("next.ptx"))
    assert check and (check.grid, check.block) == ((2, 1, 1), (32, 1, 1))
    assert [i.source for i in check.kernels[1].inputs.values()] == ["made up"] * 3


def test_a_specification_that_does_not_fit(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    short = FITTING[: FITTING.rindex(", {")]
    (files / "next.toml").write_text(SPECIFICATION.format("next", 1, 64, short))
    assert main(["check", "double.ptx", "next.ptx"]) == 2
    assert re.match(
        r"InputError: next.toml: 2 arguments for `next`, which has 3 parameters \(next.ptx:\d+\)",
        capsys.readouterr().err,
    )
    (files / "next.toml").write_text("kernel = 3")
    assert main(["check", "double.ptx", "next.ptx"]) == 2
    assert capsys.readouterr().err.startswith("InputError: next.toml: `kernel` is a list of tables, [[kernel]]")
