"""Two Numba-CUDA kernels woven and launched on Numba's device arrays.

python examples/interop/numba_kernels.py
"""

import sys

import numpy as np

try:
    from numba import cuda
except ImportError as error:
    print(f"skipped: {error}; pip install numba-cuda")
    sys.exit(77)

import goptx
from goptx.sources.numba import arguments

N, BLOCK = 1_000_000, 256


def saxpy(out, a, x, y):  # type: ignore[no-untyped-def]
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a * x[i] + y[i]


def transpose(out, x):  # type: ignore[no-untyped-def]
    i = cuda.grid(1)
    if i < x.size:
        out[i % x.shape[1], i // x.shape[1]] = x[i // x.shape[1], i % x.shape[1]]


def nothing(x):  # type: ignore[no-untyped-def]
    pass


def main() -> int:
    if not cuda.is_available():
        print("skipped: no GPU")
        return 77
    try:
        cuda.jit("void(float32[::1])")(nothing)
    except Exception as error:  # some releases take no newer numpy
        print(f"skipped: this numba-cuda cannot compile beside numpy {np.__version__}: {error}")
        return 77
    a = cuda.jit("void(float32[::1], float32, float32[::1], float32[::1])")(saxpy)
    b = cuda.jit("void(float32[:, ::1], float32[:, ::1])")(transpose)
    x, y = (cuda.to_device(np.random.default_rng(i).random(N, np.float32)) for i in range(2))
    matrix = cuda.to_device(np.arange(N, dtype=np.float32).reshape(500, -1))
    grid = -(-N // BLOCK)
    results = []
    for together in (False, True):
        sums, turned = cuda.device_array(N, np.float32), cuda.device_array(matrix.shape[::-1], np.float32)
        if together:
            woven = goptx.weave(a, b)
            woven.launch(None, arguments(sums, 2.5, x, y), arguments(turned, matrix), grid=grid, block=BLOCK)
        else:
            a[grid, BLOCK](sums, 2.5, x, y)
            b[grid, BLOCK](turned, matrix)
        cuda.synchronize()
        results.append(sums.copy_to_host().tobytes() + turned.copy_to_host().tobytes())
    equal = results[0] == results[1]
    print(f"beside Numba's own launches: outputs {'are equal' if equal else 'DIFFER'}")
    return 0 if equal else 1


if __name__ == "__main__":
    sys.exit(main())
