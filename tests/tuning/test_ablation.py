"""The ablation of the GoPTX paper on suite A: its schemes, its tables, what is tried; and the column of bounds."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from goptx.device.assemble import find_ptxas
from goptx.launch.shape import Shape
from goptx.measuring.bench.bench import Timed
from goptx.measuring.bench.questions import Failed, Judged

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

from suite_a import HALF_PAIRS, KERNELS, __main__, ablation, report, runs, specifications_of  # noqa: E402
from suite_a.schemes import CAPS, Done, Form, Subject, Task, measured_of  # noqa: E402

FACTS = dict.fromkeys(("gpu", "date", "driver", "assembler", "commit", "command", "seconds"), "x")


def row(name: str, **ms: float) -> dict[str, Any]:
    """A pair of which these were timed; a key such as "merge capped at 32" is a form of "merge"."""
    schemes = {key: {"scheme": key.partition(" capped")[0]} for key in ms}
    times = {key: [value] * 3 for key, value in {"separate": 4.0, "graph, reversed": 4.0, **ms}.items()}
    return {"name": name, "right": True, "schemes": schemes, "ms": times}


def test_all_parts_of_both_merges() -> None:
    assert [scheme for scheme in ablation.SCHEMES if scheme.startswith("published merge")] == [
        "published merge", "published merge, slicing", "published merge, weaving", "published merge, slicing, weaving",
        *(f"published merge, slicing {cycles}, weaving" for cycles in (256, 512, 768, 1024)),
    ]  # fmt: skip
    assert len(ablation.SCHEMES) == 16
    assert set(ablation.NAMED) <= {*HALF_PAIRS, "lud+stms", "gelu+wmma", "harris+wmma"}


@pytest.mark.slow
@pytest.mark.skipif(find_ptxas() is None, reason="needs ptxas")
def test_every_part_is_made_by_its_own_code() -> None:
    tasks = ablation.tasks_of(Subject("gelu+lud", "paper"))
    made = {task.scheme: ablation.made(task) for task in tasks}
    assert not [done.refused for done in made.values() if done.refused]
    free = {scheme: next(iter(done.forms.values())) for scheme, done in made.items()}
    parts = [free[f"{merge}{part}"].woven.ptx for merge in ablation.MERGES for part in ablation.PARTS]
    assert len(set(parts)) == len(parts) == 8
    assert {scheme for scheme, form in free.items() if form.common} == {s for s in free if s.startswith("published")}
    assert free["merge, slicing 512, weaving"].woven.report.slicing == 512


@pytest.mark.skipif(find_ptxas() is None, reason="needs ptxas")
def test_caps_below_the_registers() -> None:
    """Of a form with the common shape of its kernels, which the capped ones have too."""
    done = ablation.made(Task(Subject("gelu_half+wmma", "paper"), "published merge"))
    free, *capped = done.forms.values()
    assert free.cap is None and all(form.common == free.common is not None for form in capped)
    registers = free.woven.resources().registers
    assert [form.cap for form in capped] == [cap for cap in CAPS if cap < registers] != []
    assert list(done.forms)[1] == f"published merge capped at {capped[0].cap}"


def test_the_tables_of_an_ablation() -> None:
    rows = [
        row(
            "lud+stms",
            **{
                "merge": 4.0,
                "merge capped at 32": 2.0,
                "published merge": 3.2,
                "published merge, slicing, weaving": 5.0,
            },
        ),
        row("gelu+wmma", **{"merge": 2.0, "merge capped at 32": 2.5, "merge, slicing 512, weaving": 1.6}),
    ]
    text = ablation.table({**FACTS, "pairs": rows})
    assert "| lud+stms | 4.000 | 1.00 / 2.00 | - | - | - |" in text
    assert "| gelu+wmma | 4.000 | 2.00 | - | - | - |" in text, "no stroke where no cap is faster"
    assert "| geomean, no cap | | 1.414 | - | - | - |" in text and "| geomean, best cap | | 2.000 | - | - | - |" in text
    assert "| geomean, no cap | | 1.250 of 1 | - | - | 0.800 of 1 |" in text
    assert "| gelu+wmma | - | - | 2.50 | - | - |" in text
    assert "| lud+stms | 1.23 | 0.80 | - |" in text, "the paper's figure beside ours"


def test_the_chart_has_pairs_with_all_parts() -> None:
    both = [row(name, **dict.fromkeys(ablation.SCHEMES, ms)) for name, ms in (("a+b", 2.0), ("a+c", 4.0))]
    found = ablation.chart({**FACTS, "pairs": [*both, row("a+d", merge=1.0)]})
    assert len(found.groups) == 8 and "2 pairs" in found.title
    assert found.groups[-1].name == "merge, slicing 1024, weaving"
    assert found.groups[0].values == pytest.approx([2**0.5] * 2)
    assert ablation.chart({**FACTS, "pairs": []}).groups[0].values == (None, None)


class HangingBench:
    """A bench on which the forms of these keys hang."""

    def __init__(self, hang: str) -> None:
        self.hang, self.judged = hang, list[str]()

    def open(self, _: object) -> None: ...

    def judge(self, key: str, *_: object) -> Judged | Failed:
        self.judged.append(key)
        return Failed("no answer within 6 s: it hangs", broken=True) if key == self.hang else Judged()

    def time(self, keys: list[str], *_: object) -> Timed:
        return Timed({key: [1.0] for key in keys})


@pytest.mark.skipif(find_ptxas() is None, reason="needs ptxas")
def test_caps_of_what_hangs_are_not_tried() -> None:
    measured = measured_of(Subject("gelu+harris", "paper"))
    form = Form(measured.workload.separate, common=Shape(4, 256))

    def done(scheme: str, forms: Mapping[str, Form]) -> Done:
        return Done(Task(Subject("gelu+harris", "paper"), scheme), forms)

    made = [done("x", {"x": form, "x capped at 32": form, "x capped at 40": form}), done("y", {"y": form})]
    bench: Any = HangingBench("x")
    found = runs.rows_of("gelu+harris", bench, measured.workload, made)
    assert bench.judged == ["x", "y"] and found["right"] and "y" in found["ms"] and "x" not in found["ms"]
    assert found["schemes"]["x capped at 40"]["failed"] == "not tried, since `x` hangs"
    bench = HangingBench("x capped at 32")
    runs.rows_of("gelu+harris", bench, measured.workload, made)
    assert bench.judged == ["x", "x capped at 32", "y"]


@pytest.mark.slow
def test_a_run_goes_on_with_results_of_the_same_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With `--resume`; only what is missing is measured."""
    pytest.importorskip("matplotlib")
    measured = []

    def run_all(subjects: list[Subject], *_: object) -> list[dict[str, Any]]:
        measured.append([subject.name for subject in subjects])
        return [row(subject.name, merge=2.0) for subject in subjects]

    monkeypatch.setattr(ablation, "run_all", run_all)
    facts = {"gpu": "NVIDIA H200", "gpu_short": "h200", "driver": "1"}

    def run(commit: str, *pairs: str) -> None:
        monkeypatch.setattr(__main__, "environment", lambda _: {**facts, "commit": commit})
        argv = ["suite_a", "--ablation", "--resume", "-o", str(tmp_path), "--pairs", ",".join(pairs)]
        monkeypatch.setattr(sys, "argv", argv)
        assert __main__.main() == 0

    run("abc", "gelu+lud")
    run("abc", "gelu+lud", "lud+lud")
    run("other", "gelu+lud")
    assert measured == [["gelu+lud"], ["lud+lud"], ["gelu+lud"]]
    (path,) = tmp_path.glob("*-h200-suite_a_ablation.json")
    assert [one["name"] for one in json.loads(path.read_text())["pairs"]] == ["gelu+lud"]
    assert "| gelu+lud | 4.000 | 2.00 |" in path.with_suffix(".md").read_text()


