"""The runner of suite C without a GPU: forms are made and assembled, judged and timed by benches that pretend, and
their table and chart say what was found."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tuning.emulating_bench import EmulatingBench
from tuning.fake_bench import FakeBench

import goptx
from goptx.device.assemble import find_ptxas
from goptx.measuring.bench.bench import Timed
from goptx.measuring.bench.questions import Failed

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from suite_c import FITTED, FOLDER, combo_kernels, forms
from suite_c import __main__ as program
from suite_c.forms import FORMS, KNOWN, PLAIN, made, sizes_of, ways_of
from suite_c.runs import Places, begun, rows
from suite_c.table import chart, green, is_good, table
from unseen.makers import makers

needs_ptxas = pytest.mark.skipif(find_ptxas() is None, reason="needs ptxas")
GPU = {"gpu": "Imaginary", "gpu_short": "imaginary", "driver": "1", "commit": "abc"}
RUN = {**GPU, "date": "today", "command": "python -m benchmarks.suite_c", "seconds": 1}
NORMS = "query and key norms, 8 tokens"
PARTITIONS = ["green contexts, 32 and 100 SMs", "green contexts, 64 and 68 SMs"]


class WithPartitions(FakeBench):
    """Knows partitions of the SMs; those that fail have the time 0."""

    def time(self, keys: Sequence[str], repeats: int, warmups: int = 1, launched: bool = False) -> Timed:
        if any(key in PARTITIONS for key in keys):
            return Timed({key: [self.time_of(key)] for key in keys}) if self.ms[PARTITIONS[0]] else Timed(problem="no")
        return super().time(keys, repeats, warmups, launched)


# Forms


@needs_ptxas
@pytest.mark.slow
@pytest.mark.parametrize("pair", FITTED)
def test_forms_have_no_spills(pair: str) -> None:
    """Each thread begins with 128 registers, so that two CTAs are on an SM; the first form has room for all values."""
    found = made(pair, FORMS[pair][0])
    assert found.woven is not None, found.facts
    assert (found.facts["registers"], found.facts["spill_bytes"]) == (128, 0)
    assert "setmaxnreg.inc.sync.aligned.u32" in found.woven.ptx and found.woven.report.expected is not None


def test_what_is_made_of_each() -> None:
    assert set(FORMS) == {*FITTED, "attention+decode_attention"}
    assert all(len({form.name for form in own}) == len(own) for own in FORMS.values())
    assert ways_of(FITTED[0], 2) == (*FORMS[FITTED[0]][:2], "auto", KNOWN)
    assert ways_of("softmax+dropout", 2) == ("auto", KNOWN)
    assert ways_of(NORMS, 2) == (*PLAIN, "auto", KNOWN) and "separate" not in PLAIN


def test_the_sizes_that_auto_is_given() -> None:
    assert sizes_of(NORMS) == {"A": {"arguments": {2: 256}}, "B": {"arguments": {2: 64}}}
    assert sizes_of("product+softmax")["B"] == {"arguments": {2: 4096, 3: 4096}}


# Rows


@needs_ptxas
@pytest.mark.slow
def test_rows_and_their_table() -> None:
    pair = FITTED[0]
    first, second = (form.name for form in FORMS[pair][:2])
    bench = FakeBench({first: 0.8}, judged={second: Failed("it hangs")})
    with makers(1) as there:
        (row,) = rows(begun([pair], there, 2), Places(bench))
    assert not row["right"] and row["ways"][second]["failed"] == "it hangs" and not is_good(row)
    text = table({**RUN, "rows": [row]})
    assert f"| {pair} | {first} | 1.250 | 128 | 0 |" in text and f"* {pair}, {second}: failed: it hangs" in text


@needs_ptxas
@pytest.mark.slow
def test_what_auto_and_tune_choose_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    best = SimpleNamespace(
        fused=made(NORMS, "horizontal", assembled=False).woven, candidate="horizontal cap=40",
        table=SimpleNamespace(trials=[1, 2]), to_dict=lambda folder: {"way": str(folder)},
    )  # fmt: skip
    monkeypatch.setattr("goptx.tune", lambda **how: best)
    bench = FakeBench({"tuned": 0.5, "auto": 0.8}, otherwise=lambda _: 0.9)
    with makers(1) as there:
        (row,) = rows(begun([NORMS], there), Places(bench), tune=1.0)
    found = row["ways"]["tuned"]
    assert (found["tried"], found["held"]) == (2, {"way": str(FOLDER)}) and is_good(row)
    (line,) = (line for line in table({**RUN, "rows": [row]}).splitlines() if line.startswith(f"| {NORMS} | yes"))
    assert "| 1.250 |" in line and "| 2.000 | horizontal cap=40 | 0.62 | 0.99 |" in line


def test_tuning_gets_the_case_in_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, Any] = {}

    def refusing(**how: Any) -> Any:
        asked.update(how)
        raise goptx.InputError("no device")

    monkeypatch.setattr("goptx.tune", refusing)
    assert forms.tuned(NORMS, FakeBench(), 2.0).facts == {"refused": "no device"}
    assert [str(shape.ctas) for shape in asked["shapes"]] == ["32", "8"] and asked["budget"] == 2.0
    assert asked["args"]["B:0"].length == 8 * 8 * 128 and "A:1" not in asked["args"]


@pytest.mark.slow
def test_pairs_run_in_green_contexts_too() -> None:
    """A failure is recorded, ends this for all that follow, and is not one of the pair."""
    pairs = ["softmax+dropout", "softmax+cross_entropy"]
    with makers(1) as there:
        futures = begun(pairs, there)
        for future in (future for own in futures.values() for _, future in own):
            future.result()
    bench = WithPartitions({PARTITIONS[0]: 0.9, PARTITIONS[1]: 0.75}, otherwise=lambda _: 0.8)
    (row, _) = rows(futures, Places(bench, green=list(PARTITIONS)))
    assert row["right"] and green(row) == pytest.approx(1 / 0.75)
    broken = Places(WithPartitions({PARTITIONS[0]: 0}, otherwise=lambda _: 0.8), green=list(PARTITIONS))
    one, other = rows(futures, broken)
    assert one["right"] and one["green_problem"] == "no" and green(one) is None
    assert "green_problem" not in other and broken.green == []
    assert "* Green contexts, softmax+dropout and all pairs after it: no" in table({**RUN, "rows": [one, other]})


class Closing(EmulatingBench):
    def close(self) -> None:
        pass


@needs_ptxas
@pytest.mark.slow
def test_results_are_stored_and_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cases that are in the file are not measured again; a file of another commit is refused."""
    monkeypatch.setattr(program, "environment", lambda commit: {**GPU, "commit": commit or "abc"})
    monkeypatch.setattr(program, "Bench", lambda number, more: Closing())
    monkeypatch.setattr(program, "GROUPS", {NORMS: ()})
    words = ["suite_c", "--pairs", "", "--groups", "--workers", "1", "-o", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", words)
    assert program.main() == 0
    (path,) = tmp_path.glob("*-imaginary-suite_c.json")
    document = json.loads(path.read_text())
    (row,) = document["rows"]
    assert (row["name"], row["kind"], row["right"]) == (NORMS, "group", True)
    assert document["green_problem"] and "Green contexts are not offered here" in path.with_suffix(".md").read_text()
    monkeypatch.setattr(program, "begun", lambda names, *_: {name: pytest.fail("measured again") for name in names})
    monkeypatch.setattr(sys, "argv", [*words, "--resume", str(path)])
    assert program.main() == 0 and path.with_suffix(".svg").is_file()
    monkeypatch.setattr(sys, "argv", [*words, "--resume", str(path), "--commit", "def"])
    assert program.main() == 2


def test_unknown_pairs_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        program._options(["--pairs", "product+nothing"])
    assert "no such pairs; choose from product+adam_step" in capsys.readouterr().err


# Table


def row_of(name: str, kind: str = "pair", **speedups: float) -> dict[str, Any]:
    ms = {"separate": [1.2], "streams": [1.0], **{way: [1 / gain] for way, gain in speedups.items()}}
    ways = {way: {"chosen": "horizontal", "registers": 40, "spill_bytes": 0} for way in speedups}
    return {"name": name, "kind": kind, "right": True, "ways": ways, "ms": ms, "seconds": 1}


def test_means_leasts_and_shares() -> None:
    rows = [
        row_of("product+adam_step", auto=1.2, tuned=1.25),
        row_of("product+embedding", auto=1.0, tuned=1.125),
        row_of("softmax+dropout", auto=0.96, tuned=1.0),
        row_of("product+softmax", auto=1.0, tuned=0.98),
        row_of(NORMS, "group", auto=1.1, tuned=1.2, weave=1.1, interleave=1.3),
        {"name": "layer_norm+swiglu", "kind": "pair", "right": False, "ways": {}, "problem": "no | device"},
    ]
    text = table({**RUN, "rows": rows, "combo": {"softmax+dropout": {"ms": [0.8], "near": True}}})
    assert "* Pairs, tuned: geometric mean 1.083 of 4 of 5, least 0.980 (product+softmax); bars 1.09, 0.99." in text
    assert (
        "* Pairs, auto: geometric mean 1.036 of 4 of 5, least 0.960 (softmax+dropout); bar of the least 0.97." in text
    )
    assert "* Groups, tuned: geometric mean 1.200 of 1 of 1" in text
    assert "* Pairs that rules may be fitted on, 2: geometric mean auto 1.095, tuned 1.186." in text
    assert "* Pairs that are only ever measured, 3: geometric mean auto 0.980, tuned 0.990." in text
    assert "* Bars of their own: 1 of 2 reached; of five, 4 have to be." in text
    assert "* `auto` reaches 95% of tuned on 3 of 4 pairs" in text
    assert "1.125 BELOW" in text and "1.250 BELOW" not in text and "0.980 BELOW" in text
    assert "| layer_norm+swiglu | NO | no / device |" in text
    assert "| softmax+dropout | yes | 1.0000 | streams | - | 1.250 | - | 0.960 | horizontal | - | 1.000 |" in text
    assert "1.200 BELOW" in text, "a plain strategy is more than 3 % faster"
    drawn = chart({**RUN, "rows": rows})
    assert [group.name for group in drawn.groups] == [row["name"] for row in rows[:5]]


# Inductor


def test_cases_without_matrix_products_are_there_in_torch() -> None:
    assert [combo_kernels.has_eager(name) for name in ("softmax+dropout", NORMS, "product+adam_step")] == [
        True, True, False
    ]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("seconds", "why"), [(0.001, "longer than 0.001 s"), (60, "torch")])
def test_a_failure_of_inductor_is_named(seconds: float, why: str) -> None:
    if seconds > 1:
        pytest.importorskip("numpy")
        if _has_torch():
            pytest.skip("torch is here")
    found = combo_kernels.milliseconds(["softmax+dropout"], seconds)
    assert why in found["softmax+dropout"]["failed"] and combo_kernels.median(found["softmax+dropout"]) is None
    assert "* Combo kernels, softmax+dropout: " in table({**RUN, "rows": [], "combo": found})


def _has_torch() -> bool:
    try:
        import torch  # noqa: F401
    except ImportError:
        return False
    return True
