"""Kernels of Numba-CUDA: shared and local memory, atomics, warps, libdevice, device functions, random numbers."""

import math

from numba import cuda, float32, float64, int32, int64, uint8, uint32, void
from numba.cuda import libdevice
from numba.cuda.random import xoroshiro128p_type, xoroshiro128p_uniform_float32

TILE = 16


def matmul(a, b, c):
    left = cuda.shared.array((TILE, TILE), float32)
    right = cuda.shared.array((TILE, TILE), float32)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    total = float32(0)
    for i in range((a.shape[1] + TILE - 1) // TILE):
        left[ty, tx] = a[y, tx + i * TILE] if y < a.shape[0] and tx + i * TILE < a.shape[1] else 0
        right[ty, tx] = b[ty + i * TILE, x] if x < b.shape[1] and ty + i * TILE < b.shape[0] else 0
        cuda.syncthreads()
        for j in range(TILE):
            total += left[ty, j] * right[j, tx]
        cuda.syncthreads()
    if y < c.shape[0] and x < c.shape[1]:
        c[y, x] = total


def histogram(x, bins, low, high):
    kept = cuda.shared.array(0, int32)
    for i in range(cuda.threadIdx.x, bins.size, cuda.blockDim.x):
        kept[i] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        at = int32((x[i] - low) / (high - low) * bins.size)
        if 0 <= at < bins.size:
            cuda.atomic.add(kept, at, 1)
    cuda.syncthreads()
    for i in range(cuda.threadIdx.x, bins.size, cuda.blockDim.x):
        cuda.atomic.add(bins, i, kept[i])


@cuda.jit(device=True)
def escape(real, imaginary, limit):
    z = complex(0, 0)
    for i in range(limit):
        z = z * z + complex(real, imaginary)
        if z.real * z.real + z.imag * z.imag >= 4:
            return i
    return limit


def mandelbrot(image, low, high, limit):
    x, y = cuda.grid(2)
    if x < image.shape[1] and y < image.shape[0]:
        real = low + x * (high - low) / image.shape[1]
        image[y, x] = escape(real, low + y * (high - low) / image.shape[0], limit)


def mathematics(x, out):
    i = cuda.grid(1)
    if i >= x.size:
        return
    scratch = cuda.local.array(7, float64)
    for j in range(7):
        scratch[j] = math.sin(x[i] * j) + math.pow(x[i], j) if j % 2 else math.lgamma(x[i])
    out[i] = scratch[i % 7] + libdevice.fast_expf(x[i]) + math.atan2(x[i], 2.0) // 3 + round(x[i], 2)
    if math.isnan(out[i]):
        raise ValueError("not a number")


def warps(x, out):
    lane = cuda.laneid
    value = x[cuda.grid(1)]
    value += cuda.shfl_down_sync(0xFFFFFFFF, value, 16)
    mask = cuda.ballot_sync(0xFFFFFFFF, value > 3)
    if cuda.all_sync(mask, value != 0) or cuda.popc(mask) > 4:
        value = cuda.atomic.cas(out, 0, value, 7)
    cuda.syncwarp(mask)
    cuda.threadfence_system()
    out[lane] = cuda.brev(value) + cuda.clz(value) + cuda.selp(value > 9, value, value + 1) + cuda.ffs(value)
    print("lane", lane, value)


def pi(states, count, out):
    thread = cuda.grid(1)
    inside = 0
    for _ in range(count):
        x = xoroshiro128p_uniform_float32(states, thread)
        y = xoroshiro128p_uniform_float32(states, thread)
        if x * x + y * y <= 1:
            inside += 1
    out[thread] = 4 * inside / count


# Of each kernel: signature and options of `cuda.compile_ptx`.
KERNELS = {
    "matmul": (matmul, void(float32[:, ::1], float32[:, ::1], float32[:, ::1]), {}),
    "matmul_debug": (matmul, void(float32[:, ::1], float32[:, ::1], float32[:, ::1]), {"debug": True, "opt": False}),
    "histogram": (histogram, void(float64[::1], int32[::1], float64, float64), {"lineinfo": True}),
    "mandelbrot": (mandelbrot, void(uint8[:, :], float64, float64, uint32), {"fastmath": True}),
    "mathematics": (mathematics, void(float32[:], float64[:]), {}),
    "warps": (warps, void(int32[:], int32[:]), {}),
    "pi": (pi, void(xoroshiro128p_type[:], int64, float32[:]), {}),
}
