// HISTOGRAM: adds to counts how many of n floats lie in each of `bins` intervals of width 1 / scale from `low` on;
// others, NaN among them, are not counted. Every warp counts in a histogram of its own in dynamic shared memory, and a
// CTA adds the sums of its warps' to global memory. Dynamic shared memory: 4 * bins bytes for each warp of a CTA. n
// plus the number of threads must stay below 2^32. Any grid, any block of whole warps.

constexpr unsigned kLanes = 32;

extern "C" __global__ void histogram(const float *__restrict__ x, unsigned *__restrict__ counts, float low, float scale,
                                     unsigned bins, unsigned n)
{
    extern __shared__ unsigned warp_counts[];

    const unsigned warps = blockDim.x / kLanes;
    for (unsigned i = threadIdx.x; i < bins * warps; i += blockDim.x) warp_counts[i] = 0;
    __syncthreads();

    unsigned *const own = warp_counts + threadIdx.x / kLanes * bins;
    const unsigned step = gridDim.x * blockDim.x;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        const float position = (x[i] - low) * scale;
        if (position >= 0.0f && position < static_cast<float>(bins))
            atomicAdd(own + static_cast<unsigned>(position), 1u);
    }
    __syncthreads();

    for (unsigned bin = threadIdx.x; bin < bins; bin += blockDim.x) {
        unsigned count = 0;
        for (unsigned warp = 0; warp < warps; ++warp) count += warp_counts[warp * bins + bin];
        if (count > 0) atomicAdd(counts + bin, count);
    }
}