def test_the_eighth_kernel_is_in_the_papers_shape_only() -> None:
    assert [path.name for path in specifications_of("gelu_half+wmma")] == ["gelu_half.toml", "wmma.toml"]
    assert all(path.is_file() for pair in HALF_PAIRS for path in specifications_of(pair))
    assert not specifications_of("gelu_half", "natural")[0].exists() and "gelu_half" not in KERNELS


# Bounds -------------------------------------------------------------------------------------------------


def test_the_share_of_the_bound() -> None:
    """Both over one after the other, whatever the baseline of the table is."""
    found = row("a+b", tuned=2.0)
    found["ms"]["graph, reversed"] = [3.0] * 3
    assert report.speedup(found, "tuned") == 1.5 and report.over_separate(found, "tuned") == 2
    assert report.of_the_bound(found, {"a+b": 2.5}) == 0.8
    assert report.of_the_bound(found, {}) is None and report.of_the_bound(row("a+b"), {"a+b": 2.5}) is None
    document = {**FACTS, "pairs": {"paper": [found]}, "single": {}}
    assert "of the bound" not in report.table(document)
    text = report.table({**document, "bounds": {"paper": {"a+b": 2.5}}, "bounds_of": "profiles of today"})
    assert "| tuned is | of the bound |" in text and "(profiles of today)" in text
    assert "| a+b | yes | 3.000 | graph, reversed | - | 1.50 |  | 0.80 |" in text and "| | 0.800 |" in text


def test_bounds_are_added_to_stored_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recorded = ROOT / "tests" / "profiles" / "recorded.json"
    monkeypatch.setattr(__main__, "RESULTS", tmp_path)
    path = tmp_path / "2026-01-01-h200-suite_a.json"
    pairs = {"paper": [row("gelu+wmma", tuned=2.0)]}
    path.write_text(json.dumps({**FACTS, "gpu_short": "h200", "pairs": pairs, "single": {}}))
    monkeypatch.setattr(sys, "argv", ["suite_a", "--bounds", str(path)])
    assert __main__.main() == 1, "no profiles are stored"
    (tmp_path / "2026-01-01-h200-profiles.json").write_text(recorded.read_text())
    assert __main__.main() == 0
    assert "| gelu+wmma | yes | 4.000 | separate | - | 2.00 |  | 0.85 |" in path.with_suffix(".md").read_text()
