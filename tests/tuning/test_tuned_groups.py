"""benchmarks/tuned_groups.py, in small sizes on the emulator: its kernels are right, its table tells what is slow."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

from tuned_groups import COLUMNS, GROUPS, Group, bag, bags, is_good, run, steps, table  # noqa: E402
from tuning.emulating_bench import EmulatingBench  # noqa: E402

import goptx  # noqa: E402
from goptx.device.assemble import find_ptxas  # noqa: E402

ABOUT = {"gpu": "H200", "date": "x", "driver": "x", "commit": "x", "command": "x", "budget": 20}


def test_an_embedding_bag_adds_rows_of_its_table() -> None:
    random = np.random.default_rng(3)
    table, rows = random.random((9, COLUMNS), np.float32), random.integers(0, 9, (4, 5), np.uint32)
    out = np.zeros((4, COLUMNS), np.float32)
    goptx.emulate(bag("one"), 4, COLUMNS, [out, table, rows, 5])
    expected = np.zeros_like(out)
    for k in range(5):
        expected += table[rows[:, k]]
    assert (out == expected).all()


@pytest.mark.slow
@pytest.mark.skipif(find_ptxas() is None, reason="needs ptxas")
@pytest.mark.parametrize("group", [bags(2, 8, (1, 3, 2)), steps((256, 512, 64, 64))])
def test_a_group_is_tuned_and_measured_again(group: Group) -> None:
    row = run("group", group, 4, EmulatingBench(), [EmulatingBench()])
    assert "ms" in row and {"tuned", "weave", "vertical", "interleave"} <= {*row["ms"], *row["refused"]}, row
    assert f"Found: `{row['found']}`" in table({**ABOUT, "rows": [row]})


@pytest.mark.parametrize(
    ("ms", "good"),
    [({}, True), ({"tuned": 1.02}, False), ({"interleave": 0.85}, False), ({"interleave": 0.895}, True)],
)
def test_what_is_too_slow(ms: dict[str, float], good: bool) -> None:
    row: dict[str, Any] = {
        "name": "group", "found": "weave", "claimed": 1.1, "refused": {"horizontal": "too many threads"},
        "ms": {"separate": 1.2, "streams": 1.0, "tuned": 0.9, **ms},
    }  # fmt: skip
    text = table({**ABOUT, "rows": [row, {"name": "other", "problem": "hangs"}]})
    assert is_good(row) == good and ("TOO SLOW" in text) == (not good)
    assert "| streams | 1.0000 | 1.000 |" in text and "| horizontal | | too many threads |" in text
    assert "Not measured: hangs" in text and not is_good({"name": "other", "problem": "hangs"})
    assert list(GROUPS) == ["six embedding bags", "four optimizer steps"]
