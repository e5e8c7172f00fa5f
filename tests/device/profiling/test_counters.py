"""What Nsight Compute prints is read strictly."""

import re
from pathlib import Path

import pytest

from goptx.errors import DeviceError
from goptx.measuring.profiling.counters import readings
from goptx.measuring.profiling.metrics import ALL, COUNTERS, CYCLES, ISSUE, METRICS, STALLS, TIME

SAMPLE = Path(__file__).with_name("sample.log").read_text()
HEAD, UNITS, *ROWS = (line for line in SAMPLE.splitlines() if line.startswith('"'))
EWPC = METRICS[0].counter


def test_sample() -> None:
    found = readings(SAMPLE, COUNTERS)
    assert [one.kernel for one in found] == ["gelu", "wmma", "gelu_wmma_woven"]
    assert [one.values[ISSUE.counter] for one in found] == [46.2, 14.5, 47.09]
    assert [one.values[CYCLES.counter] for one in found] == [862115, 585960, 1061577]
    assert [one.values[TIME.counter] for one in found] == pytest.approx([456.32, 310.144, 561.888])  # microseconds
    assert found[0].values[EWPC] == 1114.37
    assert found[2].values["smsp__warp_issue_stalled_no_instruction_per_warp_active.pct"] == 2.75  # (!) before it
    assert {one.values["smsp__warp_issue_stalled_membar_per_warp_active.pct"] for one in found} == {None}
    assert all(set(one.values) == set(COUNTERS) for one in found)


def test_metrics_have_names_of_their_own() -> None:
    assert (len(METRICS), len(STALLS)) == (11, 10)
    assert len({m.short for m in ALL}) == len({m.counter for m in ALL}) == len(ALL) == 23
    assert len({m.counter.partition(".")[0] for m in ALL}) == 23  # by which Nsight Compute may name them


@pytest.mark.parametrize(
    ("unit", "micro"), [("ns", 0.002), ("nsecond", 0.002), ("us", 2), ("msecond", 2000), ("s", 2e6)]
)
def test_units_of_time(unit: str, micro: float) -> None:
    (one,) = readings(f'"Kernel Name","{TIME.counter}"\n"","{unit}"\n"k","2"\n', [TIME.counter])
    assert one.values == {TIME.counter: pytest.approx(micro)}


@pytest.mark.parametrize("cell", ["n/a", "N/A", "", "(!) n/a", "nan", "inf"])
def test_what_the_device_lacks(cell: str) -> None:
    printed = f'"Kernel Name","{EWPC}"\n"","warp"\n"k","{cell}"\n'
    assert [one.values for one in readings(printed, [EWPC, ISSUE.counter])] == [{EWPC: None, ISSUE.counter: None}]


def test_no_launch() -> None:
    assert readings(f"{HEAD}\n{UNITS}\n", COUNTERS) == []


@pytest.mark.parametrize(
    ("printed", "message"),
    [
        ("==WARNING== No kernels were profiled.\n", "Nsight Compute printed no table of counters"),
        (HEAD.replace("Kernel Name", "Kernel"), "table has no column `Kernel Name`, or none of the counters: ID,Pro"),
        ('"Kernel Name","Metric Name"\n"","%"\n', "or none of the counters: Kernel Name,Metric Name"),
        (HEAD, "table has no row of units below the names of its columns"),
        (f"{HEAD}\n{ROWS[0]}\n", "table has no row of units below"),
        (f'{HEAD}\n{UNITS}\n"0","4711"\n', r"a row of Nsight Compute's table has 2 cells for 34 columns: 0,4711"),
        (
            SAMPLE.replace("46.20", "46.2 %"),
            "`smsp__issue_active.avg.pct_of_peak_sustained_active` is `46.2 %`, which is not a number",
        ),
    ],
)
def test_refused(printed: str, message: str) -> None:
    with pytest.raises(DeviceError, match=message):
        readings(printed, COUNTERS)


def test_every_metric_is_explained() -> None:
    document = (Path(__file__).parents[3] / "docs" / "profile.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| (\w+) \| (.*?) \|", document, re.M))
    assert [rows.get(m.short) for m in (TIME, CYCLES, *METRICS)] == [f"`{m.counter}`" for m in (TIME, CYCLES, *METRICS)]
    assert [rows.get(m.short) for m in STALLS] == [m.meaning for m in STALLS]
