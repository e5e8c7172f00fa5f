"""Groups of more than two kernels, such as six embedding bags and four optimizer steps: what is chosen of them, when a
bench prescribes the times, which may differ from measurement to measurement."""

import random
from typing import Any

import pytest
from tuning.fake_bench import ARGS, PLUS, SEPARATE, SHAPES, FakeBench, Pretending

from goptx.measuring.bench.baselines import WAYS
from goptx.tuning.best import Best
from goptx.tuning.finals import GAIN
from goptx.tuning.tune import tune

COUNTS = [3, 4, 6]


def tuned(count: int, bench: FakeBench, **how: Any) -> Best:
    letters = [chr(ord("A") + k) for k in range(count)]
    args = {f"{letter}:{i}": ARGS[f"A:{i}"] for letter in letters for i in range(3)}
    sources = [PLUS.replace("plus", f"plus_{letter.lower()}") for letter in letters]
    return tune(
        *sources, shapes=[SHAPES[0]] * count, args=args, executor=Pretending(), benches=[bench], progress=False, **how
    )


class Uneven(FakeBench):
    """Each candidate has a time of its own, between 0.8 and 1.4 of that of the unchanged kernels; `noise` is the part
    by which a measurement differs from it at most. `timed`: all times that were given before the last comparison, and
    in it."""

    def __init__(self, seed: int, noise: float) -> None:
        super().__init__()
        self.random, self.noise = random.Random(seed), noise
        self.own: dict[str, float] = {}
        self.timed: tuple[dict[str, list[float]], dict[str, list[float]]] = {}, {}

    def time_of(self, key: str) -> float:
        if key not in self.own:
            self.own[key] = super().time_of(key) if key in WAYS else self.random.uniform(0.8, 1.4)
        found = self.own[key] * self.random.uniform(1 - self.noise, 1 + self.noise)
        self.timed[("renew", "") in self.journal].setdefault(key, []).append(found)
        return found


@pytest.mark.parametrize("count", COUNTS)
def test_a_plain_candidate_that_is_the_fastest(count: int) -> None:
    """Though its variants are all slower than the unchanged kernels."""
    bench = FakeBench({"interleave": 1 / 1.05}, otherwise=lambda name: 1.04)
    best = tuned(count, bench)
    assert str(best.candidate) == "interleave" and best.speedup == pytest.approx(1.05)
    begun = [entry for entry, *_ in bench.journal]
    renewed = begun.index("renew")
    assert begun[renewed:] == ["renew", "judge", "time", "launched"], "in a new process, with its data in other places"
    assert {*WAYS, "interleave"} <= set(bench.journal[renewed + 2])


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("seed", range(3))
def test_nothing_that_was_measured_is_faster(seed: int, count: int) -> None:
    bench = Uneven(seed, noise=0)
    best = tuned(count, bench)
    fastest = min(times[0] for times in bench.timed[0].values())
    assert best.candidate.strategy != SEPARATE and best.ms[str(best.candidate)] == fastest
    assert best.speedup == pytest.approx(1 / fastest) and best.speedup >= GAIN


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("seed", range(3))
def test_never_slower_than_the_unchanged_kernels(seed: int, count: int) -> None:
    """Whatever seemed fast by chance has to be fast in the new process too."""
    bench = Uneven(seed, noise=0.2)
    best = tuned(count, bench)
    later = bench.timed[1]
    if best.candidate.strategy == SEPARATE:
        assert best.speedup <= 1
    else:
        assert (
            min(best.ms[way] for way in WAYS if way in best.ms) / best.ms[str(best.candidate)] >= best.speedup >= GAIN
        )
        assert best.ms[str(best.candidate)] in later[str(best.candidate)]


@pytest.mark.parametrize("count", COUNTS)
def test_a_group_that_is_slower_in_the_new_process_stays_as_it_is(count: int) -> None:
    class Later(FakeBench):
        def time_of(self, key: str) -> float:
            return 1.05 if key not in WAYS and ("renew", "") in self.journal else super().time_of(key)

    best = tuned(count, Later(otherwise=lambda name: 0.9))
    assert best.candidate.strategy == SEPARATE and best.speedup == 1.0
