// ETHASH: the inner loop of an Ethash miner (Ethereum's wiki, "Ethash", revision 23). Keccak-512 of a header and a
// nonce seeds a mix of 128 bytes. 64 times a word of the mix chooses a page of 128 bytes from `dag`, which FNV mixes
// in. Keccak-256 hashes the seed and the mix, which is compressed to 32 bytes before. Eight lanes work on one mix, so
// that a page is one access, and on several mixes at a time, so that accesses overlap. 0 < pages. Nonces and digests as
// in mining.cuh: a digest is four words. Any grid; any block of whole warps along x, 256 threads at most.
#include "mining.cuh"

constexpr unsigned kLanes = 8, kAccesses = 64;   // lanes that share a mix
constexpr unsigned kTogether = 4;                // mixes that eight lanes have in work
constexpr unsigned kSeed = 8, kMix = 4;          // words of 64 bits; a compressed mix has as many as a digest
constexpr unsigned kWarp = 32, kMostThreads = 256;
constexpr unsigned kCtas = 4;                    // of an SM: warps enough to hide the accesses, for some spilled words

__constant__ uint64_t kRounds[24] = {
    0x0000000000000001, 0x0000000000008082, 0x800000000000808a, 0x8000000080008000, 0x000000000000808b,
    0x0000000080000001, 0x8000000080008081, 0x8000000000008009, 0x000000000000008a, 0x0000000000000088,
    0x0000000080008009, 0x000000008000000a, 0x000000008000808b, 0x800000000000008b, 0x8000000000008089,
    0x8000000000008003, 0x8000000000008002, 0x8000000000000080, 0x000000000000800a, 0x800000008000000a,
    0x8000000080008081, 0x8000000000008080, 0x0000000080000001, 0x8000000080008008};

__device__ __forceinline__ uint64_t rotate(uint64_t x, unsigned n)
{
    return n == 0 ? x : x << n | x >> (64 - n);
}

// The permutation Keccak-f[1600] (FIPS 202); lane (x, y) is word x + 5 y.
__device__ __forceinline__ void keccak(uint64_t (&a)[25])
{
    constexpr uint8_t kRotation[25] = {0,  1,  62, 28, 27, 36, 44, 6,  55, 20, 3,  10, 43,
                                       25, 39, 41, 45, 15, 21, 8,  18, 2,  61, 56, 14};
#pragma unroll 1
    for (unsigned round = 0; round < 24; ++round) {
        uint64_t column[5], next[25];
#pragma unroll
        for (unsigned x = 0; x < 5; ++x) column[x] = a[x] ^ a[x + 5] ^ a[x + 10] ^ a[x + 15] ^ a[x + 20];
#pragma unroll
        for (unsigned y = 0; y < 5; ++y) {
            uint64_t row[5];   // of what the steps theta, rho and pi give
#pragma unroll
            for (unsigned x = 0; x < 5; ++x) {
                const unsigned from = (x + 3 * y) % 5, i = from + 5 * x;
                row[x] = rotate(a[i] ^ column[(from + 4) % 5] ^ rotate(column[(from + 1) % 5], 1), kRotation[i]);
            }
#pragma unroll
            for (unsigned x = 0; x < 5; ++x) next[x + 5 * y] = row[x] ^ (~row[(x + 1) % 5] & row[(x + 2) % 5]);
        }
#pragma unroll
        for (unsigned i = 0; i < 25; ++i) a[i] = next[i];
        a[0] ^= kRounds[round];
    }
}

__device__ __forceinline__ uint32_t fnv(uint32_t x, uint32_t y)
{
    return x * 0x01000193 ^ y;
}

// x modulo n, where reciprocal is (2^32 - 1) / n: the quotient that it gives is right or one too small.
__device__ __forceinline__ uint32_t modulo(uint32_t x, uint32_t n, uint32_t reciprocal)
{
    const uint32_t rest = x - __umulhi(x, reciprocal) * n;
    return rest >= n ? rest - n : rest;
}

// What the threads of a warp exchange: words of 32 bits of the seeds and of the compressed mixes, a row for each.
struct Exchange {
    uint4 seeds[kWarp][kSeed / 2];
    uint32_t mixes[kWarp][2 * kMix];
};

