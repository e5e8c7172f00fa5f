"""What a measuring process starts: arguments are packed before, so that the host's time is that of the launches."""

from collections.abc import Callable
from typing import Any

import pytest
from device.fake_driver import Driver, Stream, driver
from tuning.fake_bench import PLUS, TIMES

import goptx
from goptx.launch.bind import Arguments
from goptx.launch.repeated.repeated_arguments import RepeatedArguments
from goptx.measuring.bench.baseline_runs import bound, prepared

__all__ = ["driver"]

SHAPES = [goptx.Shape(4, 64), goptx.Shape(2, 64)]
A, B, C, D = range(0x10000, 0x50000, 0x10000)


def of_known_shapes(strategy: Any) -> Callable[[list[list[object]]], Any]:
    return lambda args: bound(goptx.fuse(PLUS, TIMES, strategy=strategy, shapes=SHAPES), None, args)


def of_a_common_shape(args: list[list[object]]) -> Any:
    return bound(goptx.weave(PLUS, TIMES), 40, args, SHAPES[0])


def unchanged(args: list[list[object]]) -> Any:
    return prepared(goptx.fuse(PLUS, TIMES, strategy="separate", shapes=SHAPES), args)


WAYS = {
    "common": of_a_common_shape, "known": of_known_shapes("horizontal"), "separate": of_known_shapes("separate"),
    "unchanged": unchanged,
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_arguments_are_packed_once(way: str, driver: Driver, monkeypatch: pytest.MonkeyPatch) -> None:
    start = WAYS[way]([[A, B, 5], [C, D, 6]])
    monkeypatch.delattr(Arguments, "packed")
    monkeypatch.delattr(RepeatedArguments, "give")
    count = 2 if way in ("separate", "unchanged") else 1
    for handle in (7, 8):
        driver.started.clear()
        start(Stream(handle))
        passed = [number for one in driver.started for number in one.arguments]
        assert [n for n in passed if n in (A, B, C, D)] == [A, B, C, D] and {5, 6} <= set(passed)
        assert [one.stream for one in driver.started] == [handle] * count
    if way == "common":
        assert (driver.started[0].grid, driver.started[0].block) == ((4, 1, 1), (64, 1, 1))
