// How often each byte occurs: sub-histograms of a warp in shared memory, four bytes a load; the first CTA takes the tail.
#define WARPS 8
#define BINS 256

extern "C" __global__ void __launch_bounds__(WARPS * 32)
    byte_counts(unsigned int *total, const unsigned int *words, unsigned int n_bytes)
{
    __shared__ unsigned int count[WARPS][BINS];
    unsigned int warp = threadIdx.x / 32;
    for (unsigned int i = threadIdx.x; i < WARPS * BINS; i += blockDim.x)
        (&count[0][0])[i] = 0;
    __syncthreads();

    unsigned int n_words = n_bytes / 4;
    for (unsigned int i = blockIdx.x * blockDim.x + threadIdx.x; i < n_words; i += gridDim.x * blockDim.x) {
        unsigned int word = words[i];
        atomicAdd(&count[warp][word & 255], 1u);
        atomicAdd(&count[warp][word >> 8 & 255], 1u);
        atomicAdd(&count[warp][word >> 16 & 255], 1u);
        atomicAdd(&count[warp][word >> 24], 1u);
    }
    if (blockIdx.x == 0 && threadIdx.x < n_bytes % 4) {
        const unsigned char *bytes = (const unsigned char *)words;
        atomicAdd(&count[warp][bytes[n_words * 4 + threadIdx.x]], 1u);
    }
    __syncthreads();

    unsigned int sum = 0;
    for (int w = 0; w < WARPS; w++)
        sum += count[w][threadIdx.x];
    if (sum != 0)
        atomicAdd(&total[threadIdx.x], sum);
}
