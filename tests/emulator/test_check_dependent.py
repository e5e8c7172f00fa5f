"""goptx.check of kernels that depend on each other: separately one after the other on the same data, and fused."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from strategies import dependent_kernels
from strategies.dependent_kernels import INDEX, strided

import goptx
from goptx.checking.verdict import Check
from goptx.cli import main
from goptx.options import Strategy

ROOT = Path(__file__).parents[2]
CHAIN = ROOT / "benchmarks" / "suite_d" / "chain.sm_90.ptx"
STEPS = ("first", "second", "third", "fourth")
TEMPORARIES = [("A:2", "D:0"), ("B:2", "C:0"), ("C:2", "D:1")]
ONE = [("A:0", "B:0"), ("A:3", "B:3"), ("A:3", "C:3"), ("A:3", "D:3")]
FORWARDED = [("A:2", "B:0")]


def elementwise(*how: str, **more: str) -> str:
    """Where each register is written once, so that data can be made up."""
    return re.sub(r"cvta\.\S+ \S+ \S+;", "", dependent_kernels.elementwise(*how, **more))


MIRRORED = elementwise(  # each thread reads what its opposite in the CTA has written
    "sub.f32", guard="", read="%r9",
    index=f"{INDEX} sub.s32 %r8, %r2, %r3; sub.s32 %r8, %r8, 1; mad.lo.s32 %r9, %r1, %r2, %r8;",
)  # fmt: skip
ALL = elementwise("mul.f32", guard="")
MORE = {"A:3": "i32:1024", "B:3": "i32:1024", "B:1": "f32[1024]"}  # what cannot be made up for these two


def check(*sources: Any, strategy: Strategy = "vertical", **options: Any) -> Check:
    return goptx.check(*sources, strategy=strategy, **options)


def values(done: Check) -> dict[str, Any]:
    return {name[:3]: given.value for kernel in done.kernels for name, given in kernel.inputs.items()}


@pytest.fixture
def spoil(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """spoil(old, new) changes what stands at one or more places of whatever is fused."""

    def change(old: str, new: str) -> None:
        def spoiled(*sources: Any, **options: Any) -> goptx.Woven:
            woven = goptx.fuse(*sources, **options)
            assert re.search(old, woven.ptx)
            return replace(woven, module=goptx.read(re.sub(old, new, woven.ptx)))

        monkeypatch.setattr("goptx.checking.check.fuse", spoiled)

    return change


# All goes well ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", ["vertical", "auto"])
@pytest.mark.parametrize(
    ("options", "arrays", "temporaries"),
    [({"depends": True, "same": ONE + TEMPORARIES}, 8, 0), ({"private": TEMPORARIES, "same": ONE}, 5, 3)],
)
def test_a_chain(strategy: Strategy, options: dict[str, Any], arrays: int, temporaries: int) -> None:
    done = check(*[CHAIN] * 4, entries=STEPS, strategy=strategy, **options)
    assert done, done
    assert done.compared == arrays * 4000 and len(done.undefined) == temporaries
    given = values(done)
    assert given["A:0"] is given["B:0"] and given["A:2"] is given["D:0"] and given["C:2"] is given["D:1"]
    assert given["A:1"] is not given["B:1"]
    listed = [re.sub(" +", " ", line.strip()) for line in str(done).splitlines()]
    assert "D:0 (fourth_param_0) float32[1000] is A:2 (first_param_2)" in listed
    assert [line for line in listed if line.startswith("not compared")] == [
        f"not compared: {name}, a temporary" for name in done.undefined
    ]
    assert done.to_dict()["undefined"] == done.undefined
    if temporaries:
        assert done.undefined[0] == "A:2 (first_param_2), D:0 (fourth_param_0)"


@pytest.mark.parametrize("strategy", ["separate", "auto"])
def test_kernels_that_are_not_fused(strategy: Strategy) -> None:
    """The second kernel depends on the writes of the first."""
    later = elementwise("sub.f32", before="add.s32 %r8, %r4, 32;", read="%r8")
    x, y, z, out = (np.random.default_rng(i).random(1100, dtype=np.float32) for i in range(4))
    options = {"depends": True, "same": FORWARDED} if strategy == "auto" else {}
    done = check(
        elementwise("mul.f32"), later, strategy=strategy, **options,
        args={"A:0": x, "A:1": y, "A:2": z, "B:0": z, "B:1": x, "B:2": out, "A:3": 1000, "B:3": 1000},
    )  # fmt: skip
    assert done, done
    assert done.compared == 4 * 4400
    assert bool(done.report.notes) == (strategy == "auto")


def test_data_that_is_made_up_is_one_too() -> None:
    done = check(elementwise("mul.f32"), elementwise("sub.f32"), private=FORWARDED, same=[("A:3", "B:3")])
    assert done, done
    given = values(done)
    assert given["A:2"] is given["B:0"] and given["A:3"] is given["B:3"]
    assert done.kernels[1].inputs["B:3 (n)"].source == "is A:3 (n)"
    assert {i.source for i in done.kernels[0].inputs.values()} == {"made up"}


def test_the_longest_array_serves_all() -> None:
    shifted = elementwise("sub.f32", before="add.s32 %r8, %r4, 32;", read="%r8")
    for pair, sources in (("A:0=B:0", (elementwise(), shifted)), ("A:0=B:0", (shifted, elementwise()))):
        done = check(*sources, same=[pair, "A:3=B:3"], grid=2, block=64)
        assert done, done
        assert values(done)["A:0"].size == values(done)["B:0"].size > values(done)["A:2"].size


def test_a_kernel_with_intricate_accesses_gets_what_the_other_has() -> None:
    """Nothing can be made up for a grid-stride loop; what it hands on and shares is made up for the other."""
    same = [("A:0", "B:0"), ("A:1", "B:1"), ("A:3", "B:3")]
    with pytest.raises(goptx.InputError, match=r"parameter B:2 \(out\) is not indexed by the thread's number alone"):
        check(elementwise(), strided(), depends=True, same=same)
    done = check(elementwise(), strided(), depends=True, same=same, args={"B:2": "f32[1024]"})
    assert done, done


def test_values_that_a_cta_hands_on() -> None:
    shapes = [goptx.Shape(2, 64)] * 2
    choices: list[dict[str, Any]] = [{"depends": True, "same": FORWARDED}, {"local": FORWARDED, "shapes": shapes}]
    for options in choices:
        done = check(ALL, MIRRORED, races=True, args=MORE, **options)
        assert done, done
        assert len(done.undefined) == ("local" in options)


# The fused kernel is wrong ------------------------------------------------------------------------------


def test_a_wrong_value_fails(spoil: Callable[[str, str], None]) -> None:
    spoil(r"sub\.f32 (%b_f3), (%b_f1)", r"add.f32 \1, \2")
    done = check(elementwise("mul.f32"), elementwise("sub.f32"), private=FORWARDED, same=[("A:3", "B:3")])
    assert not done
    assert [d.parameter for d in done.differences] == ["B:2 (out)"]


def test_a_value_that_is_not_handed_on_fails(spoil: Callable[[str, str], None]) -> None:
    spoil(r"@\S+ st\.global\.f32 \[%a_rd7\], %a_f3;", "membar.cta;")
    done = check(elementwise("mul.f32"), elementwise("sub.f32"), depends=True, same=[*FORWARDED, ("A:3", "B:3")])
    assert [d.parameter for d in done.differences] == ["A:2 (out), B:0 (x)", "B:2 (out)"]


def test_a_barrier_that_is_left_out_fails(spoil: Callable[[str, str], None]) -> None:
    spoil(r"bar\.sync 0;", "membar.cta;")
    done = check(ALL, MIRRORED, depends=True, same=FORWARDED, races=True, args=MORE)
    assert done.fault or done.differences


# What is asked for is wrong -----------------------------------------------------------------------------


def test_shared_arguments_are_given_once() -> None:
    with pytest.raises(goptx.InputError, match=r"arguments A:2 \(out\) and B:0 \(x\): these are one.*give it once"):
        check(
            elementwise(), elementwise(), depends=True, same=FORWARDED,
            args={"A:2": "f32[1024]", "B:0": "f32[2048]"},
        )  # fmt: skip
    args = {"A:2": "f32[2048]", "B:0": "f32[2048]", "A:3": np.int32(7), "B:3": np.int32(7)}
    done = check(elementwise(), elementwise(), depends=True, same=[*FORWARDED, ("A:3", "B:3")], args=args)
    assert done and values(done)["B:0"].size == 2048


def test_missing_promises_are_found() -> None:
    array = np.zeros(1024, np.float32)
    with pytest.raises(goptx.DependentKernels, match="give each an array of its own"):
        check(elementwise(), elementwise(), args={"A:2": array, "B:0": array})
    done = check(elementwise(), elementwise(), depends=True, args={"A:2": array, "B:0": array})
    assert done and done.compared == 5 * 4096


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in (("a", elementwise("mul.f32")), ("b", elementwise("sub.f32")), ("mirrored", MIRRORED)):
        (tmp_path / f"{name}.ptx").write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_command(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--depends", "--same", "A:3=B:3", "--private", "A:2=B:0"]
    assert main(["check", "a.ptx", "b.ptx", "--strategy", "vertical", *words]) == 0
    assert "not compared: A:2 (out), B:0 (x), a temporary" in capsys.readouterr().out
    assert main(["check", "a.ptx", "b.ptx", "--strategy", "separate"]) == 0
    assert main(["check", "a.ptx", "b.ptx", "--strategy", "auto", *words, "--noalias", "B:1"]) == 0


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--depends"], 2, "InputError: strategy weave has no option `depends`; it is one of vertical, auto"),
        (
            ["--strategy", "separate", "--same", "A:2=B:0"],
            2,
            "InputError: strategy separate has no option `same`; it is one of weave, vertical, interleave, auto",
        ),
        (["--strategy", "vertical", "--same", "A:2=C:0"], 2, "InputError: same `C:0`: write the kernel's letter"),
        (["--strategy", "vertical", "--private", "A:2"], 2, "InputError: private= takes pairs of parameters"),
        (["--strategy", "vertical", "--noalias", "A:7"], 2, "InputError: noalias `A:7`: kernel A (`k`) has no such"),
        (["--strategy", "vertical", "--same", "A:2=B:0"], 1, "CannotWeave: a.ptx:"),
    ],
)
def test_wrong_words(
    words: list[str], code: int, message: str, files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", "a.ptx", "b.ptx", *words]) == code
    assert capsys.readouterr().err.startswith(message)
