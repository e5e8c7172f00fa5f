"""CUDA C++ text compiled through NVRTC, a template among it, and woven; launched where there is a GPU.

python examples/interop/nvrtc.py
"""

import sys

import numpy as np

import goptx
from goptx.device.load import architecture, current_device

MEANS = r"""
extern "C" __global__ void means(float* out, const float* x) {  // of each CTA's elements
    __shared__ float part[128];
    part[threadIdx.x] = x[blockIdx.x * 128 + threadIdx.x];
    for (int i = 64; i; i /= 2) {
        __syncthreads();
        if (threadIdx.x < i) part[threadIdx.x] += part[threadIdx.x + i];
    }
    if (threadIdx.x == 0) out[blockIdx.x] = part[0] / 128;
}
"""
POWER = r"""
template <int N> __global__ void power(float* out, const float* x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float value = 1;
    for (int k = 0; k < N; k++) value *= x[i];
    out[i] = value;
}
"""
CTAS, BLOCK = 64, 128


def main() -> int:
    try:
        arch = architecture() or "sm_90"
        means = goptx.compile_cuda(MEANS, arch=arch, name="means.cu")
        power = goptx.compile_cuda(POWER, arch=arch, instances=["power<5>"], name="power.cu")
    except goptx.AssemblyError as error:
        print(f"skipped: {error}")
        return 77
    woven = goptx.weave(means, power)
    print(woven.report)
    try:
        device = current_device()
    except goptx.DeviceError as error:
        print(f"skipped: {error}")
        return 77
    from cuda.core import LegacyPinnedMemoryResource

    memory = LegacyPinnedMemoryResource()  # host memory that the GPU reads and writes in place
    results = []
    for made in (goptx.fuse(means, power, strategy="separate"), woven):
        buffers = [memory.allocate(4 * CTAS * BLOCK) for _ in range(3)]
        x, x_out, x_means = (np.from_dlpack(buffer).view(np.float32) for buffer in buffers)
        x[:], x_out[:], x_means[:] = np.random.default_rng(0).random(CTAS * BLOCK), 0, 0
        made.launch(None, [buffers[2], buffers[0]], [buffers[1], buffers[0]], grid=CTAS, block=BLOCK)
        device.sync()
        results.append(x_out.tobytes() + x_means.tobytes())
    equal = results[0] == results[1]
    print(f"beside separate launches: outputs {'are equal' if equal else 'DIFFER'}")
    return 0 if equal else 1


if __name__ == "__main__":
    sys.exit(main())
