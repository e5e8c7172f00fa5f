"""Profiles of whole suites: figures made of recorded counters, bounds, tables, charts, and what is run. No GPU."""

import argparse
import json
import pickle
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from goptx.device.assemble import find_ptxas
from goptx.errors import DeviceError, InputError
from goptx.measuring.profiling.counters import Reading
from goptx.measuring.profiling.metrics import ALL
from goptx.measuring.profiling.ncu import NotPermitted, Profiler

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

from profiles import __main__ as command  # noqa: E402
from profiles import running, work  # noqa: E402
from profiles.charts import charts  # noqa: E402
from profiles.counters import ALL_COUNTED, COUNTERS, LIMIT, RESOURCES, Counts, Resource, counts_of  # noqa: E402
from profiles.figures import (  # noqa: E402
    bound,
    combined,
    i12,
    longest_wait,
    loss,
    memory_share,
    scoreboard,
    stalled_cycles,
)
from profiles.rows import bound_of, bounds, reached, ways  # noqa: E402
from profiles.suites import SECOND, A, B, C, pairs_of, specifications_of  # noqa: E402
from profiles.table import lost, table  # noqa: E402
from profiles.work import Counted, Group, Subjects  # noqa: E402
from suite_a import PAIRS  # noqa: E402
from suite_a.schemes import PAIRED  # noqa: E402

RECORDED = json.loads(Path(__file__).with_name("recorded.json").read_text())
ALONE = RECORDED["alone"]["paper"]
NCU = Profiler("ncu", "2025.3.1.0")
needs_ptxas = pytest.mark.skipif(find_ptxas() is None, reason="needs ptxas")


def counts(**given: float | None) -> Counts:
    names = {"DRAM_BYTES": "DRAM bytes", "L2_SECTORS": "L2 sectors", "ACTIVE": "active cycles", "ISSUE": "issue slots"}
    known: dict[str, float | None] = {metric.short: 0.0 for metric in ALL_COUNTED}
    return known | {names.get(name, name): value for name, value in given.items()}


# Counters -----------------------------------------------------------------------------------------------


def test_no_two_counters_have_one_name() -> None:
    names = [metric.short for metric in ALL_COUNTED]
    assert len(names) == len(set(names))
    assert len(COUNTERS) == len(set(COUNTERS)) and {metric.counter for metric in ALL} < {*COUNTERS}


def test_what_the_device_lacks_is_not_zero() -> None:
    found = counts_of(Reading("k", {"gpu__time_duration.sum": 1234.5678}))
    assert found["time"] == 1234.6 and found["ISU"] is None and found.keys() == {m.short for m in ALL_COUNTED}


# Figures ------------------------------------------------------------------------------------------------


def test_launches_one_after_the_other() -> None:
    """Sums add up; shares of the peak are weighted with cycles, stalls with warps, hit rates with sectors."""
    one = counts(time=10.0, cycles=100.0, DU=80.0, AOC=50.0, wait=40.0, L2HR=90.0, L2_SECTORS=1.0)
    other = counts(time=30.0, cycles=300.0, DU=20.0, AOC=100.0, wait=10.0, L2HR=30.0, L2_SECTORS=3.0)
    both = combined([one, other])
    assert (both["time"], both["cycles"], both["L2 sectors"]) == (40, 400, 4)
    assert both["DU"] == (80 * 100 + 20 * 300) / 400
    assert both["wait"] == pytest.approx((40 * 100 * 50 + 10 * 300 * 100) / (100 * 50 + 300 * 100))
    assert both["L2HR"] == (90 * 1 + 30 * 3) / 4
    assert both["THR"] is None, "no sectors, no rate"
    assert combined([one]) is one
    assert combined([one, counts(cycles=300.0, DU=None)])["DU"] is None


