// HIST: adds to counts how many of n floats lie in each of `bins` intervals of width 1 / scale from `low` on; others, NaN
// among them, are not counted. A CTA counts in dynamic shared memory, 4 * bins bytes, and adds its counts to global
// memory. n plus the number of threads must stay below 2^32. Any grid and any block along x.

extern "C" __global__ void hist(const float *__restrict__ x, unsigned *__restrict__ counts, float low, float scale,
                                unsigned bins, unsigned n)
{
    extern __shared__ unsigned own[];

    for (unsigned bin = threadIdx.x; bin < bins; bin += blockDim.x) own[bin] = 0;
    __syncthreads();

    const float end = static_cast<float>(bins);
    const unsigned step = gridDim.x * blockDim.x;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        const float position = (x[i] - low) * scale;
        if (position >= 0.0f && position < end) atomicAdd(own + static_cast<unsigned>(position), 1u);
    }
    __syncthreads();

    for (unsigned bin = threadIdx.x; bin < bins; bin += blockDim.x)
        if (const unsigned count = own[bin]) atomicAdd(counts + bin, count);
}
