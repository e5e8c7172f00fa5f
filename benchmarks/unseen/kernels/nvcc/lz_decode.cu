// Decodes byte streams in the manner of LZ4, a stream per warp: a token (literals, matched bytes), literals, a 16-bit distance.
// Distances are taken modulo what is there, so that any bytes are a stream. At most `capacity` bytes come of one (a multiple
// of 4, at most 4,096); the rest of its output is zeros.
#include <cstdint>

constexpr int WARPS = 4, MOST = 4096;

extern "C" __global__ void __launch_bounds__(32 * WARPS)
lz_decode(uint32_t* __restrict__ out, int* __restrict__ produced, uint32_t* __restrict__ checksum, const uint8_t* __restrict__ in,
          const int* __restrict__ lengths, int streams, int pitch, int capacity) {
    __shared__ __align__(16) uint8_t buffers[WARPS][MOST];
    const int lane = threadIdx.x, stream = blockIdx.x * WARPS + threadIdx.y;
    if (stream >= streams) return;
    uint8_t* buffer = buffers[threadIdx.y];
    const uint8_t* source = in + (size_t)stream * pitch;
    const int length = min(lengths[stream], pitch);
    int from = 0, to = 0;
    while (from < length && to < capacity) {
        const int token = __ldg(source + from++);
        int literals = token >> 4;
        if (literals == 15 && from < length) literals += __ldg(source + from++);
        literals = min(literals, min(length - from, capacity - to));
        for (int k = lane; k < literals; k += 32) buffer[to + k] = __ldg(source + from + k);
        __syncwarp();
        from += literals;
        to += literals;
        if (from + 2 > length) break;
        const int distance = __ldg(source + from) | __ldg(source + from + 1) << 8;
        from += 2;
        int match = (token & 15) + 4;
        if (match == 19 && from < length) match += __ldg(source + from++);
        if (to == 0) continue;
        match = min(match, capacity - to);
        const int back = 1 + distance % to;
        const uint8_t* old = buffer + to - back;
        for (int k = lane; k < match; k += 32) buffer[to + k] = old[k < back ? k : k % back];
        __syncwarp();
        to += match;
    }
    for (int k = to + lane; k < capacity; k += 32) buffer[k] = 0;
    __syncwarp();
    uint32_t* mine = out + (size_t)stream * (capacity / 4);
    uint32_t sum = 0;
    for (int w = lane; w < capacity / 4; w += 32) {
        const uint32_t word = ((const uint32_t*)buffer)[w];
        mine[w] = word;
        sum += (word ^ word >> 15) * (2 * w + 1);
    }
    sum = __reduce_add_sync(~0u, sum);
    if (lane == 0) {
        produced[stream] = to;
        checksum[stream] = sum;
    }
}
