"""The table of benchmarks/side_by_side.py: speeds are over the fastest way made by hand."""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

from side_by_side import OURS, run, table  # noqa: E402
from tuning.emulating_bench import EmulatingBench  # noqa: E402
from tuning.fake_bench import ARGS, PLUS, SHAPES, TIMES  # noqa: E402

from goptx.tuning.measured import Measured, measured  # noqa: E402

ABOUT = {"gpu": "H200", "date": "x", "driver": "x", "commit": "x", "command": "x"}


def pair() -> Measured:
    return measured([PLUS, TIMES], shapes=SHAPES, args=ARGS)


def test_every_way_is_judged_and_timed() -> None:
    class Emulating(EmulatingBench):
        def time(self, keys, repeats, warmups=1, launched=False):  # type: ignore[no-untyped-def]
            timed = super().time(keys, repeats, warmups, launched)
            timed.host_us.update({key: [3.0] for key in keys})
            return timed

    row = run("plus + times", pair, Emulating())  # type: ignore[arg-type]
    assert set(OURS) < set(row["ms"]) and {"graph", "streams, reversed"} < set(row["launched_ms"])
    assert "| goptx, streams='reversed' |" in table({**ABOUT, "rows": [row]})


def test_speeds_and_problems() -> None:
    ms = {"separate": [4.0], "graph": [2.0], "graph (assembled)": [1.0], "goptx, streams=True": [2.5]}
    rows = [{"name": "a + b", "ms": ms, "launched_ms": ms, "host_us": ms}, {"name": "c", "problem": "hangs"}]
    text = table({**ABOUT, "rows": rows})
    assert "| goptx, streams=True | 2.5000 | 0.800 | 2.5000 | 0.800 | 2 |" in text
    assert "| graph (assembled) | 1.0000 | 2.000 |" in text and "Not measured: hangs" in text
