// GELU by x * sigmoid(1.702 x), in place on pairs of halves. The sigmoid takes the exponential of what is not positive,
// so that it never overflows: one branch for each sign.
#include <cuda_fp16.h>

static __device__ float sigmoid(float x)
{
    if (x >= 0.f) {
        return 1.f / (1.f + expf(-x));
    } else {
        float e = expf(x);
        return e / (1.f + e);
    }
}

extern "C" __global__ void gelu(__half2 *data, int pairs)
{
    int stride = (int)(gridDim.x * blockDim.x);
    for (int i = (int)(blockIdx.x * blockDim.x + threadIdx.x); i < pairs; i += stride) {
        float2 f = __half22float2(data[i]);
        f.x *= sigmoid(1.702f * f.x);
        f.y *= sigmoid(1.702f * f.y);
        data[i] = __float22half2_rn(f);
    }
}
