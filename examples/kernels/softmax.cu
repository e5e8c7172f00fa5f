// SOFTMAX: every row of a matrix becomes exp(x - max) over the sum of those. A CTA takes one row at a time; a first
// sweep keeps a running maximum and a sum relative to it (Milakov and Gimelshein, arXiv 1805.02867), which are merged
// over warps by shuffles and over the CTA in shared memory; a second writes. Rows are contiguous. Any grid, any block
// of whole warps.
#include <cfloat>

constexpr unsigned kLanes = 32, kMostWarps = 32;

struct Partial {
    float max, sum;   // the sum is of exp(x - max)
};

__device__ __forceinline__ Partial merged(Partial a, Partial b)
{
    const float max = fmaxf(a.max, b.max);
    return {max, a.sum * __expf(a.max - max) + b.sum * __expf(b.max - max)};
}

// Over all lanes, in all lanes.
__device__ __forceinline__ Partial merged_over_warp(Partial own)
{
#pragma unroll
    for (unsigned offset = kLanes / 2; offset > 0; offset /= 2)
        own = merged(own, {__shfl_xor_sync(~0u, own.max, offset), __shfl_xor_sync(~0u, own.sum, offset)});
    return own;
}

extern "C" __global__ void softmax(const float *__restrict__ in, float *__restrict__ out, unsigned rows,
                                   unsigned columns)
{
    __shared__ Partial of_warps[kMostWarps];

    const unsigned lane = threadIdx.x % kLanes, warp = threadIdx.x / kLanes, warps = blockDim.x / kLanes;
    const Partial nothing = {-FLT_MAX, 0.0f};
    for (unsigned row = blockIdx.x; row < rows; row += gridDim.x) {
        const float *const from = in + static_cast<size_t>(row) * columns;
        float *const to = out + static_cast<size_t>(row) * columns;

        Partial own = nothing;
        for (unsigned i = threadIdx.x; i < columns; i += blockDim.x) own = merged(own, {from[i], 1.0f});
        own = merged_over_warp(own);
        if (lane == 0) of_warps[warp] = own;
        __syncthreads();
        own = merged_over_warp(lane < warps ? of_warps[lane] : nothing);
        __syncthreads();   // all have read what the next row overwrites

        const float scale = 1.0f / own.sum;
        for (unsigned i = threadIdx.x; i < columns; i += blockDim.x) to[i] = __expf(from[i] - own.max) * scale;
    }
}
