// Motion vectors: the best of 16x16 displacements (-8 to 7) for each block of 16x16 pixels by the sum of absolute differences,
// four pixels at a time, and a price for the vector's length. Two blocks of pixels per CTA of 16x16x2 threads, a displacement a
// thread. Pixels beyond the frame are those at its edge.
#include <cstdint>

__device__ __forceinline__ uint32_t four(const unsigned char* image, int x, int y, int width, int height) {
    const unsigned char* row = image + (size_t)min(max(y, 0), height - 1) * width;
    if (x >= 0 && x + 4 <= width && (width & 3) == 0) return __ldg((const uint32_t*)(row + x));
    uint32_t word = 0;
#pragma unroll
    for (int k = 0; k < 4; ++k) word |= (uint32_t)row[min(max(x + k, 0), width - 1)] << 8 * k;
    return word;
}

extern "C" __global__ void __launch_bounds__(512)
block_match_sad(char2* __restrict__ vectors, int* __restrict__ costs, const unsigned char* __restrict__ current,
                const unsigned char* __restrict__ reference, int width, int height, int price) {
    __shared__ uint32_t block[2][16][4], window[2][32][9];
    __shared__ uint32_t warp_best[2][8];
    const int tx = threadIdx.x, ty = threadIdx.y, z = threadIdx.z, t = ty * 16 + tx;
    const int across = (width + 15) / 16, bx = blockIdx.x * 2 + z, by = blockIdx.y;
    const int x0 = bx * 16, y0 = by * 16;
    if (t < 64) block[z][t / 4][t % 4] = four(current, x0 + t % 4 * 4, y0 + t / 4, width, height);
    for (int w = t; w < 32 * 8; w += 256) window[z][w / 8][w % 8] = four(reference, x0 - 8 + w % 8 * 4, y0 - 8 + w / 8, width, height);
    if (t < 32) window[z][t][8] = 0;
    __syncthreads();

    uint32_t sum = 0;
    const int word = tx >> 2, bits = (tx & 3) * 8;
#pragma unroll
    for (int r = 0; r < 16; ++r) {
        uint32_t low = window[z][ty + r][word];
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            const uint32_t high = window[z][ty + r][word + k + 1];
            sum += __vsadu4(__funnelshift_r(low, high, bits), block[z][r][k]);
            low = high;
        }
    }
    sum += price * (abs(tx - 8) + abs(ty - 8));
    const uint32_t least = __reduce_min_sync(~0u, sum << 8 | t);
    if (t % 32 == 0) warp_best[z][t / 32] = least;
    __syncthreads();
    if (t >= 8 || bx >= across) return;
    uint32_t best = warp_best[z][t];
#pragma unroll
    for (int d = 4; d; d >>= 1) best = min(best, __shfl_down_sync(0xff, best, d, 8));
    if (t == 0) {
        vectors[by * across + bx] = make_char2((int)(best & 15) - 8, (int)(best >> 4 & 15) - 8);
        costs[by * across + bx] = best >> 8;
    }
}
