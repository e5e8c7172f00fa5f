"""The pairs of benchmarks/when_fusion_loses.py: fused they are right, and together they lack certain resources."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tuning.emulating_bench import EmulatingBench

import goptx
from goptx import Shape
from goptx.measuring.bench.baselines import GRAPH
from goptx.measuring.bench.questions import Opened
from goptx.measuring.bench.workload import Workload

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

from when_fusion_loses import BASELINES, BLOCK, REASONS, WAYS, Case, Kernel, cases, costs, made, run, table  # noqa: E402

CASES = {case.name: case for case in cases()}


def small(kernel: Kernel) -> Kernel:
    return replace(kernel, size=min(kernel.size, 2 * kernel.live), trips=2, ctas=min(kernel.ctas, 2))


@pytest.mark.parametrize("candidate", WAYS)
@pytest.mark.parametrize("name", ["24 registers live in each", "a long chain in 4 CTAs, and a full grid"])
def test_fused_they_do_what_they_do_alone(name: str, candidate: str) -> None:
    pair = small(CASES[name].first), small(CASES[name].second)
    verdict = goptx.check(
        *(kernel.ptx(name) for kernel, name in zip(pair, ("first", "second"), strict=True)),
        shapes=[Shape(kernel.ctas, BLOCK) for kernel in pair],
        args={f"{letter}:{i}": a for letter, k in zip("AB", pair, strict=True) for i, a in enumerate(k.arguments)},
        **WAYS[candidate],
    )
    assert verdict.passed


def test_results_are_finite_and_not_all_equal() -> None:
    kernel = Kernel(live=24, size=96, trips=30, ctas=1)
    out = np.zeros(BLOCK, np.float32)
    goptx.emulate(kernel.ptx("k"), grid=1, block=BLOCK, args=[kernel.arguments[0], out])
    assert np.isfinite(out).all() and len(set(out)) > 1


@pytest.mark.slow
def test_what_they_lack() -> None:
    assert tuple(dict.fromkeys(case.reason for case in CASES.values())) == REASONS
    spilled = costs(_woven("144 registers live in each"))
    assert spilled["spill_bytes"] > 0 and spilled["registers"] == 255
    full = costs(_woven("96 registers live in each"))
    alone = costs(CASES["96 registers live in each"].measured.workload.each[0])
    assert full["spill_bytes"] == alone["spill_bytes"] == 0
    assert full["occupancy"] < 0.25 and alone["registers"] <= 128
    assert all(64_000 < costs(CASES["loops of 4000 instructions"].measured.workload.each[n])["code_bytes"] < 66_000
               for n in (0, 1))  # fmt: skip
    assert CASES["two kernels, each for half of the SMs"].first.ctas * 2 == 132


def _woven(name: str) -> goptx.Woven:
    subject = CASES[name].measured
    return goptx.weave(*subject.kernels, shapes=subject.shapes, policy="latency")  # the default avoids spills


def test_its_table() -> None:
    tiny = Kernel(size=8, trips=2, ctas=2)
    subject = Case("code", "tiny", tiny, tiny).measured
    ways = {candidate: costs(w) for candidate, w in made(subject).items() if not isinstance(w, str)}
    ms = {key: [2.0, 1.9, 2.1] for key in (*BASELINES, *ways)} | {"weave": [4.0, 3.9, 4.1]}
    row = {"reason": "code", "name": "tiny", "right": True, "auto": "vertical", "ms": ms,
           "ways": ways | {"separate": costs(subject.workload.separate)}}  # fmt: skip
    hangs = {"reason": "code", "name": "other", "right": False, "problem": "hangs", "ways": {}, "auto": "separate"}
    found = table({"gpu": "a GPU", "driver": "1", "commit": "c", "command": "python x", "rows": [row, hangs]})
    first, other = (line for line in found.splitlines() if line.startswith("| code"))
    assert first.startswith("| code | tiny | 2.000 | ") and first.endswith("| vertical |")
    assert " 0.50 (" in first and first.count(" 1.00 (") == len(WAYS) - 1
    assert "'hangs'" in other and other.count("|") == first.count("|")


class BenchWithGraphs(EmulatingBench):
    def open(self, workload: Workload) -> Opened:
        opened = super().open(workload)
        self.ms[GRAPH] = opened.ms
        return opened


def test_a_pair_is_run_with_every_candidate() -> None:
    tiny = Kernel(size=8, trips=2, ctas=2)
    bench: Any = BenchWithGraphs()
    row = run(Case("code", "tiny", tiny, tiny), bench)
    assert row["right"] and set(row["ms"]) == {*BASELINES, *WAYS}
    assert not any("wrong" in facts or "refused" in facts for facts in row["ways"].values())


@pytest.mark.slow
def test_the_command() -> None:
    command = [sys.executable, "benchmarks/when_fusion_loses.py", "--help"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert "python benchmarks/when_fusion_loses.py" in done.stdout and "--commit" in done.stdout