def test_issue_slots_of_the_kernels_alone() -> None:
    gelu, wmma = ALONE["gelu"], ALONE["wmma"]
    by_hand = (gelu["ISU"] * gelu["cycles"] + wmma["ISU"] * wmma["cycles"]) / (gelu["cycles"] + wmma["cycles"])
    assert i12([gelu, wmma]) == pytest.approx(by_hand) == pytest.approx(28.93, abs=0.01)
    assert i12([gelu, {**wmma, "cycles": None}]) is None


def test_stalls() -> None:
    found = counts(long_scoreboard=30.0, short_scoreboard=10.0, wait=20.0, membar=20.0, selected=20.0)
    assert scoreboard(found) == 40
    assert memory_share(found) == 75, "of all stalls; a warp that issues does not stall"
    assert longest_wait(found) == ("long_scoreboard", 30)
    assert longest_wait(counts(selected=90.0)) == ("", 0) and memory_share(counts(selected=90.0)) is None
    assert stalled_cycles(counts(ACTIVE=1000.0, ISU=25.0)) == 750
    assert stalled_cycles(counts(ACTIVE=1000.0, ISU=None)) is None


def test_stalled_cycles_are_those_without_an_instruction() -> None:
    """857,767 by the counter of such cycles, `smsp__issue_inst0`, which was read for this kernel."""
    assert stalled_cycles(ALONE["gelu"]) == pytest.approx(857767, rel=1e-3)


# Bounds -------------------------------------------------------------------------------------------------


def test_a_bound_adds_the_use_of_a_resource() -> None:
    one, other = counts(time=1.0, DRAM=45.0, ISSUE=38.0), counts(time=3.0, DRAM=15.0, ISSUE=57.0)
    found = bound([one, other])
    assert found is not None
    assert found.all == {"DRAM": 4 / (0.9 / 0.9), "issue slots": pytest.approx(4 / ((0.38 + 3 * 0.57) / 0.95))}
    assert (found.resource, found.speedup) == ("issue slots", found.all["issue slots"])
    assert bound([one, counts(time=3.0, ISSUE=None, DRAM=None)]) is None
    assert bound([counts(time=1.0)]) is None, "nothing is used"


def test_two_of_a_kernel_that_uses_all_gain_nothing() -> None:
    full = counts(time=2.0, DRAM=90.0)
    assert bound([full, full], [Resource("DRAM", "", 0.9)]) == bound([full], [Resource("DRAM", "", 0.9)])
    found = bound([full])
    assert found is not None and found.speedup == pytest.approx(1)


def test_what_is_lost_is_work_and_waiting() -> None:
    alone = [counts(time=1.0, DRAM=45.0), counts(time=1.0, DRAM=45.0)]
    limit = bound(alone)
    assert limit is not None and limit.speedup == 2
    fused = counts(time=2.0, DRAM=50.0, ALU=70.0)  # 100 for 90 of work, and 50 % of 90 %
    found = loss(alone, fused, limit)
    assert found is not None and found.work == pytest.approx(100 / 90)
    assert (found.use, found.limit, found.most) == (50, 90, ("ALU", 70))
    assert found.share == pytest.approx((2 / 2.0) / limit.speedup), "the share of the bound, by the same times"
    assert loss(alone, counts(time=2.0, DRAM=None), limit) is None


def test_limits_are_those_of_the_text() -> None:
    assert {r.name: r.limit for r in RESOURCES} == {r.name: 0.9 if r.name == "DRAM" else LIMIT for r in RESOURCES}


# Documents ----------------------------------------------------------------------------------------------


def test_bounds_of_recorded_pairs() -> None:
    found = bounds(RECORDED)["paper"]
    gelu, wmma = ALONE["gelu"], ALONE["wmma"]
    used = gelu["time"] * gelu["L1 data, shared"] + wmma["time"] * wmma["L1 data, shared"]
    assert found["gelu+wmma"] == pytest.approx((gelu["time"] + wmma["time"]) / (used / 100 / 0.95))
    assert [bound_of(RECORDED, row).resource for row in RECORDED["pairs"]] == ["L1 data, shared"] * 2  # type: ignore[union-attr]
    assert found["gelu+wmma"] > found["harris+lud"] > 1


