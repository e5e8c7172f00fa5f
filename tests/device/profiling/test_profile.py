"""profile(): the table, I12, the chart, and the command, with a fake Nsight Compute."""

import json
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from command_line import run
from view.pages import SVG, check, texts

import goptx
from goptx.device.assemble import find_ptxas
from goptx.errors import DeviceError, InputError
from goptx.measuring.profiling.counters import readings
from goptx.measuring.profiling.metrics import ALL, COUNTERS
from goptx.measuring.profiling.profile_result import Launched, Profile, issue_utilisation
from goptx.view.bars import Bars, Group, text
from goptx.view.profile_bars import profile_bars

Runs = Callable[[], list[list[str]]]
Golden = Callable[[str, str], None]
KERNELS = Path(__file__).parents[3] / "examples" / "kernels"
GELU, WMMA, HARRIS = (KERNELS / f"{name}.toml" for name in ("gelu", "wmma", "harris"))
SAMPLE = Path(__file__).with_name("sample.log")
I12 = (46.2 * 862115 + 14.5 * 585960) / (862115 + 585960)
needs_ptxas = pytest.mark.skipif(find_ptxas() is None, reason="needs ptxas")


def launched(label: str, entry: str, **counts: float | None) -> Launched:
    return Launched(label, entry, dict.fromkeys((metric.short for metric in ALL), 0.0) | counts)


@pytest.fixture(scope="module")
def sample() -> Profile:
    found = readings(SAMPLE.read_text(), COUNTERS)
    made = goptx.weave(KERNELS / "gelu.sm_90.ptx", KERNELS / "wmma.sm_90.ptx")
    launches = [
        Launched(label, one.kernel, {m.short: one.values[m.counter] for m in ALL})
        for label, one in zip(("A", "B", "fused"), found, strict=True)
    ]
    return Profile(
        tuple(launches[:2]), (launches[2],), "weave", "NVIDIA H200", "sm_90", "Nsight Compute 2025.3.1.0", made.report
    )


# I12 ----------------------------------------------------------------------------------------------------


def test_reference_is_weighted_with_cycles() -> None:
    one, other = launched("A", "a", ISU=60.0, cycles=300.0), launched("B", "b", ISU=20.0, cycles=100.0)
    assert issue_utilisation([one, other]) == pytest.approx(50)
    assert issue_utilisation([one, other, launched("C", "c", ISU=10.0, cycles=400.0)]) == pytest.approx(30)
    assert issue_utilisation([other]) == 20
    assert issue_utilisation([one, launched("B", "b", ISU=None, cycles=100.0)]) is None
    assert issue_utilisation([one, launched("B", "b", ISU=20.0, cycles=None)]) is None
    assert issue_utilisation([launched("A", "a", ISU=60.0)]) is None
    with pytest.raises(InputError, match="no launch, so there is no utilisation"):
        issue_utilisation([])


def test_verdict(sample: Profile) -> None:
    assert sample.issue_alone == pytest.approx(I12)
    assert f"\nI12 {I12:.1f} %, the issue slots that the kernels use one after the other\n" in str(sample)
    assert "\nISU 47.1 % when fused, above it\n" in str(sample)
    assert "a fused kernel above I12 was always faster" in str(sample)
    slow = replace(sample, fused=(launched("fused", "slow", ISU=20.0, cycles=1.0),))
    assert "\nISU 20.0 % when fused, not above it\n" in str(slow)
    unknown = replace(sample, fused=(launched("fused", "slow", ISU=None, cycles=1.0),))
    assert "\nISU n/a % when fused; the two cannot be compared.\n" in str(unknown)


def test_several_launches(sample: Profile) -> None:
    again = [replace(launch, label=f"fused {i + 1}") for i, launch in enumerate(sample.alone)]
    separate = replace(sample, fused=tuple(again), strategy="separate")
    assert separate.issue_fused == pytest.approx(I12)
    assert re.search(r"A gelu +B wmma +fused 1 +fused 2\n", str(separate))


# table and chart ----------------------------------------------------------------------------------------


def test_table(sample: Profile, golden: Golden) -> None:
    golden("profile_table.txt", f"{sample}\n")
    golden("profile.csv", sample.to_csv())


