// Viterbi decoding of the code with constraint length 7 and polynomials 171, 133 (octal): a frame per CTA, a state per thread.
// symbols: two soft bits a step, `pitch` steps a frame; bits: pitch / 32 words a frame, zeros beyond its length (at most 2,048).
#include <cstdint>

extern "C" __global__ void __launch_bounds__(64)
viterbi_k7(uint32_t* __restrict__ bits, int* __restrict__ metric, const char2* __restrict__ symbols, const int* __restrict__ lengths,
           int pitch, int limit) {
    __shared__ uint32_t decisions[2048][2];
    __shared__ int path[2][64];
    __shared__ char2 symbol[64];
    __shared__ int best[2];
    const int s = threadIdx.x, frame = blockIdx.x;
    const int length = min(lengths[frame], limit);
    const char2* mine = symbols + (size_t)frame * pitch;
    uint32_t* out = bits + (size_t)frame * (pitch / 32);
    for (int w = (length + 31) / 32 + s; w < pitch / 32; w += 64) out[w] = 0;

    const int from = s >> 1, shift = from << 1 | (s & 1);
    const bool sign0 = __popc(shift & 0171) & 1, sign1 = __popc(shift & 0133) & 1;
    path[0][s] = s == 0 ? 0 : -100000;
    int now = 0;
    for (int start = 0; start < length; start += 64) {
        if (start + s < length) symbol[s] = mine[start + s];
        __syncthreads();
        const int many = min(64, length - start);
        for (int k = 0; k < many; ++k) {
            const char2 y = symbol[k];
            const int branch = (sign0 ? y.x : -y.x) + (sign1 ? y.y : -y.y);
            const int zero = path[now][from] + branch, one = path[now][from + 32] - branch;
            const bool take = one > zero;
            const uint32_t word = __ballot_sync(~0u, take);
            if ((s & 31) == 0) decisions[start + k][s >> 5] = word;
            now ^= 1;
            path[now][s] = take ? one : zero;
            __syncthreads();
        }
    }
    int key = path[now][s] * 64 + 63 - s;   // the lowest state among equals
#pragma unroll
    for (int d = 16; d; d >>= 1) key = max(key, __shfl_xor_sync(~0u, key, d));
    if ((s & 31) == 0) best[s >> 5] = key;
    __syncthreads();
    if (s) return;
    key = max(best[0], best[1]);
    metric[frame] = key >> 6;
    int state = 63 - (key & 63);
    uint32_t word = 0;
    for (int k = length - 1; k >= 0; --k) {
        word |= (uint32_t)(state & 1) << (k & 31);
        if ((k & 31) == 0) {
            out[k >> 5] = word;
            word = 0;
        }
        const uint32_t d = decisions[k][state >> 5] >> (state & 31) & 1;
        state = state >> 1 | d << 5;
    }
}
