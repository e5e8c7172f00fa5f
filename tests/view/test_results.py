"""How results are displayed in notebooks and on pages."""

import inspect
import math
import pickle
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from view.pages import Element, read

import goptx
from goptx.checking.verdict import Check, Difference
from goptx.device.sweep import Sweep, SweepRow
from goptx.emulator.emulation import Emulation
from goptx.errors import EmulationFault, InputError
from goptx.measuring.profiling.metrics import ALL
from goptx.measuring.profiling.profile_result import Launched, Profile
from goptx.memo import Deferred
from goptx.ptx.parse import parse
from goptx.region.fusion import Fusion, RegionReport
from goptx.strategies.candidate import Candidate
from goptx.tuning.best import Best
from goptx.tuning.cluster.pairs_table import COLUMNS, PairsTable
from goptx.tuning.making import Job
from goptx.tuning.trials import Table, Trial
from goptx.view.html.elements_html import page
from goptx.view.html.tuning_html import BARS, in_order, ranked
from goptx.view.svg.drawing import NARROW, PAGE
from goptx.weaving.weave import weave

Golden = Callable[[str, str], None]
KERNELS = Path(__file__).parents[2] / "examples" / "kernels"
HOSTILE = '<b8 onclick="x">&\'.ptx'
CHOSEN = Candidate("weave", (2, 1), 40)
TRIALS = (
    Trial(CHOSEN, "timed", "", 40, 8, 0.5, contracted="A:1 differs in 2 elements").timed([1.0, 2.0, 3.0], [4.0, 4.5]),
    Trial(Candidate("vertical", (2, 1)), "timed", "", 32, 0, 1.0).timed([2.5], [4.25]),
    Trial(Candidate("separate", (1, 1)), "timed").timed([8.0], [4.0]),
    Trial(Candidate("vertical", (1, 1)), "refused", f"{HOSTILE}:3: `k` spins, and\nwaits"),
    Trial(Candidate("vertical", (2, 2)), "pruned", "the same code as weave"),
    Trial(Candidate("horizontal", (1, 1)).having(partition=(128, 256)), "wrong", "B:0 differs in 1 elements"),
    Trial(Candidate("interleave", (4, 4)), "failed", "no answer within 20 s: it hangs"),
    Trial(Candidate("interleave", (2, 2)), "left out", "there was no time left"),
)
TABLE = Table(TRIALS, CHOSEN, {"streams (unchanged)": 4.25, "separate (unchanged)": 8.0}, (3, 1, 0, 2, 5, 4, 7, 6))
SWEEP = Sweep(
    (
        SweepRow(32, 32, 128, 1.0, 0.5, 0.4, 0.6),
        SweepRow(64, 64, 0, 0.5, 0.25, 0.24, 0.3),
        SweepRow(128, 120, 0, 0.0, math.nan, math.nan, math.nan),
        SweepRow(256, 200, 0, None, 0.375, 0.35, 0.4),
    )
)


PAIRS = PairsTable.of(
    [
        dict(zip(COLUMNS, ("a+b", 1.25, "weave x2 x2", 0.8, "graph", 1.0, "NVIDIA H200", 40, ""), strict=True)),
        PairsTable.row("a+c", reason="a: cannot be <woven>"),
    ]
)


def kernel(name: str) -> Path:
    return KERNELS / f"{name}.sm_90.ptx"


@pytest.fixture(scope="module")
def woven() -> goptx.Woven:
    return goptx.weave(kernel("gelu"), kernel("harris"))


@pytest.fixture(scope="module")
def check() -> Check:
    return goptx.check(kernel("harris"), kernel("lud"))


