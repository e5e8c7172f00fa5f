"""The register sweep of kernels whose launches are described: on the emulator, and on a bench with prescribed times."""

import json
import math
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import numpy as np
import pytest
from command_line import run
from tuning.emulating_bench import EmulatingBench
from tuning.fake_bench import ARGS, PLUS, SHAPES, TIMES, FakeBench

import goptx
from goptx import DeviceError, InputError
from goptx.device import sweep as by_hand
from goptx.device.assemble import find_ptxas
from goptx.device.child_process import Child
from goptx.errors import AssemblyError
from goptx.launch.shape import Shape
from goptx.measuring.bench import bench as bench_module
from goptx.measuring.bench.questions import Failed, Judged
from goptx.results.fused_kernel import Woven
from goptx.tuning.tune import WrongOutput

SPEC = """
[[kernel]]
file = "{name}.ptx"
entry = "{name}"
grid = [4]
block = [64]
argument = [
    {{ name = "in", dtype = "uint32", length = 256, generator = "integers" }},
    {{ name = "out", dtype = "uint32", length = 256, role = "out" }},
    {{ name = "n", dtype = "uint32", value = 3 }},
]
"""
pytestmark = pytest.mark.skipif(find_ptxas() is None, reason="needs ptxas")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in (("plus", PLUS), ("times", TIMES)):
        (tmp_path / f"{name}.ptx").write_text(text)
        (tmp_path / f"{name}.toml").write_text(SPEC.format(name=name))
    return tmp_path


def specs(folder: Path) -> list[Path]:
    return [folder / "plus.toml", folder / "times.toml"]


def ms(key: str) -> float:
    """The lower the cap, the faster, except for 32."""
    cap = int(key.rpartition(" ")[2])
    return 0.7 if cap == 32 else cap / 100


def fused(folder: Path) -> Woven:
    return goptx.weave(folder / "plus.ptx", folder / "times.ptx", shapes=SHAPES)


# In a program ---------------------------------------------------------------------------------------------


def test_every_cap_is_compared_and_then_timed_in_turn(folder: Path) -> None:
    bench = FakeBench(otherwise=ms)
    found = goptx.sweep(fused(folder), spec=specs(folder), bench=bench)
    assert [row.cap for row in found.rows] == [32, 40, 48, 64, 80, 128, 256]
    assert [row.ms for row in found.rows] == [0.7, 0.4, 0.48, 0.64, 0.8, 1.28, 2.56]
    assert found.best.cap == 40
    names = [f"capped at {row.cap}" for row in found.rows]
    assert bench.journal == [*(("judge", name) for name in names), ("time", *names)]
    assert all(0 < row.registers <= row.cap and row.occupancy == 1.0 and not row.problem for row in found.rows)


@pytest.mark.slow
def test_the_specifications_beside_the_kernels_will_do(folder: Path) -> None:
    expected = goptx.sweep(fused(folder), spec=specs(folder), bench=FakeBench(otherwise=ms))
    assert goptx.sweep(fused(folder), bench=FakeBench(otherwise=ms)) == expected
    assert goptx.sweep(fused(folder), None, [64, 32, 64], bench=FakeBench()).rows[0].cap == 64
    text = goptx.weave(PLUS, TIMES, shapes=SHAPES)
    expected = goptx.sweep(text, spec=specs(folder), bench=FakeBench(otherwise=ms))  # of texts, which are woven
    assert goptx.sweep(text, shapes=SHAPES, args=ARGS, bench=FakeBench(otherwise=ms)) == expected


