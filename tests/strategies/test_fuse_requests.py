"""goptx.fuse and `goptx fuse`: strategies, their options, and what is written."""

import json
from pathlib import Path
from typing import Any

import pytest

import goptx
from goptx import InputError, Shape
from goptx.cli import main
from goptx.device.assemble import find_ptxas
from goptx.options import Strategy
from goptx.strategies.fuse import STRATEGIES

KERNELS = Path(__file__).parents[2] / "examples" / "kernels"
HARRIS, SORT = (str(KERNELS / f"{name}.sm_90.ptx") for name in ("harris", "sort"))
SHAPED = ["--shape", "A=8:256", "--shape", "B=4:128"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"strategy": "diagonal"},
            f"strategy `diagonal` is unknown; expected one of {', '.join(STRATEGIES)}",
        ),
        ({"strategy": ["weave"]}, r"strategy `\['weave'\]` is unknown"),
        ({"partition": (256, 128)}, "strategy weave has no option `partition`; it is one of horizontal"),
        (
            {"strategy": "horizontal", "ratio": (1, 2)},
            "strategy horizontal has no option `ratio`; it is one of interleave",
        ),
        (
            {"strategy": "interleave", "policy": "paper"},
            "strategy interleave has no option `policy`; it is one of weave",
        ),
        (
            {"strategy": "vertical", "colour": 3},
            "strategy vertical has no option `colour`; it takes entries, arch, name",
        ),
    ],
)
def test_options_of_another_strategy(options: dict[str, Any], message: str) -> None:
    for function in (goptx.fuse, goptx.check):
        with pytest.raises(InputError, match=message):
            function(Path(HARRIS), Path(SORT), **options)


@pytest.mark.parametrize("strategy", ["vertical", "auto"])
@pytest.mark.parametrize("promise", ["assume_local", "no_barriers", "assume_private"])
def test_promises_about_kernels_that_do_not_depend_on_each_other(strategy: Any, promise: str) -> None:
    message = f"{promise}= is a promise about kernels that depend on each other; give depends=, private= or local="
    with pytest.raises(InputError, match=message):
        fuse: Any = goptx.fuse
        fuse(Path(HARRIS), Path(SORT), strategy=strategy, **{promise: True})


def test_a_decision_leaves_nothing_to_assemble() -> None:
    with pytest.raises(InputError, match=r"decision= names the choice, so assemble= has nothing to compare"):
        goptx.fuse(Path(HARRIS), Path(SORT), strategy="auto", decision={}, assemble=True)


@pytest.mark.parametrize(
    ("words", "options"),
    [
        ([], {}),
        (["--strategy", "vertical", "--name", "both", "--arch", "sm_90a"], {"name": "both", "arch": "sm_90a"}),
        (["--strategy", "horizontal", "--partition", "256,128", *SHAPED], {"partition": (256, 128)}),
        (
            ["--strategy", "horizontal", "--partition", "512,128", "--tunable", "A", *SHAPED],
            {"partition": (512, 128), "tunable": [True, False]},
        ),
        (["--strategy", "interleave", "--ratio", "1:3", *SHAPED], {"ratio": (1, 3)}),
        (["--strategy", "vertical", "--depends", "--assume-local"], {"depends": True, "assume_local": True}),
        (
            ["--strategy", "vertical", "--depends", "--assume-local", "--no-barriers"],
            {"depends": True, "assume_local": True, "no_barriers": True},
        ),
        (["--strategy", "interleave", "--placement", "front", *SHAPED], {"placement": "front"}),
        (
            ["--strategy", "vertical", "--depends", "--assume-local", "--assume-private", "--unproved", "memory"],
            {"depends": True, "assume_local": True, "assume_private": True, "unproved": "memory"},
        ),
    ],
)
def test_the_command_does_what_the_function_does(
    words: list[str], options: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    strategy: Any = words[1] if words else "weave"
    if SHAPED[1] in words:
        options |= {"shapes": [Shape(8, 256), Shape(4, 128)]}
    expected = goptx.fuse(Path(HARRIS), Path(SORT), strategy=strategy, **options)
    assert main(["fuse", HARRIS, SORT, *words, "-o", str(tmp_path / "out.ptx"), "--report=json"]) == 0
    assert (tmp_path / "out.ptx").read_text() == expected.text()
    report = json.loads(capsys.readouterr().out)
    assert report["strategy"] == strategy == expected.strategy and report["notes"] == list(expected.report.notes)
    assert main(["fuse", HARRIS, SORT, *words]) == 0
    assert capsys.readouterr().out == expected.text()


@pytest.mark.skipif(find_ptxas() is None, reason="needs ptxas")
def test_machine_code_by_the_name_of_the_file(tmp_path: Path) -> None:
    out = tmp_path / "out.cubin"
    assert main(["fuse", HARRIS, SORT, "--strategy", "interleave", *SHAPED, "-o", str(out)]) == 0
    assert out.read_bytes().startswith(b"\x7fELF")


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--strategy", "diagonal"], 2, "InputError: strategy `diagonal` is unknown"),
        (["--ratio", "1:2"], 2, "InputError: strategy weave has no option `ratio`"),
        (
            ["--partition", "a,b"],
            2,
            "InputError: argument --partition: `a,b` has no numbers; write a number for each kernel",
        ),
        (["--strategy", "horizontal"], 2, "InputError: strategy horizontal needs the shape of each kernel"),
        (
            ["--strategy", "horizontal", "--tunable", "C", *SHAPED],
            2,
            "InputError: --tunable C: there are the kernels A, B",
        ),
        (["-o", "out.elf"], 2, "InputError: -o out.elf: `.elf` is not a kind of output; give .ptx or .cubin"),
    ],
)
def test_wrong_words(words: list[str], code: int, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fuse", HARRIS, SORT, *words]) == code
    assert capsys.readouterr().err.startswith(message)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_check_takes_every_strategy(strategy: Strategy, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", HARRIS, SORT, "--strategy", strategy]) == 0
    assert "does what its kernels do alone" in capsys.readouterr().out


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_output_is_deterministic(strategy: Strategy) -> None:
    def made() -> str:
        return goptx.fuse(
            Path(HARRIS), Path(SORT), strategy=strategy, shapes=[Shape(None, 256), Shape((3, 5), (16, 8), 512)]
        ).text()

    assert made() == made()
