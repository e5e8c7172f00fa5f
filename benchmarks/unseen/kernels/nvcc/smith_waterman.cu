// The score of the best local alignment (affine gaps) of one query of 128 residues with each sequence of a database: a
// sequence a CTA, a residue of the query a thread, one antidiagonal after the other.
#include <cstdint>

constexpr int kQuery = 128, kLetters = 24, kNever = -(1 << 20);

extern "C" __global__ void __launch_bounds__(kQuery)
    smith_waterman(int32_t *__restrict__ scores, const uint8_t *__restrict__ query, const uint8_t *__restrict__ database,
                   const int32_t *__restrict__ lengths, const int8_t *__restrict__ substitution, int pitch, int gap_open,
                   int gap_extend)
{
    __shared__ int8_t cost[kLetters * kLetters];
    __shared__ int above_h[2][kQuery + 1], above_f[2][kQuery + 1];
    __shared__ int warp_best[kQuery / 32];

    const int i = threadIdx.x;
    for (int k = i; k < kLetters * kLetters; k += kQuery) cost[k] = substitution[k];
    above_h[0][i + 1] = above_h[1][i + 1] = 0;
    above_f[0][i + 1] = above_f[1][i + 1] = kNever;
    if (i == 0) {
        above_h[0][0] = above_h[1][0] = 0;
        above_f[0][0] = above_f[1][0] = kNever;
    }
    const int8_t *row = cost + query[i] * kLetters;
    const uint8_t *sequence = database + (size_t)blockIdx.x * pitch;
    const int length = lengths[blockIdx.x];
    __syncthreads();

    int h = 0, e = kNever, diagonal = 0, best = 0;
    for (int d = 0; d < length + kQuery - 1; ++d) {
        const int j = d - i, now = d & 1, before = now ^ 1;
        if (j >= 0 && j < length) {
            const int up = above_h[before][i];
            const int f = max(up - gap_open, above_f[before][i] - gap_extend);
            e = max(h - gap_open, e - gap_extend);
            h = max(max(0, diagonal + row[sequence[j]]), max(e, f));
            diagonal = up;
            best = max(best, h);
            above_h[now][i + 1] = h;
            above_f[now][i + 1] = f;
        }
        __syncthreads();
    }

    best = __reduce_max_sync(0xffffffffu, best);
    if (i % 32 == 0) warp_best[i / 32] = best;
    __syncthreads();
    if (i == 0) {
        for (int w = 1; w < kQuery / 32; ++w) best = max(best, warp_best[w]);
        scores[blockIdx.x] = best;
    }
}
