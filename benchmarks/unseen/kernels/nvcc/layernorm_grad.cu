// Backward pass of layer normalisation: a CTA takes some rows, four columns a thread. dx of each row needs two sums over it;
// the gradients of weight and bias are summed over the rows of the CTA and written as partial sums.
#include <cuda_runtime.h>

__device__ static float2 block_sum(float2 v, float2 *scratch)
{
    for (int o = 16; o > 0; o >>= 1) {
        v.x += __shfl_xor_sync(0xffffffff, v.x, o);
        v.y += __shfl_xor_sync(0xffffffff, v.y, o);
    }
    int warps = blockDim.x / 32, lane = threadIdx.x % 32;
    if (lane == 0) scratch[threadIdx.x / 32] = v;
    __syncthreads();
    float2 total = lane < warps ? scratch[lane] : make_float2(0, 0);
    for (int o = 16; o > 0; o >>= 1) {
        total.x += __shfl_xor_sync(0xffffffff, total.x, o);
        total.y += __shfl_xor_sync(0xffffffff, total.y, o);
    }
    __syncthreads();
    return total;
}

extern "C" __global__ void __launch_bounds__(256)
    layernorm_grad(float *__restrict__ dx, float *__restrict__ dweight, float *__restrict__ dbias,
                   const float *__restrict__ dy, const float *__restrict__ x, const float *__restrict__ weight,
                   const float *__restrict__ mean, const float *__restrict__ rstd, int rows, int columns, int rows_per_cta)
{
    __shared__ float2 scratch[8];
    const int column = 4 * threadIdx.x;
    const bool inside = column < columns;
    float4 g = {}, dg = {}, db = {};
    if (inside) g = *(const float4 *)(weight + column);

    const int first = blockIdx.x * rows_per_cta, last = min(first + rows_per_cta, rows);
    for (int row = first; row < last; ++row) {
        const size_t at = (size_t)row * columns + column;
        const float m = mean[row], r = rstd[row];
        float4 d = {}, h = {};
        if (inside) {
            d = *(const float4 *)(dy + at);
            h = *(const float4 *)(x + at);
            h.x = (h.x - m) * r;
            h.y = (h.y - m) * r;
            h.z = (h.z - m) * r;
            h.w = (h.w - m) * r;
        }
        dg.x += d.x * h.x, dg.y += d.y * h.y, dg.z += d.z * h.z, dg.w += d.w * h.w;
        db.x += d.x, db.y += d.y, db.z += d.z, db.w += d.w;
        d.x *= g.x, d.y *= g.y, d.z *= g.z, d.w *= g.w;
        float2 s = block_sum(make_float2(d.x + d.y + d.z + d.w, d.x * h.x + d.y * h.y + d.z * h.z + d.w * h.w), scratch);
        s.x /= columns;
        s.y /= columns;
        if (inside) {
            float4 o;
            o.x = r * (d.x - s.x - h.x * s.y);
            o.y = r * (d.y - s.x - h.y * s.y);
            o.z = r * (d.z - s.x - h.z * s.y);
            o.w = r * (d.w - s.x - h.w * s.y);
            *(float4 *)(dx + at) = o;
        }
    }
    if (inside) {
        const size_t at = (size_t)blockIdx.x * columns + column;
        *(float4 *)(dweight + at) = dg;
        *(float4 *)(dbias + at) = db;
    }
}
