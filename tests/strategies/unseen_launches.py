"""Kernels of benchmarks/unseen with the launches that their specifications describe."""

import warnings
from functools import cache
from pathlib import Path
from typing import Any

import goptx
from goptx.cost.hardware import machine_of
from goptx.cost.kernels import each_alone
from goptx.cost.known_launches import known_launches
from goptx.errors import ProbablySlower
from goptx.latency.table import load_table
from goptx.strategies.estimates.judge import Judge
from goptx.tuning.measured import Measured, measured

UNSEEN = Path(__file__).parents[2] / "benchmarks" / "unseen" / "kernels"
MACHINE, TABLE = machine_of("sm_90"), load_table(None, "sm_90")


@cache
def described(*names: str) -> Measured:
    return measured([], spec=[next(UNSEEN.glob(f"*/{name}.toml")) for name in names])


def judged(*names: str) -> Judge:
    found = described(*names)
    known = known_launches(None, found.kernels, found.shapes)
    own = each_alone(found.kernels, MACHINE, TABLE, known, found.shapes)
    return Judge(own, [1] * len(own), found.shapes, "sm_90")


def fused(*names: str, strategy: Any = "weave", **options: Any) -> goptx.Woven:
    found = described(*names)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ProbablySlower)
        return goptx.fuse(*found.kernels, strategy=strategy, shapes=found.shapes, **options)
