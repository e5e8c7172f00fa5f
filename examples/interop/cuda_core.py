"""Two of cuda.core's object codes woven, and launched by cuda.core.

python examples/interop/cuda_core.py
"""

import sys

import numpy as np

try:
    from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, ProgramOptions, launch
except ImportError as error:
    print(f"skipped: {error}; pip install goptx[gpu]")
    sys.exit(77)

import goptx
from goptx.device.load import current_device

PLUS = r"""
extern "C" __global__ void plus(int* out, const int* x, int n) { out[blockIdx.x * blockDim.x + threadIdx.x] =
    x[blockIdx.x * blockDim.x + threadIdx.x] + n; }
"""
TIMES = PLUS.replace("plus", "times").replace("+ n", "* n")
CTAS, BLOCK = 64, 128


def main() -> int:
    try:
        device: Device = current_device()
    except goptx.DeviceError as error:
        print(f"skipped: {error}")
        return 77
    arch = f"sm_{device.arch}"
    plus, times = (Program(t, "c++", ProgramOptions(arch=arch)).compile("ptx") for t in (PLUS, TIMES))
    woven = goptx.weave(plus, times)

    memory = LegacyPinnedMemoryResource()  # host memory that the GPU reads and writes in place
    buffers = [memory.allocate(4 * CTAS * BLOCK) for _ in range(4)]
    x, y, x_out, y_out = (np.from_dlpack(buffer).view(np.int32) for buffer in buffers)
    x[:], y[:] = np.arange(len(x)), np.arange(len(y))[::-1]
    arguments = woven.arguments([buffers[2], buffers[0], 7], [buffers[3], buffers[1], 3])
    stream = device.create_stream()
    launch(stream, LaunchConfig(grid=CTAS, block=BLOCK), woven.load(), *arguments)
    stream.sync()
    equal = bool((x_out == x + 7).all() and (y_out == y * 3).all())
    print(f"beside numpy: outputs {'are equal' if equal else 'DIFFER'}")
    return 0 if equal else 1


if __name__ == "__main__":
    sys.exit(main())
