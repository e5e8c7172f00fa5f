// SORT: the scatter offsets of a bucket sort with 256 buckets. A CTA keeps its 256 bucket offsets in shared memory; for each
// element (bucket in the low 8 bits of indices, rank within it above) a thread looks its offset up. It writes
// in * offset in place, not in to out[offset], so that no two stores collide whatever the data. A thread takes four
// elements per iteration, with loads and a store of 16 bytes.
// n4: groups of four elements, n4 plus the number of threads below 2^32; offsets: 256 per CTA, for four times the elements
// of one element a thread; in, indices, out 16-byte aligned. 256 threads per CTA, any grid.
// Idea: the bucket sort of hybridsort in the Rodinia suite (Che et al., IISWC 2009), after Sintorn and Assarsson.

constexpr unsigned kBuckets = 256;

extern "C" __global__ void sort(const float4 *__restrict__ in, const uint4 *__restrict__ indices,
                                const unsigned *__restrict__ offsets, float4 *__restrict__ out, unsigned n4)
{
    __shared__ volatile unsigned counter[kBuckets];

    counter[threadIdx.x] = offsets[blockIdx.x * kBuckets + threadIdx.x];
    __syncthreads();

    const auto offset_of = [](unsigned index) {
        return static_cast<float>(counter[index % kBuckets] + index / kBuckets);
    };
    const unsigned step = gridDim.x * blockDim.x;
#pragma unroll 1
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n4; i += step) {
        const uint4 index = indices[i];
        const float4 x = in[i];
        out[i] = make_float4(x.x * offset_of(index.x), x.y * offset_of(index.y), x.z * offset_of(index.z),
                             x.w * offset_of(index.w));
    }
}
