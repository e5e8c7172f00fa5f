// BLAKE256: the inner loop of a miner of BLAKE-256 with 14 rounds and no salt (Aumasson, Henzen, Meier and Phan, "SHA-3
// proposal BLAKE", 2010). The last block of a message, whose word 3 is the nonce, is hashed from the state after the
// blocks before it; `bits` is the length of the message, below 2^32. Nonces and digests as in mining.cuh: a digest is
// eight words. Any grid and any block along x.
#include "mining.cuh"

constexpr unsigned kNonce = 3, kRounds = 14;   // the nonce's word in the block

__device__ __forceinline__ uint32_t rotate(uint32_t x, unsigned n)
{
    return __funnelshift_r(x, x, n);
}

// The function G of a column or a diagonal; x and y are words of the message with their constants.
__device__ __forceinline__ void mix(uint32_t &a, uint32_t &b, uint32_t &c, uint32_t &d, uint32_t x, uint32_t y)
{
    a += b + x, d = rotate(d ^ a, 16), c += d, b = rotate(b ^ c, 12);
    a += b + y, d = rotate(d ^ a, 8), c += d, b = rotate(b ^ c, 7);
}

__device__ __forceinline__ void compress(uint32_t (&state)[8], const uint32_t (&m)[16], uint32_t bits)
{
    constexpr uint32_t kPi[16] = {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0,
                                  0x082efa98, 0xec4e6c89, 0x452821e6, 0x38d01377, 0xbe5466cf, 0x34e90c6c,
                                  0xc0ac29b7, 0xc97c50dd, 0x3f84d5b5, 0xb5470917};
    constexpr uint8_t kOrder[10][16] = {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
                                        {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
                                        {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
                                        {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
                                        {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
                                        {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
                                        {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
                                        {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
                                        {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
                                        {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0}};
    uint32_t v[16];
#pragma unroll
    for (unsigned i = 0; i < 8; ++i) v[i] = state[i], v[i + 8] = kPi[i];
    v[12] ^= bits, v[13] ^= bits;
#pragma unroll
    for (unsigned round = 0; round < kRounds; ++round)
#pragma unroll
        for (unsigned i = 0; i < 8; ++i) {
            const unsigned x = kOrder[round % 10][2 * i], y = kOrder[round % 10][2 * i + 1];
            const unsigned column = i % 4, turn = i / 4;   // diagonals after columns
            mix(v[column], v[4 + (column + turn) % 4], v[8 + (column + 2 * turn) % 4], v[12 + (column + 3 * turn) % 4],
                m[x] ^ kPi[y], m[y] ^ kPi[x]);
        }
#pragma unroll
    for (unsigned i = 0; i < 8; ++i) state[i] ^= v[i] ^ v[i + 8];
}

extern "C" __global__ void blake256(const uint32_t *__restrict__ state, const uint32_t *__restrict__ block,
                                    uint32_t *__restrict__ digests, uint32_t first, uint32_t tries, uint32_t bits)
{
    uint32_t m[16], found[8] = {};
#pragma unroll
    for (unsigned i = 0; i < 16; ++i) m[i] = block[i];
#pragma unroll 1
    for (uint32_t i = 0; i < tries; ++i) {
        uint32_t digest[8];
#pragma unroll
        for (unsigned j = 0; j < 8; ++j) digest[j] = state[j];
        computed_each_time(m);
        m[kNonce] = first + i * threads_of_grid() + thread_of_grid();
        compress(digest, m, bits);
        fold(found, digest);
    }
    write(digests, found);
}