@pytest.fixture(scope="module")
def results(woven: goptx.Woven, check: Check) -> dict[str, object]:
    """A result of each class that public functions return."""
    made = Fusion(None, None)  # type: ignore[arg-type]
    made.fused, made.report = woven, RegionReport("weave", "", True, 0.1, 0.2, 0.3)
    launched = [Launched(label, "k", dict.fromkeys((m.short for m in ALL), 1.0)) for label in ("A", "B", "fused")]
    refusal = goptx.can_weave(spinning(), kernel("harris"))
    return {
        "Best": Best(woven, CHOSEN, 2.1, {}, TABLE, {"gpu": "NVIDIA H200"}, Job((), (), (), CHOSEN, "sm_90")),
        "Check": check,
        "Emulation": goptx.emulate(kernel("lud"), grid=1, block=256, args=[bytearray_of(4096), 2]),
        "Fusion": made,
        "LatencyTable": goptx.load_table(None, "sm_90"),
        "PairsTable": PAIRS,
        "Profile": Profile(
            tuple(launched[:2]), (launched[2],), "weave", "NVIDIA H200", "sm_90", "Nsight Compute 2025", woven.report
        ),
        "Refusal": refusal,
        "Suggestions": goptx.suggest([kernel("gelu"), kernel("harris"), kernel("lud")]),
        "Sweep": SWEEP,
        "Woven": woven,
    }