def test_a_way_is_its_fastest_form() -> None:
    forms = {
        key: {"way": "horizontal", "launches": [{"entry": "k", "counts": counts(time=time)}]}
        for key, time in {"horizontal": 3.0, "horizontal capped at 32": 2.0}.items()
    }
    (way,) = ways({"pair": "a+b", "shape": "paper", "forms": {**forms, "weave": {"way": "weave", "problem": "hangs"}}})
    assert (way.name, way.counts["time"]) == ("horizontal", 2)


def test_the_table_of_recorded_pairs() -> None:
    text = table(RECORDED, {"paper": {"tuned": {"gelu+wmma": 1.5}}}, "somewhere.json")
    assert "| gelu+wmma | weave | 1733 | 363.5 | 85.9 | 27.2 | 19.1 | 66.2 | 36.0 | 3.0 | - | 12.7 |" in text
    assert "| 28.9 | yes |" in text and "| gelu+wmma | one after the other | 2335 |" in text
    assert "stands for two streams" in text and "(somewhere.json)" in text
    assert "| gelu+wmma | 2.36 | L1 data, shared | L2 (2.64) | 1.50 | 0.64 |" in text
    assert "| harris+lud | 1.93 | L1 data, shared | L2 (2.29) | - | - |" in text
    assert "| EWPC | +52.2 (+51 to +54) |" in text
    assert "Not counted" not in text and "What is lost" not in text


def natural(share: float, **fused: float) -> tuple[dict[str, Any], dict[str, dict[str, dict[str, float]]]]:
    """A pair whose bound is 2 by DRAM, and the speedups of tuning: `share` of the bound."""
    alone = {name: counts(time=1.0, DRAM=45.0) for name in "ab"}
    launches = [
        {"entry": "k", "counts": counts(**{"time": 1.0 / share, "long_scoreboard": 61.0, "AOC": 33.0, **fused})}
    ]
    form = {"way": "tuned", "chosen": "weave x2 x2", "launches": launches}
    row = {"pair": "a+b", "shape": "natural", "forms": {"tuned": form}}
    return {**RECORDED, "alone": {"natural": alone}, "pairs": [row]}, {"natural": {"tuned": {"a+b": 2.0 * share}}}


@pytest.mark.parametrize(
    ("fused", "sentence"),
    [
        ({"DRAM": 72.0}, "DRAM is in use 72 % of the time, while 61 % of the active warps wait (long_scoreboard)."),
        ({"DRAM": 72.0, "XU": 94.0}, "XU is at its limit instead (94 %)."),
        ({"DRAM": 88.0}, "it uses DRAM 1.22 times as long as the kernels alone."),
    ],
)
def test_a_report_tells_what_is_lost(fused: dict[str, float], sentence: str) -> None:
    document, tuned = natural(0.8, **fused)
    assert f"* a+b, 0.80: {sentence}" in table(document, tuned)
    document, tuned = natural(0.93, **fused)
    assert list(lost(document, tuned)) == [] and "What is lost" not in table(document, tuned)


def test_charts_show_what_the_tables_have() -> None:
    found = dict(charts(RECORDED, {"paper": {"tuned": {"gelu+wmma": 1.5}}}))
    assert list(found) == [f"paper_{name}" for name in ("eligible", "scoreboard", "issue", "units", "bound")]
    first = found["paper_issue"].groups[0]
    assert first.name == "gelu+wmma" and first.values == (35.99,)
    assert first.mark is not None and first.mark[1] == pytest.approx(28.93, abs=0.01)
    assert found["paper_eligible"].groups[1].values[1] == pytest.approx(685.88)
    (group,) = found["paper_bound"].groups
    assert group.values[0] == pytest.approx(1.5 / 2.36, abs=0.002)


@pytest.mark.slow
def test_charts_are_drawn() -> None:
    pytest.importorskip("matplotlib")
    for _, bars in charts(RECORDED, {"paper": {"tuned": {"gelu+wmma": 1.5}}}):
        assert bars._repr_svg_().startswith('<svg class="goptx chart"')


