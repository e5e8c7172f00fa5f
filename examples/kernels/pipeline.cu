// PIPELINE: a filter with 16 taps, out[i] = sum of taps[t] in[i + t], by specialised warps. Two warps copy tiles of 768
// outputs' inputs into two buffers in shared memory, six warps compute from them. A named barrier per buffer says that
// it is full (the producers arrive, the consumers wait), another that it is empty (the reverse), so neither waits
// unless the other is late. in has n + 15 elements. A CTA takes every gridDim.x-th tile. 256 threads per CTA, any grid.

constexpr unsigned kThreads = 256, kProducers = 64, kConsumers = kThreads - kProducers;
constexpr unsigned kTaps = 16, kOutputs = 4, kTile = kConsumers * kOutputs, kInputs = kTile + kTaps - 1;
constexpr int kFull = 1, kEmpty = 3;   // barriers; each has one for each buffer

template <int barrier>
__device__ __forceinline__ void arrive()
{
    asm volatile("bar.arrive %0, %1;" :: "n"(barrier), "n"(kThreads) : "memory");
}

template <int barrier>
__device__ __forceinline__ void wait()
{
    asm volatile("bar.sync %0, %1;" :: "n"(barrier), "n"(kThreads) : "memory");
}

struct Work {
    const float *__restrict__ in;
    float *__restrict__ out;
    unsigned n;
    float (*buffers)[kInputs];
    const float *taps;
};

template <int buffer>
__device__ __forceinline__ void produce(const Work &work, unsigned tile, bool first)
{
    if (!first) wait<kEmpty + buffer>();
    const unsigned begin = tile * kTile, end = work.n + kTaps - 1;
    for (unsigned i = threadIdx.x; i < kInputs; i += kProducers)
        work.buffers[buffer][i] = begin + i < end ? work.in[begin + i] : 0.0f;
    arrive<kFull + buffer>();
}

template <int buffer>
__device__ __forceinline__ void consume(const Work &work, unsigned tile, bool last)
{
    wait<kFull + buffer>();
#pragma unroll
    for (unsigned j = 0; j < kOutputs; ++j) {
        const unsigned i = j * kConsumers + threadIdx.x - kProducers;
        float sum = 0.0f;
#pragma unroll
        for (unsigned t = 0; t < kTaps; ++t) sum += work.taps[t] * work.buffers[buffer][i + t];
        if (tile * kTile + i < work.n) work.out[tile * kTile + i] = sum;
    }
    if (!last) arrive<kEmpty + buffer>();
}

extern "C" __global__ void __launch_bounds__(kThreads)
pipeline(const float *__restrict__ in, const float *__restrict__ taps, float *__restrict__ out, unsigned n)
{
    __shared__ float buffers[2][kInputs], shared_taps[kTaps];

    if (threadIdx.x < kTaps) shared_taps[threadIdx.x] = taps[threadIdx.x];
    __syncthreads();

    const Work work = {in, out, n, buffers, shared_taps};
    const unsigned tiles = (n + kTile - 1) / kTile, step = gridDim.x;
    if (threadIdx.x < kProducers) {
        for (unsigned tile = blockIdx.x; tile < tiles; tile += 2 * step) {
            produce<0>(work, tile, tile == blockIdx.x);
            if (tile + step < tiles) produce<1>(work, tile + step, tile == blockIdx.x);
        }
    } else {
        for (unsigned tile = blockIdx.x; tile < tiles; tile += 2 * step) {
            consume<0>(work, tile, tile + 2 * step >= tiles);
            if (tile + step < tiles) consume<1>(work, tile + step, tile + 3 * step >= tiles);
        }
    }
}