@pytest.mark.parametrize(
    "made",
    [
        lambda *sources: goptx.weave(*sources),
        lambda *sources: goptx.weave(*sources, shapes=SHAPES),
        lambda *sources: goptx.weave(goptx.coarsen(sources[0], 2), sources[1], shapes=SHAPES),
        lambda *sources: goptx.fuse(*sources, strategy="horizontal", shapes=SHAPES),
        lambda *sources: goptx.fuse(*sources, strategy="interleave", shapes=SHAPES),
        lambda *sources: goptx.fuse(*sources, strategy="separate", shapes=SHAPES),
        lambda *sources: goptx.fuse(*sources, strategy="separate"),
        lambda *sources: goptx.fuse(*sources, strategy="auto", shapes=SHAPES),
        lambda *sources: goptx.coarsen(sources[0], 4),
        lambda *sources: goptx.fuse(sources[0], strategy="separate"),
    ],
    ids=["common", "woven", "coarse", "horizontal", "interleave", "separate", "any", "auto", "alone", "as it is"],
)
def test_what_is_swept_runs_as_it_is_described(made: Callable[..., Woven], folder: Path) -> None:
    """On the emulator, bit for bit."""
    bench = EmulatingBench()
    found = goptx.sweep(made(folder / "plus.ptx", folder / "times.ptx"), None, (32, 256), bench=bench)
    assert [row.problem for row in found.rows] == ["", ""] and all(row.ms > 0 for row in found.rows)
    for one, other in zip(bench.outputs["separate"], bench.outputs["capped at 32"], strict=True):
        for expected, got in zip(one, other, strict=True):
            np.testing.assert_array_equal(expected, got)


def test_a_wrong_result_is_not_timed(folder: Path) -> None:
    wrong = Judged(wrong="B:1 (times_out) differs in 3 elements")
    bench = FakeBench(otherwise=ms, judged={"capped at 40": wrong, "capped at 64": Judged(contracted="A:1 differs")})
    with pytest.warns(
        WrongOutput, match=r"^`plus_times_woven` capped at 40: B:1 \(times_out\) differs in 3 elements; pl"
    ):
        found = goptx.sweep(fused(folder), bench=bench)
    assert math.isnan(found.rows[1].ms) and found.best.cap == 48
    assert str(found).splitlines()[-2:] == [
        "40: it does not write what its kernels alone write: B:1 (times_out) differs in 3 elements",
        "64: with contraction, A:1 differs",
    ]
    assert found.to_dict()["rows"][1]["ms"] is None and found.to_dict()["best"] == 48


def test_what_hangs_is_found_and_the_others_are_timed(folder: Path) -> None:
    bench = FakeBench(otherwise=ms, judged={"capped at 40": Failed("no answer")}, breaks=["capped at 48"])
    found = goptx.sweep(fused(folder), bench=bench)
    assert {row.cap: row.problem for row in found.rows if row.problem} == {
        40: "no answer", 48: "no answer within 2 s: it hangs",
    }  # fmt: skip
    assert found.best.cap == 64
    every = FakeBench(judged={f"capped at {cap}": Failed("no answer") for cap in (32, 256)})
    with pytest.raises(InputError, match="no register cap of the sweep could run: no answer"):
        _ = goptx.sweep(fused(folder), None, (32, 256), bench=every).best