def test_tuned_speedups_are_over_one_after_the_other(tmp_path: Path) -> None:
    ms = {name: [value] * 3 for name, value in {"separate": 4.0, "graph, reversed": 3.0, "tuned": 2.0}.items()}
    row = {"name": "a+b", "right": True, "schemes": {"tuned": {"scheme": "tuned"}}, "ms": ms}
    for day, rows in (("2026-01-01", []), ("2026-01-02", [row])):
        (tmp_path / f"{day}-h200-suite_a.json").write_text(json.dumps({"pairs": {"natural": rows}}))
    assert reached(tmp_path, "h200", A) == ({"natural": {"tuned": {"a+b": 2.0}}}, "2026-01-02-h200-suite_a.json")
    assert reached(tmp_path, "h200", B) == reached(tmp_path, "b200", A) == ({}, "")


def test_ways_of_the_second_writing_are_over_one_after_the_other(tmp_path: Path) -> None:
    """Of the newest result, all ways that were timed; pairs of other groups are left out."""
    ms = {"separate": [4.0], "streams": [3.0], "weave": [2.0], "auto": [1.6]}
    timed = {"group": "second", "name": "a+b", "ways": {"weave": {}, "auto": {}, "tuned": {"refused": ""}}, "ms": ms}
    lacking = {"group": "second", "name": "a+c", "ways": {}}
    for day, rows in (("2026-01-02", [timed, lacking, {**timed, "group": "fitted"}]), ("2026-01-01", [])):
        (tmp_path / f"{day}-h200-unseen.json").write_text(json.dumps({"rows": rows}))
    expected = {"paper": {"weave": {"a+b": 2.0}, "auto": {"a+b": 2.5}}}
    assert reached(tmp_path, "h200", SECOND) == (expected, "2026-01-02-h200-unseen.json")


def test_the_table_of_the_second_writing() -> None:
    """The bounds in the mean and what each way reaches of them, at the top and in columns."""
    document = {**RECORDED, "suite": SECOND}
    speedups = {"paper": {"weave": {"gelu+wmma": 1.5, "harris+lud": 1.2}, "auto": {"gelu+wmma": 2.5}}}
    text = table(document, speedups, "somewhere.json")
    assert text.startswith("# Profiles of the second writing of suite A on ")
    assert "Bounds of 2 pairs in the paper shape" in text and "geometric mean 2.131, 1.93 to 2.36." in text
    assert "weave reaches 1.342 with 2 of them, 0.630 of the bound; 0 pass it." in text
    assert "auto reaches 2.500 with 1 of them, 1.061 of the bound; 1 pass it." in text
    assert "| pair | bound | by | next | weave | of the bound | auto | of the bound |" in text
    assert "| harris+lud | 1.93 | L1 data, shared | L2 (2.29) | 1.20 | 0.62 | - | - |" in text
    (group, other) = dict(charts(document, speedups))["paper_bound"].groups
    assert group.values == pytest.approx((1.5 / 2.36, 2.5 / 2.36), abs=0.002) and other.values[1] is None


# Running ------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_kernels_that_stay_separate_are_launched_one_after_the_other() -> None:
    done = work.made(Subjects(A, "natural", "gelu+gelu"), "tuned")
    (form,) = done.forms.values()
    assert form.woven.is_separate and form.woven.streams is False and len(work.launched(form)) == 2


@needs_ptxas
def test_a_pair_of_suite_b_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    subject = Subjects(B, "own", "batchnorm+hist")
    assert all(path.is_file() for path in specifications_of(B, "batchnorm+hist", "own"))
    (form,) = work.made(subject, "horizontal").forms.values()
    assert form.woven.shape is not None and form.woven.shape.threads == 1024
    (alone,) = work.made(Subjects(B, "own", "hist"), "alone").forms.values()
    assert work.launched(alone) == ["hist"]
    monkeypatch.setattr("suite_b.best.FILE", tmp_path / "best.json")
    assert "best.json has nothing of batchnorm+hist" in work.made(subject, "tuned").refused


