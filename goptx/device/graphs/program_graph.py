"""A CUDA graph of a program: its handle, the sizes of parameters, and the allocations of the device.

Imports CUDA only inside functions.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from goptx.device import cuda_graph
from goptx.device.graphs import torch_memory
from goptx.device.graphs.torch_memory import Span
from goptx.device.load import bindings
from goptx.errors import DeviceError, InputError

MOST_PARAMETERS = 4096  # of a kernel: their bytes are no more


def handle_of(given: Any) -> int:
    """The driver's handle of a graph: of torch (`CUDAGraph(keep_graph=True)`), CuPy, cuda.core, or the handle itself.
    Raises `InputError` for something else, and for a graph that is not there any more."""
    if isinstance(given, bool):
        raise _no_graph(given)
    try:
        if hasattr(given, "raw_cuda_graph"):
            given = given.raw_cuda_graph()
        for name in ("handle", "graph"):  # of cuda.core, of CuPy
            given = getattr(given, name, given)
        handle = int(given)
    except RuntimeError as error:
        raise InputError(
            f"the graph of torch cannot be read ({error}); capture it with torch.cuda.CUDAGraph(keep_graph=True), and "
            "do not reset it."
        ) from None
    except (TypeError, ValueError):
        raise _no_graph(given) from None
    if not handle:
        raise InputError("the graph is not there any more: its handle is 0; capture it again.")
    return handle


def _no_graph(given: object) -> InputError:
    return InputError(
        f"an object of type {type(given).__name__} is not a CUDA graph; goptx takes a "
        "torch.cuda.CUDAGraph(keep_graph=True), a graph of cuda.core or CuPy, or the driver's handle."
    )


def read(given: Any) -> cuda_graph.Graph:
    """The nodes and edges of a graph, which is not changed. Raises `InputError`, `DeviceError` without a GPU."""
    handle = handle_of(given)
    try:
        found = cuda_graph.Graph(bindings().CUgraph(handle), None)
        _ = found.edges
    except DeviceError as error:
        raise InputError(f"the graph cannot be read ({error}); was it destroyed? Capture it again.") from None
    except (ImportError, RuntimeError) as error:  # of cuda-python
        raise DeviceError(f"a CUDA graph is read by the driver, which is not there ({error}).") from None
    return found


def parameter_sizes(kernel: cuda_graph.KernelNode) -> list[int] | None:
    """The bytes of each parameter of a kernel; None where the driver does not know them."""
    driver = bindings()
    for ask, of in ((driver.cuFuncGetParamInfo, driver.CUfunction), (driver.cuKernelGetParamInfo, driver.CUkernel)):
        for handle in kernel.handles:
            sizes = []
            for i in range(MOST_PARAMETERS):
                failed, *answer = ask(of(handle), i)
                if failed:
                    break
                sizes.append(int(answer[1]))
            if sizes or failed == driver.CUresult.CUDA_ERROR_INVALID_VALUE:
                return sizes
    return None


def modules(kernel: cuda_graph.KernelNode) -> list[int]:
    """The handles of the module and of the library that a kernel is of, as far as the driver knows them."""
    driver = bindings()
    found = []
    for ask, of in ((driver.cuFuncGetModule, driver.CUfunction), (driver.cuKernelGetLibrary, driver.CUkernel)):
        for handle in kernel.handles:
            failed, module = ask(of(handle))
            if not failed and module is not None:
                found.append(int(module))
    return found


def devices(addresses: Iterable[int]) -> set[int]:
    """The numbers of the devices whose memory these addresses are in, as far as they are known."""
    driver = bindings()
    found = set()
    for address in addresses:
        ordinal = driver.CUpointer_attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
        failed, number = driver.cuPointerGetAttribute(ordinal, driver.CUdeviceptr(address))
        if not failed and number is not None:
            found.add(int(number))
    return found


def allocations(addresses: Iterable[int], past: Iterable[Span] = ()) -> list[Span]:
    """The allocations in which these addresses lie, as far as they are known. `past`: arrays of torch that were there
    when the graph was captured. Allocations that overlap, because memory was used again, are all given."""
    own = torch_memory.arrays(past)
    found: set[Span] = set()
    for address in addresses:
        spans = [span for span in own if span[0] <= address < span[1]]
        other = None if spans else cuda_graph.allocation(address)
        found |= {*spans, *([other] if other else [])}
    return sorted(found)
