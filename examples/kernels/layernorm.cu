// LAYERNORM: every row of a matrix gets mean 0 and variance 1, then a scale and a shift by column: (x - mean) /
// sqrt(variance + epsilon) * gamma + beta. A warp takes one row: lanes gather count, mean and squared deviations by
// Welford's method (1962), which shuffles merge by the formula of Chan, Golub and LeVeque (1979). Warps beyond the last
// row return at once. Blocks of whole warps, a grid that covers all rows.

constexpr unsigned kLanes = 32;

struct Moments {
    float count, mean, squares;   // squares: the sum of squared deviations from the mean
};

__device__ __forceinline__ Moments merged(Moments a, Moments b)
{
    const float count = a.count + b.count, delta = b.mean - a.mean;
    const float weight = count > 0.0f ? __fdividef(b.count, count) : 0.0f;
    return {count, a.mean + delta * weight, a.squares + b.squares + delta * delta * a.count * weight};
}

extern "C" __global__ void layernorm(const float *__restrict__ in, const float *__restrict__ gamma,
                                     const float *__restrict__ beta, float *__restrict__ out, float epsilon,
                                     unsigned rows, unsigned columns)
{
    const unsigned lane = threadIdx.x % kLanes, row = (blockIdx.x * blockDim.x + threadIdx.x) / kLanes;
    if (row >= rows) return;

    const float *const from = in + static_cast<size_t>(row) * columns;
    Moments own = {};
    for (unsigned i = lane; i < columns; i += kLanes) {
        const float x = from[i], delta = x - own.mean;
        own.count += 1.0f;
        own.mean += __fdividef(delta, own.count);
        own.squares += delta * (x - own.mean);
    }
#pragma unroll
    for (unsigned offset = kLanes / 2; offset > 0; offset /= 2)
        own = merged(own, {__shfl_xor_sync(~0u, own.count, offset), __shfl_xor_sync(~0u, own.mean, offset),
                           __shfl_xor_sync(~0u, own.squares, offset)});

    const float scale = rsqrtf(own.squares / own.count + epsilon);
    float *const to = out + static_cast<size_t>(row) * columns;
    for (unsigned i = lane; i < columns; i += kLanes) to[i] = (from[i] - own.mean) * scale * gamma[i] + beta[i];
}