@needs_ptxas
def test_a_pair_of_the_second_writing_is_made() -> None:
    """By its own kernels: suite A has others of the same names."""
    assert len(pairs_of(SECOND)) == 28
    assert {path.parent.name for path in specifications_of(SECOND, "harris+lud", "paper")} == {"second"}
    (alone,) = work.made(Subjects(SECOND, "paper", "gelu"), "alone").forms.values()
    (woven,) = work.made(Subjects(SECOND, "paper", "gelu+harris"), "weave").forms.values()
    assert work.launched(alone) == ["gelu"] and woven.woven.strategy == "weave"


def test_a_pair_of_suite_c_is_made_in_its_size() -> None:
    """Not in that of the specification of `unseen`, which has 65,536 rows."""
    subject = Subjects(C, "own", "softmax+dropout")
    assert {path.parts[-4] for path in specifications_of(C, "softmax+dropout", "own")} == {"unseen"}
    assert [shape.ctas for shape in work.measured_of(subject).shapes] == [16384, 65536]
    assert work.made(subject, "tuned").forms.keys() == {"tuned"}
    assert not any(path.is_file() for path in specifications_of(C, "nothing", "own"))


def groups() -> list[Group]:
    """Two pairs with two forms each."""
    found = []
    for pair in ("gelu+harris", "gelu+gelu"):
        subject = Subjects(A, "paper", pair)
        forms = [form for way in ("vertical", "weave") for form in forms_of(subject, way)]
        counted = tuple(Counted(f"{subject} | {k}", form) for k, form in enumerate(forms))
        found.append(Group(work.workload_of(subject), counted))
    return found


def forms_of(subject: Subjects, way: str) -> list[Any]:
    return list(PAIRED[way](work.measured_of(subject)))


class FakeProfiler:
    """Counts whatever the program would launch; ends in the forms of `stops`, once each."""

    def __init__(self, stops: Sequence[tuple[str, str]], error: DeviceError | None = None) -> None:
        self.stops, self.error, self.runs = dict(stops), error, 0

    def __call__(self, ncu: Profiler, program: Sequence[str], counters: Sequence[str], *_: object) -> list[Reading]:
        self.runs += 1
        question, progress = program[-2:]
        found = []
        with Path(progress).open("w") as log:
            print(json.dumps(["device", "NVIDIA H200, sm_90", ""]), file=log)
            for one in (one for group in pickle.loads(Path(question).read_bytes()) for one in group.counted):
                if one.key in self.stops:
                    what = self.stops[one.key]
                    print(json.dumps(["failed" if what else "begin", one.key, what]), file=log)
                    raise DeviceError("status 14")
                print(json.dumps(["end", one.key, ""]), file=log)
                found += [Reading(name, {"gpu__time_duration.sum": 1.0}) for name in work.launched(one.form)]
        if self.error:
            raise self.error
        return found


def test_what_hangs_or_fails_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    given = groups()
    keys = [one.key for group in given for one in group.counted]
    fake = FakeProfiler([(keys[1], ""), (keys[2], "an illegal access")])
    monkeypatch.setattr(running, "counted", fake)
    answer = running.counted_groups(NCU, given)
    assert fake.runs == 3 and answer.device == "NVIDIA H200, sm_90"
    assert answer.problems == {keys[1]: "hangs", keys[2]: "an illegal access"}
    assert list(answer.counts) == [keys[0], keys[3]]
    assert [name for found in answer.counts.values() for name, _ in found] == [
        "gelu_harris_woven", "gelu_woven",
    ]  # fmt: skip


@pytest.mark.parametrize("error", [DeviceError("no profiler"), NotPermitted("root only")])
def test_other_failures_are_raised(error: DeviceError, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "counted", FakeProfiler([], error))
    with pytest.raises(type(error), match=str(error)):
        running.counted_groups(NCU, groups()[:1])


