"""The table of trials, on a terminal and as a file."""

import csv
import io
import json
from dataclasses import replace

import pytest

from goptx.strategies.candidate import Candidate
from goptx.tuning.trials import COLUMNS, MOST_ROWS, Table, Trial

BEST = Candidate("weave", (2, 1), 40).having(slicing=None)
TIMED = Trial(BEST, "timed", "", 40, 8, 0.5, contracted="A:1 differs in 2 elements").timed([1.0, 2.0, 3.0], [4.0, 4.5])
TRIALS = (
    TIMED,
    Trial(Candidate("separate", (1, 1)), "timed").timed([8.0], [4.0]),
    Trial(Candidate("vertical", (1, 1)), "refused", "file.ptx:3: `k` spins, and\nwaits"),
    Trial(Candidate("vertical", (2, 2)), "pruned", "the same code as weave"),
    Trial(Candidate("horizontal", (1, 1)).having(partition=(128, 256)), "wrong", "B:0 differs in 1 elements"),
    Trial(Candidate("interleave", (4, 4)), "failed", "no answer within 20 s: it hangs"),
    Trial(Candidate("interleave", (2, 2)), "left out", "there was no time left"),
)
TABLE = Table(TRIALS, BEST, {"streams (unchanged)": 4.25, "separate (unchanged)": 8.0})

TEXT = """\
candidate                                ms  speedup  registers  spills  occupancy
streams (unchanged)                 4.2500
separate (unchanged)                8.0000
weave x2 x1 slicing=None capped at 40 2.0000     2.12         40       8        50%  *
separate                              8.0000     0.50
1 refused, 1 pruned, 1 left out
wrong: horizontal partition=128,256: B:0 differs in 1 elements
failed: interleave x4 x4: no answer within 20 s: it hangs
"""

CSV = """\
name,status,speedup,ms,ms_min,ms_max,repeats,registers,spill_bytes,occupancy,reason,contracted
weave x2 x1 slicing=None capped at 40,timed,2.125,2.0,1.0,3.0,3,40,8,0.5,,A:1 differs in 2 elements
separate,timed,0.5,8.0,8.0,8.0,1,,,,,
vertical,refused,0.0,,,,0,,,,"file.ptx:3: `k` spins, and
waits",
vertical x2 x2,pruned,0.0,,,,0,,,,the same code as weave,
"horizontal partition=128,256",wrong,0.0,,,,0,,,,B:0 differs in 1 elements,
interleave x4 x4,failed,0.0,,,,0,,,,no answer within 20 s: it hangs,
interleave x2 x2,left out,0.0,,,,0,,,,there was no time left,
"""


def test_on_a_terminal() -> None:
    words = [line.split() for line in str(TABLE).splitlines()]
    assert words == [line.split() for line in TEXT.splitlines()]
    rendered = str(TABLE).splitlines()[:5]
    assert len({line.index(".") for line in rendered[1:]}) == 1  # numbers are aligned
    assert all(line == line.rstrip() for line in rendered)


def test_the_fastest_are_listed_and_the_rest_is_counted() -> None:
    many = tuple(replace(TIMED, candidate=Candidate("weave", (n, 1))) for n in range(2, MOST_ROWS + 5))
    lines = str(Table(many, Candidate("weave", (2, 1)))).splitlines()
    assert (len(lines), lines[-1]) == (1 + MOST_ROWS + 1, "3 timed and slower")


def test_nothing_was_tried() -> None:
    assert str(Table((), BEST)).split() == ["candidate", "ms", "speedup", "registers", "spills", "occupancy"]
    assert Table((), BEST).to_csv() == ",".join(COLUMNS) + "\n"


def test_csv() -> None:
    assert TABLE.to_csv() == CSV
    rows = list(csv.DictReader(io.StringIO(CSV)))
    assert tuple(rows[0]) == COLUMNS and len(rows) == len(TRIALS)


def test_json() -> None:
    held = json.loads(TABLE.to_json())
    assert held["baselines"] == {"streams (unchanged)": 4.25, "separate (unchanged)": 8.0}
    assert [tuple(row) for row in held["trials"]] == [COLUMNS] * len(TRIALS)
    assert held["trials"][0]["ms"] == 2.0 and held["trials"][2]["ms"] is None


def test_times_of_a_trial() -> None:
    assert (TIMED.ms, TIMED.against, TIMED.repeats, TIMED.speedup) == ((2.0, 1.0, 3.0), 4.25, 3, 2.125)
    late = TIMED.failed("failed", "it hangs")
    assert (late.ms, late.against, late.repeats, late.speedup, late.registers) == (None, None, 0, 0.0, 40)


@pytest.mark.parametrize("trial", TRIALS, ids=lambda t: str(t.candidate))
def test_trials_as_plain_data(trial: Trial) -> None:
    assert Trial.from_dict(json.loads(json.dumps(trial.to_dict()))) == trial
