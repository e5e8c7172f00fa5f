// What the kernels of miners have in common. Of T threads, thread t tries the nonces first + t, first + t + T,
// first + t + 2 T and so on, and writes the exclusive or of their digests: with one try the digest itself. A miner
// would compare each digest with a target; here every bit of each has to be right.
#pragma once

#include <cstdint>

__device__ __forceinline__ uint32_t thread_of_grid()
{
    return blockIdx.x * blockDim.x + threadIdx.x;
}

__device__ __forceinline__ uint32_t threads_of_grid()
{
    return gridDim.x * blockDim.x;
}

// Keeps the compiler from computing before the loop over nonces, in registers, what words of a message that do not
// change give in each round.
template <unsigned N>
__device__ __forceinline__ void computed_each_time(uint32_t (&words)[N])
{
#pragma unroll
    for (unsigned i = 0; i < N; ++i) asm volatile("" : "+r"(words[i]));
}

template <typename Word, unsigned N>
__device__ __forceinline__ void fold(Word (&found)[N], const Word (&digest)[N])
{
#pragma unroll
    for (unsigned i = 0; i < N; ++i) found[i] ^= digest[i];
}

// Writes what the thread found, 16 bytes at a time.
template <typename Word, unsigned N>
__device__ __forceinline__ void write(Word *digests, const Word (&found)[N])
{
    constexpr unsigned kEach = 16 / sizeof(Word);
    struct alignas(16) Vector {
        Word words[kEach];
    };
    auto *const own = reinterpret_cast<Vector *>(digests) + static_cast<size_t>(thread_of_grid()) * (N / kEach);
#pragma unroll
    for (unsigned i = 0; i < N / kEach; ++i) {
        Vector vector;
#pragma unroll
        for (unsigned j = 0; j < kEach; ++j) vector.words[j] = found[i * kEach + j];
        own[i] = vector;
    }
}
