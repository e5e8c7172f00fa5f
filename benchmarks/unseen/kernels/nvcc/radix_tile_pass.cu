// A pass of a radix sort within tiles of 3,072 pairs: ranks by matching lanes, counters of each warp, stable scatter through
// shared memory; where each of 256 digits begins in its tile goes to `begins`.
#include <cstdint>

constexpr int THREADS = 256, WARPS = THREADS / 32, ITEMS = 12, TILE = THREADS * ITEMS;

extern "C" __global__ void __launch_bounds__(THREADS)
radix_tile_pass(uint32_t* __restrict__ keys_out, uint32_t* __restrict__ values_out, uint32_t* __restrict__ begins,
                const uint32_t* __restrict__ keys, const uint32_t* __restrict__ values, uint32_t count, int shift) {
    __shared__ uint32_t counter[WARPS][256];
    __shared__ uint32_t tile_keys[TILE], tile_values[TILE];
    __shared__ uint32_t sums[WARPS];
    const uint32_t t = threadIdx.x, warp = t / 32, lane = t % 32, tile = blockIdx.x;
    const uint32_t start = tile * TILE, valid = min(TILE, count - start);
#pragma unroll
    for (int w = 0; w < WARPS; ++w) counter[w][t] = 0;
    __syncthreads();

    uint32_t key[ITEMS], rank[ITEMS];
#pragma unroll
    for (int j = 0; j < ITEMS; ++j) {
        const uint32_t at = warp * 32 * ITEMS + j * 32 + lane;
        key[j] = at < valid ? keys[start + at] : ~0u;
    }
#pragma unroll
    for (int j = 0; j < ITEMS; ++j) {
        const uint32_t digit = key[j] >> shift & 255;
        const uint32_t peers = __match_any_sync(~0u, digit);
        const uint32_t before = __popc(peers & ((1u << lane) - 1));
        const uint32_t had = counter[warp][digit];
        __syncwarp();
        if (before == 0) counter[warp][digit] = had + __popc(peers);
        __syncwarp();
        rank[j] = had + before;
    }
    __syncthreads();

    uint32_t total = 0, of_warp[WARPS];
#pragma unroll
    for (int w = 0; w < WARPS; ++w) {
        of_warp[w] = total;
        total += counter[w][t];
    }
    uint32_t running = total;
#pragma unroll
    for (int d = 1; d < 32; d *= 2) {
        const uint32_t other = __shfl_up_sync(~0u, running, d);
        if (lane >= d) running += other;
    }
    if (lane == 31) sums[warp] = running;
    __syncthreads();
    uint32_t begin = running - total;
    for (uint32_t w = 0; w < warp; ++w) begin += sums[w];
    begins[(size_t)tile * 256 + t] = begin;
#pragma unroll
    for (int w = 0; w < WARPS; ++w) counter[w][t] = begin + of_warp[w];
    __syncthreads();

#pragma unroll
    for (int j = 0; j < ITEMS; ++j) {
        const uint32_t at = warp * 32 * ITEMS + j * 32 + lane;
        const uint32_t to = counter[warp][key[j] >> shift & 255] + rank[j];
        tile_keys[to] = key[j];
        tile_values[to] = at < valid ? values[start + at] : 0;
    }
    __syncthreads();
    for (uint32_t at = t; at < valid; at += THREADS) {
        keys_out[start + at] = tile_keys[at];
        values_out[start + at] = tile_values[at];
    }
}
