"""Raw kernels as CuPy users write them, and what CuPy itself generates from expressions."""

RAW = r"""
extern "C" __global__ void saxpy(const float* x, float* y, float a, long long n) {
    long long i = blockDim.x * (long long)blockIdx.x + threadIdx.x;
    if (i < n) y[i] += a * x[i];
}
"""

COMPLEX = r"""
#include <cupy/complex.cuh>
#include <cupy/carray.cuh>
extern "C" __global__ void rotate(const complex<float>* in, complex<double>* out, float angle, int n) {
    CUPY_FOR(i, n) {
        complex<float> z = in[i] * exp(complex<float>(0, angle)) / in[(i + 1) % n];
        out[i] = pow(complex<double>(z), 3.0) + sqrt(complex<double>(z)) * complex<double>(conj(z));
    }
}
"""

TEMPLATE = r"""
#include <cupy/carray.cuh>
template <typename T, int N>
__global__ void convolve(const CArray<T, 2, true> in, CArray<T, 2, false> out, const T* weights) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= in.shape()[1] - N || y >= in.shape()[0] - N) return;
    T sum = 0;
#pragma unroll
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            ptrdiff_t at[] = {y + i, x + j};
            sum += in[at] * weights[i * N + j];
        }
    ptrdiff_t at[] = {y, x};
    out[at] = sum;
}
"""

# Of each kernel: source, options of NVRTC, names to instantiate.
KERNELS = {
    "saxpy": (RAW, (), ()),
    "saxpy_fast": (RAW, ("--use_fast_math", "-lineinfo"), ()),
    "rotate": (COMPLEX, (), ()),
    "convolve": (TEMPLATE, ("-std=c++17",), ("convolve<float, 5>", "convolve<double, 3>", "convolve<short, 4>")),
}
