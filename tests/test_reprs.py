"""The `repr` of every public object is one line of at most 200 characters, `str` is for reading."""

import re
from dataclasses import fields, is_dataclass
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

import goptx
from goptx.display import MOST
from goptx.errors import CannotWeave
from goptx.latency.table import load_table
from goptx.launch.launching import Launching
from goptx.launch.shape import MOST_CTAS, MOST_SHARED
from goptx.region.completion import RegionOptions
from goptx.region.fusion import RegionReport

KERNELS = Path(__file__).parents[1] / "examples" / "kernels"
PAIR = [KERNELS / f"{name}.sm_90.ptx" for name in ("gelu", "lud")]


@cache
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


def test_a_repr_is_one_short_line() -> None:
    for name, result in results().items():
        text = repr(result)
        assert len(text) <= MOST == 200 and "\n" not in text, name


def test_a_repr_has_what_is_short() -> None:
    text = repr(results()["woven"])
    assert text.startswith("Woven(module=<Module>, name='gelu_lud_woven', launches=<tuple of 1>")


def test_every_field_of_a_short_result_stands_in_it() -> None:
    origin = results()["origin"]
    assert is_dataclass(origin)
    assert all(f"{f.name}=" in repr(origin) for f in fields(origin))


# Every public class -------------------------------------------------------------------------------------

PAGES = sorted((Path(__file__).parents[1] / "docs" / "reference").glob("*.md"))
NAMES = {f"goptx.{name}" for name in goptx.__all__} | {
    name for page in PAGES for name in re.findall(r"^::: (\S+)", page.read_text(encoding="utf-8"), re.MULTILINE)
}
FOUND = [getattr(import_module(name.rpartition(".")[0]), name.rpartition(".")[2]) for name in sorted(NAMES)]
CLASSES = [kind for kind in FOUND if isinstance(kind, type) and not issubclass(kind, Exception)]
REGIONS = [kind for kind in CLASSES if not is_dataclass(kind)]
VALUES = [*(kind for kind in CLASSES if is_dataclass(kind) and kind is not goptx.Shape), Launching]
LONG = [
    "two\nlines " * 300,
    ("many",) * 5000,
    dict.fromkeys(range(5000), "x"),
    CannotWeave("two\nlines " * 300, "barrier-ids"),
    10**9,
]


@pytest.mark.parametrize("kind", VALUES)
@pytest.mark.parametrize("held", LONG, ids=lambda held: type(held).__name__)
def test_whatever_a_public_value_holds(kind: type, held: object) -> None:
    assert is_dataclass(kind)
    made = object.__new__(kind)
    for f in fields(kind):
        object.__setattr__(made, f.name, held)
    text = repr(made)
    assert text.startswith(f"{kind.__name__}(") and len(text) <= MOST and "\n" not in text


def test_the_largest_shape() -> None:
    shape = goptx.Shape(MOST_CTAS, (256, 2, 2), MOST_SHARED, (1, 3, 5))
    assert len(repr(shape)) <= MOST and str(shape) == "2147483647x65535x65535:256x2x2:232448"


@pytest.mark.parametrize("kind", REGIONS)
def test_a_region(kind: type[goptx.Fusion]) -> None:
    made = kind(None, RegionOptions(strategy="vertical"))
    assert repr(made) == f"{kind.__name__}(strategy='vertical', the region has not begun)"
    assert str(made) == "a fusion region, strategy vertical, that has not begun"
    made.report = RegionReport("separate", "", False, 0.1, 0.2, 0.3)
    assert str(made) == str(made.report)


def test_regions_are_all_that_is_no_value() -> None:
    assert [kind.__name__ for kind in REGIONS] == ["Fusion", "CapturedFusion"]


# For reading --------------------------------------------------------------------------------------------


def test_a_fused_kernel_says_how_it_is_launched() -> None:
    woven = results()["woven"]
    assert isinstance(woven, goptx.Woven)
    assert str(woven).splitlines()[:3] == [
        str(woven.report.expected),
        "gelu_lud_woven: weave of A gelu, B lud",
        "launched in the shape that launch() is given; arguments: 2 for A, 2 for B",
    ]
    assert str(woven).endswith(f"\n{woven.report.details()}")
    shaped = goptx.weave(*PAIR, shapes=[goptx.Shape(None, 256), goptx.Shape(4, 64)])
    assert str(shaped).splitlines()[2] == "launched as ?:256; arguments: 2 for A, 2 for B; 5 hidden"


def test_separate_kernels_say_how_each_is_launched() -> None:
    made = goptx.fuse(*PAIR, strategy="separate", shapes=[goptx.Shape(8, 256), goptx.Shape(4, 64)])
    assert str(made).splitlines()[:3] == [
        "gelu_lud_separate: separate of A gelu, B lud",
        "gelu: launched as 8:256; arguments: 2 for A",
        "lud: launched as 4:64; arguments: 2 for B",
    ]
