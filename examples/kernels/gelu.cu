// GELU: x <- x * sigmoid(1.702 x), the sigmoid approximation of Hendrycks and Gimpel (arXiv 1606.08415).
// A thread takes one half2 per iteration of a grid-stride loop, computes in float and writes it back in place.
// x: n2 half2; n2 plus the number of threads must stay below 2^32. Any grid, any block.
#include <cuda_fp16.h>

__device__ __forceinline__ float gelu_of(float x)
{
    return x / (1.0f + __expf(-1.702f * x));
}

extern "C" __global__ void gelu(half2 *__restrict__ x, unsigned n2)
{
    const unsigned step = gridDim.x * blockDim.x;
#pragma unroll 1
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n2; i += step) {
        const float2 v = __half22float2(x[i]);
        x[i] = __floats2half2_rn(gelu_of(v.x), gelu_of(v.y));
    }
}