def test_a_cap_that_the_assembler_refuses(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assembly = Woven.assembly

    def refusing(self: Woven, max_registers: int | None = None, **how: Any) -> Any:
        if max_registers == refused:
            raise AssemblyError("too few registers")
        return assembly(self, max_registers, **how)

    refused = 32
    monkeypatch.setattr(Woven, "assembly", refusing)
    found = goptx.sweep(fused(folder), None, (32, 256), bench=FakeBench(otherwise=ms))
    assert found.rows[0].problem == "too few registers" and found.best.cap == 256
    assert re.search(r"^  32 +- +- +- +- +- +-$", str(found), re.MULTILINE)
    refused = 256
    with pytest.raises(AssemblyError, match="too few registers"):
        goptx.sweep(fused(folder), None, (32, 256), bench=FakeBench())


def test_a_cap_under_which_no_cta_fits_is_not_run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    resources = Woven.resources

    def counted(self: Woven, cap: int | None = None, *how: Any) -> Any:
        found = resources(self, cap, *how)
        return replace(found, occupancy=0.0) if cap == 256 else found

    monkeypatch.setattr(Woven, "resources", counted)
    bench = FakeBench(otherwise=ms)
    found = goptx.sweep(fused(folder), None, (32, 256), bench=bench)
    assert math.isnan(found.rows[1].ms) and not found.rows[1].problem
    assert bench.judgements == ["capped at 32"]


def test_run_goes_on_to_work(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """With a function that launches the kernel, nothing else is needed."""
    asked: list[Any] = []
    monkeypatch.setattr(by_hand, "sweep", lambda *given, **how: asked.append((given, how)))
    launch, stream = object(), object()
    goptx.sweep(fused(folder), launch, (32, 64), block=64, stream=stream, repeats=5)  # type: ignore[arg-type]
    (((_, given, caps), how),) = asked
    assert (given, caps) == (launch, (32, 64))
    assert how == {"block": 64, "stream": stream, "warmups": 3, "repeats": 5}


def launch(*_: Any) -> None:
    raise AssertionError("it is not launched")


HANDED_ON = goptx.fuse(PLUS, TIMES, strategy="vertical", depends=True, assume_local=True)
REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "nothing described": (
        {"woven": goptx.weave(PLUS, TIMES)},
        r"nothing describes how `plus_times_woven` is launched; give launch specifications of its kernels, "
        r'spec=\["A.toml", "B.toml"\], or run=, a function that launches it',
    ),
    "both": ({"run": launch, "spec": "a.toml"}, "run= launches the kernel by itself; leave spec=, shapes=, args= and"),
    "block": ({"block": 64}, "block= and stream= belong to run=; without it, launch specifications describe"),
    "no kernel of ours": ({"woven": object()}, "object is not a kernel that goptx made; give run=, a function that"),
    "no spec": ({"spec": "none.toml"}, r"none\.toml: cannot be read"),
    "one spec": ({"spec": ["plus.toml"]}, r"1 \[\[kernel\]\] tables for 2 kernels"),
    "no caps": ({"registers": []}, r"registers=\[\] takes caps per thread: numbers from 1 to 255, and 256 for no cap"),
    "no cap": ({"registers": [32, 0]}, r"registers=\[32, 0\] takes caps per thread"),
    "repeats": ({"repeats": 0}, "repeats=0, warmups=3: a sweep takes 1 repeat or more"),
    "other shapes": (
        {"shapes": [Shape(8, 64), Shape(4, 64)]},
        r"kernel A was woven for the shape 4:64, which 8:64 contradicts",
    ),
    "not one shape": (
        {"woven": goptx.weave(PLUS, TIMES), "shapes": [Shape(2, 64), Shape(4, 64)], "args": ARGS},
        r"`plus_times_woven` was made for one common shape, but its kernels are launched as 2:64, 4:64; make it for",
    ),
    "dependent": (
        {"woven": HANDED_ON, "shapes": SHAPES, "args": ARGS},
        "depend on each other, and launch specifications describe each of them alone; give run=, a function that",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_refused_before_a_gpu_is_asked_for(what: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    how, message = REFUSED[what]
    given = {"woven": fused(folder), **how}
    with pytest.raises(InputError, match=message):
        goptx.sweep(**given)


# The command ----------------------------------------------------------------------------------------------


class Opened(FakeBench):
    """The bench of a device; it is closed at the end."""

    open_ones = 0

    def __init__(self, device: int = 0) -> None:
        super().__init__(otherwise=ms, judged=self.answers)
        Opened.open_ones += 1

    answers: dict[str, Any] = {}  # noqa: RUF012 - of all

    def close(self) -> None:
        Opened.open_ones -= 1


@pytest.fixture
def measuring(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder, as if there were a GPU."""
    monkeypatch.setattr(bench_module, "Bench", Opened)
    return folder


def swept(folder: Path, *words: str) -> CompletedProcess[str]:
    done = run("sweep", *words, cwd=folder)
    assert Opened.open_ones == 0
    return done


def test_the_command_writes_the_fastest(measuring: Path) -> None:
    done = swept(measuring, "plus.toml", "times.toml", "--caps", "32,40,64,256", "-o", "best.cubin")
    assert (done.returncode, done.stderr) == (0, "")
    assert re.search(r"^  40 +\d+ +0 +100%  0\.4000  0\.4000  0\.4000  \*$", done.stdout, re.MULTILINE)
    woven = goptx.weave(measuring / "plus.ptx", measuring / "times.ptx", shapes=SHAPES, arch="sm_90")
    assert (measuring / "best.cubin").read_bytes() == woven.cubin(40)
    assert swept(measuring, "plus.ptx", "times.ptx", "--caps", "32,40,64,256").stdout == done.stdout


def test_the_command_takes_one_kernel(measuring: Path) -> None:
    done = swept(measuring, "plus.toml", "--caps", "64,256", "-o", "plus.ptx.ptx", "--report=json")
    assert done.returncode == 0
    report = json.loads(done.stdout)
    assert (report["strategy"], report["sweep"]["best"]) == ("separate", 64)
    assert ".maxnreg 64" in (measuring / "plus.ptx.ptx").read_text()


def test_options_reach_the_strategy(measuring: Path) -> None:
    words = ("plus.toml", "times.toml", "--caps", "256", "-o", "out.ptx", "--quiet", "--name", "both")
    done = swept(measuring, *words, "--policy", "paper", "--slicing", "none")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    files = (measuring / "plus.ptx", measuring / "times.ptx")
    how: dict[str, Any] = {"shapes": SHAPES, "arch": "sm_90", "name": "both"}
    expected = goptx.weave(*files, policy="paper", slicing=None, **how)
    assert (measuring / "out.ptx").read_text() == expected.ptx
    done = swept(measuring, *words, "--strategy", "vertical", "--report")
    assert done.returncode == 0 and "policy concat" in done.stderr
    assert (measuring / "out.ptx").read_text() == goptx.fuse(*files, strategy="vertical", **how).ptx


def test_a_page_of_the_sweep(measuring: Path) -> None:
    assert swept(measuring, "plus.toml", "times.toml", "--html", "sweep.html").returncode == 0
    page = (measuring / "sweep.html").read_text(encoding="utf-8")
    assert "<title>Register caps of plus_times_woven</title>" in page and "★ 40" in page and "<svg" in page


def test_a_result_that_is_wrong_is_a_failed_check(measuring: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = {"capped at 32": Judged(wrong="B:1 differs in 3 elements"), "capped at 64": Failed("no answer")}
    monkeypatch.setattr(Opened, "answers", answers)
    words = ("plus.toml", "times.toml", "-o", "best.cubin")
    done = swept(measuring, *words, "--caps", "32,64")
    assert done.returncode == 1 and not (measuring / "best.cubin").exists()
    assert done.stderr.startswith("CheckFailed: it does not write what its kernels alone write: B:1 differs in 3 elem")
    assert "64: no answer" in done.stdout and "warning: `plus_times_woven` capped at 32: B:1" in done.stderr
    done = swept(measuring, *words, "--caps", "64")
    assert (done.returncode, done.stderr) == (2, "InputError: no register cap of the sweep could run: no answer\n")
    assert not (measuring / "best.cubin").exists()
    assert swept(measuring, *words, "--caps", "32,64,80").returncode == 0
    assert (measuring / "best.cubin").read_bytes()[:4] == b"\x7fELF"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["plus.toml", "times.ptx"], "give launch specifications or PTX files, not both"),
        (["plus.toml", "--entry", "plus"], "--shape and --entry are for PTX files"),
        (["none.toml"], "none.toml: cannot be read"),
        (["plus.toml", "-o", "out.txt"], "-o out.txt: `.txt` is not a kind of output; give .cubin or .ptx"),
        (["plus.toml", "-o", "none/out.cubin"], "none/out.cubin: cannot be written (no such folder)"),
        (["plus.ptx", "-o", "plus.ptx"], "plus.ptx: an input, which would be overwritten"),
        (["plus.toml", "-o", "plus.ptx"], "plus.ptx: an input, which would be overwritten"),
        (["plus.toml", "--caps", "32,x"], "argument --caps: `32,x` has no sizes; give one number or several"),
        (["plus.toml", "--caps", "0"], "registers=[0] takes caps per thread"),
        (["plus.toml", "--repeats", "0"], "repeats=0, warmups=3: a sweep takes 1 repeat or more"),
        (["plus.toml", "times.toml", "--strategy", "best"], "strategy `best`"),
        (["plus.toml", "--policy", "paper"], "strategy separate"),
    ],
)
def test_refused_before_anything_is_measured(words: list[str], message: str, folder: Path) -> None:
    done = run("sweep", *words, cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"InputError: {message}"), done.stderr


def test_without_a_gpu(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    message = "no usable NVIDIA GPU"
    monkeypatch.setattr(Child, "ask", lambda *_: Failed(message))
    done = run("sweep", "plus.toml", "times.toml", "-o", "best.cubin", cwd=folder)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"DeviceError: {message}\n")
    assert not (folder / "best.cubin").exists()
    with pytest.raises(DeviceError, match=message):
        goptx.sweep(fused(folder))
