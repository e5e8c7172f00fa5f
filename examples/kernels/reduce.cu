// REDUCE: the sum of n floats in one launch. Threads add up float4s in a grid-stride loop, warps their threads' sums by
// shuffles, a CTA its warps' in shared memory; the CTA that draws the last ticket adds up the CTAs' sums. The order of
// all additions is fixed by the launch, so every run gives the same bits. x is 16-byte aligned; partial holds one float
// per CTA; ticket is 0 before the first launch and again after each. Any grid, any block of whole warps.

constexpr unsigned kLanes = 32, kMostWarps = 32;

__device__ __forceinline__ float warp_sum(float x)
{
#pragma unroll
    for (unsigned offset = kLanes / 2; offset > 0; offset /= 2) x += __shfl_down_sync(~0u, x, offset);
    return x;
}

// The sum over all threads of the CTA, in thread 0. Between two calls there has to be a barrier.
__device__ __forceinline__ float block_sum(float x, float *warp_sums)
{
    const unsigned lane = threadIdx.x % kLanes, warp = threadIdx.x / kLanes;
    x = warp_sum(x);
    if (lane == 0) warp_sums[warp] = x;
    __syncthreads();
    if (warp == 0) x = warp_sum(lane < blockDim.x / kLanes ? warp_sums[lane] : 0.0f);
    return x;
}

extern "C" __global__ void reduce(const float *__restrict__ x, float *partial, unsigned *ticket,
                                  float *__restrict__ sum, unsigned n)
{
    __shared__ float warp_sums[kMostWarps];
    __shared__ bool last;

    const unsigned step = gridDim.x * blockDim.x, first = blockIdx.x * blockDim.x + threadIdx.x;
    const float4 *const fours = reinterpret_cast<const float4 *>(x);
    float own = first < n % 4 ? x[n - 1 - first] : 0.0f;
    for (unsigned i = first; i < n / 4; i += step) {
        const float4 v = fours[i];
        own += (v.x + v.y) + (v.z + v.w);
    }

    own = block_sum(own, warp_sums);
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = own;
        __threadfence();   // whoever sees the ticket taken sees the sum
        last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;

    __threadfence();
    own = 0.0f;
    for (unsigned i = threadIdx.x; i < gridDim.x; i += blockDim.x) own += __ldcg(partial + i);   // not from a stale L1
    own = block_sum(own, warp_sums);
    if (threadIdx.x == 0) *sum = own;
}
