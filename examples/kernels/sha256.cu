// SHA256: the SHA-256 digests (FIPS 180-4) of n messages, one a thread. Message i is the first lengths[i] bytes from
// messages + i * stride on; stride is a multiple of 4 and no length above it. A digest is 32 bytes, as hashlib's
// digest() has them. Rounds go by sixteen, the message schedule in sixteen registers. Any grid that covers all
// messages, any block.
#include <cstdint>

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

__device__ __forceinline__ uint32_t swapped(uint32_t x)   // between big-endian bytes and a word
{
    return __byte_perm(x, 0, 0x0123);
}

// A word of the message as it is hashed: behind its last byte comes 0x80, behind that zeros.
__device__ __forceinline__ uint32_t padded_word(const uint32_t *message, unsigned word, unsigned length)
{
    const unsigned begin = word * 4, bits = begin < length ? min(length - begin, 4u) * 8 : 0;   // of the message in it
    const uint32_t all = bits > 0 ? swapped(message[word]) : 0;
    const uint32_t end = begin <= length ? __funnelshift_rc(0x80000000u, 0, bits) : 0;   // none if the word is full
    return (all & ~__funnelshift_rc(~0u, 0, bits)) | end;
}

// Adds what one block of sixteen words makes of the state; the words are consumed.
__device__ __forceinline__ void compress(uint32_t (&state)[8], uint32_t (&w)[16])
{
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
#pragma unroll 1
    for (unsigned first = 0; first < 64; first += 16) {
#pragma unroll
        for (unsigned i = 0; i < 16; ++i) {
            const uint32_t sum1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25), choice = (e & f) ^ (~e & g);
            const uint32_t sum0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22), most = (a & b) ^ (a & c) ^ (b & c);
            const uint32_t t1 = h + sum1 + choice + kRounds[first + i] + w[i];
            h = g, g = f, f = e, e = d + t1;
            d = c, c = b, b = a, a = t1 + sum0 + most;
        }
#pragma unroll
        for (unsigned i = 0; i < 16; ++i) {
            const uint32_t x = w[(i + 1) % 16], y = w[(i + 14) % 16];
            const uint32_t sigma0 = rotate(x, 7) ^ rotate(x, 18) ^ x >> 3;
            const uint32_t sigma1 = rotate(y, 17) ^ rotate(y, 19) ^ y >> 10;
            w[i] += sigma0 + w[(i + 9) % 16] + sigma1;
        }
    }
    state[0] += a, state[1] += b, state[2] += c, state[3] += d;
    state[4] += e, state[5] += f, state[6] += g, state[7] += h;
}

extern "C" __global__ void sha256(const uint8_t *__restrict__ messages, const uint32_t *__restrict__ lengths,
                                  uint8_t *__restrict__ digests, uint32_t stride, uint32_t n)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;

    const auto *const message = reinterpret_cast<const uint32_t *>(messages + static_cast<size_t>(i) * stride);
    const uint32_t length = lengths[i], blocks = (length + 8) / 64 + 1;
    uint32_t state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    for (uint32_t block = 0; block < blocks; ++block) {
        uint32_t w[16];
#pragma unroll
        for (unsigned j = 0; j < 16; ++j) w[j] = padded_word(message, block * 16 + j, length);
        if (block == blocks - 1) w[14] = length >> 29, w[15] = length << 3;   // the length in bits
        compress(state, w);
    }

    auto *const digest = reinterpret_cast<uint4 *>(digests) + static_cast<size_t>(i) * 2;
    digest[0] = make_uint4(swapped(state[0]), swapped(state[1]), swapped(state[2]), swapped(state[3]));
    digest[1] = make_uint4(swapped(state[4]), swapped(state[5]), swapped(state[6]), swapped(state[7]));
}
