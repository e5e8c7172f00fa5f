"""Kernels side by side are the branches of a CUDA graph, which a driver in Python records here."""

from collections.abc import Sequence
from threading import Thread
from typing import Any

import pytest
from device.fake_driver import DEFAULT, Driver, Stream, driver

from goptx.device.load import Launcher
from goptx.device.side_by_side import side_by_side

__all__ = ["driver"]

NAMES = ("a", "b", "c")


class Started:
    """Kernels with one number each as their argument, and how they are started side by side."""

    def __init__(self, driver: Driver, backwards: bool = False, names: Sequence[str] = NAMES) -> None:
        kernels: list[Any] = [driver.of_sizes(name, (4,)) for name in names]
        launchers = [Launcher(kernel, 1, 32, 0, (4,)) for kernel in kernels]
        self.driver, self.start = driver, side_by_side(launchers, backwards)
        self.memory = self.start.memory()

    def __call__(self, stream: Any, *numbers: int) -> None:
        self.memory.fill(numbers)
        self.start(stream, self.memory)


def launched(driver: Driver) -> list[tuple[str, int]]:
    return [(one.name, one.arguments[0]) for one in driver.started]


def test_a_graph_is_made_once_and_passes_what_is_given_now(driver: Driver) -> None:
    start = Started(driver)
    start(Stream(7), 1, 2, 3)
    start(None, 1, 2, 4)
    start(Stream(8), 0, 2, 4)
    assert launched(driver) == [
        (n, i) for given in ((1, 2, 3), (1, 2, 4), (0, 2, 4)) for n, i in zip(NAMES, given, strict=True)
    ]
    assert [call for call in driver.calls if call[0] == "graph"] == [("graph", 7), ("graph", DEFAULT), ("graph", 8)]
    assert len(driver.executables) == 1 and not driver.edges


def test_only_what_has_changed_is_passed_again(driver: Driver) -> None:
    start = Started(driver)
    start(Stream(7), 1, 2, 3)
    passed: list[int] = []
    set_params = driver.cuGraphExecKernelNodeSetParams

    def counting(made: int, node: int, params: Any) -> tuple[int]:
        passed.append(node)
        return set_params(made, node, params)

    driver.cuGraphExecKernelNodeSetParams = counting  # type: ignore[method-assign]
    start(Stream(7), 1, 2, 3)
    assert passed == []
    start(Stream(7), 1, 5, 3)
    assert len(passed) == 1
    start(Stream(7), 2, 5, 4)
    assert len(passed) == 3 and len(set(passed)) == 3
    assert [i for _, i in launched(driver)] == [1, 2, 3, 1, 2, 3, 1, 5, 3, 2, 5, 4]


def test_another_memory_for_the_parameters(driver: Driver) -> None:
    """As of launches that were bound with other arguments."""
    start = Started(driver)
    other = start.start.memory()
    other.fill((4, 5, 6))
    start(Stream(7), 1, 2, 3)
    start.start(Stream(7), other)
    assert launched(driver)[3:] == [("a", 4), ("b", 5), ("c", 6)]


def test_the_last_one_first(driver: Driver) -> None:
    start = Started(driver, backwards=True)
    start(Stream(7), 1, 2, 3)
    start(Stream(7), 4, 5, 6)
    assert launched(driver) == [("c", 3), ("b", 2), ("a", 1), ("c", 6), ("b", 5), ("a", 4)]


@pytest.mark.parametrize("backwards", [False, True])
def test_branches_of_a_graph_that_is_captured(backwards: bool, driver: Driver) -> None:
    """No graph within the graph: after what is there, and before what comes."""
    start = Started(driver, backwards)
    alone = Started(driver, names=["alone"])
    driver.cuStreamBeginCapture(7, 2)
    alone(Stream(7), 9)
    start(Stream(7), 1, 2, 3)
    alone(Stream(7), 9)
    _, graph = driver.cuStreamEndCapture(7)
    nodes = {node: one.name for node, one in driver.graphs[graph].items()}
    before, *branches, after = nodes
    assert [nodes[node] for node in branches] == list(reversed(NAMES) if backwards else NAMES)
    assert driver.edges == {(before, node) for node in branches} | {(node, after) for node in branches}
    assert not driver.started and not driver.executables


def test_each_thread_has_a_graph_of_its_own(driver: Driver) -> None:
    start = Started(driver)
    start(Stream(7), 1, 2, 3)
    thread = Thread(target=start, args=(Stream(8), 4, 5, 6))
    held = start.start._own.graph  # type: ignore[attr-defined]
    thread.start()
    thread.join()
    assert launched(driver)[3:] == [("a", 4), ("b", 5), ("c", 6)]
    assert start.start._own.graph is held and driver.instantiated == 2  # type: ignore[attr-defined]


def test_a_deleted_starter_destroys_its_graph(driver: Driver) -> None:
    start = Started(driver)
    start(Stream(7), 1, 2, 3)
    assert driver.graphs and driver.executables
    del start
    assert not driver.graphs and not driver.executables


def test_one_kernel_needs_no_graph(driver: Driver) -> None:
    start = Started(driver, names=["a"])
    start(Stream(7), 1)
    assert launched(driver) == [("a", 1)] and driver.started[0].stream == 7
    assert not driver.calls and not driver.graphs
