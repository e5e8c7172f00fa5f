"""Suite C without a GPU: its forms are made and assembled, and its runner judges and times them."""

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from tuning.fake_bench import FakeBench

from goptx.device.assemble import find_ptxas
from goptx.measuring.bench.questions import Failed

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from suite_c import PAIRS, specifications_of
from suite_c.__main__ import BARS, rows, table
from suite_c.forms import FORMS, made, measured_of
from unseen.makers import makers

pytestmark = pytest.mark.skipif(find_ptxas() is None, reason="needs ptxas")
GPU = {"gpu": "Imaginary", "date": "today", "driver": "1", "commit": "abc", "command": "python -m benchmarks.suite_c"}


@pytest.mark.slow
@pytest.mark.parametrize("pair", PAIRS)
def test_forms_have_no_spills(pair: str) -> None:
    """Each thread begins with 128 registers, so that two CTAs are on an SM; the first form has room for all values."""
    found = made(pair, FORMS[pair][0])
    assert found.woven is not None, found.facts
    assert (found.facts["registers"], found.facts["spill_bytes"]) == (128, 0)
    assert "setmaxnreg.inc.sync.aligned.u32" in found.woven.ptx and found.woven.report.expected is not None


@pytest.mark.slow
def test_each_pair_has_forms_by_different_names_and_a_bar() -> None:
    assert set(FORMS) == set(BARS) == set(PAIRS)
    for pair in PAIRS:
        assert len({form.name for form in FORMS[pair]}) == len(FORMS[pair]) <= 6
        assert all(path.is_file() for path in specifications_of(pair))
        assert len(measured_of(pair, small=True).kernels) == 2


@pytest.mark.slow
def test_rows_and_their_table() -> None:
    pair = PAIRS[0]
    first, second = (form.name for form in FORMS[pair][:2])
    bench = FakeBench({first: 0.8}, judged={second: Failed("it hangs")})
    with makers(1) as there:
        (row,) = rows([pair], 2, bench, there)
    assert not row["right"] and row["ways"][second]["failed"] == "it hangs"
    (line,) = [text for text in table({**GPU, "rows": [row]}).splitlines() if f"| {first} |" in text]
    assert "| 1.250 | 1.17 | 128 | 0 |" in line


@pytest.mark.slow
def test_what_auto_and_tune_choose_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    pair = PAIRS[3]
    woven = made(pair, FORMS[pair][0], assembled=False).woven
    best = SimpleNamespace(fused=woven, candidate="horizontal fold=static")
    monkeypatch.setattr("goptx.tune", lambda **how: best)
    with makers(1) as there:
        (row,) = rows([pair], 1, FakeBench({"tuned": 0.5, "auto": 0.8}), there, tune=1.0)
    text = table({**GPU, "rows": [row]})
    assert "| tuned: horizontal fold=static | 2.000 | 1.15 |" in text
    assert "| auto: horizontal x1 x2 fold=static role_registers=200,56 | 1.250 | 1.15 |" in text
