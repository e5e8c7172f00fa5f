"""What a module becomes on this machine: made once, and shared by results of one module only."""

import copy
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import goptx
from goptx.device import executable
from goptx.device.executable import Executable

KERNELS = Path(__file__).parents[2] / "examples" / "kernels"
PAIR = [KERNELS / f"{name}.sm_90.ptx" for name in ("gelu", "lud")]


@pytest.fixture(scope="module")
def woven() -> goptx.Woven:
    return goptx.weave(*PAIR)


def test_a_changed_result_has_an_executable_of_its_own(woven: goptx.Woven) -> None:
    other = goptx.read(woven.ptx.replace("gelu_lud_woven", "other"))
    for made in (replace(woven, module=other), woven.capped(40), replace(woven, along_x=True)):
        assert made.executable is not woven.executable and made.executable.launching.along_x == made.along_x
        assert made.ptx == str(made.module)


def test_another_report_changes_nothing_of_it(woven: goptx.Woven) -> None:
    noted = woven.reported(replace(woven.report, notes=("a note",)))
    assert noted.report.notes == ("a note",) and noted.executable is woven.executable
    assert replace(noted, report=woven.report) == woven


def test_an_executable_is_no_part_of_the_value(woven: goptx.Woven) -> None:
    same = replace(woven)
    assert same == woven and same.executable is not woven.executable and "Executable" not in repr(woven)
    assert not hasattr(woven, "__dict__")


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda woven: pickle.loads(pickle.dumps(woven))])
def test_a_copy_works_as_the_original_does(again: Any, woven: goptx.Woven) -> None:
    made = again(woven)
    assert made == woven and made.ptx == woven.ptx and made.params == woven.params
    assert made.executable.module is made.module
    assert made.starts(4, 256) == woven.starts(4, 256)


def test_what_starts_it_is_made_once_for_each_shape(woven: goptx.Woven, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[tuple[object, ...]] = []
    device = [0]

    class Launcher:
        def __init__(self, kernel: object, grid: Any, block: Any, **rest: Any) -> None:
            made.append((*device, kernel, grid[0], block[0]))

        def __call__(self, stream: object, contents: list[bytes]) -> None:
            assert len(contents) == 4

    monkeypatch.setattr(executable, "Launcher", Launcher)
    monkeypatch.setattr(executable, "device_number", lambda: device[0])
    monkeypatch.setattr(Executable, "kernels", lambda self, cap: [cap])
    fresh = replace(woven)
    for number in (0, 1):
        device[0] = number
        for grid, cap in ((4, None), (4, 32), (8, None)) * 2:
            fresh.launch(None, [None, 0], [None, 0], grid=grid, block=[64], max_registers=cap, independent=True)
    assert made == [(d, cap, grid, 64) for d in (0, 1) for grid, cap in ((4, None), (4, 32), (8, None))]
