"""goptx.torch.optimize with a stand-in for torch: what is replayed, what runs as it is, and why."""

import sys
from collections.abc import Callable
from contextlib import contextmanager, nullcontext
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import goptx
from goptx.adapters import torch_callable
from goptx.errors import InputError
from goptx.time_budget import Budget


class Tensor:
    """Values on the device, and whether they need gradients."""

    is_cuda, dtype, device = True, "float32", "cuda:0"

    def __init__(self, *values: float, requires_grad: bool = False) -> None:
        self.values, self.requires_grad = list(values), requires_grad

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self.values),)

    def stride(self) -> tuple[int, ...]:
        return (1,)

    def detach(self) -> "Tensor":
        return self

    def clone(self) -> "Tensor":
        return Tensor(*self.values, requires_grad=self.requires_grad)


class Torch:
    """The parts of torch that are used. `capture` is called when a capture ends, `replay` by torch's own replay."""

    def __init__(self) -> None:
        self.capture: Callable[[], None] = lambda: None
        self.replay: Callable[[], None] = lambda: None
        self.offset, self.replayed, self.copied = 0, 0, 0

    def module(self) -> ModuleType:
        made = ModuleType("torch")
        stream = SimpleNamespace(wait_stream=lambda other: None)
        outer = self

        class CUDAGraph:
            def __init__(self, keep_graph: bool) -> None:
                assert keep_graph

            def instantiate(self) -> None:
                pass

            def replay(self) -> None:
                outer.replayed += 1
                outer.replay()

        @contextmanager
        def graph(given: CUDAGraph) -> Any:
            yield
            self.capture()

        def copy(to: list[Tensor], of: list[Tensor]) -> None:
            self.copied += len(to)
            for one, other in zip(to, of, strict=True):
                one.values[:] = other.values

        generator = SimpleNamespace(get_offset=lambda: self.offset)
        made.Tensor, made._foreach_copy_ = Tensor, copy  # type: ignore[attr-defined]
        made.cuda = SimpleNamespace(  # type: ignore[attr-defined]
            is_available=lambda: True, is_initialized=lambda: False, Stream=lambda: stream, graph=graph,
            current_stream=lambda: stream, stream=lambda on: nullcontext(), synchronize=lambda: None,
            CUDAGraph=CUDAGraph, default_generators=[generator], current_device=lambda: 0,
        )  # fmt: skip
        return made


@pytest.fixture
def torch(monkeypatch: pytest.MonkeyPatch) -> Torch:
    made = Torch()
    utils = ModuleType("torch.utils")
    utils._pytree = SimpleNamespace(  # type: ignore[attr-defined]
        tree_leaves=lambda value: value if isinstance(value, list) else [value]
    )
    monkeypatch.setitem(sys.modules, "torch", made.module())
    monkeypatch.setitem(sys.modules, "torch.utils", utils)
    monkeypatch.setattr(torch_callable, "optimize_graph", refuse)
    return made


def refuse(*args: object, **how: object) -> Any:
    raise InputError("node 0 of the graph is a conditional node.\nMore.")


class Doubled:
    """A function whose graph writes the double of its input."""

    def __init__(self) -> None:
        self.runs = 0
        self.out = Tensor(0)

    def __call__(self, x: Tensor, *more: object) -> Tensor:
        self.runs += 1
        self.given = x
        return self.out


@pytest.mark.slow
def test_what_goptx_refuses_is_torchs_own_graph(torch: Torch) -> None:
    function = Doubled()
    fast = goptx.torch.optimize(function, Tensor(3))
    assert fast.reason == "node 0 of the graph is a conditional node."
    assert fast.report is None
    assert repr(fast) == "OptimizedCallable(Doubled, not optimized: node 0 of the graph is a conditional node.)"
    runs, replayed = function.runs, torch.replayed
    assert fast(Tensor(5)) is function.out
    assert (function.runs, torch.replayed) == (runs, replayed + 1)
    assert fast.inputs[0].values == [5]


