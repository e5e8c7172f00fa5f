"""The `repr` of every kind of result is one line of at most 200 characters."""

from dataclasses import fields, is_dataclass
from pathlib import Path

import pytest

import goptx
from goptx.display import MOST
from goptx.latency.table import load_table

KERNELS = Path(__file__).parents[1] / "examples" / "kernels"
PAIR = [KERNELS / f"{name}.sm_90.ptx" for name in ("gelu", "lud")]


def results() -> dict[str, object]:
    woven = goptx.weave(*PAIR)
    chosen = goptx.fuse(*PAIR, strategy="auto", shapes=[goptx.Shape(1024, 256)] * 2)
    assert chosen.report.decision
    return {
        "woven": woven, "module": woven.module, "report": woven.report, "anatomy": woven.anatomy(),
        "timeline": woven.timeline(), "activity": woven.activity(), "table": load_table(None, "sm_90"),
        "parameter": woven.params[0], "origin": woven.origins[5], "auto": chosen, "decision": chosen.report.decision,
        "candidate": chosen.report.decision.candidates[0], "plan": chosen.plan, "check": goptx.check(*PAIR),
        "separate": goptx.fuse(*PAIR, strategy="separate"), "refusal": goptx.can_weave(*PAIR),
    }  # fmt: skip


RESULTS = results()


@pytest.mark.parametrize("name", RESULTS)
def test_a_repr_is_one_short_line(name: str) -> None:
    text = repr(RESULTS[name])
    assert len(text) <= MOST == 200 and "\n" not in text


def test_a_repr_has_what_is_short() -> None:
    text = repr(RESULTS["woven"])
    assert text.startswith("Woven(module=<Module>, name='gelu_lud_woven', params=<tuple of 4>")


def test_every_field_of_a_short_result_stands_in_it() -> None:
    origin = RESULTS["origin"]
    assert is_dataclass(origin)
    assert all(f"{f.name}=" in repr(origin) for f in fields(origin))
