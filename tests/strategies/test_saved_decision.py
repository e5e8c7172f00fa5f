"""A decision of `auto` that was saved, and made again in a build."""

import json
from pathlib import Path
from typing import Any

import pytest
from command_line import run

import goptx
from goptx import Shape
from goptx.errors import InputError
from goptx.strategies.choose_strategy import Search

KERNELS = Path(__file__).parents[2] / "examples" / "kernels"
SOURCES = [KERNELS / f"{name}.sm_90.ptx" for name in ("harris", "micnd")]
AUTO: dict[str, Any] = {"strategy": "auto", "shapes": [Shape(1 << 16, 256)] * 2}
WOVEN: dict[str, Any] = {"strategy": "weave", "factors": [1, 1, 1], "cap": None, "options": {}}
COMPARED = {"name": "weave", "cycles": 1.0, "registers": 8, "occupancy": 1.0, "decided_by": "memory", "made": True}


@pytest.fixture(scope="module")
def chosen() -> goptx.Woven:
    return goptx.fuse(*SOURCES, **AUTO)


@pytest.fixture
def nothing_is_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    def searched(self: Search) -> None:
        raise AssertionError("candidates were compared")

    monkeypatch.setattr(Search, "best", searched)


@pytest.mark.slow
@pytest.mark.usefixtures("nothing_is_searched")
@pytest.mark.parametrize("form", ["the decision", "its file", "the report's file"])
def test_a_saved_decision_makes_the_same_kernel(form: str, chosen: goptx.Woven, tmp_path: Path) -> None:
    decision = chosen.report.decision
    assert decision and decision.taken["factors"] != [1, 1]  # more than a strategy is saved
    held = chosen.report.to_dict() if form == "the report's file" else decision.to_dict()
    given: Any = held
    if form != "the decision":
        given = tmp_path / "decision.json"
        given.write_text(json.dumps(held))
    again = goptx.fuse(*SOURCES, **AUTO, decision=given)
    assert again.ptx == chosen.ptx and again.max_registers == chosen.max_registers
    assert again.report.decision == decision


@pytest.mark.usefixtures("nothing_is_searched")
def test_it_holds_for_kernels_that_changed(chosen: goptx.Woven) -> None:
    assert chosen.report.decision
    decision = {**chosen.report.decision.to_dict()}
    decision["taken"] = {"strategy": "interleave", "factors": [2, 1], "cap": None, "options": {"ratio": [1, 3]}}
    made = goptx.fuse(SOURCES[0].read_text() + "\n", SOURCES[1], **AUTO, decision=decision)
    assert made.strategy == "interleave" and [k.coarse.factor for k in made.chosen] == [2, 1]


@pytest.mark.slow
def test_the_command_line_takes_its_own_report(tmp_path: Path) -> None:
    command = ["fuse", *map(str, SOURCES), "--shape", "A=65536:256", "--shape", "B=65536:256", "--strategy", "auto"]
    report, outputs = tmp_path / "report.json", [tmp_path / "first.ptx", tmp_path / "again.ptx"]
    report.write_text(run(*command, "--report=json", "-o", str(outputs[0]), cwd=tmp_path).stdout)
    run(*command, "--decision", str(report), "-o", str(outputs[1]), "--depfile", str(tmp_path / "made.d"), cwd=tmp_path)
    assert outputs[0].read_text() == outputs[1].read_text()
    assert "report.json" in (tmp_path / "made.d").read_text()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "decision=: not a decision of `auto` (it has no 'candidates'); give `report.decision.to_dict()`"),
        (
            {"candidates": [], "decided": "", "assumed": [], "taken": {"strategy": "magic"}},
            "(`strategy` is not one that is tuned)",
        ),
        (
            {"candidates": [], "decided": "", "assumed": [], "taken": WOVEN},
            "(`candidates` is empty)",
        ),
        ([], "decision=: not a decision of `auto` (it is `list`, not an object); give"),
        (
            {"candidates": [COMPARED], "decided": "", "assumed": [], "taken": WOVEN},
            "decision=: a decision about 3 kernels; 2 are given.",
        ),
    ],
)
def test_what_is_not_a_decision_about_them_is_refused(given: Any, message: str) -> None:
    with pytest.raises(InputError) as refused:
        goptx.fuse(*SOURCES, **AUTO, decision=given)
    assert message in str(refused.value)


def test_a_file_that_is_not_json_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "decision.json"
    path.write_text("{")
    with pytest.raises(InputError, match=r"decision.json: not JSON: .*; give a decision or report of `auto`"):
        goptx.fuse(*SOURCES, **AUTO, decision=path)


def test_dependent_kernels_have_no_decision_to_take() -> None:
    with pytest.raises(InputError, match="decision= is for independent kernels"):
        goptx.fuse(*SOURCES, **AUTO, depends=True, decision={})
