// SHA256: the inner loop of a Bitcoin miner. The last block of a message, whose word 3 is the nonce, is hashed from the
// state after the blocks before it (FIPS 180-4), and the digest again `passes` - 1 times; Bitcoin has two passes.
// Nonces and digests as in mining.cuh: a digest is eight words. Any grid and any block along x.
#include "mining.cuh"

constexpr unsigned kNonce = 3;   // its word in the block

__constant__ uint32_t kRounds[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

__device__ __forceinline__ uint32_t rotate(uint32_t x, unsigned n)
{
    return __funnelshift_r(x, x, n);
}

__device__ __forceinline__ void round(uint32_t (&v)[8], uint32_t word_and_constant)
{
    const auto [a, b, c, d, e, f, g, h] = v;
    const uint32_t t1 = h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & f) ^ (~e & g)) + word_and_constant;
    const uint32_t t2 = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    v[7] = g, v[6] = f, v[5] = e, v[4] = d + t1, v[3] = c, v[2] = b, v[1] = a, v[0] = t1 + t2;
}

// Adds to the state what a block makes of it; the words of the block are consumed.
__device__ __forceinline__ void compress(uint32_t (&state)[8], uint32_t (&w)[16])
{
    uint32_t v[8];
#pragma unroll
    for (unsigned i = 0; i < 8; ++i) v[i] = state[i];
#pragma unroll
    for (unsigned i = 0; i < 16; ++i) round(v, w[i] + kRounds[i]);
#pragma unroll 1
    for (unsigned begin = 16; begin < 64; begin += 16) {
#pragma unroll
        for (unsigned i = 0; i < 16; ++i) {
            const uint32_t x = w[(i + 1) % 16], y = w[(i + 14) % 16];
            w[i] += (rotate(x, 7) ^ rotate(x, 18) ^ x >> 3) + w[(i + 9) % 16] +
                    (rotate(y, 17) ^ rotate(y, 19) ^ y >> 10);
            round(v, w[i] + kRounds[begin + i]);
        }
    }
#pragma unroll
    for (unsigned i = 0; i < 8; ++i) state[i] += v[i];
}

extern "C" __global__ void sha256(const uint32_t *__restrict__ state, const uint32_t *__restrict__ block,
                                  uint32_t *__restrict__ digests, uint32_t first, uint32_t tries, uint32_t passes)
{
    constexpr uint32_t kInitial[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    uint32_t found[8] = {};
#pragma unroll 1
    for (uint32_t i = 0; i < tries; ++i) {
        uint32_t digest[8], w[16];
#pragma unroll
        for (unsigned j = 0; j < 8; ++j) digest[j] = state[j];
#pragma unroll
        for (unsigned j = 0; j < 16; ++j) w[j] = block[j];
        w[kNonce] = first + i * threads_of_grid() + thread_of_grid();

#pragma unroll 1
        for (uint32_t pass = 1;; ++pass) {
            compress(digest, w);
            if (pass >= passes) break;
#pragma unroll
            for (unsigned j = 0; j < 16; ++j) w[j] = j < 8 ? digest[j] : j == 8 ? 0x80000000 : j == 15 ? 256 : 0;
#pragma unroll
            for (unsigned j = 0; j < 8; ++j) digest[j] = kInitial[j];
        }
        fold(found, digest);
    }
    write(digests, found);
}