def test_plain_data(sample: Profile) -> None:
    plain = json.loads(json.dumps(sample.to_dict()))
    assert [kernel["entry"] for kernel in plain["alone"]] == ["gelu", "wmma"]
    assert plain["fused"][0]["counts"]["ISU"] == 47.09
    assert plain["fused"][0]["counts"]["membar"] is None
    assert plain["issue_alone"] == pytest.approx(I12)
    assert (plain["units"]["time"], plain["units"]["EWPC"], plain["units"]["ISU"]) == ("us", "warps", "%")


@pytest.mark.slow
def test_chart(sample: Profile, golden: Golden) -> None:
    bars = profile_bars(sample)
    golden("profile_bars.txt", f"{text(bars)}\n")
    root = check(bars._repr_svg_())
    written = {*texts(root).splitlines()}
    assert {"NVIDIA H200, fused by weave", "A gelu", "B wmma", "fused", "I12", "I12 33.4"} <= written
    tips = [title.text for title in root.iter(f"{SVG}title")][1:]
    assert len(tips) == 3 * len(bars.groups) and tips[:2] == ["A gelu: time, us 456.3", "B wmma: time, us 310.1"]
    assert "ISU, %: A gelu 46.2, B wmma 14.5, fused 47.1, I12 33.4" in (root[1].text or "")


def test_bars() -> None:
    group = Group("a", "", (50.0, None, 0.0, 200.0), 100.0, ("mark", 25.0))
    lines = text(Bars("t", ("x", "yy", "z", "w"), 3, (group,), "share")).splitlines()
    assert lines == [
        "t", f"a  x     {'█' * 20} 50.0", "   yy    n/a", "   z     0.0", f"   w     {'█' * 40} 200.0",
        f"   mark  {'░' * 10} 25.0",
    ]  # fmt: skip
    assert (Group("a", "us", (3.0, 1500.0)).share(750.0), Group("a", "us", (None,)).share(1.0)) == (0.5, 0)
    assert (Group("a", "us", ()).title, Group("a", "", (0.0,)).share(0.0)) == ("a, us", 0)


# the function -------------------------------------------------------------------------------------------


@pytest.mark.slow
@needs_ptxas
def test_profile(ncu: Runs) -> None:
    progress: list[str] = []
    done = goptx.profile(spec=[GELU, WMMA], strategy="weave", progress=progress.append)
    assert [launch.title for launch in done.launches] == ["A gelu", "B wmma", "fused"]
    assert (done.strategy, done.device, done.arch) == ("weave", "NVIDIA H200", "sm_90")
    assert done.profiler == "Nsight Compute 2025.3.1.0"
    assert done.issue_alone == pytest.approx(I12)
    assert progress == [
        "fusing 2 kernels (weave)",
        "Nsight Compute 2025.3.1.0 counts gelu, wmma, gelu_wmma_woven",
    ]
    assert len(ncu()) == 1


@pytest.mark.slow
@needs_ptxas
def test_fused_that_is_given(ncu: Runs) -> None:
    sources, shapes = [KERNELS / "gelu.sm_90.ptx", KERNELS / "wmma.sm_90.ptx"], [goptx.Shape(1 << 20, 256, 0)] * 2
    made = goptx.weave(*sources, shapes=shapes)
    assert goptx.profile(*sources, fused=made).strategy == "weave"
    others = goptx.weave(*reversed(sources), shapes=shapes)
    with pytest.raises(InputError, match="fused=: `wmma_gelu_woven` is not made of the kernels gelu, wmma in this ord"):
        goptx.profile(*sources, fused=others)
    for strategy in ("weave", "horizontal"):
        made = goptx.fuse(*sources, strategy=strategy, shapes=[goptx.Shape(4, 256, 0)] * 2)
        with pytest.raises(InputError, match="kernel A was woven for the shape 4:256, which 1048576:256 contradicts"):
            goptx.profile(*sources, fused=made)


