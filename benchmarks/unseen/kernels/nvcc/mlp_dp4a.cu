// A perceptron of bytes, 64 -> 64 -> 16, and the best of the 16 classes: a sample a thread, weights in dynamic shared
// memory, four products an instruction. Hidden units are made four at a time and used at once.
#include <cstdint>
#include <cuda_runtime.h>

static constexpr int INPUT = 64, HIDDEN = 64, CLASSES = 16;

__device__ __forceinline__ int requantised(int acc, int multiplier)
{
    int v = __mulhi(acc << 8, multiplier);
    return min(max(v, 0), 127);
}

// w1: [hidden][input / 4] words, w2: [hidden / 4][class] words
extern "C" __global__ void __launch_bounds__(256)
mlp_dp4a(uint8_t *best_class, int32_t *best_logit, const int4 *samples, const int32_t *w1, const int32_t *b1,
         const int32_t *w2, int32_t multiplier, uint32_t count)
{
    extern __shared__ int4 memory[];
    int32_t *s1 = reinterpret_cast<int32_t *>(memory), *s2 = s1 + HIDDEN * INPUT / 4, *sb = s2 + HIDDEN / 4 * CLASSES;
    for (uint32_t i = threadIdx.x; i < HIDDEN * INPUT / 4; i += blockDim.x) s1[i] = w1[i];
    for (uint32_t i = threadIdx.x; i < HIDDEN / 4 * CLASSES; i += blockDim.x) s2[i] = w2[i];
    if (threadIdx.x < HIDDEN) sb[threadIdx.x] = b1[threadIdx.x];
    __syncthreads();

    for (uint32_t id = blockIdx.x * blockDim.x + threadIdx.x; id < count; id += gridDim.x * blockDim.x) {
        int4 x[INPUT / 16];
#pragma unroll
        for (int q = 0; q < INPUT / 16; ++q) x[q] = samples[id * (INPUT / 16) + q];
        int logit[CLASSES] = {};

#pragma unroll 1
        for (int g = 0; g < HIDDEN / 4; ++g) {
            int four = 0;
#pragma unroll
            for (int u = 0; u < 4; ++u) {
                int acc = sb[g * 4 + u];
                const int4 *row = memory + (g * 4 + u) * (INPUT / 16);
#pragma unroll
                for (int q = 0; q < INPUT / 16; ++q) {
                    int4 w = row[q];
                    acc = __dp4a(x[q].x, w.x, acc);
                    acc = __dp4a(x[q].y, w.y, acc);
                    acc = __dp4a(x[q].z, w.z, acc);
                    acc = __dp4a(x[q].w, w.w, acc);
                }
                four |= requantised(acc, multiplier) << (8 * u);
            }
#pragma unroll
            for (int c = 0; c < CLASSES; ++c) logit[c] = __dp4a(four, s2[g * CLASSES + c], logit[c]);
        }

        int best = logit[0], which = 0;
#pragma unroll
        for (int c = 1; c < CLASSES; ++c)
            if (logit[c] > best) {
                best = logit[c];
                which = c;
            }
        best_class[id] = which;
        best_logit[id] = best;
    }
}
