"""Kernels judged, timed and tuned on a real GPU: wrong kernels are found, and none hangs the bench."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bodies import kernel
from command_line import run
from tuning.fake_bench import PLUS, TIMES
from weaving.shaped_kernels import STRIDE

import goptx
from goptx.errors import DeviceError, InputError
from goptx.launch.shape import Shape
from goptx.launch.specification import Argument, read_specification
from goptx.measuring.bench import bench as module
from goptx.measuring.bench.baselines import STREAMS
from goptx.measuring.bench.bench import Bench
from goptx.measuring.bench.questions import Failed, Judged
from goptx.measuring.bench.workload import Workload
from goptx.results.fused_kernel import Woven
from goptx.tuning.measured import Measured, measured
from goptx.tuning.tune import WrongOutput, tune

pytestmark = pytest.mark.gpu

KERNELS = Path(__file__).parents[2] / "examples" / "kernels"
SHAPES = [Shape(1, 64), Shape(1, 64)]  # so that 256 bytes after an element is in the guard
ARGS = {"A:0": "u32[64]", "A:1": "u32[64]", "A:2": "u32:3", "B:0": "u32[64]", "B:1": "u32[64]", "B:2": "u32:5"}
JOINED = kernel(
    "ld.param.u64 %rd1, [joined_in]; ld.param.u64 %rd2, [joined_out]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 4;"
    "add.s64 %rd4, %rd1, %rd3; add.s64 %rd5, %rd2, %rd3; ld.global.b32 %r2, [%rd4]; mul.f32 %r3, %r2, %r2;"
    "add.f32 %r4, %r3, %r2; st.global.b32 [%rd5], %r4; ret;",
    "joined",
)  # which an assembler may make one fma of


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    monkeypatch.setattr(module, "LIMIT", 5)
    made = Bench()
    try:
        made.described()
    except DeviceError as error:
        pytest.skip(str(error))
    yield made
    made.close()


def opened(bench: Bench, *sources: str, **how: Any) -> tuple[Workload, Woven]:
    """The workload of the kernels, and the fused kernel."""
    what = measured(sources, **{"shapes": SHAPES, "args": ARGS, **how}).raised(bench.described().arch)
    bench.open(what.workload)
    return what.workload, woven(what)


def woven(what: Measured) -> Woven:
    arch = what.workload.separate.module.target[0]
    return goptx.fuse(*what.kernels, strategy="vertical", shapes=what.shapes, arch=arch)


def altered(made: Woven, old: str, new: str) -> Woven:
    """The kernel with other text in place of the first that matches."""
    text, times = re.subn(old, new, made.ptx, count=1)
    assert times
    return replace(made, module=goptx.read(text))


def test_what_is_right(bench: Bench) -> None:
    _, made = opened(bench, PLUS, TIMES)
    assert bench.judge("right", made) == Judged()
    assert bench.judge("capped", made, 32) == Judged()
    timed = bench.time([STREAMS, "separate", "right", "capped"], 5)
    assert {len(runs) for runs in timed.ms.values()} == {5 * 8}  # short runs are repeated more often
    assert all(0 < ms < 10 for runs in timed.ms.values() for ms in runs)
    assert bench.replaced == 0


def test_every_way_on_the_device_and_launched(bench: Bench) -> None:
    workload, made = opened(bench, PLUS, TIMES)
    assert bench.judge("fused", made) == Judged()
    for streams in (True, "reversed"):
        assert bench.judge(f"{streams}", workload.separate.side_by_side(streams)) == Judged()
    names = [*workload.baselines, "fused", "True", "reversed"]
    device, launched = bench.time(names, 3), bench.time(names, 3, 1, launched=True)
    assert not device.problem and not launched.problem
    assert list(device.ms) == list(launched.ms) == list(launched.host_us) == names and device.host_us == {}
    assert all(0 < us < 1e5 for runs in launched.host_us.values() for us in runs)


def test_renewed_in_another_place(bench: Bench) -> None:
    workload, made = opened(bench, PLUS, TIMES)
    assert bench.judge("fused", made) == Judged() and bench.holds("fused")
    bench.renew()
    assert not bench.holds("fused") and bench.judge("fused", made) == Judged()
    assert set(bench.time([*workload.baselines, "fused"], 3).ms) == {*workload.baselines, "fused"}


def test_what_is_wrong(bench: Bench) -> None:
    _, made = opened(bench, PLUS, TIMES)
    answer = bench.judge("wrong", altered(made, r"mul\.lo\.u32", "add.u32"))
    assert isinstance(answer, Judged)
    assert re.fullmatch(r"B:1 \(times_out\) differs in \d+ elements", answer.wrong), answer
    assert bench.judge("right", made) == Judged() and not bench.holds("wrong")


def test_what_writes_after_its_array(bench: Bench) -> None:
    _, made = opened(bench, PLUS, TIMES)
    beyond = altered(made, r"(st\.global\.u32 +\[)(%\w+)(\][^;]*;)", r"\1\2\3 \1\2+256\3")
    assert bench.judge("beyond", beyond) == Judged(wrong="A:1 (plus_out) is overrun")
    assert bench.judge("right", made) == Judged()  # the guard is made anew too


def test_what_hangs(bench: Bench) -> None:
    _, made = opened(bench, PLUS, TIMES)
    assert bench.judge("right", made) == Judged()
    hanging = altered(made, r"st\.global\.u32[^;]*;", "AGAIN: bra AGAIN;")
    answer = bench.judge("hanging", hanging)
    assert isinstance(answer, Failed) and "it hangs" in answer.problem
    assert bench.replaced == 1
    assert not bench.time([STREAMS, "right"], 3).problem


def test_what_breaks_the_device(bench: Bench) -> None:
    _, made = opened(bench, PLUS, TIMES)
    nowhere = r"{ .reg .b64 %nowhere; mov.u64 %nowhere, 16; st.global.u32 [%nowhere], \1; }"
    answer = bench.judge("breaking", altered(made, r"st\.global\.u32 +\[%\w+\], (%\w+);", nowhere))
    assert isinstance(answer, Failed) and answer.broken
    assert bench.judge("right", made) == Judged()
    assert bench.replaced == 1


def test_contraction_is_not_an_error(bench: Bench) -> None:
    """In one place the assembler may join the product and the sum, in the other it may not."""
    args = {**ARGS, "A:0": "f32[64]", "A:1": "f32[64]"}
    _, made = opened(bench, JOINED, TIMES, args=args)
    assert bench.judge("same", made) == Judged()
    rounded = altered(altered(made, r"mul\.f32", "mul.rn.f32"), r"add\.f32", "add.rn.f32")
    answer = bench.judge("rounded", rounded)
    assert isinstance(answer, Judged) and not answer.wrong
    assert re.fullmatch(r"A:1 \(joined_out\) differs in \d+ elements, by \S+ at most", answer.contracted), answer
    other = bench.judge("other", altered(made, r"mul\.f32", "add.f32"))
    assert isinstance(other, Judged) and other.wrong and not other.contracted


def test_kernels_that_are_not_repeatable(bench: Bench) -> None:
    ticking = kernel(
        "ld.param.u64 %rd2, [k_out]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 4; add.s64 %rd5, %rd2, %rd3;"
        "mov.u64 %rd1, %globaltimer; cvt.u32.u64 %r2, %rd1; st.global.u32 [%rd5], %r2; ret;"
    )
    with pytest.raises(InputError, match=r"the kernels alone give two results: A:1 \(k_out\) differs in 64 elements"):
        opened(bench, ticking, TIMES)


def reduced(name: str) -> tuple[Path, Shape, list[Argument]]:
    """An example of a 256th of its size."""
    launch = read_specification(KERNELS / f"{name}.toml")[0]
    arguments = [
        replace(a, length=a.length // 256, value=a.value // 256 if a.name in ("n", "n2") and a.value else a.value)
        for a in launch.arguments
    ]
    return launch.file, Shape(launch.grid[0] // 256, launch.block, launch.shared), arguments


def test_tuned_and_replayed(bench: Bench, tmp_path: Path) -> None:
    files, shapes, args = zip(*map(reduced, ("gelu", "harris")), strict=True)
    how: dict[str, Any] = {"shapes": shapes, "args": args, "budget": "20s", "progress": False}
    best = tune(*files, benches=[bench], workers=4, records=tmp_path / "records", **how)
    print(best)
    assert best.bugs == ()
    assert best.speedup >= 1 and (best.speedup > 1) == (
        best.candidate.strategy != "separate" or not best.candidate.plain
    )
    assert best.ms[str(best.candidate)] <= best.ms["separate"]
    best.save(tmp_path / "best.json")
    assert goptx.replay(tmp_path / "best.json").ptx == best.fused.ptx
    again = tune(*files, benches=[bench], workers=4, records=tmp_path / "records", **{**how, "budget": 1})
    assert len(again.table.trials) >= len(best.table.trials)


def test_partitions_of_three_tunable_kernels(bench: Bench, tmp_path: Path) -> None:
    """All of 512 and of 768 threads are right, and their caps too."""
    (tmp_path / "stride.ptx").write_text(STRIDE)
    table = """