@pytest.mark.slow
@needs_ptxas
def test_other_numbers_of_threads_of_a_horizontal_kernel(ncu: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_NCU", "subject")
    sources, shapes = [KERNELS / "gelu.sm_90.ptx", KERNELS / "histogram.sm_90.ptx"], [goptx.Shape(1 << 20, 256, 0)] * 2
    made = goptx.fuse(*sources, strategy="horizontal", shapes=shapes, partition=(128, 512), tunable=[True, True])
    with pytest.raises(DeviceError, match=f"saw gelu histogram {made.name}$"):
        goptx.profile(*sources, shapes=shapes, fused=made)


@needs_ptxas
def test_launches_that_nobody_asked_for(ncu: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_NCU", "others")
    message = "counted launches of gelu, reset, gelu_wmma_woven, not of gelu, wmma, gelu_wmma_woven"
    with pytest.raises(DeviceError, match=message):
        goptx.profile(spec=[GELU, WMMA], strategy="weave")


@pytest.mark.slow
@needs_ptxas
def test_separate_is_as_many_launches(ncu: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_NCU", "subject")
    with pytest.raises(DeviceError, match=r"status 3: ==ERROR== saw gelu wmma gelu wmma$"):
        goptx.profile(spec=[GELU, WMMA], strategy="separate")


@pytest.mark.slow
@needs_ptxas
def test_program_says_what_is_wrong(ncu: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_NCU", "problem")
    message = (
        r"the kernels cannot be run: the driver answers 700 \(Nsight Compute .* ended with status 9: ==ERROR== Failed"
    )
    with pytest.raises(DeviceError, match=message):
        goptx.profile(spec=[GELU, WMMA], strategy="weave")
    monkeypatch.setenv("FAKE_NCU", "program")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    with pytest.raises(
        DeviceError, match=r"the kernels cannot be run: (no usable NVIDIA GPU|cuda-python with cuda\.core)"
    ):
        goptx.profile(spec=[GELU, WMMA], strategy="weave")


def test_no_such_strategy(ncu: Runs) -> None:
    with pytest.raises(InputError, match="strategy `best` is unknown"):
        goptx.profile(spec=[GELU, WMMA], strategy="best")  # type: ignore[arg-type]


# the command --------------------------------------------------------------------------------------------


@pytest.mark.slow
@needs_ptxas
def test_command(ncu: Runs, tmp_path: Path) -> None:
    options = ["--strategy", "weave", "-o", "chart.svg", "--csv", "table.csv", "--quiet"]
    done = run("profile", str(GELU), str(WMMA), *options, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "\nI12 33.4 %" in done.stdout
    assert re.search(r"^ISU +% .* 46\.2 +14\.5 +47\.1$", done.stdout, re.M)
    assert re.search(r"^ISU, %  +A gelu  █+.? 46\.2$", done.stdout, re.M)
    facts = json.loads(run("profile", str(GELU), str(WMMA), *options, "--report", "json", cwd=tmp_path).stdout)
    assert facts["alone"][1]["counts"]["ISU"] == 14.5
    assert facts["woven_fraction"] == 0  # woven, fewer of their CTAs would fit on an SM
    assert any(note.startswith("the kernels stand one after the other") for note in facts["notes"])
    assert (tmp_path / "chart.svg").read_text().startswith("<svg ")
    assert (tmp_path / "table.csv").read_text().startswith("metric,counter,unit,A gelu,B wmma,fused\n")


@pytest.mark.slow
@needs_ptxas
def test_command_shows_progress(ncu: Runs, tmp_path: Path) -> None:
    done = run("profile", str(GELU), str(WMMA), "--strategy", "weave", "--limit", "60", cwd=tmp_path)
    assert done.stderr.splitlines()[0] == "fusing 2 kernels (weave)"
    assert len(done.stderr.splitlines()) == 2


def test_command_without_matplotlib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    done = run("profile", str(GELU), str(WMMA), "-o", "chart.svg", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("InputError: charts are drawn by matplotlib, which cannot be imported")


def test_command_without_nsight_compute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("goptx.measuring.profiling.ncu._folders", lambda: [str(tmp_path)])
    done = run("profile", str(GELU), str(HARRIS), cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("DeviceError: no Nsight Compute (`ncu`) on the PATH")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--strategy", "best"], "strategy `best` is unknown; expected one of weave"),
        (["--limit", "nan"], "limit=nan is not a time above 0; give seconds."),
        (["--csv", str(GELU)], f"{GELU}: an input, which would be overwritten; give another file."),
        (["-o", "x", "--csv", "x"], "x: two outputs cannot be one file."),
        (
            ["--best", "b.json", "--strategy", "weave"],
            "--best names a kernel that is made already; leave out --strategy",
        ),
    ],
)
def test_command_refuses_before_it_looks_for_nsight_compute(words: list[str], message: str, tmp_path: Path) -> None:
    done = run("profile", str(GELU), str(HARRIS), *words, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"InputError: {message}")