@pytest.mark.slow
def test_what_is_optimized_is_replayed(torch: Torch, monkeypatch: pytest.MonkeyPatch) -> None:
    replayed: list[int] = []
    done = SimpleNamespace(report="a report", replay=lambda: replayed.append(1))
    monkeypatch.setattr(torch_callable, "optimize_graph", lambda *args, **how: done)
    fast = goptx.torch.optimize(Doubled(), Tensor(3))
    fast(Tensor(4))
    assert fast.report is done.report
    assert (fast.reason, replayed) == ("", [1])
    assert torch.copied == 1
    fast(*fast.inputs)
    assert torch.copied == 1


def test_the_budget_begins_after_the_functions_own_runs(torch: Torch, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[Budget] = []

    def note(*args: object, budget: Budget, **how: object) -> Any:
        given.append(budget)
        return SimpleNamespace(report="a report", replay=lambda: None)

    monkeypatch.setattr(torch_callable, "optimize_graph", note)
    function, begin = Doubled(), 7.0
    clock = Budget(60, lambda: begin + function.runs)
    goptx.torch.optimize(function, Tensor(3), budget=clock)
    assert given == [clock]
    assert (clock.begin, function.runs) == (begin + function.runs, torch_callable.WARMUPS + 1)
    with pytest.raises(InputError, match="budget='soon' is not a time above 0"):
        goptx.torch.optimize(function, Tensor(3), budget="soon")


@pytest.mark.slow
@pytest.mark.parametrize("error", [ZeroDivisionError("a defect"), KeyError("x"), goptx.DeviceError("no memory")])
def test_no_failure_is_one_of_the_program(error: Exception, torch: Torch, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: object, **how: object) -> Any:
        raise error

    monkeypatch.setattr(torch_callable, "optimize_graph", fail)
    function = Doubled()
    fast = goptx.torch.optimize(function, Tensor(3))
    assert str(error).strip("'") in fast.reason
    assert fast(Tensor(4)) is function.out


@pytest.mark.slow
def test_other_inputs_let_the_function_run(torch: Torch) -> None:
    function = Doubled()
    fast = goptx.torch.optimize(function, Tensor(3), 7)
    runs, replayed = function.runs, torch.replayed
    for other in ((Tensor(1, 2), 7), (Tensor(1), 8), (Tensor(1),), (1.0, 7), (Tensor(1, requires_grad=True), 7)):
        fast(*other)
    assert (function.runs, torch.replayed) == (runs + 5, replayed)
    fast(Tensor(1), 7)
    assert torch.replayed == replayed + 1


def test_what_cannot_be_captured_runs_as_it_is(torch: Torch) -> None:
    captures: list[int] = []

    def invalid() -> None:
        captures.append(1)
        if len(captures) == 1:
            raise RuntimeError("operation not permitted when stream is capturing")

    torch.capture = invalid
    function = Doubled()
    fast = goptx.torch.optimize(function, Tensor(3))
    assert fast.reason == "it cannot be captured: operation not permitted when stream is capturing"
    assert len(captures) == 2  # an empty one ends what the first one began
    x = Tensor(4)
    fast(x)
    assert function.given is x


@pytest.mark.slow
def test_random_numbers_are_left_to_torch(torch: Torch) -> None:
    def advance() -> None:
        torch.offset += 4

    torch.replay = advance
    fast = goptx.torch.optimize(Doubled(), Tensor(3))
    assert fast.reason == "it draws random numbers, whose generator only torch's own replay advances"
    offset = torch.offset
    fast(Tensor(4))
    assert torch.offset == offset + 4


@pytest.mark.slow
def test_outputs_that_need_gradients_are_not_captured(torch: Torch) -> None:
    function = Doubled()
    function.out = Tensor(0, requires_grad=True)
    fast = goptx.torch.optimize(function, Tensor(3))
    assert fast.reason.startswith("its outputs need gradients")
    assert torch.replayed == 0
    x = Tensor(4)
    fast(x)
    assert function.given is x


def test_errors_of_the_function_are_its_own(torch: Torch) -> None:
    with pytest.raises(ZeroDivisionError):
        goptx.torch.optimize(lambda x: 1 / 0, Tensor(3))


def test_without_a_gpu_the_function_runs(torch: Torch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["torch"].cuda, "is_available", lambda: False)
    function = Doubled()
    fast = goptx.torch.optimize(function, Tensor(3))
    assert (fast.reason, function.runs) == ("there is no GPU", 0)
    assert fast(Tensor(4)) is function.out
