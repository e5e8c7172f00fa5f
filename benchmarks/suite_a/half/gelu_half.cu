// GELU in half precision: x <- x * sigmoid(1.702 x), with sigmoid(2 y) = (1 + tanh y) / 2, so that it is h + h tanh(0.851 x)
// of h = x / 2. A thread takes one half2 per iteration of a grid-stride loop and writes it back in place, as gelu.cu of
// examples/kernels does, which computes in float. tanh is the hardware's approximation.
// x: n2 half2; n2 plus the number of threads must stay below 2^32. Any grid, any block.
#include <cuda_fp16.h>

extern "C" __global__ void gelu_half(half2 *__restrict__ x, unsigned n2)
{
    const half2 middle = __float2half2_rn(0.5f), slope = __float2half2_rn(0.851f);
    const unsigned step = gridDim.x * blockDim.x;
#pragma unroll 1
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n2; i += step) {
        const half2 v = x[i];
        const half2 h = __hmul2(middle, v);
        x[i] = __hfma2(h, h2tanh_approx(__hmul2(slope, v)), h);
    }
}