def test_readings_of_other_launches_are_an_error() -> None:
    with pytest.raises(DeviceError, match="counted 1 launches, of fill, not the 1 of gelu"):
        running.assigned([("key", ["gelu"])], [Reading("fill", {})])


# The command --------------------------------------------------------------------------------------------


def asked(**given: Any) -> list[str]:
    options = {"suite": A, "shapes": None, "pairs": None, "limit": None, **given}
    return list(map(str, command.subjects(argparse.Namespace(**options))))


def test_pairs_that_are_asked_for() -> None:
    assert len(asked()) == 2 * len(PAIRS)
    assert asked(limit=1) == ["a paper gelu+gelu", "a natural gelu+gelu"]
    assert asked(pairs=["gelu+wmma,lud+lud", "sort+sort"], shapes="paper", limit=2) == [
        "a paper gelu+wmma", "a paper lud+lud",
    ]  # fmt: skip
    assert asked(suite=B, pairs=["batchnorm+hist"]) == ["b own batchnorm+hist"]
    assert asked(pairs=["gelu_half+wmma"]) == ["a paper gelu_half+wmma"], "it has no natural shape"
    with pytest.raises(InputError, match=r"suite A has no kernels of gelu\+knit in paper, natural"):
        asked(pairs=["gelu+knit", "gelu+lud"])
    assert asked(suite=B, limit=1) == ["b own batchnorm+hist"]
    assert len(asked(suite=SECOND)) == 28
    with pytest.raises(InputError, match=r"the second writing of suite A has no kernels of gelu\+knit in paper"):
        asked(suite=SECOND, pairs=["gelu+knit"])


@needs_ptxas
@pytest.mark.slow
def test_a_run_stores_its_results_and_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a fake profiler: results of the first pair, then only what is missing; the tables again without a GPU."""
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(command, "find_ncu", lambda: NCU)
    facts = {"gpu": "NVIDIA H200", "gpu_short": "h200", "driver": "1", "commit": "abc"}
    monkeypatch.setattr(command, "environment", lambda _: facts)
    fake = FakeProfiler([])
    monkeypatch.setattr(running, "counted", fake)
    begin = ["profiles", "-o", str(tmp_path), "--shapes", "paper", "--ways", "vertical", "--workers", "1"]

    def run(*more: str) -> dict[str, Any]:
        monkeypatch.setattr(sys, "argv", [*begin, *more])
        assert command.main() == 0
        (path,) = tmp_path.glob("*-h200-profiles.json")
        return dict(json.loads(path.read_text()))

    first = run("--pairs", "gelu+harris")
    assert [row["pair"] for row in first["pairs"]] == ["gelu+harris"] and [*first["alone"]["paper"]] == [
        "gelu",
        "harris",
    ]
    second = run("--pairs", "gelu+harris", "gelu+stms", "--resume")
    assert [row["pair"] for row in second["pairs"]] == ["gelu+harris", "gelu+stms"] and fake.runs == 2
    assert second["pairs"][0] == first["pairs"][0] and [*second["alone"]["paper"]] == ["gelu", "harris", "stms"]
    (path,) = tmp_path.glob("*.json")
    text = path.with_suffix(".md").read_text()
    path.with_suffix(".md").unlink()
    monkeypatch.setattr(sys, "argv", ["profiles", "--again", str(path)])
    assert command.main() == 0 and path.with_suffix(".md").read_text() == text
    assert len(list(tmp_path.glob("*.svg"))) >= 4


def test_an_unknown_way(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(command, "find_ncu", lambda: NCU)
    monkeypatch.setattr(command, "environment", lambda _: {"gpu_short": "h200"})
    monkeypatch.setattr(sys, "argv", ["profiles", "--ways", "weave; knit"])
    with pytest.raises(SystemExit):
        command.main()
    assert "--ways: knit: no such way; choose from vertical" in capsys.readouterr().err