// Mixes for kTogether threads of a warp from the thread `begin` on. Of each mix the lane has words 4 lane to
// 4 lane + 3, and one word of what it is compressed to.
__device__ __forceinline__ void mix(Exchange &exchange, unsigned begin, const uint4 *dag, uint32_t pages,
                                    uint32_t reciprocal)
{
    const unsigned lane = threadIdx.x % kLanes;
    uint32_t first[kTogether];   // word of the seed
    uint4 mix[kTogether];
#pragma unroll
    for (unsigned k = 0; k < kTogether; ++k) {
        first[k] = exchange.seeds[begin + k][0].x;
        mix[k] = exchange.seeds[begin + k][lane % (kSeed / 2)];   // the seed twice is the first mix
    }
#pragma unroll 1
    for (unsigned access = 0; access < kAccesses; access += 4) {
#pragma unroll
        for (unsigned j = 0; j < 4; ++j) {
            uint4 page[kTogether];
#pragma unroll
            for (unsigned k = 0; k < kTogether; ++k) {
                const uint32_t word = j == 0 ? mix[k].x : j == 1 ? mix[k].y : j == 2 ? mix[k].z : mix[k].w;
                const uint32_t chosen = modulo(fnv((access + j) ^ first[k], word), pages, reciprocal);
                const uint32_t index = __shfl_sync(~0u, chosen, access / 4 % kLanes, kLanes);
                page[k] = dag[static_cast<size_t>(index) * kLanes + lane];
            }
#pragma unroll
            for (unsigned k = 0; k < kTogether; ++k)
                mix[k] = make_uint4(fnv(mix[k].x, page[k].x), fnv(mix[k].y, page[k].y), fnv(mix[k].z, page[k].z),
                                    fnv(mix[k].w, page[k].w));
        }
    }
#pragma unroll
    for (unsigned k = 0; k < kTogether; ++k)
        exchange.mixes[begin + k][lane] = fnv(fnv(fnv(mix[k].x, mix[k].y), mix[k].z), mix[k].w);
}

extern "C" __global__ void __launch_bounds__(kMostThreads, kCtas)
    ethash(const uint4 *__restrict__ dag, const uint64_t *__restrict__ header, uint64_t *__restrict__ digests,
           uint64_t first, uint32_t pages, uint32_t tries)
{
    __shared__ Exchange of_warps[kMostThreads / kWarp];

    Exchange &exchange = of_warps[threadIdx.x / kWarp];
    const unsigned thread = threadIdx.x % kWarp;
    const uint32_t reciprocal = ~0u / pages;
#pragma unroll 1
    for (uint32_t i = 0; i < tries; ++i) {
        uint64_t a[25] = {};
#pragma unroll
        for (unsigned j = 0; j < 4; ++j) a[j] = header[j];
        a[4] = first + static_cast<uint64_t>(i) * threads_of_grid() + thread_of_grid();
        a[5] = 1, a[8] = 1ull << 63;   // Keccak's padding; 72 bytes are absorbed at a time
        keccak(a);
        auto *const seed = reinterpret_cast<ulonglong2 *>(exchange.seeds[thread]);
#pragma unroll
        for (unsigned j = 0; j < kSeed; j += 2) seed[j / 2] = make_ulonglong2(a[j], a[j + 1]);
        __syncwarp();

#pragma unroll 1
        for (unsigned k = 0; k < kLanes; k += kTogether)
            mix(exchange, thread / kLanes * kLanes + k, dag, pages, reciprocal);
        __syncwarp();

        const auto *const compressed = reinterpret_cast<const ulonglong2 *>(exchange.mixes[thread]);
#pragma unroll
        for (unsigned j = 0; j < 25; ++j) a[j] = 0;
#pragma unroll
        for (unsigned j = 0; j < kSeed + kMix; j += 2) {
            const ulonglong2 two = j < kSeed ? seed[j / 2] : compressed[(j - kSeed) / 2];
            a[j] = two.x, a[j + 1] = two.y;
        }
        a[12] = 1, a[16] = 1ull << 63;   // 136 bytes are absorbed at a time
        keccak(a);

        uint64_t found[kMix] = {a[0], a[1], a[2], a[3]};
        if (i > 0)   // not in registers, of which Keccak needs many
#pragma unroll
            for (unsigned j = 0; j < kMix; ++j) found[j] ^= digests[thread_of_grid() * size_t{kMix} + j];
        write(digests, found);
    }
}
