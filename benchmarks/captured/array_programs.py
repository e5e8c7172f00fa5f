"""Programs of CuPy and Numba: an image pipeline, and a simulation with independent steps.

Each function makes the arrays and returns what starts the kernels on the driver's stream of a handle, and the outputs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Started = tuple[Callable[[Any], None], list[Any]]

FILTERS = r"""
extern "C" __global__ void linear(const unsigned char *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = powf(x[i] / 255.0f, 2.2f);
}
extern "C" __global__ void blur(const float *x, float *y, int width, int height, int across) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= width * height) return;
    int column = i % width, row = i / width;
    float sum = 0;
    for (int k = -4; k <= 4; k++) {
        int c = across ? min(max(column + k, 0), width - 1) : column;
        int r = across ? row : min(max(row + k, 0), height - 1);
        sum += x[r * width + c] * (5 - abs(k));
    }
    y[i] = sum / 25;
}
extern "C" __global__ void edges(const float *x, const float *y, float *z, int width, int height) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= width * height) return;
    int column = i % width, row = i / width;
    int left = max(column - 1, 0), above = max(row - 1, 0);
    float dx = y[i] - y[row * width + left], dy = y[i] - y[above * width + column];
    z[i] = x[i] + 2 * (x[i] - y[i]) + sqrtf(dx * dx + dy * dy);
}
extern "C" __global__ void grey(const float *r, const float *g, const float *b, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 0.2126f * r[i] + 0.7152f * g[i] + 0.0722f * b[i];
}
"""


def images(width: int = 640, height: int = 480) -> Started:
    """Each channel of a picture is linearized, sharpened and its edges are added; then all three become grey."""
    import cupy

    n = width * height
    linear, blur, edges, grey = (cupy.RawKernel(FILTERS, name) for name in ("linear", "blur", "edges", "grey"))
    random = cupy.random.default_rng(0)
    given = [random.integers(0, 256, n, dtype=cupy.uint8) for _ in range(3)]
    steps = [[cupy.empty(n, cupy.float32) for _ in range(4)] for _ in range(3)]
    out = cupy.empty(n, cupy.float32)
    ctas, threads = (-(-n // 256),), (256,)
    w, h, one, zero = cupy.int32(width), cupy.int32(height), cupy.int32(1), cupy.int32(0)

    def start(stream: Any) -> None:
        with stream:
            for x, (light, wide, soft, sharp) in zip(given, steps, strict=True):
                linear(ctas, threads, (x, light, cupy.int32(n)))
                blur(ctas, threads, (light, wide, w, h, one))
                blur(ctas, threads, (wide, soft, w, h, zero))
                edges(ctas, threads, (light, soft, sharp, w, h))
            grey(ctas, threads, (*(channel[3] for channel in steps), out, cupy.int32(n)))

    return start, [out]


def simulation(particles: int = 1 << 15, species: int = 4, steps: int = 4) -> Started:
    """Particles of several species in fields of their own, by Numba: each moves, then its cell counts it."""
    import numpy as np

    if not hasattr(np, "row_stack"):  # numba-cuda takes it from numpy, which has dropped it
        np.row_stack = np.vstack
    from numba import cuda

    @cuda.jit("void(float32[::1], float32[::1], float32[::1], float32)")  # type: ignore[untyped-decorator]
    def push(position: Any, velocity: Any, field: Any, dt: float) -> None:
        i = cuda.grid(1)
        if i < position.size:
            cell = int(position[i] * field.size) % field.size
            velocity[i] += field[cell] * dt
            position[i] = (position[i] + velocity[i] * dt) % 1.0

    @cuda.jit("void(float32[::1], float32[::1])")  # type: ignore[untyped-decorator]
    def smooth(field: Any, found: Any) -> None:
        i = cuda.grid(1)
        if i < field.size:
            found[i] = (
                0.25 * field[i - 1 if i else field.size - 1] + 0.5 * field[i] + 0.25 * field[(i + 1) % field.size]
            )

    chance = np.random.default_rng(0)
    made = [
        [cuda.to_device(chance.random(n, np.float32)) for n in (particles, particles, 4096, 4096)]
        for _ in range(species)
    ]

    def start(stream: Any) -> None:
        for _ in range(steps):
            for position, velocity, field, other in made:
                push[(particles + 127) // 128, 128, stream](position, velocity, field, np.float32(1e-3))
                smooth[32, 128, stream](field, other)
                smooth[32, 128, stream](other, field)

    return start, [array for arrays in made for array in arrays]
