"""Two kernels for launches on a real GPU, their arguments, and their results."""

from typing import Any

import numpy as np
from bodies import kernel

from goptx.device.load import current_device

THREADS = 64
BODY = """
    ld.param.u64 %rd1, [{name}_in]; ld.param.u64 %rd2, [{name}_out]; ld.param.u32 %r5, [{name}_n];
    mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd1, %rd3; add.s64 %rd5, %rd2, %rd3;
    ld.global.u32 %r2, [%rd4]; {operation}.u32 %r3, %r2, %r5; st.global.u32 [%rd5], %r3;
"""
PLUS = kernel(BODY.format(name="plus", operation="add"), "plus")
TIMES = kernel(BODY.format(name="times", operation="mul.lo"), "times")


class Words:
    """Unsigned integers on the device, through the driver alone."""

    def __init__(self, count: int = THREADS) -> None:
        from cuda.bindings import driver

        self.driver, self.count = driver, count
        self.address = int(self.must(driver.cuMemAlloc(4 * count)))
        self.put(np.zeros(count, np.uint32))

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {"data": (self.address, False), "shape": (self.count,), "typestr": "<u4", "version": 3}

    def put(self, values: np.ndarray[Any, np.dtype[np.uint32]]) -> None:
        self.must(self.driver.cuMemcpyHtoD(self.address, values.ctypes.data, values.nbytes))
        current_device().sync()

    def get(self) -> list[int]:
        values = np.empty(self.count, np.uint32)
        current_device().sync()
        self.must(self.driver.cuMemcpyDtoH(values.ctypes.data, self.address, values.nbytes))
        return [int(v) for v in values]

    def free(self) -> None:
        self.driver.cuMemFree(self.address)

    @staticmethod
    def must(answer: tuple[Any, ...]) -> Any:
        assert int(answer[0]) == 0, answer
        return answer[1] if len(answer) > 1 else None


def arguments(arrays: list[Any], n: int) -> tuple[list[object], list[object]]:
    return [arrays[0], arrays[1], n], [arrays[2], arrays[3], n]


def results(arrays: list[Words]) -> tuple[list[int], list[int]]:
    return arrays[1].get(), arrays[3].get()


def expected(n: int, first: int = 0) -> tuple[list[int], list[int]]:
    return [first + i + n for i in range(THREADS)], [(first + i) * n for i in range(THREADS)]
