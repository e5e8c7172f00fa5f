"""A CuPy RawKernel and a kernel of a RawModule woven, and launched by CuPy as a RawModule.

python examples/interop/cupy_raw.py
"""

import sys

try:
    import cupy
except ImportError as error:
    print(f"skipped: {error}; pip install cupy-cuda13x")
    sys.exit(77)

import goptx
from goptx.adapters.cupy_module import raw_module

SAXPY = r"""
extern "C" __global__ void saxpy(float* out, float a, const float* x, const float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a * x[i] + y[i];
}
"""
WAVES = r"""
extern "C" __global__ void sine(float* out, const float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = sinf(x[i]);
}
extern "C" __global__ void cosine(float* out, const float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = cosf(x[i]);
}
"""
N, BLOCK = 1_000_000, 256


def main() -> int:
    if not cupy.cuda.is_available():
        print("skipped: no GPU")
        return 77
    saxpy = cupy.RawKernel(SAXPY, "saxpy")
    waves = cupy.RawModule(code=WAVES)
    woven = goptx.weave(saxpy, waves, entries=[None, "sine"])
    kernel = raw_module(woven).get_function(woven.name)

    x, y = cupy.random.default_rng(0).random((2, N), cupy.float32)
    grid, a, n = -(-N // BLOCK), cupy.float32(2.5), cupy.int32(N)
    sums, sines, sums_alone, sines_alone = cupy.zeros((4, N), cupy.float32)
    kernel((grid,), (BLOCK,), tuple(woven.arguments([sums, a, x, y, n], [sines, x, n])))
    saxpy((grid,), (BLOCK,), (sums_alone, a, x, y, n))
    waves.get_function("sine")((grid,), (BLOCK,), (sines_alone, x, n))
    equal = bool((sums == sums_alone).all() and (sines == sines_alone).all())
    sums[:], sines[:] = 0, 0
    woven.launch(cupy.cuda.get_current_stream(), [sums, a, x, y, n], [sines, x, n], grid=grid, block=BLOCK)
    equal = equal and bool((sums == sums_alone).all() and (sines == sines_alone).all())
    print(f"beside CuPy's own launches: outputs {'are equal' if equal else 'DIFFER'}")
    return 0 if equal else 1


if __name__ == "__main__":
    sys.exit(main())
