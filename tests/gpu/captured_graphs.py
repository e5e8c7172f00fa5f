"""A captured CUDA graph of launches of the kernels of graph_kernels.py, made by the driver alone."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from gpu.plus_and_times import Words
from graph.graph_kernels import add, counter, indirect, scale, u32, u64

import goptx
from goptx.device import cuda_graph
from goptx.device.assemble import assemble
from goptx.device.launches.parameter_memory import ParameterMemory
from goptx.device.load import Launcher, architecture, bindings, current_device, load, must
from goptx.sources.collecting import Collected

LENGTH = 1 << 12
TEXTS = {"scale": scale(), "scale5": scale("scale5", 5), "add": add(), "count": counter(), "indirect": indirect()}


class Captured:
    """Arrays, and a stream onto which kernels are launched while it is captured.

    graph: the driver's handle; kernels: their PTX, except of those in `opaque`.
    """

    def __init__(self, arrays: int, opaque: Sequence[str] = ()) -> None:
        current_device()
        self.driver, self.opaque = bindings(), opaque
        self.stream = must(self.driver.cuStreamCreate(1))
        self.arrays = [Words(LENGTH) for _ in range(arrays)]
        self.kernels = Collected()
        self._loaded: dict[str, Any] = {}
        self._memory: list[ParameterMemory] = []
        self.graph = 0
        for name, text in TEXTS.items():
            cubin = assemble(text, entry=name, arch=architecture()).cubin
            self._loaded[name] = load(cubin, name)
            if name not in opaque:
                self._know(name, text)
        self.fill()

    def _know(self, name: str, text: str) -> None:
        kernel = self.driver.CUkernel(int(self._loaded[name].handle))
        for handle in (int(kernel), int(must(self.driver.cuKernelGetFunction(kernel)))):
            self.kernels.add(handle, text, name)

    def fill(self, seed: int = 0) -> None:
        for i, array in enumerate(self.arrays):
            array.put(np.random.default_rng((seed, i)).integers(0, 1 << 20, LENGTH, np.uint32))

    def launch(self, name: str, *parameters: bytes) -> None:
        sizes = tuple(map(len, parameters))
        memory = ParameterMemory([(sizes, ())])
        memory.fill(parameters)
        self._memory.append(memory)
        Launcher(self._loaded[name], LENGTH // 128, 128, 0, sizes).start(self.stream, memory.tables[0])

    def scale(self, x: int, y: int, name: str = "scale", n: int = LENGTH) -> None:
        self.launch(name, self.at(x), self.at(y), u32(n))

    def add(self, x: int, y: int, z: int) -> None:
        self.launch("add", self.at(x), self.at(y), self.at(z), u32(LENGTH))

    def at(self, array: int) -> bytes:
        return u64(self.arrays[array].address)

    def capture(self, start: Any) -> int:
        self.graph = int(cuda_graph.captured(self.stream, start))
        return self.graph

    def left(self, launch: Any = None, seed: int = 0) -> list[list[int]]:
        """The contents of all arrays after a launch on those of `seed`; of the captured graph itself by default."""
        self.fill(seed)
        if launch is None:
            executable = must(self.driver.cuGraphInstantiate(self.driver.CUgraph(self.graph), 0))
            must(self.driver.cuGraphLaunch(executable, self.stream))
            must(self.driver.cuStreamSynchronize(self.stream))
            must(self.driver.cuGraphExecDestroy(executable))
        else:
            launch(None)
        must(self.driver.cuCtxSynchronize())
        return [array.get() for array in self.arrays]

    def description(self) -> str:
        return goptx.Graph.of(self.graph, self.kernels).to_json()