def bytearray_of(size: int) -> object:
    import numpy as np

    return np.ones(size // 4, np.float32)


def spinning() -> str:
    text = kernel("gelu").read_text().replace("sm_90", "sm_90a")
    return text.replace("\tret;", "\tsetmaxnreg.inc.sync.aligned.u32 40;\n\tret;")


# All of them ------------------------------------------------------------------------------------------


def test_every_public_result_shows_itself(results: dict[str, object]) -> None:
    functions = filter(inspect.isfunction, (getattr(goptx, name) for name in goptx.__all__))
    given = " ".join(inspect.signature(function).return_annotation for function in functions)
    assert set(results) == set(re.findall(r"[A-Z]\w+", given)) - {
        "Literal",
        "True",
        "Module",
        "Certificate",
        "Collected",
        "Graph",
        "GraphEmulation",
        "OptimizedGraph",
    }  # which are text
    for name, result in results.items():
        assert type(result).__name__ == name


@pytest.mark.slow
def test_each_is_one_self_contained_element(results: dict[str, object]) -> None:
    others = [TABLE, goptx.read(kernel("lud")), RegionReport("separate", HOSTILE, False, 0.1, 0.2, 0.3)]
    for result in [*results.values(), *others]:
        rendered = result._repr_html_()  # type: ignore[attr-defined]
        (root,) = read(rendered).inside
        assert isinstance(root, Element) and root.classes == ["goptx", "result"]
        assert rendered == result._repr_html_()  # type: ignore[attr-defined]


def test_rules_hold_within_results_only(woven: goptx.Woven) -> None:
    (style,) = (s for s in read(woven.report._repr_html_()).all("style"))
    for rule in re.sub(r"@media \(.*?\) \{", "", style.text).split("}"):
        for selector in filter(str.strip, rule.partition("{")[0].split(",")):
            assert ".goptx" in selector


@pytest.mark.slow
def test_what_comes_from_outside_is_text(check: Check) -> None:
    module = parse(kernel("gelu").read_text(), HOSTILE)
    made = weave(module, kernel("harris"))
    assert HOSTILE in read(made._repr_html_()).text
    assert HOSTILE in read(module._repr_html_()).text
    assert HOSTILE in read(TABLE._repr_html_()).text
    differs = replace(check, differences=(Difference(HOSTILE, 1, 2, 0, "<1", "&2"),))
    assert HOSTILE in read(differs._repr_html_()).text
    assert HOSTILE in read(page(HOSTILE, "")).all("title")[0].text
    assert '<meta name="viewport" content="width=device-width, initial-scale=1">' in page("a page", "")


def without_charts(rendered: str) -> str:
    """Without the charts, which versions of matplotlib draw differently."""
    return re.sub(r'<svg class="goptx chart".*?</svg>', "<svg/>", rendered, flags=re.S)


# One after the other ----------------------------------------------------------------------------------


def rows(rendered: str, position: int = 0) -> list[list[str]]:
    return [
        [c.text for c in row.all() if c.tag in ("td", "th")] for row in read(rendered).all("table")[position].all("tr")
    ]


def test_a_woven_kernel(woven: goptx.Woven) -> None:
    rendered = woven._repr_html_()
    whole = read(rendered)
    (root,) = whole.inside
    assert isinstance(root, Element)
    kinds = [part.classes for part in root.inside if isinstance(part, Element)]
    assert kinds[1:3] == [["verdict"], ["head"]]
    assert whole.all(kind="verdict")[0].text == str(woven.report.expected).replace("->", "→")
    assert "gelu_harris_woven gelu + harris: weave" in whole.text
    assert "launch(stream, args_a, args_b, grid=..., block=...)" in whole.text
    parameters, report = rows(rendered), rows(rendered, 1)
    assert parameters[1] == ["0", "A", "gelu_harris_woven_a_param_0", "gelu_param_0", "u64", "8", "read and written"]
    assert len(parameters) == 1 + len(woven.params)
    assert report[2][:3] == ["B harris", "2", "38"] and report[3][0] == "woven"
    assert f"instructions beside another kernel's {woven.report.woven_fraction:.0%}, policy latency" in whole.text
    assert [d.all("summary")[0].text for d in whole.all("details")][:5] == [
        "Timeline", "What threads do", "Control flow", "8 parameters", "PTX, 133 lines"
    ]  # fmt: skip


def test_the_words_of_the_verdict_are_marked(woven: goptx.Woven) -> None:
    assert woven.report.expected
    slower = replace(woven.report.expected, gain=0.5, least=0.4, most=0.6, advice='`strategy="auto"` would not')
    (verdict,) = read(replace(woven.report, estimate=Deferred(lambda: slower))._repr_html_()).all(kind="verdict")
    assert [e.text for e in verdict.all("em")] == ["slower", 'strategy="auto"'] and "*" not in verdict.text


def test_pictures_are_as_wide_as_the_page(woven: goptx.Woven) -> None:
    """At 1280 pixels the wide ones fit as they are, at 900 when scaled down; at 400 the narrow ones do."""
    for kind, most, room in (("large", PAGE, 900 - 72), ("small", NARROW, 400 - 50)):
        boxes = read(woven._repr_html_()).all("div", kind)
        assert len(boxes) == 3
        for box in boxes:
            style = box.all("svg")[0].attributes["style"]
            widest, least = map(int, re.findall(r"(\d+)px", style))
            assert widest <= most and least <= room


def test_pictures_of_two_widths_are_computed_once(woven: goptx.Woven, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def noted(name: str, made: object) -> object:
        asked.append(name)
        return made

    for name in ("timeline", "activity", "anatomy"):
        monkeypatch.setattr(goptx.Woven, name, partial(noted, name, getattr(woven, name)()))
    woven._repr_html_()
    assert sorted(asked) == ["activity", "anatomy", "timeline"]


@pytest.mark.slow
def test_shapes_and_hidden_parameters() -> None:
    shapes = [goptx.Shape(1024, 256), goptx.Shape((None, 7), (32, 8))]
    rendered = goptx.weave(kernel("harris"), kernel("transpose"), shapes=shapes)._repr_html_()
    text = read(rendered).text
    assert "launch(stream, args_a, args_b)as ? CTAs of 32x8 threads (? is known at launch only)" in text
    assert rows(rendered)[-1] == [
        "12",
        "",
        "harris_transpose_woven_B_spread",
        "B.spread",
        "u32",
        "4",
        "",
        "filled by launch()",
    ]


def test_kernels_that_stay_separate() -> None:
    shapes = [goptx.Shape(1024, 256), goptx.Shape(100, 128, 64)]
    made = goptx.fuse(kernel("gelu"), kernel("harris"), strategy="separate", shapes=shapes)
    text = read(made._repr_html_()).text
    assert "separate, launched one after the other" in text
    assert "gelu as 1024 CTAs of 256 threads" in text
    assert "harris as 100 CTAs of 128 threads, 64 bytes of dynamic shared memory" in text
    side_by_side = goptx.fuse(kernel("gelu"), kernel("harris"), strategy="separate", shapes=shapes, streams=True)
    assert "launched side by side" in read(side_by_side._repr_html_()).text


def test_a_cap_of_registers(woven: goptx.Woven) -> None:
    assert "at most 40 registers per thread" in read(woven.capped(40)._repr_html_()).text


@pytest.mark.slow
def test_why_a_strategy_was_chosen() -> None:
    shapes = [goptx.Shape(1024, 256)] * 2
    made = goptx.fuse(kernel("gelu"), kernel("harris"), strategy="auto", shapes=shapes)
    decision = made.report.decision
    assert decision
    text, table = read(made._repr_html_()).text, rows(decision._repr_html_())
    assert f"Why {decision.chosen.name}" in text
    assert len(table) == 1 + len(decision.candidates) and table[1][0] == f"★ {decision.chosen.name}"


def test_a_refusal(results: dict[str, object]) -> None:
    refusal = results["Refusal"]
    assert str(refusal) in read(refusal._repr_html_()).text  # type: ignore[attr-defined]


def test_a_check(check: Check) -> None:
    passed = read(check._repr_html_())
    assert "✓ harris_lud_woven does what its kernels do alone: all 11096 bytes are equal" in passed.text
    assert not passed.all(kind="wrong")
    failed = replace(check, differences=(Difference("B:0 (x)", 12, 1024, 33, "1.5", "0.25"),))
    assert read(failed._repr_html_()).all(kind="wrong")[0].text == "✗ harris_lud_woven"
    assert rows(failed._repr_html_())[1] == ["B:0 (x)", "33", "1.5", "0.25", "12", "1024"]
    faulty = replace(check, fault=EmulationFault("out of bounds <here>", kind="memory"))
    assert "EmulationFault: out of bounds <here>" in read(faulty._repr_html_()).text


def test_a_sweep(golden: Golden) -> None:
    rendered = SWEEP._repr_html_()
    golden("sweep.html", without_charts(rendered))
    assert [row[0] for row in rows(rendered)] == ["cap", "32", "★ 64", "128", "none"]
    assert rows(rendered)[3][3:] == ["0%", "-", "-", "-"]
    (chart, narrow) = read(rendered).all("svg")
    assert [t.text for t in narrow.all("title")] == [t.text for t in chart.all("title")]
    assert [t.text for t in chart.all("title")][1:] == [
        "128: does not fit on an SM" if k == 3 else title
        for k, title in enumerate(["32: 0.5000 ms", "64: 0.2500 ms", "none: 0.3750 ms", "128: does not fit on an SM"])
    ]
    wrong = replace(SWEEP.rows[0], ms=math.nan, ms_min=math.nan, ms_max=math.nan, problem="no <answer>")
    hanging = read(Sweep((wrong, *SWEEP.rows[1:]))._repr_html_())
    assert "32: no <answer>" in hanging.text
    assert "32: no <answer>" in [t.text for t in hanging.all("svg")[0].all("title")]
    assert "None could be run" in read(Sweep((wrong,))._repr_html_()).text
    nothing = Sweep(SWEEP.rows[2:3])
    assert "None fits on an SM" in read(nothing._repr_html_()).text and not read(nothing._repr_html_()).all("svg")


@pytest.mark.slow
def test_trials(golden: Golden) -> None:
    rendered = TABLE._repr_html_()
    golden("tuned.html", without_charts(rendered))
    table = rows(rendered)
    assert table[3][:2] == ["★ weave x2 x1 capped at 40", "2.0000"]
    assert [row[0] for row in table[1:3]] == ["streams (unchanged)", "separate (unchanged)"]
    folded = [d.all("summary")[0].text for d in read(rendered).all("details")]
    assert folded == ["Times of 3 candidates", "wrote something wrong, 1", "failed, 1", "refused, 1", "not timed, 1",
                      "left out for lack of time, 1"]  # fmt: skip


def test_charts_of_trials() -> None:
    bars = ranked(TABLE)
    assert [(bar.name, bar.chosen) for bar in bars.bars][:2] == [(str(CHOSEN), True), ("vertical x2 x1", False)]
    assert bars.line[1] == 1.0
    trials = in_order(TABLE)
    assert [p.x for p in trials.points] == list(range(1, 9))
    assert [p.chosen for p in trials.points].index(True) == 3
    assert sum(p.wrong for p in trials.points) == 2 and sum(p.y is None for p in trials.points) == 5
    assert "in the order of the table" in in_order(replace(TABLE, order=()))._repr_svg_()


@pytest.mark.slow
def test_the_chosen_candidate_is_in_the_chart_of_many() -> None:
    many = tuple(replace(TRIALS[0], candidate=Candidate("weave", (n, 1))) for n in range(2, BARS + 9))
    slow = replace(TRIALS[2], candidate=CHOSEN)
    bars = ranked(Table((slow, *many), CHOSEN)).bars
    assert len(bars) == BARS + 1 and bars[-1].chosen
    assert read(Table((slow, *many), CHOSEN)._repr_html_())


def test_nothing_was_tried() -> None:
    assert not read(Table((), CHOSEN)._repr_html_()).all("svg")


@pytest.mark.slow
def test_what_was_found(woven: goptx.Woven, results: dict[str, object]) -> None:
    best = results["Best"]
    assert isinstance(best, Best)
    (first, second) = read(best._repr_html_()).inside[0].inside[1:3]  # type: ignore[union-attr]
    assert isinstance(first, Element) and first.classes == ["verdict"] and isinstance(second, Element)
    assert (
        first.text.startswith("2.10 times as fast as separate launches") and second.text == "weave x2 x1 capped at 40"
    )
    separate = replace(best, candidate=Candidate("separate", (1, 1)))
    assert "No candidate was found that is faster" in read(separate._repr_html_()).text


def test_a_region_that_has_not_ended() -> None:
    assert "has not begun" in read(Fusion(None, None)._repr_html_()).text  # type: ignore[arg-type]


def test_what_an_emulation_printed(results: dict[str, object]) -> None:
    emulation = results["Emulation"]
    assert isinstance(emulation, Emulation)
    assert "What was printed" not in read(emulation._repr_html_()).text
    assert "a < b" in read(replace(emulation, printed="a < b\n")._repr_html_()).text


class Printer:
    """IPython's printer, as far as results use it."""

    def __init__(self, result: object) -> None:
        self.text_ = ""
        vars(type(result))["_repr_pretty_"](result, self, False)  # IPython takes that of no base class

    def text(self, words: str) -> None:
        self.text_ += words


def test_a_terminal_shows_words(woven: goptx.Woven, check: Check) -> None:
    drawn = woven.anatomy(), woven.timeline(), woven.activity()
    region = RegionReport("separate", "", False, 0.1, 0.2, 0.3)
    for result in (SWEEP, TABLE, check, woven, woven.report, region, *drawn):
        assert Printer(result).text_ == str(result)
    assert "\n  parameters  lud_param_0" in Printer(goptx.read(kernel("lud"))).text_


def test_one_that_was_sent_shows_the_same(woven: goptx.Woven) -> None:
    assert pickle.loads(pickle.dumps(woven))._repr_html_() == woven._repr_html_()


def test_pictures_need_neither_a_gpu_nor_pygments(woven: goptx.Woven, monkeypatch: pytest.MonkeyPatch) -> None:
    coloured = read(woven._repr_html_())
    for name in ("pygments", "pygments.token", "goptx.view.ptx_lexer"):
        monkeypatch.setitem(sys.modules, name, None)
    plain = read(woven._repr_html_())
    assert coloured.all("span", "nf") and not plain.all("span", "nf")
    assert plain.text == coloured.text


# On the command line ----------------------------------------------------------------------------------


def test_files_are_written_whole_or_not_at_all(tmp_path: Path, results: dict[str, object]) -> None:
    best = results["Best"]
    assert isinstance(best, Best)
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match=r"folder: cannot be written .*; give the path of a file"):
        best.save(tmp_path / "folder")
    best.save(tmp_path / "best.json")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["best.json", "folder"]
