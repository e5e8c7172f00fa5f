// ETHASH: the inner loop of an Ethash miner (Ethereum's wiki, "Ethash", revision 23): Keccak-512 of a header and a nonce
// seeds a mix of 128 bytes; 64 times a word of the mix chooses a page of 128 bytes from `dag`, which FNV mixes in; the
// mix, compressed to 32 bytes, and the seed are hashed by Keccak-256. Eight lanes work on one mix, so that a page is one
// access, and on several mixes at a time, so that accesses overlap. 0 < pages. Nonces and digests as in mining.cuh: a
// digest is four words. Any grid and any block of whole warps along x.
#include "mining.cuh"

constexpr unsigned kLanes = 8, kAccesses = 64;   // lanes that share a mix
constexpr unsigned kTogether = 4;                // mixes that eight lanes have in work
constexpr unsigned kSeed = 8, kMix = 4;          // words of 64 bits of the seed and of the compressed mix

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
        uint64_t column[5], b[25];
#pragma unroll
        for (unsigned x = 0; x < 5; ++x) column[x] = a[x] ^ a[x + 5] ^ a[x + 10] ^ a[x + 15] ^ a[x + 20];
#pragma unroll
        for (unsigned i = 0; i < 25; ++i) {
            const unsigned x = i % 5, y = i / 5;
            b[y + 5 * ((2 * x + 3 * y) % 5)] =
                rotate(a[i] ^ column[(x + 4) % 5] ^ rotate(column[(x + 1) % 5], 1), kRotation[i]);
        }
#pragma unroll
        for (unsigned i = 0; i < 25; ++i) {
            const unsigned row = i / 5 * 5;
            a[i] = b[i] ^ (~b[row + (i + 1) % 5] & b[row + (i + 2) % 5]);
        }
        a[0] ^= kRounds[round];
    }
}

__device__ __forceinline__ uint32_t fnv(uint32_t x, uint32_t y)
{
    return x * 0x01000193 ^ y;
}

__device__ __forceinline__ uint64_t from_lane(uint64_t x, unsigned lane)
{
    return __shfl_sync(~0u, x, lane, kLanes);
}

// x modulo n, where reciprocal is (2^32 - 1) / n: the quotient that it gives is right or one too small.
__device__ __forceinline__ uint32_t modulo(uint32_t x, uint32_t n, uint32_t reciprocal)
{
    const uint32_t rest = x - __umulhi(x, reciprocal) * n;
    return rest >= n ? rest - n : rest;
}

// The compressed mixes of kTogether threads, whose seeds are given, mixed by eight lanes: of each mix the lane has words
// 4 lane to 4 lane + 3 of 32 bits, and one word of what it is compressed to.
__device__ __forceinline__ void mixed(uint32_t (&compressed)[kTogether], const uint64_t (&seed)[kSeed], unsigned begin,
                                      const uint4 *dag, uint32_t pages, uint32_t reciprocal)
{
    const unsigned lane = threadIdx.x % kLanes;
    uint32_t mix[kTogether][4], first[kTogether];   // first: word of the seed
#pragma unroll
    for (unsigned k = 0; k < kTogether; ++k) {
        uint64_t own[2] = {};
#pragma unroll
        for (unsigned word = 0; word < kSeed; ++word) {
            const uint64_t given = from_lane(seed[word], begin + k);
            if (word == 0) first[k] = static_cast<uint32_t>(given);
            if (word / 2 == lane % (kSeed / 2)) own[word % 2] = given;   // the seed twice is the first mix
        }
#pragma unroll
        for (unsigned j = 0; j < 4; ++j) mix[k][j] = static_cast<uint32_t>(own[j / 2] >> j % 2 * 32);
    }
#pragma unroll 1
    for (unsigned access = 0; access < kAccesses; access += 4) {
#pragma unroll
        for (unsigned j = 0; j < 4; ++j) {
            uint4 page[kTogether];
#pragma unroll
            for (unsigned k = 0; k < kTogether; ++k) {
                const uint32_t chosen = modulo(fnv((access + j) ^ first[k], mix[k][j]), pages, reciprocal);
                const uint32_t index = __shfl_sync(~0u, chosen, access / 4 % kLanes, kLanes);
                page[k] = dag[static_cast<size_t>(index) * kLanes + lane];
            }
#pragma unroll
            for (unsigned k = 0; k < kTogether; ++k) {
                mix[k][0] = fnv(mix[k][0], page[k].x), mix[k][1] = fnv(mix[k][1], page[k].y);
                mix[k][2] = fnv(mix[k][2], page[k].z), mix[k][3] = fnv(mix[k][3], page[k].w);
            }
        }
    }
#pragma unroll
    for (unsigned k = 0; k < kTogether; ++k)
        compressed[k] = fnv(fnv(fnv(mix[k][0], mix[k][1]), mix[k][2]), mix[k][3]);
}

extern "C" __global__ void ethash(const uint4 *__restrict__ dag, const uint64_t *__restrict__ header,
                                  uint64_t *__restrict__ digests, uint64_t first, uint32_t pages, uint32_t tries)
{
    const uint32_t reciprocal = ~0u / pages;
    const unsigned lane = threadIdx.x % kLanes;
    uint64_t found[4] = {};
#pragma unroll 1
    for (uint32_t i = 0; i < tries; ++i) {
        uint64_t a[25] = {}, seed[kSeed], mix[kMix];
#pragma unroll
        for (unsigned j = 0; j < 4; ++j) a[j] = header[j];
        a[4] = first + static_cast<uint64_t>(i) * threads_of_grid() + thread_of_grid();
        a[5] = 1, a[8] = 1ull << 63;   // Keccak's padding; 72 bytes are absorbed at a time
        keccak(a);
#pragma unroll
        for (unsigned j = 0; j < kSeed; ++j) seed[j] = a[j];

#pragma unroll 1
        for (unsigned begin = 0; begin < kLanes; begin += kTogether) {
            uint32_t compressed[kTogether];
            mixed(compressed, seed, begin, dag, pages, reciprocal);
#pragma unroll
            for (unsigned k = 0; k < kTogether; ++k)
#pragma unroll
                for (unsigned j = 0; j < kMix; ++j) {
                    const uint32_t low = __shfl_sync(~0u, compressed[k], 2 * j, kLanes);
                    const uint32_t high = __shfl_sync(~0u, compressed[k], 2 * j + 1, kLanes);
                    if (lane == begin + k) mix[j] = static_cast<uint64_t>(high) << 32 | low;
                }
        }

#pragma unroll
        for (unsigned j = 0; j < 25; ++j) a[j] = j < kSeed ? seed[j] : j < kSeed + kMix ? mix[j - kSeed] : 0;
        a[12] = 1, a[16] = 1ull << 63;   // 136 bytes are absorbed at a time
        keccak(a);
        const uint64_t digest[4] = {a[0], a[1], a[2], a[3]};
        fold(found, digest);
    }
    write(digests, found);
}
