"""optimize(): a function of torch's tensors as an optimized CUDA graph.

Ensures: what cannot be optimized runs as torch's own graph, and what cannot be captured runs as it is; no refusal of
goptx becomes an error of the program. Imports torch only inside functions.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from goptx.errors import GoptxError, InputError
from goptx.graph.graph_report import GraphReport
from goptx.graph.node_effects import Trust
from goptx.graph.optimized_graph import OptimizedGraph, optimize_graph
from goptx.sources.collecting import Collected, collect
from goptx.time_budget import Budget

if TYPE_CHECKING:
    import torch

HOLD = 256  # MiB of arrays that are held while the function is captured: larger ones belong to kernels that fill a GPU
WARMUPS = 3  # runs before the capture, in which kernels are compiled and libraries begin


class OptimizedCallable:
    """A function that replays its graph for inputs like the example's, and runs as it is for others.

    report: what became of its graph; None if it was not optimized, and `reason` says why.
    inputs: the tensors that the graph reads. Inputs are copied there, those that are there already are not.
    outputs: what the function returned while it was captured. Each replay writes these tensors again and returns them.
    """

    def __init__(self, function: Callable[..., Any], inputs: Sequence[Any]) -> None:
        self.function = function
        self.inputs = tuple(inputs)
        self.outputs: Any = None
        self.report: GraphReport | None = None
        self.reason = ""
        self._replay: Callable[[], None] | None = None
        self._held: object = None

    def __repr__(self) -> str:
        name = getattr(self.function, "__name__", type(self.function).__name__)
        how = "optimized" if self.report else f"not optimized: {self.reason}"
        return f"OptimizedCallable({name}, {how})"[:200]

    def __call__(self, *inputs: Any) -> Any:
        if self._replay is None or not _alike(inputs, self.inputs):
            return self.function(*inputs)
        _copy(inputs, self.inputs)
        self._replay()
        return self.outputs


def optimize(
    function: Callable[..., Any],
    *example_inputs: Any,
    trust: Trust = None,
    check: bool = True,
    tune: bool = True,
    budget: str | float | Budget | None = None,
    hold: int = HOLD,
) -> OptimizedCallable:
    """The function as an optimized CUDA graph: it is run some times, captured, and its graph is given to
    `goptx.optimize_graph`, whose options these are.

        fast = goptx.torch.optimize(model, x)
        y = fast(x)
        print(fast.report or fast.reason)

    hold: as for `goptx.collect`, in MiB: of arrays that do not share memory, more kernels are independent.
    example_inputs: positional arguments as those of later calls; tensors of other sizes, types or devices, and other
        values of other arguments, let the function run as it is.

    As with `torch.cuda.make_graphed_callables`, outputs are overwritten by the next call, the function must not write
    its inputs or wait for the device, and only work on the GPU is repeated. A function whose outputs need gradients, or
    that draws random numbers, is not optimized. Whatever goptx refuses, the result can be called; `reason` says why it
    is not faster. Raises only what the function raises when it is run, and `InputError` for a budget that is not a
    time.
    """
    import torch

    limit = Budget.of(budget)

    made = OptimizedCallable(function, [_static(x) for x in example_inputs])
    if not torch.cuda.is_available():
        made.reason = "there is no GPU"
        return made
    _warm_up(made)
    graph = torch.cuda.CUDAGraph(keep_graph=True)
    kernels = collect(hold)
    try:
        with kernels, torch.cuda.graph(graph):
            made.outputs = function(*made.inputs)
        graph.instantiate()
    except Exception as error:  # the function cannot be captured: whatever the reason, it can still be run
        made.reason = f"it cannot be captured: {_brief(error)}"
        made.outputs = None
        torch.cuda.synchronize()
        _end_capture()
        return made
    if any(isinstance(x, torch.Tensor) and x.requires_grad for x in _leaves(made.outputs)):
        made.reason = "its outputs need gradients; capture the whole training step, or call it under torch.no_grad()"
        made.outputs = None
        return made
    made._replay, made._held = graph.replay, graph
    if _draws(graph):
        made.reason = "it draws random numbers, whose generator only torch's own replay advances"
        return made
    limit.start()  # the function's own runs are not part of it
    _optimize(made, graph, kernels, trust, check, tune, limit)
    return made


def _optimize(
    made: OptimizedCallable,
    graph: torch.cuda.CUDAGraph,
    kernels: Collected,
    trust: Trust,
    check: bool,
    tune: bool,
    limit: Budget,
) -> None:
    try:
        found: OptimizedGraph = optimize_graph(graph, kernels, trust=trust, check=check, tune=tune, budget=limit)
    except InputError as error:
        if trust not in (None, "pointers"):
            raise
        made.reason = _brief(error)
    except GoptxError as error:
        made.reason = _brief(error)
    except Exception as error:  # a defect of goptx must not end the user's program
        made.reason = f"goptx failed, please report it: {type(error).__name__}: {_brief(error)}"
    else:
        made.report, made._replay, made._held = found.report, found.replay, found


def _end_capture() -> None:
    """After a capture that failed, torch's generator of random numbers takes itself to be captured, and fails, until
    another capture ends."""
    import torch

    with suppress(RuntimeError), torch.cuda.graph(torch.cuda.CUDAGraph(keep_graph=True)):
        pass


def _warm_up(made: OptimizedCallable) -> None:
    """Runs the function on a stream of its own, as torch asks for before a capture."""
    import torch

    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(WARMUPS):
            made.function(*made.inputs)
    torch.cuda.current_stream().wait_stream(stream)
    torch.cuda.synchronize()
    gc.collect()  # what the runs left is not freed within the capture


def _draws(graph: torch.cuda.CUDAGraph) -> bool:
    """Whether a replay advances the generator of random numbers."""
    import torch

    generator = torch.cuda.default_generators[torch.cuda.current_device()]
    before = generator.get_offset()
    graph.replay()
    torch.cuda.synchronize()
    return bool(generator.get_offset() != before)


def _static(x: Any) -> Any:
    import torch

    return x.detach().clone() if isinstance(x, torch.Tensor) and x.is_cuda else x


def _alike(given: Sequence[Any], known: Sequence[Any]) -> bool:
    return len(given) == len(known) and all(map(_same_kind, given, known))


def _same_kind(one: Any, other: Any) -> bool:
    import torch

    if not isinstance(other, torch.Tensor) or not isinstance(one, torch.Tensor):
        return one is other or (type(one) is type(other) and not isinstance(one, torch.Tensor) and bool(one == other))
    if not other.is_cuda:
        return one is other
    return (one.shape, one.dtype, one.device, one.stride(), one.requires_grad) == (
        other.shape, other.dtype, other.device, other.stride(), other.requires_grad
    )  # fmt: skip


def _copy(given: Sequence[Any], known: Sequence[Any]) -> None:
    """Copies the tensors into those that the graph reads, as one operation."""
    import torch

    pairs = [(to, x) for x, to in zip(given, known, strict=True) if isinstance(to, torch.Tensor) and x is not to]
    if pairs:
        torch._foreach_copy_([to for to, _ in pairs], [x for _, x in pairs])


def _leaves(value: Any) -> list[Any]:
    from torch.utils import _pytree

    return list(_pytree.tree_leaves(value))


def _brief(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0][:300] if lines else type(error).__name__
