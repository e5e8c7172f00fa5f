// SCAN: exclusive prefix sums modulo 2^32 of each tile of 1024 elements, and the tiles' totals: the first of the three
// steps of a scan over many CTAs. A thread takes four neighbours, warps scan by shuffles, the first warp scans the
// warps' totals. CTA b takes tile b; the last tile may be cut short, and CTAs beyond it return at once. in and out are
// 16-byte aligned; n must stay below 2^32 - 1024. 256 threads per CTA.

constexpr unsigned kLanes = 32, kThreads = 256, kWarps = kThreads / kLanes, kItems = 4, kTile = kThreads * kItems;

// The sum of x over the lanes up to this one.
__device__ __forceinline__ unsigned inclusive_scan(unsigned x, unsigned lane)
{
#pragma unroll
    for (unsigned offset = 1; offset < kLanes; offset *= 2) {
        const unsigned below = __shfl_up_sync(~0u, x, offset);
        if (lane >= offset) x += below;
    }
    return x;
}

extern "C" __global__ void scan(const unsigned *__restrict__ in, unsigned *__restrict__ out,
                                unsigned *__restrict__ totals, unsigned n)
{
    __shared__ unsigned warp_ends[kLanes];

    if (blockIdx.x * kTile >= n) return;
    const unsigned lane = threadIdx.x % kLanes, warp = threadIdx.x / kLanes;
    const unsigned first = blockIdx.x * kTile + threadIdx.x * kItems;
    const bool whole = first + kItems <= n;

    uint4 v = {0, 0, 0, 0};
    if (whole) {
        v = *reinterpret_cast<const uint4 *>(in + first);
    } else {
        if (first < n) v.x = in[first];
        if (first + 1 < n) v.y = in[first + 1];
        if (first + 2 < n) v.z = in[first + 2];
    }

    const unsigned own = v.x + v.y + v.z + v.w;
    const unsigned end_in_warp = inclusive_scan(own, lane);
    if (lane == kLanes - 1) warp_ends[warp] = end_in_warp;
    __syncthreads();
    if (warp == 0) {
        const unsigned end = inclusive_scan(lane < kWarps ? warp_ends[lane] : 0, lane);
        warp_ends[lane] = end;
        if (lane == kWarps - 1) totals[blockIdx.x] = end;
    }
    __syncthreads();

    uint4 sums;
    sums.x = end_in_warp - own + (warp > 0 ? warp_ends[warp - 1] : 0);
    sums.y = sums.x + v.x;
    sums.z = sums.y + v.y;
    sums.w = sums.z + v.z;
    if (whole) {
        *reinterpret_cast<uint4 *>(out + first) = sums;
    } else {
        if (first < n) out[first] = sums.x;
        if (first + 1 < n) out[first + 1] = sums.y;
        if (first + 2 < n) out[first + 2] = sums.z;
    }
}
