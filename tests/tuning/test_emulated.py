"""Tuning on the emulator: every candidate that is timed is right, and a wrong one is found."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tuning.emulating_bench import EmulatingBench
from tuning.fake_bench import AtOnce, reason, statuses, tuned
from weaving.shaped_kernels import STRIDE

import goptx
from goptx.device.assemble import find_ptxas
from goptx.launch.sample_data import sample
from goptx.launch.shape import Shape
from goptx.launch.specification import read_specification
from goptx.measuring.bench.questions import Judged
from goptx.options import MeasuredStrategy
from goptx.results.given_kernels import kernels_of
from goptx.strategies.candidate import Candidate
from goptx.tuning.best import Best, replay
from goptx.tuning.making import Job, Made, make
from goptx.tuning.measured import measured
from goptx.tuning.space.space import Space
from goptx.tuning.tune import WrongOutput, tune

KERNELS = Path(__file__).parents[2] / "examples" / "kernels"
pytestmark = pytest.mark.skipif(find_ptxas() is None, reason="needs ptxas")


def tuned_examples(names: str, *strategies: MeasuredStrategy) -> tuple[EmulatingBench, Best, list[list[Any]]]:
    """In the sizes for checks; with the arguments, as they are at first."""
    launches = [read_specification(KERNELS / f"{name}.toml")[0].small() for name in names.split("+")]
    bench = EmulatingBench()
    best = tune(
        *(launch.file for launch in launches), shapes=[Shape(o.grid, o.block, o.shared) for o in launches],
        args=[list(launch.arguments) for launch in launches], strategies=strategies, benches=[bench],
        executor=AtOnce(), progress=False,
    )  # fmt: skip
    values = [[sample(a, 0, ord(letter)) for a in o.arguments] for letter, o in zip("AB", launches, strict=True)]
    return bench, best, values


@pytest.mark.slow
@pytest.mark.parametrize(
    ("names", "strategies"),
    [("gelu+harris", ("vertical", "horizontal")), ("stms+gelu", ("interleave",))],
)
def test_every_way_that_is_timed_is_right(names: str, strategies: tuple[MeasuredStrategy, ...], tmp_path: Path) -> None:
    bench, best, values = tuned_examples(names, *strategies)
    assert best.bugs == ()
    assert set(statuses(best).values()) <= {"timed", "pruned", "refused"}
    assert len(bench.outputs) > 8
    assert best.candidate.strategy in strategies and best.speedup > 1
    least = min(bench.ms, key=lambda key: (bench.ms[key], key))
    assert bench.ms[str(best.candidate)] == bench.ms[least]
    best.save(tmp_path / "best.json")
    goptx.emulate(replay(tmp_path / "best.json"), args=values)
    for expected, got in zip(bench.outputs["separate"], values, strict=True):
        for one, other in zip(expected, got, strict=True):
            np.testing.assert_array_equal(one, other)


def test_partitions_of_three_kernels_are_right() -> None:
    """All that are searched of 512 threads; each kernel sums integers, so its block does not matter."""
    shapes = [Shape(2, 96)] * 3
    data = [np.arange(100 * (k + 1), dtype=np.uint32) for k in range(3)]
    args = [[d, np.zeros(1, np.uint32), len(d)] for d in data]
    space = Space(shapes, [True] * 3, ["horizontal"], [512])
    candidates = [candidate for candidate in space.first() if candidate.option("partition")]
    assert len(candidates) == 3
    bench = EmulatingBench()
    kernels = tuple(kernels_of([STRIDE] * 3))
    bench.open(measured([STRIDE] * 3, shapes=shapes, args=args).workload)
    for candidate in candidates:
        made = make(Job(kernels, tuple(shapes), (True,) * 3, candidate, "sm_90"))
        assert made.woven, made.trials
        assert bench.judge(str(candidate), made.woven) == Judged()


class Spoiling(AtOnce):
    """Makes a candidate wrongly: one instruction is replaced."""

    def __init__(self, candidate: Candidate, old: str, new: str) -> None:
        super().__init__()
        self.candidate, self.old, self.new = candidate, old, new

    def done(self, make: Callable[[Job], Made], job: Job) -> Made:
        made = make(job)
        if job.candidate != self.candidate:
            return made
        assert made.woven
        text, times = re.subn(self.old, self.new, made.woven.ptx, count=1)
        assert times
        return Made(made.trials, replace(made.woven, module=goptx.read(text)))


@pytest.mark.slow
def test_a_candidate_that_is_made_wrongly_is_found() -> None:
    usual = tuned(EmulatingBench(), executor=AtOnce(), strategies=["vertical"])
    assert usual.bugs == () and usual.candidate.strategy == "vertical"
    executor = Spoiling(usual.candidate, r"mul\.lo\.u32", "add.u32")
    with pytest.warns(WrongOutput, match=rf"^{usual.candidate}: B:1.* of 256 differ; please report it$"):
        best = tuned(EmulatingBench(), executor=executor, strategies=["vertical"])
    assert [t.candidate for t in best.bugs] == [usual.candidate]
    assert best.candidate != usual.candidate
    assert statuses(best)[str(usual.candidate)] == "wrong"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (r"st\.global\.u32[^;]*;", "L: bra L;", "10000"),
        (r"st\.global\.u32 +\[(%\w+)\]", r"st.global.u32 [\1+65536]", "out"),
    ],
)
def test_a_candidate_that_hangs_or_leaves_its_arrays_is_found(old: str, new: str, message: str) -> None:
    executor = Spoiling(Candidate("vertical", (1, 1)), old, new)
    best = tuned(EmulatingBench(), executor=executor, strategies=["vertical"])
    assert statuses(best)["vertical"] == "failed" and message in reason(best, "vertical")
    assert str(best.candidate) != "vertical" and best.candidate.strategy == "vertical"
