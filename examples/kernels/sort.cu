// SORT: the scatter offsets of a bucket sort with 256 buckets. A CTA keeps its 256 bucket offsets in shared memory; for each
// element (bucket in the low 8 bits of indices, rank within it above) a thread looks its offset up. It writes
// in * offset in place, not in to out[offset], so that no two stores collide whatever the data.
// offsets: 256 per CTA; n plus the number of threads below 2^32. 256 threads per CTA, any grid.
// Idea: the bucket sort of hybridsort in the Rodinia suite (Che et al., IISWC 2009), after Sintorn and Assarsson.

constexpr unsigned kBuckets = 256;

extern "C" __global__ void sort(const float *__restrict__ in, const unsigned *__restrict__ indices,
                                const unsigned *__restrict__ offsets, float *__restrict__ out, unsigned n)
{
    __shared__ volatile unsigned counter[kBuckets];

    counter[threadIdx.x] = offsets[blockIdx.x * kBuckets + threadIdx.x];
    __syncthreads();

    const unsigned step = gridDim.x * blockDim.x;
#pragma unroll 1
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        const unsigned index = indices[i];
        const unsigned offset = counter[index % kBuckets] + index / kBuckets;
        out[i] = in[i] * static_cast<float>(offset);
    }
}
