import math

import pytest

from goptx.device.sweep import Sweep, SweepRow, sweep
from goptx.errors import InputError


def test_best_and_table() -> None:
    rows = (
        SweepRow(32, 32, 128, 1.0, 0.5, 0.4, 0.6),
        SweepRow(64, 64, 0, 0.5, 0.25, 0.24, 0.3),
        SweepRow(256, 200, 0, None, math.nan, math.nan, math.nan),
    )
    table = Sweep(rows)
    assert table.best is rows[1]
    assert str(table).splitlines() == [
        " cap  registers  spill bytes  occupancy      ms     min     max",
        "  32         32          128       100%  0.5000  0.4000  0.6000",
        "  64         64            0        50%  0.2500  0.2400  0.3000  *",
        "none        200            0          -       -       -       -",
    ]
    with pytest.raises(InputError, match="does not fit"):
        _ = Sweep(rows[2:]).best


def test_repeats_are_checked_before_a_device_is_needed() -> None:
    with pytest.raises(InputError, match="repeat"):
        sweep(None, lambda kernel, stream: None, repeats=0)  # type: ignore[arg-type]