[[kernel]]
file = "stride.ptx"
entry = "stride"
grid = [264]
block = [128]
tunable = true
argument = [
    { name = "in", dtype = "uint32", length = 1000000, generator = "integers" },
    { name = "out", dtype = "uint32", length = 1, generator = "zeros", role = "inout" },
    { name = "n", dtype = "uint32", value = 1000000 },
]
"""
    (tmp_path / "three.toml").write_text(3 * table)
    best = tune(
        spec=tmp_path / "three.toml", d0=[512, 768], strategies=["horizontal"], benches=[bench], workers=4,
        progress=False,
    )  # fmt: skip
    print(best)
    assert best.bugs == ()
    parted = {t.candidate.option("partition"): t.status for t in best.table.trials if t.candidate.option("partition")}
    assert {sum(p) for p in parted} == {512, 768} and len(parted) == 3 + 10
    free = [
        t
        for t in best.table.trials
        if t.candidate.option("partition") and t.candidate.plain and t.candidate.cap is None
    ]
    assert all(t.status == "timed" for t in free), [(str(t.candidate), t.status, t.reason) for t in free]


def test_sweep_of_described_launches(bench: Bench, tmp_path: Path) -> None:
    """Every cap is right, and the command writes what the table marks."""
    files, shapes, args = zip(*map(reduced, ("gelu", "harris")), strict=True)
    fused = goptx.weave(*files, shapes=shapes, arch=bench.described().arch)
    found = goptx.sweep(fused, None, (32, 64, 256), shapes=shapes, args=args, repeats=5, bench=bench)
    print(found)
    assert [row.cap for row in found.rows] == [32, 64, 256]
    assert all(0 < row.ms_min <= row.ms <= row.ms_max < 10 and not row.problem for row in found.rows)
    specs = [str(KERNELS / f"{name}.toml") for name in ("gelu", "harris")]
    done = run("sweep", *specs, "--caps", "32,256", "--repeats", "3", "-o", "best.cubin", "--report=json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)["sweep"]
    assert report["best"] in (32, 256) and [row["problem"] for row in report["rows"]] == ["", ""]
    assert (tmp_path / "best.cubin").read_bytes()[:4] == b"\x7fELF"
    alone = run("sweep", specs[0], "--caps", "32,256", "--repeats", "3", cwd=tmp_path)
    assert alone.returncode == 0 and len(alone.stdout.splitlines()) == 3, alone.stderr


def test_sweep_finds_what_is_wrong(bench: Bench) -> None:
    _, made = opened(bench, PLUS, TIMES)
    wrong = altered(made, r"mul\.lo\.u32", "add.u32")
    with pytest.warns(WrongOutput, match="B:1"):
        found = goptx.sweep(wrong, None, (32, 256), shapes=SHAPES, args=ARGS, repeats=3, bench=bench)
    assert all(row.problem.startswith("it does not write what its kernels alone write") for row in found.rows)


@pytest.mark.parametrize("framework", ["cupy", "torch"])
def test_arrays_of_frameworks(framework: str, bench: Bench) -> None:
    """They are copied: their contents stay."""
    from_numpy: Any = pytest.importorskip(framework).asarray
    if framework == "torch":
        torch = pytest.importorskip("torch")
        if not torch.cuda.is_available():
            pytest.skip("torch sees no GPU")

        def from_numpy(values: Any) -> Any:
            return torch.as_tensor(values, device="cuda")

    x, one, two = (from_numpy(np.arange(64, dtype=np.int32)) for _ in range(3))
    best = tune(
        PLUS, TIMES, shapes=SHAPES, args=[[x, one, 3], [x, two, 5]], benches=[bench], strategies=["vertical"],
        budget=20, workers=2, progress=False,
    )  # fmt: skip
    assert best.bugs == () and any(t.status == "timed" for t in best.table.trials)
    assert [array.tolist() for array in (x, one, two)] == [list(range(64))] * 3


def test_two_devices(bench: Bench) -> None:
    from cuda.bindings import driver

    driver.cuInit(0)
    if driver.cuDeviceGetCount()[1] < 2:
        pytest.skip("there is one GPU")
    best = tune(
        PLUS, TIMES, shapes=SHAPES, args=ARGS, devices=[0, 1], strategies=["vertical", "weave"], budget=20, workers=4,
        progress=False,
    )  # fmt: skip
    assert best.bugs == ()
    assert not any(t.status == "failed" for t in best.table.trials)
