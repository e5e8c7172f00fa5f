"""What a module becomes on this machine: made once, and shared by results of one module only."""

import copy
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from device.fake_driver import Driver, driver

import goptx

__all__ = ["driver"]

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


def test_what_starts_it_is_made_once_for_each_shape(woven: goptx.Woven, driver: Driver) -> None:
    fresh = replace(woven)
    for number in (0, 1):
        driver.device = number
        for grid, cap in ((4, None), (4, 32), (8, None)) * 2:
            fresh.launch(None, [None, 0], [None, 0], grid=grid, block=[64], max_registers=cap, independent=True)
    assert [one.grid[0] for one in driver.started] == [4, 4, 8] * 4
    assert len(driver.kernels) == 6, "one for each shape, cap and device"
