// BLAKE2B: the inner loop of a miner of BLAKE2b (RFC 7693) over a header of 80 bytes, whose word 4 is the nonce, as Sia
// has it; zeros follow. `parameters` is the first word of BLAKE2b's parameter block, which has the length of digest and
// key; `bytes` is the length of the message. Nonces and digests as in mining.cuh: all eight words of the state are
// written, of which a digest has the first ones. Any grid and any block along x.
#include "mining.cuh"

constexpr unsigned kNonce = 4, kHeader = 10, kRounds = 12;   // the nonce's word in the header, and the header's words

__device__ __forceinline__ uint64_t rotate(uint64_t x, unsigned n)
{
    return x >> n | x << (64 - n);
}

// The function G of a column or a diagonal; x and y are words of the message.
__device__ __forceinline__ void mix(uint64_t &a, uint64_t &b, uint64_t &c, uint64_t &d, uint64_t x, uint64_t y)
{
    a += b + x, d = rotate(d ^ a, 32), c += d, b = rotate(b ^ c, 24);
    a += b + y, d = rotate(d ^ a, 16), c += d, b = rotate(b ^ c, 63);
}

__device__ __forceinline__ void hash(uint64_t (&state)[8], const uint64_t (&m)[16], uint64_t parameters, uint32_t bytes)
{
    constexpr uint64_t kInitial[8] = {0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
                                      0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};
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
    uint64_t v[16];
#pragma unroll
    for (unsigned i = 0; i < 8; ++i) v[i] = v[i + 8] = kInitial[i];
    v[0] ^= parameters, v[12] ^= bytes, v[14] = ~v[14];   // it is the last block
#pragma unroll
    for (unsigned round = 0; round < kRounds; ++round)
#pragma unroll
        for (unsigned i = 0; i < 8; ++i) {
            const unsigned column = i % 4, turn = i / 4;   // diagonals after columns
            mix(v[column], v[4 + (column + turn) % 4], v[8 + (column + 2 * turn) % 4], v[12 + (column + 3 * turn) % 4],
                m[kOrder[round % 10][2 * i]], m[kOrder[round % 10][2 * i + 1]]);
        }
#pragma unroll
    for (unsigned i = 0; i < 8; ++i) state[i] = kInitial[i] ^ v[i] ^ v[i + 8];
    state[0] ^= parameters;
}

extern "C" __global__ void blake2b(const uint64_t *__restrict__ header, uint64_t *__restrict__ digests, uint64_t first,
                                   uint64_t parameters, uint32_t bytes, uint32_t tries)
{
    uint64_t m[16] = {}, found[8] = {};
#pragma unroll
    for (unsigned i = 0; i < kHeader; ++i) m[i] = header[i];
#pragma unroll 1
    for (uint32_t i = 0; i < tries; ++i) {
        uint64_t digest[8];
        m[kNonce] = first + static_cast<uint64_t>(i) * threads_of_grid() + thread_of_grid();
        hash(digest, m, parameters, bytes);
        fold(found, digest);
    }
    write(digests, found);
}
