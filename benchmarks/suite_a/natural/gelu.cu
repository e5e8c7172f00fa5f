// GELU: x <- x * sigmoid(1.702 x), the sigmoid approximation of Hendrycks and Gimpel (arXiv 1606.08415).
// A thread takes four half2 per iteration of a grid-stride loop, as one load and one store of 16 bytes, computes in float
// and writes them back in place.
// x: n8 groups of eight halves, 16-byte aligned; n8 plus the number of threads must stay below 2^32. Any grid, any block.
#include <cuda_fp16.h>

__device__ __forceinline__ float gelu_of(float x)
{
    return x / (1.0f + __expf(-1.702f * x));
}

__device__ __forceinline__ unsigned gelu_of_pair(unsigned pair)
{
    const float2 v = __half22float2(reinterpret_cast<const half2 &>(pair));
    const half2 result = __floats2half2_rn(gelu_of(v.x), gelu_of(v.y));
    return reinterpret_cast<const unsigned &>(result);
}

extern "C" __global__ void gelu(uint4 *__restrict__ x, unsigned n8)
{
    const unsigned step = gridDim.x * blockDim.x;
#pragma unroll 1
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n8; i += step) {
        const uint4 v = x[i];
        x[i] = make_uint4(gelu_of_pair(v.x), gelu_of_pair(v.y), gelu_of_pair(v.z), gelu_of_pair(v.w));
    }
}
