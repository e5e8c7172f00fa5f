"""Launches that may run at once draw their tickets from different counters, through a fake driver."""

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from weakref import WeakKeyDictionary

import pytest
from device.fake_driver import Array, Driver, Stream, driver
from weaving.shaped_kernels import KERNELS

import goptx
from goptx.device.launches import ticket_counters as counters
from goptx.errors import DeviceError
from goptx.options import FOLDS

__all__ = ["driver"]

SHAPES = [goptx.Shape(8, 64), goptx.Shape(4, 32)]
WOVEN = goptx.fuse(
    KERNELS["registers"], KERNELS["leaving"], strategy="horizontal", shapes=SHAPES, fold="ticket", ctas=2
)
ARGS = [Array(0x10000), 5], [Array(0x20000), 6]


@pytest.fixture
def woven(monkeypatch: pytest.MonkeyPatch) -> goptx.Woven:
    """Not loaded yet."""
    monkeypatch.setattr(counters, "_COUNTERS", WeakKeyDictionary())  # handles are the same in each test
    return replace(WOVEN)


def numbers(driver: Driver) -> list[int]:
    """Of the counters of all launches so far; the other arguments are as they should be."""
    assert all(one.arguments[:-1] == [0x10000, 5, 0x20000, 6] for one in driver.started)
    return [one.arguments[-1] for one in driver.started]


def test_each_stream_has_its_own(woven: goptx.Woven, driver: Driver) -> None:
    """0 is left to launches that are not made by goptx."""
    for handle in (7, 8, 7, 9, 8):
        woven.launch(Stream(handle), *ARGS)
    bound = woven.bind(*ARGS)
    bound.launch(Stream(8))
    bound.launch()
    assert numbers(driver) == [1, 2, 1, 3, 2, 2, 4]


def test_a_handle_that_is_used_again_is_another_stream(woven: goptx.Woven, driver: Driver) -> None:
    """Work on the first one may still run."""
    woven.launch(Stream(7), *ARGS)
    driver.ids[7] = 70
    woven.launch(Stream(7), *ARGS)
    assert numbers(driver) == [1, 2]


def test_each_captured_launch_has_its_own(woven: goptx.Woven, driver: Driver) -> None:
    """The graph may be launched on any stream, and beside others."""
    woven.launch(Stream(7), *ARGS)
    driver.cuStreamBeginCapture(7, 0)
    woven.launch(Stream(7), *ARGS)
    woven.launch(Stream(7), *ARGS)
    _, graph = driver.cuStreamEndCapture(7)
    assert [node.arguments[-1] for node in driver.graphs[graph].values()] == [2, 3]
    woven.launch(Stream(7), *ARGS)
    assert numbers(driver) == [1, 1]


def test_nodes_of_graphs_keep_theirs(woven: goptx.Woven, driver: Driver) -> None:
    bound = woven.bind(*ARGS)
    one, other = bound.graph(), bound.graph()
    bound.launch(Stream(7))
    for graph in (one, other, one):
        graph.update()
        graph.launch(Stream(8))
    assert numbers(driver) == [3, 1, 2, 1]
    assert [driver.graphs[g.definition][g.handles[0]].arguments[-1] for g in (one, other)] == [1, 2]


@pytest.mark.usefixtures("woven")
def test_two_shapes_of_one_kernel_share_them(monkeypatch: pytest.MonkeyPatch, driver: Driver) -> None:
    """Its launches on one stream do not run at once, whatever their shapes; those on two streams may."""
    unknown = [goptx.Shape(None, 64), goptx.Shape(None, 32)]
    made = goptx.fuse(
        KERNELS["registers"], KERNELS["leaving"], strategy="horizontal", shapes=unknown, fold="ticket", ctas=2
    )
    kernel = driver.kernel(made.executable.launching.launches[0])
    monkeypatch.setattr(type(made.executable), "kernels", lambda self, cap: [kernel])
    for grid, handle in ((4, 7), (5, 7), (5, 8), (4, 8)):
        made.launch(Stream(handle), *ARGS, shapes=[goptx.Shape(grid, 64), goptx.Shape(3, 32)])
    assert [one.arguments[-1] for one in driver.started] == [1, 1, 2, 2]


def test_threads_that_launch_at_once(woven: goptx.Woven, driver: Driver, monkeypatch: pytest.MonkeyPatch) -> None:
    """One thread waits within the driver while another launches the same arguments on another stream."""
    bound, within, begun = woven.bind(*ARGS), threading.Event(), threading.Event()
    bound.launch(Stream(7))
    bound.launch(Stream(8))
    launch: Callable[..., Any] = driver.cuLaunchKernel

    def slow(*args: Any) -> Any:
        if not within.is_set():
            within.set()
            begun.wait(0.05)
        return launch(*args)

    starter = bound.prepared.starter
    monkeypatch.setattr(starter.launchers[0], "_launch", slow)
    first = threading.Thread(target=bound.launch, args=(Stream(7),))
    first.start()
    assert within.wait(10)

    def other() -> None:
        bound.launch(Stream(8))
        begun.set()

    second = threading.Thread(target=other)
    second.start()
    first.join()
    second.join()
    assert sorted((one.stream, one.arguments[-1]) for one in driver.started[2:]) == [(7, 1), (8, 2)]


def test_counters_run_out(woven: goptx.Woven, driver: Driver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counters, "COUNTERS", 3)
    for handle in (7, 8, 7):
        woven.launch(Stream(handle), *ARGS)
    with pytest.raises(DeviceError, match="counters for 2 streams and captured launches, and all are taken"):
        woven.launch(Stream(9), *ARGS)
    woven.launch(Stream(8), *ARGS)
    assert numbers(driver) == [1, 2, 1, 2]


@pytest.mark.parametrize("fold", [fold for fold in FOLDS if fold != "ticket"])
def test_other_folded_grids_have_none(fold: Any, driver: Driver) -> None:
    made = goptx.fuse(KERNELS["registers"], KERNELS["leaving"], strategy="horizontal", shapes=SHAPES, fold=fold, ctas=2)
    made.launch(Stream(7), *ARGS)
    assert driver.started[0].arguments == [0x10000, 5, 0x20000, 6]
