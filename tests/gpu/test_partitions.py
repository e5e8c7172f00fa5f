"""Two kernels on partitions of the SMs, as the peer of suite C runs them: timed beside the other ways."""

import sys
from contextlib import closing
from pathlib import Path

import pytest
from tuning.fake_bench import ARGS, PLUS, SHAPES, TIMES

from goptx.measuring.bench.baselines import SEPARATE
from goptx.measuring.bench.bench import Bench
from goptx.tuning.measured import measured

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from suite_c.green_contexts import green_runs, offered

pytestmark = pytest.mark.gpu


def test_green_contexts_are_timed_beside_one_after_the_other() -> None:
    try:
        names = offered(0)
    except Exception as error:  # no device, or a driver without them
        pytest.skip(f"{type(error).__name__}: {error}")
    with closing(Bench(0, green_runs)) as bench:
        what = measured([PLUS, TIMES], shapes=SHAPES, args=ARGS).raised(bench.described().arch)
        bench.open(what.workload)
        timed = bench.time([SEPARATE, *names], 3)
    assert not timed.problem and list(timed.ms) == [SEPARATE, *names] and len(names) == 3
